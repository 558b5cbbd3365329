// Whoever waits for the next change, of one table or of any.
//
// A commit group wakes those who wait for its tables. Writers pay a store and a load of an atomic for each
// table of a group while nobody waits for it, however many wait for others, and at most one wake-up of the
// thread here otherwise: that thread calls those whose change has come, whose time has passed or whose wait
// was cancelled.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "storage/base/cancellation.h"
#include "storage/base/mutex.h"
#include "storage/commit/table_runs.h"

namespace itemdb {

// Thread-safe.
class ChangeWaiters {
 public:
  using Clock = std::chrono::steady_clock;
  // Told up to where there is no change that was waited for.
  using Wake = absl::AnyInvocable<void(uint64_t sequence) &&>;

  // `durable_sequence` tells the last change that may be shown; it must not call back.
  explicit ChangeWaiters(std::function<uint64_t()> durable_sequence);
  // Forgets those that still wait without calling them.
  ~ChangeWaiters();
  ChangeWaiters(const ChangeWaiters&) = delete;
  ChangeWaiters& operator=(const ChangeWaiters&) = delete;

  // Calls `wake` once, perhaps before this returns: when there may be a change of the table `storage_id` (0:
  // of any table) after `sequence`, at `until`, or soon after `cancellation` says that nobody waits any more.
  // `wake` must not block.
  void Await(uint64_t storage_id, uint64_t sequence, Clock::time_point until, CancellationPtr cancellation,
             Wake wake);

  // Whether the table `storage_id` (0: any) may have changes after `sequence`, durable or not. Of changes
  // from before the database was opened nothing is known: then true.
  bool MayHaveChanged(uint64_t storage_id, uint64_t sequence) const;

  // ---- for the pipeline ----

  // The database was opened, or opened again, as of `sequence`.
  void Opened(uint64_t sequence) { opened_at_ = sequence; }
  // The changes of a group are about to be visible. One caller at a time.
  void Ordered(const TableRunsOfGroup& changes);
  // They may be shown now: to be called after `durable_sequence` says so. Does not block.
  void Notify(const TableRunsOfGroup& changes);
  // The same of whatever may have become durable.
  void NotifyAll();

 private:
  struct Waiter {
    uint64_t storage_id;
    uint64_t sequence;
    Clock::time_point until;
    CancellationPtr cancellation;
    Wake wake;
  };
  // Tables share slots: more wake-ups than needed are harmless. The last slot is of those who wait for any
  // table.
  static constexpr size_t kTableSlots = 4096;
  static constexpr size_t kAnyTable = kTableSlots;
  struct Slot {
    // Of its tables.
    std::atomic<uint64_t> last_change = 0;
    // Whether somebody waits who has not been told since.
    std::atomic<bool> waiting = false;
  };

  static size_t SlotOf(uint64_t storage_id) { return storage_id == 0 ? kAnyTable : storage_id % kTableSlots; }
  void NotifySlot(size_t slot);
  void Loop();
  bool IsDue(const Waiter& waiter, uint64_t durable, Clock::time_point now) const;
  // Moves what is due of a slot's waiters to `due`, and the others' sequences up to where nothing was for
  // them: the log may be trimmed that far.
  void TakeDue(size_t slot, uint64_t durable, Clock::time_point now, std::vector<Waiter>* due)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::function<uint64_t()> durable_sequence_;
  std::atomic<uint64_t> opened_at_ = UINT64_MAX;
  std::array<Slot, kTableSlots + 1> slots_;
  Mutex mutex_;
  CondVar changed_;
  // By slot; a slot without waiters has no entry.
  absl::flat_hash_map<size_t, std::vector<Waiter>> waiters_ ABSL_GUARDED_BY(mutex_);
  std::vector<size_t> notified_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace itemdb
