// Callbacks that wait for the next change, of one table or of any table.
//
// A commit group notifies the waiters of its tables. For a table without waiters this costs the commit leader
// one store and one load of an atomic, however many wait for other tables. With waiters it costs at most one
// wake-up of the thread of this class. That thread calls the waiters whose change has come, whose time is
// over, or whose wait was cancelled.
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

namespace itemdb::storage {

// Thread-safe.
class ChangeWaiters {
 public:
  using Clock = std::chrono::steady_clock;
  // Called with a sequence: up to this one there is no change that the waiter waits for.
  using Wake = absl::AnyInvocable<void(uint64_t sequence) &&>;

  // `durable_sequence` returns the last change that readers may see. Called under mutex_: must not call back.
  explicit ChangeWaiters(std::function<uint64_t()> durable_sequence);
  // Drops the remaining waiters without calling them.
  ~ChangeWaiters();
  ChangeWaiters(const ChangeWaiters&) = delete;
  ChangeWaiters& operator=(const ChangeWaiters&) = delete;

  // Calls `wake` once, perhaps before this returns: when there may be a change of the table `storage_id` (0:
  // of any table) after `sequence`, at `until`, or within some 20 ms of the cancellation of `cancellation`.
  // `wake` must not block.
  void Await(uint64_t storage_id, uint64_t sequence, Clock::time_point until, CancellationPtr cancellation,
             Wake wake);

  // Whether the table `storage_id` (0: any) may have changes after `sequence`, durable or not. Always true
  // for a `sequence` from before the database was opened: those changes are not known here.
  bool MayHaveChanged(uint64_t storage_id, uint64_t sequence) const;

  // ---- for the pipeline ----

  // The database was opened, or opened again, as of `sequence`.
  void Opened(uint64_t sequence) { opened_at_ = sequence; }
  // Must be called before the changes of a group become visible. One caller at a time.
  void RecordApplied(const TableRunsOfGroup& changes);
  // Wakes the waiters of the tables in `changes`. Must be called after `durable_sequence` covers these
  // changes. Does not block.
  void Notify(const TableRunsOfGroup& changes);
  // As Notify, for all tables: any earlier change may have become durable.
  void NotifyAll();

 private:
  struct Waiter {
    uint64_t storage_id;
    uint64_t sequence;
    Clock::time_point until;
    CancellationPtr cancellation;
    Wake wake;
  };
  // Tables may share a slot: a needless wake-up is harmless. The last slot is for waiters of any table.
  static constexpr size_t kTableSlots = 4096;
  static constexpr size_t kAnyTable = kTableSlots;
  struct Slot {
    // The last change of any table of this slot.
    std::atomic<uint64_t> last_change = 0;
    // True while the slot has waiters and was not notified since they were last checked.
    std::atomic<bool> waiting = false;
  };

  static size_t SlotOf(uint64_t storage_id) { return storage_id == 0 ? kAnyTable : storage_id % kTableSlots; }
  void NotifySlot(size_t slot);
  void Loop();
  bool IsDue(const Waiter& waiter, uint64_t durable, Clock::time_point now) const;
  // Moves the waiters of a slot that are due to `due`. Raises the sequences of the other waiters up to
  // `durable`, as far as there was no change for them: the change log may be trimmed that far.
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

}  // namespace itemdb::storage
