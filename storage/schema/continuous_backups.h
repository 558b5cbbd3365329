// DescribeContinuousBackups and UpdateContinuousBackups: point-in-time recovery as a setting of a table
// (PIT-01 to PIT-06).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "itemdb/v1/backups.pb.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// Implement Database's methods of the same names.
absl::StatusOr<v1::DescribeContinuousBackupsReply> DescribeContinuousBackups(
    Engine& engine, const v1::DescribeContinuousBackupsRequest& request);
void UpdateContinuousBackups(Engine& engine, v1::UpdateContinuousBackupsRequest request,
                             Done<v1::UpdateContinuousBackupsReply> done);

// What can be restored of `table`. Without its times if no time can be restored now.
v1::ContinuousBackupsDescription DescribeRecovery(Engine& engine, const Table& table);

// Times in milliseconds since the Unix epoch, both included.
struct RecoveryTimes {
  int64_t begin_ms = 0;
  int64_t end_ms = 0;

  friend bool operator==(const RecoveryTimes&, const RecoveryTimes&) = default;
};
// The times to which `table`, whose point-in-time recovery is on, can be restored, in order: the state after
// the last commit of each such millisecond. The archive has gaps between them. Empty: there is no backup yet
// that the archive continues. UNAVAILABLE: not known yet after a start.
absl::StatusOr<std::vector<RecoveryTimes>> FindRecoveryTimes(Engine& engine, const Table& table);
// Whether `time_ms` is one of `times`.
bool IsRecoveryTime(int64_t time_ms, const std::vector<RecoveryTimes>& times);

// FAILED_PRECONDITION (POINT_IN_TIME_RECOVERY_UNAVAILABLE): it is off for `table` (PIT-07).
absl::Status PointInTimeRecoveryUnavailableError(const Table& table);

// Finds a table for an operation on backups, by name or ARN. NOT_FOUND (TABLE_NOT_FOUND): there is none, or
// it is being restored.
absl::StatusOr<std::shared_ptr<const Table>> FindTableForBackups(const ReadView& view,
                                                                 const std::string& name);

// The error of FindTableForBackups.
absl::Status TableNotFoundError(const std::string& name);

}  // namespace itemdb::storage
