// Requests and results about backups of single tables and point-in-time recovery. The operations are in
// client.h; backups of the whole database are in maintenance.h.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "itemdb/table.h"

namespace itemdb {

// A newer daemon may have other values.
enum class BackupStatus { kUnknown, kCreating, kAvailable, kDeleted };
// kSystem: left of a deleted table that had point-in-time recovery.
enum class BackupType { kUnknown, kUser, kSystem };

// A backup of one table.
struct TableBackup {
  std::string backup_arn = {};
  // Not unique.
  std::string backup_name = {};
  BackupStatus backup_status = BackupStatus::kUnknown;
  BackupType backup_type = BackupType::kUnknown;
  // When it was asked for.
  absl::Time creation_time = absl::UnixEpoch();
  // When a kSystem backup is deleted.
  std::optional<absl::Time> expiry_time = std::nullopt;
  // The table as it was then, with its size, without tags and other settings that are not restored.
  TableDescription source_table = {};
  // The attribute of the table's time to live; empty if that was off.
  std::string time_to_live_attribute = {};
  // The last change that the backup contains.
  uint64_t change_sequence = 0;
  // Bytes of its files; 0 until it is kAvailable.
  int64_t file_bytes = 0;
};

enum class BackupTypeFilter { kUser, kSystem, kAll };

struct ListBackupsRequest {
  // Default: backups of all tables. The table need not exist.
  std::string table_name = {};
  // 1 to 100. Default 100.
  std::optional<int32_t> limit = std::nullopt;
  // Only backups created at this time or later; only those created before this time.
  std::optional<absl::Time> time_range_lower_bound = std::nullopt;
  std::optional<absl::Time> time_range_upper_bound = std::nullopt;
  // The last_evaluated_backup_arn of the page before.
  std::string exclusive_start_backup_arn = {};
  BackupTypeFilter backup_type = BackupTypeFilter::kUser;
};

struct ListBackupsResult {
  // By creation time.
  std::vector<TableBackup> backups = {};
  // Not empty if backups remain.
  std::string last_evaluated_backup_arn = {};
};

// Settings of a restored table in place of those of the backup. What is left out is as in the backup.
struct RestoreOverrides {
  // kProvisioned needs provisioned_throughput; with kPayPerRequest it must not be given.
  std::optional<BillingMode> billing_mode = std::nullopt;
  std::optional<ProvisionedThroughput> provisioned_throughput = std::nullopt;
  std::optional<OnDemandThroughput> on_demand_throughput = std::nullopt;
  std::optional<SseSpecification> sse_specification = std::nullopt;
  // Each must have the key schema and projection of an index of the backup; an empty list: no indexes.
  std::optional<std::vector<GlobalSecondaryIndex>> global_secondary_indexes = std::nullopt;
  std::optional<std::vector<LocalSecondaryIndex>> local_secondary_indexes = std::nullopt;
  // Each must be a vector index of the backup but for its name.
  std::optional<std::vector<VectorIndex>> vector_indexes = std::nullopt;
};

struct RestoreTableFromBackupRequest {
  // A name that no table has.
  std::string target_table_name;
  std::string backup_arn;
  RestoreOverrides overrides = {};
};

// Exactly one of the three points must be given.
struct RestoreTableToPointInTimeRequest {
  // The name or ARN of the source table.
  std::string source_table_name;
  // A name that no table has.
  std::string target_table_name;
  // The last commit that is not later.
  std::optional<absl::Time> restore_time = std::nullopt;
  // The last commit before the call.
  bool use_latest_restorable_time = false;
  // This change, which must be the last one of its commit; 0: not given.
  uint64_t change_sequence = 0;
  RestoreOverrides overrides = {};
};

struct UpdateContinuousBackupsRequest {
  std::string table_name;
  bool point_in_time_recovery_enabled = false;
  // 1 to 35; only when enabled. Default: as it is, or 35 when it was off.
  std::optional<int32_t> recovery_period_in_days = std::nullopt;
};

struct ContinuousBackupsResult {
  uint64_t change_sequence = 0;
  bool point_in_time_recovery_enabled = false;
  // The others only when enabled.
  int32_t recovery_period_in_days = 0;
  absl::Time earliest_restorable_time = absl::UnixEpoch();
  absl::Time latest_restorable_time = absl::UnixEpoch();
};

}  // namespace itemdb
