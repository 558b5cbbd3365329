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

#include "rocksdb/options.h"
#include "storage/base/status.h"
#include "storage/catalog/table_counters.h"
#include "storage/engine/read_view.h"
#include "storage/engine/store.h"

namespace itemdb {

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
