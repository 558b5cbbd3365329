// The engine: an open data directory with its commit pipeline, current view and background threads.
//
// Threads, and what they do:
//   writer, completion  of the commit pipeline (CommitPipeline)
//   maintenance         watermark, free space, relaxed syncs, once a second; reopens the store after a failed
//                       write
//   DDL                 table changes, one at a time
//   reclaimer           gives back the disk space of deleted tables and indexes (Reclaimer)
//   I/O                 reads that wait for the disk (IoPool)
//   waiters             calls the callbacks that wait for the next change (ChangeWaiters)
// Destruction order: DDL and I/O threads finish their tasks; maintenance thread and reclaimer stop; the last
// watermark is written; the pipeline completes all units; the store closes; the directory is unlocked.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/time/clock.h"
#include "storage/api/options.h"
#include "storage/api/replies.h"
#include "storage/archive/commit_archive.h"
#include "storage/archive/promotion.h"
#include "storage/base/background_thread.h"
#include "storage/base/cancellation.h"
#include "storage/base/status.h"
#include "storage/base/time_of_day.h"
#include "storage/commit/change_waiters.h"
#include "storage/commit/commit_pipeline.h"
#include "storage/commit/ttl_cursors.h"
#include "storage/encryption/environment.h"
#include "storage/engine/catalog_copy.h"
#include "storage/engine/disk_space.h"
#include "storage/engine/hold_renewals.h"
#include "storage/engine/io_pool.h"
#include "storage/engine/pinned_snapshot.h"
#include "storage/engine/reclaimer.h"
#include "storage/engine/recovery.h"
#include "storage/engine/synced_sequence.h"
#include "storage/engine/trim_horizon.h"
#include "storage/store/store_counters.h"

namespace itemdb::storage {

// Who asks for a write.
enum class WriteOrigin {
  kClient,
  // The database itself: it makes no change record, and is done by a standby too.
  kUpkeep,
};

class Engine {
 public:
  // Errors as Database::Open.
  static absl::StatusOr<std::unique_ptr<Engine>> Open(DatabaseOptions options);
  ~Engine();

  // The current view. UNAVAILABLE while the store is being reopened. Thread-safe.
  absl::StatusOr<std::shared_ptr<const ReadView>> View() const;
  // As CommitPipeline::Submit; also RESOURCE_EXHAUSTED (DISK_FULL) when the disk is too full (DiskSpace).
  // Thread-safe.
  // FAILED_PRECONDITION (STANDBY, FENCED): writes of clients are refused (RefuseWrites).
  absl::Status Submit(std::unique_ptr<CommitUnit>& unit, WhenFull when_full = WhenFull::kRefuse,
                      WriteSpace space = WriteSpace::kTakes, WriteOrigin origin = WriteOrigin::kClient);
  // From now on Submit refuses writes of clients with `reason`; with OK it takes them again. Thread-safe.
  void RefuseWrites(absl::Status reason);
  // Why writes of clients are refused; OK if they are not. Thread-safe.
  absl::Status WriteRefusal() const;
  // Whether a write of a client would be accepted now, but for the space that it takes: as WriteRefusal, and
  // UNAVAILABLE without a standby that acknowledges. Thread-safe.
  absl::Status CheckWrites() const;
  // A standby was promoted that has followed the archive: takes no more writes of clients, writes what was
  // committed to the archive, and tells the standby. May be called again. Blocks. Not on a thread of the
  // pipeline. Errors as BeginFence, and why the archive could not be finished.
  absl::Status Fence(const Promotion& promotion);
  // The first step of it: takes no more writes of clients. FAILED_PRECONDITION (FENCED): another standby was
  // promoted before.
  absl::Status BeginFence(const Promotion& promotion);
  ChangeWaiters& change_waiters() { return *change_waiters_; }
  TtlCursors& ttl_cursors() { return ttl_cursors_; }
  TimeOfDay& time_of_day() { return *time_of_day_; }
  PinnedSnapshots& pinned_snapshots() { return pinned_snapshots_; }
  IoPool& io() { return *io_; }
  // True when one more chunk of a BulkWrite may hold prefetched reads: at most kMaxPrefetchingChunks chunks
  // may at a time. After true, EndPrefetchingChunk() must follow.
  bool TryBeginPrefetchingChunk() {
    if (prefetching_chunks_.fetch_add(1) < kMaxPrefetchingChunks) return true;
    prefetching_chunks_.fetch_sub(1);
    return false;
  }
  void EndPrefetchingChunk() { prefetching_chunks_.fetch_sub(1); }
  // The access patterns of a new table.
  std::shared_ptr<TablePatterns> NewPatterns() { return std::make_shared<TablePatterns>(pattern_count_); }
  // When the engine was made. The calls of access patterns are counted since then.
  absl::Time opened_at() const { return opened_at_; }
  // Ends the DDL thread, before what its tasks use is destroyed.
  void StopDdl() { ddl_thread_->Stop(); }
  // Runs `task` on the DDL thread. False when too many tasks wait.
  [[nodiscard]] bool SubmitDdl(IoPool::Task& task) { return ddl_thread_->Submit(task, IoPriority::kLong); }

