// Number: parsing and comparing decimal text. Parsing keeps the text; comparing splits it into digits.
#include <charconv>
#include <cstdlib>

#include "absl/strings/str_format.h"
#include "client/decimal.h"
#include "client/errors_internal.h"
#include "itemdb/value.h"

namespace itemdb {
namespace {

std::strong_ordering CompareAbsolute(const Decimal& a, const Decimal& b) {
  if (a.magnitude != b.magnitude) return a.magnitude <=> b.magnitude;
  // Without leading zeros, texts of digits compare like the fractions 0.DIGITS.
  return a.digits.compare(b.digits) <=> 0;
}

}  // namespace

absl::StatusOr<Number> Number::Parse(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    return MakeError(
        absl::StatusCode::kInvalidArgument, kReasonValidation,
        absl::StrFormat("a number has %d characters; at most %d are allowed", text.size(), kMaxTextBytes));
  }
  if (!SplitDecimal(text).has_value()) {
    return MakeError(
        absl::StatusCode::kInvalidArgument, kReasonValidation,
        absl::StrFormat("\"%s\" is not a decimal number such as -12.5 or 1e-3 (the exponent has at most 6 "
                        "digits)",
                        text));
  }
  Number number;
  number.text_ = std::string(text);
  return number;
}

absl::StatusOr<int64_t> Number::ToInt64() const {
  const Decimal decimal = SplitNumber(*this);
  if (decimal.digits.empty()) return 0;
  const int digits = static_cast<int>(decimal.digits.size());
  // 19 digits hold every int64_t.
  const bool whole = decimal.magnitude >= digits;
  if (whole && decimal.magnitude <= 19) {
    std::string plain = decimal.negative ? "-" : "";
    plain += decimal.digits;
    plain.append(static_cast<size_t>(decimal.magnitude - digits), '0');
    int64_t value = 0;
    const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
    if (error == std::errc() && end == plain.data() + plain.size()) return value;
  }
  return MakeError(absl::StatusCode::kOutOfRange, kReasonValidation,
                   "the number " + text_ + (whole ? " does not fit in 64 bits" : " is not a whole number"));
}

double Number::ToDouble() const {
  const Decimal decimal = SplitNumber(*this);
  if (decimal.digits.empty()) return 0;
  const std::string text =
      (decimal.negative ? "-0." : "0.") + decimal.digits + "e" + std::to_string(decimal.magnitude);
  return std::strtod(text.c_str(), nullptr);
}

std::strong_ordering operator<=>(const Number& a, const Number& b) {
  if (a.text_ == b.text_) return std::strong_ordering::equal;
  const Decimal x = SplitNumber(a);
  const Decimal y = SplitNumber(b);
  const int x_sign = x.digits.empty() ? 0 : x.negative ? -1 : 1;
  const int y_sign = y.digits.empty() ? 0 : y.negative ? -1 : 1;
  if (x_sign != y_sign) return x_sign <=> y_sign;
  return x_sign < 0 ? CompareAbsolute(y, x) : CompareAbsolute(x, y);
}

}  // namespace itemdb
