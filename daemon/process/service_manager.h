// Tells systemd how far the daemon is, when it was started with Type=notify.
#pragma once

#include <string>

namespace itemdb {

// Sends `state` ("READY=1", "STOPPING=1") to the socket that NOTIFY_SOCKET names. Does nothing without one; a
// service manager that does not listen is no reason to fail.
void NotifyServiceManager(const std::string& state);

}  // namespace itemdb
