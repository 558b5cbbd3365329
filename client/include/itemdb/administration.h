// Requests and results about tables, changes and the daemon itself. The operations are in client.h.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

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

// ---- tables --------------------------------------------------------------------------------------

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
  // The item before and after the change, if the table's stream view type includes them.
  std::optional<Item> old_image;
  std::optional<Item> new_image;
  // First and last change of the commit that contains this change.
  uint64_t commit_first_sequence = 0;
  uint64_t commit_last_sequence = 0;
  // For table changes: the table's description.
  std::optional<TableDescription> table;
  // True when the daemon deleted the item because its time to live had ended.
  bool expired = false;
  // The item could not be read, and an operator discarded it (DiscardDamagedItem): there is no old image.
  bool discarded = false;
};

// Changes as they are committed; see Client::Watch.
using ChangeRange = LazyRange<ChangeRecord>;

// How far a watch has read. A later watch can continue from here, also in another process.
struct WatchPosition {
  // The program has used every requested change up to this one.
  uint64_t change_sequence = 0;
  // The watched table's TableDescription.storage_id; 0: every table.
  uint64_t table_storage_id = 0;
};

struct WatchRequest {
  // Returns changes with a greater sequence. To continue a watch, pass the `change_sequence` of the last used
  // record or of the last position, whichever is greater. 0: from the first change ever made. Default: the
  // changes from now on.
  std::optional<uint64_t> after_sequence = std::nullopt;
  // Only this table's changes, those of its definition included. Default: of every table.
  std::string table_name = "";
  // The `table_storage_id` of the position to continue from; the table may have been deleted since. Default:
  // the table that has this name now.
  uint64_t table_storage_id = 0;
  // Called when the position has moved and all received changes are used, and every few seconds while no
  // change comes (CallOptions::timeout / 4, 5 s at most). A program that stores each position can continue
  // even if the table did not change for longer than changes are kept. Runs on the range's thread.
  std::function<void(const WatchPosition&)> on_progress = nullptr;
};

struct ReadChangesRequest {
  // Returns changes with a greater sequence. Default: from the first.
  uint64_t after_sequence = 0;
  // 1 to 1,000. Default 1,000. The records of one commit are never split, so a page may be longer.
  std::optional<int32_t> limit = std::nullopt;
};

struct ReadChangesResult {
  // The last change that existed when the page was read.
  uint64_t change_sequence = 0;
  std::vector<ChangeRecord> records;
  // The oldest change that is kept; `change_sequence` + 1 when none is kept.
  uint64_t oldest_sequence = 0;
};

struct HoldChangesRequest {
  // Who holds the changes: 1 to 255 of the characters a-z, A-Z, 0-9, '_', '-', '.'.
  std::string name;
  // Changes with a greater sequence are kept: `after_sequence` of the next ReadChanges.
  uint64_t after_sequence = 0;
  // Without another call for so long the hold ends. 1 s to 30 days.
  absl::Duration lease = absl::Hours(24);
  // Only renews a hold that has not ended. Otherwise makes it if it is not there.
  bool renews = false;
};

enum class ChangeHoldState {
  // The changes are kept.
  kHeld,
  // The hold was not renewed in time.
  kExpired,
  // It ended because free space was below the floor.
  kDiskFull,
};

// Changes that are kept for a reader.
struct ChangeHold {
  std::string name = {};
  // Changes with a greater sequence are kept.
  uint64_t after_sequence = 0;
  ChangeHoldState state = ChangeHoldState::kHeld;
  absl::Duration lease = absl::ZeroDuration();
  absl::Time creation_time = absl::UnixEpoch();
  absl::Time renewed_time = absl::UnixEpoch();
  // 1970 while it is held.
  absl::Time ended_time = absl::UnixEpoch();
  // Bytes on disk of its first change and all after it, about; only of ListChangeHolds.
  int64_t held_bytes = 0;
};

