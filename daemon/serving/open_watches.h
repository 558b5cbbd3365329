// How far the open watches of the change log have come, for the metrics page and GetStatus.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

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

  // Who watches what.
  struct Watcher {
    // Empty: all tables.
    std::string table_name = {};
    // The access key; empty where no keys are asked for.
    std::string key_id = {};
    // "ipv4:10.0.0.7:40312", "ipv6:[::1]:40312", "unix:".
    std::string peer = {};
  };
  // `position` must stay until Remove().
  void Add(const Position* position, Watcher watcher);
  void Remove(const Position* position);

  struct Watch {
    // Counts up from 1.
    int64_t id = 0;
    Watcher watcher = {};
    // Changes that it has not sent, and how long ago it was up to date; 0: it is.
    uint64_t lag_changes = 0;
    Clock::duration lag{};
  };
  struct Figures {
    size_t open = 0;
    // Of the slowest: changes that it has not sent, and how long ago it was up to date; 0: all are.
    uint64_t most_changes = 0;
    Clock::duration longest{};
    // All of them; those that are behind longest first.
    std::vector<Watch> watches = {};
  };
  // `last_sequence`: the last change that a watch may send.
  Figures Measure(uint64_t last_sequence) const;

 private:
  struct Opened {
    int64_t id = 0;
    Watcher watcher = {};
  };

  mutable storage::Mutex mutex_;
  std::unordered_map<const Position*, Opened> opened_ ABSL_GUARDED_BY(mutex_);
  int64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace itemdb::daemon
