#include "daemon/serving/open_watches.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace itemdb::daemon {

void OpenWatches::Add(const Position* position, Watcher watcher) {
  storage::MutexLock lock(mutex_);
  opened_.insert_or_assign(position, Opened{.id = ++last_id_, .watcher = std::move(watcher)});
}

void OpenWatches::Remove(const Position* position) {
  storage::MutexLock lock(mutex_);
  opened_.erase(position);
}

OpenWatches::Figures OpenWatches::Measure(uint64_t last_sequence) const {
  const Clock::time_point now = Clock::now();
  Figures figures;
  {
    storage::MutexLock lock(mutex_);
    figures.open = opened_.size();
    figures.watches.reserve(opened_.size());
    for (const auto& [position, opened] : opened_) {
      Watch& watch = figures.watches.emplace_back(Watch{.id = opened.id, .watcher = opened.watcher});
      storage::MutexLock position_lock(position->mutex_);
      if (!position->is_behind_ || position->sequence_ >= last_sequence) continue;
      watch.lag_changes = last_sequence - position->sequence_;
      watch.lag = now - position->since_;
    }
  }
  for (const Watch& watch : figures.watches) {
    figures.most_changes = std::max(figures.most_changes, watch.lag_changes);
    figures.longest = std::max(figures.longest, watch.lag);
  }
  std::sort(figures.watches.begin(), figures.watches.end(), [](const Watch& a, const Watch& b) {
    return std::tie(b.lag, b.lag_changes, a.id) < std::tie(a.lag, a.lag_changes, b.id);
  });
  return figures;
}

}  // namespace itemdb::daemon
