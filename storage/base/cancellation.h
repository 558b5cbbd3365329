// Whether the answer of an operation is still wanted: until its caller cancels it or its deadline passes.
//
// Operations look at it before they wait for something and every few items while they work, so that work
// stops within milliseconds. A write that stops this way was not applied; once its commit group is being
// written it does not stop any more.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "storage/base/status.h"

namespace itemdb {

// Thread-safe.
class Cancellation {
 public:
  using Clock = std::chrono::steady_clock;

  // Without a deadline.
  Cancellation() = default;
  explicit Cancellation(Clock::time_point deadline) : deadline_(deadline) {}

  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }

  // CANCELLED or DEADLINE_EXCEEDED when the answer is no longer wanted. Reads the clock when there is a
  // deadline.
  absl::Status Check() const;

 private:
  std::atomic<bool> cancelled_ = false;
  const Clock::time_point deadline_ = Clock::time_point::max();
};

// Null: the answer is always wanted.
using CancellationPtr = std::shared_ptr<const Cancellation>;

inline absl::Status CheckWanted(const CancellationPtr& cancellation) {
  return cancellation == nullptr ? absl::OkStatus() : cancellation->Check();
}

}  // namespace itemdb
