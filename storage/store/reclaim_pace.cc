#include "storage/store/reclaim_pace.h"

#include <algorithm>

namespace itemdb::storage {
namespace {

// Bytes of work between two waits: 16 ms at the default rate of 16 MiB a second.
constexpr int64_t kBytesBetweenWaits = 256 << 10;
// Work that was slower than the rate may be followed by faster work, for up to this much time.
constexpr auto kMaxLag = std::chrono::milliseconds(100);

}  // namespace

void ReclaimPace::Request(int64_t bytes, absl::FunctionRef<bool()> bypass) {
  {
    MutexLock lock(mutex_);
    bytes_ += bytes;
    if (bytes_ < kBytesBetweenWaits) return;
  }
  // bypass calls RocksDB, so no lock is held.
  const bool is_bypassed = bypass();
  MutexLock lock(mutex_);
  paid_until_ = std::max(paid_until_, Clock::now() - kMaxLag) +
                std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                    static_cast<double>(bytes_) / static_cast<double>(bytes_per_second_)));
  bytes_ = 0;
  if (is_bypassed) paid_until_ = Clock::now();
  while (!interrupted_) {
    const auto left = paid_until_ - Clock::now();
    if (left <= left.zero()) return;
    interruption_.WaitFor(mutex_, left);
  }
}

void ReclaimPace::Interrupt() {
  interrupted_ = true;
  // Waits until no waiter is between its check of `interrupted_` and its wait.
  { MutexLock lock(mutex_); }
  interruption_.NotifyAll();
}

}  // namespace itemdb::storage
