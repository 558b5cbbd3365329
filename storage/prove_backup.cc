#include "storage/prove_backup.h"

#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "storage/backup/backup_operations.h"
#include "storage/backup/paced_file_system.h"
#include "storage/base/background_thread.h"
#include "storage/indexes/check.h"
#include "storage/restore.h"
#include "storage/scratch_folder.h"

namespace itemdb::storage {
namespace {

// Nobody else reads this database.
constexpr size_t kProofCacheBytes = 16 << 20;
constexpr size_t kProofMemtableBytes = 16 << 20;
// How fast a proof that nobody waits for copies and reads, unless backups have a bound.
constexpr int64_t kQuietBytesPerSecond = 32 << 20;
// Below three times the floor itemdb's alerts warn that the disk fills up.
constexpr uint64_t kFloorsToBegin = 3;
constexpr uint64_t kFloorsToGoOn = 2;
constexpr std::chrono::seconds kDiskInterval(1);

absl::StatusOr<v1::DatabaseBackup> FindBackup(const Engine& engine, uint32_t backup_id) {
  ITEMDB_ASSIGN_OR_RETURN(const v1::ListDatabaseBackupsReply listed, ListBackups(engine));
  for (auto backup = listed.backups().rbegin(); backup != listed.backups().rend(); ++backup)
    if (backup_id == 0 || backup->backup_id() == backup_id) return *backup;
  return MakeError(absl::StatusCode::kNotFound, kReasonResourceNotFound,
                   backup_id == 0
                       ? "there is no backup in " + listed.directory()
                       : "there is no backup " + std::to_string(backup_id) + " in " + listed.directory());
}

absl::StatusOr<v1::CheckDatabaseReply> Check(Engine& engine, const CancellationPtr& cancellation) {
  std::promise<absl::StatusOr<v1::CheckDatabaseReply>> promise;
  std::future<absl::StatusOr<v1::CheckDatabaseReply>> future = promise.get_future();
  CheckDatabase(
      engine, {},
      [&promise](absl::StatusOr<v1::CheckDatabaseReply> reply) { promise.set_value(std::move(reply)); },
      cancellation);
  return future.get();
}

// `bytes_per_second` 0: no bound. Errors as ProveBackup, but for the space of the disk.
absl::Status RestoreAndCheck(const Engine& engine, const v1::DatabaseBackup& backup,
                             const ScratchFolder& folder, int64_t bytes_per_second,
                             const CancellationPtr& cancellation) {
  const auto begin = std::chrono::steady_clock::now();
  RestoreOptions restore;
  restore.backup_directory = BackupDirectoryOf(engine);
  restore.backup_id = backup.backup_id();
  restore.data_directory = folder.path();
  restore.encryption_keys = engine.environment().keys();
  restore.log = engine.options().log;
  restore.bytes_per_second = bytes_per_second;
  restore.cancellation = cancellation.get();
  ITEMDB_RETURN_IF_ERROR(RestoreDatabase(restore).status());
  ITEMDB_RETURN_IF_ERROR(CheckNotCancelled(cancellation));

  DatabaseOptions options;
  options.data_directory = folder.path();
  options.encryption_keys = restore.encryption_keys;
  options.block_cache_bytes = kProofCacheBytes;
  options.memtable_bytes = kProofMemtableBytes;
  options.free_space_floor_bytes = engine.options().free_space_floor_bytes;
  options.io_threads = 1;
  options.compacts = false;
  options.log = engine.options().log;
  if (bytes_per_second > 0)
    options.file_system = MakePacedFileSystem(rocksdb::FileSystem::Default(), bytes_per_second, cancellation);
  v1::CheckDatabaseReply checked;
  {
    // Not a Database: it would delete expired items, build indexes, and go on with imports and exports.
    ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> restored, Engine::Open(std::move(options)));
    ITEMDB_ASSIGN_OR_RETURN(checked, Check(*restored, cancellation));
  }
  if (checked.finding_count() > 0) {
    return DataLossError("backup " + std::to_string(backup.backup_id()) +
                         " was restored, and its check has " + std::to_string(checked.finding_count()) +
                         " findings, for example: " + checked.findings(0));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  engine.options().log->info(
      "backup proven: it was restored and checked backup_id={} items={} entries={} seconds={:.1f}",
      backup.backup_id(), checked.items_checked(), checked.index_entries_checked(), took.count());
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> FreeBytesOf(const Engine& engine, const std::string& directory) {
  uint64_t free = 0;
  const rocksdb::Status known = engine.environment().plain()->GetFreeSpace(directory, &free);
  if (known.ok()) return free;
  return FromRocksDB("the free space of " + directory + " is not known", known);
}

absl::Status CheckRoom(const Engine& engine, const v1::DatabaseBackup& backup, const std::string& directory,
                       uint64_t takes, uint64_t floors) {
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t free, FreeBytesOf(engine, directory));
  const uint64_t stays = floors * engine.options().free_space_floor_bytes;
  if (free >= stays + takes) return absl::OkStatus();
  return MakeError(
      absl::StatusCode::kResourceExhausted, kReasonDiskFull,
      absl::StrCat("backup ", backup.backup_id(), " is not proven for lack of space: to restore it beside ",
                   "the backups takes ", backup.size_bytes(), " bytes on the disk of ", directory,
                   ", which has ", free, " free, of which ", stays, " stay free"));
}

}  // namespace

absl::StatusOr<v1::DatabaseBackup> ProveBackup(Engine& engine, uint32_t backup_id,
                                               const CancellationPtr& cancellation) {
  ITEMDB_ASSIGN_OR_RETURN(const v1::DatabaseBackup backup, FindBackup(engine, backup_id));
  ITEMDB_RETURN_IF_ERROR(CheckRoomToRestore(engine, backup.size_bytes()));
  const ScratchFolder folder(engine, kProofFolder);
  const absl::Status proven = RestoreAndCheck(engine, backup, folder, /*bytes_per_second=*/0, cancellation);
  if (absl::IsDataLoss(proven)) NoteDamage(engine, backup);
  ITEMDB_RETURN_IF_ERROR(proven);
  ITEMDB_RETURN_IF_ERROR(NoteProof(engine, backup, BackupClockMicros(engine)));
  return backup;
}

absl::Status ProveScheduledBackup(const Engine& engine, const v1::DatabaseBackup& backup,
                                  const CancellationPtr& cancellation) {
  const std::string directory = BackupDirectoryOf(engine);
  ITEMDB_RETURN_IF_ERROR(
      CheckRoom(engine, backup, directory, static_cast<uint64_t>(backup.size_bytes()), kFloorsToBegin));
  const auto stop = std::make_shared<Cancellation>(cancellation, /*trace=*/nullptr);
  std::atomic<bool> is_full = false;
  BackgroundThread watcher;
  watcher.Start([&] {
    while (watcher.WaitFor(kDiskInterval)) {
      if (CheckRoom(engine, backup, directory, /*takes=*/0, kFloorsToGoOn).ok()) continue;
      is_full = true;
      return stop->Cancel();
    }
  });
  const int64_t bound = engine.options().backup_bytes_per_second;
  absl::Status proven;
  {
    const ScratchFolder folder(ScheduledProofFolderOf(engine));
    proven = RestoreAndCheck(engine, backup, folder, bound > 0 ? bound : kQuietBytesPerSecond, stop);
  }
  watcher.Stop();
  if (absl::IsCancelled(proven) && is_full) {
    return MakeError(
        absl::StatusCode::kResourceExhausted, kReasonDiskFull,
        absl::StrCat("backup ", backup.backup_id(), " is not proven: the disk of ", directory, " came below ",
                     kFloorsToGoOn, " times the free-space floor while it was restored there"));
  }
  return proven;
}

}  // namespace itemdb::storage
