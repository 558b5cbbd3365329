// What the service calls a request: 52 characters, A-Z and 0-9 (SEM-114).
#pragma once

#include <string>

namespace itemdb {

// Unlike any other, also across restarts; says nothing about the requests before. Thread-safe.
std::string NewRequestId();

}  // namespace itemdb
