// Reads small files whole: configuration, certificates, keys, the kernel's files about memory.
#pragma once

#include <string>

#include "storage/base/status.h"

namespace itemdb::daemon {

// The content of `path`. UNAVAILABLE: it cannot be read, is a directory, or holds more than `max_bytes`. The
// message is "PATH cannot be read: REASON"; the caller may put a setting's name before it.
absl::StatusOr<std::string> ReadFileBytes(const std::string& path, size_t max_bytes);

// As ReadFileBytes(), for a file with secrets. INVALID_ARGUMENT: other users of this machine may use the
// file. The mode is that of the opened file, so replacing `path` meanwhile does not help. The group may read
// the file if it belongs to root and this process does not run as root: that is how an administrator gives a
// file to a service. Only regular files are checked, not pipes.
absl::StatusOr<std::string> ReadSecretFile(const std::string& path, size_t max_bytes);

}  // namespace itemdb::daemon
