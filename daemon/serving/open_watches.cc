#include "daemon/serving/open_watches.h"

#include <algorithm>

namespace itemdb::daemon {

void OpenWatches::Add(const Position* position) {
  storage::MutexLock lock(mutex_);
  positions_.insert(position);
}

void OpenWatches::Remove(const Position* position) {
  storage::MutexLock lock(mutex_);
  positions_.erase(position);
}

OpenWatches::Figures OpenWatches::Measure(uint64_t last_sequence) const {
  const Clock::time_point now = Clock::now();
  storage::MutexLock lock(mutex_);
  Figures figures;
  figures.open = positions_.size();
  for (const Position* position : positions_) {
    storage::MutexLock position_lock(position->mutex_);
    if (!position->is_behind_ || position->sequence_ >= last_sequence) continue;
    figures.most_changes = std::max(figures.most_changes, last_sequence - position->sequence_);
    figures.longest = std::max(figures.longest, now - position->since_);
  }
  return figures;
}

}  // namespace itemdb::daemon
