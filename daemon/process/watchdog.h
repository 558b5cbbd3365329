// Keeps systemd's watchdog quiet (WatchdogSec= of the unit) while the daemon can still do its work. A daemon
// that hangs, for example because a disk never answers, is then killed and started again.
#pragma once

#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "storage/base/mutex.h"

namespace itemdb::daemon {

// How often systemd wants to hear of this process: the environment variable WATCHDOG_USEC, if WATCHDOG_PID is
// this process or missing. Zero: never.
absl::Duration WatchdogInterval();

// A thread that calls `probe` and then `alive`, twice per `interval`. As long as a probe does not return,
// `alive` is not called.
class Watchdog {
 public:
  // With an interval of zero it does nothing.
  Watchdog(absl::Duration interval, std::function<void()> probe, std::function<void()> alive);
  // Waits for a probe that is running.
  ~Watchdog();

  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  storage::Mutex mutex_;
  storage::CondVar stop_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace itemdb::daemon
