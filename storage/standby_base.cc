#include "storage/standby_base.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "storage/api/primary_link.h"
#include "storage/archive/archive_directory.h"
#include "storage/engine/durability_watermark.h"
#include "storage/engine/engine.h"
#include "storage/engine/recovery.h"
#include "storage/indexes/rebuild.h"
#include "storage/restore.h"
#include "storage/store/durable_file.h"

namespace itemdb::storage {
namespace {

namespace fs = std::filesystem;

// The base is opened only to compute what is derived from items.
constexpr size_t kRebuildCacheBytes = 16 << 20;
constexpr size_t kRebuildMemtableBytes = 32 << 20;

std::string BaseFolder(const DatabaseOptions& options) { return options.data_directory + "/standby-base"; }

absl::Status BaseFileError(const std::string& what, const std::error_code& error) {
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, what + ": " + error.message());
}

absl::Status DeleteAll(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error ? BaseFileError("cannot delete " + path, error) : absl::OkStatus();
}

}  // namespace

absl::Status MakeStandbyBase(const DatabaseOptions& options, const Cancellation& cancellation) {
  const std::string folder = BaseFolder(options);
  ITEMDB_RETURN_IF_ERROR(DeleteAll(folder));
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return BaseFileError("cannot make " + folder, error);
  if (options.primary_link != nullptr)
    ITEMDB_RETURN_IF_ERROR(options.primary_link->FetchBackup(cancellation));
  RestoreOptions restore;
  restore.backup_directory = options.standby_backups;
  restore.archive_directory = options.standby_archive;
  restore.as_standby = true;
  restore.data_directory = folder;
  restore.encryption_keys = options.encryption_keys;
  restore.log = options.log;
  restore.cancellation = &cancellation;
  const absl::StatusOr<RestoredDatabase> restored_or = RestoreDatabase(restore);
  // A copy that is damaged is not used again.
  if (options.primary_link != nullptr && (restored_or.ok() || absl::IsDataLoss(restored_or.status())))
    options.primary_link->DropBackup();
  ITEMDB_ASSIGN_OR_RETURN(const RestoredDatabase restored, restored_or);
  ITEMDB_RETURN_IF_ERROR(cancellation.Check());
  if (!restored.needs_rebuild) return absl::OkStatus();
  DatabaseOptions base;
  base.data_directory = folder;
  base.encryption_keys = options.encryption_keys;
  base.block_cache_bytes = kRebuildCacheBytes;
  base.memtable_bytes = kRebuildMemtableBytes;
  base.free_space_floor_bytes = options.free_space_floor_bytes;
  base.io_threads = 1;
  base.log = options.log;
  ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, Engine::Open(std::move(base)));
  return RebuildDerived(*engine);
}

absl::Status PrepareStandby(const DatabaseOptions& options, const Cancellation& cancellation) {
  const std::string& directory = options.data_directory;
  Environment environment(options.file_system);
  ITEMDB_ASSIGN_OR_RETURN(const auto lock, DirectoryLock::Acquire(environment.plain(), directory));
  ITEMDB_RETURN_IF_ERROR(environment.Open(directory, options.encryption_keys));
  const bool is_copied = options.primary_link != nullptr;
  const absl::Status fits =
      is_copied ? absl::OkStatus() : CheckDoesNotWaitForStandby(environment.env(), options.standby_archive);
  if (fs::exists(directory + "/rocksdb") && !fs::exists(BaseFolder(options) + "/rocksdb")) {
    // It may be needed to be promoted.
    if (!fits.ok()) options.log->warn("the standby does not fit its primary error={}", MessageOf(fits));
    return absl::OkStatus();
  }
  ITEMDB_RETURN_IF_ERROR(fits);
  ITEMDB_RETURN_IF_ERROR(environment.Mark(directory));
  if (!fs::exists(BaseFolder(options) + "/rocksdb")) {
    options.log->info("a new standby: restoring a backup of the primary backups={} archive={}",
                      options.standby_backups, options.standby_archive);
    ITEMDB_RETURN_IF_ERROR(MakeStandbyBase(options, cancellation));
  }
  return InstallStandbyBase(environment, options, /*database_id=*/"");
}

absl::Status InstallStandbyBase(const Environment& environment, const DatabaseOptions& options,
                                const std::string& database_id) {
  const std::string folder = BaseFolder(options);
  const std::string& directory = options.data_directory;
  rocksdb::Env* const env = environment.env();
  if (!fs::exists(folder + "/rocksdb")) return DeleteAll(folder);
  ITEMDB_ASSIGN_OR_RETURN(const auto watermark, ReadWatermark(env, folder));
  if (!watermark.has_value()) return DataLossError("the standby's base in " + folder + " has no WATERMARK");
  // They tell of the store that goes.
  for (const char* name : {"/SYNCED", "/CATALOG", "/rocksdb"})
    ITEMDB_RETURN_IF_ERROR(DeleteAll(directory + name));
  ITEMDB_RETURN_IF_ERROR(
      WriteWatermark(env, directory,
                     {.database_id = database_id.empty() ? watermark->database_id : database_id,
                      .sequence = watermark->sequence}));
  if (const rocksdb::Status renamed = env->RenameFile(folder + "/rocksdb", directory + "/rocksdb");
      !renamed.ok())
    return FromRocksDB("cannot install the standby's base", renamed);
  if (const rocksdb::Status synced = SyncDirectory(env, directory); !synced.ok())
    return FromRocksDB("cannot install the standby's base", synced);
  return DeleteAll(folder);
}

}  // namespace itemdb::storage
