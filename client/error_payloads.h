// What a status of this library carries: payloads, which are serialized messages of proto/.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "itemdb/export.h"

namespace itemdb {

// The payloads that the daemon sends as details of a google.rpc.Status.
inline constexpr char kErrorInfoUrl[] = "type.googleapis.com/google.rpc.ErrorInfo";
inline constexpr char kRetryInfoUrl[] = "type.googleapis.com/google.rpc.RetryInfo";
// Parts of a reply that the client turned into an error.
inline constexpr char kConditionFailedUrl[] = "type.googleapis.com/itemdb.v1.ConditionFailed";
inline constexpr char kTransactionCancelledUrl[] = "type.googleapis.com/itemdb.v1.TransactionCancelled";

// The domain of ErrorInfo in errors of the daemon and of this library.
inline constexpr char kErrorDomain[] = "itemdb";

struct ErrorFields {
  std::string reason;
  // Empty if it is not known.
  std::string rule = "";
  // 0 when waiting does not help.
  int64_t retry_after_ms = 0;
};
// Attaches the payloads ErrorInfo and RetryInfo to `status`, as on a status that the daemon sent.
ITEMDB_EXPORT void AttachErrorFields(const ErrorFields& fields, absl::Status& status);

}  // namespace itemdb
