// Tells an operation that its caller cancelled it or that its deadline passed.
//
// An operation checks its Cancellation before each wait and every few items while it works, so it stops
// within milliseconds. A write that stops this way was not applied. A write whose commit group is already
// being written does not stop.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "storage/base/status.h"

namespace itemdb::storage {

class CallTrace;

// Thread-safe.
class Cancellation {
 public:
  using Clock = std::chrono::steady_clock;

  // Without a deadline.
  Cancellation() = default;
  explicit Cancellation(Clock::time_point deadline) : deadline_(deadline) {}
  // Of a part of `call`, with a trace of its own: cancelled and late when `call` is.
  Cancellation(std::shared_ptr<const Cancellation> call, std::shared_ptr<CallTrace> trace)
      : call_(std::move(call)), trace_(std::move(trace)) {}

  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }

  // CANCELLED after Cancel(), DEADLINE_EXCEEDED after the deadline. Reads the clock only if there is a
  // deadline.
  absl::Status Check() const;

  // Null: the call is not traced (storage/base/call_trace.h). Set before the operation begins.
  CallTrace* trace() const { return trace_.get(); }
  void set_trace(std::shared_ptr<CallTrace> trace) { trace_ = std::move(trace); }

 private:
  std::atomic<bool> cancelled_ = false;
  const Clock::time_point deadline_ = Clock::time_point::max();
  // Null: this is of no part.
  const std::shared_ptr<const Cancellation> call_;
  std::shared_ptr<CallTrace> trace_;
};

// Null: the operation cannot be cancelled and has no deadline.
using CancellationPtr = std::shared_ptr<const Cancellation>;

inline absl::Status CheckNotCancelled(const CancellationPtr& cancellation) {
  return cancellation == nullptr ? absl::OkStatus() : cancellation->Check();
}

}  // namespace itemdb::storage
