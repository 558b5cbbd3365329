// The archive: every commit group, as it was committed, in files outside of RocksDB. A backup and the groups
// that were committed after it give the database as it was after any of them (restore.h).
//
//   DIRECTORY/LOCK                  held while a process archives into it
//   DIRECTORY/segment-000000000001  commit groups (archive_segment.h)
//
// The pipeline hands each group over when it is durable (Add). A thread writes them a moment later, so
// writers never wait for the archive. After a crash it gets the groups that it lacks from RocksDB's
// write-ahead log, before an opening deletes that.
//
// Groups without a gap form a chain. A chain ends when groups could not be kept: the archive could not be
// written for so long that too many waited, or the store is not the one that wrote the last group. It ends
// too when a table was loaded from files (storage/loading), because its items are in no group. Then the next
// chain begins. A backup that was made in a chain can be followed to its end, and no farther.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/log/log.h"
#include "rocksdb/write_batch.h"
#include "storage/archive/acknowledgements.h"
#include "storage/archive/archive_segment.h"
#include "storage/archive/directory_probe.h"
#include "storage/archive/promotion.h"
#include "storage/base/background_thread.h"
#include "storage/commit/commit_pipeline.h"
#include "storage/encryption/environment.h"

namespace spdlog {
class logger;
}

namespace itemdb::storage {

struct CommitArchiveOptions {
  std::string directory;
  // Of the database; must outlive the archive. Segments are encrypted with its keys.
  const Environment* environment = nullptr;
  common::Log log;
  // Groups that wait for being written, in bytes. When there are more, they are given up and the chain ends.
  size_t max_queue_bytes = 32 << 20;
  // A segment that is larger is followed by the next one.
  uint64_t segment_bytes = 64 << 20;
  // How often groups are written and synced. After a failure the wait is four times as long.
  std::chrono::milliseconds interval = std::chrono::milliseconds(500);
  // Each group is written at once: writers wait until a standby has it.
  bool writes_at_once = false;
  // Makes all groups durable that were committed before. Called before they are written.
  std::function<absl::Status()> sync;
  // Called on the archive's thread when a standby that follows the archive was promoted, until it succeeds.
  std::function<absl::Status(const Promotion&)> on_promotion;
  // Not OK: there is no space for the archive now. Empty: not asked.
  std::function<absl::Status()> check_space;
};

// Where a store is: its last sequence and its last change.
struct StorePosition {
  std::string database_id;
  std::string store_id;
  uint64_t sequence = 0;
  uint64_t change = 0;
  int64_t commit_time_us = 0;
};

// What can be told about the archive.
struct CommitArchiveStatus {
  uint64_t chain_id = 0;
  // The first sequence and change of the chain are the ones after these.
  StorePosition chain_after;
  // The last group that is durable in the archive.
  uint64_t last_change = 0;
  int64_t last_commit_time_us = 0;
  // How long the oldest group that is not durable in the archive has waited.
  std::chrono::milliseconds lag{0};
  size_t queued_bytes = 0;
  // Chains that were begun, but for the first, since the archive was opened.
  int64_t gaps = 0;
  // Not OK: the last attempt to write failed.
  absl::Status error;
};

// Points in time, in microseconds since the Unix epoch, that a database can be restored to: from `begin_us`
// to `end_us`, both included.
struct RestorableTimes {
  // Of the last times, while the archive goes on.
  static constexpr int64_t kNoEnd = INT64_MAX;

  int64_t begin_us = 0;
  int64_t end_us = kNoEnd;
};

// Thread-safe, but for Open and Stop.
class CommitArchive {
 public:
  explicit CommitArchive(CommitArchiveOptions options);
  ~CommitArchive();
  CommitArchive(const CommitArchive&) = delete;
  CommitArchive& operator=(const CommitArchive&) = delete;

  // Locks the directory, which is made if it is missing, and finds the last archived group. `database_id` is
  // empty for a new database. An archive that cannot be read now, or whose file system does not answer, is
  // tried again later.
  //
  // FAILED_PRECONDITION: it has groups of another database (DATA_DIRECTORY_FOREIGN), or another process uses
  // it (DATA_DIRECTORY_IN_USE). INVALID_ARGUMENT: it is encrypted with other keys.
  absl::Status Open(const std::string& database_id);

  // While no store is open, between Open or the end of the store before and Opened: a group of the
  // write-ahead log, which the archive may lack. `changes_family` is the number of the family of changes.
  void AddLogged(const rocksdb::WriteBatch& batch, uint32_t changes_family);
  // Writes these groups, before an opening deletes the log.
  void WriteLogged();
  // A store was opened. Ends the chain unless the archive, with the logged groups, ends where the store
  // does. Starts the thread.
  void Opened(const StorePosition& position);
  // A group that the open store has committed, durably if `sync` is called before it is written.
  void Add(WrittenGroup group);
  // Writes what waits, if that can be done now. Nothing may be added afterwards.
  void Stop();

