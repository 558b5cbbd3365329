// Size statistics: the number and the total size of items, and a sum over what they are. The commit pipeline
// updates them in the batch that changes the items. They are the records of the column family `stats`:
//
// clang-format off
//   storage id, 8 bytes big-endian                  a table's items, or an index's entries
//   'c' table's storage id, encoded partition key   an item collection of a table with local indexes: its
//                                                   items, and the bytes of their entries in local indexes
//                                                   (SEM-066, SEM-092). No record without items
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

namespace itemdb::storage {

// The sum of the checksums (storage/values/stored_record.h) of all records of a table or an index, modulo
// 2^64. It does not depend on their order, and differs if a record is missing, too many, or another one, also
// where the record itself and the number of records are right.
struct ContentSum {
  uint64_t sum = 0;
  // False: `sum` lacks the checksums of records that a version before 0.2.1 wrote, or has that of an item
  // that was discarded because it could not be read. A check completes it (repair.h, content_check.h).
  bool is_whole = true;

  bool operator==(const ContentSum&) const = default;
};

struct SizeStatistics {
  int64_t items = 0;
  // By SEM-002.
  int64_t bytes = 0;
  // Of tables and indexes; not of item collections and request tokens.
  ContentSum content = {};

  bool operator==(const SizeStatistics&) const = default;
  // Counts a record of a table or an index, given its item size and its checksum.
  void AddRecord(uint64_t item_size, uint64_t checksum) {
    ++items;
    bytes += static_cast<int64_t>(item_size);
    content.sum += checksum;
  }
  void RemoveRecord(uint64_t item_size, uint64_t checksum) {
    --items;
    bytes -= static_cast<int64_t>(item_size);
    content.sum -= checksum;
  }
  // Adds a difference; whether the content sum is whole stays.
  SizeStatistics& operator+=(const SizeStatistics& change) {
    items += change.items;
    bytes += change.bytes;
    content.sum += change.content.sum;
    return *this;
  }
  SizeStatistics& operator-=(const SizeStatistics& change) {
    items -= change.items;
    bytes -= change.bytes;
    content.sum -= change.content.sum;
    return *this;
  }
  // Whether these, as stored, are right if `counted` was counted.
  bool Matches(const SizeStatistics& counted) const {
    return items == counted.items && bytes == counted.bytes &&
           (!content.is_whole || content.sum == counted.content.sum);
  }
};

// The size statistics of all tables and indexes after the last commit group. In memory, so that statistics of
// thousands of tables need no disk read. Thread-safe.
class CurrentStatistics {
 public:
  using ByStorageId = absl::flat_hash_map<uint64_t, SizeStatistics>;

  void Reset(const ByStorageId& size_statistics) {
    MutexLock lock(mutex_);
    counted_.clear();
    last_drop_group_number_ = 0;
    for (const auto& [storage_id, current] : size_statistics) counted_[storage_id] = {current, 0};
  }
  // As of the last committed group, which may not be visible yet. Zero when there are none.
  SizeStatistics Of(uint64_t storage_id) const {
    MutexLock lock(mutex_);
    const auto counted = counted_.find(storage_id);
    return counted != counted_.end() ? counted->second.size_statistics : SizeStatistics();
  }
  // As of the commit group `group_number`. std::nullopt when a later group changed them.
  std::optional<SizeStatistics> At(uint64_t group_number, uint64_t storage_id) const {
    MutexLock lock(mutex_);
    const auto counted = counted_.find(storage_id);
    // There are none, or they were dropped.
    if (counted == counted_.end())
      return last_drop_group_number_ > group_number ? std::nullopt : std::optional(SizeStatistics());
    if (counted->second.group_number > group_number) return std::nullopt;
    return counted->second.size_statistics;
  }
  // Stores what the commit group `group_number` changed, and removes what it dropped.
  void Install(uint64_t group_number, const ByStorageId& changed, const std::vector<uint64_t>& dropped) {
    MutexLock lock(mutex_);
    for (const auto& [storage_id, size_statistics] : changed)
      counted_[storage_id] = {size_statistics, group_number};
    for (const uint64_t storage_id : dropped) counted_.erase(storage_id);
    if (!dropped.empty()) last_drop_group_number_ = group_number;
  }

 private:
  struct Counted {
    SizeStatistics size_statistics;
    // The number of the last group that changed them.
    uint64_t group_number = 0;
  };

  mutable Mutex mutex_;
  absl::flat_hash_map<uint64_t, Counted> counted_ ABSL_GUARDED_BY(mutex_);
  // The number of the last group that dropped statistics.
  uint64_t last_drop_group_number_ ABSL_GUARDED_BY(mutex_) = 0;
};

std::string StatisticsKey(uint64_t storage_id);
// The prefix of the keys of all item collections, and of the item collections of one table.
inline constexpr char kCollectionKeyPrefix[] = "c";
std::string CollectionsPrefix(uint64_t storage_id);
// The key of the item collection that holds the item with the encoded primary key `item_key`.
std::string CollectionKey(uint64_t storage_id, std::string_view item_key);

std::string EncodeStatistics(uint64_t storage_id, std::string_view key,
                             const SizeStatistics& size_statistics);
std::optional<SizeStatistics> DecodeStatistics(uint64_t storage_id, std::string_view key,
                                               std::string_view record);

// Reads the size statistics under `key`. Zero when there are none. DATA_LOSS, or the error of the store.
absl::StatusOr<SizeStatistics> ReadStatistics(const Store& store, const rocksdb::ReadOptions& options,
                                              uint64_t storage_id, std::string_view key);

// The same, for a table or index as of `view`.
absl::StatusOr<SizeStatistics> ReadStatistics(const ReadView& view, uint64_t storage_id);
// The same, from `current` if no later group changed them, else from the store.
absl::StatusOr<SizeStatistics> FindStatistics(const CurrentStatistics& current, const ReadView& view,
                                              uint64_t storage_id);

// Reads the record of an item's collection into the block cache, so that applying a write to the item does
// not wait for the disk. False when the tier is kCacheOnly and the record is only on disk.
absl::StatusOr<bool> PrefetchCollection(const ReadView& view, uint64_t storage_id, std::string_view item_key,
                                        ReadTier tier);

}  // namespace itemdb::storage
