#include "daemon/http/json_error.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "daemon/calls.h"
#include "daemon/http/json_writer.h"

namespace itemdb {
namespace {

constexpr std::string_view kReasonSerialization = "SERIALIZATION";

struct Exception {
  std::string_view reason;
  unsigned http_status;
  std::string_view name;
};

// ERR-01 to ERR-20. A reason that is not here is none that a request can meet, or a fault of ours: 500.
constexpr Exception kExceptions[] = {
    {kReasonValidation, 400, "ValidationException"},
    {kReasonSerialization, 400, "SerializationException"},
    {kReasonResourceNotFound, 400, "ResourceNotFoundException"},
    {kReasonResourceInUse, 400, "ResourceInUseException"},
    {kReasonLimitExceeded, 400, "LimitExceededException"},
    {kReasonItemCollectionSizeLimitExceeded, 400, "ItemCollectionSizeLimitExceededException"},
    {kReasonDuplicateItem, 400, "DuplicateItemException"},
    {kReasonIdempotentParameterMismatch, 400, "IdempotentParameterMismatchException"},
    // Clients try these again after a pause; nothing was written.
    {kReasonQueueFull, 400, "ThrottlingException"},
    {kReasonCallsFull, 400, "ThrottlingException"},
    {kReasonUnavailable, 503, "ServiceUnavailable"},
    {kReasonDiskFull, 503, "ServiceUnavailable"},
    {kReasonCancelled, 503, "ServiceUnavailable"},
    {kReasonDeadlineExceeded, 503, "ServiceUnavailable"},
    {kReasonWriteOutcomeUnknown, 500, "InternalServerError"},
    {kReasonDataLoss, 500, "InternalServerError"},
};
constexpr Exception kInternal = {kReasonInternal, 500, "InternalServerError"};

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
  const std::string reason = ReasonOf(status);
  const auto* exception = std::find_if(std::begin(kExceptions), std::end(kExceptions),
                                       [&](const Exception& one) { return one.reason == reason; });
  if (exception == std::end(kExceptions)) exception = &kInternal;
  JsonReply reply = ErrorReply(exception->http_status, exception->name, MessageOf(status));
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
