// Which failed calls are sent again, and when. Pure functions; core.cc uses them.
#pragma once

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/transport.h"
#include "itemdb/export.h"
#include "itemdb/options.h"

namespace itemdb {

// INVALID_ARGUMENT: fewer than one attempt, or a pause that is not longer than 0.
absl::Status CheckRetryOptions(const RetryOptions& options);

// Whether a call can be sent again after one attempt has ended.
enum class Retryability {
  // The call has ended: it succeeded, or a retry would fail in the same way.
  kFinal,
  // Nothing was applied; a retry may succeed and is safe.
  kRetry,
  // The write may have been applied; it is sent again only if it carries a request token.
  kUnknown,
};
ITEMDB_EXPORT Retryability ClassifyForRetry(const absl::Status& status, CallKind kind);

// How long to wait after the given attempt (1 is the first). `random` is in [0, 1). `retry_after` is the
// pause that the daemon asks for, or zero.
ITEMDB_EXPORT absl::Duration Backoff(const RetryOptions& options, int attempt, double random,
                                     absl::Duration retry_after);

}  // namespace itemdb
