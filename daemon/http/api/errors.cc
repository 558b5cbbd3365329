#include "daemon/http/api/errors.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "daemon/access/access_keys.h"
#include "daemon/http/api/json_writer.h"
#include "daemon/serving/calls.h"

namespace itemdb {
namespace {

constexpr std::string_view kReasonSerialization = "SERIALIZATION";
constexpr std::string_view kInternalCode = "InternalServerError";

// ERR-01 to ERR-20. A reason that is not here is none that a request can meet, or a fault of ours: 500.
constexpr JsonException kExceptions[] = {
    {kReasonValidation, 400, "ValidationException", "ValidationError"},
    {kReasonSerialization, 400, "SerializationException", "ValidationError"},
    {kReasonResourceNotFound, 400, "ResourceNotFoundException", "ResourceNotFound"},
    {kReasonResourceInUse, 400, "ResourceInUseException", kInternalCode},
    {kReasonLimitExceeded, 400, "LimitExceededException", "RequestLimitExceeded"},
    {kReasonItemCollectionSizeLimitExceeded, 400, "ItemCollectionSizeLimitExceededException",
     "ItemCollectionSizeLimitExceeded"},
    {kReasonDuplicateItem, 400, "DuplicateItemException", "DuplicateItem"},
    {kReasonIdempotentParameterMismatch, 400, "IdempotentParameterMismatchException", kInternalCode},
    {kReasonConditionalCheckFailed, 400, "ConditionalCheckFailedException", "ConditionalCheckFailed"},
    {kReasonTransactionCancelled, 400, "TransactionCanceledException", kInternalCode},
    {kReasonAccessDenied, 400, "AccessDeniedException", "AccessDenied"},
    {kReasonChangesTrimmed, 400, "TrimmedDataAccessException", kInternalCode},
    {kReasonExpiredIterator, 400, "ExpiredIteratorException", kInternalCode},
    // Clients try these again after a pause; nothing was written.
    {kReasonQueueFull, 400, "ThrottlingException", "ThrottlingError"},
    {kReasonCallsFull, 400, "ThrottlingException", "ThrottlingError"},
    {kReasonUnavailable, 503, "ServiceUnavailable", kInternalCode},
    {kReasonDiskFull, 503, "ServiceUnavailable", kInternalCode},
    {kReasonCancelled, 503, "ServiceUnavailable", kInternalCode},
    {kReasonDeadlineExceeded, 503, "ServiceUnavailable", kInternalCode},
    {kReasonWriteOutcomeUnknown, 500, "InternalServerError", kInternalCode},
    {kReasonDataLoss, 500, "InternalServerError", kInternalCode},
};
constexpr JsonException kInternal = {kReasonInternal, 500, "InternalServerError", kInternalCode};

// The service's own framework raises some exceptions, and says so in their prefix (SEM-114).
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

absl::Status SerializationError(std::string_view message) {
  return MakeError(absl::StatusCode::kInvalidArgument, kReasonSerialization, message);
}

bool IsSerializationError(const absl::Status& status) { return ReasonOf(status) == kReasonSerialization; }

std::string BeginErrorBody(std::string_view exception, std::string_view message) {
  std::string body = "{\"__type\":\"";
  body.append(PrefixOf(exception)).append(exception).append("\",\"message\":");
  AppendJsonString(message, &body);
  return body;
}

JsonReply ErrorReply(unsigned http_status, std::string_view exception, std::string_view message) {
  return {.http_status = http_status,
          .body = BeginErrorBody(exception, message) + "}",
          .code = std::string(CodeOf(http_status))};
}

JsonReply ErrorReply(const absl::Status& status) {
  const JsonException& exception = ExceptionOf(ReasonOf(status));
  JsonReply reply = ErrorReply(exception.http_status, exception.name, MessageOf(status));
  reply.code = absl::StatusCodeToString(status.code());
  return reply;
}

absl::Status WithViolationCount(absl::Status status) {
  // What storage/values/canonical.h says of values.
  constexpr std::string_view kRules[] = {"SEM-009", "SEM-010", "SEM-011", "SEM-015", "SEM-016", "SEM-017"};
  if (ReasonOf(status) != kReasonValidation) return status;
  const std::string rule = RuleOf(status);
  if (std::find(std::begin(kRules), std::end(kRules), rule) == std::end(kRules)) return status;
  return ValidationError(rule, "1 validation error detected: " + MessageOf(status));
}

}  // namespace itemdb
