// The exceptions of DynamoDB's JSON protocol, and the reasons that statuses of itemdb have for them (SEM-114
// and the ERR rules). The daemon turns reasons into exceptions, the client exceptions into reasons.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace itemdb::protocol {

struct JsonException {
  std::string_view reason;
  // The code of statuses with this reason.
  absl::StatusCode code;
  unsigned http_status;
  // Without its prefix: "ValidationException".
  std::string_view name;
  // The error code for one statement of a batch (PQL-14) or one action of a transaction (SEM-051);
  // InternalServerError if the service has no code.
  std::string_view short_code;
};

// The exception for `reason`; InternalServerError for an unknown reason.
const JsonException& ExceptionOf(std::string_view reason);

// The exception with this name, without prefix; null if itemdb does not send it. Where several reasons have
// one exception it is the one that says least.
const JsonException* FindException(std::string_view name);

// The reason that an error code of one statement or one action stands for; empty for "None" and for codes
// that itemdb does not send.
std::string_view ReasonOfShortCode(std::string_view short_code);

}  // namespace itemdb::protocol
