#include "daemon/process/watchdog.h"

#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace itemdb::daemon {
namespace {

// The number in an environment variable; -1 without one.
int64_t NumberOf(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return -1;
  const std::string_view text = value;
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

}  // namespace

absl::Duration WatchdogInterval() {
  const int64_t microseconds = NumberOf("WATCHDOG_USEC");
  const bool for_another = std::getenv("WATCHDOG_PID") != nullptr && NumberOf("WATCHDOG_PID") != getpid();
  return microseconds <= 0 || for_another ? absl::ZeroDuration() : absl::Microseconds(microseconds);
}

Watchdog::Watchdog(absl::Duration interval, std::function<void()> probe, std::function<void()> alive) {
  if (interval <= absl::ZeroDuration()) return;
  thread_ = std::thread([this, pause = absl::ToChronoNanoseconds(interval / 2), probe = std::move(probe),
                         alive = std::move(alive)] {
    while (true) {
      probe();
      alive();
      storage::MutexLock lock(mutex_);
      // A spurious wakeup only makes this probe early, which does no harm.
      if (!stopping_) stop_.WaitFor(mutex_, pause);
      if (stopping_) return;
    }
  });
}

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    storage::MutexLock lock(mutex_);
    stopping_ = true;
    stop_.NotifyAll();
  }
  thread_.join();
}

}  // namespace itemdb::daemon
