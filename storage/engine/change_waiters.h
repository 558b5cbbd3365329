// Whoever waits for the next change.
//
// Writers pay one load of an atomic for each commit group while nobody waits, and at most one wake-up of the
// thread here when somebody does, however many they are: that thread looks through them, and calls those
// whose change has come, whose time has passed or whose wait was cancelled.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "storage/base/cancellation.h"
#include "storage/base/mutex.h"

namespace itemdb {

// Thread-safe.
class ChangeWaiters {
 public:
  using Clock = std::chrono::steady_clock;
  using Wake = absl::AnyInvocable<void() &&>;

  // `last_sequence` tells the last change that may be shown; it must not call back.
  explicit ChangeWaiters(std::function<uint64_t()> last_sequence);
  // Forgets those that still wait without calling them.
  ~ChangeWaiters();
  ChangeWaiters(const ChangeWaiters&) = delete;
  ChangeWaiters& operator=(const ChangeWaiters&) = delete;

  // Calls `wake` once, perhaps before this returns: when there is a change after `sequence`, at `until`, or
  // soon after `cancellation` says that nobody waits any more. `wake` must not block.
  void Await(uint64_t sequence, Clock::time_point until, CancellationPtr cancellation, Wake wake);

  // There are more changes to be shown; to be called after `last_sequence` says so. Does not block.
  void Notify() {
    // Who begins to wait stores this before it asks for the last sequence, so that it is seen here or that
    // sequence there: the lock under which the sequence is kept orders the two.
    if (waiting_.load(std::memory_order_relaxed)) WakeThread();
  }

 private:
  struct Waiter {
    uint64_t sequence;
    Clock::time_point until;
    CancellationPtr cancellation;
    Wake wake;
  };

  void WakeThread();
  void Loop();
  Clock::duration UntilNextLook() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<Wake> TakeDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::function<uint64_t()> last_sequence_;
  std::atomic<bool> waiting_ = false;
  Mutex mutex_;
  CondVar changed_;
  std::vector<Waiter> waiters_ ABSL_GUARDED_BY(mutex_);
  bool notified_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace itemdb
