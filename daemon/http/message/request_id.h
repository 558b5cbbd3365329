// Request ids in the form of the service: 52 characters, A-Z and 0-9 (SEM-114).
#pragma once

#include <string>

namespace itemdb::http {

// A random id: unique also across restarts, and it does not reveal the number of requests. Thread-safe.
std::string NewRequestId();

}  // namespace itemdb::http
