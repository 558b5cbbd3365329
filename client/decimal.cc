#include "client/decimal.h"

#include <algorithm>
#include <charconv>

namespace itemdb {
namespace {

// Longest exponent, in digits after leading zeros; keeps every exponent sum inside an int.
constexpr size_t kMaxExponentDigits = 6;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<Decimal> SplitDecimal(std::string_view text) {
  Decimal decimal;
  size_t at = 0;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) decimal.negative = text[at++] == '-';

  size_t digit_count = 0;
  int integer_digits = 0;
  bool after_point = false;
  for (; at < text.size() && (IsDigit(text[at]) || (text[at] == '.' && !after_point)); ++at) {
    if (text[at] == '.') {
      after_point = true;
      continue;
    }
    decimal.digits.push_back(text[at]);
    ++digit_count;
    if (!after_point) ++integer_digits;
  }
  if (digit_count == 0) return std::nullopt;

  int exponent = 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    bool exponent_negative = false;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) exponent_negative = text[at++] == '-';
    const size_t first = at;
    while (at < text.size() && text[at] == '0') ++at;
    const size_t significant = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    if (at == first || at - significant > kMaxExponentDigits) return std::nullopt;
    if (at > significant) std::from_chars(text.data() + significant, text.data() + at, exponent);
    if (exponent_negative) exponent = -exponent;
  }
  if (at != text.size()) return std::nullopt;

  const size_t leading = std::min(decimal.digits.find_first_not_of('0'), decimal.digits.size());
  decimal.digits.erase(0, leading);
  decimal.digits.erase(decimal.digits.find_last_not_of('0') + 1);
  decimal.magnitude = integer_digits - static_cast<int>(leading) + exponent;
  if (decimal.digits.empty()) return Decimal{};
  return decimal;
}

Decimal SplitNumber(const Number& number) { return SplitDecimal(number.text()).value_or(Decimal{}); }

}  // namespace itemdb
