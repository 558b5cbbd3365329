// A number for the contents of an item: equal for equal items, whatever engine sent them and in whatever form
// it writes numbers and orders sets.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

#include "itemdb/value.h"

namespace itemdb::tools {

// The first 128 bits of a SHA-256.
struct Digest {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Digest&) const = default;
  // For absl's and std's hash tables: the bits are random already.
  template <typename H>
  friend H AbslHashValue(H h, const Digest& digest) {
    return H::combine(std::move(h), digest.low);
  }
};

Digest DigestOf(const Item& item);

// Sums of digests: the same for the same items in any order, and it grows with every item.
struct DigestSum {
  int64_t count = 0;
  uint64_t high = 0;
  uint64_t low = 0;
  bool operator==(const DigestSum&) const = default;
  void Add(const Digest& digest);
};

// `number` without a sign for zero, without superfluous zeros and in one form: "-125e-1". Two texts of equal
// numbers have one form.
std::string CanonicalNumber(const Number& number);

}  // namespace itemdb::tools
