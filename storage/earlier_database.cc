#include "storage/earlier_database.h"

#include <chrono>
#include <thread>
#include <utility>

#include "storage/backup/archive_upkeep.h"
#include "storage/backup/backup_operations.h"

namespace itemdb::storage {
namespace {

// Most readers read once, from the first item to the last.
constexpr size_t kReadCacheBytes = 16 << 20;
constexpr size_t kReadMemtableBytes = 8 << 20;
// A backup is awaited for ten minutes.
constexpr int kBackupLooks = 6'000;
constexpr std::chrono::milliseconds kBackupLookInterval(100);

// After the archive was begun, or a table was restored, a backup is made at once. UNAVAILABLE: try again.
absl::Status AwaitBackup(const Engine& engine, const Cancellation& cancellation,
                         const CancellationPtr& caller) {
  for (int i = 0; i < kBackupLooks; ++i) {
    ITEMDB_RETURN_IF_ERROR(cancellation.Check());
    ITEMDB_RETURN_IF_ERROR(CheckNotCancelled(caller));
    if (engine.IsFailed()) break;  // Nothing is backed up until the store is open again.
    ITEMDB_ASSIGN_OR_RETURN(const bool is_there, HasBackupForArchive(engine));
    if (is_there) return absl::OkStatus();
    std::this_thread::sleep_for(kBackupLookInterval);
  }
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                   "a backup of the database is being made first", 1000);
}

// The archive, whose file system answers.
absl::StatusOr<CommitArchive*> FindArchive(const Engine& engine) {
  CommitArchive* const archive = engine.archive();
  if (archive == nullptr) {
    return MakeError(absl::StatusCode::kOutOfRange, kReasonRestorePointUnknown,
                     "there is no archive of commits any more");
  }
  ITEMDB_RETURN_IF_ERROR(archive->CheckAnswers());
  return archive;
}

}  // namespace

absl::StatusOr<RestoreOptions> EarlierDatabase::Options(const Engine& engine, const EarlierCommit& commit) {
  ITEMDB_ASSIGN_OR_RETURN(CommitArchive* const archive, FindArchive(engine));
  ITEMDB_ASSIGN_OR_RETURN(const v1::ListDatabaseBackupsReply backups, ListBackups(engine));
  if (!backups.backups().empty())
    ITEMDB_RETURN_IF_ERROR(CheckRoomToRestore(engine, backups.backups().rbegin()->size_bytes()));
  RestoreOptions restore;
  restore.backup_directory = BackupDirectoryOf(engine);
  restore.archive_directory = archive->directory();
  if (commit.change != 0) restore.to_change = commit.change;
  if (commit.time_us != 0) restore.to_time_us = commit.time_us;
  restore.encryption_keys = engine.environment().keys();
  restore.log = engine.options().log;
  return restore;
}

absl::StatusOr<std::unique_ptr<EarlierDatabase>> EarlierDatabase::Restore(const Engine& engine,
                                                                          const EarlierCommit& commit,
                                                                          const char* folder,
                                                                          const Cancellation& cancellation,
                                                                          const CancellationPtr& caller) {
  ITEMDB_RETURN_IF_ERROR(FindArchive(engine).status());
  ITEMDB_RETURN_IF_ERROR(AwaitBackup(engine, cancellation, caller));
  ITEMDB_ASSIGN_OR_RETURN(CommitArchive* const archive, FindArchive(engine));
  ITEMDB_RETURN_IF_ERROR(archive->WriteNow());
  ITEMDB_ASSIGN_OR_RETURN(RestoreOptions restore, Options(engine, commit));
  std::unique_ptr<EarlierDatabase> database(new EarlierDatabase(engine, folder));
  restore.data_directory = database->path();
  restore.cancellation = &cancellation;
  ITEMDB_ASSIGN_OR_RETURN(const RestoredDatabase restored, RestoreDatabase(restore));
  database->change_sequence_ = restored.change_sequence;
  ITEMDB_RETURN_IF_ERROR(database->environment_.Open(database->path(), restore.encryption_keys));
  StoreOptions options;
  options.path = database->path() + "/rocksdb";
  options.env = database->environment_.env();
  options.log = restore.log;
  options.block_cache_bytes = kReadCacheBytes;
  options.memtable_bytes = kReadMemtableBytes;
  ITEMDB_ASSIGN_OR_RETURN(database->store_, Store::Open(options));
  return database;
}

}  // namespace itemdb::storage
