#include "daemon/http/api/errors.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "daemon/access/access_keys.h"
#include "daemon/http/api/error_texts.h"
#include "daemon/serving/serving_context.h"
#include "storage/json/json_values.h"
#include "storage/json/json_writer.h"

namespace itemdb::http {
namespace {

constexpr std::string_view kInternalCode = "InternalServerError";
constexpr std::string_view kSerialization = "SerializationException";

// The exceptions of ERR-01 to ERR-20. Only a bug can produce another reason; the answer is then 500.
constexpr JsonException kExceptions[] = {
    {storage::kReasonValidation, 400, "ValidationException", "ValidationError"},
    {storage::kReasonSerialization, 400, kSerialization, "ValidationError"},
    {storage::kReasonResourceNotFound, 400, "ResourceNotFoundException", "ResourceNotFound"},
    {storage::kReasonResourceInUse, 400, "ResourceInUseException", kInternalCode},
    {storage::kReasonLimitExceeded, 400, "LimitExceededException", "RequestLimitExceeded"},
    {storage::kReasonItemCollectionSizeLimitExceeded, 400, "ItemCollectionSizeLimitExceededException",
     "ItemCollectionSizeLimitExceeded"},
    {storage::kReasonDuplicateItem, 400, "DuplicateItemException", "DuplicateItem"},
    {storage::kReasonIdempotentParameterMismatch, 400, "IdempotentParameterMismatchException", kInternalCode},
    {storage::kReasonConditionalCheckFailed, 400, "ConditionalCheckFailedException",
     "ConditionalCheckFailed"},
    {daemon::kReasonTransactionCancelled, 400, "TransactionCanceledException", kInternalCode},
    {daemon::kReasonAccessDenied, 400, "AccessDeniedException", "AccessDenied"},
    {storage::kReasonChangesTrimmed, 400, "TrimmedDataAccessException", kInternalCode},
    {storage::kReasonExpiredIterator, 400, "ExpiredIteratorException", kInternalCode},
    {storage::kReasonTableNotFound, 400, "TableNotFoundException", kInternalCode},
    {storage::kReasonTableAlreadyExists, 400, "TableAlreadyExistsException", kInternalCode},
    {storage::kReasonPointInTimeRecoveryUnavailable, 400, "PointInTimeRecoveryUnavailableException",
     kInternalCode},
    {storage::kReasonInvalidRestoreTime, 400, "InvalidRestoreTimeException", kInternalCode},
    {storage::kReasonTableInUse, 400, "TableInUseException", kInternalCode},
    {storage::kReasonBackupNotFound, 400, "BackupNotFoundException", kInternalCode},
    {storage::kReasonBackupInUse, 400, "BackupInUseException", kInternalCode},
    {storage::kReasonExportNotFound, 400, "ExportNotFoundException", kInternalCode},
    {storage::kReasonExportConflict, 400, "ExportConflictException", kInternalCode},
    {storage::kReasonInvalidExportTime, 400, "InvalidExportTimeException", kInternalCode},
    {storage::kReasonContinuousBackupsUnavailable, 400, "ContinuousBackupsUnavailableException",
     kInternalCode},
    {storage::kReasonImportNotFound, 400, "ImportNotFoundException", kInternalCode},
    {storage::kReasonImportConflict, 400, "ImportConflictException", kInternalCode},
    // Nothing was written; clients retry after a pause.
    {storage::kReasonQueueFull, 400, "ThrottlingException", "ThrottlingError"},
    {daemon::kReasonCallsFull, 400, "ThrottlingException", "ThrottlingError"},
    {storage::kReasonUnavailable, 503, "ServiceUnavailable", kInternalCode},
    {storage::kReasonStandby, 503, "ServiceUnavailable", kInternalCode},
    {storage::kReasonFenced, 503, "ServiceUnavailable", kInternalCode},
    {storage::kReasonDiskFull, 503, "ServiceUnavailable", kInternalCode},
    {storage::kReasonCancelled, 503, "ServiceUnavailable", kInternalCode},
    {storage::kReasonDeadlineExceeded, 503, "ServiceUnavailable", kInternalCode},
    {storage::kReasonWriteOutcomeUnknown, 500, "InternalServerError", kInternalCode},
    {storage::kReasonDataLoss, 500, "InternalServerError", kInternalCode},
};
constexpr JsonException kInternal = {storage::kReasonInternal, 500, "InternalServerError", kInternalCode};

// The prefix says which part of the service raises an exception: its framework, or DynamoDB (SEM-114).
std::string_view PrefixOf(std::string_view exception) {
  if (exception == "ValidationException") return "com.amazon.coral.validate#";
  if (exception == "ThrottlingException") return "com.amazon.coral.availability#";
  constexpr std::string_view kOfService[] = {
      "SerializationException",       "UnknownOperationException", "AccessDeniedException",
      "IncompleteSignatureException", "InvalidSignatureException", "MissingAuthenticationTokenException",
      "UnrecognizedClientException",  "ServiceUnavailable",
  };
  if (std::find(std::begin(kOfService), std::end(kOfService), exception) != std::end(kOfService))
    return "com.amazon.coral.service#";
  return "com.amazonaws.dynamodb.v20120810#";
}

std::string_view CodeOf(unsigned http_status) {
  if (http_status == 503) return "UNAVAILABLE";
  return http_status >= 500 ? "INTERNAL" : "INVALID_ARGUMENT";
}

}  // namespace

const JsonException& ExceptionOf(std::string_view reason) {
  const auto* exception = std::find_if(std::begin(kExceptions), std::end(kExceptions),
                                       [&](const JsonException& one) { return one.reason == reason; });
  return exception == std::end(kExceptions) ? kInternal : *exception;
}

bool IsSerializationError(const absl::Status& status) {
  return storage::ReasonOf(status) == storage::kReasonSerialization;
}

std::string BeginErrorBody(std::string_view exception, std::string_view message, std::string_view detail) {
  std::string body = "{\"__type\":\"";
  body.append(PrefixOf(exception)).append(exception).append("\"");
  // The service's framework spells this member so, and leaves it out if the body is not JSON.
  const bool of_framework = exception == kSerialization;
  if (!message.empty() || !of_framework) {
    body.append(of_framework ? ",\"Message\":" : ",\"message\":");
    storage::AppendJsonString(message, &body);
  }
  if (!detail.empty()) {
    body.append(",\"Detail\":");
    storage::AppendJsonString(detail, &body);
  }
  return body;
}

JsonReply ErrorReply(unsigned http_status, std::string_view exception, std::string_view message) {
  return {.http_status = http_status,
          .body = BeginErrorBody(exception, message) + "}",
          .code = std::string(CodeOf(http_status)),
          .reason = exception};
}

JsonReply ErrorReply(const absl::Status& status, std::string_view operation) {
  const JsonException& exception = ExceptionOf(storage::ReasonOf(status));
  const std::string text = ServiceTextFor(status, operation);
  std::string detail = storage::MessageOf(status);
  // A text that ends with the message says all that the message does.
  if (text.ends_with(detail) || text.starts_with(detail)) detail.clear();
  return {.http_status = exception.http_status,
          .body = BeginErrorBody(exception.name, text, detail) + "}",
          .code = absl::StatusCodeToString(status.code()),
          .reason = exception.reason};
}

}  // namespace itemdb::http
