// Counters: how many items there are and how large they are, kept by the commit pipeline in the batch that
// changes them. Records of the family `stats`, by the storage id they belong to.
//
// clang-format off
//   storage id, 8 bytes big-endian                  a table's items, or an index's entries
//   'c' table's storage id, encoded partition key   an item collection of a table with local indexes: its items,
//                                                   with the size of their entries in those indexes (SEM-066,
//                                                   SEM-092); none for one without items
// clang-format on
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "rocksdb/options.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"
#include "storage/engine/read_view.h"
#include "storage/engine/store.h"

namespace itemdb {

struct Counters {
  int64_t items = 0;
  // By SEM-002.
  int64_t bytes = 0;

  bool operator==(const Counters&) const = default;
};

// The counters of all tables and indexes, by storage id, as the last commit group left them: asking for those
// of thousands of tables reads no disk. Thread-safe.
class CurrentCounters {
 public:
  using ByStorageId = absl::flat_hash_map<uint64_t, Counters>;

  void Reset(ByStorageId counters) {
    MutexLock lock(mutex_);
    counters_ = std::move(counters);
  }
  // Zero when nothing was counted.
  Counters Of(uint64_t storage_id) const {
    MutexLock lock(mutex_);
    const auto counted = counters_.find(storage_id);
    return counted != counters_.end() ? counted->second : Counters();
  }
  // A group was committed that changed some and dropped others.
  void Commit(const ByStorageId& changed, const std::vector<uint64_t>& dropped) {
    MutexLock lock(mutex_);
    for (const auto& [storage_id, counters] : changed) counters_[storage_id] = counters;
    for (const uint64_t storage_id : dropped) counters_.erase(storage_id);
  }

 private:
  mutable Mutex mutex_;
  ByStorageId counters_ ABSL_GUARDED_BY(mutex_);
};

std::string CountersKey(uint64_t storage_id);
// What the keys of all collections begin with, and those of one table's.
inline constexpr char kCollectionKeyPrefix[] = "c";
std::string CollectionsPrefix(uint64_t storage_id);
// The collection that the item with the encoded primary key `item_key` is in.
std::string CollectionKey(uint64_t storage_id, std::string_view item_key);

std::string EncodeCounters(uint64_t storage_id, std::string_view key, const Counters& counters);
std::optional<Counters> DecodeCounters(uint64_t storage_id, std::string_view key, std::string_view record);

// The counters under `key`; zero when there are none. DATA_LOSS, or what the store answers.
absl::StatusOr<Counters> ReadCounters(const Store& store, const rocksdb::ReadOptions& options,
                                      uint64_t storage_id, std::string_view key);

// Brings the record of an item's collection into memory, so that ordering a write to the item need not wait
// for the disk. False when this would have to.
absl::StatusOr<bool> WarmCollection(const ReadView& view, uint64_t storage_id, std::string_view item_key,
                                    ReadTier tier);

}  // namespace itemdb
