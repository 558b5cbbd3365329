// The clock for measurements.
#pragma once

#include <chrono>

namespace itemdb::bench {

using Clock = std::chrono::steady_clock;

inline double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace itemdb::bench
