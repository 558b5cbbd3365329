// Random ids.
#pragma once

#include <string>

namespace itemdb::storage {

// A random UUID (RFC 4122, version 4), by getrandom(): /proc need not be there.
std::string NewUuid();

}  // namespace itemdb::storage
