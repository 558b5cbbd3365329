// The commit pipeline: every write of the database passes through it, one at a time in one order.
//
// A prepared write (CommitUnit) is queued. The commit leader, one thread at a time, takes the queued units as
// one commit group and does four steps:
//   1. Apply:    each unit in turn decides its write on the state that all units before it left. It appends
//                its item, index entries, change record and size statistics to the group. A change sequence
//                is assigned here.
//   2. Commit:   one RocksDB write for the whole group, synced in durable mode. The sequence is now durable.
//   3. Publish:  a new ReadView becomes current. The sequence is now visible.
//   4. Complete: each unit of the group gets its outcome. With --standby-acknowledge it waits for a standby
//                before; readers may see it meanwhile.
// Groups never overlap: the next group is applied only after the one before was published. So in durable mode
// everything that a unit decided on is durable before the unit completes, and no reader sees a change that is
// not durable.
//
// Commit leader: a thread that submits while no group is in flight leads one group itself if writes are fast,
// so that a lone write needs no hand-off to another thread. If the last write was slow, as syncs of most
// disks are, and in all other cases, the writer thread leads. The completion thread completes groups of more
// than one unit, so that the next group need not wait for that.
//
// After a failed RocksDB write nobody knows whether the group is on disk (it may reappear when the store is
// opened again). Its units complete with UNKNOWN, queued units with UNAVAILABLE; Submit refuses until
// Start().
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "storage/api/database_figures.h"
#include "storage/base/histogram.h"
#include "storage/base/mutex.h"
#include "storage/commit/change_waiters.h"
#include "storage/commit/commit_group.h"
#include "storage/store/read_view.h"

namespace itemdb::storage {

// A group that a RocksDB write has made part of the store.
struct WrittenGroup {
  // With the sequence that RocksDB gave it, and the number of its records.
  rocksdb::WriteBatch batch;
  uint64_t records = 0;
  // first_change is last_change + 1 when the group has no change record.
  uint64_t first_change = 0;
  uint64_t last_change = 0;
  int64_t commit_time_us = 0;
  // Store::ingestion_steps() and item_ingestions() of the open store.
  int64_t ingestion_steps = 0;
  int64_t item_ingestions = 0;
};

struct PipelineOptions {
  bool durable = true;
  size_t max_queue_bytes = 0;
  int64_t max_item_collection_bytes = INT64_MAX;
  // Called on the commit leader's thread when a RocksDB write failed. Must not wait for the pipeline.
  std::function<void(const absl::Status&)> on_failure;
  // Durable mode only: called with the last change of each group when it is synced, before its units
  // complete.
  std::function<void(uint64_t)> on_synced;
  // Called with each group when it is written and visible, before its units complete. Must not block. Empty:
  // groups are thrown away.
  std::function<void(WrittenGroup)> on_written;
  // Waits until a standby has the changes up to this one, on the completion thread. Empty: nothing waits for
  // a standby.
  std::function<absl::Status(uint64_t)> await_standby;
  // Called with the entries of TTL indexes that a group has put, once they are visible. Must not block.
  std::function<void(const std::vector<TimeEntry>&)> on_time_entries;
  // Never null.
  std::shared_ptr<TimeOfDay> time_of_day = std::make_shared<TimeOfDay>();
  // Notified of changes that are visible and durable, before their units complete. Outlives the pipeline.
  ChangeWaiters* change_waiters = nullptr;
};

// The state from which the first group starts, as recovered from disk.
struct PipelineStart {
  std::shared_ptr<Store> store;
  std::shared_ptr<const Catalog> catalog;
  uint64_t next_sequence = 1;
  int64_t last_commit_time_us = 0;
  CurrentStatistics::ByStorageId size_statistics;
};

// Counted since the pipeline was constructed.
struct PipelineStatistics {
  CommitFigures commits;
  // Units refused because the queue was full.
  int64_t refused_units = 0;
  // Bytes of the units that are in the queue now.
  size_t queued_bytes = 0;
};

// What Submit does with a unit when the queue is full.
enum class WhenFull {
  kRefuse,
  // The unit is accepted and waits outside the queue, not counted in its bytes. For callers that bound by
  // themselves how much they submit.
  kWait,
};

class CommitPipeline {
 public:
  explicit CommitPipeline(PipelineOptions options);
  // Completes all submitted units, then joins the threads.
  ~CommitPipeline();

  // Starts accepting units, the first time or after a failure and Stop(). Not while units are in flight.
  void Start(PipelineStart start);
  // Stops accepting: Submit returns `reason` from now on. Waits until every submitted unit was applied. The
  // view stays; Stop() may follow.
  void Drain(absl::Status reason);
  // Stops accepting: Submit returns `reason` from now on. Waits until every submitted unit was applied and
  // has completed or is just being completed by another thread. Then releases the store.
  void Stop(absl::Status reason);

  // Submit returns `reason` from now on. The view stays; Stop() must follow.
  void Refuse(absl::Status reason);

  // Accepts `unit`, which completes later, perhaps before this returns. Units of one caller are applied in
  // the order in which they were submitted. Thread-safe. May lead a commit group, and then blocks on its
  // RocksDB write, if the last one was fast.
  //
  // On error `unit` stays with the caller and never completes. RESOURCE_EXHAUSTED (QUEUE_FULL): the queue is
  // full. UNAVAILABLE: the pipeline is stopped, or failed.
  absl::Status Submit(std::unique_ptr<CommitUnit>& unit, WhenFull when_full = WhenFull::kRefuse);

