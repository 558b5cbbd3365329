#include "storage/store/catalog_records.h"

#include <memory>
#include <optional>

#include "storage/store/sequence_key.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb::storage {

std::string EncodeCatalogNumber(std::string_view key, uint64_t number) {
  std::string payload;
  wire::AppendVarint(number, &payload);
  return EncodeRecord(kCatalogStorageId, key, 0, payload);
}

absl::StatusOr<uint64_t> DecodeCatalogNumber(std::string_view key, std::string_view record) {
  const std::optional<StoredRecord> decoded = DecodeRecord(kCatalogStorageId, key, record);
  uint64_t number = 0;
  if (std::string_view rest = decoded.has_value() ? decoded->payload : "";
      !wire::ConsumeVarint(&rest, &number))
    return DataLossError("the catalog record " + std::string(key) + " is damaged");
  return number;
}

std::string EncodeCatalogTable(const v1::TableDescription& definition) {
  return EncodeRecord(kCatalogStorageId, kTableKeyPrefix + definition.table_name(), 0,
                      definition.SerializeAsString());
}

std::string DeletedTableKey(uint64_t storage_id) { return kDeletedTableKeyPrefix + StorageIdKey(storage_id); }

std::string ScanSegmentKey(uint64_t storage_id, int32_t total_segments) {
  return kSegmentsKeyPrefix + StorageIdKey(storage_id) + SequenceKey(static_cast<uint64_t>(total_segments));
}

std::vector<std::string> ScanSegmentKeys(const ReadView& view, uint64_t storage_id) {
  std::vector<std::string> keys;
  const std::string prefix = kSegmentsKeyPrefix + StorageIdKey(storage_id);
  std::unique_ptr<rocksdb::Iterator> it =
      view.store()->NewIterator(rocksdb::ReadOptions(), view.store()->catalog());
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next())
    keys.push_back(it->key().ToString());
  return keys;
}

}  // namespace itemdb::storage
