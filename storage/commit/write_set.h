// The writes of a commit group: one RocksDB batch, and a map of its items for later units of the group.
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

namespace itemdb::storage {

// The encoded primary key of an item, and its hash.
struct ItemKey {
  ItemKey() = default;
  ItemKey(uint64_t storage_id, std::string encoded);

  std::string encoded;
  // Hash of storage id and encoded key.
  uint64_t hash = 0;
};

// Copies keys and records into the batch. The map of items only points to keys and items.
class WriteSet {
 public:
  // `key` and `item` must stay valid until the group is committed. Returns the checksum of the record.
  uint64_t PutItem(const Store& store, const Table& table, const ItemKey& key, std::string_view item,
                   size_t item_size);
  void DeleteItem(const Store& store, const Table& table, const ItemKey& key);
  // The item as this group wrote it, an empty optional when the group deleted it. Null when the group did not
  // write it. Valid until the next PutItem or DeleteItem.
  const std::optional<std::string_view>* FindItem(const Table& table, const ItemKey& key) const;

  void Put(const Keyspace& keyspace, std::string_view key, std::string_view record);
  void Delete(const Keyspace& keyspace, std::string_view key);
  void Put(rocksdb::ColumnFamilyHandle* family, std::string_view key, std::string_view record);
  void Delete(rocksdb::ColumnFamilyHandle* family, std::string_view key);

  // Makes room for `bytes` more, if that is so much that growing step by step would cost memory.
  void ReserveBytes(size_t bytes);

  bool empty() const { return batch_.Count() == 0; }
  size_t SizeBytes() const { return batch_.GetDataSize(); }
  rocksdb::WriteBatch& batch() { return batch_; }

 private:
  rocksdb::WriteBatch batch_;
  // By storage id and key. Without this map, increments of one counter item by several units of a group would
  // overwrite each other.
  absl::flat_hash_map<std::pair<uint64_t, std::string_view>, std::optional<std::string_view>> items_;
};

}  // namespace itemdb::storage
