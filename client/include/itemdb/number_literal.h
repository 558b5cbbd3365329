// Numbers as they are written: `using namespace itemdb::literals; Number price = 12.50_n;`. All digits count;
// nothing passes through a double.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <string>
#include <string_view>

#include "itemdb/value.h"

namespace itemdb {
namespace internal {

// Whether the program wrote a decimal number: no 0x1F, 0b1 or 017, which C++ reads in other bases. At most 38
// digits, as many as the daemon takes, and an exponent of at most 3.
constexpr bool IsDecimalLiteral(std::string_view text) {
  size_t digits = 0;
  size_t exponent_digits = 0;
  bool in_exponent = false;
  bool is_whole = true;
  for (const char c : text) {
    if (c == '\'') continue;
    if (c >= '0' && c <= '9') {
      ++(in_exponent ? exponent_digits : digits);
    } else if (c == '.') {
      is_whole = false;
    } else if (c == 'e' || c == 'E') {
      in_exponent = true;
      is_whole = false;
    } else if (!(in_exponent && (c == '+' || c == '-'))) {
      return false;
    }
  }
  const bool is_octal = is_whole && text.size() > 1 && text[0] == '0';
  return digits > 0 && digits <= 38 && exponent_digits <= 3 && !is_octal;
}

}  // namespace internal

inline namespace literals {

// A literal that is no such number does not compile.
template <char... kCharacters>
Number operator""_n() {
  static constexpr char kText[] = {kCharacters...};
  static_assert(internal::IsDecimalLiteral(std::string_view(kText, sizeof(kText))),
                "not a decimal number of at most 38 digits");
  std::string text;
  for (const char c : kText) {
    if (c != '\'') text.push_back(c);
  }
  return *Number::Parse(text);
}

}  // namespace literals
}  // namespace itemdb
