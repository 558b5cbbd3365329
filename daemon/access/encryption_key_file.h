// The file of --encryption-key-file: the keys that encrypt the files of a database. A line for each key, the
// key of new files first:
//
//   # comment
//   2026-11 5f1c...        an id, and 64 hexadecimal digits: openssl rand -hex 32
#pragma once

#include <string>

#include "storage/api/options.h"
#include "storage/base/status.h"

namespace itemdb::daemon {

// UNAVAILABLE: the file cannot be read. INVALID_ARGUMENT: it is not a valid key file, or other users of this
// machine may use it (ReadSecretFile()). The message names the file, the line and what is allowed; it never
// contains a secret.
absl::StatusOr<storage::EncryptionKeys> ReadEncryptionKeys(const std::string& path);

}  // namespace itemdb::daemon
