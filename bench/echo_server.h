// The server that itemd's transport is compared with: itemd's service, which answers with fixed replies.
#pragma once

#include <string>

#include "storage/base/status.h"

namespace itemdb::bench {

// Serves PutItem and GetItem on `address` until the process is killed, without reading the requests. The
// reply to GetItem contains an order. Writes `address_file` as itemd does. Returns only on failure.
absl::Status RunEchoServer(const std::string& address, const std::string& address_file);

}  // namespace itemdb::bench
