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

namespace itemdb {

// Of families whose keys say what table or index they are of in the same way. Thread-safe.
class DroppedFilter : public rocksdb::CompactionFilterFactory {
 public:
  using StorageIds = absl::flat_hash_set<uint64_t>;

  // Whose the record under a key is.
  struct Owner {
    uint64_t storage_id = 0;
    // So many bytes at the front of the key are the same in all its records, and in no other's.
    size_t prefix_bytes = 0;
  };
  // Nothing for a key of no table or index.
  using FindOwner = std::optional<Owner> (*)(std::string_view key);
  explicit DroppedFilter(FindOwner find_owner) : find_owner_(find_owner) {}

  // Flushes and compactions that begin from now on leave the records of `storage_ids` out. RocksDB does so
  // whatever snapshots there are: nothing may read these records any more.
  void Set(StorageIds storage_ids);

  // Compactions that are asked for, not RocksDB's own, go at `pace` from now on while there is something to
  // leave out; `must_hurry` as in ReclaimPace::Spend, called on RocksDB's threads while they compact.
  void SetPace(std::shared_ptr<ReclaimPace> pace, std::function<bool()> must_hurry);

  const char* Name() const override { return "itemdb.DroppedFilter"; }
  bool ShouldFilterTableFileCreation(rocksdb::TableFileCreationReason reason) const override;
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context& context) override;

 private:
  const FindOwner find_owner_;
  Mutex mutex_;
  // Null: none.
  std::shared_ptr<const StorageIds> storage_ids_ ABSL_GUARDED_BY(mutex_);
  // Null: as fast as they can.
  std::shared_ptr<ReclaimPace> pace_ ABSL_GUARDED_BY(mutex_);
  std::function<bool()> must_hurry_ ABSL_GUARDED_BY(mutex_);
};

// The keys of keyspaces (keyspace.h), and of item collections (counters.h).
std::optional<DroppedFilter::Owner> OwnerOfRecord(std::string_view key);
std::optional<DroppedFilter::Owner> OwnerOfCollection(std::string_view key);

}  // namespace itemdb
