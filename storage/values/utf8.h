// UTF-8 validation of names and strings.
#pragma once

#include <string_view>

namespace itemdb::storage {

// True when `text` is well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. U+0000 is
// allowed. Thread-safe; eight bytes at a time over ASCII.
bool IsValidUtf8(std::string_view text);

}  // namespace itemdb::storage
