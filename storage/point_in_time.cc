#include "storage/point_in_time.h"

#include <optional>
#include <utility>

#include "storage/earlier_database.h"
#include "storage/store/keyspace.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

constexpr size_t kSourceReadAheadBytes = 2 << 20;

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
  PointInTime point{
      .source = nullptr, .change_sequence = database->change_sequence(), .folder = database->path()};
  point.source = std::make_unique<PointInTimeSource>(std::move(database), table.source_storage_id());
  return point;
}

}  // namespace itemdb::storage
