// Errors of the storage library.
//
// Every function that can fail returns absl::Status or absl::StatusOr. The code tells the caller what to do
// next. The reason is a stable machine-readable name. The message is one sentence for a person: what was
// wrong and what is allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace itemdb::storage {

// Reasons. Each belongs to one status code. Clients get them (google.rpc.ErrorInfo.reason): never rename one.
inline constexpr std::string_view kReasonValidation = "VALIDATION";                // INVALID_ARGUMENT
inline constexpr std::string_view kReasonResourceNotFound = "RESOURCE_NOT_FOUND";  // NOT_FOUND
inline constexpr std::string_view kReasonResourceInUse = "RESOURCE_IN_USE";        // ALREADY_EXISTS
inline constexpr std::string_view kReasonLimitExceeded = "LIMIT_EXCEEDED";         // RESOURCE_EXHAUSTED
inline constexpr std::string_view kReasonItemCollectionSizeLimitExceeded =
    "ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED";                                               // RESOURCE_EXHAUSTED
inline constexpr std::string_view kReasonQueueFull = "QUEUE_FULL";                       // RESOURCE_EXHAUSTED
inline constexpr std::string_view kReasonDiskFull = "DISK_FULL";                         // RESOURCE_EXHAUSTED
inline constexpr std::string_view kReasonUnavailable = "UNAVAILABLE";                    // UNAVAILABLE
inline constexpr std::string_view kReasonWriteOutcomeUnknown = "WRITE_OUTCOME_UNKNOWN";  // UNKNOWN
inline constexpr std::string_view kReasonDataLoss = "DATA_LOSS";                         // DATA_LOSS
inline constexpr std::string_view kReasonChangesTrimmed = "CHANGES_TRIMMED";             // OUT_OF_RANGE
inline constexpr std::string_view kReasonHoldEnded = "HOLD_ENDED";              // FAILED_PRECONDITION
inline constexpr std::string_view kReasonExpiredIterator = "EXPIRED_ITERATOR";  // OUT_OF_RANGE
inline constexpr std::string_view kReasonRestorePointUnknown = "RESTORE_POINT_UNKNOWN";  // OUT_OF_RANGE
inline constexpr std::string_view kReasonStateTooOld = "STATE_TOO_OLD";                  // ABORTED
// UndoChanges: the change log lacks an item as it was.
inline constexpr std::string_view kReasonImageMissing = "IMAGE_MISSING";                // FAILED_PRECONDITION
inline constexpr std::string_view kReasonDataDirectoryInUse = "DATA_DIRECTORY_IN_USE";  // FAILED_PRECONDITION
inline constexpr std::string_view kReasonDataDirectoryForeign =
    "DATA_DIRECTORY_FOREIGN";                                                     // FAILED_PRECONDITION
inline constexpr std::string_view kReasonStandby = "STANDBY";                     // FAILED_PRECONDITION
inline constexpr std::string_view kReasonFenced = "FENCED";                       // FAILED_PRECONDITION
inline constexpr std::string_view kReasonFormatUnknown = "FORMAT_UNKNOWN";        // FAILED_PRECONDITION
inline constexpr std::string_view kReasonCancelled = "CANCELLED";                 // CANCELLED
inline constexpr std::string_view kReasonDeadlineExceeded = "DEADLINE_EXCEEDED";  // DEADLINE_EXCEEDED
inline constexpr std::string_view kReasonIdempotentParameterMismatch =
    "IDEMPOTENT_PARAMETER_MISMATCH";                                        // INVALID_ARGUMENT
