// How far the open watches of the change log have come. The metrics page shows the slowest one.
#pragma once

#include <chrono>
#include <cstdint>
#include <unordered_set>

#include "storage/base/mutex.h"

namespace itemdb::daemon {

// Thread-safe.
class OpenWatches {
 public:
  using Clock = std::chrono::steady_clock;

  // One watch. It is behind from its start, or from a reply on, until a reply has been sent that says that
  // there are no more changes.
  class Position {
   public:
    // The client has all changes up to `sequence`, and there were more.
    void Behind(uint64_t sequence) {
      storage::MutexLock lock(mutex_);
      if (!is_behind_) since_ = Clock::now();
      is_behind_ = true;
      sequence_ = sequence;
    }
    void UpToDate() {
      storage::MutexLock lock(mutex_);
      is_behind_ = false;
    }

   private:
    friend class OpenWatches;
    mutable storage::Mutex mutex_;
    bool is_behind_ ABSL_GUARDED_BY(mutex_) = false;
    uint64_t sequence_ ABSL_GUARDED_BY(mutex_) = 0;
    Clock::time_point since_ ABSL_GUARDED_BY(mutex_);
  };

  // `position` must stay until Remove().
  void Add(const Position* position);
  void Remove(const Position* position);

  struct Figures {
    size_t open = 0;
    // Of the slowest: changes that it has not sent, and how long ago it was up to date; 0: all are.
    uint64_t most_changes = 0;
    Clock::duration longest{};
  };
  // `last_sequence`: the last change that a watch may send.
  Figures Measure(uint64_t last_sequence) const;

 private:
  mutable storage::Mutex mutex_;
  std::unordered_set<const Position*> positions_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::daemon
