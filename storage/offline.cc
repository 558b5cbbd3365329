#include "storage/offline.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>

#include "storage/base/uuid.h"
#include "storage/encryption/environment.h"
#include "storage/engine/catalog_copy.h"
#include "storage/engine/damaged_store.h"
#include "storage/engine/last_good.h"
#include "storage/engine/quarantine.h"
#include "storage/engine/readable_items.h"
#include "storage/engine/recovery.h"
#include "storage/keys/storage_id.h"
#include "storage/store/catalog_records.h"
#include "storage/store/dropped_keyspace.h"
#include "storage/store/durable_file.h"
#include "storage/store/sequence_key.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

namespace fs = std::filesystem;

// Items that are written at once.
constexpr size_t kBatchBytes = 1 << 20;

// A directory that is locked while this object exists.
class OfflineDirectory {
 public:
  static absl::StatusOr<std::unique_ptr<OfflineDirectory>> Open(const DatabaseOptions& options);

  const std::string& path() const { return options_.data_directory; }
  const StoreOptions& store_options() const { return store_options_; }
  rocksdb::Env* env() const { return environment_.env(); }
  const Environment& environment() const { return environment_; }
  const DirectoryDamage& damage() const { return damage_; }

 private:
  explicit OfflineDirectory(const DatabaseOptions& options)
      : options_(options), environment_(options.file_system) {
    store_options_.log = options.log;
    store_options_.block_cache_bytes = options.block_cache_bytes;
    store_options_.memtable_bytes = options.memtable_bytes;
  }
  absl::Status Lock();

  const DatabaseOptions options_;
  Environment environment_;
  StoreOptions store_options_;
  std::unique_ptr<DirectoryLock> lock_;
  DirectoryDamage damage_;
};

absl::StatusOr<std::unique_ptr<OfflineDirectory>> OfflineDirectory::Open(const DatabaseOptions& options) {
  std::unique_ptr<OfflineDirectory> directory(new OfflineDirectory(options));
  std::error_code error;
  if (!fs::is_directory(options.data_directory, error)) {
    return MakeError(absl::StatusCode::kFailedPrecondition, kReasonDataDirectoryForeign,
                     options.data_directory + " is no directory; give the data directory of a database");
  }
  ITEMDB_RETURN_IF_ERROR(directory->Lock());
  ITEMDB_RETURN_IF_ERROR(directory->environment_.Open(options.data_directory, options.encryption_keys));
  directory->store_options_.env = directory->env();
  ITEMDB_ASSIGN_OR_RETURN(directory->damage_, FindDamage(directory->path(), directory->store_options_));
  return directory;
}

// A directory without LOCK is open nowhere, and must not get one; neither can one be written where the file
// system is mounted read-only.
absl::Status OfflineDirectory::Lock() {
  const std::string path = options_.data_directory + "/LOCK";
  if (access(path.c_str(), W_OK) != 0 && (errno == ENOENT || errno == EROFS)) return absl::OkStatus();
  ITEMDB_ASSIGN_OR_RETURN(lock_, DirectoryLock::Acquire(environment_.plain(), options_.data_directory));
  return absl::OkStatus();
}

// A folder in $TMPDIR that is deleted with this object.
class TemporaryFolder {
 public:
  static absl::StatusOr<std::unique_ptr<TemporaryFolder>> Make() {
    std::error_code error;
    std::string path = fs::temp_directory_path(error) / "itemd-XXXXXX";
    if (error || mkdtemp(path.data()) == nullptr) {
      return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                       "cannot make a temporary folder " + path +
                           " (TMPDIR must name a directory that is "
                           "writable): " +
                           std::generic_category().message(errno));
    }
    return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(std::move(path)));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

// The storage ids of tables by the names, and of deleted tables, in a catalog.
struct Owners {
  std::map<uint64_t, size_t> table_numbers;
  std::set<uint64_t> deleted;
};

Owners FindOwners(const DamagedStore& damaged, RecoveryReport* report) {
  Owners owners;
  for (const auto& [key, record] : damaged.catalog()) {
    if (key.starts_with(kDroppedKeyPrefix)) {
      const auto id = ParseStorageIdKey(std::string_view(key).substr(sizeof(kDroppedKeyPrefix) - 1));
      if (id.has_value()) owners.deleted.insert(*id);
    }
    const auto table = key.starts_with(kTableKeyPrefix) ? DecodeTable(key, record) : std::nullopt;
    if (!table.has_value()) continue;
    TableReport& added = report->tables.emplace_back();
    added.name = table->table_name();
    const auto recorded = damaged.recorded_items().find(table->storage_id());
    if (recorded != damaged.recorded_items().end()) added.recorded_items = recorded->second;
    owners.table_numbers[table->storage_id()] = report->tables.size() - 1;
  }
  return owners;
}

