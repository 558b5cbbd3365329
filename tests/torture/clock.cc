// Jumps of the daemon's wall clock.
#include "tests/torture/faults.h"

namespace itemdb::torture {

// Less than the retention of changes (24 h), which would delete them.
void JumpClock(Session& session, Episode&) {
  constexpr int64_t kHours = 3'600;
  DiskControl& disk = session.disk();
  const int64_t times = session.Pick(1, 4);
  for (int64_t i = 0; i < times; ++i) {
    disk.clock_shift_seconds = session.Chance(30)   ? 0
                               : session.Chance(50) ? session.Pick(-12 * kHours, 12 * kHours)
                                                    : session.Pick(-90, 90);
    SleepMs(session.Pick(5, 200));
  }
  session.Count("clock_jump", times);
}

}  // namespace itemdb::torture
