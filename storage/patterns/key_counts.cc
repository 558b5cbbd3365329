#include "storage/patterns/key_counts.h"

namespace itemdb::storage {

void KeyCounts::Pair::Add(std::string_view partition_key, std::string_view key, double weight) {
  partition_keys.Add(partition_key, weight);
  if (!key.empty()) keys.Add(key, weight);
}

void KeyCounts::AddUsed(std::string_view partition_key, std::string_view key, double units) {
  if (throttled_only_ || units <= 0) return;
  MutexLock lock(mutex_);
  used_.Add(partition_key, key, units);
}

void KeyCounts::AddThrottled(std::string_view partition_key, std::string_view key) {
  MutexLock lock(mutex_);
  throttled_.Add(partition_key, key, 1);
}

KeyCounts::Lists KeyCounts::Used(size_t limit) const {
  MutexLock lock(mutex_);
  return used_.Top(limit);
}

KeyCounts::Lists KeyCounts::Throttled(size_t limit) const {
  MutexLock lock(mutex_);
  return throttled_.Top(limit);
}

}  // namespace itemdb::storage
