// Tables and their secondary indexes: what is asked for (definitions) and what there is (descriptions).
//
// Plain data, for designated initializers:
//
//   TableDefinition{.table_name = "Product",
//                   .attribute_definitions = {{"product_id", ScalarAttributeType::kString}},
//                   .key_schema = {{"product_id", KeyType::kHash}}}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "itemdb/export.h"

namespace itemdb {
inline namespace client {

// Type of a key attribute: S, N or B.
enum class ScalarAttributeType { kString, kNumber, kBinary };

// Role of an attribute in a key: partition key (HASH) or sort key (RANGE).
enum class KeyType { kHash, kRange };

// What index entries carry besides the keys of index and table.
enum class ProjectionType { kKeysOnly, kInclude, kAll };

enum class BillingMode { kProvisioned, kPayPerRequest };

// Which images of an item its change records carry besides the key.
enum class StreamViewType { kKeysOnly, kNewImage, kOldImage, kNewAndOldImages };

// Of a table or an index. A table is kActive, or kUpdating while one of its indexes is kCreating (it is being
// filled and cannot be read yet) or has just been deleted. kUnknown is what a newer daemon may say.
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

// ---- settings that the daemon keeps and shows, without effect ----

enum class TableClass { kStandard, kStandardInfrequentAccess };

struct SseSpecification {
  bool enabled = false;
  // AES256 or KMS; empty with `enabled`: KMS.
  std::string sse_type = {};
  // A key's name or ARN; only with KMS.
  std::string kms_master_key_id = {};
  bool operator==(const SseSpecification&) const = default;
};

// At least one of the two; -1 takes a bound away.
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
  // Kept and shown, without effect.
  std::optional<OnDemandThroughput> on_demand_throughput = std::nullopt;
  std::optional<WarmThroughput> warm_throughput = std::nullopt;
  bool operator==(const GlobalSecondaryIndex&) const = default;
};

// Has the table's partition key and another sort key; needs a table with a sort key.
struct LocalSecondaryIndex {
  std::string index_name;
  // The table's kHash element, then one kRange element.
  std::vector<KeySchemaElement> key_schema = {};
  Projection projection = {};
  bool operator==(const LocalSecondaryIndex&) const = default;
};

// A table as it is asked for in Client::CreateTable.
struct TableDefinition {
  // 3 to 255 characters of [a-zA-Z0-9_.-].
  std::string table_name;
  // Exactly the attributes that key schemas name, each once.
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
  // Gives the table's changes an ARN, by which DynamoDB's Streams API reads them. Client::Watch shows them in
  // any case.
  bool stream_enabled = false;
  // At most 5. They cannot be added later.
  std::vector<LocalSecondaryIndex> local_secondary_indexes = {};
  // DeleteTable is refused while this is true.
  bool deletion_protection_enabled = false;
  // At most 50: keys of 1 to 128 characters, values of up to 256.
  std::map<std::string, std::string> tags = {};
  // Kept and shown, without effect.
  TableClass table_class = TableClass::kStandard;
  std::optional<SseSpecification> sse_specification = std::nullopt;
  std::optional<OnDemandThroughput> on_demand_throughput = std::nullopt;
  std::optional<WarmThroughput> warm_throughput = std::nullopt;
};

// How far an index that is being created on a live table is.
struct IndexBuild {
  enum class Phase {
    kUnknown,
    // Another index is being built first.
    kWaiting,
    // Items are read and their entries sorted.
    kScanning,
    // Sorted entries are written into the index.
    kWriting,
    // Entries of items that were written meanwhile are brought up to date.
    kCatchingUp,
  };
  Phase phase = Phase::kUnknown;
  // Of the phase: items, entries or changes; the total is an estimate.
  int64_t done = 0;
  int64_t total = 0;
  // Mean of the phase so far, and the rest of it at that rate.
  int64_t per_second = 0;
  absl::Duration time_left = absl::ZeroDuration();
  // As IndexDescription::skipped_items, so far.
  int64_t skipped_items = 0;
  // Why the last attempt had to be given up, when it had; the next one begins by itself.
  std::string last_error = {};
};

// An index as it is.
struct IndexDescription {
  GlobalSecondaryIndex definition;
  TableStatus index_status = TableStatus::kUnknown;
  // While it is kCreating.
  std::optional<IndexBuild> build = std::nullopt;
  // Items left out when it was created on a live table, because a key attribute had the wrong type, was empty
  // or too long.
  int64_t skipped_items = 0;
  // Names the index inside the database; never reused.
  uint64_t storage_id = 0;
  // Exact number of entries and exact sum of their sizes.
  int64_t item_count = 0;
  int64_t index_size_bytes = 0;
};

// A local index as it is.
struct LocalIndexDescription {
  LocalSecondaryIndex definition;
  // As in IndexDescription.
  uint64_t storage_id = 0;
  int64_t item_count = 0;
  int64_t index_size_bytes = 0;
};

// A table as it is.
struct TableDescription {
  // Its `global_secondary_indexes` and `local_secondary_indexes` are those of `indexes` and `local_indexes`,
  // in the same order.
  TableDefinition definition;
  TableStatus table_status = TableStatus::kUnknown;
  // A UUID; a table made again under the same name has another.
  std::string table_id = {};
  // Names the table in change records; never reused.
  uint64_t storage_id = 0;
  absl::Time creation_time = {};
  std::vector<IndexDescription> indexes = {};
  std::vector<LocalIndexDescription> local_indexes = {};
  // Exact number of items and exact sum of their sizes.
  int64_t item_count = 0;
  int64_t table_size_bytes = 0;
  // The end of the ARN of its stream, or of the last there was; empty when there never was one.
  std::string latest_stream_label = {};
};

// What makes two definitions of one table differ, in one sentence; empty when they ask for the same. The
// order of attribute definitions, indexes and projected attributes does not count, nor do deletion
// protection, tags and the settings without effect.
ITEMDB_EXPORT std::string DescribeDifference(const TableDefinition& a, const TableDefinition& b);

}  // namespace client
}  // namespace itemdb
