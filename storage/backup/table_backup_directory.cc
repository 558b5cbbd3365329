#include "storage/backup/table_backup_directory.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "storage/backup/backup_directory.h"
#include "storage/base/table_arn.h"
#include "storage/base/xxh3.h"
#include "storage/store/durable_file.h"
#include "storage/store/store.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

constexpr char kDescriptionName[] = "BACKUP";
constexpr char kTablesFolder[] = "/tables";
constexpr uint64_t kMaxBackupFileBytes = 256 << 20;
constexpr size_t kBackupBlockBytes = 32 << 10;
constexpr size_t kBackupReadAheadBytes = 1 << 20;
// Records of a backup belong to no table.
constexpr uint64_t kNoStorageId = 0;

rocksdb::Options BackupFileOptions(rocksdb::Env* env) {
  rocksdb::Options options;
  options.env = env;
  options.compression = rocksdb::kLZ4Compression;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = kBackupBlockBytes;
  table.no_block_cache = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

uint64_t HashOfRecord(std::string_view record) { return XXH3_64bits(record.data(), record.size()); }

std::string EncodeDescription(const v1::StoredTableBackup& backup) {
  return EncodeRecord(kNoStorageId, kDescriptionName, 0, backup.SerializeAsString());
}

std::optional<v1::StoredTableBackup> DecodeDescription(std::string_view bytes) {
  const std::optional<StoredRecord> record = DecodeRecord(kNoStorageId, kDescriptionName, bytes);
  v1::StoredTableBackup backup;
  if (!record.has_value() ||
      !backup.ParseFromArray(record->payload.data(), static_cast<int>(record->payload.size())))
    return std::nullopt;
  return backup;
}

absl::Status DamagedDescription(const std::string& folder) {
  return DataLossError("the description of the backup in " + folder + " is damaged");
}

// nullopt: there is none, so `folder` has no whole backup.
absl::StatusOr<std::optional<v1::StoredTableBackup>> ReadDescription(rocksdb::Env* env,
                                                                     const std::string& folder) {
  std::string bytes;
  const std::string path = folder + "/" + kDescriptionName;
  const rocksdb::Status status = rocksdb::ReadFileToString(env, path, &bytes);
  if (IsMissingFile(status)) return std::nullopt;
  if (!status.ok()) return FromRocksDB("cannot read " + path, status);
  std::optional<v1::StoredTableBackup> backup = DecodeDescription(bytes);
  if (!backup.has_value()) return DamagedDescription(folder);
  return backup;
}

void DeleteFolder(rocksdb::Env* env, const std::string& folder) {
  std::vector<std::string> names;
  if (!env->GetChildren(folder, &names).ok()) return;
  for (const std::string& name : names) {
    if (name != "." && name != "..") (void)env->DeleteFile(folder + "/" + name);
  }
  (void)env->DeleteDir(folder);
}

class BackupSource final : public ItemSource {
 public:
  BackupSource(rocksdb::Env* env, std::string folder, v1::StoredTableBackup backup)
      : options_(BackupFileOptions(env)), folder_(std::move(folder)), backup_(std::move(backup)) {}

  absl::StatusOr<bool> Next(Item* item) override {
    while (true) {
      if (iterator_ == nullptr) {
        if (file_ == backup_.files_size()) return CheckEnd();
        ITEMDB_RETURN_IF_ERROR(OpenFile());
      } else {
        iterator_->Next();
      }
      if (iterator_->Valid()) break;
      if (!iterator_->status().ok()) return ReadError(iterator_->status());
      iterator_.reset();
      reader_.reset();
      ++file_;
    }
    const std::string_view key = ToView(iterator_->key());
    const std::string_view record = ToView(iterator_->value());
    const std::optional<StoredRecord> stored = DecodeRecord(kNoStorageId, key, record);
    if (!stored.has_value() || (items_ > 0 && key <= last_key_)) return Damaged("an item is damaged");
    last_key_ = key;
    ++items_;
    bytes_ += static_cast<int64_t>(stored->item_size);
    sum_ += HashOfRecord(record);
    *item = {.key = key, .size = stored->item_size, .item = stored->payload};
    return true;
  }

 private:
  std::string PathOf(int file) const { return folder_ + "/" + backup_.files(file).name(); }

  absl::Status OpenFile() {
    reader_ = std::make_unique<rocksdb::SstFileReader>(options_);
    if (const rocksdb::Status status = reader_->Open(PathOf(file_)); !status.ok()) return ReadError(status);
    rocksdb::ReadOptions read;
    read.verify_checksums = true;
    read.fill_cache = false;
    read.readahead_size = kBackupReadAheadBytes;
    iterator_.reset(reader_->NewIterator(read));
    iterator_->SeekToFirst();
    return absl::OkStatus();
  }

  absl::StatusOr<bool> CheckEnd() const {
    const v1::TableDescription& table = backup_.backup().source_table();
    if (items_ == table.item_count() && bytes_ == table.table_size_bytes() && sum_ == backup_.content_sum())
      return false;
    return Damaged("it does not have the items that were written");
  }

  absl::Status Damaged(std::string_view what) const {
    return DataLossError(
        std::string("backup ").append(backup_.backup().backup_arn()).append(" is damaged: ").append(what));
  }

  absl::Status ReadError(const rocksdb::Status& status) const {
    if (status.IsCorruption() || IsMissingFile(status) || status.IsInvalidArgument())
      return Damaged(WithoutDirectories(status.ToString()));
    return FromRocksDB("cannot read " + PathOf(file_), status);
  }

  const rocksdb::Options options_;
  const std::string folder_;
  const v1::StoredTableBackup backup_;
  // The file that is read.
  int file_ = 0;
  std::unique_ptr<rocksdb::SstFileReader> reader_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
  std::string last_key_;
  int64_t items_ = 0;
  int64_t bytes_ = 0;
  uint64_t sum_ = 0;
};

}  // namespace

