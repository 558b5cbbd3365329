// A thread that runs functions at given times: pauses between attempts, and callbacks that must not run on
// the caller's own thread.
#pragma once

#include <chrono>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "itemdb/export.h"

namespace itemdb {

// Thread-safe. The thread starts with the first function. The destructor joins it; if one of its own
// functions destroys the timer, the thread ends as soon as that function returns.
class ITEMDB_EXPORT Timer {
 public:
  using Function = absl::AnyInvocable<void() &&>;
  // Not the wall clock: when somebody sets that, calls must not take longer or end earlier.
  using Clock = std::chrono::steady_clock;

  // The point of this clock at which the wall clock will show `time`, if nobody sets it: at least now, at
  // most a century ahead.
  static Clock::time_point ByClock(absl::Time time);

  Timer();
  // Drops functions that have not started, without running them.
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Runs `function` at `time`, or later if functions before it are still running. `function` must not block.
  void RunAt(Clock::time_point time, Function function);
  void RunAt(absl::Time time, Function function) { RunAt(ByClock(time), std::move(function)); }
  // As soon as possible.
  void RunSoon(Function function) { RunAt(Clock::time_point::min(), std::move(function)); }

 private:
  struct State;
  static void Run(std::shared_ptr<State> state);

  const std::shared_ptr<State> state_;
};

}  // namespace itemdb
