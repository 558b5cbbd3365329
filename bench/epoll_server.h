// The least that a server over HTTP can do: what its system calls cost.
#pragma once

#include <string>

#include "storage/base/status.h"

namespace itemdb::bench {

// Answers every request on a port of 127.0.0.1 that the kernel chooses, with 200 and `reply_bytes` bytes, by
// epoll_wait, recv and send alone. Of a request it reads the Content-Length only. Has one thread per core.
// Writes `address_file` as itemd does. Returns only on failure.
absl::Status RunEpollServer(const std::string& address_file, size_t reply_bytes);

}  // namespace itemdb::bench
