// The compaction filter that leaves the records of deleted tables and indexes out of new table files.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "rocksdb/compaction_filter.h"
#include "storage/base/mutex.h"

namespace itemdb {

// Thread-safe.
class DroppedFilter : public rocksdb::CompactionFilterFactory {
 public:
  using StorageIds = absl::flat_hash_set<uint64_t>;

  // Flushes and compactions that begin from now on leave the records of `storage_ids` out. RocksDB does so
  // whatever snapshots there are: nothing may read these records any more.
  void Set(StorageIds storage_ids);

  const char* Name() const override { return "itemdb.DroppedFilter"; }
  bool ShouldFilterTableFileCreation(rocksdb::TableFileCreationReason reason) const override;
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context& context) override;

 private:
  Mutex mutex_;
  // Null: none.
  std::shared_ptr<const StorageIds> storage_ids_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb
