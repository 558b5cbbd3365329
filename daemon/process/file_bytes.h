// Small files read whole: configuration, certificates, what the kernel tells about memory.
#pragma once

#include <string>

#include "storage/base/status.h"

namespace itemdb {

// The content of `path`. UNAVAILABLE: it cannot be read, is a directory, or holds more than `max_bytes`; the
// message is "PATH cannot be read: REASON", for the caller to put a subject before it.
absl::StatusOr<std::string> ReadFileBytes(const std::string& path, size_t max_bytes);

}  // namespace itemdb
