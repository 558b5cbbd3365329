// When the steps of one call began and ended. A call that is traced (daemon/tracing) carries a CallTrace with
// its Cancellation, and the code that reads and commits adds its steps; other calls carry none, and nothing
// is timed.
#pragma once

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "storage/base/cancellation.h"
#include "storage/base/mutex.h"

namespace itemdb::storage {

// Thread-safe.
class CallTrace {
 public:
  using Clock = Cancellation::Clock;

  enum class Step {
    kCacheRead,  // reads on the thread of the request, from memtables and block cache
    kIoQueue,    // waits for an I/O thread
    kDiskRead,   // reads on an I/O thread, what is not in the block cache from the disk
    kQueue,      // a write waits for the commit group before it
    kOrder,      // the writes of its commit group are decided, one after another
    kSync,       // the commit group is written and synced
    kPublish,    // the commit group is made visible
    kStandby     // waits until a standby has it
  };
  struct Timing {
    Step step;
    Clock::time_point begin;
    Clock::time_point end;
  };
  // Later steps of a call are left out: a long page is read in many parts.
  static constexpr size_t kMaxSteps = 32;

  void Add(Step step, Clock::time_point begin, Clock::time_point end) {
    MutexLock lock(mutex_);
    if (timings_.size() < kMaxSteps) timings_.push_back({step, begin, end});
  }
  // The steps since the last call of this function, in the order in which they ended.
  std::vector<Timing> Take() {
    MutexLock lock(mutex_);
    return std::exchange(timings_, {});
  }

 private:
  Mutex mutex_;
  std::vector<Timing> timings_ ABSL_GUARDED_BY(mutex_);
};

// Null: the call is not traced. Valid while the Cancellation exists.
inline CallTrace* TraceOf(const CancellationPtr& cancellation) {
  return cancellation == nullptr ? nullptr : cancellation->trace();
}

// A step from the construction of this object to its destruction, which must come before the call is
// answered.
class TracedStep {
 public:
  TracedStep(const CancellationPtr& cancellation, CallTrace::Step step)
      : trace_(TraceOf(cancellation)), step_(step) {
    if (trace_ != nullptr) begin_ = CallTrace::Clock::now();
  }
  ~TracedStep() {
    if (trace_ != nullptr) trace_->Add(step_, begin_, CallTrace::Clock::now());
  }
  TracedStep(const TracedStep&) = delete;
  TracedStep& operator=(const TracedStep&) = delete;

 private:
  CallTrace* const trace_;
  const CallTrace::Step step_;
  CallTrace::Clock::time_point begin_;
};

// The wait of a task for an I/O thread: from the construction of this object, when the task is made, to
// End(), which the task calls first.
class TracedWait {
 public:
  explicit TracedWait(const CancellationPtr& cancellation) {
    if (TraceOf(cancellation) != nullptr) begin_ = CallTrace::Clock::now();
  }
  void End(const CancellationPtr& cancellation) const {
    if (CallTrace* const trace = TraceOf(cancellation))
      trace->Add(CallTrace::Step::kIoQueue, begin_, CallTrace::Clock::now());
  }

 private:
  CallTrace::Clock::time_point begin_;
};

}  // namespace itemdb::storage
