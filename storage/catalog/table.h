// Immutable descriptors of tables and their indexes, made from the stored definitions. Used by all of
// storage.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/v1/tables.pb.h"
#include "storage/base/status.h"
#include "storage/catalog/used_units.h"
#include "storage/keys/key_range.h"
#include "storage/patterns/key_counts.h"
#include "storage/patterns/table_patterns.h"
#include "storage/values/value_view.h"

namespace itemdb::storage {

// Whether reads may use an index, and what writes do with it.
enum class IndexState {
  // Every item has its entry. Reads may use the index.
  kActive,
  // Being created (SEM-097): the backfill makes entries from one state of the table. Writes make none; they
  // only check that their item fits the index.
  kBackfilling,
  // Being created: writes maintain entries; entries of items written in kBackfilling are reconciled.
  kCatchingUp,
};

// What makes an index a vector index (VEC-01).
struct VectorParameters {
  // The attribute with the vector.
  std::string attribute;
  size_t dimensions = 0;
  v1::VectorDistanceFunction distance = v1::VECTOR_DISTANCE_FUNCTION_UNSPECIFIED;
  // The INLINE_FILTER attributes.
  std::vector<KeyAttribute> filters;
};

// A secondary index.
struct Index {
  std::string name;
  uint64_t storage_id = 0;
  IndexState state = IndexState::kActive;
  // A local index has the table's partition key and one sort-key attribute (SEM-091). It is stored like a
  // global one. A read may ask for attributes that its entries lack. Its capacity is reported separately.
  bool local = false;
  // The index of expired items. Sorted by the time-to-live attribute; its entries carry no
  // attributes. Requests cannot name it, and it costs no capacity (SEM-110). An item whose time-to-live
  // attribute is missing or not a number has no entry (SEM-108).
  bool time_to_live = false;
  // Set in a vector index. Its entries hold the vector as bytes (storage/indexes/index_entry.h). `partition`
  // is its HASH attribute, if it has one; `sort` is empty. Query and Scan cannot read it (VEC-22).
  std::optional<VectorParameters> vector;
  // 1 to 4 partition-key and 0 to 4 sort-key attributes (SEM-077).
  std::vector<KeyAttribute> partition;
  std::vector<KeyAttribute> sort;
  v1::ProjectionType projection = v1::PROJECTION_TYPE_UNSPECIFIED;
  // Sorted names of the attributes that entries carry. Empty when `projection` is ALL.
  std::vector<std::string> projected;
  // As of the table.
  std::shared_ptr<UsedUnits> used = std::make_shared<UsedUnits>();
  std::shared_ptr<KeyCounts> counted_keys;

  // Whether an entry is the item as it is.
  bool HoldsWholeItems() const { return projection == v1::PROJECTION_TYPE_ALL && !vector.has_value(); }

  bool Projects(std::string_view attribute) const;
};

// A table. Immutable; requests hold it by shared_ptr while they run. Every change of the definition makes a
// new descriptor, so two pointers are equal only if the definition did not change.
struct Table {
  // As stored in the catalog, without size statistics.
  v1::TableDescription definition;
  std::string name;
  uint64_t storage_id = 0;
  // One attribute; zero or one attribute.
  std::vector<KeyAttribute> partition;
  std::vector<KeyAttribute> sort;
  // The global indexes, the local ones and the vector indexes, in the order of the definition, then the
  // time-to-live index.
  std::vector<Index> indexes;
  // Whether any index is local. Then the size of every item collection is counted (SEM-092).
  bool has_local_indexes = false;
  // The table's access patterns. All its descriptors share them until an index is deleted.
  std::shared_ptr<TablePatterns> patterns;
  // What requests have used of the table without its indexes. All its descriptors share it.
  std::shared_ptr<UsedUnits> used = std::make_shared<UsedUnits>();
  // The most used keys of the table without its indexes, which have their own; null while contributor
  // insights are off. Descriptors share it until they are turned on again.
  std::shared_ptr<KeyCounts> counted_keys;

