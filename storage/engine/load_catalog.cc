#include "storage/engine/load_catalog.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/engine/completeness.h"
#include "storage/keys/key_codec.h"
#include "storage/store/catalog_records.h"
#include "storage/store/sequence_key.h"
#include "storage/store/size_statistics.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

// DATA_LOSS: `storage_id` would be given out again, because it is not below the catalog's next storage id.
absl::Status CheckId(const Table& table, uint64_t storage_id, uint64_t next_storage_id) {
  if (storage_id < next_storage_id) return absl::OkStatus();
  return DataLossError("table " + table.name + " or an index of it has the storage id " +
                       std::to_string(storage_id) + ", but the catalog says that ids from " +
                       std::to_string(next_storage_id) + " on were never given out; " + NextCommand());
}

}  // namespace

absl::StatusOr<uint64_t> ReadCatalogNumber(const Store& store, std::string_view key, uint64_t fallback) {
  std::string record;
  rocksdb::Status status = store.db()->Get(rocksdb::ReadOptions(), store.catalog(), ToSlice(key), &record);
  if (status.IsNotFound()) return fallback;
  if (!status.ok()) return FromRocksDB("cannot read the catalog", status);
  return DecodeCatalogNumber(key, record);
}

absl::Status CheckDefinitionsAreKnown(const Store& store) {
  const std::unique_ptr<rocksdb::Iterator> it = store.NewIterator(rocksdb::ReadOptions(), store.catalog());
  for (it->Seek(kTableKeyPrefix); it->Valid() && it->key().starts_with(kTableKeyPrefix); it->Next()) {
    const auto definition =
        DecodeCatalogMessage<v1::TableDescription>(ToView(it->key()), ToView(it->value()));
    if (definition.has_value()) ITEMDB_RETURN_IF_ERROR(CheckIsKnown(*definition));
  }
  return absl::OkStatus();
}

absl::Status LoadCatalog(Recovered* recovered) {
  const Store& store = *recovered->start.store;
  ITEMDB_ASSIGN_OR_RETURN(recovered->next_storage_id, ReadCatalogNumber(store, kNextStorageIdKey, 1));
  ITEMDB_ASSIGN_OR_RETURN(recovered->changes_start, ReadCatalogNumber(store, kChangesStartKey, 1));

  ITEMDB_ASSIGN_OR_RETURN(uint64_t needs_rebuild, ReadCatalogNumber(store, kNeedsRebuildKey, 0));
  recovered->needs_rebuild = needs_rebuild != 0;

  std::unique_ptr<rocksdb::Iterator> it = store.NewIterator(rocksdb::ReadOptions(), store.catalog());
  for (it->Seek(kTableKeyPrefix); it->Valid() && it->key().starts_with(kTableKeyPrefix); it->Next()) {
    std::string key = it->key().ToString();
    std::optional<StoredRecord> record = DecodeRecord(kCatalogStorageId, key, ToView(it->value()));
    v1::TableDescription definition;
    if (!record.has_value() ||
        !definition.ParseFromArray(record->payload.data(), static_cast<int>(record->payload.size()))) {
      return DataLossError("the catalog record " + key + " is damaged");
    }
    ITEMDB_RETURN_IF_ERROR(CheckIsKnown(definition));
    auto table = std::make_shared<Table>(MakeTable(std::move(definition)));
    std::vector<uint64_t> storage_ids = {table->storage_id};
    for (const Index& index : table->indexes) storage_ids.push_back(index.storage_id);
    for (uint64_t storage_id : storage_ids) {
      ITEMDB_RETURN_IF_ERROR(CheckId(*table, storage_id, recovered->next_storage_id));
    }
    recovered->tables.push_back(std::move(table));  // In name order, like the keys.
  }
  if (!it->status().ok()) return FromRocksDB("cannot read the catalog", it->status());

  it = store.NewIterator(rocksdb::ReadOptions(), store.stats());
  for (it->SeekToFirst(); it->Valid();) {
    // Records of item collections are not loaded: there may be many, and each is read when a write needs it.
    if (it->key().starts_with(kCollectionKeyPrefix)) {
      it->Seek(PrefixSuccessor(kCollectionKeyPrefix));
      continue;
    }
    std::optional<uint64_t> storage_id = ParseStorageIdKey(ToView(it->key()));
    std::optional<SizeStatistics> size_statistics;
    if (storage_id.has_value())
      size_statistics = DecodeStatistics(*storage_id, ToView(it->key()), ToView(it->value()));
    if (!size_statistics.has_value()) return DataLossError("a record of item counts is damaged");
    recovered->start.size_statistics.emplace(*storage_id, *size_statistics);
    it->Next();
  }
  if (!it->status().ok()) return FromRocksDB("cannot read the item counts", it->status());
  return absl::OkStatus();
}

}  // namespace itemdb::storage
