// A thread that does something again and again until it is stopped.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "storage/base/mutex.h"

namespace itemdb {

// Thread-safe, but for Start and Stop, which are for its owner.
class BackgroundThread {
 public:
  using Clock = std::chrono::steady_clock;

  BackgroundThread() = default;
  ~BackgroundThread() { Stop(); }
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  // Runs `loop`, which returns soon when a wait says so. Once.
  void Start(std::function<void()> loop) { thread_ = std::thread(std::move(loop)); }
  // Ends the waits and joins; nothing to do when it was not started.
  void Stop() {
    BeginStop();
    if (thread_.joinable()) thread_.join();
  }
  // The first half of Stop, for an owner that has to end more than waits.
  void BeginStop() {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    changed_.NotifyAll();
  }
  // Ends the wait that is under way or the next one.
  void Wake() {
    {
      MutexLock lock(mutex_);
      woken_ = true;
    }
    changed_.NotifyAll();
  }

  // ---- for the loop ----

  // Waits for `time` or Wake. False when it has to end.
  [[nodiscard]] bool WaitUntil(Clock::time_point time) {
    MutexLock lock(mutex_);
    while (!stopping_ && !woken_) {
      if (time == Clock::time_point::max()) {
        changed_.Wait(mutex_);
        continue;
      }
      const auto left = time - Clock::now();
      if (left <= left.zero()) break;
      changed_.WaitFor(mutex_, left);
    }
    woken_ = false;
    return !stopping_;
  }
  [[nodiscard]] bool WaitFor(std::chrono::milliseconds time) { return WaitUntil(Clock::now() + time); }
  bool stopping() const {
    MutexLock lock(mutex_);
    return stopping_;
  }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace itemdb
