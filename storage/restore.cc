#include "storage/restore.h"

#include <spdlog/spdlog.h>

#include <filesystem>

#include "absl/time/time.h"
#include "storage/backup/backup_directory.h"
#include "storage/base/uuid.h"
#include "storage/encryption/environment.h"
#include "storage/engine/durability_watermark.h"
#include "storage/engine/recovery.h"
#include "storage/store/durable_file.h"

namespace itemdb::storage {
namespace {

namespace fs = std::filesystem;

// The files are copied here first. While it exists, the directory is no database.
constexpr char kUnfinished[] = "restoring";

absl::Status CheckEmpty(const std::string& directory) {
  std::error_code error;
  const bool interrupted = fs::exists(directory + "/" + kUnfinished, error);
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    if (name == kLockFileName || name == "lost+found" || name == kUnfinished ||
        name.starts_with(kEncryptionFileName))
      continue;
    // The last step of a restore was interrupted.
    if (interrupted && name.starts_with(kWatermarkFileName)) continue;
    return MakeError(absl::StatusCode::kFailedPrecondition, kReasonDataDirectoryForeign,
                     directory + " is not empty (for example, it has " + name +
                         "); a backup is restored into an empty directory or a new one");
  }
  if (!error) return absl::OkStatus();
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                   "cannot read " + directory + ": " + error.message());
}

// A plain backup is restored with and without keys.
absl::Status OpenBackups(const RestoreOptions& options, Environment* environment) {
  const bool is_encrypted = IsEncrypted(options.backup_directory);
  return environment->Open(options.backup_directory,
                           is_encrypted ? options.encryption_keys : EncryptionKeys());
}

absl::StatusOr<v1::DatabaseBackup> FindBackup(rocksdb::Env* env, const RestoreOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(
      const BackupDirectory backups,
      BackupDirectory::OpenReadOnly({.backups = env, .database = env}, options.backup_directory));
  return backups.Find(options.backup_id);
}

// Deletes what an interrupted restore has left.
void DeleteUnfinished(const std::string& directory) {
  std::error_code ignored;
  fs::remove_all(directory + "/" + kUnfinished, ignored);
  fs::remove(directory + "/" + kEncryptionFileName, ignored);
}

}  // namespace

absl::StatusOr<v1::DatabaseBackup> RestoreDatabase(const RestoreOptions& options) {
  const std::string& directory = options.data_directory;
  Environment source(/*file_system=*/nullptr);
  Environment target(/*file_system=*/nullptr);
  ITEMDB_RETURN_IF_ERROR(OpenBackups(options, &source));
  // Before anything is made in the data directory.
  ITEMDB_ASSIGN_OR_RETURN(v1::DatabaseBackup backup, FindBackup(source.env(), options));
  ITEMDB_ASSIGN_OR_RETURN(const auto lock, DirectoryLock::Acquire(target.plain(), directory));
  ITEMDB_RETURN_IF_ERROR(CheckEmpty(directory));
  DeleteUnfinished(directory);
  ITEMDB_RETURN_IF_ERROR(target.Open(directory, options.encryption_keys));
  ITEMDB_RETURN_IF_ERROR(target.Mark(directory));
  rocksdb::Env* const env = target.env();
  ITEMDB_ASSIGN_OR_RETURN(
      const BackupDirectory backups,
      BackupDirectory::OpenReadOnly({.backups = source.env(), .database = env}, options.backup_directory));
  options.log->info(
      "restoring backup_id={} of_database={} made_at={} change_sequence={} bytes={} data_dir={}",
      backup.backup_id(), backup.database_id(),
      absl::FormatTime(absl::FromUnixMicros(backup.begin_time_us()), absl::UTCTimeZone()),
      backup.change_sequence(), backup.size_bytes(), directory);
  const std::string files = directory + "/" + kUnfinished;
  if (absl::Status copied = backups.CopyTo(backup, files); !copied.ok()) {
    DeleteUnfinished(directory);
    return copied;
  }
  // The watermark first: without it, or without rocksdb/, nothing opens the directory.
  ITEMDB_RETURN_IF_ERROR(
      WriteWatermark(env, directory, {.database_id = NewUuid(), .sequence = backup.change_sequence()}));
  if (const rocksdb::Status renamed = env->RenameFile(files, directory + "/rocksdb"); !renamed.ok())
    return FromRocksDB("cannot finish the restore", renamed);
  if (const rocksdb::Status synced = SyncDirectory(env, directory); !synced.ok())
    return FromRocksDB("cannot finish the restore", synced);
  options.log->info("restored backup_id={}", backup.backup_id());
  return backup;
}

}  // namespace itemdb::storage
