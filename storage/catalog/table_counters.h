// How many items a table or index has, and how large they are.
#pragma once

#include <cstdint>
#include <optional>

#include "storage/base/mutex.h"

namespace itemdb {

struct Counters {
  int64_t items = 0;
  // By SEM-002.
  int64_t bytes = 0;

  bool operator==(const Counters&) const = default;
};

// Those of a table in memory, so that the figures of thousands of tables need not be read one by one. The
// commit pipeline sets them, anybody reads them. Thread-safe.
class TableCounters {
 public:
  // They are these from commit group `group` on.
  void Set(uint64_t group, const Counters& counters) {
    MutexLock lock(mutex_);
    group_ = group;
    counters_ = counters;
  }
  // Those that commit group `group` left. Nothing when a later one has changed them.
  std::optional<Counters> At(uint64_t group) const {
    MutexLock lock(mutex_);
    if (group_ > group) return std::nullopt;
    return counters_;
  }

 private:
  mutable Mutex mutex_;
  uint64_t group_ ABSL_GUARDED_BY(mutex_) = 0;
  Counters counters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb
