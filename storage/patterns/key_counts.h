// The most used keys of a table or index, while its contributor insights are on (OP-56).
#pragma once

#include <string_view>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "storage/base/limits.h"
#include "storage/base/mutex.h"
#include "storage/patterns/top_keys.h"

namespace itemdb::storage {

// Thread-safe: threads that count in one table wait for each other for some hundred nanoseconds a key.
class KeyCounts {
 public:
  // Begins now.
  explicit KeyCounts(bool throttled_only) : throttled_only_(throttled_only) {}

  // Counts the capacity units that were used of a partition key and of a whole key, both encoded. `key` is
  // empty if there is no sort key.
  void AddUsed(std::string_view partition_key, std::string_view key, double units);
  // Counts a request that was refused because too many waited.
  void AddThrottled(std::string_view partition_key, std::string_view key);

  struct Lists {
    std::vector<TopKeys::Counted> partition_keys;
    std::vector<TopKeys::Counted> keys;
  };
  Lists Used(size_t limit) const;
  Lists Throttled(size_t limit) const;

  bool throttled_only() const { return throttled_only_; }
  absl::Time start() const { return start_; }

 private:
  struct Pair {
    void Add(std::string_view partition_key, std::string_view key, double weight);
    Lists Top(size_t limit) const { return {partition_keys.Top(limit), keys.Top(limit)}; }

    TopKeys partition_keys{kMaxCountedKeys};
    TopKeys keys{kMaxCountedKeys};
  };

  const bool throttled_only_;
  const absl::Time start_ = absl::Now();
  mutable Mutex mutex_;
  Pair used_ ABSL_GUARDED_BY(mutex_);
  Pair throttled_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::storage