// What became of an item, or would become of it.
enum class UndoOutcome {
  // The item was written as it was before.
  kPut,
  // The item did not exist before and was deleted.
  kDeleted,
  // The item is as it was before.
  kUnchanged,
  // The item was changed after the stretch and left as it is.
  kChangedSince,
};

struct UndoneItem {
  Item key;
  UndoOutcome outcome = UndoOutcome::kUnchanged;
  // kChangedSince: the last change of the item; 0 if it was changed during the call.
  uint64_t changed_sequence = 0;
};

struct UndoChangesRequest {
  std::string table_name;
  // The first and the last change of the stretch.
  uint64_t from_sequence = 0;
  uint64_t to_sequence = 0;
  // Only these items, at most 100. Default: all.
  std::vector<Item> keys = {};
  // Only reports what would be written.
  bool dry_run = false;
  // UndoChangesResult.last_evaluated_key of the page before.
  std::optional<Item> exclusive_start_key = std::nullopt;
};

struct UndoChangesResult {
  uint64_t change_sequence = 0;
  // At most 1,000.
  std::vector<UndoneItem> items;
  // Set if items remain.
  std::optional<Item> last_evaluated_key;
};

// ---- the daemon ----------------------------------------------------------------------------------

// The sizes of one table, exact as of DaemonStatus.change_sequence.
struct TableStatistics {
  std::string table_name;
  int64_t item_count = 0;
  // Sum of the item sizes in bytes, counted as for the size limits; on disk items are compressed.
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
  // Deleted tables and indexes whose space is not reclaimed yet: how many, their size as items are counted,
  // and when the oldest of them was deleted (the Unix epoch if there is none). The space of a table stays in
  // use while a request still reads the table.
  int64_t dropped_count = 0;
  int64_t dropped_bytes = 0;
  absl::Time dropped_since = absl::UnixEpoch();
};

// Bytes of memory.
struct MemoryUsage {
  // The limit that the daemon was started with (--memory).
  int64_t limit = 0;
  // Resident memory of the process.
  int64_t resident = 0;
  int64_t block_cache = 0;
  int64_t block_cache_capacity = 0;
  int64_t memtables = 0;
  int64_t memtable_budget = 0;
  // Indexes and filters of open table files, outside the cache.
  int64_t table_readers = 0;
  // Bytes of writes that wait for the commit pipeline. Writes above the limit are refused (QUEUE_FULL).
  int64_t write_queue = 0;
  int64_t write_queue_limit = 0;
  // Requests and replies in flight.
  int64_t calls = 0;
  int64_t call_limit = 0;
};

// Since the daemon began to serve.
struct WriteStatistics {
  // Writes committed, and the commit groups that contained them.
  int64_t committed = 0;
  int64_t commit_groups = 0;
  // Writes refused because the queue or the disk was full.
  int64_t refused = 0;
  // Mean time of writing one commit group; 0 if there was none.
  absl::Duration mean_commit_time = absl::ZeroDuration();
};

// Records of tables and indexes that a running check has read, and an estimate of all it will read.
struct CheckProgress {
  int64_t done = 0;
  int64_t total = 0;
};

// The check that repeatedly reads all items and index entries (itemd --background-check-rate).
struct BackgroundCheck {
  // Records compared per second, at most.
  int64_t rate = 0;
  // Rounds finished since the daemon began to serve.
  int64_t rounds = 0;
  // When the last round ended; 1970 if there was none.
  absl::Time last_end_time = absl::UnixEpoch();
  // Differences that the last round found: descriptions of at most 100, and the number of all.
  std::vector<std::string> findings = {};
  int64_t finding_count = 0;
  // Why the last round could not read some data; empty when it read everything.
  std::string last_error = {};
};

