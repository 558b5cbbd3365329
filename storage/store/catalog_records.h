// Records of the column family `catalog`: their keys and contents. The contents of stream records are
// in storage/schema/stream_records.h, records of deleted tables in dropped_keyspace.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/v1/tables.pb.h"
#include "storage/base/status.h"
#include "storage/store/read_view.h"
#include "storage/store/sequence_key.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {

inline constexpr char kNextStorageIdKey[] = "next_storage_id";
inline constexpr char kChangesStartKey[] = "changes_start";
// Present while indexes and size statistics must be rebuilt from the items.
inline constexpr char kNeedsRebuildKey[] = "needs_rebuild";
inline constexpr char kTableKeyPrefix[] = "table/";
// Streams (storage/schema/stream_records.h).
inline constexpr char kStreamKeyPrefix[] = "stream/";
// Changes that are kept for readers (storage/changes/change_holds.h).
inline constexpr char kChangeHoldKeyPrefix[] = "change_hold/";
// Tables that are being made of stored items, and deleted ones whose items are kept for a backup
// (storage/schema/restoring_tables.h).
inline constexpr char kRestoringKeyPrefix[] = "restoring/";
inline constexpr char kDeletedTableKeyPrefix[] = "deleted_table/";
// Exports of tables (storage/exports/export_records.h).
inline constexpr char kExportKeyPrefix[] = "export/";
std::string DeletedTableKey(uint64_t storage_id);
// Imports, by their ids (storage/schema/import_records.h).
inline constexpr char kImportKeyPrefix[] = "import/";
// Bulk puts, by their ids, and what they keep until they end (storage/bulk_puts/bulk_records.h).
inline constexpr char kBulkPutKeyPrefix[] = "bulk_put/";
inline constexpr char kBulkProgressKeyPrefix[] = "bulk_put_progress/";
inline constexpr char kBulkCancelKeyPrefix[] = "bulk_put_cancel/";
inline constexpr char kBulkObjectsKeyPrefix[] = "bulk_put_objects/";
inline constexpr char kBulkReportKeyPrefix[] = "bulk_put_report/";
// Where a table or index is split for a parallel scan (storage/query/scan_segments.h).
inline constexpr char kSegmentsKeyPrefix[] = "segments/";
// Return the record of a number, and of a table definition.
std::string EncodeCatalogNumber(std::string_view key, uint64_t number);
std::string EncodeCatalogTable(const v1::TableDescription& definition);
// nullopt: the record is damaged.
template <typename Message>
std::optional<Message> DecodeCatalogMessage(std::string_view key, std::string_view record) {
  const std::optional<StoredRecord> stored = DecodeRecord(kCatalogStorageId, key, record);
  Message message;
  if (!stored.has_value() ||
      !message.ParseFromArray(stored->payload.data(), static_cast<int>(stored->payload.size())))
    return std::nullopt;
  return message;
}
// FAILED_PRECONDITION (FORMAT_UNKNOWN): the definition has parts that this program does not know. A newer one
// wrote it, and this one could not maintain them; they may be another kind of index.
absl::Status CheckIsKnown(const v1::TableDescription& definition);
// DATA_LOSS: the record is damaged.
absl::StatusOr<uint64_t> DecodeCatalogNumber(std::string_view key, std::string_view record);

// The key of the split points of a table or index for `total_segments`, and its keys for all segment counts.
std::string ScanSegmentKey(uint64_t storage_id, int32_t total_segments);
absl::StatusOr<std::vector<std::string>> ScanSegmentKeys(const ReadView& view, uint64_t storage_id);
// The number of segments in such a key; 0 if it has none.
int32_t ScanSegmentNumber(std::string_view key);

}  // namespace itemdb::storage
