// Requests and results about tables and their settings. The operations are in client.h.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "itemdb/table.h"

namespace itemdb {

// The result of CreateTable, DescribeTable, UpdateTable and DeleteTable.
struct TableResult {
  uint64_t change_sequence = 0;
  TableDescription table;
};

struct ListTablesRequest {
  // Returns names that are greater than this one. Default: from the first name.
  std::string exclusive_start_table_name = "";
  // 1 to 100. Default 100.
  std::optional<int32_t> limit = std::nullopt;
};

struct ListTablesResult {
  uint64_t change_sequence = 0;
  // In byte order.
  std::vector<std::string> table_names;
  // Set when names may remain: pass it as `exclusive_start_table_name`.
  std::optional<std::string> last_evaluated_table_name;
};

// A field that is not set changes nothing; at least one change must be set.
struct UpdateTableRequest {
  std::string table_name;
  // A change to kProvisioned needs the throughput of the table and of every index.
  std::optional<BillingMode> billing_mode = std::nullopt;
  // With kProvisioned only.
  std::optional<ProvisionedThroughput> provisioned_throughput = std::nullopt;
  // By index name; with kProvisioned only.
  std::map<std::string, ProvisionedThroughput> global_secondary_index_throughputs = {};
  // One index to create on the live table, with the types of its key attributes; it can be read when
  // DescribeTable says that it is kActive. Or the name of an index to delete.
  std::optional<GlobalSecondaryIndex> create_global_secondary_index = std::nullopt;
  std::vector<AttributeDefinition> attribute_definitions = {};
  std::string delete_global_secondary_index = {};
  // The same for vector indexes.
  std::optional<VectorIndex> create_vector_index = std::nullopt;
  std::string delete_vector_index = {};
  std::optional<bool> deletion_protection_enabled = std::nullopt;
  // Which images of an item change records hold from now on. Cannot be changed while the stream is enabled.
  std::optional<StreamViewType> stream_view_type = std::nullopt;
  // True enables the stream, with a new label, and needs `stream_view_type`. False disables the stream;
  // change records then hold keys only. Must differ from the present state.
  std::optional<bool> stream_enabled = std::nullopt;
  // Stored and shown by DescribeTable; no other effect.
  std::optional<TableClass> table_class = std::nullopt;
  std::optional<SseSpecification> sse_specification = std::nullopt;
  std::optional<OnDemandThroughput> on_demand_throughput = std::nullopt;
  std::optional<WarmThroughput> warm_throughput = std::nullopt;
  // Refuses writes of the items from now on; an empty endpoint allows them again. Only itemd's gRPC has it.
  std::optional<WriteFence> write_fence = std::nullopt;
  // With `write_fence` only: the fence that the table must have at this moment; with an empty endpoint: none.
  // Else FAILED_PRECONDITION (CONDITIONAL_CHECK_FAILED). A table that has the wanted fence already is no
  // error.
  std::optional<WriteFence> expected_write_fence = std::nullopt;
};

struct TagTableRequest {
  std::string table_name;
  // At least one. Adds these tags, or replaces the values of existing ones. A table has at most 50; keys have
  // 1 to 128 characters, values up to 256.
  std::map<std::string, std::string> tags = {};
};

struct UntagTableRequest {
  std::string table_name;
  // At least one; keys that the table does not have are ignored.
  std::vector<std::string> tag_keys = {};
};

// The result of TagTable and UntagTable.
struct TagTableResult {
  uint64_t change_sequence = 0;
};

struct UpdateTimeToLiveRequest {
  std::string table_name;
  // Must differ from the present state.
  bool enabled = false;
  // 1 to 255 bytes; to turn time to live off, the attribute that it is on for. The attribute holds the time
  // at which the item expires, in seconds since the Unix epoch, as a number.
  std::string attribute_name;
};

struct UpdateTimeToLiveResult {
  uint64_t change_sequence = 0;
};

enum class TimeToLiveStatus {
  kUnknown,
  // The daemon is looking for expiry times in the existing items; no item is deleted yet.
  kEnabling,
  kEnabled,
  kDisabled,
};

// The result of DescribeTimeToLive.
struct TimeToLiveResult {
  uint64_t change_sequence = 0;
  TimeToLiveStatus status = TimeToLiveStatus::kUnknown;
  // Empty when kDisabled.
  std::string attribute_name = {};
  // Set while kEnabling.
  std::optional<IndexBuild> build = std::nullopt;
  // When kEnabled: items with an expiry time in the attribute, past or future.
  int64_t items_with_time = 0;
  // Items deleted because they had expired, since the daemon began to serve.
  int64_t items_expired = 0;
};

// Which keys contributor insights count.
enum class ContributorInsightsMode {
  // Those of all requests.
  kAccessedAndThrottledKeys,
  // Only those of requests that were refused because too many waited.
  kThrottledKeys,
};

enum class ContributorInsightsStatus {
  kUnknown,
  kEnabled,
  kDisabled,
  // Of DynamoDB, over HTTP: the change is under way, or has failed.
  kEnabling,
  kDisabling,
  kFailed,
};

struct UpdateContributorInsightsRequest {
  std::string table_name;
  // A global index. Empty: the table itself.
  std::string index_name = {};
  bool enabled = false;
  // When enabled.
  ContributorInsightsMode mode = ContributorInsightsMode::kAccessedAndThrottledKeys;
};

// Contributor insights of a table or global index: whether its most used keys are counted.
struct ContributorInsights {
  std::string table_name = {};
  // Empty: of the table itself.
  std::string index_name = {};
  ContributorInsightsStatus status = ContributorInsightsStatus::kUnknown;
  // While they are on.
  ContributorInsightsMode mode = ContributorInsightsMode::kAccessedAndThrottledKeys;
  // When they were last turned on or off. UnixEpoch: never; in a list over HTTP it is not known.
  absl::Time last_update_time = absl::UnixEpoch();
};

// DynamoDB's quotas, in capacity units, for programs that ask for them. The daemon does not enforce them.
struct TableLimits {
  int64_t account_max_read_capacity_units = 0;
  int64_t account_max_write_capacity_units = 0;
  int64_t table_max_read_capacity_units = 0;
  int64_t table_max_write_capacity_units = 0;
};

}  // namespace itemdb
