#include "storage/engine/recovery.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "spdlog/spdlog.h"
#include "storage/base/uuid.h"
#include "storage/encryption/environment.h"
#include "storage/engine/ballast.h"
#include "storage/engine/completeness.h"
#include "storage/engine/last_good.h"
#include "storage/engine/load_catalog.h"
#include "storage/engine/quarantine.h"
#include "storage/engine/synced_sequence.h"
#include "storage/engine/torn_tail.h"
#include "storage/store/durable_file.h"

namespace itemdb::storage {
namespace {

absl::Status SyncEntries(rocksdb::Env* env, const std::string& directory) {
  const rocksdb::Status status = SyncDirectory(env, directory);
  if (!status.ok()) return FromRocksDB("cannot sync " + directory, status);
  return absl::OkStatus();
}

// FAILED_PRECONDITION: `directory`, which has neither watermark nor store, is not empty.
absl::Status CheckIsEmpty(rocksdb::Env* env, const std::string& directory) {
  std::vector<std::string> entries;
  (void)env->GetChildren(directory, &entries);
  for (const std::string& entry : entries) {
    if (entry == "." || entry == ".." || entry == kLockFileName || entry == "lost+found" ||
        entry == std::string(kWatermarkFileName) + ".next" || entry.starts_with(kEncryptionFileName)) {
      continue;
    }
    return MakeError(absl::StatusCode::kFailedPrecondition, kReasonDataDirectoryForeign,
                     directory + " holds files that are no itemdb database (for example " + entry +
                         "); give an empty directory or one made by itemd");
  }
  return absl::OkStatus();
}

// DATA_LOSS: the watermark of a directory with a store says that the store is not complete, or is missing.
absl::Status CheckWatermark(const std::string& directory,
                            const std::optional<DurabilityWatermark>& watermark) {
  const std::string path = directory + "/" + kWatermarkFileName;
  if (!watermark.has_value()) {
    return DataLossError(path + " is missing, so nothing says whether rocksdb/ is complete; restore it or " +
                         NextCommand());
  }
  if (watermark->recovering != 0) {
    return DataLossError("a recovery of " + directory + " was begun and not finished (" + path +
                         " says so); start with --recover=last-good to finish it");
  }
  return absl::OkStatus();
}

// As CheckNothingIsMissing. Sets options->manifest and options->wal_recovery_mode so that torn tails of the
// MANIFEST and of the write-ahead log are left out.
absl::Status CheckUpToTornTails(const std::string& directory, const DurabilityWatermark& watermark,
                                CheckDepth depth, StoreOptions* options) {
  const absl::Status complete = CheckNothingIsMissing(directory, *options, watermark, depth);
  if (!absl::IsDataLoss(complete)) return complete;
  StoreOptions up_to_damage = *options;
  const char* torn = "the write-ahead log ends";
  absl::Status checked = complete;
  if (std::optional<ReadManifest> manifest = WithoutTornTail(options->env, options->path);
      manifest.has_value()) {
    torn = "the MANIFEST ends";
    up_to_damage.manifest = *std::move(manifest);
    checked = CheckNothingIsMissing(directory, up_to_damage, watermark, depth);
  }
  if (absl::IsDataLoss(checked) && IsTornTail(up_to_damage)) {
    if (!up_to_damage.manifest.name.empty()) torn = "the MANIFEST and the write-ahead log end";
    up_to_damage.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
    checked = CheckNothingIsMissing(directory, up_to_damage, watermark, depth);
  }
  if (!checked.ok()) return complete;
  options->log->warn("{} in bytes that were never synced; they are dropped error={}", torn,
                     MessageOf(complete));
  *options = std::move(up_to_damage);
  return absl::OkStatus();
}

// Opens a directory from which nothing is missing, or makes a database in an empty one.
absl::StatusOr<Recovered> OpenComplete(const std::string& directory, StoreOptions options, bool has_store,
                                       std::optional<DurabilityWatermark> watermark, CheckDepth depth) {
  Recovered recovered;
  if (has_store) {
    ITEMDB_RETURN_IF_ERROR(CheckWatermark(directory, watermark));
    recovered.watermark = *watermark;
    ITEMDB_RETURN_IF_ERROR(CheckUpToTornTails(directory, recovered.watermark, depth, &options));
  } else if (watermark.has_value()) {
    recovered.watermark = *watermark;
  } else {
    // Before RocksDB's files are made: after a crash the directory must be recognised as one of itemdb.
    recovered.watermark.database_id = NewUuid();
    ITEMDB_RETURN_IF_ERROR(WriteWatermark(options.env, directory, recovered.watermark));
  }
  (void)options.env->CreateDirIfMissing(options.path);
  if (options.before_opening) options.before_opening();
  ITEMDB_ASSIGN_OR_RETURN(recovered.start.store, OpenWithBallast(directory, options));
  if (!has_store) ITEMDB_RETURN_IF_ERROR(SyncEntries(options.env, directory));
  ITEMDB_RETURN_IF_ERROR(WithNextCommand(directory, LoadCatalog(&recovered)));
  const absl::StatusOr<ChangeLogExtent> extent =
      MeasureChangeLog(*recovered.start.store, recovered.changes_start, {});
  if (!extent.ok()) return WithNextCommand(directory, extent.status());
  recovered.start.last_commit_time_us = extent->last_commit_time_us;
  recovered.start.next_sequence = std::max(extent->last, recovered.changes_start - 1) + 1;
  return recovered;
}

// Whether there are files of a store, perhaps without CURRENT, which RocksDB writes first.
bool HasStore(rocksdb::Env* env, const std::string& path) {
  std::vector<std::string> files;
  (void)env->GetChildren(path, &files);
  return std::any_of(files.begin(), files.end(), [](const std::string& file) {
    return file == "CURRENT" || file.ends_with(".sst") || file.ends_with(".log");
  });
}

// Finishes a recovery with losses that was interrupted, or recovers.
absl::Status ContinueOrRecover(const std::string& directory, const StoreOptions& options,
                               DurabilityWatermark watermark, const absl::Status& damage) {
  if (watermark.recovering != 0) {
    RecoveryFolders folders(options.env, directory);
    ITEMDB_ASSIGN_OR_RETURN(const bool is_finished, folders.Continue(watermark.recovering));
    if (is_finished) {
      options.log->warn("the recovery that was interrupted is finished quarantine={}",
                        folders.Quarantine(watermark.recovering));
      return absl::OkStatus();
    }
    watermark.recovering = 0;
  }
  if (watermark.database_id.empty()) watermark.database_id = NewUuid();
  return RecoverWithLosses(directory, options, watermark, MessageOf(damage));
}

// What the files beside the store say, and whether there is a store.
struct Surroundings {
  absl::StatusOr<std::optional<DurabilityWatermark>> watermark;
  // The watermark, empty when it is missing or damaged; with the sequence of SYNCED if that is higher.
  DurabilityWatermark before;
  bool has_store = false;
};

Surroundings ReadSurroundings(rocksdb::Env* env, const std::string& directory) {
  Surroundings found;
  found.watermark = ReadWatermark(env, directory);
  if (found.watermark.ok()) found.before = found.watermark->value_or(found.before);
  found.before.sequence = std::max(found.before.sequence, SyncedSequence::Read(directory));
  if (found.watermark.ok() && found.watermark->has_value()) *found.watermark = found.before;
  found.has_store = HasStore(env, directory + "/rocksdb");
  return found;
}

// For a directory without a store. OK when a database may be made in it.
absl::Status CheckHadNoStore(rocksdb::Env* env, const std::string& directory, const Surroundings& found) {
  ITEMDB_RETURN_IF_ERROR(found.watermark.status());
  if (!found.watermark->has_value()) ITEMDB_RETURN_IF_ERROR(CheckIsEmpty(env, directory));
  if (found.before.sequence == 0) return absl::OkStatus();
  return DataLossError(directory + "/rocksdb is missing or empty, but changes up to " +
                       std::to_string(found.before.sequence) + " were durable; restore a backup");
}

}  // namespace

absl::StatusOr<DirectoryDamage> FindDamage(const std::string& directory, StoreOptions options) {
  options.path = directory + "/rocksdb";
  const Surroundings found = ReadSurroundings(options.env, directory);
  if (!found.watermark.ok() && !absl::IsDataLoss(found.watermark.status())) return found.watermark.status();
  if (found.before.recovering != 0) return CheckWatermark(directory, found.before);
  if (!found.has_store) {
    ITEMDB_RETURN_IF_ERROR(CheckHadNoStore(options.env, directory, found));
    return MakeError(absl::StatusCode::kFailedPrecondition, kReasonDataDirectoryForeign,
                     directory + " has no database: rocksdb/ is missing or empty");
  }
  ITEMDB_RETURN_IF_ERROR(Store::CheckFamilies(options));
  DirectoryDamage result = {found.before, found.watermark.status()};
  if (result.damage.ok()) result.damage = CheckWatermark(directory, *found.watermark);
  if (result.damage.ok())
    result.damage = CheckUpToTornTails(directory, found.before, CheckDepth::kDerivedData, &options);
  if (!result.damage.ok() && !absl::IsDataLoss(result.damage)) return result.damage;
  return result;
}

absl::StatusOr<Recovered> OpenDirectory(const std::string& directory, StoreOptions options,
                                        bool recover_last_good) {
  options.path = directory + "/rocksdb";
  Surroundings found = ReadSurroundings(options.env, directory);
  auto& watermark = found.watermark;
  if (!watermark.ok() && !(recover_last_good && absl::IsDataLoss(watermark.status())))
    return watermark.status();
  const bool has_store = found.has_store || found.before.recovering != 0;
  if (!has_store) {
    ITEMDB_RETURN_IF_ERROR(CheckHadNoStore(options.env, directory, found));
    return OpenComplete(directory, options, has_store, *watermark, CheckDepth::kChangeLog);
  }
  // First of all: a store of another program must not be changed, whatever the watermark says.
  ITEMDB_RETURN_IF_ERROR(Store::CheckFamilies(options));
  absl::Status damage = watermark.status();
  if (damage.ok()) {
    const CheckDepth depth = recover_last_good ? CheckDepth::kDerivedData : CheckDepth::kChangeLog;
    absl::StatusOr<Recovered> recovered = OpenComplete(directory, options, has_store, *watermark, depth);
    if (recovered.ok()) RecoveryFolders(options.env, directory).Delete();
    if (!recover_last_good || !absl::IsDataLoss(recovered.status())) return recovered;
    damage = recovered.status();
  }
  ITEMDB_RETURN_IF_ERROR(ContinueOrRecover(directory, options, found.before, damage));
  ITEMDB_ASSIGN_OR_RETURN(watermark, ReadWatermark(options.env, directory));
  return OpenComplete(directory, options, has_store, *watermark, CheckDepth::kChangeLog);
}

absl::StatusOr<std::unique_ptr<DirectoryLock>> DirectoryLock::Acquire(rocksdb::Env* env,
                                                                      const std::string& directory) {
  if (env->FileExists(directory).IsNotFound()) {
    if (rocksdb::Status status = env->CreateDirIfMissing(directory); !status.ok()) {
      return FromRocksDB("cannot create the data directory " + directory, status);
    }
    std::filesystem::path path = std::filesystem::absolute(directory);
    if (!path.has_filename()) path = path.parent_path();  // "data/"
    ITEMDB_RETURN_IF_ERROR(SyncEntries(env, path.parent_path()));
  }
  std::string path = directory + "/" + kLockFileName;
  rocksdb::FileLock* lock = nullptr;
  rocksdb::Status status = env->LockFile(path, &lock);
  if (status.ok()) return std::unique_ptr<DirectoryLock>(new DirectoryLock(env, lock));
  std::error_code error;
  // RocksDB does not say whether the file could not be opened or is locked.
  if (access(path.c_str(), W_OK) == 0) {
    return MakeError(absl::StatusCode::kFailedPrecondition, kReasonDataDirectoryInUse,
                     "the data directory " + directory + " is in use by another itemd: " + status.ToString());
  }
  const int cause = errno;
  if (std::filesystem::exists(path, error)) {
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                     "the data directory " + directory + " cannot be written: " + std::strerror(cause));
  }
  return FromRocksDB("cannot lock the data directory " + directory, status);
}

DirectoryLock::~DirectoryLock() { (void)env_->UnlockFile(lock_); }

}  // namespace itemdb::storage
