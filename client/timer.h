// A thread that runs functions at given times: pauses between attempts, and callbacks that must not run on
// the caller's own thread.
#pragma once

#include <chrono>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "itemdb/export.h"

namespace itemdb {
inline namespace client {

// Thread-safe. The thread starts with the first function and is joined by the destructor; destroyed by a
// function of its own, it ends by itself as soon as that function returns.
class ITEMDB_EXPORT Timer {
 public:
  using Function = absl::AnyInvocable<void() &&>;
  // Not the wall clock: setting that must neither hold calls up nor cut them short.
  using Clock = std::chrono::steady_clock;

  // When `time` comes, as seen now: for a time in the past that is now, and never more than a century ahead.
  static Clock::time_point ByClock(absl::Time time);

  Timer();
  // Functions that have not begun are dropped without being run.
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Runs `function` at `time` or as soon after as the functions before it allow. It must not block.
  void RunAt(Clock::time_point time, Function function);
  void RunAt(absl::Time time, Function function) { RunAt(ByClock(time), std::move(function)); }
  // As soon as possible.
  void RunSoon(Function function) { RunAt(Clock::time_point::min(), std::move(function)); }

 private:
  struct State;
  static void Run(std::shared_ptr<State> state);

  const std::shared_ptr<State> state_;
};

}  // namespace client
}  // namespace itemdb
