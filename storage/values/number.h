// Decimal numbers of up to 38 significant digits: the data model's N type.
//
// Exact arithmetic, one value for equal numbers ("25.00" == "25", SEM-013), no binary floating point
// anywhere. All of it is thread-safe and does not block.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace itemdb {

// A value `(-1)^negative * coefficient * 10^exponent` with a coefficient of at most 38 digits that does not
// end in zero. Zero is coefficient 0, exponent 0, not negative. Immutable, trivially copyable.
class Number {
 public:
  // Zero.
  constexpr Number() = default;

  // Parses `[+-] digits [. digits] [e [+-] digits]` (also ".5" and "5."). INVALID_ARGUMENT when the text is
  // not a number, has more than 38 significant digits, or lies outside SEM-011's range; the message is the
  // service's.
  static absl::StatusOr<Number> Parse(std::string_view text);

  // The sum or difference. INVALID_ARGUMENT when the exact result does not fit 38 digits or SEM-011's range
  // (EXP-30). Results are never rounded.
  static absl::StatusOr<Number> Add(const Number& a, const Number& b);
  static absl::StatusOr<Number> Subtract(const Number& a, const Number& b);

  // SEM-012's plain form: no exponent, no leading or trailing zeros, no "-0".
  std::string ToString() const;

  // Bytes the number counts for in an item (SEM-003): 1, half a byte for each digit before and for each digit
  // behind the point (each rounded up), 1 if negative. Zeros that only place the point do not count, and 0
  // counts for 1.
  size_t SizeBytes() const { return SizeBytes(ToString()); }
  // Likewise, of a number in the form ToString() returns.
  static size_t SizeBytes(std::string_view canonical_text);

  // Numeric order; equal iff the same number.
  std::strong_ordering operator<=>(const Number& other) const;
  bool operator==(const Number& other) const { return (*this <=> other) == 0; }

  bool is_zero() const { return coefficient_ == 0; }
  bool is_negative() const { return negative_; }
  unsigned __int128 coefficient() const { return coefficient_; }
  int exponent() const { return exponent_; }

  // From parts, normalised. INVALID_ARGUMENT as for Parse.
  static absl::StatusOr<Number> FromParts(bool negative, unsigned __int128 coefficient, int exponent);

 private:
  unsigned __int128 coefficient_ = 0;
  int exponent_ = 0;
  bool negative_ = false;
};

}  // namespace itemdb
