// The progress of a backfill, for DescribeTable.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

#include "itemdb/v1/tables.pb.h"
#include "storage/base/mutex.h"

namespace itemdb::storage {

// Set by the thread that backfills, read by any thread. Thread-safe.
class BuildProgress {
 public:
  void Begin(v1::IndexBuild::Phase phase, int64_t total) {
    MutexLock lock(mutex_);
    phase_ = phase;
    total_ = total;
    done_ = 0;
    begin_ = std::chrono::steady_clock::now();
  }
  void Done(int64_t done) { done_.store(done, std::memory_order_relaxed); }
  void Skipped(int64_t items) { skipped_.store(items, std::memory_order_relaxed); }

  v1::IndexBuild Describe() const {
    v1::IndexBuild build;
    MutexLock lock(mutex_);
    build.set_phase(phase_);
    const int64_t done = done_;
    build.set_done(done);
    build.set_total(std::max(total_, done));
    build.set_skipped_items(skipped_);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    if (done == 0 || seconds <= 0) return build;
    const double per_second = static_cast<double>(done) / seconds;
    build.set_per_second(static_cast<int64_t>(per_second));
    build.set_seconds_left(static_cast<int64_t>(static_cast<double>(build.total() - done) / per_second));
    return build;
  }

 private:
  mutable Mutex mutex_;
  v1::IndexBuild::Phase phase_ ABSL_GUARDED_BY(mutex_) = v1::IndexBuild::PHASE_SCANNING;
  int64_t total_ ABSL_GUARDED_BY(mutex_) = 0;
  std::chrono::steady_clock::time_point begin_ ABSL_GUARDED_BY(mutex_) = std::chrono::steady_clock::now();
  std::atomic<int64_t> done_ = 0;
  std::atomic<int64_t> skipped_ = 0;
};

}  // namespace itemdb::storage
