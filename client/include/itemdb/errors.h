// What an absl::Status of this library tells a program.
//
// The code says what to do next, the message is for people, and the reason is a stable UPPER_SNAKE_CASE name:
//
// clang-format off
//   code                 reason                     meaning
//   INVALID_ARGUMENT     VALIDATION                 the request is malformed or exceeds a limit
//   NOT_FOUND            RESOURCE_NOT_FOUND         no such table or index
//   NOT_FOUND            TABLE_NOT_FOUND, BACKUP_NOT_FOUND
//                                                   the same, of an operation on backups of tables
//   NOT_FOUND            IMPORT_NOT_FOUND           no such import
//   ALREADY_EXISTS       RESOURCE_IN_USE, TABLE_ALREADY_EXISTS
//                                                   the table exists already
//   OUT_OF_RANGE         INVALID_RESTORE_TIME       the point is outside of what can be restored
//   NOT_FOUND            EXPORT_NOT_FOUND           no such export
//   ALREADY_EXISTS       EXPORT_CONFLICT            the client token of an export was used for another request
//   OUT_OF_RANGE         INVALID_EXPORT_TIME        the time cannot be exported
//   FAILED_PRECONDITION  POINT_IN_TIME_RECOVERY_UNAVAILABLE
//                                                   point-in-time recovery of the table is off
//   FAILED_PRECONDITION  TABLE_IN_USE, BACKUP_IN_USE
//                                                   the table is being restored, or is restored from the
//                                                   backup
//   FAILED_PRECONDITION  IMPORT_CONFLICT            an import with the same client token has other parameters
//   FAILED_PRECONDITION  CONTINUOUS_BACKUPS_UNAVAILABLE
//                                                   the table is being imported
//   FAILED_PRECONDITION  CONDITIONAL_CHECK_FAILED   the condition was false; see ConditionFailedItem()
//   FAILED_PRECONDITION  STANDBY, FENCED            a write was sent to a standby, or to a database whose
//                                                   standby was promoted; nothing was applied
//   FAILED_PRECONDITION  TABLE_MOVED                a write of a table that was moved to another endpoint, which
//                                                   the message names; nothing was applied
//   UNAVAILABLE          TABLE_MOVING               a write of a table that is being moved, in the moment of the
//                                                   switch; nothing was applied, trying again is safe
//   FAILED_PRECONDITION  TRANSACTION_CANCELLED      nothing was applied; see CancellationReasons()
//   RESOURCE_EXHAUSTED   QUEUE_FULL, DISK_FULL, ... nothing was applied; see RetryAfterOf()
//   RESOURCE_EXHAUSTED   ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED
//                                                   nothing was applied: the items of one partition key in a
//                                                   table with local indexes would be too large together
//   UNAVAILABLE          UNAVAILABLE                the daemon cannot be reached, or is starting or stopping;
//                                                   nothing was applied, trying again is safe
//   UNAUTHENTICATED      UNAUTHENTICATED            the call carried no valid access key, and the daemon
//                                                   requires one (options.h); nothing was applied
//   PERMISSION_DENIED    ACCESS_DENIED              the role of the access key does not allow the operation;
//                                                   nothing was applied
//   UNKNOWN              WRITE_OUTCOME_UNKNOWN      a write was sent and its outcome was lost: read before
//                                                   repeating, or use request tokens (options.h)
//   DEADLINE_EXCEEDED    WRITE_OUTCOME_UNKNOWN      the deadline passed after a write was sent; see UNKNOWN
//   DEADLINE_EXCEEDED    DEADLINE_EXCEEDED          the deadline passed on a read
//   CANCELLED            WRITE_OUTCOME_UNKNOWN      the call was cancelled after sending a write; see UNKNOWN
//   CANCELLED            CANCELLED                  the call was cancelled; nothing was applied
//   ABORTED              STATE_TOO_OLD              the state that a stream reads is no longer kept; begin
//                                                   the stream again
//   OUT_OF_RANGE         CHANGES_TRIMMED            the requested change records are no longer kept
//   FAILED_PRECONDITION  HOLD_ENDED                 changes are not kept any more that a reader held; see
//                                                   Client::HoldChanges
//   DATA_LOSS            DATA_LOSS                  stored bytes do not decode or fail their checksum
//   DATA_LOSS            UNEXPECTED_ITEM            an item does not fit the program's struct (item_traits.h)
// clang-format on
//
// Before the client returns a status, it has repeated every call that is safe to repeat, within the call's
// deadline and RetryOptions (options.h).
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "itemdb/export.h"
#include "itemdb/reason.h"
#include "itemdb/value.h"