absl::Status BackupNotFoundError(const std::string& arn) {
  return WithRule("BAK-15",
                  MakeError(absl::StatusCode::kNotFound, kReasonBackupNotFound, "Backup not found: " + arn));
}

absl::StatusOr<std::unique_ptr<TableBackupDirectory>> TableBackupDirectory::Open(
    const Environment& environment, const std::string& backup_directory) {
  ITEMDB_RETURN_IF_ERROR(CheckIsForBackups(backup_directory));
  // Before the folder is made: a directory without ENCRYPTION takes keys only while it is empty.
  ITEMDB_RETURN_IF_ERROR(CheckEncryption(backup_directory, environment.keys()));
  const std::string path = backup_directory + kTablesFolder;
  std::error_code error;
  std::filesystem::create_directories(backup_directory, error);
  if (!error) ITEMDB_RETURN_IF_ERROR(environment.Mark(backup_directory));
  if (!error) std::filesystem::create_directories(path, error);
  rocksdb::FileLock* lock = nullptr;
  rocksdb::Status locked;
  if (!error) locked = rocksdb::Env::Default()->LockFile(path + "/LOCK", &lock);
  if (error || !locked.ok()) {
    const std::string why = error ? error.message() : locked.ToString();
    const bool is_in_use = !error && std::filesystem::exists(path + "/LOCK", error);
    return MakeError(
        is_in_use ? absl::StatusCode::kFailedPrecondition : absl::StatusCode::kUnavailable,
        is_in_use ? kReasonDataDirectoryInUse : kReasonUnavailable,
        "cannot use the backup directory " + path + ": " + why +
            (is_in_use ? " (does another itemd use it?)"
                       : "; under systemd the unit must allow it: ReadWritePaths=" + backup_directory));
  }
  // A power cut must not take the folder away from backups that are made later. The parent may belong to
  // somebody else, and be unreadable.
  (void)SyncDirectory(environment.env(), std::filesystem::path(backup_directory).parent_path());
  if (const rocksdb::Status synced = SyncDirectory(environment.env(), backup_directory); !synced.ok()) {
    (void)rocksdb::Env::Default()->UnlockFile(lock);
    return FromRocksDB("cannot sync the backup directory " + backup_directory, synced);
  }
  std::unique_ptr<TableBackupDirectory> directory(new TableBackupDirectory(environment.env(), path, lock));
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<std::string> folders, directory->Folders());
  for (const std::string& folder : folders) {
    if (IsMissingFile(environment.env()->FileExists(folder + "/" + kDescriptionName)))
      DeleteFolder(environment.env(), folder);
  }
  return directory;
}

TableBackupDirectory::~TableBackupDirectory() { (void)rocksdb::Env::Default()->UnlockFile(lock_); }

std::string TableBackupDirectory::FolderOf(const std::string& arn) const {
  const absl::StatusOr<BackupArn> parsed = ParseBackupArn(arn);
  if (!parsed.ok()) return "";
  return path_ + "/" + std::string(parsed->backup_id) +
         absl::StrFormat(".%016x", XXH3_64bits(parsed->table_name.data(), parsed->table_name.size()));
}

absl::StatusOr<std::vector<std::string>> TableBackupDirectory::Folders() const {
  std::vector<std::string> names;
  const rocksdb::Status status = env_->GetChildren(path_, &names);
  if (!status.ok()) return FromRocksDB("cannot read the backup directory " + path_, status);
  std::vector<std::string> folders;
  for (const std::string& name : names) {
    // Ids begin with a digit; LOCK, "." and ".." do not.
    if (!name.empty() && name[0] >= '0' && name[0] <= '9') folders.push_back(path_ + "/" + name);
  }
  return folders;
}

absl::StatusOr<std::vector<v1::TableBackup>> TableBackupDirectory::List(
    std::vector<std::string>* damaged) const {
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<std::string> folders, Folders());
  std::vector<v1::TableBackup> backups;
  for (const std::string& folder : folders) {
    auto stored = ReadDescription(env_, folder);
    if (absl::IsDataLoss(stored.status())) {
      damaged->push_back(folder);
      continue;
    }
    ITEMDB_RETURN_IF_ERROR(stored.status());
    if (stored->has_value()) backups.push_back(std::move(*(*stored)->mutable_backup()));
  }
  std::sort(backups.begin(), backups.end(), [](const v1::TableBackup& a, const v1::TableBackup& b) {
    return std::pair(a.creation_time_ms(), a.backup_arn()) < std::pair(b.creation_time_ms(), b.backup_arn());
  });
  return backups;
}