inline constexpr std::string_view kReasonDuplicateItem = "DUPLICATE_ITEM";  // ALREADY_EXISTS
// Only for a statement of a PartiQL batch. Elsewhere a false condition is an outcome in the reply, no error.
inline constexpr std::string_view kReasonConditionalCheckFailed = "CONDITIONAL_CHECK_FAILED";
// Of the operations on backups of tables, which have their own names for these (BAK-06).
inline constexpr std::string_view kReasonTableNotFound = "TABLE_NOT_FOUND";            // NOT_FOUND
inline constexpr std::string_view kReasonTableAlreadyExists = "TABLE_ALREADY_EXISTS";  // ALREADY_EXISTS
inline constexpr std::string_view kReasonPointInTimeRecoveryUnavailable =
    "POINT_IN_TIME_RECOVERY_UNAVAILABLE";                                              // FAILED_PRECONDITION
inline constexpr std::string_view kReasonInvalidRestoreTime = "INVALID_RESTORE_TIME";  // OUT_OF_RANGE
inline constexpr std::string_view kReasonTableMoving = "TABLE_MOVING";                 // UNAVAILABLE
inline constexpr std::string_view kReasonTableMoved = "TABLE_MOVED";                   // FAILED_PRECONDITION
inline constexpr std::string_view kReasonTableInUse = "TABLE_IN_USE";                  // FAILED_PRECONDITION
inline constexpr std::string_view kReasonBackupNotFound = "BACKUP_NOT_FOUND";          // NOT_FOUND
inline constexpr std::string_view kReasonBackupInUse = "BACKUP_IN_USE";                // FAILED_PRECONDITION
inline constexpr std::string_view kReasonExportNotFound = "EXPORT_NOT_FOUND";          // NOT_FOUND
inline constexpr std::string_view kReasonExportConflict = "EXPORT_CONFLICT";           // ALREADY_EXISTS
inline constexpr std::string_view kReasonInvalidExportTime = "INVALID_EXPORT_TIME";    // OUT_OF_RANGE
// Of imports, and of buckets.
inline constexpr std::string_view kReasonImportNotFound = "IMPORT_NOT_FOUND";          // NOT_FOUND
inline constexpr std::string_view kReasonImportConflict = "IMPORT_CONFLICT";           // FAILED_PRECONDITION
inline constexpr std::string_view kReasonNoSuchBucket = "NO_SUCH_BUCKET";              // NOT_FOUND
inline constexpr std::string_view kReasonBucketAccessDenied = "BUCKET_ACCESS_DENIED";  // PERMISSION_DENIED
// The table is being imported (IMP-05). FAILED_PRECONDITION.
inline constexpr std::string_view kReasonContinuousBackupsUnavailable = "CONTINUOUS_BACKUPS_UNAVAILABLE";
// Of a name that belongs to another account. The daemon refuses callers with the same reason.
inline constexpr std::string_view kReasonAccessDenied = "ACCESS_DENIED";  // PERMISSION_DENIED
inline constexpr std::string_view kReasonInternal = "INTERNAL";           // INTERNAL

// Returns a status with `reason` attached. `retry_after_ms` > 0: a retry may succeed after this time.
absl::Status MakeError(absl::StatusCode code, std::string_view reason, std::string_view message,
                       int64_t retry_after_ms = 0);

// The request is malformed, contradicts the schema or exceeds a limit (ERR-01). INVALID_ARGUMENT.
absl::Status ValidationError(std::string_view message);
// The same, with the id of the rule of docs/rules.md that the request breaks.
absl::Status ValidationError(std::string_view rule, std::string_view message);
// No such table (SEM-039, ERR-02). NOT_FOUND.
absl::Status NotFoundError(std::string_view message);
// Stored bytes do not decode or fail their checksum (ERR-20). DATA_LOSS.
absl::Status DataLossError(std::string_view message);

// Returns `status` with the id of the broken rule, in place of an id that it had.
absl::Status WithRule(std::string_view rule, absl::Status status);

// The id of the broken rule; empty when the status has none.
std::string RuleOf(const absl::Status& status);
// What MakeError attached to `status`. For other statuses the reason is empty and the time is 0.
std::string ReasonOf(const absl::Status& status);
int64_t RetryAfterMsOf(const absl::Status& status);

// The message of a status as std::string (the packaged absl::string_view is not std::string_view).
inline std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

}  // namespace itemdb::storage
