// The nearest entries of a search so far.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace itemdb::storage {

// An entry that a search found. Lower ranks are nearer; equal ranks are in the order of the keys (VEC-23).
struct VectorHit {
  float rank = 0;
  // The encoded primary key of the item.
  std::string base_key;

  bool operator<(const VectorHit& other) const {
    return rank != other.rank ? rank < other.rank : base_key < other.base_key;
  }
};

// Keeps the `limit` nearest of the entries that are added. `limit` is at least 1.
class TopHits {
 public:
  explicit TopHits(size_t limit) : limit_(limit) { hits_.reserve(limit); }

  size_t limit() const { return limit_; }
  size_t size() const { return hits_.size(); }

  // False: an entry of this rank would not be kept.
  bool Wants(float rank) const { return hits_.size() < limit_ || rank <= hits_.front().rank; }

  void Add(float rank, std::string_view base_key) {
    if (!Wants(rank)) return;
    VectorHit hit{rank, std::string(base_key)};
    if (hits_.size() == limit_) {
      if (!(hit < hits_.front())) return;
      std::pop_heap(hits_.begin(), hits_.end());
      hits_.pop_back();
    }
    hits_.push_back(std::move(hit));
    std::push_heap(hits_.begin(), hits_.end());
  }

  // The hits, nearest first. Leaves none.
  std::vector<VectorHit> Take() {
    std::sort_heap(hits_.begin(), hits_.end());
    return std::move(hits_);
  }

 private:
  const size_t limit_;
  // A heap with the farthest in front.
  std::vector<VectorHit> hits_;
};

}  // namespace itemdb::storage
