// The commit pipeline: every write of the database passes through it, one at a time in one order.
//
// A prepared write (CommitUnit) is queued. Whoever holds the pipeline's role takes what is queued, and then
//   1. orders:  each unit in turn decides its write against the state that all units before it leave, and
//   appends item,
//               index entries, change record and counters to the open commit group. Change sequences are
//               assigned here;
//   2. commits: one RocksDB write for the group, synced when durable;
//   3. publishes: a new ReadView becomes current;
//   4. answers every unit of the group.
// A sequence is assigned in 1, durable after 2, visible after 3, answered in 4. Groups never overlap, so
// everything a unit was decided on is durable before the unit is answered, and what is not durable is never
// seen.
//
// The role: a thread that submits while nothing is in flight holds it for one group, so that a lone write
// costs no hand-off; otherwise the writer thread holds it. Answers of larger groups are given by a publisher
// thread, so that the next group need not wait for them.
//
// A failed RocksDB write leaves the group's outcome unknown (it may reappear after reopening), so its units
// are answered UNKNOWN, everything still queued is answered UNAVAILABLE, and nothing is accepted until
// Restart.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "storage/base/mutex.h"
#include "storage/commit/change_waiters.h"
#include "storage/commit/commit_group.h"
#include "storage/store/read_view.h"

namespace itemdb {

struct PipelineOptions {
  bool durable = true;
  size_t max_queue_bytes = 0;
  int64_t max_item_collection_bytes = INT64_MAX;
  // Called on the role-holder's thread when a RocksDB write failed. Must not block on the pipeline.
  std::function<void(const absl::Status&)> on_failure;
  // Called after entries of indexes of times to live have become visible. Must not block.
  std::function<void(const std::vector<TimeEntry>&)> on_time_entries;
  // As OrderingState::clock_us.
  std::function<int64_t()> clock_us;
  // Told of changes that are visible and durable before their writes are answered. Outlives the pipeline.
  ChangeWaiters* change_waiters = nullptr;
};

// Where ordering starts from, as recovered from disk.
struct PipelineStart {
  std::shared_ptr<Store> store;
  std::shared_ptr<const Catalog> catalog;
  uint64_t next_sequence = 1;
  int64_t last_commit_time_us = 0;
  CurrentCounters::ByStorageId counters;
};

// Since the pipeline was made.
struct PipelineFigures {
  // Units whose group was committed, and the groups.
  int64_t committed_units = 0;
  int64_t groups = 0;
  std::chrono::nanoseconds write_time{0};
  // Units refused because the queue was full.
  int64_t refused_units = 0;
  // Units waiting now, in bytes.
  size_t queued_bytes = 0;
};

// What becomes of a unit that the queue has no room for.
enum class WhenFull {
  kRefuse,
  // It waits outside the queue, uncounted, and is answered in the end: for callers that bound what they
  // submit themselves.
  kWait,
};

class CommitPipeline {
 public:
  explicit CommitPipeline(PipelineOptions options);
  // Answers what was submitted, then joins.
  ~CommitPipeline();

  // Begins, or begins anew after a failure. Not while units are in flight.
  void Start(PipelineStart start);
  // Stops accepting (Submit answers `reason`), waits until everything submitted was ordered and its answer is
  // given or on its way, and lets go of the store.
  void Stop(absl::Status reason);

  // Takes `unit` on. When it is refused, RESOURCE_EXHAUSTED (QUEUE_FULL) or UNAVAILABLE is returned, `unit`
  // is untouched and will not be answered. Units of one caller are ordered as they were submitted.
  // Thread-safe.
  absl::Status Submit(std::unique_ptr<CommitUnit>& unit, WhenFull when_full = WhenFull::kRefuse);

  // The current view; null while stopped. Thread-safe.
  std::shared_ptr<const ReadView> view() const;
  // Every change up to this one is on disk. Below view()->change_sequence() only when relaxed.
  uint64_t durable_sequence() const;
  // Relaxed mode: makes everything committed so far durable. Blocks. Does nothing in durable mode.
  absl::Status SyncNow();
  PipelineFigures figures() const;
  // Of all tables and indexes. Thread-safe.
  const CurrentCounters& counters() const { return state_.counters; }

 private:
  using Units = std::vector<std::unique_ptr<CommitUnit>>;
  struct Answers {
    Units units;
    absl::Status status;
    // The last change before or of each unit, in the order of `units`.
    std::vector<uint64_t> change_sequences;
  };

  // Who may order and commit.
  enum class Role { kFree, kHeld, kHandedToWriter };

  void WriterLoop();
  void PublisherLoop();
  // Runs one group with what is queued and returns what is left to answer. The caller holds the role.
  Answers RunGroup();
  // Gives the role up when nothing is queued; otherwise hands it to the writer thread, or, called by that
  // thread, keeps it and returns true.
  bool ReleaseRole(bool is_writer);
  Units TakeUnits();
  // Queues units that wait for room, as far as there is some.
  void Admit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Puts units that a full group has no room for back to the front of the queue.
  void PutBack(Units units);
  void Publish(uint64_t group);
  // Refuses everything from now on and answers what is queued.
  void Fail(const absl::Status& status);
  void Deliver(Answers answers);
  static void Answer(Answers& answers);

  const PipelineOptions options_;

  // Touched only by the holder of the role (Start and Stop hold it too), but for its counters.
  OrderingState state_;
  std::chrono::nanoseconds last_write_duration_{0};
  size_t last_group_units_ = 0;

  mutable Mutex mutex_;
  CondVar role_changed_;
  CondVar submitted_;
  std::deque<std::unique_ptr<CommitUnit>> queue_ ABSL_GUARDED_BY(mutex_);
  // What waits for room in the queue; empty when the queue is.
  std::deque<std::unique_ptr<CommitUnit>> waiting_ ABSL_GUARDED_BY(mutex_);
  PipelineFigures figures_ ABSL_GUARDED_BY(mutex_);
  Role role_ ABSL_GUARDED_BY(mutex_) = Role::kFree;
  // Not OK: why nothing is accepted.
  absl::Status refusing_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  mutable Mutex view_mutex_;
  std::shared_ptr<const ReadView> view_ ABSL_GUARDED_BY(view_mutex_);
  uint64_t durable_sequence_ ABSL_GUARDED_BY(view_mutex_) = 0;
  // Commit groups that view_ shows, and how many of them are on disk when relaxed.
  uint64_t published_groups_ ABSL_GUARDED_BY(view_mutex_) = 0;
  uint64_t synced_groups_ ABSL_GUARDED_BY(view_mutex_) = 0;

  Mutex answers_mutex_;
  CondVar answers_changed_;
  std::deque<Answers> answers_ ABSL_GUARDED_BY(answers_mutex_);
  bool publisher_busy_ ABSL_GUARDED_BY(answers_mutex_) = false;
  bool publisher_stopping_ ABSL_GUARDED_BY(answers_mutex_) = false;

  std::thread writer_;
  std::thread publisher_;
};

}  // namespace itemdb
