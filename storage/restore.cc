#include "storage/restore.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "storage/archive/replay.h"
#include "storage/backup/backup_directory.h"
#include "storage/backup/stoppable_env.h"
#include "storage/base/uuid.h"
#include "storage/encryption/environment.h"
#include "storage/engine/durability_watermark.h"
#include "storage/engine/load_catalog.h"
#include "storage/engine/recovery.h"
#include "storage/standby/standby_position.h"
#include "storage/store/catalog_records.h"
#include "storage/store/durable_file.h"
#include "storage/store/sequence_key.h"

namespace itemdb::storage {
namespace {

namespace fs = std::filesystem;

// The files are copied here first. While it exists, the directory is no database.
constexpr char kUnfinished[] = "restoring";
// Commits are replayed with little memory: nobody reads meanwhile.
constexpr size_t kReplayCacheBytes = 16 << 20;
constexpr size_t kReplayMemtableBytes = 64 << 20;

const Cancellation& CancellationOf(const RestoreOptions& options) {
  static const Cancellation kNever;
  return options.cancellation == nullptr ? kNever : *options.cancellation;
}

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

// A plain backup or archive is restored with and without keys.
absl::Status OpenSource(const std::string& directory, const EncryptionKeys& keys, Environment* environment) {
  return environment->Open(directory, IsEncrypted(directory) ? keys : EncryptionKeys());
}

// What is restored: a backup, and with an archive the commits after it.
struct RestorePlan {
  v1::DatabaseBackup backup;
  std::optional<ReplayPlan> replay = std::nullopt;
};

// The backups that may be restored, the best first.
absl::StatusOr<std::vector<v1::DatabaseBackup>> Candidates(const BackupDirectory& directory,
                                                           const RestoreOptions& options) {
  if (options.backup_id != 0 || options.archive_directory.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(v1::DatabaseBackup only, directory.Find(options.backup_id));
    return std::vector<v1::DatabaseBackup>{std::move(only)};
  }
  std::vector<v1::DatabaseBackup> backups;
  for (v1::DatabaseBackup& backup : directory.List()) {
    const bool is_later = (options.to_change.has_value() && backup.change_sequence() > *options.to_change) ||
                          (options.to_time_us.has_value() && backup.begin_time_us() > *options.to_time_us);
    if (!is_later && backup.archive_chain_id() != 0) backups.push_back(std::move(backup));
  }
  std::reverse(backups.begin(), backups.end());
  if (!backups.empty()) return backups;
  return MakeError(
      absl::StatusCode::kOutOfRange, kReasonRestorePointUnknown,
      "no backup in " + options.backup_directory +
          " is from before the commit that is wanted; 'itemctl backup list' shows what there is");
}

// All plans that lead to what is wanted, the best first. Not empty. The first error if there is none.
absl::StatusOr<std::vector<RestorePlan>> MakePlans(rocksdb::Env* env, rocksdb::Env* archive_env,
                                                   const RestoreOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(
      const BackupDirectory directory,
      BackupDirectory::OpenReadOnly({.backups = env, .database = env}, options.backup_directory));
  ITEMDB_ASSIGN_OR_RETURN(std::vector<v1::DatabaseBackup> candidates, Candidates(directory, options));
  std::vector<RestorePlan> plans;
  if (options.archive_directory.empty()) {
    plans.push_back({.backup = std::move(candidates.front())});
    return plans;
  }
  ITEMDB_ASSIGN_OR_RETURN(const ArchiveContents archive, ReadArchive(archive_env, options.archive_directory));
  absl::Status first_error;
  for (v1::DatabaseBackup& backup : candidates) {
    absl::StatusOr<ReplayPlan> replay = PlanReplay(
        archive_env, options.archive_directory, archive, backup.archive_chain_id(), backup.store_sequence(),
        {.change = options.to_change, .time_us = options.to_time_us}, CancellationOf(options));
    ITEMDB_RETURN_IF_ERROR(CancellationOf(options).Check());
    if (replay.ok()) {
      plans.push_back({.backup = std::move(backup), .replay = *std::move(replay)});
    } else {
      first_error.Update(replay.status());
      // An older backup leads to the same commit.
      if (absl::IsInvalidArgument(replay.status())) return replay.status();
    }
  }
  if (plans.empty()) return first_error;
  return plans;
}

// The last change of the change log; 0 if it is empty.
absl::StatusOr<uint64_t> LastChange(const Store& store) {
  const std::unique_ptr<rocksdb::Iterator> it = store.NewIterator(rocksdb::ReadOptions(), store.changes());
  it->SeekToLast();
  if (!it->status().ok()) return FromRocksDB("cannot read the change log", it->status());
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t start, ReadCatalogNumber(store, kChangesStartKey, 1));
  const std::optional<uint64_t> last = it->Valid() ? ParseSequenceKey(ToView(it->key())) : std::nullopt;
  return std::max(last.value_or(0), start - 1);
}

// Replays the commits of `plan` on the store in `files`. std::nullopt: the store is behind the end of the
// plan, because commits went on while the backup was made.
absl::StatusOr<std::optional<Replayed>> ReplayOn(const std::string& files, rocksdb::Env* env,
                                                 rocksdb::Env* archive_env, const ReplayPlan& plan,
                                                 const RestoreOptions& options) {
  StoreOptions store_options;
  store_options.path = files;
  store_options.env = env;
  store_options.log = options.log;
  store_options.block_cache_bytes = kReplayCacheBytes;
  store_options.memtable_bytes = kReplayMemtableBytes;
  ITEMDB_ASSIGN_OR_RETURN(const std::shared_ptr<Store> store, Store::Open(store_options));
  if (store->db()->GetLatestSequenceNumber() > plan.store_at_most &&
      (plan.through_sequence != 0 || options.to_time_us.has_value()))
    return std::nullopt;
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t before, LastChange(*store));
  if (options.to_change.has_value() && before > *options.to_change) return std::nullopt;
  const uint64_t sequence = store->db()->GetLatestSequenceNumber();
  Replayed replayed;
  if (plan.through_sequence != 0) {
    ITEMDB_ASSIGN_OR_RETURN(
        replayed, Replay(archive_env, options.archive_directory, plan, *store, CancellationOf(options)));
  }
  ITEMDB_ASSIGN_OR_RETURN(replayed.end.change, LastChange(*store));
  if (options.to_change.has_value() && replayed.end.change != *options.to_change) {
    return DataLossError("the database was restored to change " + std::to_string(replayed.end.change) +
                         " and not to change " + std::to_string(*options.to_change));
  }
  if (options.as_standby) {
    ITEMDB_RETURN_IF_ERROR(WriteStandbyPosition(
        {.chain_id = plan.chain.id, .sequence = std::max(sequence, plan.through_sequence)}, *store));
  }
  return replayed;
}

