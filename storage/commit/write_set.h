// What a commit group writes: one batch for RocksDB, and the items in it, for units that come later in the
// group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "rocksdb/write_batch.h"
#include "storage/store/keyspace.h"
#include "storage/store/store.h"

namespace itemdb {

// The encoded primary key of an item, with what is derived from it once.
struct ItemKey {
  ItemKey() = default;
  ItemKey(uint64_t storage_id, std::string encoded);

  std::string encoded;
  // Of storage id and key.
  uint64_t hash = 0;
};

// Keys are copied, but for those of items.
class WriteSet {
 public:
  // The key and the item must stay until the group is committed.
  void PutItem(const Store& store, const Table& table, const ItemKey& key, std::string_view item,
               size_t item_size);
  void DeleteItem(const Store& store, const Table& table, const ItemKey& key);
  // What the group has made of an item, nothing inside when it deleted it; null when it did not write it.
  const std::optional<std::string_view>* FindItem(const Table& table, const ItemKey& key) const;

  void Put(const Keyspace& keyspace, std::string_view key, std::string_view record);
  void Delete(const Keyspace& keyspace, std::string_view key);
  void Put(rocksdb::ColumnFamilyHandle* family, std::string_view key, std::string_view record);
  void Delete(rocksdb::ColumnFamilyHandle* family, std::string_view key);

  bool empty() const { return batch_.Count() == 0; }
  size_t SizeBytes() const { return batch_.GetDataSize(); }
  rocksdb::WriteBatch& batch() { return batch_; }

 private:
  rocksdb::WriteBatch batch_;
  // By storage id and key. Without it most increments of a hot counter would be lost.
  absl::flat_hash_map<std::pair<uint64_t, std::string_view>, std::optional<std::string_view>> items_;
};

}  // namespace itemdb
