// The exceptions of DynamoDB's protocol as statuses of this library.
#include <algorithm>
#include <iterator>

#include "client/errors_internal.h"
#include "client/http/json_exchange.h"
#include "protocol/exceptions.h"

namespace itemdb {
namespace {

using enum absl::StatusCode;

// Pauses before a throttled call is sent again; the retry layer makes them longer each time.
constexpr int64_t kThrottlePauseMs = 25;

// Exceptions of DynamoDB that itemd's table (protocol/exceptions.h) lacks, or that mean more to a caller than
// its reason.
struct OtherException {
  std::string_view name;
  absl::StatusCode code;
  std::string_view reason;
  int64_t retry_after_ms;
};
constexpr OtherException kOthers[] = {
    {"ThrottlingException", kResourceExhausted, "THROTTLED", kThrottlePauseMs},
    {"ProvisionedThroughputExceededException", kResourceExhausted, "THROTTLED", kThrottlePauseMs},
    {"RequestLimitExceeded", kResourceExhausted, "THROTTLED", kThrottlePauseMs},
    // Another transaction is on the item; nothing was written.
    {"TransactionConflictException", kResourceExhausted, "TRANSACTION_CONFLICT", kThrottlePauseMs},
    // The transaction of this token is under way: sent again, it answers with what became of it.
    {"TransactionInProgressException", kUnknown, kReasonWriteOutcomeUnknown, 0},
    {"UnrecognizedClientException", kUnauthenticated, kReasonUnauthenticated, 0},
    {"InvalidSignatureException", kUnauthenticated, kReasonUnauthenticated, 0},
    {"IncompleteSignatureException", kUnauthenticated, kReasonUnauthenticated, 0},
    {"MissingAuthenticationTokenException", kUnauthenticated, kReasonUnauthenticated, 0},
    {"MissingAuthenticationToken", kUnauthenticated, kReasonUnauthenticated, 0},
    {"ExpiredTokenException", kUnauthenticated, kReasonUnauthenticated, 0},
    {"UnknownOperationException", kUnimplemented, "UNIMPLEMENTED", 0},
    {"TableNotFoundException", kNotFound, "TABLE_NOT_FOUND", 0},
};

// "FOO_BAR" for an exception FooBarException.
std::string ReasonFromName(std::string_view name) {
  constexpr std::string_view kEnd = "Exception";
  if (name.ends_with(kEnd)) name.remove_suffix(kEnd.size());
  std::string reason;
  for (const char c : name) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (is_upper && !reason.empty()) reason.push_back('_');
    reason.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  }
  return reason;
}

}  // namespace

absl::Status StatusOfJsonError(const JsonError& error, CallKind kind) {
  const auto* other = std::find_if(std::begin(kOthers), std::end(kOthers),
                                   [&](const OtherException& one) { return one.name == error.name; });
  if (other != std::end(kOthers))
    return MakeError(other->code, other->reason, error.message, other->retry_after_ms);
  // The service has failed, and does not say whether the write was applied before. A reply without an
  // exception is not from the service at all.
  const bool is_definite = !error.name.empty() && error.name != "InternalServerError" &&
                           error.name != "InternalFailure" &&
                           (error.http_status < 500 || error.http_status == 503);
  const std::string message = error.name.empty()
                                  ? "HTTP status " + std::to_string(error.http_status) + ": " + error.message
                                  : error.message;
  if (!is_definite && error.http_status >= 500) {
    if (kind == CallKind::kRead) return MakeError(kUnavailable, kReasonUnavailable, message);
    return MakeError(kUnknown, kReasonWriteOutcomeUnknown,
                     "the other side failed; the write may or may not have been applied: " + message);
  }
  if (error.http_status == 503) return MakeError(kUnavailable, kReasonUnavailable, message);
  if (const protocol::JsonException* known = protocol::FindException(error.name); known != nullptr)
    return MakeError(known->code, known->reason, message);
  return MakeError(kFailedPrecondition, error.name.empty() ? "HTTP_STATUS" : ReasonFromName(error.name),
                   message);
}

}  // namespace itemdb
