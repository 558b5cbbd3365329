#include "storage/commit/group_counters.h"

#include <algorithm>

#include "storage/base/check.h"

namespace itemdb {

Counters GroupCounters::Of(uint64_t storage_id) const {
  const auto changed = counters_.find(storage_id);
  return changed != counters_.end() ? changed->second : current_.Of(storage_id);
}

void GroupCounters::Add(uint64_t storage_id, int64_t items, int64_t bytes) {
  // Whoever counts looks first whether the table is still in the group's catalog.
  ITEMDB_CHECK(std::find(dropped_.begin(), dropped_.end(), storage_id) == dropped_.end());
  auto [entry, inserted] = counters_.try_emplace(storage_id);
  if (inserted) entry->second = current_.Of(storage_id);
  entry->second.items += items;
  entry->second.bytes += bytes;
}

Counters GroupCounters::Drop(uint64_t storage_id, WriteSet* writes) {
  const Counters last = Of(storage_id);
  counters_.erase(storage_id);
  dropped_.push_back(storage_id);
  writes->Delete(store_.stats(), CountersKey(storage_id));
  return last;
}

absl::StatusOr<Counters> GroupCounters::FindCollection(uint64_t storage_id, const ItemKey& key) {
  std::string collection_key = CollectionKey(storage_id, key.encoded);
  if (auto known = collections_.find(collection_key); known != collections_.end())
    return known->second.counters;
  ITEMDB_ASSIGN_OR_RETURN(Counters counters,
                          ReadCounters(store_, rocksdb::ReadOptions(), storage_id, collection_key));
  collections_.emplace(std::move(collection_key), Collection{storage_id, counters, false});
  return counters;
}

void GroupCounters::AddToCollection(uint64_t storage_id, const ItemKey& key, const Counters& change) {
  auto known = collections_.find(CollectionKey(storage_id, key.encoded));
  ITEMDB_CHECK(known != collections_.end());
  known->second.counters.items += change.items;
  known->second.counters.bytes += change.bytes;
  known->second.changed = true;
  collections_changed_ = true;
}

void GroupCounters::SetCollection(uint64_t storage_id, const ItemKey& key, const Counters& counters) {
  collections_.insert_or_assign(CollectionKey(storage_id, key.encoded),
                                Collection{storage_id, counters, true});
  collections_changed_ = true;
}

void GroupCounters::AppendTo(WriteSet* writes) const {
  for (const auto& [storage_id, counters] : counters_) {
    const std::string key = CountersKey(storage_id);
    writes->Put(store_.stats(), key, EncodeCounters(storage_id, key, counters));
  }
  for (const auto& [key, collection] : collections_) {
    if (!collection.changed) continue;
    if (collection.counters.items == 0) {
      writes->Delete(store_.stats(), key);
    } else {
      writes->Put(store_.stats(), key, EncodeCounters(collection.storage_id, key, collection.counters));
    }
  }
}

void GroupCounters::Commit(uint64_t group) { current_.Commit(group, counters_, dropped_); }

}  // namespace itemdb