// A backup of the whole database.
struct DatabaseBackup {
  uint32_t backup_id = 0;
  // The database that was backed up.
  std::string database_id = {};
  // Every change up to this one is in the backup; later ones may be too.
  uint64_t change_sequence = 0;
  absl::Time begin_time = absl::UnixEpoch();
  int64_t table_count = 0;
  // Bytes and number of its files. Files that it has in common with other backups are counted, but stored
  // once.
  int64_t size_bytes = 0;
  int64_t file_count = 0;
  // The daemon made it for its archive, and deletes it when the archive does not need it.
  bool for_archive = false;
};

// The last backup that was restored and checked (Client::ProveDatabaseBackup).
struct ProvenBackup {
  uint32_t backup_id = 0;
  // When the backup was begun, and when it was proven.
  absl::Time begin_time = absl::UnixEpoch();
  absl::Time proven_time = absl::UnixEpoch();
};

// Backups that the daemon makes by itself (itemd --backup-schedule). 1970: no such time.
struct ScheduledBackups {
  // As given to the daemon.
  std::string schedule;
  absl::Time next_time = absl::UnixEpoch();
  // The newest one that was made and verified since the daemon began to serve.
  std::optional<DatabaseBackup> last = std::nullopt;
  absl::Time last_verified_time = absl::UnixEpoch();
  // Why the last attempt failed; empty if it did not.
  std::string last_error = {};
};

// A standby (itemd --standby).
struct StandbyStatus {
  // The archive that it follows, on the daemon's machine.
  std::string archive_directory = {};
  // When the last commit that was applied was made; 1970: none was since the daemon began to serve.
  absl::Time commit_time = absl::UnixEpoch();
  // How long ago that was, if more commits are known to be there; else zero.
  absl::Duration lag = absl::ZeroDuration();
  // The archive has a gap, and another backup is restored when there is one.
  bool needs_base = false;
  // Why the archive cannot be followed; empty if it can.
  std::string error = {};
};

// The archive of every commit (itemd --archive-directory). 1970: no such time.
struct ArchiveStatus {
  // On the daemon's machine.
  std::string directory;
  // The last change that is durable in the archive, and when it was committed.
  uint64_t change_sequence = 0;
  absl::Time commit_time = absl::UnixEpoch();
  // How long the oldest commit that is not there has waited.
  absl::Duration lag = absl::ZeroDuration();
  // How often commits could not be archived since the daemon began to serve. Only commits behind the last
  // time can be restored.
  int64_t gaps = 0;
  // The oldest backup that commits can be replayed on.
  absl::Time oldest_time = absl::UnixEpoch();
  // A backup is being made, without which commits of now cannot be restored.
  bool needs_backup = false;
  // Why the archive or its backups cannot be written; empty if they can.
  std::string error = {};
};

// The check that repeatedly compares table files with their checksums (itemd --file-check-rate).
struct FileCheck {
  // Bytes read per second, at most.
  int64_t bytes_per_second = 0;
  // Rounds finished since the daemon began to serve.
  int64_t rounds = 0;
  // When the last round ended; 1970 if there was none.
  absl::Time last_end_time = absl::UnixEpoch();
  // Damaged files that the last round found: descriptions of at most 100, and the number of all.
  std::vector<std::string> findings = {};
  int64_t finding_count = 0;
};

// Calls and HTTP requests that were refused because of their access key, since the daemon began to serve.
struct RefusedCalls {
  // The key was missing, unknown or wrong.
  int64_t unauthenticated = 0;
  // The role of the key was too low, or a web page of another site sent the request.
  int64_t permission_denied = 0;
};

// Records of the audit log since the daemon began to serve.
struct AuditLogStatus {
  int64_t written = 0;
  // Not written: the disk failed, or too many came at once.
  int64_t lost = 0;
};

// Numbers that the daemon does not know, or that an older daemon does not send, are 0.
// Damage of table files that was met since the daemon began to serve (ListDamage).
struct DamageStatus {
  // Table files, and blocks in them.
  int64_t files = 0;
  int64_t blocks = 0;
  // Column families whose compactions met damage and pause.
  std::vector<std::string> paused_families = {};
};

