#include "storage/values/number.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/escaping.h"
#include "storage/base/limits.h"

namespace itemdb::storage {
namespace {

using uint128 = unsigned __int128;

// kPowersOfTen[i] == 10^i. 10^38 is the largest power that 128 bits hold.
constexpr std::array<uint128, kMaxNumberDigits + 1> kPowersOfTen = [] {
  std::array<uint128, kMaxNumberDigits + 1> powers{};
  powers[0] = 1;
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

// Larger exponents are read as this one. The result is the same: a message is too short for the digits that
// would bring the number back into range.
constexpr int64_t kExponentCap = 1'000'000'000'000;

// Longest part of a refused text that the error quotes.
constexpr size_t kMaxQuotedNumberBytes = 64;

int DigitCount(uint128 coefficient) {
  return static_cast<int>(std::upper_bound(kPowersOfTen.begin(), kPowersOfTen.end(), coefficient) -
                          kPowersOfTen.begin());
}

// Writes the decimal digits of `value`, none for zero, so that they end at `end`. Returns where they begin.
char* WriteDigits(uint128 value, char* end) {
  // 64-bit division is several times faster than 128-bit division, so take 19 digits at a time.
  constexpr uint64_t kChunk = 10'000'000'000'000'000'000u;
  while (value > UINT64_MAX) {
    uint64_t low = static_cast<uint64_t>(value % kChunk);
    value /= kChunk;
    for (int i = 0; i < 19; ++i, low /= 10) *--end = static_cast<char>('0' + low % 10);
  }
  for (uint64_t rest = static_cast<uint64_t>(value); rest != 0; rest /= 10) {
    *--end = static_cast<char>('0' + rest % 10);
  }
  return end;
}

absl::Status TooManyDigits() { return ValidationError("SEM-011", kTooManyDigits); }

absl::Status Overflow() { return ValidationError("SEM-011", kNumberOverflow); }

absl::Status Underflow() {
  return ValidationError(
      "SEM-011",
      "Number underflow. Attempting to store a number with magnitude smaller than supported range");
}

absl::Status NotANumber(std::string_view text) {
  std::string message = "The parameter cannot be converted to a numeric value";
  if (!text.empty()) {
    std::string_view quoted = text.substr(0, kMaxQuotedNumberBytes);
    message += ": " + absl::CHexEscape({quoted.data(), quoted.size()});
    if (quoted.size() < text.size()) message += "...";
  }
  return ValidationError("SEM-011", message);
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Parses `[+-] digits`, the text after the `e`. False when there is no digit or when other text follows.
bool ParseExponent(std::string_view text, int64_t* exponent) {
  bool negative = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  if (text.empty()) return false;
  int64_t value = 0;
  for (char c : text) {
    if (!IsDigit(c)) return false;
    value = std::min(value * 10 + (c - '0'), kExponentCap);
  }
  *exponent = negative ? -value : value;
  return true;
}

}  // namespace

absl::StatusOr<Number> Number::Parse(std::string_view text) {
  std::string_view rest = text;
  bool negative = !rest.empty() && rest.front() == '-';
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);

  uint128 coefficient = 0;
  int significant = 0;        // digits in `coefficient`
  int64_t pending_zeros = 0;  // zeros after them, counted as digits only when another digit follows
  int64_t fraction_digits = 0;
  bool any_digit = false, in_fraction = false, too_many = false;
  size_t i = 0;
  for (; i < rest.size(); ++i) {
    char c = rest[i];
    if (c == '.' && !in_fraction) {
      in_fraction = true;
      continue;
    }
    if (!IsDigit(c)) break;
    any_digit = true;
    fraction_digits += in_fraction;
    if (c == '0') {
      pending_zeros += significant > 0;
      continue;
    }
    if (significant + pending_zeros + 1 > kMaxNumberDigits) {
      // Keep parsing: if the rest is malformed, that error is reported instead.
      too_many = true;
      continue;
    }
    coefficient = coefficient * kPowersOfTen[pending_zeros + 1] + static_cast<uint128>(c - '0');
    significant += static_cast<int>(pending_zeros) + 1;
    pending_zeros = 0;
  }
  if (!any_digit) return NotANumber(text);
  int64_t exponent = 0;
  if (i < rest.size()) {
    bool has_exponent = rest[i] == 'e' || rest[i] == 'E';
    if (!has_exponent || !ParseExponent(rest.substr(i + 1), &exponent)) return NotANumber(text);
  }
  if (too_many) return TooManyDigits();
  exponent += pending_zeros - fraction_digits;
  if (coefficient == 0) {
    // As in the service, a zero may be written with any small exponent, but not with a large one.
    if (exponent > kMaxNumberExponent) return Overflow();
    return Number();
  }
  int64_t scientific = exponent + significant - 1;
  if (scientific > kMaxNumberExponent) return Overflow();
  if (scientific < kMinNumberExponent) return Underflow();
  Number number;
  number.coefficient_ = coefficient;
  number.exponent_ = static_cast<int>(exponent);
  number.negative_ = negative;
  return number;
}

absl::StatusOr<Number> Number::FromParts(bool negative, uint128 coefficient, int exponent) {
  if (coefficient == 0) return Number();
  int64_t wide_exponent = exponent;
  for (; coefficient % 10 == 0; ++wide_exponent) coefficient /= 10;
  if (coefficient >= kPowersOfTen[kMaxNumberDigits]) return TooManyDigits();
  int64_t scientific = wide_exponent + DigitCount(coefficient) - 1;
  if (scientific > kMaxNumberExponent) return Overflow();
  if (scientific < kMinNumberExponent) return Underflow();
  Number number;
  number.coefficient_ = coefficient;
  number.exponent_ = static_cast<int>(wide_exponent);
  number.negative_ = negative;
  return number;
}

absl::StatusOr<Number> Number::Add(const Number& a, const Number& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const Number& high = a.exponent_ >= b.exponent_ ? a : b;
  const Number& low = a.exponent_ >= b.exponent_ ? b : a;

  // Bring both to the lower exponent. The last digit of the result is the lower number's, which is not zero.
  // If the scaled coefficient is at least 2 * 10^38, the result has at least 39 digits even after a
  // subtraction. Below that bound all values, also the sum, fit 128 bits.
  int shift = high.exponent_ - low.exponent_;
  if (shift > kMaxNumberDigits || high.coefficient_ >= 2 * kPowersOfTen[kMaxNumberDigits - shift]) {
    return TooManyDigits();
  }
  uint128 scaled = high.coefficient_ * kPowersOfTen[shift];
  if (high.negative_ == low.negative_) {
    return FromParts(high.negative_, scaled + low.coefficient_, low.exponent_);
  }
  if (scaled >= low.coefficient_) {
    return FromParts(high.negative_, scaled - low.coefficient_, low.exponent_);
  }
  return FromParts(low.negative_, low.coefficient_ - scaled, low.exponent_);
}

absl::StatusOr<Number> Number::Subtract(const Number& a, const Number& b) {
  Number negated = b;
  negated.negative_ = !b.negative_ && !b.is_zero();
  return Add(a, negated);
}

std::string Number::ToString() const {
  if (is_zero()) return "0";
  char buffer[kMaxNumberDigits + 2];
  char* end = buffer + sizeof(buffer);
  const char* digits = WriteDigits(coefficient_, end);
  int count = static_cast<int>(end - digits);

  std::string text;
  if (negative_) text.push_back('-');
  int integer_digits = count + exponent_;  // digits before the point, if positive
  if (exponent_ >= 0) {
    text.append(digits, count).append(exponent_, '0');
  } else if (integer_digits > 0) {
    text.append(digits, integer_digits).append(".").append(digits + integer_digits, -exponent_);
  } else {
    text.append("0.").append(-integer_digits, '0').append(digits, count);
  }
  return text;
}

size_t Number::SizeBytes(std::string_view canonical_text) {
  std::string_view text = canonical_text;
  if (text == "0") return 1;
  bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  size_t point = text.find('.');
  std::string_view integer = text.substr(0, point);
  std::string_view fraction = point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (fraction.empty()) integer = integer.substr(0, integer.find_last_not_of('0') + 1);
  if (integer == "0") {
    integer = {};
    fraction.remove_prefix(std::min(fraction.find_first_not_of('0'), fraction.size()));
  }
  return 1 + (integer.size() + 1) / 2 + (fraction.size() + 1) / 2 + (negative ? 1 : 0);
}

std::strong_ordering Number::operator<=>(const Number& other) const {
  int sign = is_zero() ? 0 : negative_ ? -1 : 1;
  int other_sign = other.is_zero() ? 0 : other.negative_ ? -1 : 1;
  if (sign != other_sign || sign == 0) return sign <=> other_sign;

  const Number& smaller_side = negative_ ? other : *this;
  const Number& larger_side = negative_ ? *this : other;
  int digits = DigitCount(smaller_side.coefficient_);
  int other_digits = DigitCount(larger_side.coefficient_);
  int magnitude = smaller_side.exponent_ + digits;
  int other_magnitude = larger_side.exponent_ + other_digits;
  if (magnitude != other_magnitude) return magnitude <=> other_magnitude;
  // The same magnitude: pad the shorter coefficient with zeros; both then have at most 38 digits.
  int common = std::max(digits, other_digits);
  uint128 left = smaller_side.coefficient_ * kPowersOfTen[common - digits];
  uint128 right = larger_side.coefficient_ * kPowersOfTen[common - other_digits];
  return left < right   ? std::strong_ordering::less
         : left > right ? std::strong_ordering::greater
                        : std::strong_ordering::equal;
}

}  // namespace itemdb::storage
