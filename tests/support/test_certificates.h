// Certificates made during a test: an authority, and certificates that it signs.
//
//   TestAuthority authority("the right authority");
//   TestCertificate daemon = authority.Sign({.name = "localhost"});
#pragma once

#include <memory>
#include <string>

#include "absl/time/time.h"

namespace itemdb {

// Both PEM.
struct TestCertificate {
  std::string certificate;
  std::string key;
};

class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name);
  ~TestAuthority();

  // Its own certificate, PEM.
  const std::string& certificate() const { return certificate_; }

  struct Request {
    // Common name and DNS subject alternative name.
    std::string name = "localhost";
    // Valid until now + `valid_for`; begins one day before the earlier of now and that time.
    absl::Duration valid_for = absl::Hours(1);
  };
  TestCertificate Sign(const Request& request) const;
  TestCertificate Sign() const { return Sign(Request()); }

 private:
  struct Keys;
  std::unique_ptr<Keys> keys_;
  std::string certificate_;
};

}  // namespace itemdb
