#include "storage/prove_backup.h"

#include <spdlog/spdlog.h>

#include <future>
#include <memory>
#include <string>
#include <utility>

#include "storage/backup/backup_operations.h"
#include "storage/database.h"
#include "storage/restore.h"
#include "storage/scratch_folder.h"

namespace itemdb::storage {
namespace {

// Nobody else reads this database.
constexpr size_t kProofCacheBytes = 16 << 20;
constexpr size_t kProofMemtableBytes = 16 << 20;

absl::StatusOr<v1::DatabaseBackup> FindBackup(const Engine& engine, uint32_t backup_id,
                                              std::string* directory) {
  ITEMDB_ASSIGN_OR_RETURN(const v1::ListDatabaseBackupsReply listed, ListBackups(engine));
  *directory = listed.directory();
  for (auto backup = listed.backups().rbegin(); backup != listed.backups().rend(); ++backup)
    if (backup_id == 0 || backup->backup_id() == backup_id) return *backup;
  return MakeError(absl::StatusCode::kNotFound, kReasonResourceNotFound,
                   backup_id == 0 ? "there is no backup in " + *directory
                                  : "there is no backup " + std::to_string(backup_id) + " in " + *directory);
}

absl::StatusOr<v1::CheckDatabaseReply> Check(Database& database, const CancellationPtr& cancellation) {
  std::promise<absl::StatusOr<v1::CheckDatabaseReply>> promise;
  std::future<absl::StatusOr<v1::CheckDatabaseReply>> future = promise.get_future();
  database.CheckDatabase(
      {}, [&promise](absl::StatusOr<v1::CheckDatabaseReply> reply) { promise.set_value(std::move(reply)); },
      cancellation);
  return future.get();
}

}  // namespace

absl::StatusOr<v1::DatabaseBackup> ProveBackup(Engine& engine, uint32_t backup_id,
                                               const CancellationPtr& cancellation) {
  std::string directory;
  ITEMDB_ASSIGN_OR_RETURN(const v1::DatabaseBackup backup, FindBackup(engine, backup_id, &directory));
  ITEMDB_RETURN_IF_ERROR(CheckRoomToRestore(engine, backup.size_bytes()));
  const ScratchFolder folder(engine, kProofFolder);
  RestoreOptions restore;
  restore.backup_directory = directory;
  restore.backup_id = backup.backup_id();
  restore.data_directory = folder.path();
  restore.encryption_keys = engine.environment().keys();
  restore.log = engine.options().log;
  restore.cancellation = cancellation.get();
  ITEMDB_RETURN_IF_ERROR(RestoreDatabase(restore).status());
  if (cancellation != nullptr) ITEMDB_RETURN_IF_ERROR(cancellation->Check());

  DatabaseOptions options;
  options.data_directory = folder.path();
  options.encryption_keys = restore.encryption_keys;
  options.block_cache_bytes = kProofCacheBytes;
  options.memtable_bytes = kProofMemtableBytes;
  options.free_space_floor_bytes = engine.options().free_space_floor_bytes;
  options.change_retention = std::chrono::milliseconds(0);
  options.io_threads = 1;
  options.log = engine.options().log;
  v1::CheckDatabaseReply checked;
  {
    ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, Database::Open(std::move(options)));
    ITEMDB_ASSIGN_OR_RETURN(checked, Check(*database, cancellation));
  }
  if (checked.finding_count() > 0) {
    return DataLossError("backup " + std::to_string(backup.backup_id()) +
                         " was restored, and its check has " + std::to_string(checked.finding_count()) +
                         " findings, for example: " + checked.findings(0));
  }
  ITEMDB_RETURN_IF_ERROR(NoteProof(engine, backup, BackupClockMicros(engine)));
  engine.options().log->info("backup proven: it was restored and checked backup_id={} items={} entries={}",
                             backup.backup_id(), checked.items_checked(), checked.index_entries_checked());
  return backup;
}

}  // namespace itemdb::storage
