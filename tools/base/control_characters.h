// Control characters, which itemctl never writes to a terminal as they are: a terminal takes some for
// commands.
#pragma once

#include <cstddef>
#include <string_view>

namespace itemdb::tools {

// The number of bytes of the control character at the beginning of UTF-8 `text`; 0 if another character is
// there. Control characters are those below U+0020, U+007F, and the C1 set: U+0080 to U+009F, in UTF-8 the
// byte c2 and one from 80 to 9f. U+009B begins the same commands as the two characters "ESC [".
inline size_t ControlCharacterBytes(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x20 || first == 0x7f) return 1;
  if (first != 0xc2 || text.size() == 1) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  return second >= 0x80 && second <= 0x9f ? 2 : 0;
}

// The code point of that control character of `bytes` bytes.
inline unsigned ControlCharacter(std::string_view text, size_t bytes) {
  return static_cast<unsigned char>(text[bytes - 1]);
}

}  // namespace itemdb::tools
