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
#include "storage/store/read_view.h"
#include "storage/store/store.h"

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

  void Reset(const ByStorageId& counters) {
    MutexLock lock(mutex_);
    counted_.clear();
    last_drop_ = 0;
    for (const auto& [storage_id, current] : counters) counted_[storage_id] = {current, 0};
  }
  // Of the last group that was committed, which need not be visible yet. Zero when nothing was counted.
  Counters Of(uint64_t storage_id) const {
    MutexLock lock(mutex_);
    const auto counted = counted_.find(storage_id);
    return counted != counted_.end() ? counted->second.counters : Counters();
  }
  // Those that commit group `group` left. Nothing when a later one has changed them.
  std::optional<Counters> At(uint64_t group, uint64_t storage_id) const {
    MutexLock lock(mutex_);
    const auto counted = counted_.find(storage_id);
    // Nothing was counted, or it was dropped.
    if (counted == counted_.end()) return last_drop_ > group ? std::nullopt : std::optional(Counters());
    if (counted->second.group > group) return std::nullopt;
    return counted->second.counters;
  }
  // Commit group `group` changed some and dropped others.
  void Commit(uint64_t group, const ByStorageId& changed, const std::vector<uint64_t>& dropped) {
    MutexLock lock(mutex_);
    for (const auto& [storage_id, counters] : changed) counted_[storage_id] = {counters, group};
    for (const uint64_t storage_id : dropped) counted_.erase(storage_id);
    if (!dropped.empty()) last_drop_ = group;
  }

 private:
  struct Counted {
    Counters counters;
    // That changed them last.
    uint64_t group = 0;
  };

  mutable Mutex mutex_;
  absl::flat_hash_map<uint64_t, Counted> counted_ ABSL_GUARDED_BY(mutex_);
  // The last group that dropped any.
  uint64_t last_drop_ ABSL_GUARDED_BY(mutex_) = 0;
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

// The same of a table or index as of `view`.
absl::StatusOr<Counters> ReadCounters(const ReadView& view, uint64_t storage_id);
// The same, in memory where nobody has changed them since.
absl::StatusOr<Counters> FindCounters(const CurrentCounters& current, const ReadView& view,
                                      uint64_t storage_id);

// Brings the record of an item's collection into memory, so that ordering a write to the item need not wait
// for the disk. False when this would have to.
absl::StatusOr<bool> WarmCollection(const ReadView& view, uint64_t storage_id, std::string_view item_key,
                                    ReadTier tier);

}  // namespace itemdb
