// A pinned snapshot: a view that a caller keeps for several reads. Its time is limited: the snapshot keeps
// RocksDB from dropping overwritten records, and the view keeps the store from being reopened.
#pragma once

#include <chrono>
#include <memory>
#include <set>

#include "storage/base/mutex.h"
#include "storage/base/status.h"
#include "storage/store/read_view.h"

namespace itemdb::storage {

class PinnedSnapshots;

// Dropping the last pointer releases the view. Thread-safe.
class PinnedSnapshot {
 public:
  PinnedSnapshot(PinnedSnapshots& owner, std::shared_ptr<const ReadView> view,
                 std::chrono::steady_clock::time_point until);
  ~PinnedSnapshot();
  PinnedSnapshot(const PinnedSnapshot&) = delete;
  PinnedSnapshot& operator=(const PinnedSnapshot&) = delete;

  // ABORTED (STATE_TOO_OLD): the snapshot has expired, or the store had to be reopened.
  absl::StatusOr<std::shared_ptr<const ReadView>> View() const;

 private:
  friend class PinnedSnapshots;
  // Gives the view away. It must be destroyed without a lock: destroying the last view calls the engine.
  std::shared_ptr<const ReadView> Release();

  PinnedSnapshots& owner_;
  const std::chrono::steady_clock::time_point until_;
  mutable Mutex mutex_;
  std::shared_ptr<const ReadView> view_ ABSL_GUARDED_BY(mutex_);
};

// All pinned snapshots. Must outlive them. Thread-safe.
class PinnedSnapshots {
 public:
  explicit PinnedSnapshots(std::chrono::milliseconds max_age) : max_age_(max_age) {}

  std::shared_ptr<PinnedSnapshot> Pin(std::shared_ptr<const ReadView> view);
  // Releases the views of expired snapshots; their owners get STATE_TOO_OLD from the next View().
  void ReleaseExpired();
  void ReleaseAll();

 private:
  friend class PinnedSnapshot;

  const std::chrono::milliseconds max_age_;
  Mutex mutex_;
  std::set<PinnedSnapshot*> pinned_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::storage
