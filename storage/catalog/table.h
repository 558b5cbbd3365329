// What the rest of storage knows of a table and its indexes: immutable descriptors made from their
// definitions.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/v1/tables.pb.h"
#include "storage/base/status.h"
#include "storage/keys/key_range.h"
#include "storage/patterns/table_patterns.h"
#include "storage/values/value_view.h"

namespace itemdb {

// What an index is good for.
enum class IndexState {
  // Every item has its entry; reads may use it.
  kActive,
  // Being created (SEM-097): entries are made of one state of the table, those of writes are only checked.
  kFilling,
  // Being created: writes maintain their entries, those of items written while it was kFilling are mended.
  kCatchingUp,
};

// A secondary index.
struct Index {
  std::string name;
  uint64_t storage_id = 0;
  IndexState state = IndexState::kActive;
  // A local index has the table's partition key and one sort-key attribute (SEM-091). It is kept like a
  // global one; a read of it may ask for what it does not hold, and is accounted for under its own heading.
  bool local = false;
  // The index that expired items are found by: sorted by the attribute of the table's time to live, with
  // nothing in its entries. Nobody reads it by its name, and it costs no capacity (SEM-110). An item whose
  // attribute is no number has no entry (SEM-108).
  bool time_to_live = false;
  // 1 to 4 partition-key and 0 to 4 sort-key attributes (SEM-077).
  std::vector<KeyAttribute> partition;
  std::vector<KeyAttribute> sort;
  v1::ProjectionType projection = v1::PROJECTION_TYPE_UNSPECIFIED;
  // Names of the attributes that entries carry, sorted; empty when `projection` is ALL.
  std::vector<std::string> projected;

  bool Projects(std::string_view attribute) const;
};

// A table. Immutable; requests hold it by shared_ptr while they run. The pointer's identity is its
// generation: any change of definition makes a new descriptor.
struct Table {
  // As stored in the catalog, without counters.
  v1::TableDescription definition;
  std::string name;
  uint64_t storage_id = 0;
  // One attribute, and none or one.
  std::vector<KeyAttribute> partition;
  std::vector<KeyAttribute> sort;
  // The global ones, then the local ones, both as defined; then that of the time to live.
  std::vector<Index> indexes;
  // Whether any of them is local. The size of every item collection is accounted for then (SEM-092).
  bool has_local_indexes = false;
  // How it is read and written. Every descriptor of the table has the same, but for what goes with an index.
  std::shared_ptr<TablePatterns> patterns;

  // Null when there is no such index. By name only those that users have given one.
  const Index* FindIndex(std::string_view index_name) const;
  const Index* FindIndexByStorageId(uint64_t index_storage_id) const;
  // Null when the table has none.
  const Index* FindTimeToLiveIndex() const;
  // Whether `attribute` is part of the primary key.
  bool IsKeyAttribute(std::string_view attribute) const;
};

// The descriptor of a stored definition; its patterns are left null. An index that is
// CREATING is kFilling.
Table MakeTable(v1::TableDescription definition);

// A definition from a request: checked (SEM-008, SEM-009, SEM-067, SEM-068, SEM-073, SEM-077..079, SEM-091,
// SEM-093), with every default filled in; storage ids, table id and creation time are left for the caller.
absl::StatusOr<v1::TableDescription> DefinitionFromRequest(const v1::CreateTableRequest& request);

// `definition` after UpdateTable (SEM-095), TagTable, UntagTable. INVALID_ARGUMENT: nothing is asked for, or
// it does not fit the table. UpdateTable's new index is CREATING and lacks a storage id.
absl::StatusOr<v1::TableDescription> UpdatedDefinition(v1::TableDescription definition,
                                                       const v1::UpdateTableRequest& request);
absl::StatusOr<v1::TableDescription> TaggedDefinition(v1::TableDescription definition,
                                                      const v1::TagTableRequest& request);
absl::StatusOr<v1::TableDescription> UntaggedDefinition(v1::TableDescription definition,
                                                        const v1::UntagTableRequest& request);

// `definition` with its time to live turned on or off at `now_ms`, milliseconds since the Unix epoch (OP-11,
// SEM-111). INVALID_ARGUMENT: it is so already, is on for another attribute, or the last change was less than
// `wait` ago. One that is turned on is CREATING and lacks a storage id.
absl::StatusOr<v1::TableDescription> DefinitionWithTimeToLive(v1::TableDescription definition,
                                                              const v1::UpdateTimeToLiveRequest& request,
                                                              int64_t now_ms, std::chrono::milliseconds wait);

// INVALID_ARGUMENT when `name` is not 3 to 255 characters of [a-zA-Z0-9_.-]. `parameter` names it in the
// message.
absl::Status CheckName(std::string_view parameter, std::string_view name);

// ---- keys of items ----

// The encoded primary key of `item`, which must contain the table's key attributes with their types and sizes
// (SEM-006, SEM-007); other attributes are ignored.
absl::StatusOr<std::string> EncodePrimaryKey(const Table& table, ItemView item);
// The two halves of it: the key whatever its size, and whether that is within SEM-006.
absl::StatusOr<std::string> EncodeKeyOfAnySize(const Table& table, ItemView item);
absl::Status CheckKeySize(const Table& table, ItemView item);
// An attribute that is not in the key schema, or that is missing, in a key given alone (SEM-007).
absl::Status CheckKeyIsExact(const Table& table, ItemView key);
// The same as EncodePrimaryKey for a key given alone: an attribute that is not in the key schema is refused
// too.
absl::StatusOr<std::string> EncodeExactPrimaryKey(const Table& table, ItemView key);
// The key attributes of `item` (which has them), encoded and canonical.
std::string ExtractPrimaryKey(const Table& table, ItemView item);

}  // namespace itemdb
