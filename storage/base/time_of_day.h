// The time of day of a process whose wall clock may be set while it runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "storage/base/mutex.h"

namespace itemdb::storage {

// What deletes data because of its age (trimming of the change log, expiry of items) must not believe a clock
// that jumped: the jump may be a mistake that is corrected soon. So the wall clock is compared with the boot
// clock, which nobody can set. While both run alike, the time is that of the wall clock. After a jump of more
// than kMaxDrift the time goes on from before the jump, by the boot clock, until the wall clock has kept its
// new distance from the boot clock for kSettleTime. Then the new time is believed.
//
// Thread-safe.
class TimeOfDay {
 public:
  static constexpr std::chrono::seconds kMaxDrift{2};
  static constexpr std::chrono::minutes kSettleTime{10};

  struct Clocks {
    // Microseconds since the Unix epoch. May be set forward and back.
    std::function<int64_t()> wall_us;
    // Microseconds since some moment. Only goes forward, by one second a second.
    std::function<int64_t()> boot_us;
  };
  static Clocks SystemClocks();

  explicit TimeOfDay(Clocks clocks = SystemClocks());

  // Microseconds since the Unix epoch. Goes back when the wall clock was set back and the new time is
  // believed.
  int64_t NowMicros();
  // Microseconds since the Unix epoch: the wall clock's time when this object was made, and the time since
  // then by the boot clock. Never jumps; differs from NowMicros() for good once a jump is believed.
  int64_t SteadyMicros() const;
  // Whether a jump was believed less than `age` ago, by the boot clock: NowMicros() has jumped then.
  bool SteppedWithin(std::chrono::microseconds age);
  // How far the wall clock is ahead of NowMicros(); 0 unless it jumped and is not believed yet. While it is
  // not 0, nothing may be deleted because of its age.
  std::chrono::microseconds Jump();

 private:
  // Follows the wall clock.
  void Observe() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clocks clocks_;
  const int64_t first_offset_us_;
  Mutex mutex_;
  // Offsets are the distances of a time of day from the boot clock. This is the one of NowMicros().
  int64_t offset_us_ ABSL_GUARDED_BY(mutex_);
  // That of the wall clock, and by the boot clock since when it has kept it.
  int64_t wall_offset_us_ ABSL_GUARDED_BY(mutex_);
  int64_t kept_since_us_ ABSL_GUARDED_BY(mutex_) = 0;
  // When the last jump was believed, by the boot clock.
  std::optional<int64_t> stepped_at_us_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::storage