// A newer program may have made the backup or written the archive. Its tables are not opened by this one.
absl::Status CheckTablesAreKnown(const std::string& files, rocksdb::Env* env, const RestoreOptions& options) {
  StoreOptions store_options;
  store_options.path = files;
  store_options.env = env;
  store_options.log = options.log;
  store_options.block_cache_bytes = kReplayCacheBytes;
  const absl::StatusOr<std::shared_ptr<Store>> store = Store::OpenReadOnly(store_options, /*log=*/nullptr);
  // What cannot be opened so may be opened by a recovery, which checks the same.
  return store.ok() ? CheckDefinitionsAreKnown(**store) : absl::OkStatus();
}

// Deletes what an interrupted restore has left.
void DeleteUnfinished(const std::string& directory) {
  std::error_code ignored;
  fs::remove_all(directory + "/" + kUnfinished, ignored);
  fs::remove(directory + "/" + kEncryptionFileName, ignored);
}

void LogPlan(const RestorePlan& plan, const RestoreOptions& options) {
  const v1::DatabaseBackup& backup = plan.backup;
  const auto time = [](int64_t time_us) {
    return absl::FormatTime(absl::FromUnixMicros(time_us), absl::UTCTimeZone());
  };
  options.log->info(
      "restoring backup_id={} of_database={} made_at={} change_sequence={} bytes={} data_dir={}",
      backup.backup_id(), backup.database_id(), time(backup.begin_time_us()), backup.change_sequence(),
      backup.size_bytes(), options.data_directory);
  if (!plan.replay.has_value() || plan.replay->through_sequence == 0) return;
  options.log->info("then the commits of the archive up to change_sequence={} committed_at={} archive={}",
                    plan.replay->end.change, time(plan.replay->end.commit_time_us),
                    options.archive_directory);
}

// Opens the directories of the backups and of the archive, if there is one.
absl::Status OpenSources(const RestoreOptions& options, Environment* source, Environment* archive) {
  ITEMDB_RETURN_IF_ERROR(OpenSource(options.backup_directory, options.encryption_keys, source));
  if (options.archive_directory.empty()) return absl::OkStatus();
  return OpenSource(options.archive_directory, options.encryption_keys, archive);
}

}  // namespace

