// Makes the statuses that errors.h reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "client/error_payloads.h"
#include "itemdb/errors.h"

namespace itemdb {

// Another payload, not a message of proto/ as those of error_payloads.h are: one character per write.
inline constexpr char kBatchOutcomesUrl[] = "itemdb.client/BatchWriteOutcomes";

// Attaches the outcome of every write to `status`; the message counts them unless all are the same.
absl::Status WithOutcomes(const absl::Status& status, const std::vector<BatchWriteOutcome>& outcomes);

// A status with `reason` attached. `retry_after_ms` is 0 when waiting does not help.
ITEMDB_EXPORT absl::Status MakeError(absl::StatusCode code, std::string_view reason,
                                     const std::string& message, int64_t retry_after_ms = 0);

// The error for a request that cannot be sent as it is.
inline absl::Status InvalidRequest(const std::string& message) {
  return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation, message);
}

// From now on absl prints what the statuses of this library carry as text: `reason RESOURCE_NOT_FOUND, rule
// SEM-039` instead of the bytes of a message. Does nothing if the program has set a printer of its own.
// Called by every Client; thread-safe.
void PrintPayloadsAsText();

// The message as std::string (the packaged absl::string_view is not std::string_view).
inline std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

}  // namespace itemdb
