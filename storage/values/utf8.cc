#include "storage/values/utf8.h"

#include <cstdint>
#include <cstring>

namespace itemdb::storage {
namespace {

// The length of the well-formed non-ASCII character at the front of `text`, or 0.
size_t CharacterLength(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  uint8_t lead = byte(0);
  size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                  : lead >= 0xE0 && lead <= 0xEF ? 3
                  : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                 : 0;
  if (length == 0 || length > text.size()) return 0;
  // The second byte's range excludes overlong forms, surrogates and characters above U+10FFFF.
  uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    uint64_t word;
    if (text.size() >= sizeof(word)) {
      std::memcpy(&word, text.data(), sizeof(word));
      if ((word & 0x8080808080808080u) == 0) {
        text.remove_prefix(sizeof(word));
        continue;
      }
    }
    if (static_cast<uint8_t>(text.front()) < 0x80) {
      text.remove_prefix(1);
      continue;
    }
    size_t length = CharacterLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string EscapedUtf8(std::string_view text) {
  if (IsValidUtf8(text)) return std::string(text);
  std::string escaped;
  for (const char c : text) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      escaped.push_back(c);
    } else {
      escaped.append("\\x").append({kDigits[byte >> 4], kDigits[byte & 15]});
    }
  }
  return escaped;
}

}  // namespace itemdb::storage
