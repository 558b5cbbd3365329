#include "daemon/http/api/errors.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "daemon/http/api/error_texts.h"
#include "storage/json/json_values.h"
#include "storage/json/json_writer.h"

namespace itemdb::http {
namespace {

constexpr std::string_view kSerialization = "SerializationException";

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

JsonReply ErrorReply(unsigned http_status, std::string_view exception, std::string_view message,
                     std::string_view detail) {
  return {.http_status = http_status,
          .body = BeginErrorBody(exception, message, detail) + "}",
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
