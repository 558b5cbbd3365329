// The catalog's records of deleted tables and indexes whose records are still on disk. Each is made by the
// commit that deletes the table or index, and goes when the space was reclaimed (reclaimer.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/store/keyspace.h"

namespace itemdb {

// Stored: never renumber.
enum class KeyspaceKind { kItems = 1, kGlobalEntries = 2, kLocalEntries = 3 };

struct DroppedKeyspace {
  uint64_t storage_id = 0;
  KeyspaceKind kind = KeyspaceKind::kItems;
  // What was counted of it, by SEM-002.
  int64_t bytes = 0;
  // When it was deleted, in microseconds since the Unix epoch.
  int64_t time_us = 0;
};

// Keys of the catalog that begin with it are such records.
inline constexpr char kDroppedKeyPrefix[] = "dropped/";
std::string DroppedKey(uint64_t storage_id);
std::string EncodeDropped(const DroppedKeyspace& dropped);

// All of them, by storage id, as of `snapshot` or, without one, now. DATA_LOSS; or what the store answers.
absl::StatusOr<std::vector<DroppedKeyspace>> ReadDropped(const Store& store,
                                                         const rocksdb::Snapshot* snapshot = nullptr);

Keyspace KeyspaceOf(const Store& store, const DroppedKeyspace& dropped);

}  // namespace itemdb
