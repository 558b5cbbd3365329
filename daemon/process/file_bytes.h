// Reads small files whole: configuration, certificates, the kernel's files about memory.
#pragma once

#include <string>

#include "storage/base/status.h"

namespace itemdb::daemon {

// The content of `path`. UNAVAILABLE: it cannot be read, is a directory, or holds more than `max_bytes`. The
// message is "PATH cannot be read: REASON"; the caller may put a setting's name before it.
absl::StatusOr<std::string> ReadFileBytes(const std::string& path, size_t max_bytes);

}  // namespace itemdb::daemon