// What is known before the items are read.
RecoveryReport BeginReport(const DirectoryDamage& found, const DamagedStore& damaged) {
  RecoveryReport report;
  if (!found.damage.ok()) report.cause = MessageOf(found.damage);
  report.database_id = found.before.database_id;
  report.durable_sequence = found.before.sequence;
  const ChangeLogExtent& extent = damaged.extent();
  const uint64_t last = std::max(extent.last, damaged.changes_start() - 1);
  if (!damaged.has_lost_items())
    report.readable_sequence = extent.first_missing == 0 ? last : extent.first_missing - 1;
  report.next_sequence = damaged.next_sequence();
  report.damaged_files = damaged.file_reports();
  for (int i = 0; i < Store::kFamilies; ++i)
    if (!damaged.IsReadable(static_cast<Store::FamilyNumber>(i)))
      report.unreadable_families.push_back(Store::kFamilyNames[i]);
  return report;
}

using KeepItem = std::function<absl::Status(std::string_view key, std::string_view record)>;

// Reads the items of the recovered store, passes all that are intact and not deleted to `keep`, and adds
// their numbers to `*report`.
absl::Status CountItems(const DamagedStore& damaged, const KeepItem& keep, RecoveryReport* report) {
  StoreOptions options = damaged.options();
  options.path = damaged.folders().recovered();
  ITEMDB_ASSIGN_OR_RETURN(const std::shared_ptr<Store> store, Store::Open(options));
  const Owners owners = FindOwners(damaged, report);
  const auto visit = [&](std::string_view stored_key, std::string_view record) {
    std::string_view key = stored_key;
    const std::optional<uint64_t> storage_id = ConsumeStorageId(&key);
    if (!storage_id.has_value() || !DecodeRecord(*storage_id, key, record).has_value()) {
      ++report->damaged_items;
      return absl::OkStatus();
    }
    const auto table = owners.table_numbers.find(*storage_id);
    ++(table == owners.table_numbers.end() ? report->items_without_table
                                           : report->tables[table->second].readable_items);
    return owners.deleted.contains(*storage_id) ? absl::OkStatus() : keep(stored_key, record);
  };
  ITEMDB_ASSIGN_OR_RETURN(const ItemsRead read, ForEachReadableItem(options.env, *store, visit));
  report->damaged_ranges = read.damaged_ranges;
  report->items_in_doubt = read.in_doubt;
  return absl::OkStatus();
}

absl::Status KeepNothing(std::string_view, std::string_view) { return absl::OkStatus(); }

// Writes the database that Salvage makes.
class TargetStore {
 public:
  static absl::StatusOr<std::unique_ptr<TargetStore>> Create(StoreOptions options,
                                                             const std::string& target) {
    options.path = target + "/rocksdb";
    ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<Store> store, Store::Create(options, {}, /*copy_files=*/false));
    return std::unique_ptr<TargetStore>(new TargetStore(std::move(store)));
  }

  absl::Status Put(rocksdb::ColumnFamilyHandle* family, std::string_view key, std::string_view record) {
    (void)batch_.Put(family, ToSlice(key), ToSlice(record));
    return batch_.GetDataSize() < kBatchBytes ? absl::OkStatus() : Write();
  }
  // Makes everything durable.
  absl::Status Finish(const CatalogRecords& catalog) {
    for (const auto& [key, record] : catalog) ITEMDB_RETURN_IF_ERROR(Put(store_->catalog(), key, record));
    ITEMDB_RETURN_IF_ERROR(Write());
    rocksdb::Status status;
    for (rocksdb::ColumnFamilyHandle* family : {store_->items(), store_->catalog()})
      if (status.ok()) status = store_->db()->Flush(rocksdb::FlushOptions(), family);
    if (status.ok()) status = SyncDirectory(store_->db()->GetEnv(), store_->db()->GetName());
    return status.ok() ? absl::OkStatus() : FromRocksDB("cannot write " + store_->db()->GetName(), status);
  }
  const Store& store() const { return *store_; }

 private:
  explicit TargetStore(std::shared_ptr<Store> store) : store_(std::move(store)) {}
  absl::Status Write() {
    rocksdb::WriteOptions options;
    options.disableWAL = true;  // Finish flushes.
    const rocksdb::Status status = store_->Write(options, &batch_);
    batch_.Clear();
    return status.ok() ? absl::OkStatus() : FromRocksDB("cannot write " + store_->db()->GetName(), status);
  }

  const std::shared_ptr<Store> store_;
  rocksdb::WriteBatch batch_;
};

