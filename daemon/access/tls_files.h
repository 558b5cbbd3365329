// The certificate files of TLS, and whether they are fit for use.
#pragma once

#include <string>

#include "storage/base/status.h"

namespace itemdb {

// Paths of PEM files.
struct TlsOptions {
  std::string certificate_file;
  std::string key_file;
  // Empty: clients show no certificate.
  std::string client_ca_file;
};

// What those files hold.
struct TlsContent {
  std::string certificate;
  std::string key;
  std::string client_ca;

  bool operator==(const TlsContent&) const = default;
};

// Reads and examines the files: they must be PEM, the key that of the certificate, the certificate valid now.
// UNAVAILABLE: one cannot be read. INVALID_ARGUMENT: one is not fit for use. The message names the setting,
// the file and what is wrong with it.
absl::StatusOr<TlsContent> ReadTlsFiles(const TlsOptions& options);

}  // namespace itemdb
