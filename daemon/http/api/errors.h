// The errors of DynamoDB's JSON protocol: `__type`, HTTP status and text (SEM-114 and the ERR rules).
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "daemon/http/api/json_api.h"
#include "protocol/exceptions.h"

namespace itemdb::http {

// The request is not JSON or has a wrong JSON type (storage/json/json_values.h).
bool IsSerializationError(const absl::Status& status);

using protocol::ExceptionOf;
using protocol::JsonException;

// The reply for a status of storage to a request of `operation`, e.g. "PutItem" (error_texts.h). Its member
// `Detail` has the message of the status if that says more than the service's text.
JsonReply ErrorReply(const absl::Status& status, std::string_view operation = {});

// The reply with `exception`, e.g. "SerializationException"; its prefix is added here. `detail`: as below.
JsonReply ErrorReply(unsigned http_status, std::string_view exception, std::string_view message,
                     std::string_view detail = {});

// The beginning of an error body, including its message and, unless it is empty, `detail`. A
// SerializationException without a message has no such member. The caller may add members, and closes the
// body with '}'.
std::string BeginErrorBody(std::string_view exception, std::string_view message,
                           std::string_view detail = {});

}  // namespace itemdb::http
