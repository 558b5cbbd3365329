// The wall clock. What deletes by age uses time_of_day.h.
#pragma once

#include <chrono>
#include <cstdint>

namespace itemdb::storage {

// Microseconds since 1970, the unit of times in stored records. The clock may be set back.
inline int64_t NowMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}
inline int64_t NowMillis() { return NowMicros() / 1'000; }

}  // namespace itemdb::storage
