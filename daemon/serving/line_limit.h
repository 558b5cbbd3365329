// Bounds the lines of a log that many calls may write to at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "storage/base/mutex.h"

namespace itemdb::daemon {

// Lets ten lines a second pass. Thread-safe.
class LineLimit {
 public:
  // nullopt: the line must be left out. Otherwise the number of lines that were left out since the last one
  // that passed.
  std::optional<int64_t> Pass();

 private:
  storage::Mutex mutex_;
  std::chrono::steady_clock::time_point second_began_ ABSL_GUARDED_BY(mutex_);
  int64_t lines_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace itemdb::daemon
