// The changes that a commit group makes to size statistics: of tables and indexes, and of item collections.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "storage/base/status.h"
#include "storage/commit/write_set.h"
#include "storage/store/size_statistics.h"

namespace itemdb::storage {

class GroupStatistics {
 public:
  // `current`: the size statistics as the group before left them. Both must outlive this object.
  GroupStatistics(const Store& store, CurrentStatistics& current) : store_(store), current_(current) {}

  // ---- of tables and indexes, by storage id ----

  // The size statistics with the changes of this group.
  SizeStatistics Of(uint64_t storage_id) const;
  void Add(uint64_t storage_id, const SizeStatistics& change);
  // Adds `error`: by how much they differed from a count of all records, in a view in which they were
  // `stored`. A content sum that was not whole there is whole afterwards, also if somebody else has completed
  // it meanwhile.
  void Correct(uint64_t storage_id, const SizeStatistics& stored, SizeStatistics error);
  // The checksum of a record that was deleted is not known.
  void SetContentSumIncomplete(uint64_t storage_id) {
    Add(storage_id, {});
    size_statistics_[storage_id].content.is_whole = false;
  }
  void Set(uint64_t storage_id, const SizeStatistics& size_statistics) {
    size_statistics_[storage_id] = size_statistics;
  }
  // Deletes the statistics of a dropped table or index from memory and, in `writes`, from disk. Returns their
  // last value. Add must not be called for `storage_id` afterwards.
  SizeStatistics Drop(uint64_t storage_id, WriteSet* writes);

  // ---- of item collections of tables with local indexes ----

  // The statistics of the item collection of the item `key`, with the changes of this group. DATA_LOSS: the
  // stored record does not decode. Other errors: of the store.
  absl::StatusOr<SizeStatistics> FindCollection(uint64_t storage_id, const ItemKey& key);
  // Adds `change` to a collection for which FindCollection has succeeded.
  void AddToCollection(uint64_t storage_id, const ItemKey& key, const SizeStatistics& change);
  // Replaces the statistics of a collection whose record does not decode (FindCollection returned DATA_LOSS).
  void SetCollection(uint64_t storage_id, const ItemKey& key, const SizeStatistics& size_statistics);

  // True when nothing was changed. Drop() does not count as a change.
  bool empty() const { return size_statistics_.empty() && !collections_changed_; }
  // Adds the changed records to `writes`.
  void AppendTo(WriteSet* writes) const;
  // Passes the statistics as this group left them to `current`. `group_number` is that of this commit group.
  void InstallState(uint64_t group_number);

 private:
  struct Collection {
    uint64_t storage_id = 0;
    SizeStatistics size_statistics;
    bool changed = false;
  };

  const Store& store_;
  CurrentStatistics& current_;
  absl::flat_hash_map<uint64_t, SizeStatistics> size_statistics_;
  std::vector<uint64_t> dropped_;
  // By key: the collections that FindCollection has read, with the changes of this group.
  absl::flat_hash_map<std::string, Collection> collections_;
  bool collections_changed_ = false;
};

}  // namespace itemdb::storage
