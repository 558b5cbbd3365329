// Decimal numbers of up to 38 significant digits: the data model's N type.
//
// Exact arithmetic. Equal numbers are the same value ("25.00" == "25", SEM-013). No binary floating point.
// All functions are thread-safe and do not block.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace itemdb::storage {

// The error for a number that is too large (SEM-011).
inline constexpr std::string_view kNumberOverflow =
    "Number overflow. Attempting to store a number with magnitude larger than supported range";

// The error for a number of more than 38 digits.
inline constexpr std::string_view kTooManyDigits =
    "Attempting to store more than 38 significant digits in a Number";

// A value `(-1)^negative * coefficient * 10^exponent` with a coefficient of at most 38 digits that does not
// end in zero. Zero is coefficient 0, exponent 0, not negative. Immutable, trivially copyable.
class Number {
 public:
  // Zero.
  constexpr Number() = default;

  // Parses `[+-] digits [. digits] [e [+-] digits]` (also ".5" and "5."). INVALID_ARGUMENT when the text is
  // not a number, has more than 38 significant digits, or lies outside the range 1E-130 to 9.99...E+125
  // (SEM-011). The message is the service's.
  static absl::StatusOr<Number> Parse(std::string_view text);

  // Returns the sum or the difference, never rounded. INVALID_ARGUMENT when the exact result has more than 38
  // digits or lies outside the range of Parse (EXP-30).
  static absl::StatusOr<Number> Add(const Number& a, const Number& b);
  static absl::StatusOr<Number> Subtract(const Number& a, const Number& b);

  // The number written out (SEM-012): no exponent, no leading or trailing zeros, no "-0".
  std::string ToString() const;

  // The number's size in an item, in bytes (SEM-003): 1, half a byte for each digit before the point and for
  // each digit after it (each sum rounded up), 1 if negative. Zeros that only place the point do not count. 0
  // has size 1.
  size_t SizeBytes() const { return SizeBytes(ToString()); }
  // The same, for a number in the form that ToString() returns.
  static size_t SizeBytes(std::string_view canonical_text);

  // Numeric order.
  std::strong_ordering operator<=>(const Number& other) const;
  bool operator==(const Number& other) const { return (*this <=> other) == 0; }

  bool is_zero() const { return coefficient_ == 0; }
  bool is_negative() const { return negative_; }
  unsigned __int128 coefficient() const { return coefficient_; }
  int exponent() const { return exponent_; }

  // From parts; trailing zeros of the coefficient are removed. INVALID_ARGUMENT as for Parse.
  static absl::StatusOr<Number> FromParts(bool negative, unsigned __int128 coefficient, int exponent);

 private:
  unsigned __int128 coefficient_ = 0;
  int exponent_ = 0;
  bool negative_ = false;
};

}  // namespace itemdb::storage
