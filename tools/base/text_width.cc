#include "tools/base/text_width.h"

#include <locale.h>
#include <wchar.h>

#include <cstdint>

namespace itemdb::tools {
namespace {

struct Character {
  wchar_t code;
  size_t bytes;
};

// The first character of `text`, which is not empty. A byte that begins no UTF-8 is a character of its own.
Character First(std::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t bytes = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (bytes == 1 || bytes > text.size()) return {.code = static_cast<wchar_t>(lead), .bytes = 1};
  uint32_t code = lead & (0x7F >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {.code = static_cast<wchar_t>(lead), .bytes = 1};
    code = code << 6 | (byte(i) & 0x3F);
  }
  return {.code = static_cast<wchar_t>(code), .bytes = bytes};
}

// wcwidth() depends on the locale of the thread. While this object exists, that is one with Unicode.
class UnicodeScope {
 public:
  UnicodeScope() : before_(uselocale(Unicode())) {}
  ~UnicodeScope() { uselocale(before_); }
  UnicodeScope(const UnicodeScope&) = delete;
  UnicodeScope& operator=(const UnicodeScope&) = delete;

 private:
  static locale_t Unicode() {
    static const locale_t made = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return made;
  }

  const locale_t before_;
};

size_t WidthOf(const Character& character) {
  if (character.bytes == 1) return 1;
  const int width = wcwidth(character.code);
  return width < 0 ? 1 : static_cast<size_t>(width);
}

}  // namespace

size_t TextWidth(std::string_view text) {
  const UnicodeScope unicode;
  size_t width = 0;
  while (!text.empty()) {
    const Character first = First(text);
    width += WidthOf(first);
    text.remove_prefix(first.bytes);
  }
  return width;
}

size_t BytesWithin(std::string_view text, size_t columns) {
  const UnicodeScope unicode;
  size_t bytes = 0;
  while (bytes < text.size()) {
    const Character next = First(text.substr(bytes));
    const size_t width = WidthOf(next);
    if (width > columns) break;
    columns -= width;
    bytes += next.bytes;
  }
  return bytes;
}

}  // namespace itemdb::tools
