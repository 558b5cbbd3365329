#include "storage/engine/given_out.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "itemdb/v1/backups.pb.h"
#include "storage/commit/table_runs.h"
#include "storage/keys/storage_id.h"
#include "storage/store/catalog_records.h"
#include "storage/store/dropped_keyspace.h"
#include "storage/store/sequence_key.h"

namespace itemdb::storage {

uint64_t HighestStorageId(const CatalogRecords& catalog) {
  uint64_t highest = 0;
  const auto add = [&highest](v1::TableDescription definition) {
    const Table table = MakeTable(std::move(definition));
    highest = std::max(highest, table.storage_id);
    for (const Index& index : table.indexes) highest = std::max(highest, index.storage_id);
  };
  for (const auto& [key, record] : catalog) {
    if (key.starts_with(kDroppedKeyPrefix)) {
      const auto id =
          ParseStorageIdKey(std::string_view(key).substr(std::string_view(kDroppedKeyPrefix).size()));
      highest = std::max(highest, id.value_or(0));
    }
    if (key.starts_with(kTableKeyPrefix)) {
      if (auto definition = DecodeTable(key, record); definition.has_value()) add(*std::move(definition));
    } else if (key.starts_with(kRestoringKeyPrefix)) {
      if (auto table = DecodeCatalogMessage<v1::RestoringTable>(key, record); table.has_value())
        add(std::move(*table->mutable_definition()));
    } else if (key.starts_with(kDeletedTableKeyPrefix)) {
      if (auto table = DecodeCatalogMessage<v1::DeletedTable>(key, record); table.has_value())
        add(std::move(*table->mutable_definition()));
    }
  }
  return highest;
}

uint64_t HighestStorageId(const LiveFiles& files) {
  uint64_t highest = 0;
  for (const rocksdb::LiveFileMetaData& file : files) {
    bool has_ids = false;
    for (int i = Store::kItems; i <= Store::kLocalEntries; ++i)
      has_ids |= file.column_family_name == Store::kFamilyNames[i];
    // Keys begin with the storage id, so that of the last key is the highest of the file.
    std::string_view key = file.largestkey;
    if (has_ids) highest = std::max(highest, ConsumeStorageId(&key).value_or(0));
  }
  return highest;
}

uint64_t LastOfTableRuns(const Store& store) {
  std::unique_ptr<rocksdb::Iterator> it = store.NewIterator(rocksdb::ReadOptions(), store.table_runs());
  it->SeekToLast();
  uint64_t last = 0;
  // Reads all records of the last epoch, because they are sorted by table, not by change.
  for (const std::string prefix = it->Valid() ? it->key().ToString().substr(0, TableRunsPrefix(0).size())
                                              : "";
       it->Valid() && it->key().starts_with(prefix); it->Prev()) {
    const auto runs = DecodeTableRuns(ToView(it->key()), ToView(it->value()));
    const uint64_t first = FirstOfTableRuns(ToView(it->key()));
    last = std::max(last, runs.has_value() ? runs->back().end() - 1 : EndOfEpoch(EpochOf(first)) - 1);
  }
  return last;
}

uint64_t LastByFileRanges(const LiveFiles& files) {
  uint64_t last = 0;
  for (const rocksdb::LiveFileMetaData& file : files) {
    if (file.column_family_name == Store::kFamilyNames[Store::kChanges])
      last = std::max(last, ParseSequenceKey(file.largestkey).value_or(0));
    if (file.column_family_name != Store::kFamilyNames[Store::kTableRuns]) continue;
    if (const uint64_t first = FirstOfTableRuns(file.largestkey); first != 0)
      last = std::max(last, EndOfEpoch(EpochOf(first)) - 1);
  }
  return last;
}

}  // namespace itemdb::storage
