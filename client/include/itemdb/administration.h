// Requests and results about tables, changes and the daemon itself. Fields are explained where they stand;
// the operations in client.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "itemdb/lazy_range.h"
#include "itemdb/table.h"
#include "itemdb/value.h"

namespace itemdb {
inline namespace client {

// ---- tables --------------------------------------------------------------------------------------

// Of CreateTable, DescribeTable, UpdateTable and DeleteTable.
struct TableResult {
  uint64_t change_sequence = 0;
  TableDescription table;
};

struct ListTablesRequest {
  // Names are returned from the one after this. Default: from the first.
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

// What is left out stays as it is; something must be given.
struct UpdateTableRequest {
  std::string table_name;
  // A change to kProvisioned needs the throughput of the table and of every index.
  std::optional<BillingMode> billing_mode = std::nullopt;
  // With kProvisioned only.
  std::optional<ProvisionedThroughput> provisioned_throughput = std::nullopt;
  // By index name; with kProvisioned only.
  std::map<std::string, ProvisionedThroughput> global_secondary_index_throughputs = {};
  // One index to create on the live table, with the types of its key attributes; it can be read when
  // DescribeTable says that it is kActive. Or the name of one to delete.
  std::optional<GlobalSecondaryIndex> create_global_secondary_index = std::nullopt;
  std::vector<AttributeDefinition> attribute_definitions = {};
  std::string delete_global_secondary_index = {};
  std::optional<bool> deletion_protection_enabled = std::nullopt;
  // Which images change records carry from now on. Cannot be changed while the stream is enabled.
  std::optional<StreamViewType> stream_view_type = std::nullopt;
  // True enables the stream, with a new label, and needs `stream_view_type`; false disables it, and change
  // records carry keys only from then on. Must differ from what is.
  std::optional<bool> stream_enabled = std::nullopt;
  // Kept and shown, without effect.
  std::optional<TableClass> table_class = std::nullopt;
  std::optional<SseSpecification> sse_specification = std::nullopt;
  std::optional<OnDemandThroughput> on_demand_throughput = std::nullopt;
  std::optional<WarmThroughput> warm_throughput = std::nullopt;
};

struct TagTableRequest {
  std::string table_name;
  // At least one: they are added, or their values replaced. A table has at most 50; keys have 1 to 128
  // characters, values up to 256.
  std::map<std::string, std::string> tags = {};
};

struct UntagTableRequest {
  std::string table_name;
  // At least one; one that is not there is ignored.
  std::vector<std::string> tag_keys = {};
};

// Of TagTable and UntagTable.
struct TagTableResult {
  uint64_t change_sequence = 0;
};

struct UpdateTimeToLiveRequest {
  std::string table_name;
  // Must differ from what is.
  bool enabled = false;
  // 1 to 255 bytes; to turn it off, the one that it is on for. An item expires at the time in this attribute
  // of it: a number of seconds since the Unix epoch.
  std::string attribute_name;
};

struct UpdateTimeToLiveResult {
  uint64_t change_sequence = 0;
};

enum class TimeToLiveStatus {
  kUnknown,
  // The items that are there are being looked through; none is deleted yet.
  kEnabling,
  kEnabled,
  kDisabled,
};

// Of DescribeTimeToLive.
struct TimeToLiveResult {
  uint64_t change_sequence = 0;
  TimeToLiveStatus status = TimeToLiveStatus::kUnknown;
  // Empty when kDisabled.
  std::string attribute_name = {};
  // While kEnabling.
  std::optional<IndexBuild> build = std::nullopt;
  // Items with a time in the attribute, whenever it is. When kEnabled.
  int64_t items_with_time = 0;
  // Items deleted because they had expired, since the daemon began to serve.
  int64_t items_expired = 0;
};

// DynamoDB's quotas, in capacity units. They are shown for programs that ask, and never enforced.
struct TableLimits {
  int64_t account_max_read_capacity_units = 0;
  int64_t account_max_write_capacity_units = 0;
  int64_t table_max_read_capacity_units = 0;
  int64_t table_max_write_capacity_units = 0;
};

// ---- changes -------------------------------------------------------------------------------------

enum class ChangeKind { kUnknown, kInsert, kModify, kRemove, kCreateTable, kDeleteTable, kUpdateTable };

// One committed change.
struct ChangeRecord {
  uint64_t change_sequence = 0;
  // Never decreases from one record to the next.
  absl::Time commit_time;
  // TableDescription.storage_id of the table concerned.
  uint64_t table_storage_id = 0;
  ChangeKind kind = ChangeKind::kUnknown;
  // The item's key attributes; empty for table changes.
  std::optional<Item> key;
  // The item before and after, as the table's stream view type asks.
  std::optional<Item> old_image;
  std::optional<Item> new_image;
  // First and last change of the commit this one belongs to.
  uint64_t commit_first_sequence = 0;
  uint64_t commit_last_sequence = 0;
  // For table changes: the definition.
  std::optional<TableDescription> table;
  // The item was deleted because its time had come, by nobody's request.
  bool expired = false;
};

// Changes as they are committed; see Client::Watch.
using ChangeRange = LazyRange<ChangeRecord>;

// How far a watch has come, for another one to go on from, in this program or the next.
struct WatchPosition {
  // Every change up to this one was used, or is none that was asked for.
  uint64_t change_sequence = 0;
  // Of the table that is watched; 0: of every table.
  uint64_t table_storage_id = 0;
};

struct WatchRequest {
  // Records with a greater sequence follow: the `change_sequence` of the last record that was used or, if
  // that is later, of the last position, to go on behind it. 0: from the first change there ever was.
  // Default: the changes from now on.
  std::optional<uint64_t> after_sequence = std::nullopt;
  // Only this table's changes, those of its definition included. Default: of every table.
  std::string table_name = "";
  // Of the position to go on from, whose table may have been deleted since. Default: the table's of today.
  uint64_t table_storage_id = 0;
  // Called when the range moves and everything received before was used, and every few seconds while nothing
  // comes (CallOptions::timeout / 4, 5 s at most). Who keeps the position can go on from a table where
  // nothing has changed for longer than changes are kept. Runs in the thread that uses the range.
  std::function<void(const WatchPosition&)> on_progress = nullptr;
};

struct ReadChangesRequest {
  // Records with a greater sequence are returned. Default: from the first.
  uint64_t after_sequence = 0;
  // 1 to 1,000. Default 1,000. The records of one commit are never split, so a page may be longer.
  std::optional<int32_t> limit = std::nullopt;
};

struct ReadChangesResult {
  // The last change there was when the page was read.
  uint64_t change_sequence = 0;
  std::vector<ChangeRecord> records;
  // The oldest change that is kept; one above `change_sequence` when there is none.
  uint64_t oldest_sequence = 0;
};

// ---- the daemon ----------------------------------------------------------------------------------

// One table in figures, exact as of DaemonStatus.change_sequence.
struct TableStatistics {
  std::string table_name;
  int64_t item_count = 0;
  // Sum of item sizes as the limits count them, in bytes; on disk they are compressed.
  int64_t item_bytes = 0;
  int32_t index_count = 0;
};

// Bytes on the disk of the data directory.
struct DiskUsage {
  // Table files of all tables and indexes.
  int64_t table_files = 0;
  int64_t write_ahead_log = 0;
  // Free on the file system.
  int64_t free = 0;
  // Writes are refused (DISK_FULL) below this much free space.
  int64_t free_floor = 0;
  // Deleted tables and indexes whose space was not reclaimed yet, their size as items are counted, and since
  // when the oldest of them waits (the Unix epoch without any). While somebody still reads one, it stays.
  int64_t dropped_count = 0;
  int64_t dropped_bytes = 0;
  absl::Time dropped_since = absl::UnixEpoch();
};

// Bytes of memory.
struct MemoryUsage {
  // What the daemon was given (--memory).
  int64_t limit = 0;
  // Resident memory of the process.
  int64_t resident = 0;
  int64_t block_cache = 0;
  int64_t block_cache_capacity = 0;
  int64_t memtables = 0;
  int64_t memtable_budget = 0;
  // Indexes and filters of open table files, outside the cache.
  int64_t table_readers = 0;
  // Writes waiting for the commit pipeline; beyond the limit they are refused (QUEUE_FULL).
  int64_t write_queue = 0;
  int64_t write_queue_limit = 0;
  // Requests and replies in flight.
  int64_t calls = 0;
  int64_t call_limit = 0;
};

// Since the daemon began to serve.
struct WriteStatistics {
  // Writes committed, and the commit groups they went in.
  int64_t committed = 0;
  int64_t commit_groups = 0;
  // Writes refused because the queue was full or the disk was.
  int64_t refused = 0;
  // Mean time of writing one commit group; 0 without any.
  absl::Duration mean_commit_time = absl::ZeroDuration();
};

// Records of tables and indexes that a check has read, and all it will, about.
struct CheckProgress {
  int64_t done = 0;
  int64_t total = 0;
};

// The check that goes through all items and index entries again and again (itemd --background-check-rate).
struct BackgroundCheck {
  // Records compared a second, at most.
  int64_t rate = 0;
  // Rounds finished since the daemon began to serve.
  int64_t rounds = 0;
  // When the last one was; 1970 without any.
  absl::Time last_end_time = absl::UnixEpoch();
  // Of the last one: what does not agree, at most 100 findings, and all that does not.
  std::vector<std::string> findings = {};
  int64_t finding_count = 0;
  // Why some of it could not be read in the last one; empty when all could.
  std::string last_error = {};
};

// Figures that the daemon does not know, or an older one does not send, are 0.
struct DaemonStatus {
  uint64_t change_sequence = 0;
  std::string version;
  // A UUID made when the database was created.
  std::string database_id;
  // True when writes are synced to disk before they are answered.
  bool durable = false;
  int64_t table_count = 0;
  // In byte order of the names, when the request asked for them.
  std::vector<TableStatistics> tables = {};
  DiskUsage disk = {};
  MemoryUsage memory = {};
  // When the daemon began to serve; 1970 when it does not say.
  absl::Time start_time = absl::UnixEpoch();
  // Every change up to this one is known to be on disk.
  uint64_t durable_sequence = 0;
  WriteStatistics writes = {};
  // The check that is running, if any.
  std::optional<CheckProgress> check = std::nullopt;
  // Of a daemon that checks by itself.
  std::optional<BackgroundCheck> background_check = std::nullopt;
};

struct GetStatusRequest {
  // Lists every table, which takes microseconds a table.
  bool with_tables = false;
};

struct CheckDatabaseRequest {
  // Only this table; empty: all.
  std::string table_name = {};
  // Only this index of it; empty: all.
  std::string index_name = {};
  // Put right what is derived from the items and differs from them, while writes go on.
  bool repair = false;
};

struct CheckDatabaseResult {
  uint64_t change_sequence = 0;
  int64_t items_checked = 0;
  int64_t index_entries_checked = 0;
  int64_t change_records_checked = 0;
  // What does not agree, at most 100 findings; empty when all is well.
  std::vector<std::string> findings;
  // All that does not agree, and how much of that was put right.
  int64_t finding_count = 0;
  int64_t repaired_count = 0;
  // Items that cannot be in an index of their table, because a key attribute has the wrong type, is empty or
  // too long; once for each such index. No finding.
  int64_t skipped_items = 0;
};

// A way in which a table is read or written: operation, index, and the shapes of its conditions, with names
// in place and values as `?`.
struct AccessPattern {
  std::string table_name = {};
  // Empty: the table itself.
  std::string index_name = {};
  // "Query", "PutItem", ...; a PartiQL statement counts as the one that it is.
  std::string operation = {};
  // "pk = ? AND begins_with(sk, ?)"; empty without one. Names that are no plain words are in double quotes.
  std::string key_condition = {};
  // The same of the filter, or of the condition of a write.
  std::string filter = {};
  // Query with scan_index_forward false.
  bool descending = false;
  // Each table of a batch or transaction, and each page of a stream, counts as a call.
  int64_t calls = 0;
  // Calls that failed, by a condition that was false too.
  int64_t errors = 0;
  // Items read or written, and those of them that the answers held or counted.
  int64_t items_scanned = 0;
  int64_t items_returned = 0;
  // Time in the database, within 10 %: what half of the calls, and 99 of 100, did not exceed.
  absl::Duration p50 = absl::ZeroDuration();
  absl::Duration p99 = absl::ZeroDuration();
};

struct AccessPatternsResult {
  // Most calls first.
  std::vector<AccessPattern> patterns;
  // Calls that are in none of them, because there are too many to keep apart.
  int64_t other_calls = 0;
  // Since when calls are counted.
  absl::Time start_time = absl::UnixEpoch();
};

}  // namespace client
}  // namespace itemdb
