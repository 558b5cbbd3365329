// A keyspace: the records of one table or index, in a column family that all tables or indexes of a kind
// share.
//
//   stored key   +------------------------------+----------------------+
//                | storage id (keys/storage_id) | key (keys/key_codec) |
//                +------------------------------+----------------------+
//
// Code above this file uses keys without the storage id.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/iterator.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "storage/catalog/table.h"
#include "storage/keys/key_range.h"
#include "storage/store/store.h"

namespace itemdb::storage {

// Valid while its store is open. Cheap to make and to copy.
class Keyspace {
 public:
  Keyspace(rocksdb::ColumnFamilyHandle* family, uint64_t storage_id);
  // A whole column family, whose keys have no storage id.
  explicit Keyspace(rocksdb::ColumnFamilyHandle* family) : family_(family) {}

  rocksdb::ColumnFamilyHandle* family() const { return family_; }
  // 0 for a whole family.
  uint64_t storage_id() const { return storage_id_; }
  const std::string& prefix() const { return prefix_; }
  std::string StoredKey(std::string_view key) const;
  // The range of stored keys from `range`.
  KeyRange StoredRange(const KeyRange& range) const;

 private:
  rocksdb::ColumnFamilyHandle* family_;
  uint64_t storage_id_ = 0;
  std::string prefix_;
};

// The items of a table, and the entries of an index.
Keyspace ItemsOf(const Store& store, const Table& table);
Keyspace EntriesOf(const Store& store, const Index& index);

// Reads the record under `key`. Returns the status of RocksDB's Get.
rocksdb::Status GetRecord(const Store& store, const Keyspace& keyspace, const rocksdb::ReadOptions& options,
                          std::string_view key, rocksdb::PinnableSlice* record);

// Iterates over the records of a keyspace, or of a range of it, forwards or backwards in key order. Works
// like rocksdb::Iterator, but `key` returns keys without the storage id.
class KeyspaceIterator {
 public:
  // Overwrites the bounds in `options`.
  KeyspaceIterator(const Store& store, const Keyspace& keyspace, rocksdb::ReadOptions options,
                   const KeyRange& range = {});
  KeyspaceIterator(const KeyspaceIterator&) = delete;
  KeyspaceIterator& operator=(const KeyspaceIterator&) = delete;

  void SeekToFirst();
  // As SeekToFirst, without the tombstones at the beginning of the range if it is known that there are no
  // records between them (empty_heads.h), and keeps what it finds. Needs a snapshot in the options. Not for a
  // reader that checks what is stored.
  void SeekBehindEmptyHead();
  void SeekToLast() { iterator_->SeekToLast(); }
  // Moves to the first record whose key is not less than `key`.
  void Seek(std::string_view key) { iterator_->Seek(keyspace_.StoredKey(key)); }
  void Next() { iterator_->Next(); }
  void Prev() { iterator_->Prev(); }
  // After an error behind the record with the key `last`, or at the first record: as StepPastDamage
  // (damaged_block.h).
  bool StepPastDamage(std::string_view last);
  bool Valid() const { return iterator_->Valid(); }
  // Both are valid until the iterator moves.
  std::string_view key() const { return ToView(iterator_->key()).substr(keyspace_.prefix().size()); }
  std::string_view value() const { return ToView(iterator_->value()); }
  rocksdb::Status status() const { return iterator_->status(); }

 private:
  const Store& store_;
  const Keyspace keyspace_;
  // RocksDB's iterator borrows its bounds.
  const KeyRange range_;
  const rocksdb::Slice lower_;
  const rocksdb::Slice upper_;
  rocksdb::ReadOptions options_;
  // Before `iterator_`, whose files are those of this step or later ones.
  uint64_t ingestion_steps_ = 0;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

}  // namespace itemdb::storage
