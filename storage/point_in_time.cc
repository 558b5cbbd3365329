#include "storage/point_in_time.h"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "storage/backup/archive_upkeep.h"
#include "storage/earlier_database.h"
#include "storage/restore.h"
#include "storage/store/catalog_records.h"
#include "storage/store/keyspace.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

constexpr size_t kSourceReadAheadBytes = 2 << 20;
// How long a call reads the archive before it is answered.
constexpr std::chrono::seconds kMaxCheck(2);
constexpr std::chrono::milliseconds kArchivedTick(2);

// Waits until the archive has what is committed. Its own thread writes it: a call that writes would hang with
// the file system. DEADLINE_EXCEEDED: `limit`. Otherwise why the archive cannot be written.
absl::Status AwaitArchived(const Engine& engine, const Cancellation& limit) {
  const CommitArchive* const archive = engine.archive();
  if (archive == nullptr) return absl::OkStatus();
  const uint64_t last = engine.durable_sequence();
  while (true) {
    const CommitArchiveStatus status = archive->Status();
    ITEMDB_RETURN_IF_ERROR(status.error);
    if (status.queued_bytes == 0 || status.last_change >= last) return absl::OkStatus();
    ITEMDB_RETURN_IF_ERROR(limit.Check());
    std::this_thread::sleep_for(kArchivedTick);
  }
}

// DATA_LOSS: the catalog cannot be read. OUT_OF_RANGE (RESTORE_POINT_UNKNOWN): no table has `storage_id`.
absl::Status CheckHasTable(const EarlierDatabase& database, uint64_t storage_id) {
  const Store& store = database.store();
  const std::unique_ptr<rocksdb::Iterator> it = store.NewIterator(rocksdb::ReadOptions(), store.catalog());
  for (it->Seek(kTableKeyPrefix); it->Valid() && it->key().starts_with(kTableKeyPrefix); it->Next()) {
    const auto definition =
        DecodeCatalogMessage<v1::TableDescription>(ToView(it->key()), ToView(it->value()));
    if (!definition.has_value())
      return DataLossError("the catalog record " + it->key().ToString() + " is damaged");
    if (definition->storage_id() == storage_id) return absl::OkStatus();
  }
  if (!it->status().ok()) return FromRocksDB("cannot read the catalog", it->status());
  return MakeError(absl::StatusCode::kOutOfRange, kReasonRestorePointUnknown,
                   "the table did not exist after change " + std::to_string(database.change_sequence()));
}

class PointInTimeSource : public ItemSource {
 public:
  PointInTimeSource(std::unique_ptr<EarlierDatabase> database, uint64_t storage_id)
      : database_(std::move(database)),
        storage_id_(storage_id),
        items_(database_->store(), Keyspace(database_->store().items(), storage_id), SourceReadOptions()) {
    items_.SeekToFirst();
  }

  absl::StatusOr<bool> Next(Item* item) override {
    if (std::exchange(has_begun_, true) && items_.Valid()) items_.Next();
    if (!items_.Valid()) {
      if (items_.status().ok()) return false;
      return FromRocksDB("cannot read the restored table", items_.status());
    }
    const std::optional<StoredRecord> record = DecodeRecord(storage_id_, items_.key(), items_.value());
    if (!record.has_value()) return DataLossError("an item of the restored table is damaged");
    *item = {.key = items_.key(), .size = record->item_size, .item = record->payload};
    return true;
  }

 private:
  static rocksdb::ReadOptions SourceReadOptions() {
    rocksdb::ReadOptions read;
    read.total_order_seek = true;
    read.fill_cache = false;
    read.readahead_size = kSourceReadAheadBytes;
    return read;
  }

  const std::unique_ptr<EarlierDatabase> database_;
  const uint64_t storage_id_;
  KeyspaceIterator items_;
  bool has_begun_ = false;
};

}  // namespace

absl::StatusOr<PointInTime> OpenPointInTimeSource(const Engine& engine, const v1::RestoringTable& table,
                                                  const char* folder, const Cancellation& cancellation) {
  const EarlierCommit commit{.change = table.to_change(), .time_us = table.to_time_us()};
  ITEMDB_ASSIGN_OR_RETURN(std::unique_ptr<EarlierDatabase> database,
                          EarlierDatabase::Restore(engine, commit, folder, cancellation));
  ITEMDB_RETURN_IF_ERROR(CheckHasTable(*database, table.source_storage_id()));
  PointInTime point{
      .source = nullptr, .change_sequence = database->change_sequence(), .folder = database->path()};
  point.source = std::make_unique<PointInTimeSource>(std::move(database), table.source_storage_id());
  return point;
}

absl::Status CheckPointInTime(const Engine& engine, const v1::RestoringTable& table,
                              int64_t creation_time_ms) {
  const EarlierCommit commit{.change = table.to_change(), .time_us = table.to_time_us()};
  const Cancellation limit(Cancellation::Clock::now() + kMaxCheck);
  const absl::Status archived = AwaitArchived(engine, limit);
  if (absl::IsDeadlineExceeded(archived)) return absl::OkStatus();
  ITEMDB_RETURN_IF_ERROR(archived);
  ITEMDB_ASSIGN_OR_RETURN(const RestoreOptions options, EarlierDatabase::Options(engine, commit));
  if (commit.change == 0 && commit.time_us == 0) {
    // The source waits for the backup.
    ITEMDB_ASSIGN_OR_RETURN(const bool is_there, HasBackupForArchive(engine));
    if (!is_there) return absl::OkStatus();
  }
  RestoreOptions limited = options;
  limited.cancellation = &limit;
  const auto found = FindRestorePoint(limited);
  if (absl::IsDeadlineExceeded(found.status())) return absl::OkStatus();
  ITEMDB_RETURN_IF_ERROR(found.status());
  if (found->commit_time_us == 0 || found->commit_time_us >= creation_time_ms * 1'000)
    return absl::OkStatus();
  return MakeError(
      absl::StatusCode::kOutOfRange, kReasonRestorePointUnknown,
      "the table did not exist after change " + std::to_string(found->change_sequence) +
          ": it was created at " +
          absl::FormatTime(absl::RFC3339_full, absl::FromUnixMillis(creation_time_ms), absl::UTCTimeZone()));
}

}  // namespace itemdb::storage
