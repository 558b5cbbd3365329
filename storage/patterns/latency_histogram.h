// Buckets for latencies from microseconds to a minute. Percentiles are exact within 10 %.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace itemdb::storage {

// Below 8 us each microsecond has its own bucket. Above, every doubling has 8 buckets, so that the middle of
// a bucket is within 6.25 % of all latencies in it. Latencies above a minute are in the last bucket.
inline constexpr int kLatencyDoublings = 23;
inline constexpr size_t kLatencyBuckets = 8 + 8 * kLatencyDoublings;

inline size_t LatencyBucket(uint64_t us) {
  if (us < 8) return us;
  const int doubling = std::bit_width(us) - 4;
  return std::min<size_t>(8 + 8 * static_cast<size_t>(doubling) + ((us >> doubling) & 7),
                          kLatencyBuckets - 1);
}

// The middle of a bucket, in microseconds.
inline int64_t LatencyOfBucket(size_t bucket) {
  if (bucket < 16) return static_cast<int64_t>(bucket);
  const size_t doubling = (bucket - 8) / 8;
  const int64_t lower = static_cast<int64_t>(8 + bucket % 8) << doubling;
  return lower + (int64_t{1} << doubling) / 2;
}

}  // namespace itemdb::storage
