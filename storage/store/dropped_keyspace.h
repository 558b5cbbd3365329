// Catalog records of deleted tables and indexes whose data is still on disk. The commit that deletes the
// table or index writes its record. The reclaimer (reclaimer.h) deletes it when the space was reclaimed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/store/keyspace.h"

namespace itemdb::storage {

// Stored: never renumber.
enum class KeyspaceKind { kItems = 1, kGlobalEntries = 2, kLocalEntries = 3 };

struct DroppedKeyspace {
  uint64_t storage_id = 0;
  KeyspaceKind kind = KeyspaceKind::kItems;
  // Its bytes in the size statistics (item sizes by SEM-002).
  int64_t bytes = 0;
  // When it was deleted, in microseconds since the Unix epoch.
  int64_t time_us = 0;
};

// Prefix of the keys of these records.
inline constexpr char kDroppedKeyPrefix[] = "dropped/";
std::string DroppedKey(uint64_t storage_id);
std::string EncodeDropped(const DroppedKeyspace& dropped);

// Returns all records in order of storage id, as of `snapshot` or, without one, now. DATA_LOSS: a record is
// damaged; or the error of the store.
absl::StatusOr<std::vector<DroppedKeyspace>> ReadDropped(const Store& store,
                                                         const rocksdb::Snapshot* snapshot = nullptr);

Keyspace KeyspaceOf(const Store& store, const DroppedKeyspace& dropped);

}  // namespace itemdb::storage