struct DaemonStatus {
  uint64_t change_sequence = 0;
  std::string version;
  // A UUID made when the database was created.
  std::string database_id;
  // True when writes are synced to disk before they are answered.
  bool durable = false;
  int64_t table_count = 0;
  // In byte order of the names; set if the request asked for tables.
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
  // Set if the daemon checks in the background.
  std::optional<BackgroundCheck> background_check = std::nullopt;
  std::optional<FileCheck> file_check = std::nullopt;
  std::optional<ScheduledBackups> scheduled_backups = std::nullopt;
  std::optional<ArchiveStatus> archive = std::nullopt;
  std::optional<ProvenBackup> proven_backup = std::nullopt;
  RefusedCalls refused_calls = {};
  // Set if the daemon writes an audit log.
  std::optional<AuditLogStatus> audit_log = std::nullopt;
  DamageStatus damage = {};
  // Set if the database is a standby.
  std::optional<StandbyStatus> standby = std::nullopt;
  // Why writes are refused: the database is a standby, or one of it was promoted. Empty if they are not.
  std::string writes_refused = {};
  // Set if a standby of the database was promoted: the last change that the two have in common. Changes
  // behind it are only here.
  std::optional<uint64_t> fenced_after_change = std::nullopt;
};

struct GetStatusRequest {
  // Lists every table, which takes some microseconds per table.
  bool with_tables = false;
};

struct CheckDatabaseRequest {
  // Only this table; empty: all.
  std::string table_name = {};
  // Only this index of the table; empty: all.
  std::string index_name = {};
  // Corrects derived data (such as index entries) that differs from the items, while writes continue.
  bool repair = false;
};

struct CheckDatabaseResult {
  uint64_t change_sequence = 0;
  int64_t items_checked = 0;
  int64_t index_entries_checked = 0;
  int64_t change_records_checked = 0;
  // Descriptions of the differences found, at most 100; empty when there are none.
  std::vector<std::string> findings;
  // All differences, and how many of them were repaired.
  int64_t finding_count = 0;
  int64_t repaired_count = 0;
  // Items that an index of their table leaves out, because a key attribute has the wrong type, is empty or is
  // too long; an item counts once for each such index. Not a finding.
  int64_t skipped_items = 0;
};

struct DatabaseBackups {
  // Where they are, on the daemon's machine.
  std::string directory = {};
  // The oldest first.
  std::vector<DatabaseBackup> backups = {};
  // Backups whose description or files are missing or damaged.
  std::vector<uint32_t> damaged_backup_ids = {};
};

// Where a damaged file cannot be read: between two records, which can be.
struct DamagedRange {
  // Whose records these are; empty for the change log and for tables that are deleted.
  std::string table_name = {};
  // Empty: items of the table.
  std::string index_name = {};
  // The key attributes of the two records. Missing at the beginning and the end of the file, and where the
  // record is of another table or index.
  std::optional<Item> after_key = std::nullopt;
  std::optional<Item> before_key = std::nullopt;
  // The same in the change log; 0: none.
  uint64_t after_sequence = 0;
  uint64_t before_sequence = 0;
};

// A table file that cannot be read somewhere, or that the file check found not to be as it was written.
struct DamagedFile {
  std::string name = {};
  // The column family.
  std::string family = {};
  int32_t level = 0;
  int64_t size_bytes = 0;
  // "table NAME", "index NAME of table NAME", or "several tables"; empty for data that is not of tables.
  std::string owner = {};
  // "read", "check" or "compaction".
  std::string met_by = {};
  absl::Time first_met_time = absl::UnixEpoch();
  std::string error = {};
  std::vector<DamagedRange> ranges = {};
};

struct DamageList {
  std::vector<DamagedFile> files = {};
  // As in DamageStatus.
  std::vector<std::string> paused_families = {};
};

struct DiscardDamagedItemResult {
  // The change that deleted the item.
  uint64_t change_sequence = 0;
  int64_t index_entries_deleted = 0;
};

