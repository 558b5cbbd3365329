#include "protocol/exceptions.h"

#include <algorithm>
#include <iterator>

#include "storage/base/status.h"
#include "storage/json/json_values.h"

namespace itemdb::protocol {
namespace {

using enum absl::StatusCode;

constexpr std::string_view kInternalCode = "InternalServerError";

// The exceptions of ERR-01 to ERR-20. Only a bug can produce another reason; the answer is then 500.
constexpr JsonException kExceptions[] = {
    {storage::kReasonValidation, kInvalidArgument, 400, "ValidationException", "ValidationError"},
    {storage::kReasonSerialization, kInvalidArgument, 400, "SerializationException", "ValidationError"},
    {storage::kReasonResourceNotFound, kNotFound, 400, "ResourceNotFoundException", "ResourceNotFound"},
    {storage::kReasonResourceInUse, kAlreadyExists, 400, "ResourceInUseException", kInternalCode},
    {storage::kReasonLimitExceeded, kResourceExhausted, 400, "LimitExceededException",
     "RequestLimitExceeded"},
    {storage::kReasonItemCollectionSizeLimitExceeded, kResourceExhausted, 400,
     "ItemCollectionSizeLimitExceededException", "ItemCollectionSizeLimitExceeded"},
    {storage::kReasonDuplicateItem, kAlreadyExists, 400, "DuplicateItemException", "DuplicateItem"},
    {storage::kReasonIdempotentParameterMismatch, kInvalidArgument, 400,
     "IdempotentParameterMismatchException", kInternalCode},
    {storage::kReasonConditionalCheckFailed, kFailedPrecondition, 400, "ConditionalCheckFailedException",
     "ConditionalCheckFailed"},
    {"TRANSACTION_CANCELLED", kFailedPrecondition, 400, "TransactionCanceledException", kInternalCode},
    {storage::kReasonAccessDenied, kPermissionDenied, 400, "AccessDeniedException", "AccessDenied"},
    {storage::kReasonChangesTrimmed, kOutOfRange, 400, "TrimmedDataAccessException", kInternalCode},
    {storage::kReasonExpiredIterator, kOutOfRange, 400, "ExpiredIteratorException", kInternalCode},
    {storage::kReasonTableNotFound, kNotFound, 400, "TableNotFoundException", kInternalCode},
    {storage::kReasonTableAlreadyExists, kAlreadyExists, 400, "TableAlreadyExistsException", kInternalCode},
    {storage::kReasonPointInTimeRecoveryUnavailable, kFailedPrecondition, 400,
     "PointInTimeRecoveryUnavailableException", kInternalCode},
    {storage::kReasonInvalidRestoreTime, kOutOfRange, 400, "InvalidRestoreTimeException", kInternalCode},
    {storage::kReasonTableInUse, kFailedPrecondition, 400, "TableInUseException", kInternalCode},
    {storage::kReasonBackupNotFound, kNotFound, 400, "BackupNotFoundException", kInternalCode},
    {storage::kReasonBackupInUse, kFailedPrecondition, 400, "BackupInUseException", kInternalCode},
    {storage::kReasonExportNotFound, kNotFound, 400, "ExportNotFoundException", kInternalCode},
    {storage::kReasonExportConflict, kAlreadyExists, 400, "ExportConflictException", kInternalCode},
    {storage::kReasonInvalidExportTime, kOutOfRange, 400, "InvalidExportTimeException", kInternalCode},
    {storage::kReasonContinuousBackupsUnavailable, kFailedPrecondition, 400,
     "ContinuousBackupsUnavailableException", kInternalCode},
    {storage::kReasonImportNotFound, kNotFound, 400, "ImportNotFoundException", kInternalCode},
    {storage::kReasonImportConflict, kFailedPrecondition, 400, "ImportConflictException", kInternalCode},
    // Nothing was written; clients retry after a pause.
    {storage::kReasonQueueFull, kResourceExhausted, 400, "ThrottlingException", "ThrottlingError"},
    {"CALLS_FULL", kResourceExhausted, 400, "ThrottlingException", "ThrottlingError"},
    {storage::kReasonUnavailable, kUnavailable, 503, "ServiceUnavailable", kInternalCode},
    {storage::kReasonStandby, kFailedPrecondition, 503, "ServiceUnavailable", kInternalCode},
    {storage::kReasonFenced, kFailedPrecondition, 503, "ServiceUnavailable", kInternalCode},
    {storage::kReasonTableMoving, kUnavailable, 503, "ServiceUnavailable", kInternalCode},
    {storage::kReasonTableMoved, kFailedPrecondition, 503, "ServiceUnavailable", kInternalCode},
    {storage::kReasonDiskFull, kResourceExhausted, 503, "ServiceUnavailable", kInternalCode},
    {storage::kReasonCancelled, kCancelled, 503, "ServiceUnavailable", kInternalCode},
    {storage::kReasonDeadlineExceeded, kDeadlineExceeded, 503, "ServiceUnavailable", kInternalCode},
    {storage::kReasonWriteOutcomeUnknown, kUnknown, 500, "InternalServerError", kInternalCode},
    {storage::kReasonDataLoss, kDataLoss, 500, "InternalServerError", kInternalCode},
};
constexpr JsonException kInternalException = {storage::kReasonInternal, kInternal, 500, "InternalServerError",
                                              kInternalCode};

}  // namespace

const JsonException& ExceptionOf(std::string_view reason) {
  const auto* exception = std::find_if(std::begin(kExceptions), std::end(kExceptions),
                                       [&](const JsonException& one) { return one.reason == reason; });
  return exception == std::end(kExceptions) ? kInternalException : *exception;
}

const JsonException* FindException(std::string_view name) {
  if (name == kInternalException.name) return &kInternalException;
  const auto* exception = std::find_if(std::begin(kExceptions), std::end(kExceptions),
                                       [&](const JsonException& one) { return one.name == name; });
  return exception == std::end(kExceptions) ? nullptr : exception;
}

std::string_view ReasonOfShortCode(std::string_view short_code) {
  if (short_code == kInternalCode) return kInternalException.reason;
  const auto* exception =
      std::find_if(std::begin(kExceptions), std::end(kExceptions),
                   [&](const JsonException& one) { return one.short_code == short_code; });
  return exception == std::end(kExceptions) ? std::string_view() : exception->reason;
}

}  // namespace itemdb::protocol
