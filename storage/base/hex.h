// Bytes of hexadecimal digits. Abseil's HexStringToBytes is another function in each version of Debian.
#pragma once

#include <string>
#include <string_view>

namespace itemdb::storage {

// The bytes that `digits` stand for, two digits each, of either case; the inverse of absl::BytesToHexString.
// All characters must be hexadecimal digits and their number even: callers check that before.
std::string FromHex(std::string_view digits);

}  // namespace itemdb::storage
