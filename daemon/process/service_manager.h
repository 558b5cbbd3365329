// Notifies systemd that the daemon is ready or stops, for units with Type=notify.
#pragma once

#include <string>

namespace itemdb::daemon {

// Sends `state` ("READY=1", "STOPPING=1", "WATCHDOG=1") to the socket that the environment variable
// NOTIFY_SOCKET names. Does nothing without that variable, and ignores errors of sending.
void NotifyServiceManager(const std::string& state);

}  // namespace itemdb::daemon