  // The current view; null while stopped. Thread-safe.
  std::shared_ptr<const ReadView> view() const;
  // All changes up to this one are on disk. Below view()->change_sequence() in relaxed mode only.
  uint64_t durable_sequence() const;
  // Relaxed mode: makes everything committed so far durable. Blocks on disk. Does nothing in durable mode.
  absl::Status SyncNow();
  PipelineStatistics statistics() const;
  // Of all tables and indexes. Thread-safe.
  const CurrentStatistics& size_statistics() const { return state_.size_statistics; }

 private:
  using Units = std::vector<std::unique_ptr<CommitUnit>>;
  struct Completions {
    Units units;
    absl::Status status;
    // The last change before or of each unit, in the order of `units`.
    std::vector<uint64_t> change_sequences;
    // Something was written.
    bool wrote = false;
    // The units hold so much memory that they complete before the next group begins.
    bool large = false;
  };

  // The commit leader now: no thread; a thread that runs a group; or the writer thread, which has not begun
  // yet. kStopped: no thread is or becomes the leader until Start.
  enum class Leader { kNone, kLeading, kHandedToWriter, kStopped };

  // When a group with a traced unit was taken from the queue, when all its units were applied, and when it
  // was written.
  struct GroupTimes {
    CallTrace::Clock::time_point taken;
    CallTrace::Clock::time_point ordered;
    CallTrace::Clock::time_point synced;
  };

  void WriterLoop();
  void CompletionLoop();
  // Runs one group with the queued units and returns the units to complete. Only for the commit leader.
  Completions RunGroup();
  // Adds the steps of a group, which was made visible just now or `wrote` nothing, to the traces of its
  // units.
  static void Trace(const GroupTimes& times, bool wrote, const Units& units);
  // Ends the leadership of the calling thread when the queue is empty. Otherwise the writer thread becomes
  // the leader; called by the writer thread itself, returns true: it goes on leading.
  bool StepDown(bool is_writer);
  Units TakeUnits();
  // How full the queue may be with one more unit of this size: large ones leave room to small ones.
  size_t QueueBytesFor(size_t unit_bytes) const;
  // Moves units from waiting_ into the queue while there is room.
  void Admit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Puts the units that no longer fit into the group back to the front of the queue.
  void PutBack(Units units);
  // Takes the batch of a group that was written and whose state is not installed.
  WrittenGroup TakeWritten(CommitGroup& group) const;
  void Publish(uint64_t group_number);
  // Refuses all units from now on and completes the queued ones with UNAVAILABLE.
  void Fail(const absl::Status& status);
  // Completes a single unit or a large group on this thread; passes others to the completion thread.
  void CompleteOrHandOff(Completions completions);
  void Complete(Completions& completions) const;

  const PipelineOptions options_;

  // Touched only by the commit leader, and by Start and Stop, which act as one. Its size statistics may be
  // read by any thread.
  ApplyState state_;
  // Also read by Submit while there is no leader.
  std::chrono::nanoseconds last_write_duration_{0};
  size_t last_group_units_ = 0;
  // When the last group began to be written. Read by any thread.
  std::atomic<std::chrono::steady_clock::time_point> last_write_begin_;

  mutable Mutex mutex_;
  CondVar leader_changed_;
  CondVar submitted_;
  std::deque<std::unique_ptr<CommitUnit>> queue_ ABSL_GUARDED_BY(mutex_);
  // Units that wait for room in the queue. Empty whenever the queue is empty.
  std::deque<std::unique_ptr<CommitUnit>> waiting_ ABSL_GUARDED_BY(mutex_);
  // Its `commits` are in the histograms.
  PipelineStatistics statistics_ ABSL_GUARDED_BY(mutex_);
  LatencyHistogram write_us_{kMicrosecondBounds};
  Histogram<kGroupUnitBounds.size()> group_units_{kGroupUnitBounds};
  Leader leader_ ABSL_GUARDED_BY(mutex_) = Leader::kStopped;
  // Not OK: nothing is accepted, for this reason.
  absl::Status refusing_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  mutable Mutex view_mutex_;
  std::shared_ptr<const ReadView> view_ ABSL_GUARDED_BY(view_mutex_);
  uint64_t durable_sequence_ ABSL_GUARDED_BY(view_mutex_) = 0;
  // The number of published groups and, in relaxed mode only, how many of them are on disk.
  uint64_t published_groups_ ABSL_GUARDED_BY(view_mutex_) = 0;
  uint64_t synced_groups_ ABSL_GUARDED_BY(view_mutex_) = 0;

  Mutex completions_mutex_;
  CondVar completions_changed_;
  std::deque<Completions> completions_ ABSL_GUARDED_BY(completions_mutex_);
  bool completing_ ABSL_GUARDED_BY(completions_mutex_) = false;
  bool completion_stopping_ ABSL_GUARDED_BY(completions_mutex_) = false;

  std::thread writer_;
  std::thread completion_thread_;
};

}  // namespace itemdb::storage
