// The reasons of errors as an enumeration, for `switch`. ReasonOf() in errors.h gives the name of a reason,
// which is what logs and metrics show.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstddef>
#include <string_view>

namespace itemdb {

// docs/operations.md says what each means and what to do. The numbers may change with every version: store
// names.
enum class Reason {
  // The status is OK.
  kNone,
  // A reason that this version of the library does not know, or a status that is not from this library.
  kOther,

  // ---- from the daemon ----
  kValidation,
  kResourceNotFound,
  kResourceInUse,
  kLimitExceeded,
  kItemCollectionSizeLimitExceeded,
  kConditionalCheckFailed,
  kTransactionCancelled,
  kDuplicateItem,
  kIdempotentParameterMismatch,
  kQueueFull,
  kCallsFull,
  kDiskFull,
  kUnavailable,
  kStandby,
  kFenced,
  kTableMoving,
  kTableMoved,
  kWriteOutcomeUnknown,
  kDataLoss,
  kInternal,
  kCancelled,
  kDeadlineExceeded,
  kUnauthenticated,
  kAccessDenied,
  kChangesTrimmed,
  kHoldEnded,
  kExpiredIterator,
  kStateTooOld,
  kImageMissing,
  kTableNotFound,
  kTableAlreadyExists,
  kTableInUse,
  kBackupNotFound,
  kBackupInUse,
  kPointInTimeRecoveryUnavailable,
  kInvalidRestoreTime,
  kRestorePointUnknown,
  kContinuousBackupsUnavailable,
  kExportNotFound,
  kExportConflict,
  kInvalidExportTime,
  kImportNotFound,
  kImportConflict,
  kNoSuchBucket,
  kBucketAccessDenied,
  kDataDirectoryInUse,
  kDataDirectoryForeign,
  kFormatUnknown,

  // ---- from this library ----
  kUnexpectedItem,
  kBlockingCallInCallback,
  kUnprocessedItems,
  kFinished,
  kValueReserved,
  kUnimplemented,
  // Over DynamoDB's HTTP protocol.
  kThrottled,
  kTransactionConflict,
  kHttpStatus,
};

namespace internal {

// In the order of Reason, from kValidation on.
inline constexpr std::string_view kReasonNames[] = {
    "VALIDATION",
    "RESOURCE_NOT_FOUND",
    "RESOURCE_IN_USE",
    "LIMIT_EXCEEDED",
    "ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED",
    "CONDITIONAL_CHECK_FAILED",
    "TRANSACTION_CANCELLED",
    "DUPLICATE_ITEM",
    "IDEMPOTENT_PARAMETER_MISMATCH",
    "QUEUE_FULL",
    "CALLS_FULL",
    "DISK_FULL",
    "UNAVAILABLE",
    "STANDBY",
    "FENCED",
    "TABLE_MOVING",
    "TABLE_MOVED",
    "WRITE_OUTCOME_UNKNOWN",
    "DATA_LOSS",
    "INTERNAL",
    "CANCELLED",
    "DEADLINE_EXCEEDED",
    "UNAUTHENTICATED",
    "ACCESS_DENIED",
    "CHANGES_TRIMMED",
    "HOLD_ENDED",
    "EXPIRED_ITERATOR",
    "STATE_TOO_OLD",
    "IMAGE_MISSING",
    "TABLE_NOT_FOUND",
    "TABLE_ALREADY_EXISTS",
    "TABLE_IN_USE",
    "BACKUP_NOT_FOUND",
    "BACKUP_IN_USE",
    "POINT_IN_TIME_RECOVERY_UNAVAILABLE",
    "INVALID_RESTORE_TIME",
    "RESTORE_POINT_UNKNOWN",
    "CONTINUOUS_BACKUPS_UNAVAILABLE",
    "EXPORT_NOT_FOUND",
    "EXPORT_CONFLICT",
    "INVALID_EXPORT_TIME",
    "IMPORT_NOT_FOUND",
    "IMPORT_CONFLICT",
    "NO_SUCH_BUCKET",
    "BUCKET_ACCESS_DENIED",
    "DATA_DIRECTORY_IN_USE",
    "DATA_DIRECTORY_FOREIGN",
    "FORMAT_UNKNOWN",
    "UNEXPECTED_ITEM",
    "BLOCKING_CALL_IN_CALLBACK",
    "UNPROCESSED_ITEMS",
    "FINISHED",
    "VALUE_RESERVED",
    "UNIMPLEMENTED",
    "THROTTLED",
    "TRANSACTION_CONFLICT",
    "HTTP_STATUS",
};
inline constexpr size_t kReasonCount = sizeof(kReasonNames) / sizeof(kReasonNames[0]);
static_assert(static_cast<size_t>(Reason::kHttpStatus) ==
              static_cast<size_t>(Reason::kValidation) + kReasonCount - 1);

}  // namespace internal

// "VALIDATION"; empty for kNone and kOther.
constexpr std::string_view ReasonName(Reason reason) {
  const auto index = static_cast<size_t>(reason) - static_cast<size_t>(Reason::kValidation);
  return reason < Reason::kValidation || index >= internal::kReasonCount ? std::string_view()
                                                                         : internal::kReasonNames[index];
}

// kOther for a name that is none of these.
constexpr Reason ReasonNamed(std::string_view name) {
  for (size_t i = 0; i < internal::kReasonCount; ++i) {
    if (internal::kReasonNames[i] == name)
      return static_cast<Reason>(static_cast<size_t>(Reason::kValidation) + i);
  }
  return Reason::kOther;
}

}  // namespace itemdb
