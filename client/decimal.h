// A decimal number taken apart, for those who compare or compute with a Number's text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "itemdb/value.h"

namespace itemdb {
inline namespace client {

// 0.DIGITS * 10^magnitude, where DIGITS begins and ends with a digit other than zero. Zero has no digits,
// magnitude 0 and is not negative; so equal numbers have equal parts.
struct Decimal {
  bool negative = false;
  std::string digits;
  int magnitude = 0;
};

// Nothing when `text` is no number by Number::Parse's grammar.
std::optional<Decimal> SplitDecimal(std::string_view text);

// A Number's text always splits.
Decimal SplitNumber(const Number& number);

}  // namespace client
}  // namespace itemdb