namespace itemdb {

inline constexpr std::string_view kReasonValidation = "VALIDATION";
inline constexpr std::string_view kReasonConditionalCheckFailed = "CONDITIONAL_CHECK_FAILED";
inline constexpr std::string_view kReasonTransactionCancelled = "TRANSACTION_CANCELLED";
inline constexpr std::string_view kReasonDiskFull = "DISK_FULL";
inline constexpr std::string_view kReasonStandby = "STANDBY";
inline constexpr std::string_view kReasonFenced = "FENCED";
inline constexpr std::string_view kReasonHoldEnded = "HOLD_ENDED";
inline constexpr std::string_view kReasonTableMoving = "TABLE_MOVING";
inline constexpr std::string_view kReasonTableMoved = "TABLE_MOVED";
inline constexpr std::string_view kReasonItemCollectionSizeLimitExceeded =
    "ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED";
inline constexpr std::string_view kReasonUnauthenticated = "UNAUTHENTICATED";
inline constexpr std::string_view kReasonAccessDenied = "ACCESS_DENIED";
inline constexpr std::string_view kReasonUnavailable = "UNAVAILABLE";
inline constexpr std::string_view kReasonWriteOutcomeUnknown = "WRITE_OUTCOME_UNKNOWN";
inline constexpr std::string_view kReasonDeadlineExceeded = "DEADLINE_EXCEEDED";
inline constexpr std::string_view kReasonStateTooOld = "STATE_TOO_OLD";
inline constexpr std::string_view kReasonCancelled = "CANCELLED";
inline constexpr std::string_view kReasonUnexpectedItem = "UNEXPECTED_ITEM";

// The machine-readable reason; empty for OK and for statuses that are not from this library.
ITEMDB_EXPORT std::string ReasonOf(const absl::Status& status);

// The same as an enumeration, for `switch`.
inline Reason ReasonCodeOf(const absl::Status& status) {
  return status.ok() ? Reason::kNone : ReasonNamed(ReasonOf(status));
}

// The id of the broken rule in the daemon's docs/rules.md, for example "SEM-039"; empty when it is not known
// or when an older daemon does not send it. For people and tests: programs decide by the reason.
ITEMDB_EXPORT std::string RuleOf(const absl::Status& status);

// How long to wait before trying again; zero when the daemon did not say, or when waiting does not help.
ITEMDB_EXPORT absl::Duration RetryAfterOf(const absl::Status& status);

// The item for which the condition was false: set when the reason is CONDITIONAL_CHECK_FAILED, the request
// asked for the item, and the item exists.
ITEMDB_EXPORT std::optional<Item> ConditionFailedItem(const absl::Status& status);

// Why one action of a cancelled transaction would or would not have been applied.
struct CancellationReason {
  enum class Code {
    // Nothing was wrong with this action.
    kNone,
    // Its condition was false.
    kConditionalCheckFailed,
    // Its result would not be a valid item.
    kValidationError,
    // Items with its partition key and their entries in local indexes would be larger than the daemon allows.
    kItemCollectionSizeLimitExceeded,
    // A code of a newer daemon that this library does not know.
    kUnknown,
  };
  Code code = Code::kNone;
  // Empty with kNone.
  std::string message;
  // The stored item, if the action asked for it and it exists.
  std::optional<Item> item;
};

// "None", "ConditionalCheckFailed", "ValidationError", "ItemCollectionSizeLimitExceeded" or "Unknown".
ITEMDB_EXPORT std::string_view CodeName(CancellationReason::Code code);

// One per action, in request order, when the reason is TRANSACTION_CANCELLED; otherwise empty.
ITEMDB_EXPORT std::vector<CancellationReason> CancellationReasons(const absl::Status& status);

// The outcome of one write of a BatchWriteItem that failed.
enum class BatchWriteOutcome {
  // It was applied and is durable.
  kApplied,
  // It was not applied and never will be: sending it again is safe.
  kNotApplied,
  // It may or may not have been applied: read before sending it again.
  kUnknown,
};

// One per write, in request order, when `status` is that of a BatchWriteItem; otherwise empty.
ITEMDB_EXPORT std::vector<BatchWriteOutcome> BatchWriteOutcomes(const absl::Status& status);

}  // namespace itemdb
