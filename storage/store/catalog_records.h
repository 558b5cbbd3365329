// The records of the family `catalog`: their keys, and what they hold. Those of streams are in
// storage/schema/stream_records.h, those of deleted tables in dropped_keyspace.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/v1/tables.pb.h"
#include "storage/store/read_view.h"

namespace itemdb {

inline constexpr char kNextStorageIdKey[] = "next_storage_id";
inline constexpr char kChangesStartKey[] = "changes_start";
// Present while indexes and counters must be rebuilt from the items.
inline constexpr char kNeedsRebuildKey[] = "needs_rebuild";
inline constexpr char kTableKeyPrefix[] = "table/";
// Where a table or index is split for a parallel scan (storage/query/scan_segments.h).
inline constexpr char kSegmentsKeyPrefix[] = "segments/";
// A record holding one number, and a table definition.
std::string EncodeCatalogNumber(std::string_view key, uint64_t number);
std::string EncodeCatalogTable(const v1::TableDescription& definition);

// The key for how a table or index is split into so many segments, and all of them.
std::string SegmentsKey(uint64_t storage_id, int32_t total_segments);
std::vector<std::string> SegmentsKeys(const ReadView& view, uint64_t storage_id);

}  // namespace itemdb