  CommitArchiveStatus Status() const;
  // In the order of time; between them the archive has gaps. std::nullopt: SetRestorableTimes was not called
  // yet.
  std::optional<std::vector<RestorableTimes>> restorable_times() const;
  // For whoever makes the backups that groups are replayed on. Does nothing if another chain than `chain_id`
  // has begun meanwhile. The last times end when the next chain begins.
  void SetRestorableTimes(uint64_t chain_id, std::vector<RestorableTimes> times);
  // Writes what waits now. UNAVAILABLE, RESOURCE_EXHAUSTED (DISK_FULL): that is not possible.
  absl::Status WriteNow() { return WriteQueued(/*syncs=*/true); }
  // UNAVAILABLE: the file system of the directory does not answer. For those that read the archive.
  absl::Status CheckAnswers() { return probe_.Check(); }
  // Logs, now and then, that a call to the file system does not return.
  void LogIfStuck();
  const std::string& directory() const { return options_.directory; }
  Acknowledgements& acknowledgements() { return acknowledgements_; }

 private:
  // Where the archive is, in the terms of a segment's header.
  struct Position {
    uint64_t sequence = 0;
    uint64_t change = 0;
    uint64_t hash = 0;
    int64_t commit_time_us = 0;
  };

  // What FindEnd finds.
  struct Found {
    uint64_t last_number = 0;
    // std::nullopt: there is no chain.
    std::optional<StorePosition> chain_after;
    uint64_t chain_id = 0;
    uint64_t segment = 0;
    Position end;
  };
  absl::Status Lock() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_);
  // Locks the directory, and finds its last segment and the last group in it.
  absl::StatusOr<Found> FindEnd(const std::string& database_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_);
  void Queue(ArchivedGroup group) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Gives up what waits. The next chain begins after `position`.
  void BeginChain(const Position& position) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void Loop();
  // `syncs`: calls CommitArchiveOptions::sync before.
  absl::Status WriteQueued(bool syncs);
  // An archive that could not be read when it was opened.
  void LookForPromotion();
  absl::Status FindEndLate() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_);
  // A file that was deleted takes what is written without an error.
  void LookForLostSegment() ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_);
  absl::Status StartSegment(const std::optional<Position>& chain_after, uint64_t chain_id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_);
  absl::Status WriteGroups(const std::deque<ArchivedGroup>& groups) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_);
  absl::Status WriteQueuedLocked(bool syncs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_);
  // The file system does not answer.
  absl::Status NotAnswering(const absl::Status& status);
  void Failed(const absl::Status& status);
  // Not OK: what has begun takes too long.
  absl::Status StuckError() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  struct Unlock {
    void operator()(rocksdb::FileLock* lock) const { (void)rocksdb::Env::Default()->UnlockFile(lock); }
  };

  const CommitArchiveOptions options_;

  // Touched only by the thread.
  bool knows_promotion_ = false;

  mutable Mutex mutex_;
  std::deque<ArchivedGroup> queue_ ABSL_GUARDED_BY(mutex_);
  // Of queue_ and of the groups that are being written.
  size_t queued_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::chrono::steady_clock::time_point waits_since_ ABSL_GUARDED_BY(mutex_);
  // The last group that was queued, or that would have been queued.
  Position end_ ABSL_GUARDED_BY(mutex_);
  // How often, since the store was opened, a group did not follow the one before because of an ingestion.
  int64_t jumps_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t item_ingestions_ ABSL_GUARDED_BY(mutex_) = 0;
  // Too much waited; groups are left out until the archive can be written again.
  bool overflowed_ ABSL_GUARDED_BY(mutex_) = false;
  // A chain that must be begun before the next group is written.
  std::optional<Position> next_chain_ ABSL_GUARDED_BY(mutex_);
  StorePosition chain_after_ ABSL_GUARDED_BY(mutex_);
  uint64_t chain_id_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<std::vector<RestorableTimes>> restorable_times_ ABSL_GUARDED_BY(mutex_);
  // The last group that is durable in the archive.
  Position durable_ ABSL_GUARDED_BY(mutex_);
  int64_t gaps_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  std::string database_id_ ABSL_GUARDED_BY(mutex_);
  std::string store_id_ ABSL_GUARDED_BY(mutex_);
  bool has_chain_ ABSL_GUARDED_BY(mutex_) = false;
  // When the thread began to look for a promotion, or a round of writing began; nothing: neither runs.
  std::optional<std::chrono::steady_clock::time_point> looks_since_ ABSL_GUARDED_BY(mutex_);
  std::optional<std::chrono::steady_clock::time_point> writes_since_ ABSL_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point next_log_ ABSL_GUARDED_BY(mutex_);

  // One round of writing at a time; the other members belong to it.
  Mutex writing_;
  std::unique_ptr<rocksdb::FileLock, Unlock> lock_ ABSL_GUARDED_BY(writing_);
  bool is_found_ ABSL_GUARDED_BY(writing_) = false;
  std::unique_ptr<SegmentWriter> writer_ ABSL_GUARDED_BY(writing_);
  uint64_t last_number_ ABSL_GUARDED_BY(writing_) = 0;
  // The segment that the next one continues; 0: none.
  uint64_t previous_number_ ABSL_GUARDED_BY(writing_) = 0;

  DirectoryProbe probe_;
  Acknowledgements acknowledgements_;
  bool is_running_ = false;
  BackgroundThread thread_;
};

}  // namespace itemdb::storage
