// A decimal number split into its parts, for code that compares or adds the texts of Numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "itemdb/value.h"

namespace itemdb {

// 0.DIGITS * 10^magnitude, where DIGITS begins and ends with a digit other than zero. Zero has no digits,
// magnitude 0 and is not negative; so equal numbers have equal parts.
struct Decimal {
  bool negative = false;
  std::string digits;
  int magnitude = 0;
};

// Nothing if `text` is not a number by the grammar of Number::Parse.
std::optional<Decimal> SplitDecimal(std::string_view text);

// Always succeeds, because a Number's text is a number.
Decimal SplitNumber(const Number& number);

}  // namespace itemdb
