// Tables and their secondary indexes: definitions (what a program requests) and descriptions (what exists).
//
// Plain data, for designated initializers:
//
//   TableDefinition{.table_name = "Product",
//                   .attribute_definitions = {{"product_id", ScalarAttributeType::kString}},
//                   .key_schema = {{"product_id", KeyType::kHash}}}
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "itemdb/export.h"

namespace itemdb {

// Type of a key attribute: S, N or B.
enum class ScalarAttributeType { kString, kNumber, kBinary };

// Role of an attribute in a key: partition key (HASH) or sort key (RANGE).
enum class KeyType { kHash, kRange };

// Which attributes index entries hold in addition to the keys of index and table.
enum class ProjectionType { kKeysOnly, kInclude, kAll };

enum class BillingMode { kProvisioned, kPayPerRequest };

// Which images of an item its change records hold in addition to the key.
enum class StreamViewType { kKeysOnly, kNewImage, kOldImage, kNewAndOldImages };

// The status of a table or an index. An index is kCreating during its backfill and cannot be read yet. A
// table is kUpdating while one of its indexes is kCreating or has just been deleted, otherwise kActive.
// kUnknown: a status of a newer daemon that this library does not know.
enum class TableStatus { kUnknown, kActive, kCreating, kUpdating, kDeleting };

struct AttributeDefinition {
  std::string attribute_name;
  ScalarAttributeType attribute_type = ScalarAttributeType::kString;
  bool operator==(const AttributeDefinition&) const = default;
};

struct KeySchemaElement {
  std::string attribute_name;
  KeyType key_type = KeyType::kHash;
  bool operator==(const KeySchemaElement&) const = default;
};

struct Projection {
  ProjectionType projection_type = ProjectionType::kAll;
  // With kInclude 1 to 20 names, otherwise none.
  std::vector<std::string> non_key_attributes = {};
  bool operator==(const Projection&) const = default;
};

// Stored and shown by the daemon, not enforced. Both at least 1.
struct ProvisionedThroughput {
  int64_t read_capacity_units = 1;
  int64_t write_capacity_units = 1;
  bool operator==(const ProvisionedThroughput&) const = default;
};

// ---- settings that the daemon stores and shows; no other effect ----

enum class TableClass { kStandard, kStandardInfrequentAccess };

struct SseSpecification {
  bool enabled = false;
  // AES256 or KMS; empty with `enabled`: KMS.
  std::string sse_type = {};
  // A key's name or ARN; only with KMS.
  std::string kms_master_key_id = {};
  bool operator==(const SseSpecification&) const = default;
};

// At least one of the two; -1 removes a limit.
struct OnDemandThroughput {
  std::optional<int64_t> max_read_request_units = std::nullopt;
  std::optional<int64_t> max_write_request_units = std::nullopt;
  bool operator==(const OnDemandThroughput&) const = default;
};

// At least one of the two, at least 1 each.
struct WarmThroughput {
  std::optional<int64_t> read_units_per_second = std::nullopt;
  std::optional<int64_t> write_units_per_second = std::nullopt;
  bool operator==(const WarmThroughput&) const = default;
};

struct GlobalSecondaryIndex {
  std::string index_name;
  // 1 to 4 kHash elements, then 0 to 4 kRange elements.
  std::vector<KeySchemaElement> key_schema = {};
  Projection projection = {};
  // Required with BillingMode::kProvisioned, otherwise forbidden.
  std::optional<ProvisionedThroughput> provisioned_throughput = std::nullopt;
  // Stored and shown by DescribeTable; no other effect.
  std::optional<OnDemandThroughput> on_demand_throughput = std::nullopt;
  std::optional<WarmThroughput> warm_throughput = std::nullopt;
  bool operator==(const GlobalSecondaryIndex&) const = default;
};

// Has the partition key of its table and another sort key. The table must have a sort key.
struct LocalSecondaryIndex {
  std::string index_name;
  // The table's kHash element, then one kRange element.
  std::vector<KeySchemaElement> key_schema = {};
  Projection projection = {};
  bool operator==(const LocalSecondaryIndex&) const = default;
};

enum class VectorDistanceFunction { kCosine, kEuclidean, kDotProduct };

enum class SearchSchemaElementType { kHash, kInlineFilter };

struct SearchSchemaElement {
  std::string attribute_name;
  SearchSchemaElementType type = SearchSchemaElementType::kInlineFilter;
  bool operator==(const SearchSchemaElement&) const = default;
};

// An index by the nearness of vectors, for Client::SearchVectors. Its table must be
// BillingMode::kPayPerRequest.
struct VectorIndex {
  std::string index_name;
  // The attribute with the vector: a list of `dimensions` numbers. Items without it are not in the index.
  std::string vector_attribute;
  // 1 to 4,096.
  int64_t dimensions = 0;
  VectorDistanceFunction distance_function = VectorDistanceFunction::kCosine;
  Projection projection = {};
  // At most one kHash element, whose value every search must name, and 18 kInlineFilter elements. Their types
  // are in the table's attribute definitions.
  std::vector<SearchSchemaElement> search_schema = {};
  bool operator==(const VectorIndex&) const = default;
};

// The table that a program requests from Client::CreateTable.
struct TableDefinition {
  // 3 to 255 characters of [a-zA-Z0-9_.-].
  std::string table_name;
  // Exactly the attributes in the key schemas, each once.
  std::vector<AttributeDefinition> attribute_definitions = {};
  // One kHash element, then at most one kRange element.
  std::vector<KeySchemaElement> key_schema = {};
  // At most 20.
  std::vector<GlobalSecondaryIndex> global_secondary_indexes = {};
  // Note: DynamoDB's own default is PROVISIONED, which needs a throughput.
  BillingMode billing_mode = BillingMode::kPayPerRequest;
  // Required with BillingMode::kProvisioned, otherwise forbidden.
  std::optional<ProvisionedThroughput> provisioned_throughput = std::nullopt;
  StreamViewType stream_view_type = StreamViewType::kKeysOnly;
  // Gives the table a stream with an ARN, through which DynamoDB's Streams API reads the table's changes.
  // Client::Watch does not need it.
  bool stream_enabled = false;
  // At most 5. They cannot be added later.
  std::vector<LocalSecondaryIndex> local_secondary_indexes = {};
  // DeleteTable is refused while this is true.
  bool deletion_protection_enabled = false;
  // At most 50: keys of 1 to 128 characters, values of up to 256.
  std::map<std::string, std::string> tags = {};
  // Stored and shown by DescribeTable; no other effect.
  TableClass table_class = TableClass::kStandard;
  std::optional<SseSpecification> sse_specification = std::nullopt;
  std::optional<OnDemandThroughput> on_demand_throughput = std::nullopt;
  std::optional<WarmThroughput> warm_throughput = std::nullopt;
  // At most 5.
  std::vector<VectorIndex> vector_indexes = {};
};

// The progress of creating an index on a live table.
struct IndexBuild {
  enum class Phase {
    kUnknown,
    // Another index is being built first.
    kWaiting,
    // The daemon reads the items and sorts their index entries.
    kScanning,
    // The daemon writes the sorted entries into the index.
    kWriting,
    // The daemon updates the entries of items that were written during the phases before.
    kCatchingUp,
  };
  Phase phase = Phase::kUnknown;
  // Items, entries or changes handled in this phase; the total is an estimate.
  int64_t done = 0;
  int64_t total = 0;
  // The mean rate of the phase so far, and the time that the rest takes at this rate.
  int64_t per_second = 0;
  absl::Duration time_left = absl::ZeroDuration();
  // Counts as IndexDescription::skipped_items, so far.
  int64_t skipped_items = 0;
  // Why the last attempt was given up; empty if none was. The daemon starts the next attempt by itself.
  std::string last_error = {};
};

// An existing global index.
struct IndexDescription {
  GlobalSecondaryIndex definition;
  TableStatus index_status = TableStatus::kUnknown;
  // Set while the index is kCreating.
  std::optional<IndexBuild> build = std::nullopt;
  // Items that were left out when the index was created on a live table, because a key attribute had the
  // wrong type, was empty or was too long.
  int64_t skipped_items = 0;
  // Identifies the index inside the database; never reused.
  uint64_t storage_id = 0;
  // Exact number of entries and exact sum of their sizes.
  int64_t item_count = 0;
  int64_t index_size_bytes = 0;
};

// An existing local index.
struct LocalIndexDescription {
  LocalSecondaryIndex definition;
  // As in IndexDescription.
  uint64_t storage_id = 0;
  int64_t item_count = 0;
  int64_t index_size_bytes = 0;
};

// An existing vector index.
struct VectorIndexDescription {
  VectorIndex definition;
  // As in IndexDescription.
  TableStatus index_status = TableStatus::kUnknown;
  std::optional<IndexBuild> build = std::nullopt;
  // Items that were left out because their vector or an attribute of the search schema did not fit.
  int64_t skipped_items = 0;
  uint64_t storage_id = 0;
  int64_t item_count = 0;
  int64_t index_size_bytes = 0;
};

// What a table is made of that is being restored; the table is kCreating until it has all items.
struct RestoreSummary {
  std::string source_backup_arn = {};
  std::string source_table_arn = {};
  // The moment whose state the table will have.
  absl::Time restore_time = {};
  // Items written so far, and all items.
  int64_t items_restored = 0;
  int64_t items_total = 0;
};

// Why writes of a table's items are refused: a mover takes them away, or is filling the table. Reads go on.
struct WriteFence {
  // Where the items will be, or are, as writers are told it: 1 to 1,024 bytes.
  std::string endpoint;
  // False: writers are answered UNAVAILABLE (TABLE_MOVING) and try again. True: FAILED_PRECONDITION
  // (TABLE_MOVED).
  bool moved = false;
  // The SHA-256, 64 hexadecimal digits in lower case, of the secret (BulkWriterOptions::fence_pass) with
  // which the BulkWriter of the mover that fills the table writes all the same. Empty: nobody does.
  std::string pass_sha256 = {};
  bool operator==(const WriteFence&) const = default;
};

// An existing table.
struct TableDescription {
  // Its `global_secondary_indexes`, `local_secondary_indexes` and `vector_indexes` equal the definitions in
  // `indexes`, `local_indexes` and `vector_indexes`, in the same order.
  TableDefinition definition;
  TableStatus table_status = TableStatus::kUnknown;
  // A UUID; a new table with the same name has another.
  std::string table_id = {};
  // Identifies the table in change records; never reused.
  uint64_t storage_id = 0;
  absl::Time creation_time = {};
  std::vector<IndexDescription> indexes = {};
  std::vector<LocalIndexDescription> local_indexes = {};
  std::vector<VectorIndexDescription> vector_indexes = {};
  // Exact number of items and exact sum of their sizes.
  int64_t item_count = 0;
  int64_t table_size_bytes = 0;
  // The end of the ARN of the newest stream, enabled or not; empty if the table never had a stream.
  std::string latest_stream_label = {};
  // While the table is being restored.
  std::optional<RestoreSummary> restore = std::nullopt;
  // While writes of the items are refused.
  std::optional<WriteFence> write_fence = std::nullopt;
};

// The first difference between two definitions of one table, in one sentence; empty when they request the
// same. Ignores the order of attribute definitions, indexes and projected attributes, and also deletion
// protection, tags and the settings that have no effect.
ITEMDB_EXPORT std::string DescribeDifference(const TableDefinition& a, const TableDefinition& b);

}  // namespace itemdb
