// How fast the reclaimer gives the disk work, so that writers keep theirs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "storage/base/mutex.h"

namespace itemdb {

// Shared by the reclaimer and the RocksDB threads that compact for it. Thread-safe.
class ReclaimPace {
 public:
  explicit ReclaimPace(int64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  // Accounts for `bytes` of work. Waits when more was done than the rate allows, unless `must_hurry`, which
  // is asked before each wait, says that others wait for this. A wait ends at once when it is interrupted.
  void Spend(int64_t bytes, absl::FunctionRef<bool()> must_hurry);

  // From now on nothing waits; what is under way should end.
  void Interrupt();
  // The next work waits again.
  void Resume() { interrupted_ = false; }
  bool is_interrupted() const { return interrupted_; }
  // As RocksDB wants it.
  std::atomic<bool>* interrupted() { return &interrupted_; }

 private:
  using Clock = std::chrono::steady_clock;

  const int64_t bytes_per_second_;
  std::atomic<bool> interrupted_ = false;
  Mutex mutex_;
  CondVar interruption_;
  // Bytes since it was last waited for them.
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // When what was waited for was allowed to be done.
  Clock::time_point paid_until_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb
