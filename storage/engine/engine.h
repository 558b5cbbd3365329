// The engine: an open data directory with its commit pipeline, current view and background threads.
//
// Threads, and who they belong to:
//   writer, publisher   the commit pipeline
//   keeper              watermark, free space, relaxed syncs once a second; reopens the store after a failed
//                       write
//   definitions         changes of definitions, one at a time
//   reclaimer           gives back the space of what was deleted
//   io                  reads that wait for the disk (IoPool)
//   waiters             calls whoever waits for the next change (ChangeWaiters)
// Destruction order: definitions and io finish what they have, keeper and reclaimer stop, then the pipeline
// answers everything, then the last watermark is written, then the store closes, then the directory lock
// goes.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "storage/api/options.h"
#include "storage/api/replies.h"
#include "storage/base/background_thread.h"
#include "storage/base/cancellation.h"
#include "storage/base/status.h"
#include "storage/commit/change_waiters.h"
#include "storage/commit/commit_pipeline.h"
#include "storage/commit/expiry_marks.h"
#include "storage/engine/held_state.h"
#include "storage/engine/io_pool.h"
#include "storage/engine/log_start.h"
#include "storage/engine/reclaimer.h"
#include "storage/engine/recovery.h"

namespace itemdb {

class Engine {
 public:
  // Errors as Database::Open.
  static absl::StatusOr<std::unique_ptr<Engine>> Open(DatabaseOptions options);
  ~Engine();

  // The current state. UNAVAILABLE while the store is being reopened. Thread-safe.
  absl::StatusOr<std::shared_ptr<const ReadView>> View() const;
  // As CommitPipeline::Submit; also RESOURCE_EXHAUSTED (DISK_FULL) below the free-space floor. Thread-safe.
  absl::Status Submit(std::unique_ptr<CommitUnit>& unit, WhenFull when_full = WhenFull::kRefuse);
  // The same below the free-space floor too: for what frees space.
  absl::Status SubmitFreeing(std::unique_ptr<CommitUnit>& unit, WhenFull when_full = WhenFull::kRefuse) {
    return pipeline_->Submit(unit, when_full);
  }
  ChangeWaiters& change_waiters() { return *change_waiters_; }
  ExpiryMarks& expiry_marks() { return expiry_marks_; }
  // The clock, in microseconds since the Unix epoch.
  int64_t NowMicros() const;
  HeldStates& held_states() { return held_states_; }
  IoPool& io() { return *io_; }
  // Whether one more chunk of a BulkWrite may carry what it replaces; then ChunkCarriesNoMore() must follow.
  bool ChunkMayCarry() {
    if (carrying_chunks_.fetch_add(1) < kMaxCarryingChunks) return true;
    carrying_chunks_.fetch_sub(1);
    return false;
  }
  void ChunkCarriesNoMore() { carrying_chunks_.fetch_sub(1); }
  // For a new table.
  std::shared_ptr<TablePatterns> NewPatterns() { return std::make_shared<TablePatterns>(pattern_count_); }
  // Since when calls are counted.
  absl::Time opened_at() const { return opened_at_; }
  // Runs `task` on the definitions thread. False when too many wait.
  [[nodiscard]] bool SubmitDefinition(IoPool::Task& task) {
    return definitions_->Submit(task, IoPriority::kLong);
  }

  // ---- for table changes, on the definitions thread ----

  // A storage id that was never given out; on disk once a commit puts `next_storage_id` into the catalog.
  uint64_t NewStorageId();
  // What the catalog must say is the next storage id. Never decreases.
  uint64_t next_storage_id() const;
  // Whether an index that is being created may have entries of an earlier attempt: it was given its storage
  // id before the store was opened.
  bool IsFromBeforeOpening(uint64_t storage_id) const;
  // What a start leaves for later: the reclaimer and the ballast.
  void FinishStart();
  // Makes everything committed so far durable. Blocks; nothing to do unless relaxed.
  absl::Status SyncNow() { return pipeline_->SyncNow(); }
  // `call` is made after each reopening from now on, by the keeper: what the store holds may be more or less
  // than what was seen before. It must be valid until the engine is gone.
  void SetOnReopened(std::function<void()> call);
  // True between a failed write and the end of the reopening: whoever holds a view for long must let go of
  // it.
  bool IsFailed() const;
  // At most one check runs at a time: it occupies an I/O thread for as long as it takes.
  [[nodiscard]] bool TryBeginCheck() { return !checking_.exchange(true); }
  void EndCheck() { checking_ = false; }
  bool is_checking() const { return checking_; }
  // Records that the check has visited, and how many there are to visit.
  struct CheckFigures {
    std::atomic<int64_t> done = 0;
    std::atomic<int64_t> total = 0;
  };
  CheckFigures& check_figures() { return check_figures_; }
  const CheckFigures& check_figures() const { return check_figures_; }