  // ---- for table changes, on the DDL thread ----

  // A storage id that was never given out. Durable once a commit has put next_storage_id() into the catalog.
  uint64_t NewStorageId();
  // The value that a commit must put into the catalog as `next_storage_id`. Never decreases.
  uint64_t next_storage_id() const;
  // Ids below `next` were given out by the database that this one follows.
  void SkipStorageIds(uint64_t next);
  // What is in the store now counts as from before the opening.
  void CountAllAsFromBeforeOpening();
  // Whether `storage_id` was given out before the store was opened. Then an index that is being created may
  // have entries of an earlier attempt under this id.
  bool IsFromBeforeOpening(uint64_t storage_id) const;
  // Starts the reclaimer: a part of the start for which requests need not wait.
  void StartBackgroundWork() { reclaimer_->Start(); }

  // Writes what is only in memory and in the write-ahead log to table files, before a planned stop. Blocks.
  // Errors as Store::FlushMemtables; RESOURCE_EXHAUSTED (DISK_FULL) below the free-space floor.
  absl::Status FlushBeforeStop(std::chrono::milliseconds timeout, const Cancellation& cancellation);
  // Makes everything committed so far durable. Blocks on disk in relaxed mode; does nothing in durable mode.
  absl::Status SyncNow() { return pipeline_->SyncNow(); }
  // From now on the maintenance thread calls `call` after each reopening: the store may then hold more or
  // fewer writes than readers have seen before. `call` must stay valid until the engine is destroyed.
  void SetOnReopened(std::function<void()> call);
  // Closes the store, calls `install`, which puts another in its place, and opens that. Returns at once.
  // `install` is called again if it fails.
  void ReplaceStore(std::function<absl::Status()> install);
  // True from a failed write until the store is reopened. Code that holds a view for long must then release
  // it.
  bool IsFailed() const;
  // At most one check runs at a time: it occupies an I/O thread until it ends. False: another one runs.
  [[nodiscard]] bool TryBeginCheck() { return !checking_.exchange(true); }
  void EndCheck() { checking_ = false; }
  bool is_checking() const { return checking_; }
  // Null without an archive. Thread-safe, but for what the engine alone calls.
  CommitArchive* archive() const { return archive_pointer_; }
  // Begins an archive, in the data directory unless the options name another, if there is none. On the DDL
  // thread. Errors as CommitArchive::Open.
  absl::Status StartArchive();
  // One call about backups at a time. False: another one runs.
  [[nodiscard]] bool TryBeginBackupCall() { return !in_backup_call_.exchange(true); }
  void EndBackupCall() { in_backup_call_ = false; }
  // Progress of the check: records visited so far, and all records to visit.
  struct CheckProgress {
    std::atomic<int64_t> done = 0;
    std::atomic<int64_t> total = 0;
  };
  CheckProgress& check_progress() { return check_progress_; }
  const CheckProgress& check_progress() const { return check_progress_; }

