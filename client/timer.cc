#include "client/timer.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/time/clock.h"

namespace itemdb {

struct Timer::State {
  std::mutex mutex;
  std::condition_variable changed;
  // All guarded by `mutex`. Functions with the same time run in the order in which they were added.
  std::multimap<Clock::time_point, Function> functions;
  bool stop = false;
  std::thread thread;
};

Timer::Timer() : state_(std::make_shared<State>()) {}

Timer::~Timer() {
  std::thread thread;
  std::multimap<Clock::time_point, Function> dropped;  // Destroyed without the lock, as it may own anything.
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stop = true;
    dropped.swap(state_->functions);
    thread = std::move(state_->thread);
  }
  state_->changed.notify_one();
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();  // It holds the state and leaves its loop next.
  } else {
    thread.join();
  }
}

Timer::Clock::time_point Timer::ByClock(absl::Time time) {
  constexpr absl::Duration kLongest = absl::Hours(100 * 365 * 24);  // A clock of nanoseconds holds it.
  return Clock::now() +
         absl::ToChronoNanoseconds(std::clamp(time - absl::Now(), absl::ZeroDuration(), kLongest));
}

void Timer::RunAt(Clock::time_point time, Function function) {
  // Once the function is in the queue it may run and destroy this timer, so keep the state alive here.
  const std::shared_ptr<State> state = state_;
  std::lock_guard<std::mutex> lock(state->mutex);
  if (state->stop) return;
  state->functions.emplace(time, std::move(function));
  if (!state->thread.joinable()) {
    state->thread = std::thread(&Timer::Run, state);
  } else {
    state->changed.notify_one();
  }
}

void Timer::Run(std::shared_ptr<State> state) {
  std::unique_lock<std::mutex> lock(state->mutex);
  while (!state->stop) {
    if (state->functions.empty()) {
      state->changed.wait(lock);
      continue;
    }
    const auto first = state->functions.begin();
    // A copy: the entry may be gone when the wait returns.
    if (const Clock::time_point due = first->first; due > Clock::now()) {
      state->changed.wait_until(lock, due);
      continue;
    }
    {
      Function function = std::move(first->second);
      state->functions.erase(first);
      lock.unlock();
      std::move(function)();
    }
    lock.lock();
  }
}

}  // namespace itemdb