  // Null when there is no such index. FindIndex does not find the time-to-live index.
  const Index* FindIndex(std::string_view index_name) const;
  const Index* FindIndexByStorageId(uint64_t index_storage_id) const;
  // Null when the table has no time to live.
  const Index* FindTimeToLiveIndex() const;
  // Whether `attribute` is part of the primary key.
  bool IsKeyAttribute(std::string_view attribute) const;
};

// OK if a writer may write the items of the table. `pass_sha256` is of the secret of the mover that fills it,
// empty for other writers. UNAVAILABLE (TABLE_MOVING), FAILED_PRECONDITION (TABLE_MOVED): the table has a
// fence that does not let the writer through. INVALID_ARGUMENT: there is a secret, and no fence.
absl::Status CheckNotFenced(const Table& table, std::string_view pass_sha256);

// Returns the descriptor of a stored definition. `patterns` is null. A CREATING index is kBackfilling.
Table MakeTable(v1::TableDescription definition);
// Makes `table`, a new descriptor of the table `before`, count what requests use, units and keys, where
// `before` does.
void ShareUsedUnits(const Table& before, Table* table);

// Returns the checked definition of a new table with all defaults (SEM-008, SEM-009, SEM-067, SEM-068,
// SEM-073, SEM-077 to SEM-079, SEM-091, SEM-093). The caller sets storage ids, table id and creation time.
absl::StatusOr<v1::TableDescription> DefinitionFromRequest(const v1::CreateTableRequest& request);

// Return `definition` after UpdateTable (SEM-095), TagTable or UntagTable. INVALID_ARGUMENT: the request
// changes nothing, or does not fit the table. UpdateTable's new index is CREATING and has no storage id.
absl::StatusOr<v1::TableDescription> UpdatedDefinition(v1::TableDescription definition,
                                                       const v1::UpdateTableRequest& request);
absl::StatusOr<v1::TableDescription> TaggedDefinition(v1::TableDescription definition,
                                                      const v1::TagTableRequest& request);
absl::StatusOr<v1::TableDescription> UntaggedDefinition(v1::TableDescription definition,
                                                        const v1::UntagTableRequest& request);

// Returns `definition` with its time to live turned on or off at `now_ms`, milliseconds since the Unix epoch
// (OP-11, SEM-111). INVALID_ARGUMENT: it is already on or off, is on for another attribute, or was changed
// less than `wait` ago. A time to live that is turned on is CREATING and has no storage id.
absl::StatusOr<v1::TableDescription> DefinitionWithTimeToLive(v1::TableDescription definition,
                                                              const v1::UpdateTimeToLiveRequest& request,
                                                              int64_t now_ms, std::chrono::milliseconds wait);

// Raises the warm throughput of the table and its global indexes to what each can take at least (SEM-099):
// its provisioned throughput, or the service's start of tables on demand. It never falls.
void RaiseWarmThroughput(v1::TableDescription* definition);

// INVALID_ARGUMENT when `name` is not 3 to 255 characters of [a-zA-Z0-9_.-]. The message names `parameter`.
absl::Status CheckName(std::string_view parameter, std::string_view name);

// ---- keys of items ----

// Returns the encoded primary key of `item`, which must contain the table's key attributes with their types
// and sizes (SEM-006, SEM-007). Other attributes are ignored.
absl::StatusOr<std::string> EncodePrimaryKey(const Table& table, ItemView item);
// The two halves of EncodePrimaryKey: EncodeKeyOfAnySize encodes without the check of the size; CheckKeySize
// checks the sizes of the key attributes (SEM-006) and needs an item that has them.
absl::StatusOr<std::string> EncodeKeyOfAnySize(const Table& table, ItemView item);
absl::Status CheckKeySize(const Table& table, ItemView item);
// INVALID_ARGUMENT: `key` lacks an attribute of the key schema, has another one, or one of another type
// (SEM-007). The message begins with kKeyMismatch and says what fits.
absl::Status CheckKeyIsExact(const Table& table, ItemView key);
inline constexpr std::string_view kKeyMismatch = "The provided key element does not match the schema";
// INVALID_ARGUMENT: `item` lacks a key attribute, or has one of another type.
absl::Status CheckHasKey(const Table& table, ItemView item);
// CheckKeyIsExact, then EncodePrimaryKey.
absl::StatusOr<std::string> EncodeExactPrimaryKey(const Table& table, ItemView key);
// Returns the key attributes of `item`, which has them, as a canonical encoded item.
std::string ExtractPrimaryKey(const Table& table, ItemView item);

}  // namespace itemdb::storage
