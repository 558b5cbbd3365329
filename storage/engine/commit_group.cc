#include "storage/engine/commit_group.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <chrono>

#include "storage/base/check.h"
#include "storage/engine/read_view.h"
#include "storage/keys/key_codec.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb {
namespace {

// Expired tokens forgotten for each new one, so that their number falls back after a peak.
constexpr size_t kForgottenPerToken = 2;

int64_t NowMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void CheckOk(const rocksdb::Status& status) { ITEMDB_CHECK(status.ok()); }

}  // namespace

ItemKey::ItemKey(uint64_t storage_id, std::string key)
    : encoded(std::move(key)), hash(XXH3_64bits_withSeed(encoded.data(), encoded.size(), storage_id)) {}

CommitGroup::CommitGroup(OrderingState* state)
    : state_(state),
      catalog_(state->catalog),
      wall_time_us_(state->clock_us ? state->clock_us() : NowMicros()),
      commit_time_us_(std::max(state->last_commit_time_us, wall_time_us_)),
      next_sequence_(state->next_sequence) {}

absl::StatusOr<std::optional<std::string_view>> CommitGroup::CurrentItem(const Table& table,
                                                                         const ItemKey& key,
                                                                         const CarriedRead& carried) {
  auto written = overlay_.find(std::make_pair(table.storage_id, std::string_view(key.encoded)));
  if (written != overlay_.end()) return written->second;
  if (state_->last_write[key.hash % state_->last_write.size()] <= carried.group &&
      carried.group >= state_->first_trusted_group) {
    return carried.item.has_value() ? std::optional<std::string_view>(*carried.item) : std::nullopt;
  }
  rocksdb::PinnableSlice record;
  rocksdb::Status status =
      GetRecord(*state_->store, ItemsOf(*state_->store, table), rocksdb::ReadOptions(), key.encoded, &record);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return FromRocksDB("cannot read an item of table " + table.name, status);
  std::optional<StoredRecord> decoded = DecodeRecord(table.storage_id, key.encoded, ToView(record));
  if (!decoded.has_value()) return DamagedRecordError("table " + table.name, key.encoded);
  reads_.push_back(std::make_unique<std::string>(decoded->payload));
  return std::string_view(*reads_.back());
}

void CommitGroup::PutItem(const Table& table, const ItemKey& key, std::string_view item, size_t item_size) {
  Put(ItemsOf(*state_->store, table), key.encoded,
      EncodeRecord(table.storage_id, key.encoded, item_size, item));
  overlay_[std::make_pair(table.storage_id, std::string_view(key.encoded))] = item;
  state_->last_write[key.hash % state_->last_write.size()] = state_->next_group;
}

void CommitGroup::DeleteItem(const Table& table, const ItemKey& key) {
  Delete(ItemsOf(*state_->store, table), key.encoded);
  overlay_[std::make_pair(table.storage_id, std::string_view(key.encoded))] = std::nullopt;
  state_->last_write[key.hash % state_->last_write.size()] = state_->next_group;
}

void CommitGroup::PutEntry(const Index& index, std::string_view key, std::string_view item,
                           size_t item_size) {
  Put(EntriesOf(*state_->store, index), key, EncodeRecord(index.storage_id, key, item_size, item));
  if (index.time_to_live) time_entries_.push_back({index.storage_id, std::string(key)});
}

void CommitGroup::DeleteEntry(const Index& index, std::string_view key) {
  Delete(EntriesOf(*state_->store, index), key);
}

void CommitGroup::Put(const Keyspace& keyspace, std::string_view key, std::string_view record) {
  const rocksdb::Slice key_parts[] = {keyspace.prefix(), ToSlice(key)};
  const rocksdb::Slice value = ToSlice(record);
  CheckOk(batch_.Put(keyspace.family(), rocksdb::SliceParts(key_parts, 2), rocksdb::SliceParts(&value, 1)));
}

void CommitGroup::Delete(const Keyspace& keyspace, std::string_view key) {
  const rocksdb::Slice key_parts[] = {keyspace.prefix(), ToSlice(key)};
  CheckOk(batch_.Delete(keyspace.family(), rocksdb::SliceParts(key_parts, 2)));
}

void CommitGroup::DeleteRequest(std::string_view key) {
  CheckOk(batch_.Delete(state_->store->requests(), ToSlice(key)));
}

void CommitGroup::PutCatalog(std::string_view key, std::string_view record) {
  CheckOk(batch_.Put(state_->store->catalog(), ToSlice(key), ToSlice(record)));
}

