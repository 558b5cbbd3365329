#include "storage/commit/commit_group.h"

#include <algorithm>

#include "storage/keys/key_codec.h"
#include "storage/store/read_view.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb::storage {

CommitGroup::CommitGroup(ApplyState* state)
    : state_(state),
      catalog_(state->catalog),
      wall_time_us_(state->time_of_day->NowMicros()),
      commit_time_us_(std::max(state->last_commit_time_us, wall_time_us_)),
      next_sequence_(state->next_sequence),
      size_statistics_(*state->store, state->size_statistics),
      tokens_(*state->store, TokenTime::Now(*state->time_of_day), state->tokens, size_statistics_, writes_) {}

absl::StatusOr<std::optional<std::string_view>> CommitGroup::CurrentItem(const Table& table,
                                                                         const ItemKey& key,
                                                                         const PrefetchedRead& prefetched) {
  if (const auto* written = writes_.FindItem(table, key); written != nullptr) return *written;
  if (state_->last_write_group_numbers[key.hash % state_->last_write_group_numbers.size()] <=
          prefetched.group_number &&
      prefetched.group_number >= state_->first_valid_read_group_number) {
    return prefetched.item.has_value() ? std::optional<std::string_view>(*prefetched.item) : std::nullopt;
  }
  rocksdb::PinnableSlice record;
  rocksdb::Status status =
      GetRecord(*state_->store, ItemsOf(*state_->store, table), rocksdb::ReadOptions(), key.encoded, &record);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return state_->store->ReadError("cannot read an item of table " + table.name, status);
  std::optional<StoredRecord> decoded = DecodeRecord(table.storage_id, key.encoded, ToView(record));
  if (!decoded.has_value()) return DamagedRecordError("table " + table.name, key.encoded);
  reads_.push_back(std::make_unique<std::string>(decoded->payload));
  return std::string_view(*reads_.back());
}

uint64_t CommitGroup::PutItem(const Table& table, const ItemKey& key, std::string_view item,
                              size_t item_size) {
  state_->last_write_group_numbers[key.hash % state_->last_write_group_numbers.size()] =
      state_->next_group_number;
  return writes_.PutItem(*state_->store, table, key, item, item_size);
}

void CommitGroup::DeleteItem(const Table& table, const ItemKey& key) {
  writes_.DeleteItem(*state_->store, table, key);
  state_->last_write_group_numbers[key.hash % state_->last_write_group_numbers.size()] =
      state_->next_group_number;
}

uint64_t CommitGroup::PutEntry(const Index& index, std::string_view key, std::string_view item,
                               size_t item_size) {
  const std::string record = EncodeRecord(index.storage_id, key, item_size, item);
  writes_.Put(EntriesOf(*state_->store, index), key, record);
  if (index.time_to_live) time_entries_.push_back({index.storage_id, std::string(key)});
  return ChecksumInRecord(record);
}

void CommitGroup::DeleteEntry(const Index& index, std::string_view key) {
  writes_.Delete(EntriesOf(*state_->store, index), key);
}

void CommitGroup::DeleteRequest(std::string_view key) { writes_.Delete(state_->store->requests(), key); }

void CommitGroup::PutCatalog(std::string_view key, std::string_view record) {
  writes_.Put(state_->store->catalog(), key, record);
}

void CommitGroup::DeleteCatalog(std::string_view key) { writes_.Delete(state_->store->catalog(), key); }

void CommitGroup::DropItems(const Table& table) { Drop({table.storage_id, KeyspaceKind::kItems}); }

void CommitGroup::DropEntries(const Index& index) {
  Drop({index.storage_id, index.local ? KeyspaceKind::kLocalEntries : KeyspaceKind::kGlobalEntries});
}

void CommitGroup::Drop(DroppedKeyspace dropped) {
  dropped.bytes = std::max<int64_t>(size_statistics_.Drop(dropped.storage_id, &writes_).bytes, 0);
  dropped.time_us = wall_time_us_;
  PutCatalog(DroppedKey(dropped.storage_id), EncodeDropped(dropped));
}

void CommitGroup::AppendChange(uint64_t storage_id, std::string_view record) {
  changes_.Add(storage_id, next_sequence_);
  std::string key = SequenceKey(next_sequence_++);
  writes_.Put(state_->store->changes(), key, EncodeRecord(kChangesStorageId, key, 0, record));
}

void CommitGroup::PutReplicatedChange(uint64_t storage_id, std::string_view key, std::string_view record) {
  changes_.Add(storage_id, next_sequence_++);
  writes_.Put(state_->store->changes(), key, record);
}

void CommitGroup::EndReplicated(int64_t time_us) {
  commit_time_us_ = std::max(commit_time_us_, time_us);
  is_replicated_ = true;
}

rocksdb::WriteBatch& CommitGroup::SealBatch() {
  tokens_.DeleteSomeExpired();
  for (const TableRunsOfGroup::Record& runs : changes_.Encode())
    writes_.Put(state_->store->table_runs(), runs.key, runs.value);
  size_statistics_.AppendTo(&writes_);
  return writes_.batch();
}

void CommitGroup::InstallState() {
  size_statistics_.InstallState(state_->next_group_number);
  state_->catalog = catalog_;
  state_->next_sequence = next_sequence_;
  state_->last_commit_time_us = commit_time_us_;
  if (is_replicated_) state_->first_valid_read_group_number = state_->next_group_number;
  ++state_->next_group_number;
}

}  // namespace itemdb::storage
