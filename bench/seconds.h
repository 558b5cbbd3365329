// The clocks of measurements.
#pragma once

#include <chrono>
#include <cstdint>

namespace itemdb::bench {

using Clock = std::chrono::steady_clock;

inline double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The time of day as change records have it: microseconds since 1970.
inline int64_t NowMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace itemdb::bench
