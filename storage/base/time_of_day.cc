#include "storage/base/time_of_day.h"

#include <time.h>

#include <cstdlib>
#include <utility>

#include "storage/base/wall_clock.h"

namespace itemdb::storage {
namespace {

constexpr int64_t kMaxDriftUs = std::chrono::microseconds(TimeOfDay::kMaxDrift).count();
constexpr int64_t kSettleTimeUs = std::chrono::microseconds(TimeOfDay::kSettleTime).count();

// Unlike the steady clock, it counts the time that the machine was suspended.
int64_t BootMicros() {
  timespec time = {};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1'000;
}

}  // namespace

TimeOfDay::Clocks TimeOfDay::SystemClocks() {
  return {.wall_us = [] { return storage::NowMicros(); }, .boot_us = BootMicros};
}

TimeOfDay::TimeOfDay(Clocks clocks)
    : clocks_(std::move(clocks)),
      first_offset_us_(clocks_.wall_us() - clocks_.boot_us()),
      offset_us_(first_offset_us_),
      wall_offset_us_(first_offset_us_) {}

void TimeOfDay::Observe() {
  const int64_t boot_us = clocks_.boot_us();
  const int64_t wall_offset_us = clocks_.wall_us() - boot_us;
  if (std::llabs(wall_offset_us - wall_offset_us_) > kMaxDriftUs) kept_since_us_ = boot_us;
  wall_offset_us_ = wall_offset_us;
  const bool runs_alike = std::llabs(wall_offset_us - offset_us_) <= kMaxDriftUs;
  if (!runs_alike && boot_us - kept_since_us_ < kSettleTimeUs) return;
  offset_us_ = wall_offset_us;
  if (!runs_alike) stepped_at_us_ = boot_us;
}

int64_t TimeOfDay::NowMicros() {
  MutexLock lock(mutex_);
  Observe();
  return clocks_.boot_us() + offset_us_;
}

int64_t TimeOfDay::SteadyMicros() const { return clocks_.boot_us() + first_offset_us_; }

bool TimeOfDay::SteppedWithin(std::chrono::microseconds age) {
  MutexLock lock(mutex_);
  Observe();
  return stepped_at_us_.has_value() && clocks_.boot_us() - *stepped_at_us_ < age.count();
}

std::chrono::microseconds TimeOfDay::Jump() {
  MutexLock lock(mutex_);
  Observe();
  return std::chrono::microseconds(wall_offset_us_ - offset_us_);
}

}  // namespace itemdb::storage