  StoreTotals store_totals() const { return store_counters_->Totals(); }
  uint64_t durable_sequence() const { return pipeline_->durable_sequence(); }
  PipelineStatistics pipeline_statistics() const { return pipeline_->statistics(); }
  // The size statistics of all tables and indexes, in memory. Thread-safe.
  const CurrentStatistics& size_statistics() const { return pipeline_->size_statistics(); }
  const DiskSpace& disk_space() const { return disk_space_; }
  TrimHorizon& trim_horizon() { return trim_horizon_; }
  const TrimHorizon& trim_horizon() const { return trim_horizon_; }
  HoldRenewals& hold_renewals() { return hold_renewals_; }
  const HoldRenewals& hold_renewals() const { return hold_renewals_; }
  // The file system of the data directory, which encrypts files if the directory is encrypted.
  rocksdb::Env* env() const { return environment_->env(); }
  const Environment& environment() const { return *environment_; }
  const std::string& database_id() const { return database_id_; }
  // The last change that was found when the engine was opened.
  uint64_t opened_sequence() const { return opened_sequence_; }
  const DatabaseOptions& options() const { return options_; }
  // Whether indexes and size statistics must be rebuilt before the first request is served.
  bool needs_rebuild() const { return needs_rebuild_; }

 private:
  Engine(DatabaseOptions options, std::unique_ptr<Environment> environment,
         std::unique_ptr<DirectoryLock> lock);
  StoreOptions MakeStoreOptions();
  // When the archive was opened: a standby may have been promoted meanwhile.
  void FenceIfPromoted();
  std::unique_ptr<CommitArchive> MakeArchive();
  // Opens the archive, if there is to be one. Errors as CommitArchive::Open.
  absl::Status OpenArchive();
  // Tells the archive which store is open, and where it is.
  void TellArchive(const Store& store, uint64_t change, int64_t commit_time_us);
  void Install(Recovered recovered);
  // Returns a pointer to `store`. When its last copy is dropped, perhaps by a request's thread, the store is
  // not closed there but by CloseReleasedStore: closing waits for RocksDB's background writes.
  std::shared_ptr<Store> CloseOnMaintenanceThread(std::shared_ptr<Store> store);
  // Closes the store if its last user has released it. True when no store is open any more.
  bool CloseReleasedStore();
  // Gives the tables access patterns: new ones, or after a reopening those from before.
  std::shared_ptr<const Catalog> MakeCatalog(const std::vector<std::shared_ptr<Table>>& recovered);

  void MaintenanceLoop();
  void Maintain();
  // Logs the begin and the end of a jump of the wall clock.
  void WatchClock();
  // Makes the maintenance thread close the store and open it again.
  void Fail();
  // Not OK: opening the store would fail, and then nothing could be read either.
  absl::Status CheckReopening() const;
  // Calls what ReplaceStore has got, if anything.
  absl::Status InstallReplacement();
  void Reopen();
  absl::Status AdvanceWatermark();
  // Lets the I/O threads read a place again that could not be read, unless they do already: a dying disk
  // takes long for each, and the maintenance thread must not wait for it. The others have their turn later.
  void RecheckFailedRead(const ReadView& view);
  // Pauses compactions that met damage, and logs damage that is new.
  void LogDamage(const ReadView& view);
  void CopyCatalog();

