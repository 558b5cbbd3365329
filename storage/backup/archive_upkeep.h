// Keeps the archive usable: makes the backups that its commit groups continue, and deletes what is older than
// its window.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "itemdb/v1/admin.pb.h"
#include "storage/base/background_thread.h"
#include "storage/base/cancellation.h"
#include "storage/engine/engine.h"
#include "storage/engine/io_pool.h"

namespace itemdb::storage {

// Without an archive it does nothing. A backup is made soon after a chain of the archive begins, and again
// when the last one is older than DatabaseOptions::archive_backup_interval. Failures are logged, shown by
// GetStatus, and tried again. Thread-safe.
class ArchiveUpkeep {
 public:
  explicit ArchiveUpkeep(Engine& engine);
  ~ArchiveUpkeep();
  ArchiveUpkeep(const ArchiveUpkeep&) = delete;
  ArchiveUpkeep& operator=(const ArchiveUpkeep&) = delete;

  // Adds what is known of the archive to `*reply`; nothing without an archive.
  void Describe(v1::GetStatusReply* reply) const;
  // Runs `call` when earlier states can be restored, which takes a moment after the archive was begun; after
  // two seconds in any case, because the backup of a large database takes long.
  void WhenRestorable(std::function<void()> call);

 private:
  void Loop();
  // Logs what is lost with the disk of the data.
  void TellSharedDisk() const;
  // Makes a backup if one is needed.
  absl::Status KeepBackups();
  absl::Status DeleteOld();
  // Tells the archive which times can be restored: those behind a backup of each of its chains.
  absl::Status TellRestorableTimes();

  Engine& engine_;
  Cancellation cancellation_;
  mutable Mutex mutex_;
  // The chain that a backup was made for.
  uint64_t covered_chain_id_ ABSL_GUARDED_BY(mutex_) = 0;
  // The oldest backup that the archive continues. Its id is 0 if there is none.
  v1::DatabaseBackup oldest_ ABSL_GUARDED_BY(mutex_);
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  // The archive is on the disk of the data. False until its file system has answered.
  bool shares_disk_ ABSL_GUARDED_BY(mutex_) = false;
  // Only for the thread: the last commit of chains that have ended, by chain and last segment.
  std::map<std::pair<uint64_t, uint64_t>, int64_t> last_commit_times_;
  // For WhenRestorable.
  IoPool waiting_calls_;
  BackgroundThread thread_;
};

// Whether there is a backup that the commits of now can be replayed on.
absl::StatusOr<bool> HasBackupForArchive(const Engine& engine);

}  // namespace itemdb::storage