absl::StatusOr<v1::StoredTableBackup> TableBackupDirectory::Find(const std::string& arn) const {
  ITEMDB_RETURN_IF_ERROR(ParseBackupArn(arn).status());
  ITEMDB_ASSIGN_OR_RETURN(auto stored, ReadDescription(env_, FolderOf(arn)));
  if (!stored.has_value()) return BackupNotFoundError(arn);
  return *std::move(stored);
}

absl::StatusOr<v1::TableBackup> TableBackupDirectory::Delete(const std::string& arn) {
  absl::StatusOr<v1::StoredTableBackup> found = Find(arn);
  if (!found.ok() && !absl::IsDataLoss(found.status())) return found.status();
  v1::TableBackup deleted;
  deleted.set_backup_arn(arn);
  if (found.ok()) deleted = found->backup();
  deleted.set_backup_status(v1::BACKUP_STATUS_DELETED);
  const std::string folder = FolderOf(arn);
  rocksdb::Status status = env_->DeleteFile(folder + "/" + kDescriptionName);
  // A power cut must not bring the description back after its files are gone.
  if (status.ok()) status = SyncDirectory(env_, folder);
  if (!status.ok()) return FromRocksDB("cannot delete the backup in " + folder, status);
  DeleteFolder(env_, folder);
  return deleted;
}

absl::StatusOr<std::unique_ptr<TableBackupWriter>> TableBackupDirectory::Write(
    const v1::TableBackup& backup, const std::string& database_id) {
  v1::StoredTableBackup stored;
  *stored.mutable_backup() = backup;
  stored.set_database_id(database_id);
  const std::string folder = FolderOf(backup.backup_arn());
  rocksdb::Status status = env_->CreateDir(folder);
  if (status.ok()) status = SyncDirectory(env_, path_);
  if (!status.ok()) return FromRocksDB("cannot make " + folder, status);
  return std::unique_ptr<TableBackupWriter>(new TableBackupWriter(env_, folder, std::move(stored)));
}

std::unique_ptr<ItemSource> TableBackupDirectory::Read(const v1::StoredTableBackup& backup) const {
  return std::make_unique<BackupSource>(env_, FolderOf(backup.backup().backup_arn()), backup);
}

TableBackupWriter::TableBackupWriter(rocksdb::Env* env, std::string folder, v1::StoredTableBackup stored)
    : env_(env), folder_(std::move(folder)), stored_(std::move(stored)) {}

TableBackupWriter::~TableBackupWriter() {
  file_.reset();
  if (!is_finished_) DeleteFolder(env_, folder_);
}

absl::Status TableBackupWriter::Add(const ItemSource::Item& item) {
  if (file_ != nullptr && file_->FileSize() >= kMaxBackupFileBytes) ITEMDB_RETURN_IF_ERROR(FinishFile());
  rocksdb::Status status;
  if (file_ == nullptr) {
    stored_.add_files()->set_name(std::to_string(stored_.files_size()) + ".sst");
    file_ = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(), BackupFileOptions(env_));
    status = file_->Open(folder_ + "/" + stored_.files().rbegin()->name());
  }
  const std::string record = EncodeRecord(kNoStorageId, item.key, item.size, item.item);
  if (status.ok()) status = file_->Put(ToSlice(item.key), record);
  if (!status.ok()) return FromRocksDB("cannot write the backup in " + folder_, status);
  content_sum_ += HashOfRecord(record);
  return absl::OkStatus();
}

absl::Status TableBackupWriter::FinishFile() {
  if (file_ == nullptr) return absl::OkStatus();
  rocksdb::ExternalSstFileInfo info;
  const rocksdb::Status status = file_->Finish(&info);  // Syncs the file.
  file_.reset();
  if (!status.ok()) return FromRocksDB("cannot write the backup in " + folder_, status);
  stored_.mutable_files()->rbegin()->set_bytes(static_cast<int64_t>(info.file_size));
  stored_.mutable_backup()->set_file_bytes(stored_.backup().file_bytes() +
                                           static_cast<int64_t>(info.file_size));
  return absl::OkStatus();
}

absl::Status TableBackupWriter::Finish() {
  ITEMDB_RETURN_IF_ERROR(FinishFile());
  stored_.set_content_sum(content_sum_);
  stored_.mutable_backup()->set_backup_status(v1::BACKUP_STATUS_AVAILABLE);
  // Names of the files first: a description must not outlive them.
  rocksdb::Status status = SyncDirectory(env_, folder_);
  if (status.ok()) status = ReplaceFile(env_, folder_ + "/" + kDescriptionName, EncodeDescription(stored_));
  if (!status.ok()) {
    (void)env_->DeleteFile(folder_ + "/" + kDescriptionName);
    return FromRocksDB("cannot write the backup in " + folder_, status);
  }
  is_finished_ = true;
  return absl::OkStatus();
}

}  // namespace itemdb::storage
