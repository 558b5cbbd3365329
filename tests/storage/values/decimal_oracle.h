// A second, slow implementation of decimal numbers to judge storage/values/number.h by: schoolbook arithmetic
// on a window of digits wide enough for everything in range. Shares no code and no idea with the first.
#pragma once

#include <random>
#include <string>
#include <string_view>

namespace itemdb {

class DecimalOracle {
 public:
  // `text` is well formed and its digits are within the window.
  static DecimalOracle Parse(std::string_view text);

  DecimalOracle Negated() const;
  DecimalOracle Plus(const DecimalOracle& other) const;
  // Negative, zero or positive.
  int Compare(const DecimalOracle& other) const;

  // SEM-012's form.
  std::string ToString() const;
  // From the first to the last digit that is not zero.
  int SignificantDigits() const;
  // Powers of ten of the first digit that is not zero; 0 for zero.
  int Exponent() const;
  bool InRange() const;

 private:
  // digits_[i] is worth 10^(kTop - i).
  static constexpr int kTop = 200;
  static constexpr int kWidth = 500;
  bool is_zero() const { return digits_.find_first_not_of('\0') == std::string::npos; }

  bool negative_ = false;
  std::string digits_ = std::string(kWidth, '\0');
};

// A number in range as text: of 1 to 38 digits, near zero, near the limits or anywhere, plain or with an
// exponent, with or without superfluous zeros and signs.
std::string RandomNumberText(std::mt19937_64& random);

}  // namespace itemdb