// INVALID_ARGUMENT: no database can be made in `target`. Makes the directory.
absl::Status PrepareTarget(const std::string& directory, const std::string& target) {
  std::error_code error;
  const fs::path from = fs::weakly_canonical(directory, error);
  const fs::path to = fs::weakly_canonical(target, error);
  if (std::mismatch(from.begin(), from.end(), to.begin(), to.end()).first == from.end())
    return ValidationError(target + " lies in the damaged directory " + directory +
                           ": give a directory outside of it, on a disk that works");
  if (fs::exists(target, error) && !fs::is_empty(target, error))
    return ValidationError(target + " is not empty: salvage needs an empty directory, or makes one");
  fs::create_directories(target, error);
  if (!error) return absl::OkStatus();
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                   "cannot create " + target + ": " + error.message());
}

}  // namespace

absl::StatusOr<RecoveryReport> PlanRecovery(const DatabaseOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(const auto directory, OfflineDirectory::Open(options));
  ITEMDB_ASSIGN_OR_RETURN(const auto temporary, TemporaryFolder::Make());
  RecoveryFolders folders(directory->env(), directory->path(), temporary->path() + "/recovery");
  DamagedStore damaged(directory->path(), directory->store_options(), directory->damage().before, folders);
  ITEMDB_RETURN_IF_ERROR(MakeLastGoodStore(damaged));
  RecoveryReport report = BeginReport(directory->damage(), damaged);
  ITEMDB_RETURN_IF_ERROR(CountItems(damaged, KeepNothing, &report));
  return report;
}

absl::StatusOr<std::vector<FileReport>> InspectFiles(const DatabaseOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(const auto directory, OfflineDirectory::Open(options));
  const std::string store = directory->path() + "/rocksdb";
  std::vector<std::string> names;
  if (const rocksdb::Status status = directory->env()->GetChildren(store, &names); !status.ok())
    return FromRocksDB("cannot read " + store, status);
  std::sort(names.begin(), names.end());
  std::map<std::string, std::string> key_ids;
  for (const auto& [id, paths] : FindEncryptedFiles(store))
    for (const fs::path path : paths) key_ids[path.filename()] = id;
  std::vector<FileReport> files;
  for (const std::string& name : names) {
    if (name == "." || name == "..") continue;
    FileReport& file = files.emplace_back();
    file.name = name;
    if (const auto id = key_ids.find(name); id != key_ids.end()) file.key_id = id->second;
    (void)directory->env()->GetFileSize(store + "/" + name, &file.bytes);
    if (!name.ends_with(".sst")) continue;
    ITEMDB_ASSIGN_OR_RETURN(FileExamination found,
                            ExamineTableFile(directory->env(), store + "/" + name, /*whole=*/true));
    file.family = std::move(found.family);
    file.entries = found.entries;
    file.damage = std::move(found.error);
  }
  return files;
}

absl::StatusOr<RecoveryReport> Salvage(const DatabaseOptions& options, const std::string& target) {
  ITEMDB_ASSIGN_OR_RETURN(const auto directory, OfflineDirectory::Open(options));
  ITEMDB_RETURN_IF_ERROR(PrepareTarget(directory->path(), target));
  ITEMDB_RETURN_IF_ERROR(directory->environment().Mark(target));
  RecoveryFolders folders(directory->env(), directory->path(), target + "/recovery");
  DirectoryDamage found = directory->damage();
  if (found.before.database_id.empty()) found.before.database_id = NewUuid();
  DamagedStore damaged(directory->path(), directory->store_options(), found.before, folders);
  ITEMDB_RETURN_IF_ERROR(MakeLastGoodStore(damaged));
  RecoveryReport report = BeginReport(found, damaged);
  {
    ITEMDB_ASSIGN_OR_RETURN(const auto written, TargetStore::Create(damaged.options(), target));
    const auto keep = [&](std::string_view key, std::string_view record) {
      return written->Put(written->store().items(), key, record);
    };
    ITEMDB_RETURN_IF_ERROR(CountItems(damaged, keep, &report));
    ITEMDB_RETURN_IF_ERROR(written->Finish(damaged.catalog()));
  }
  // Last of all: without a watermark the directory does not open.
  ITEMDB_RETURN_IF_ERROR(
      WriteWatermark(directory->env(), target,
                     {.database_id = found.before.database_id, .sequence = damaged.next_sequence() - 1}));
  folders.Delete();
  return report;
}

}  // namespace itemdb::storage