void CommitGroup::DeleteCatalog(std::string_view key) {
  CheckOk(batch_.Delete(state_->store->catalog(), ToSlice(key)));
}

void CommitGroup::Count(uint64_t storage_id, int64_t items, int64_t bytes) {
  auto [entry, inserted] = counters_.try_emplace(storage_id);
  if (inserted) entry->second = state_->counters[storage_id];
  entry->second.items += items;
  entry->second.bytes += bytes;
}

void CommitGroup::SetCounters(uint64_t storage_id, const Counters& counters) {
  counters_[storage_id] = counters;
}

void CommitGroup::DropItems(const Table& table) { Drop({table.storage_id, KeyspaceKind::kItems}); }

void CommitGroup::DropEntries(const Index& index) {
  Drop({index.storage_id, index.local ? KeyspaceKind::kLocalEntries : KeyspaceKind::kGlobalEntries});
}

void CommitGroup::Drop(DroppedKeyspace dropped) {
  Count(dropped.storage_id, 0, 0);
  dropped.bytes = std::max<int64_t>(counters_[dropped.storage_id].bytes, 0);
  dropped.time_us = wall_time_us_;
  PutCatalog(DroppedKey(dropped.storage_id), EncodeDropped(dropped));
  counters_.erase(dropped.storage_id);
  state_->counters.erase(dropped.storage_id);
  state_->table_counters.erase(dropped.storage_id);
  CheckOk(batch_.Delete(state_->store->stats(), CountersKey(dropped.storage_id)));
}

absl::StatusOr<Counters> CommitGroup::FindCollection(const Table& table, const ItemKey& key) {
  std::string collection_key = CollectionKey(table.storage_id, key.encoded);
  if (auto known = collections_.find(collection_key); known != collections_.end())
    return known->second.counters;
  ITEMDB_ASSIGN_OR_RETURN(Counters counters, ReadCounters(*state_->store, rocksdb::ReadOptions(),
                                                          table.storage_id, collection_key));
  collections_.emplace(std::move(collection_key), Collection{table.storage_id, counters, false});
  return counters;
}

void CommitGroup::CountCollection(const Table& table, const ItemKey& key, const Counters& change) {
  auto known = collections_.find(CollectionKey(table.storage_id, key.encoded));
  ITEMDB_CHECK(known != collections_.end());
  known->second.counters.items += change.items;
  known->second.counters.bytes += change.bytes;
  known->second.changed = true;
  Count(table.storage_id, 0, 0);  // Without counters there would be nothing to write.
}

void CommitGroup::PutCollection(const Table& table, const ItemKey& key, const Counters& counters) {
  collections_.insert_or_assign(CollectionKey(table.storage_id, key.encoded),
                                Collection{table.storage_id, counters, true});
  Count(table.storage_id, 0, 0);
}

void CommitGroup::AppendChange(uint64_t storage_id, std::string_view record) {
  changes_.Add(storage_id, next_sequence_);
  std::string key = SequenceKey(next_sequence_++);
  CheckOk(batch_.Put(state_->store->changes(), key, EncodeRecord(kChangesStorageId, key, 0, record)));
}

rocksdb::WriteBatch& CommitGroup::Finish() {
  ForgetExpiredRequests(tokens_.size() * kForgottenPerToken);
  for (const TableRunsOfGroup::Record& runs : changes_.Encode())
    CheckOk(batch_.Put(state_->store->table_runs(), runs.key, runs.value));
  rocksdb::ColumnFamilyHandle* stats = state_->store->stats();
  for (const auto& [storage_id, counters] : counters_) {
    const std::string key = CountersKey(storage_id);
    CheckOk(batch_.Put(stats, key, EncodeCounters(storage_id, key, counters)));
  }
  for (const auto& [key, collection] : collections_) {
    if (!collection.changed) continue;
    if (collection.counters.items == 0) {
      CheckOk(batch_.Delete(stats, key));
    } else {
      CheckOk(batch_.Put(stats, key, EncodeCounters(collection.storage_id, key, collection.counters)));
    }
  }
  return batch_;
}

void CommitGroup::Commit() {
  for (const auto& [storage_id, counters] : counters_) {
    state_->counters[storage_id] = counters;
    const auto shown = state_->table_counters.find(storage_id);
    if (shown != state_->table_counters.end()) shown->second->Set(state_->next_group, counters);
  }
  state_->catalog = catalog_;
  state_->next_sequence = next_sequence_;
  state_->last_commit_time_us = commit_time_us_;
  ++state_->next_group;
}

}  // namespace itemdb
