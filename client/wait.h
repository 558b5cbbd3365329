// The future form and the blocking form of an operation, made from the form with a callback.
#pragma once

#include <future>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "client/core.h"
#include "client/errors_internal.h"

namespace itemdb {

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

// Blocks until the operation ends. FAILED_PRECONDITION on a thread that runs callbacks: the operation may
// need that thread for its own callback, and would then wait for ever.
template <typename Result, typename StartOperation>
absl::StatusOr<Result> Wait(StartOperation start) {
  if (InCallback()) {
    return MakeError(absl::StatusCode::kFailedPrecondition, "BLOCKING_CALL_IN_CALLBACK",
                     "a blocking call was made inside a callback; use the Async form there");
  }
  return Promised<Result>(std::move(start)).get();
}

template <typename Result, typename Request>
std::future<absl::StatusOr<Result>> Client::StartAsync(const Request& request, CallOptions options) const {
  return Promised<Result>([&](Callback<Result> callback) { Start(request, std::move(callback), options); });
}

template <typename Result, typename Request>
absl::StatusOr<Result> Client::StartAndWait(const Request& request, CallOptions options) const {
  return Wait<Result>([&](Callback<Result> callback) { Start(request, std::move(callback), options); });
}

// Defines the form of an operation that returns a future, and the one that blocks.
#define ITEMDB_DEFINE_FORMS(Operation, Request, Result)                                                     \
  std::future<absl::StatusOr<Result>> Client::Operation##Async(const Request& request, CallOptions options) \
      const {                                                                                               \
    return StartAsync<Result>(request, options);                                                            \
  }                                                                                                         \
  absl::StatusOr<Result> Client::Operation(const Request& request, CallOptions options) const {             \
    return StartAndWait<Result>(request, options);                                                          \
  }

}  // namespace itemdb