absl::StatusOr<FoundRestorePoint> FindRestorePoint(const RestoreOptions& options) {
  Environment source(/*file_system=*/nullptr);
  Environment archive(/*file_system=*/nullptr);
  ITEMDB_RETURN_IF_ERROR(OpenSources(options, &source, &archive));
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<RestorePlan> plans,
                          MakePlans(source.env(), archive.env(), options));
  const RestorePlan& best = plans.front();
  // These changes were committed before the backup began.
  FoundRestorePoint found{.change_sequence = best.backup.change_sequence(),
                          .commit_time_us = best.backup.begin_time_us()};
  if (best.replay.has_value()) {
    const CommitPosition& end = best.replay->end;
    if (end.change > found.change_sequence || end.commit_time_us != 0)
      found = {.change_sequence = end.change, .commit_time_us = end.commit_time_us};
  }
  return found;
}

absl::StatusOr<RestoredDatabase> RestoreDatabase(const RestoreOptions& options) {
  const std::string& directory = options.data_directory;
  Environment source(/*file_system=*/nullptr);
  Environment archive(/*file_system=*/nullptr);
  Environment target(/*file_system=*/nullptr);
  ITEMDB_RETURN_IF_ERROR(OpenSources(options, &source, &archive));
  // Before anything is made in the data directory.
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<RestorePlan> plans,
                          MakePlans(source.env(), archive.env(), options));
  ITEMDB_ASSIGN_OR_RETURN(const auto lock, DirectoryLock::Acquire(target.plain(), directory));
  ITEMDB_RETURN_IF_ERROR(CheckEmpty(directory));
  DeleteUnfinished(directory);
  ITEMDB_RETURN_IF_ERROR(target.Open(directory, options.encryption_keys));
  ITEMDB_RETURN_IF_ERROR(target.Mark(directory));
  rocksdb::Env* const env = target.env();
  const std::unique_ptr<rocksdb::Env> stoppable = MakeStoppableEnv(env, CancellationOf(options));
  ITEMDB_ASSIGN_OR_RETURN(
      const BackupDirectory backups,
      BackupDirectory::OpenReadOnly({.backups = source.env(), .database = stoppable.get()},
                                    options.backup_directory, options.bytes_per_second));
  const std::string files = directory + "/" + kUnfinished;
  RestoredDatabase restored;
  bool is_done = false;
  for (size_t i = 0; i < plans.size() && !is_done; ++i) {
    LogPlan(plans[i], options);
    restored.backup = plans[i].backup;
    restored.change_sequence = restored.backup.change_sequence();
    absl::Status made = backups.CopyTo(restored.backup, files);
    if (!made.ok()) {
      if (absl::Status cancelled = CancellationOf(options).Check(); !cancelled.ok()) made = cancelled;
    }
    is_done = !plans[i].replay.has_value();
    if (made.ok() && !is_done) {
      const absl::StatusOr<std::optional<Replayed>> replayed =
          ReplayOn(files, env, archive.env(), *plans[i].replay, options);
      made = replayed.status();
      is_done = replayed.ok() && replayed->has_value();
      if (is_done) {
        restored.change_sequence = (*replayed)->end.change;
        restored.commit_time_us = (*replayed)->end.commit_time_us;
        restored.replayed_groups = (*replayed)->groups;
        restored.needs_rebuild = (*replayed)->needs_rebuild;
      }
    }
    if (!made.ok() || !is_done) DeleteUnfinished(directory);
    ITEMDB_RETURN_IF_ERROR(made);
    if (is_done) {
      if (absl::Status known = CheckTablesAreKnown(files, env, options); !known.ok()) {
        DeleteUnfinished(directory);
        return known;
      }
    }
    // An older backup is next.
    if (!is_done) ITEMDB_RETURN_IF_ERROR(target.Mark(directory));
  }
  if (!is_done) {
    return MakeError(absl::StatusCode::kOutOfRange, kReasonRestorePointUnknown,
                     "the commit that is wanted was made while backup " +
                         std::to_string(restored.backup.backup_id()) +
                         " was, and there is no older backup to begin with");
  }
  // The watermark first: without it, or without rocksdb/, nothing opens the directory.
  ITEMDB_RETURN_IF_ERROR(
      WriteWatermark(env, directory, {.database_id = NewUuid(), .sequence = restored.change_sequence}));
  if (const rocksdb::Status renamed = env->RenameFile(files, directory + "/rocksdb"); !renamed.ok())
    return FromRocksDB("cannot finish the restore", renamed);
  if (const rocksdb::Status synced = SyncDirectory(env, directory); !synced.ok())
    return FromRocksDB("cannot finish the restore", synced);
  options.log->info("restored backup_id={} change_sequence={} replayed_groups={}",
                    restored.backup.backup_id(), restored.change_sequence, restored.replayed_groups);
  return restored;
}

}  // namespace itemdb::storage
