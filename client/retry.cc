#include "client/retry.h"

#include <algorithm>
#include <string>

#include "client/errors_internal.h"

namespace itemdb {

absl::Status CheckRetryOptions(const RetryOptions& options) {
  if (options.max_attempts < 1) {
    return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                     "retries of " + std::to_string(options.max_attempts) +
                         " attempts: at least 1 is needed, and 1 means no retry");
  }
  if (options.initial_backoff <= absl::ZeroDuration() || options.max_backoff <= absl::ZeroDuration()) {
    return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                     "the pauses between attempts must be longer than 0");
  }
  return absl::OkStatus();
}

Retryability ClassifyForRetry(const absl::Status& status, CallKind kind) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return Retryability::kRetry;
    case absl::StatusCode::kResourceExhausted:
      // The daemon refuses before it does any work, and says when to retry. A full disk needs a person first.
      return RetryAfterOf(status) > absl::ZeroDuration() && ReasonOf(status) != kReasonDiskFull
                 ? Retryability::kRetry
                 : Retryability::kFinal;
    case absl::StatusCode::kUnknown:
      return kind == CallKind::kWrite && ReasonOf(status) == kReasonWriteOutcomeUnknown
                 ? Retryability::kUnknown
                 : Retryability::kFinal;
    default:
      return Retryability::kFinal;
  }
}

absl::Duration Backoff(const RetryOptions& options, int attempt, double random, absl::Duration retry_after) {
  absl::Duration pause = std::min(options.initial_backoff, options.max_backoff);
  for (int i = 1; i < attempt && pause < options.max_backoff; ++i) {
    pause = std::min(pause * 2, options.max_backoff);
  }
  // The pause is never shorter than the daemon asks for, and random above that, so that callers spread out.
  return std::max(pause * (1 - random / 2), retry_after * (1 + random / 2));
}

}  // namespace itemdb
