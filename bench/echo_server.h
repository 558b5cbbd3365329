// The server that itemd's transport is compared with: itemd's own service, answered at once with fixed
// replies.
#pragma once

#include <string>

#include "storage/base/status.h"

namespace itemdb::bench {

// Serves PutItem and GetItem on `address` until the process is killed, without reading the requests. The
// replies are a put's and the one with an order in it. Writes `address_file` as itemd does. Returns only on
// failure.
absl::Status RunEchoServer(const std::string& address, const std::string& address_file);

}  // namespace itemdb::bench
