// The other two forms of an operation, made from the one with a callback.
#pragma once

#include <future>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "client/core.h"
#include "client/errors_internal.h"

namespace itemdb {
inline namespace client {

// `start(callback)` starts the operation.
template <typename Result, typename StartOperation>
std::future<absl::StatusOr<Result>> Promised(StartOperation start) {
  std::promise<absl::StatusOr<Result>> promise;
  std::future<absl::StatusOr<Result>> future = promise.get_future();
  start([promise = std::move(promise)](absl::StatusOr<Result> result) mutable {
    promise.set_value(std::move(result));
  });
  return future;
}

// Blocks until the end. FAILED_PRECONDITION on a thread that runs callbacks: waiting there could wait for
// ever, for a callback that needs this very thread.
template <typename Result, typename StartOperation>
absl::StatusOr<Result> Wait(StartOperation start) {
  if (InCallback()) {
    return MakeError(absl::StatusCode::kFailedPrecondition, "BLOCKING_CALL_IN_CALLBACK",
                     "a blocking call was made inside a callback; use the Async form there");
  }
  return Promised<Result>(std::move(start)).get();
}

}  // namespace client
}  // namespace itemdb
