// Bounds the speed at which backups and exports read tables.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// Keeps the reading of a table below a number of bytes a second.
class ReadPace {
 public:
  // 0: no limit.
  explicit ReadPace(int64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  // Waits until `bytes` more may be read. Returns the error of `check`, which is called while it waits.
  template <typename Check>
  absl::Status Wait(size_t bytes, Check check) {
    if (bytes_per_second_ <= 0) return absl::OkStatus();
    bytes_ += static_cast<int64_t>(bytes);
    const absl::Time due =
        begin_ + absl::Seconds(1) * (static_cast<double>(bytes_) / static_cast<double>(bytes_per_second_));
    for (absl::Duration left = due - absl::Now(); left > kMinPause; left = due - absl::Now()) {
      ITEMDB_RETURN_IF_ERROR(check());
      absl::SleepFor(std::min(left, kMaxPause));
    }
    return absl::OkStatus();
  }

 private:
  // Shorter pauses are made up for later.
  static constexpr absl::Duration kMinPause = absl::Milliseconds(5);
  static constexpr absl::Duration kMaxPause = absl::Milliseconds(50);

  const int64_t bytes_per_second_;
  const absl::Time begin_ = absl::Now();
  int64_t bytes_ = 0;
};

}  // namespace itemdb::storage
