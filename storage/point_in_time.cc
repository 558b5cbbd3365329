#include "storage/point_in_time.h"

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "storage/backup/archive_upkeep.h"
#include "storage/backup/backup_operations.h"
#include "storage/encryption/environment.h"
#include "storage/restore.h"
#include "storage/scratch_folder.h"
#include "storage/store/keyspace.h"
#include "storage/store/store.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

// The store is read once, from the first item to the last.
constexpr size_t kReadCacheBytes = 16 << 20;
constexpr size_t kReadMemtableBytes = 8 << 20;
constexpr size_t kSourceReadAheadBytes = 2 << 20;
// A backup is awaited for ten minutes.
constexpr int kBackupLooks = 6'000;
constexpr std::chrono::milliseconds kBackupLookInterval(100);

class PointInTimeSource : public ItemSource {
 public:
  PointInTimeSource(const Engine& engine, const char* folder, uint64_t storage_id)
      : folder_(engine, folder), environment_(/*file_system=*/nullptr), storage_id_(storage_id) {}

  absl::Status Open(const EncryptionKeys& keys, const std::shared_ptr<spdlog::logger>& log) {
    ITEMDB_RETURN_IF_ERROR(environment_.Open(folder_.path(), keys));
    StoreOptions options;
    options.path = folder_.path() + "/rocksdb";
    options.env = environment_.env();
    options.log = log;
    options.block_cache_bytes = kReadCacheBytes;
    options.memtable_bytes = kReadMemtableBytes;
    ITEMDB_ASSIGN_OR_RETURN(store_, Store::Open(options));
    rocksdb::ReadOptions read;
    read.total_order_seek = true;
    read.fill_cache = false;
    read.readahead_size = kSourceReadAheadBytes;
    items_.emplace(*store_, Keyspace(store_->items(), storage_id_), read);
    items_->SeekToFirst();
    return absl::OkStatus();
  }

  absl::StatusOr<bool> Next(Item* item) override {
    if (std::exchange(has_begun_, true) && items_->Valid()) items_->Next();
    if (!items_->Valid()) {
      if (items_->status().ok()) return false;
      return FromRocksDB("cannot read the restored table", items_->status());
    }
    const std::optional<StoredRecord> record = DecodeRecord(storage_id_, items_->key(), items_->value());
    if (!record.has_value()) return DataLossError("an item of the restored table is damaged");
    *item = {.key = items_->key(), .size = record->item_size, .item = record->payload};
    return true;
  }

  const std::string& path() const { return folder_.path(); }

 private:
  // In the order of their construction: the iterator goes before its store, the store before its files.
  const ScratchFolder folder_;
  Environment environment_;
  const uint64_t storage_id_;
  std::shared_ptr<Store> store_;
  std::optional<KeyspaceIterator> items_;
  bool has_begun_ = false;
};

// After the archive was begun, or a table was restored, a backup is made at once. UNAVAILABLE: try again.
absl::Status AwaitBackup(const Engine& engine, const Cancellation& cancellation) {
  for (int i = 0; i < kBackupLooks; ++i) {
    ITEMDB_RETURN_IF_ERROR(cancellation.Check());
    ITEMDB_ASSIGN_OR_RETURN(const bool is_there, HasBackupForArchive(engine));
    if (is_there) return absl::OkStatus();
    std::this_thread::sleep_for(kBackupLookInterval);
  }
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                   "a backup of the database is being made first", 1000);
}

}  // namespace

absl::StatusOr<PointInTime> OpenPointInTimeSource(Engine& engine, const v1::RestoringTable& table,
                                                  const char* folder, const Cancellation& cancellation) {
  CommitArchive* const archive = engine.archive();
  if (archive == nullptr) {
    return MakeError(absl::StatusCode::kOutOfRange, kReasonRestorePointUnknown,
                     "there is no archive of commits any more");
  }
  ITEMDB_RETURN_IF_ERROR(AwaitBackup(engine, cancellation));
  ITEMDB_RETURN_IF_ERROR(archive->WriteNow());
  ITEMDB_ASSIGN_OR_RETURN(const v1::ListDatabaseBackupsReply backups, ListBackups(engine));
  if (!backups.backups().empty())
    ITEMDB_RETURN_IF_ERROR(CheckRoomToRestore(engine, backups.backups().rbegin()->size_bytes()));
  auto source = std::make_unique<PointInTimeSource>(engine, folder, table.source_storage_id());
  RestoreOptions restore;
  restore.backup_directory = BackupDirectoryOf(engine);
  restore.archive_directory = archive->directory();
  restore.data_directory = source->path();
  if (table.to_change() != 0) restore.to_change = table.to_change();
  if (table.to_time_us() != 0) restore.to_time_us = table.to_time_us();
  restore.encryption_keys = engine.environment().keys();
  restore.log = engine.options().log;
  ITEMDB_ASSIGN_OR_RETURN(const RestoredDatabase restored, RestoreDatabase(restore));
  ITEMDB_RETURN_IF_ERROR(source->Open(restore.encryption_keys, restore.log));
  const std::string path = source->path();
  return PointInTime{
      .source = std::move(source), .change_sequence = restored.change_sequence, .folder = path};
}

}  // namespace itemdb::storage
