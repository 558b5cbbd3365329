#include "storage/commit/write_set.h"

#include "storage/base/check.h"
#include "storage/base/xxh3.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {

ItemKey::ItemKey(uint64_t storage_id, std::string key)
    : encoded(std::move(key)), hash(XXH3_64bits_withSeed(encoded.data(), encoded.size(), storage_id)) {}

uint64_t WriteSet::PutItem(const Store& store, const Table& table, const ItemKey& key, std::string_view item,
                           size_t item_size) {
  const std::string record = EncodeRecord(table.storage_id, key.encoded, item_size, item);
  Put(ItemsOf(store, table), key.encoded, record);
  items_[std::make_pair(table.storage_id, std::string_view(key.encoded))] = item;
  return ChecksumInRecord(record);
}

void WriteSet::DeleteItem(const Store& store, const Table& table, const ItemKey& key) {
  Delete(ItemsOf(store, table), key.encoded);
  items_[std::make_pair(table.storage_id, std::string_view(key.encoded))] = std::nullopt;
}

const std::optional<std::string_view>* WriteSet::FindItem(const Table& table, const ItemKey& key) const {
  const auto written = items_.find(std::make_pair(table.storage_id, std::string_view(key.encoded)));
  return written == items_.end() ? nullptr : &written->second;
}

void WriteSet::ReserveBytes(size_t bytes) {
  // Below this size the steps are small.
  constexpr size_t kWorthReserving = 1 << 20;
  // For keys, records around the items, change records.
  constexpr size_t kOverheadDivisor = 16;
  if (bytes < kWorthReserving) return;
  std::string data;
  data.reserve(batch_.GetDataSize() + bytes + bytes / kOverheadDivisor);
  data = batch_.Data();
  batch_ = rocksdb::WriteBatch(std::move(data));
}

void WriteSet::Put(const Keyspace& keyspace, std::string_view key, std::string_view record) {
  const rocksdb::Slice key_parts[] = {keyspace.prefix(), ToSlice(key)};
  const rocksdb::Slice value = ToSlice(record);
  const rocksdb::Status status =
      batch_.Put(keyspace.family(), rocksdb::SliceParts(key_parts, 2), rocksdb::SliceParts(&value, 1));
  ITEMDB_CHECK(status.ok());
}

void WriteSet::Delete(const Keyspace& keyspace, std::string_view key) {
  const rocksdb::Slice key_parts[] = {keyspace.prefix(), ToSlice(key)};
  const rocksdb::Status status = batch_.Delete(keyspace.family(), rocksdb::SliceParts(key_parts, 2));
  ITEMDB_CHECK(status.ok());
}

void WriteSet::Put(rocksdb::ColumnFamilyHandle* family, std::string_view key, std::string_view record) {
  const rocksdb::Status status = batch_.Put(family, ToSlice(key), ToSlice(record));
  ITEMDB_CHECK(status.ok());
}

void WriteSet::Delete(rocksdb::ColumnFamilyHandle* family, std::string_view key) {
  const rocksdb::Status status = batch_.Delete(family, ToSlice(key));
  ITEMDB_CHECK(status.ok());
}

}  // namespace itemdb::storage
