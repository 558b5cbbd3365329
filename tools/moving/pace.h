// How many writes a copy has under way at a time, found out by what the target does, and how many items a
// second it may write.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "absl/time/time.h"

namespace itemdb::tools {

// Starts with 2 and goes up by one after as many writes as are under way, up to `max`. After a refusal, or
// when a write takes four times as long for an item as the fastest did, goes down by a quarter. Thread-safe.
class Pace {
 public:
  // `max_items_per_second` 0: no bound.
  Pace(int max, double max_items_per_second);

  // Blocks until another write may begin.
  void Begin(int64_t items);
  void End(int64_t items, absl::Duration took, bool was_refused);

  int limit() const;

 private:
  const int max_;
  const double max_items_per_second_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // The rest is guarded by mutex_.
  int limit_ = 2;
  int under_way_ = 0;
  // Writes that ended since the limit was changed.
  int ended_ = 0;
  absl::Duration fastest_ = absl::InfiniteDuration();
  // When the next items may be written.
  absl::Time next_ = absl::InfinitePast();
};

}  // namespace itemdb::tools
