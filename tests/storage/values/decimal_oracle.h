// A second, slow implementation of decimal numbers to compare storage/values/number.h with: schoolbook
// arithmetic on an array of digits that is wide enough for every number in range. Shares neither code nor
// ideas with the tested one.
#pragma once

#include <random>
#include <string>
#include <string_view>

namespace itemdb::storage {

class DecimalOracle {
 public:
  // `text` must be well formed, with all digits inside the array.
  static DecimalOracle Parse(std::string_view text);

  DecimalOracle Negated() const;
  DecimalOracle Plus(const DecimalOracle& other) const;
  // Negative, zero or positive.
  int Compare(const DecimalOracle& other) const;

  // In the form in which numbers are read back: without exponent and superfluous zeros (SEM-012).
  std::string ToString() const;
  // The number of digits from the first to the last that is not zero.
  int SignificantDigits() const;
  // The power of ten of the first digit that is not zero; 0 for zero.
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

// A random number in range as text: 1 to 38 digits, near zero, near the limits or anywhere, with or without
// exponent, superfluous zeros and signs.
std::string RandomNumberText(std::mt19937_64& random);

}  // namespace itemdb::storage
