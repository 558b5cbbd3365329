// The server that itemd's HTTP endpoint is compared with: Beast alone.
#pragma once

#include <string>

#include "storage/base/status.h"

namespace itemdb::bench {

// Answers every request on a port of 127.0.0.1 that the kernel chooses, with 200 and `reply_bytes` bytes. Has
// one io_context per core, like itemd. Writes `address_file` as itemd does. Returns only on failure.
absl::Status RunHttpEchoServer(const std::string& address_file, size_t reply_bytes);

}  // namespace itemdb::bench
