// Keeps the puts of an operation below a number of write request units a second (BLK-11).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace itemdb::storage {

// Units that were not used are not saved: after a pause the rate is the same. Not thread-safe.
class WritePace {
 public:
  using Clock = std::chrono::steady_clock;

  // 0: no limit.
  explicit WritePace(int64_t units_per_second) : units_per_second_(units_per_second) {}

  // `units` were consumed at `now`. Returns when the next ones may be.
  Clock::time_point Charge(double units, Clock::time_point now) {
    if (units_per_second_ <= 0) return now;
    const std::chrono::duration<double> time(units / static_cast<double>(units_per_second_));
    due_ = std::max(due_, now) + std::chrono::duration_cast<Clock::duration>(time);
    return due_;
  }
  // The most units that one commit should consume, so that no second has many more than the limit.
  double units_at_once() const { return static_cast<double>(units_per_second_) / kCommitsPerSecond; }
  bool has_limit() const { return units_per_second_ > 0; }

 private:
  static constexpr double kCommitsPerSecond = 16;

  const int64_t units_per_second_;
  Clock::time_point due_{};
};

}  // namespace itemdb::storage
