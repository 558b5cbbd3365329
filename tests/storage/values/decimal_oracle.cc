#include "tests/storage/values/decimal_oracle.h"

#include <algorithm>

#include "tests/storage/values/test_seed.h"

namespace itemdb::storage {

DecimalOracle DecimalOracle::Parse(std::string_view text) {
  DecimalOracle result;
  size_t e = text.find_first_of("eE");
  int place = e == std::string_view::npos ? 0 : std::stoi(std::string(text.substr(e + 1)));
  std::string_view mantissa = text.substr(0, e);
  if (!mantissa.empty() && (mantissa[0] == '-' || mantissa[0] == '+')) {
    result.negative_ = mantissa[0] == '-';
    mantissa.remove_prefix(1);
  }
  size_t integer_digits = std::min(mantissa.find('.'), mantissa.size());
  place += static_cast<int>(integer_digits) - 1;
  for (char c : mantissa) {
    if (c == '.') continue;
    if (c != '0') result.digits_.at(kTop - place) = static_cast<char>(c - '0');
    --place;
  }
  if (result.is_zero()) result.negative_ = false;
  return result;
}

DecimalOracle DecimalOracle::Negated() const {
  DecimalOracle result = *this;
  result.negative_ = !negative_ && !is_zero();
  return result;
}

DecimalOracle DecimalOracle::Plus(const DecimalOracle& other) const {
  DecimalOracle result;
  if (negative_ == other.negative_) {
    result.negative_ = negative_;
    int carry = 0;
    for (int i = kWidth - 1; i >= 0; --i) {
      int sum = digits_[i] + other.digits_[i] + carry;
      result.digits_[i] = static_cast<char>(sum % 10);
      carry = sum / 10;
    }
    return result;
  }
  const DecimalOracle& big = digits_ >= other.digits_ ? *this : other;
  const DecimalOracle& small = digits_ >= other.digits_ ? other : *this;
  int borrow = 0;
  for (int i = kWidth - 1; i >= 0; --i) {
    int difference = big.digits_[i] - small.digits_[i] - borrow;
    borrow = difference < 0;
    result.digits_[i] = static_cast<char>(difference + 10 * borrow);
  }
  result.negative_ = big.negative_ && !result.is_zero();
  return result;
}

int DecimalOracle::Compare(const DecimalOracle& other) const {
  if (negative_ != other.negative_) return negative_ ? -1 : 1;
  int magnitude = digits_.compare(other.digits_);
  return negative_ ? -magnitude : magnitude;
}

std::string DecimalOracle::ToString() const {
  std::string text;
  for (int i = 0; i < kWidth; ++i) {
    if (i == kTop + 1) text.push_back('.');
    text.push_back(static_cast<char>('0' + digits_[i]));
  }
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  text.erase(0, std::min(text.find_first_not_of('0'), size_t{kTop}));
  return (negative_ ? "-" : "") + text;
}

int DecimalOracle::SignificantDigits() const {
  if (is_zero()) return 0;
  return static_cast<int>(digits_.find_last_not_of('\0') - digits_.find_first_not_of('\0')) + 1;
}

int DecimalOracle::Exponent() const {
  return is_zero() ? 0 : kTop - static_cast<int>(digits_.find_first_not_of('\0'));
}

bool DecimalOracle::InRange() const {
  return SignificantDigits() <= 38 && Exponent() >= -130 && Exponent() <= 125;
}

std::string RandomNumberText(std::mt19937_64& random) {
  // Few digits half of the time, so that equal and neighbouring numbers occur.
  int count = static_cast<int>(Pick(random, 0, 1) ? Pick(random, 1, 38) : Pick(random, 1, 3));
  int kind = static_cast<int>(Pick(random, 0, 9));
  int exponent = static_cast<int>(kind == 0   ? 125
                                  : kind == 1 ? -130
                                  : kind == 2 ? Pick(random, -130, 125)
                                  : kind == 3 ? Pick(random, -40, 40)
                                              : Pick(random, -3, 3));
  std::string digits;
  for (int i = 0; i < count; ++i) {
    int digit = static_cast<int>(Pick(random, 0, 3) == 0 ? Pick(random, 0, 1) * 9 : Pick(random, 0, 9));
    digits.push_back(static_cast<char>('0' + (i == 0 ? std::max(digit, 1) : digit)));
  }
  if (Pick(random, 0, 40) == 0) digits.assign(1, '0');
  if (Pick(random, 0, 3) == 0) digits.append(Pick(random, 0, 5), '0');

  // The first digit has the value 10^exponent. Writes all digits, or a point anywhere and an exponent.
  std::string text;
  if (Pick(random, 0, 2) != 0) {
    int point = static_cast<int>(Pick(random, 0, static_cast<int64_t>(digits.size())));
    text = digits.substr(0, point);
    if (point < static_cast<int>(digits.size()) || Pick(random, 0, 1)) text.append(".").append(digits, point);
    text += Pick(random, 0, 1) ? "e" : "E";
    int rest = exponent - point + 1;
    if (rest >= 0 && Pick(random, 0, 1)) text += "+";
    text += std::to_string(rest);
  } else if (exponent < 0) {
    text = "0." + std::string(-exponent - 1, '0') + digits;
  } else {
    text = digits;
    int missing = exponent + 1 - static_cast<int>(digits.size());
    if (missing >= 0) {
      text.append(missing, '0');
    } else {
      text.insert(static_cast<size_t>(exponent) + 1, 1, '.');
    }
  }
  if (Pick(random, 0, 9) == 0) text.insert(0, "00");
  if (Pick(random, 0, 2) == 0) return "-" + text;
  return Pick(random, 0, 9) == 0 ? "+" + text : text;
}

}  // namespace itemdb::storage
