// A state of the database that a caller keeps for several reads, for a limited time: a snapshot keeps
// RocksDB from dropping what was overwritten, and a view keeps the store from being reopened.
#pragma once

#include <chrono>
#include <memory>
#include <set>

#include "storage/base/mutex.h"
#include "storage/base/status.h"
#include "storage/store/read_view.h"

namespace itemdb {

class HeldStates;

// One held state; dropping the last pointer lets go of it. Thread-safe.
class HeldState {
 public:
  HeldState(HeldStates& owner, std::shared_ptr<const ReadView> view,
            std::chrono::steady_clock::time_point until);
  ~HeldState();
  HeldState(const HeldState&) = delete;
  HeldState& operator=(const HeldState&) = delete;

  // ABORTED (STATE_TOO_OLD): its time is over, or the store had to be reopened.
  absl::StatusOr<std::shared_ptr<const ReadView>> View() const;

 private:
  friend class HeldStates;
  // The view, which must die without a lock: the last one tells the engine.
  std::shared_ptr<const ReadView> LetGo();

  HeldStates& owner_;
  const std::chrono::steady_clock::time_point until_;
  mutable Mutex mutex_;
  std::shared_ptr<const ReadView> view_ ABSL_GUARDED_BY(mutex_);
};

// All states that are held. Outlives them. Thread-safe.
class HeldStates {
 public:
  explicit HeldStates(std::chrono::milliseconds max_age) : max_age_(max_age) {}

  std::shared_ptr<HeldState> Hold(std::shared_ptr<const ReadView> view);
  // Lets go of the views of states whose time is over; their owners find out at the next read.
  void LetGoOfOld();
  void LetGoOfAll();

 private:
  friend class HeldState;

  const std::chrono::milliseconds max_age_;
  Mutex mutex_;
  std::set<HeldState*> held_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb
