// Counts of values in ranges, and their sum: latencies, sizes. For metrics.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace itemdb::storage {

// A copy of the counts of a histogram at one moment.
template <size_t kBounds>
struct HistogramCounts {
  // How many values are at most the bound with the same index and greater than the bound before it; at last
  // the values above all bounds.
  std::array<uint64_t, kBounds + 1> in_range = {};
  uint64_t sum = 0;

  uint64_t count() const {
    uint64_t all = 0;
    for (uint64_t one : in_range) all += one;
    return all;
  }
};

// `bounds` ascend and outlive the histogram. Thread-safe; Add() takes no lock, so a copy made meanwhile may
// have a value in its range and not yet in its sum.
template <size_t kBounds>
class Histogram {
 public:
  explicit Histogram(const std::array<uint64_t, kBounds>& bounds) : bounds_(bounds) {}

  void Add(uint64_t value) {
    const auto range = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
    in_range_[static_cast<size_t>(range)].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }

  HistogramCounts<kBounds> Copy() const {
    HistogramCounts<kBounds> copy;
    for (size_t i = 0; i <= kBounds; ++i) copy.in_range[i] = in_range_[i].load(std::memory_order_relaxed);
    copy.sum = sum_.load(std::memory_order_relaxed);
    return copy;
  }

 private:
  const std::array<uint64_t, kBounds>& bounds_;
  std::array<std::atomic<uint64_t>, kBounds + 1> in_range_ = {};
  std::atomic<uint64_t> sum_ = 0;
};

// Bounds of times, in microseconds: three a decade, from 20 us to 10 s.
inline constexpr std::array<uint64_t, 18> kMicrosecondBounds = {
    20,     50,     100,     200,     500,     1'000,     2'000,     5'000,     10'000,
    20'000, 50'000, 100'000, 200'000, 500'000, 1'000'000, 2'000'000, 5'000'000, 10'000'000};
using LatencyHistogram = Histogram<kMicrosecondBounds.size()>;
using LatencyCounts = HistogramCounts<kMicrosecondBounds.size()>;

}  // namespace itemdb::storage
