// The errors of DynamoDB's JSON protocol: `__type`, HTTP status and text (SEM-114, the ERR rows).
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "daemon/http/api/json_api.h"

namespace itemdb {

// The request is no JSON, or its JSON has other types than it should (ERR-16). INVALID_ARGUMENT, a reason of
// this protocol's own.
absl::Status SerializationError(std::string_view message);
bool IsSerializationError(const absl::Status& status);

// Storage answers so by its reply; the service has an exception for it (ERR-05).
inline constexpr std::string_view kReasonTransactionCancelled = "TRANSACTION_CANCELLED";

// What the service calls what storage has a reason for.
struct JsonException {
  std::string_view reason;
  unsigned http_status;
  // Without its prefix.
  std::string_view name;
  // Of one statement of a batch (PQL-14), one action of a transaction (SEM-051). What the service has no code
  // for is an internal error.
  std::string_view code;
};

// The one place where reasons become exceptions.
const JsonException& ExceptionOf(std::string_view reason);

// The reply for a status of storage.
JsonReply ErrorReply(const absl::Status& status);

// The reply with `exception`, e.g. "SerializationException", whose prefix is added here.
JsonReply ErrorReply(unsigned http_status, std::string_view exception, std::string_view message);

// `status` of a PutItem, UpdateItem or DeleteItem, whose texts about values count them (SEM-115).
absl::Status WithViolationCount(absl::Status status);

// The body of an error as far as its message; the caller may add members and closes it with '}'.
std::string BeginErrorBody(std::string_view exception, std::string_view message);

}  // namespace itemdb