  uint64_t durable_sequence() const { return pipeline_->durable_sequence(); }
  PipelineFigures pipeline_figures() const { return pipeline_->figures(); }
  // Of all tables and indexes, in memory. Thread-safe.
  const CurrentCounters& counters() const { return pipeline_->counters(); }
  // Writes refused below the free-space floor.
  int64_t refused_by_disk() const { return refused_by_disk_; }
  // Of the file system of the data directory, in bytes; 0 when it cannot be told.
  uint64_t FreeDiskBytes() const;
  // RESOURCE_EXHAUSTED (DISK_FULL): that is below the free-space floor now. For background work that takes
  // space.
  absl::Status CheckFreeSpace() const;
  // The oldest change that may be read, and pins for whoever needs changes for longer.
  uint64_t changes_start() const { return log_start_.oldest(); }
  LogStart& log_start() { return log_start_; }
  // The file system that everything is on.
  rocksdb::Env* env() const { return env_; }
  const std::string& database_id() const { return database_id_; }
  const DatabaseOptions& options() const { return options_; }
  // Whether indexes and counters must be rebuilt before anything is served.
  bool needs_rebuild() const { return needs_rebuild_; }

 private:
  explicit Engine(DatabaseOptions options);
  StoreOptions MakeStoreOptions();
  void Adopt(Recovered recovered);
  // `store`, which is not closed by the thread that lets go of it last, a request's perhaps, but by
  // CloseReleasedStore: closing waits for what RocksDB is writing.
  std::shared_ptr<Store> ClosedByUs(std::shared_ptr<Store> store);
  // True when no store is open any more.
  bool CloseReleasedStore();
  // `recovered`, of which no table has patterns, with those that it had before a reopening, or new ones.
  std::shared_ptr<const Catalog> WithPatterns(const Catalog& recovered);

  // RESOURCE_EXHAUSTED (DISK_FULL), with `what` was not done.
  absl::Status DiskFullError(std::string_view what) const;

  void KeeperLoop();
  void Keep();
  // The keeper will close the store and open it again.
  void Fail();
  void Reopen();
  absl::Status AdvanceWatermark();

  DatabaseOptions options_;
  std::unique_ptr<rocksdb::Env> owned_env_;
  rocksdb::Env* env_ = nullptr;
  std::unique_ptr<DirectoryLock> lock_;
  // Notified by the pipeline until that is gone.
  std::unique_ptr<ChangeWaiters> change_waiters_;
  ExpiryMarks expiry_marks_;
  std::unique_ptr<CommitPipeline> pipeline_;
  HeldStates held_states_;
  // Stopped first, but there until the end: what still runs may submit more.
  std::unique_ptr<IoPool> io_;
  std::unique_ptr<IoPool> definitions_;
  std::unique_ptr<Reclaimer> reclaimer_;

  LogStart log_start_;
  std::atomic<bool> disk_full_ = false;
  std::atomic<int64_t> refused_by_disk_ = 0;
  std::atomic<bool> checking_ = false;
  CheckFigures check_figures_;
  bool needs_rebuild_ = false;
  // Constant after Open.
  std::string database_id_;
  // Touched by the keeper only (and before and after its life).
  uint64_t watermark_sequence_ = 0;
  // What was counted before the store was closed, by the storage ids of tables; empty unless it is reopened.
  std::map<uint64_t, std::shared_ptr<TablePatterns>> kept_patterns_;

  mutable Mutex mutex_;
  CondVar changed_;
  bool failed_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> on_reopened_ ABSL_GUARDED_BY(mutex_);
  // Stores open for writing: 1, or 0 while reopening.
  int open_stores_ ABSL_GUARDED_BY(mutex_) = 0;
  // One that nobody uses any more, to be closed.
  std::shared_ptr<Store> released_store_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_storage_id_ ABSL_GUARDED_BY(mutex_) = 1;
  // As it was when the store was opened.
  uint64_t opened_storage_id_ ABSL_GUARDED_BY(mutex_) = 1;

  BackgroundThread keeper_;
  std::atomic<int> carrying_chunks_ = 0;
  const std::shared_ptr<PatternCount> pattern_count_ = std::make_shared<PatternCount>();
  const absl::Time opened_at_ = absl::Now();
};

// Runs `operation`, which answers absl::StatusOr<Reply>, on an I/O thread and gives `done` its result;
// RESOURCE_EXHAUSTED when too many wait.
template <typename Reply, typename Operation>
void RunOnIoThread(Engine& engine, IoPriority priority, Operation operation, Done<Reply> done) {
  auto shared_done = std::make_shared<Done<Reply>>(std::move(done));
  IoPool::Task task = [operation = std::move(operation), shared_done]() mutable {
    auto reply = operation();
    std::move (*shared_done)(std::move(reply));
  };
  if (!engine.io().Submit(task, priority)) std::move (*shared_done)(IoPoolFullError());
}

}  // namespace itemdb
