// The compaction filter that leaves the records of deleted tables and indexes out of new table files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "rocksdb/compaction_filter.h"
#include "storage/base/mutex.h"
#include "storage/store/reclaim_pace.h"

namespace itemdb::storage {

// The filter of the column families in which FindOwner finds the owner of a key. Thread-safe.
class DroppedFilter : public rocksdb::CompactionFilterFactory {
 public:
  using StorageIds = absl::flat_hash_set<uint64_t>;

  // The table or index that owns the record under a key.
  struct Owner {
    uint64_t storage_id = 0;
    // Length of the key's front that all records of this owner have, and no record of another owner.
    size_t prefix_bytes = 0;
  };
  // Returns std::nullopt for a key that no table or index owns.
  using FindOwner = std::optional<Owner> (*)(std::string_view key);
  explicit DroppedFilter(FindOwner find_owner) : find_owner_(find_owner) {}

  // Flushes and compactions that begin after this leave out the records of `storage_ids`. RocksDB does this
  // also for records that a snapshot can see: nothing may read these records any more.
  void Set(StorageIds storage_ids);

  // From now on, manual compactions (not RocksDB's own) run at `pace` while there are records to leave out.
  // `bypass` is the parameter of ReclaimPace::Request; RocksDB's threads call it while they compact.
  void SetPace(std::shared_ptr<ReclaimPace> pace, std::function<bool()> bypass);

  const char* Name() const override { return "itemdb.DroppedFilter"; }
  bool ShouldFilterTableFileCreation(rocksdb::TableFileCreationReason reason) const override;
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context& context) override;

 private:
  const FindOwner find_owner_;
  Mutex mutex_;
  // Null: none.
  std::shared_ptr<const StorageIds> storage_ids_ ABSL_GUARDED_BY(mutex_);
  // Null: compactions run at full speed.
  std::shared_ptr<ReclaimPace> pace_ ABSL_GUARDED_BY(mutex_);
  std::function<bool()> bypass_ ABSL_GUARDED_BY(mutex_);
};

// Find the owner of a key of a keyspace (keyspace.h), and of an item collection (size_statistics.h).
std::optional<DroppedFilter::Owner> OwnerOfRecord(std::string_view key);
std::optional<DroppedFilter::Owner> OwnerOfCollection(std::string_view key);

}  // namespace itemdb::storage
