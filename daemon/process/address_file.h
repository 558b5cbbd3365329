// The file in which a daemon tells scripts where it can be reached, chiefly when the kernel chose the port:
//
//   {"grpc": ["127.0.0.1:40123", "unix:/run/itemdb/itemd.sock"], "http": ["127.0.0.1:40124"]}
//
// It appears whole (written beside, then renamed) once the daemon serves, and goes when the daemon stops.
#pragma once

#include <string>
#include <vector>

#include "storage/base/status.h"

namespace itemdb {

// Owns one address file. Not thread-safe.
class AddressFile {
 public:
  // Nothing is written when `path` is empty.
  explicit AddressFile(std::string path) : path_(std::move(path)) {}
  // As Remove().
  ~AddressFile() { Remove(); }

  AddressFile(const AddressFile&) = delete;
  AddressFile& operator=(const AddressFile&) = delete;

  // Replaces what was there. UNAVAILABLE naming the file when it cannot be written.
  absl::Status Write(const std::vector<std::string>& grpc_addresses,
                     const std::vector<std::string>& http_addresses);

  // Removes what Write() wrote, unless somebody else has replaced it since.
  void Remove();

 private:
  const std::string path_;
  std::string written_;
};

}  // namespace itemdb
