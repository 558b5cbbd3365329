#include "client/order_entry/amount.h"

#include <algorithm>

#include "client/decimal.h"
#include "client/errors_internal.h"

namespace itemdb::order_entry {
namespace {

// Holds any 38 digits and a sign.
using Int128 = __int128;

constexpr int kMaxDigits = 38;

absl::Status TooLong() {
  return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                   "the sum of the order's lines has more than 38 digits");
}

// `value` * 10^exponent as plain text.
std::string PlainText(Int128 value, int exponent) {
  const bool negative = value < 0;
  std::string digits;
  // Unsigned, because the smallest Int128 has no positive counterpart.
  using Magnitude = unsigned __int128;
  const Magnitude magnitude =
      negative ? Magnitude{0} - static_cast<Magnitude>(value) : static_cast<Magnitude>(value);
  for (Magnitude rest = magnitude; rest != 0; rest /= 10) {
    digits.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
  }
  std::reverse(digits.begin(), digits.end());
  if (digits.empty()) return "0";
  if (exponent >= 0) {
    digits.append(static_cast<size_t>(exponent), '0');
  } else {
    const size_t decimals = static_cast<size_t>(-exponent);
    if (digits.size() <= decimals) digits.insert(0, decimals + 1 - digits.size(), '0');
    digits.insert(digits.size() - decimals, 1, '.');
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
  }
  return negative ? "-" + digits : digits;
}

}  // namespace

absl::StatusOr<Number> TotalAmount(const std::vector<NewOrderLine>& lines) {
  // All prices are scaled to the smallest exponent, so that they add up as integers.
  int exponent = 0;
  for (const NewOrderLine& line : lines) {
    const Decimal price = SplitNumber(line.price);
    exponent = std::min(exponent, price.magnitude - static_cast<int>(price.digits.size()));
  }
  Int128 sum = 0;
  for (const NewOrderLine& line : lines) {
    const Decimal price = SplitNumber(line.price);
    if (price.digits.empty()) continue;
    // The number of digits that the price has with this exponent.
    if (price.magnitude - exponent > kMaxDigits) return TooLong();
    Int128 scaled = 0;
    for (const char digit : price.digits) scaled = scaled * 10 + (digit - '0');
    for (int i = price.magnitude - static_cast<int>(price.digits.size()); i > exponent; --i) scaled *= 10;
    Int128 amount = 0;
    if (__builtin_mul_overflow(price.negative ? -scaled : scaled, static_cast<Int128>(line.quantity),
                               &amount) ||
        __builtin_add_overflow(sum, amount, &sum)) {
      return TooLong();
    }
  }
  const std::string text = PlainText(sum, exponent);
  if (SplitDecimal(text).value_or(Decimal{}).digits.size() > kMaxDigits) return TooLong();
  return Number::Parse(text);
}

}  // namespace itemdb::order_entry