  DatabaseOptions options_;
  const std::unique_ptr<Environment> environment_;
  // Of the store. Null: it uses env(), because it is encrypted, or its writes are not synced.
  const std::unique_ptr<rocksdb::Env> spare_log_env_;
  const std::shared_ptr<TimeOfDay> time_of_day_;
  DiskSpace disk_space_;
  const std::shared_ptr<DamageRegister> damage_;
  const std::shared_ptr<StoreCounters> store_counters_;
  const std::unique_ptr<DirectoryLock> lock_;
  // Outlives the pipeline, which notifies it.
  std::unique_ptr<ChangeWaiters> change_waiters_;
  TtlCursors ttl_cursors_;
  // Null if the file cannot be made.
  std::unique_ptr<SyncedSequence> synced_sequence_;
  // Null without an archive. Outlives the pipeline, which hands it groups.
  std::unique_ptr<CommitArchive> archive_;
  // The same, once it may be used by other threads.
  std::atomic<CommitArchive*> archive_pointer_ = nullptr;
  std::unique_ptr<CommitPipeline> pipeline_;
  PinnedSnapshots pinned_snapshots_;
  // Stopped first, but destroyed late: other threads that still run may submit tasks.
  std::unique_ptr<IoPool> io_;
  std::unique_ptr<IoPool> ddl_thread_;
  std::unique_ptr<Reclaimer> reclaimer_;

  TrimHorizon trim_horizon_;
  HoldRenewals hold_renewals_;
  std::atomic<bool> checking_ = false;
  std::atomic<bool> in_backup_call_ = false;
  // Whether an I/O thread has what RecheckFailedRead() submitted.
  std::atomic<bool> rechecking_ = false;
  CheckProgress check_progress_;
  bool needs_rebuild_ = false;
  // Constant after Open.
  std::string database_id_;
  uint64_t opened_sequence_ = 0;
  // Touched only by the maintenance thread, and while that does not run.
  uint64_t watermark_sequence_ = 0;
  // Whether the last line that WatchClock logged tells of a jump.
  bool clock_jumped_ = false;
  // Whether a reopening waits for CheckReopening.
  bool waits_for_disk_ = false;
  std::unique_ptr<CatalogCopy> catalog_copy_;
  std::chrono::steady_clock::time_point next_catalog_copy_;
  // By storage id: the tables while the store is reopened, for what is counted of them; otherwise empty.
  std::map<uint64_t, std::shared_ptr<const Table>> kept_tables_;

  // Whether write_refusal_ is not OK.
  std::atomic<bool> refuses_writes_ = false;
  mutable Mutex mutex_;
  CondVar changed_;
  // The archive's thread and a standby may call Fence at once: the archive is finished by one of them at a
  // time.
  Mutex fencing_;
  // The promotion of the standby that goes on in the place of this database.
  std::optional<Promotion> fenced_by_ ABSL_GUARDED_BY(mutex_);
  absl::Status write_refusal_ ABSL_GUARDED_BY(mutex_);
  // Puts other files in the place of the store while no store is open.
  std::function<absl::Status()> install_ ABSL_GUARDED_BY(mutex_);
  bool failed_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> on_reopened_ ABSL_GUARDED_BY(mutex_);
  // Stores that are open for writing: 1, or 0 while the store is reopened.
  int open_stores_ ABSL_GUARDED_BY(mutex_) = 0;
  // A store that has no users any more and must be closed.
  std::shared_ptr<Store> released_store_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_storage_id_ ABSL_GUARDED_BY(mutex_) = 1;
  // next_storage_id_ when the store was opened.
  uint64_t opened_storage_id_ ABSL_GUARDED_BY(mutex_) = 1;

  BackgroundThread maintenance_thread_;
  std::atomic<int> prefetching_chunks_ = 0;
  const std::shared_ptr<PatternCount> pattern_count_ = std::make_shared<PatternCount>();
  const absl::Time opened_at_ = absl::Now();
};

// Runs `operation`, which returns absl::StatusOr<Reply>, on an I/O thread and passes its result to `done`.
// RESOURCE_EXHAUSTED: too many tasks wait.
template <typename Reply, typename Operation>
void RunOnIoThread(Engine& engine, IoPriority priority, Operation operation, Done<Reply> done) {
  auto shared_done = std::make_shared<Done<Reply>>(std::move(done));
  IoPool::Task task = [operation = std::move(operation), shared_done]() mutable {
    auto reply = operation();
    std::move (*shared_done)(std::move(reply));
  };
  if (!engine.io().Submit(task, priority)) std::move (*shared_done)(IoPoolFullError());
}

}  // namespace itemdb::storage
