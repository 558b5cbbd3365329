// Limits the reclaimer's disk work per second, so that writers can still use the disk.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "storage/base/mutex.h"

namespace itemdb::storage {

// Shared by the reclaimer and the RocksDB threads that compact for it. Thread-safe.
class ReclaimPace {
 public:
  explicit ReclaimPace(int64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  // Counts `bytes` of work. Waits when more was done than the rate allows, unless `bypass`, called before
  // each wait, returns true because other work waits for this work. Interrupt ends a wait at once.
  void Request(int64_t bytes, absl::FunctionRef<bool()> bypass);

  // Ends all waits, and Request does not wait until Resume. Work in progress should end.
  void Interrupt();
  // Request waits again.
  void Resume() { interrupted_ = false; }
  bool is_interrupted() const { return interrupted_; }
  // The flag, for RocksDB's option that cancels a compaction.
  std::atomic<bool>* interrupted() { return &interrupted_; }

 private:
  using Clock = std::chrono::steady_clock;

  const int64_t bytes_per_second_;
  std::atomic<bool> interrupted_ = false;
  Mutex mutex_;
  CondVar interruption_;
  // Bytes of work since the last wait.
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // The time at which the rate allows the work before `bytes_` to be finished.
  Clock::time_point paid_until_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::storage
