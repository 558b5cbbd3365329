// A thread that runs one loop until its owner stops the thread. The loop sleeps in WaitUntil or WaitFor.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "storage/base/mutex.h"

namespace itemdb::storage {

// Thread-safe, except for Start and Stop, which only the owner calls.
class BackgroundThread {
 public:
  using Clock = std::chrono::steady_clock;

  BackgroundThread() = default;
  ~BackgroundThread() { Stop(); }
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  // Runs `loop` in a new thread. `loop` must return soon after a wait returned false. May be called once.
  void Start(std::function<void()> loop) { thread_ = std::thread(std::move(loop)); }
  // Ends the waits and joins the thread. Does nothing when the thread was not started.
  void Stop() {
    BeginStop();
    if (thread_.joinable()) thread_.join();
  }
  // Ends the waits without joining. For an owner that must also end other things before it calls Stop.
  void BeginStop() {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    changed_.NotifyAll();
  }
  // Ends the current wait, or the next one if the loop is not waiting.
  void Wake() {
    {
      MutexLock lock(mutex_);
      woken_ = true;
    }
    changed_.NotifyAll();
  }

  // ---- for the loop ----

  // Waits until `time` or until Wake. Returns false when the loop must return.
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

}  // namespace itemdb::storage
