#include "storage/store/keyspace.h"

#include <algorithm>
#include <utility>

#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "storage/keys/key_codec.h"
#include "storage/keys/storage_id.h"
#include "storage/store/damaged_block.h"

namespace itemdb::storage {
namespace {

// Counts the tombstones that this thread steps over while the object exists.
class CountedTombstones {
 public:
  CountedTombstones() : level_(rocksdb::GetPerfLevel()) {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    before_ = rocksdb::get_perf_context()->internal_delete_skipped_count;
  }
  ~CountedTombstones() { rocksdb::SetPerfLevel(level_); }
  CountedTombstones(const CountedTombstones&) = delete;
  CountedTombstones& operator=(const CountedTombstones&) = delete;

  uint64_t stepped_over() const {
    return rocksdb::get_perf_context()->internal_delete_skipped_count - before_;
  }

 private:
  const rocksdb::PerfLevel level_;
  uint64_t before_ = 0;
};

}  // namespace

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
  ingestion_steps_ = store.empty_heads().ingestion_steps();
  iterator_ = store.NewIterator(options_, keyspace_.family());
}

void KeyspaceIterator::SeekToFirst() {
  if (range_.lower.empty()) return iterator_->SeekToFirst();
  iterator_->Seek(lower_);
}

void KeyspaceIterator::SeekBehindEmptyHead() {
  if (range_.lower.empty() || range_.upper.empty()) return SeekToFirst();
  EmptyHeads& heads = store_.empty_heads();
  const uint32_t family = keyspace_.family()->GetID();
  const uint64_t snapshot = options_.snapshot->GetSequenceNumber();
  const std::optional<std::string> known = heads.EndOf(family, range_.lower, snapshot);
  const CountedTombstones tombstones;
  iterator_->Seek(known.has_value() ? ToSlice(*known) : lower_);
  if (tombstones.stepped_over() < EmptyHeads::kWorthTombstones) return;
  if (!Valid() && !status().ok()) return;
  heads.Found(family, range_.lower, Valid() ? ToView(iterator_->key()) : range_.upper, snapshot,
              ingestion_steps_, [this] { return store_.db()->GetLatestSequenceNumber(); });
}

bool KeyspaceIterator::StepPastDamage(std::string_view last) {
  const auto make = [this] { return store_.NewIterator(options_, keyspace_.family()); };
  return storage::StepPastDamage(make, std::max(keyspace_.StoredKey(last), range_.lower),
                                 range_.upper.empty() ? kBehindAllKeys : range_.upper, &iterator_);
}

}  // namespace itemdb::storage
