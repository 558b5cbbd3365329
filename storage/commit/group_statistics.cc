#include "storage/commit/group_statistics.h"

#include <algorithm>

#include "storage/base/check.h"

namespace itemdb::storage {

SizeStatistics GroupStatistics::Of(uint64_t storage_id) const {
  const auto changed = size_statistics_.find(storage_id);
  return changed != size_statistics_.end() ? changed->second : current_.Of(storage_id);
}

void GroupStatistics::Add(uint64_t storage_id, const SizeStatistics& change) {
  // A caller checks first that the table is still in the group's catalog.
  ITEMDB_CHECK(std::find(dropped_.begin(), dropped_.end(), storage_id) == dropped_.end());
  auto [entry, inserted] = size_statistics_.try_emplace(storage_id);
  if (inserted) entry->second = current_.Of(storage_id);
  entry->second += change;
}

void GroupStatistics::Correct(uint64_t storage_id, const SizeStatistics& stored, SizeStatistics error) {
  const bool was_whole = stored.content.is_whole;
  if (!was_whole && Of(storage_id).content.is_whole) error.content.sum = 0;
  Add(storage_id, error);
  if (!was_whole) size_statistics_[storage_id].content.is_whole = true;
}

SizeStatistics GroupStatistics::Drop(uint64_t storage_id, WriteSet* writes) {
  const SizeStatistics last = Of(storage_id);
  size_statistics_.erase(storage_id);
  dropped_.push_back(storage_id);
  writes->Delete(store_.stats(), StatisticsKey(storage_id));
  return last;
}

absl::StatusOr<SizeStatistics> GroupStatistics::FindCollection(uint64_t storage_id, const ItemKey& key) {
  std::string collection_key = CollectionKey(storage_id, key.encoded);
  if (auto known = collections_.find(collection_key); known != collections_.end())
    return known->second.size_statistics;
  ITEMDB_ASSIGN_OR_RETURN(SizeStatistics size_statistics,
                          ReadStatistics(store_, rocksdb::ReadOptions(), storage_id, collection_key));
  collections_.emplace(std::move(collection_key), Collection{storage_id, size_statistics, false});
  return size_statistics;
}

void GroupStatistics::AddToCollection(uint64_t storage_id, const ItemKey& key, const SizeStatistics& change) {
  auto known = collections_.find(CollectionKey(storage_id, key.encoded));
  ITEMDB_CHECK(known != collections_.end());
  known->second.size_statistics += change;
  known->second.changed = true;
  collections_changed_ = true;
}

void GroupStatistics::SetCollection(uint64_t storage_id, const ItemKey& key,
                                    const SizeStatistics& size_statistics) {
  collections_.insert_or_assign(CollectionKey(storage_id, key.encoded),
                                Collection{storage_id, size_statistics, true});
  collections_changed_ = true;
}

void GroupStatistics::AppendTo(WriteSet* writes) const {
  for (const auto& [storage_id, size_statistics] : size_statistics_) {
    const std::string key = StatisticsKey(storage_id);
    writes->Put(store_.stats(), key, EncodeStatistics(storage_id, key, size_statistics));
  }
  for (const auto& [key, collection] : collections_) {
    if (!collection.changed) continue;
    if (collection.size_statistics.items == 0) {
      writes->Delete(store_.stats(), key);
    } else {
      writes->Put(store_.stats(), key,
                  EncodeStatistics(collection.storage_id, key, collection.size_statistics));
    }
  }
}

void GroupStatistics::InstallState(uint64_t group_number) {
  current_.Install(group_number, size_statistics_, dropped_);
}

}  // namespace itemdb::storage
