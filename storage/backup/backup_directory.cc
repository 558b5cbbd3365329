#include "storage/backup/backup_directory.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "rocksdb/utilities/backup_engine.h"
#include "storage/backup/paced_file_system.h"
#include "storage/store/foreign_files.h"

namespace itemdb::storage {
namespace {

// Copying waits for the disk, and reading and writing are different disks where it matters.
constexpr int kCopyingThreads = 2;
// How often a backup asks whether it must stop.
constexpr uint64_t kBytesBetweenCallbacks = 1 << 20;

absl::Status FromBackupEngine(const std::string& what, const rocksdb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  if (status.IsIncomplete())
    return MakeError(absl::StatusCode::kCancelled, kReasonCancelled, what + ": stopped");
  return FromRocksDB(what, status);
}

v1::DatabaseBackup FromInfo(const rocksdb::BackupInfo& info) {
  v1::DatabaseBackup backup;
  // A description that does not decode: the backup was not made by this program.
  if (!backup.ParseFromString(info.app_metadata)) backup.Clear();
  backup.set_backup_id(info.backup_id);
  backup.set_size_bytes(static_cast<int64_t>(info.size));
  backup.set_file_count(info.number_files);
  return backup;
}

}  // namespace

absl::Status CheckIsForBackups(const std::string& path) {
  constexpr std::string_view kOwn[] = {"meta",   "private", "shared",  "shared_checksum",
                                       "tables", "ended",   "resumed", "PROVEN"};
  return CheckHasNoForeignFiles(path, kOwn, "backups");
}

BackupDirectory::BackupDirectory(std::string path, std::unique_ptr<rocksdb::BackupEngineReadOnlyBase> engine,
                                 rocksdb::BackupEngine* writer)
    : path_(std::move(path)), engine_(std::move(engine)), writer_(writer) {}
BackupDirectory::~BackupDirectory() = default;
BackupDirectory::BackupDirectory(BackupDirectory&&) noexcept = default;

absl::StatusOr<BackupDirectory> BackupDirectory::Open(const Environment& environment, const std::string& path,
                                                      int64_t bytes_per_second) {
  ITEMDB_RETURN_IF_ERROR(CheckIsForBackups(path));
  std::error_code error;
  std::filesystem::create_directories(path, error);
  rocksdb::FileLock* lock = nullptr;
  rocksdb::Status locked;
  if (!error) locked = rocksdb::Env::Default()->LockFile(path + "/LOCK", &lock);
  if (error || !locked.ok()) {
    const std::string why = error ? error.message() : locked.ToString();
    const bool is_in_use = !error && std::filesystem::exists(path + "/LOCK", error);
    return MakeError(is_in_use ? absl::StatusCode::kFailedPrecondition : absl::StatusCode::kUnavailable,
                     is_in_use ? kReasonDataDirectoryInUse : kReasonUnavailable,
                     "cannot use the backup directory " + path + ": " + why +
                         (is_in_use ? " (does another itemd use it?)"
                                    : "; under systemd the unit must allow it: ReadWritePaths=" + path));
  }
  std::unique_ptr<rocksdb::FileLock, Unlock> held(lock);
  ITEMDB_RETURN_IF_ERROR(CheckEncryption(path, environment.keys()));
  ITEMDB_RETURN_IF_ERROR(environment.Mark(path));
  auto resumed = std::make_unique<ResumedFiles>(environment.env(), path);
  rocksdb::BackupEngineOptions options(path);
  options.backup_env = resumed->env();
  options.max_background_operations = kCopyingThreads;
  options.callback_trigger_interval_size = kBytesBetweenCallbacks;
  if (bytes_per_second > 0)
    options.backup_rate_limiter = ResumedFiles::Bound(NewByteLimiter(bytes_per_second));
  rocksdb::BackupEngine* engine = nullptr;
  const rocksdb::Status opened = rocksdb::BackupEngine::Open(options, environment.env(), &engine);
  ITEMDB_RETURN_IF_ERROR(FromBackupEngine("cannot open the backup directory " + path, opened));
  BackupDirectory directory(path, std::unique_ptr<rocksdb::BackupEngineReadOnlyBase>(engine), engine);
  directory.lock_ = std::move(held);
  directory.resumed_ = std::move(resumed);
  return directory;
}

absl::StatusOr<BackupDirectory> BackupDirectory::OpenReadOnly(const Environments& environments,
                                                              const std::string& path,
                                                              int64_t bytes_per_second) {
  // BackupEngine keeps the list of backups in this folder.
  if (!std::filesystem::is_directory(path + "/meta")) {
    return MakeError(absl::StatusCode::kNotFound, kReasonResourceNotFound,
                     path + " is no directory with backups");
  }
  rocksdb::BackupEngineReadOnly* engine = nullptr;
  rocksdb::BackupEngineOptions options(path);
  options.backup_env = environments.backups;
  if (bytes_per_second > 0) options.restore_rate_limiter = NewByteLimiter(bytes_per_second);
  const rocksdb::Status opened = rocksdb::BackupEngineReadOnly::Open(options, environments.database, &engine);
  ITEMDB_RETURN_IF_ERROR(FromBackupEngine("cannot open the backup directory " + path, opened));
  return BackupDirectory(path, std::unique_ptr<rocksdb::BackupEngineReadOnlyBase>(engine), nullptr);
}

absl::StatusOr<v1::DatabaseBackup> BackupDirectory::Create(const Store& store,
                                                           const v1::DatabaseBackup& about,
                                                           const std::function<bool()>& stops,
                                                           int64_t* resumed_bytes) {
  std::set<std::string> of_backups;
  for (const v1::DatabaseBackup& other : List()) {
    ITEMDB_RETURN_IF_ERROR(CheckOwner(about.database_id(), other));
    for (std::string& file : FilesOf(other)) of_backups.insert(std::move(file));
  }
  rocksdb::CreateBackupOptions options;
  options.progress_callback = [&] {
    if (stops()) Stop();
  };
  if (stops()) Stop();
  // A backup that is damaged may need files that no other has.
  if (Damaged().empty()) resumed_->Begin(of_backups);
  rocksdb::BackupID id = 0;
  const std::unique_ptr<rocksdb::DB> db = store.DbForBackup();
  const rocksdb::Status created =
      writer_->CreateNewBackupWithMetadata(options, db.get(), about.SerializeAsString(), &id);
  *resumed_bytes = resumed_->bytes();
  resumed_->End();
  if (created.ok()) resumed_->Discard();
  ITEMDB_RETURN_IF_ERROR(FromBackupEngine("no backup was made", created));
  return Find(id);
}

absl::Status BackupDirectory::CheckOwner(const std::string& database_id,
                                         const v1::DatabaseBackup& backup) const {
  if (backup.database_id() == database_id) return absl::OkStatus();
  return MakeError(absl::StatusCode::kFailedPrecondition, kReasonDataDirectoryForeign,
                   path_ + " has backups of the database " + backup.database_id() + ", and this one is " +
                       database_id + "; give each database a --backup-directory of its own");
}

std::vector<v1::DatabaseBackup> BackupDirectory::List() const {
  std::vector<rocksdb::BackupInfo> infos;
  engine_->GetBackupInfo(&infos);
  std::vector<v1::DatabaseBackup> backups;
  for (const rocksdb::BackupInfo& info : infos) backups.push_back(FromInfo(info));
  std::sort(backups.begin(), backups.end(),
            [](const auto& a, const auto& b) { return a.backup_id() < b.backup_id(); });
  return backups;
}

std::vector<uint32_t> BackupDirectory::Damaged() const {
  std::vector<rocksdb::BackupID> ids;
  engine_->GetCorruptedBackups(&ids);
  std::sort(ids.begin(), ids.end());
  return ids;
}

absl::StatusOr<v1::DatabaseBackup> BackupDirectory::Find(uint32_t backup_id) const {
  rocksdb::BackupInfo info;
  const rocksdb::Status found =
      backup_id == 0 ? engine_->GetLatestBackupInfo(&info) : engine_->GetBackupInfo(backup_id, &info);
  if (found.ok()) return FromInfo(info);
  if (found.IsCorruption()) {
    return DataLossError("backup " + std::to_string(backup_id) + " in " + path_ + " is damaged; " +
                         "the list of backups says which ones are whole");
  }
  return MakeError(absl::StatusCode::kNotFound, kReasonResourceNotFound,
                   backup_id == 0 ? "there is no backup in " + path_
                                  : "there is no backup " + std::to_string(backup_id) + " in " + path_);
}

std::vector<std::string> BackupDirectory::FilesOf(const v1::DatabaseBackup& backup) const {
  std::vector<std::string> files;
  rocksdb::BackupInfo info;
  if (!engine_->GetBackupInfo(backup.backup_id(), &info, /*include_file_details=*/true).ok()) return files;
  for (const rocksdb::BackupFileInfo& file : info.file_details) files.push_back(file.relative_filename);
  files.push_back("meta/" + std::to_string(backup.backup_id()));
  return files;
}

BackupDirectory::SharedFiles BackupDirectory::SharedFilesOf(const v1::DatabaseBackup& backup) const {
  std::vector<rocksdb::BackupInfo> infos;
  engine_->GetBackupInfo(&infos, /*include_file_details=*/true);
  std::set<std::string> others;
  for (const rocksdb::BackupInfo& info : infos) {
    if (info.backup_id == backup.backup_id()) continue;
    for (const rocksdb::BackupFileInfo& file : info.file_details) others.insert(file.relative_filename);
  }
  SharedFiles shared;
  for (const rocksdb::BackupInfo& info : infos) {
    if (info.backup_id != backup.backup_id()) continue;
    for (const rocksdb::BackupFileInfo& file : info.file_details) {
      if (!others.contains(file.relative_filename)) continue;
      ++shared.count;
      shared.bytes += static_cast<int64_t>(file.size);
    }
  }
  return shared;
}

absl::Status BackupDirectory::Verify(const v1::DatabaseBackup& backup) const {
  const rocksdb::Status verified = engine_->VerifyBackup(backup.backup_id(), /*verify_with_checksum=*/true);
  // A missing file is NotFound.
  if (verified.IsNotFound())
    return DataLossError("backup " + std::to_string(backup.backup_id()) +
                         " is damaged: " + verified.ToString());
  return FromBackupEngine("backup " + std::to_string(backup.backup_id()) + " is damaged", verified);
}

absl::Status BackupDirectory::Delete(uint32_t backup_id) {
  const rocksdb::Status deleted = writer_->DeleteBackup(backup_id);
  if (deleted.IsNotFound()) {
    return MakeError(absl::StatusCode::kNotFound, kReasonResourceNotFound,
                     "there is no backup " + std::to_string(backup_id) + " in " + path_);
  }
  return FromBackupEngine("cannot delete backup " + std::to_string(backup_id), deleted);
}

void BackupDirectory::DeleteUnfinished() {
  resumed_->Discard();
  // A backup that is damaged may need files that no other has.
  if (Damaged().empty()) (void)writer_->GarbageCollect();
}

void BackupDirectory::Stop() { writer_->StopBackup(); }

absl::Status BackupDirectory::CopyTo(const v1::DatabaseBackup& backup, const std::string& to) const {
  const rocksdb::Status copied = engine_->RestoreDBFromBackup(backup.backup_id(), to, to);
  // RocksDB does not say which file it is, and a file that is missing is damage too.
  if (copied.IsCorruption() || copied.IsNotFound() || copied.IsPathNotFound())
    ITEMDB_RETURN_IF_ERROR(Verify(backup));
  return FromBackupEngine("cannot restore backup " + std::to_string(backup.backup_id()), copied);
}

}  // namespace itemdb::storage