// A way in which a table is read or written: operation, index, and the shapes of the conditions, with
// attribute names and with `?` for each value.
struct AccessPattern {
  std::string table_name = {};
  // Empty: the table itself.
  std::string index_name = {};
  // "Query", "PutItem", ...; a PartiQL statement counts as the operation that it performs.
  std::string operation = {};
  // For example "pk = ? AND begins_with(sk, ?)"; empty if there is none. A name that is not a plain word is
  // in double quotes.
  std::string key_condition = {};
  // The same for the filter, or for the condition of a write.
  std::string filter = {};
  // Query with scan_index_forward false.
  bool descending = false;
  // Each table of a batch or transaction, and each page of a stream, counts as a call.
  int64_t calls = 0;
  // Calls that failed, including those with a false condition.
  int64_t errors = 0;
  // Items read or written, and how many of them the replies contained or counted.
  int64_t items_scanned = 0;
  int64_t items_returned = 0;
  // Time in the database, within 10 %: half of the calls took at most p50, 99 of 100 at most p99.
  absl::Duration p50 = absl::ZeroDuration();
  absl::Duration p99 = absl::ZeroDuration();
};

struct AccessPatternsResult {
  // Most calls first.
  std::vector<AccessPattern> patterns;
  // Calls of further patterns, which the daemon does not keep apart because there are too many.
  int64_t other_calls = 0;
  // Since when calls are counted.
  absl::Time start_time = absl::UnixEpoch();
};

// Calls whose time in the database was this one, within 10 %.
struct LatencyCount {
  absl::Duration latency = absl::ZeroDuration();
  int64_t calls = 0;
};

// The calls of one operation that read or wrote a table; counted as in AccessPattern.
struct OperationActivity {
  std::string table_name = {};
  std::string operation = {};
  int64_t errors = 0;
  int64_t items_scanned = 0;
  int64_t items_returned = 0;
  // The shortest first. The sum of the calls is their number.
  std::vector<LatencyCount> latencies = {};
};

// An open watch of changes.
struct WatchActivity {
  // Counts up from 1 with every watch since the daemon was started.
  int64_t watch_id = 0;
  // Empty: all tables.
  std::string table_name = {};
  // The access key of the client; empty where no keys are asked for.
  std::string key_id = {};
  // The client: "ipv4:10.0.0.7:40312", "ipv6:[::1]:40312", "unix:".
  std::string peer = {};
  // Changes of all tables that it was not sent, and how long ago it was up to date; 0: it is.
  int64_t lag_changes = 0;
  absl::Duration lag = absl::ZeroDuration();
};

// What calls did since the daemon was started, and how far watches are. Counts fall when an index or a table
// is deleted.
struct DaemonActivity {
  // In byte order of table and operation.
  std::vector<OperationActivity> operations;
  // Those that are behind longest first, at most 100.
  std::vector<WatchActivity> watches;
  int64_t open_watches = 0;
  // Since when calls are counted.
  absl::Time start_time = absl::UnixEpoch();
};

struct TopKeysRequest {
  std::string table_name = {};
  // A global index. Empty: the table itself.
  std::string index_name = {};
  // Keys of each list, 1 to 100.
  int limit = 10;
};

struct TopKey {
  // The key attributes.
  Item key = {};
  // Capacity units, or refused requests: at most so many, and at least `error` fewer.
  double count = 0;
  double error = 0;
};

// Keys of a table or index, most used first.
struct TopKeysResult {
  // Since when keys are counted. UnixEpoch: they are not, because contributor insights are off.
  absl::Time start_time = absl::UnixEpoch();
  // By partition key, and by partition key and sort key if there is one: what reads and writes used.
  std::vector<TopKey> partition_keys = {};
  std::vector<TopKey> keys = {};
  // Requests that were refused because too many waited.
  std::vector<TopKey> throttled_partition_keys = {};
  std::vector<TopKey> throttled_keys = {};
  // Only these are counted.
  bool throttled_keys_only = false;
};

}  // namespace itemdb
