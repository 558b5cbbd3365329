// What an absl::Status of this library tells a program.
//
// The code says what to do next, the message is for people, and the reason is a stable UPPER_SNAKE_CASE name:
//
// clang-format off
//   code                 reason                     meaning
//   INVALID_ARGUMENT     VALIDATION                 the request is malformed or exceeds a limit
//   NOT_FOUND            RESOURCE_NOT_FOUND         no such table or index
//   ALREADY_EXISTS       RESOURCE_IN_USE            the table exists already
//   FAILED_PRECONDITION  CONDITIONAL_CHECK_FAILED   the condition was false; see ConditionFailedItem()
//   FAILED_PRECONDITION  TRANSACTION_CANCELLED      nothing was applied; see CancellationReasons()
//   RESOURCE_EXHAUSTED   QUEUE_FULL, DISK_FULL, ... nothing was applied; see RetryAfterOf()
//   RESOURCE_EXHAUSTED   ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED
//                                                   nothing was applied: too much under one partition key of a
//                                                   table with local indexes
//   UNAVAILABLE          UNAVAILABLE                the daemon cannot be reached, or is starting or stopping;
//                                                   nothing was applied, trying again is safe
//   UNAUTHENTICATED      UNAUTHENTICATED            the daemon asks for an access key, and got none or not a
//                                                   good one (options.h); nothing was applied
//   PERMISSION_DENIED    ACCESS_DENIED              the role of the access key is less than this takes;
//                                                   nothing was applied
//   UNKNOWN              WRITE_OUTCOME_UNKNOWN      a write was sent and its outcome was lost: read before
//                                                   repeating, or use request tokens (options.h)
//   DEADLINE_EXCEEDED    WRITE_OUTCOME_UNKNOWN      the deadline passed after a write was sent; likewise
//   DEADLINE_EXCEEDED    DEADLINE_EXCEEDED          the deadline passed on a read
//   CANCELLED            WRITE_OUTCOME_UNKNOWN      the call was cancelled after a write was sent; likewise
//   CANCELLED            CANCELLED                  the call was cancelled; nothing was applied
//   ABORTED              STATE_TOO_OLD              the one state of a stream is kept no longer; begin it again
//   OUT_OF_RANGE         CHANGES_TRIMMED            the change records asked for are gone
//   DATA_LOSS            DATA_LOSS                  stored bytes do not decode or fail their checksum
//   DATA_LOSS            UNEXPECTED_ITEM            an item is not what the program's struct asks for (item_traits.h)
// clang-format on
//
// What can be tried again safely has been, within the call's deadline and RetryOptions (options.h), before a
// status is returned.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "itemdb/export.h"
#include "itemdb/value.h"

namespace itemdb {
inline namespace client {

inline constexpr std::string_view kReasonValidation = "VALIDATION";
inline constexpr std::string_view kReasonConditionalCheckFailed = "CONDITIONAL_CHECK_FAILED";
inline constexpr std::string_view kReasonTransactionCancelled = "TRANSACTION_CANCELLED";
inline constexpr std::string_view kReasonDiskFull = "DISK_FULL";
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

// The id of the rule of the daemon's docs/rules.md that was broken, for example "SEM-039"; empty when it is
// not known or the daemon is older than this. For people and tests: programs decide by the reason.
ITEMDB_EXPORT std::string RuleOf(const absl::Status& status);

// How long to wait before trying again; zero when waiting does not help or is not known to.
ITEMDB_EXPORT absl::Duration RetryAfterOf(const absl::Status& status);

// The item the false condition was evaluated against: set when the reason is CONDITIONAL_CHECK_FAILED, the
// request asked for it, and there was an item.
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
    // A newer daemon's code.
    kUnknown,
  };
  Code code = Code::kNone;
  // Empty with kNone.
  std::string message;
  // The stored item, when the action asked for it and there was one.
  std::optional<Item> item;
};

// "None", "ConditionalCheckFailed", "ValidationError", "ItemCollectionSizeLimitExceeded" or "Unknown".
ITEMDB_EXPORT std::string_view CodeName(CancellationReason::Code code);

// One per action, in request order, when the reason is TRANSACTION_CANCELLED; otherwise empty.
ITEMDB_EXPORT std::vector<CancellationReason> CancellationReasons(const absl::Status& status);

// What became of one write of a BatchWriteItem that failed.
enum class BatchWriteOutcome {
  // It is there, durably.
  kApplied,
  // It is not there and will not be: sending it again is safe.
  kNotApplied,
  // It may or may not be there: read before sending it again.
  kUnknown,
};

// One per write, in request order, when `status` is that of a BatchWriteItem; otherwise empty.
ITEMDB_EXPORT std::vector<BatchWriteOutcome> BatchWriteOutcomes(const absl::Status& status);

}  // namespace client
}  // namespace itemdb
