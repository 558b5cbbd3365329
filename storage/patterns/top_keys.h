// The most used of many keys, in bounded memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace itemdb::storage {

// Counts weights by key, for at most `capacity` keys (the Space-Saving algorithm). A key that is new when all
// places are taken gets the place, and the count, of the key with the least count. So every key whose weight
// is more than the sum of all weights divided by `capacity` has a place. Its count is at least its weight,
// and at most `error` more. Not thread-safe.
class TopKeys {
 public:
  struct Counted {
    std::string key;
    double count = 0;
    double error = 0;
  };

  explicit TopKeys(size_t capacity);
  TopKeys(const TopKeys&) = delete;
  TopKeys& operator=(const TopKeys&) = delete;

  // `weight` must be positive.
  void Add(std::string_view key, double weight);
  // The `limit` keys with the highest counts, the highest first; equal ones in the order of their keys.
  std::vector<Counted> Top(size_t limit) const;

 private:
  struct Place {
    Counted counted;
    // Where the place is in `heap_`.
    size_t position = 0;
  };

  double CountAt(size_t position) const { return places_[heap_[position]].counted.count; }
  void Exchange(size_t a, size_t b);
  void MoveUp(size_t position);
  void MoveDown(size_t position);

  const size_t capacity_;
  // Never reallocated: `places_by_key_` refers to the keys.
  std::vector<Place> places_;
  // Indexes of `places_`, a binary heap with the least count in front.
  std::vector<size_t> heap_;
  absl::flat_hash_map<std::string_view, size_t> places_by_key_;
};

}  // namespace itemdb::storage
