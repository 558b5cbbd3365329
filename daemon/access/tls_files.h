// Reads and checks the certificate files of TLS.
#pragma once

#include <string>

#include "storage/base/status.h"

namespace itemdb::daemon {

// Paths of PEM files.
struct TlsOptions {
  std::string certificate_file;
  std::string key_file;
  // Authorities, one of which must have signed a client's certificate. Empty: clients need no certificate.
  std::string client_ca_file;
};

// The contents of the files, PEM.
struct TlsContent {
  std::string certificate;
  std::string key;
  std::string client_ca;

  bool operator==(const TlsContent&) const = default;
};

// Reads and checks the files: all must be PEM, the key must belong to the certificate, the certificate and at
// least one client authority must be valid now. UNAVAILABLE: a file cannot be read. INVALID_ARGUMENT: a check
// failed, or other users of this machine may use the key file (ReadSecretFile()). The message names the
// setting, the file and what is wrong with it.
absl::StatusOr<TlsContent> ReadTlsFiles(const TlsOptions& options);

}  // namespace itemdb::daemon
