// UTF-8 validation of names and strings.
#pragma once

#include <string>
#include <string_view>

namespace itemdb::storage {

// True when `text` is well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. U+0000 is
// allowed. Thread-safe; eight bytes at a time over ASCII.
bool IsValidUtf8(std::string_view text);

// `text` if it is well-formed; otherwise with all that is not ASCII as \xHH. For texts that name files, whose
// names are any bytes, and become strings of messages.
std::string EscapedUtf8(std::string_view text);

}  // namespace itemdb::storage
