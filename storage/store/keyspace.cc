#include "storage/store/keyspace.h"

#include <algorithm>
#include <utility>

#include "storage/keys/key_codec.h"
#include "storage/keys/storage_id.h"
#include "storage/store/damaged_block.h"

namespace itemdb::storage {

Keyspace::Keyspace(rocksdb::ColumnFamilyHandle* family, uint64_t storage_id)
    : family_(family), storage_id_(storage_id) {
  AppendStorageId(storage_id, &prefix_);
}

std::string Keyspace::StoredKey(std::string_view key) const {
  std::string stored;
  stored.reserve(prefix_.size() + key.size());
  return stored.append(prefix_).append(key);
}

KeyRange Keyspace::StoredRange(const KeyRange& range) const {
  return {StoredKey(range.lower), range.upper.empty() ? PrefixSuccessor(prefix_) : StoredKey(range.upper)};
}

Keyspace ItemsOf(const Store& store, const Table& table) { return Keyspace(store.items(), table.storage_id); }

Keyspace EntriesOf(const Store& store, const Index& index) {
  return Keyspace(index.local ? store.local_entries() : store.global_entries(), index.storage_id);
}

rocksdb::Status GetRecord(const Store& store, const Keyspace& keyspace, const rocksdb::ReadOptions& options,
                          std::string_view key, rocksdb::PinnableSlice* record) {
  return store.db()->Get(options, keyspace.family(), keyspace.StoredKey(key), record);
}

KeyspaceIterator::KeyspaceIterator(const Store& store, const Keyspace& keyspace, rocksdb::ReadOptions options,
                                   const KeyRange& range)
    : store_(store),
      keyspace_(keyspace),
      range_(keyspace.StoredRange(range)),
      lower_(range_.lower),
      upper_(range_.upper),
      options_(std::move(options)) {
  if (!range_.lower.empty()) options_.iterate_lower_bound = &lower_;
  if (!range_.upper.empty()) options_.iterate_upper_bound = &upper_;
  iterator_ = store.NewIterator(options_, keyspace_.family());
}

void KeyspaceIterator::SeekToFirst() {
  if (range_.lower.empty()) return iterator_->SeekToFirst();
  iterator_->Seek(lower_);
}

bool KeyspaceIterator::StepPastDamage(std::string_view last) {
  const auto make = [this] { return store_.NewIterator(options_, keyspace_.family()); };
  return storage::StepPastDamage(make, std::max(keyspace_.StoredKey(last), range_.lower),
                                 range_.upper.empty() ? kBehindAllKeys : range_.upper, &iterator_);
}

}  // namespace itemdb::storage
