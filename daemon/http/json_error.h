// The errors of DynamoDB's JSON protocol: `__type`, HTTP status and text (SEM-114, the ERR rows).
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "daemon/http/json_api.h"

namespace itemdb {

// The reply for a status of storage: the one place where reasons become exceptions.
JsonReply ErrorReply(const absl::Status& status);

// The reply with `exception`, e.g. "SerializationException", whose prefix is added here.
JsonReply ErrorReply(unsigned http_status, std::string_view exception, std::string_view message);

}  // namespace itemdb
