// The client request token of a write, with the fingerprint of its request.
#pragma once

#include <optional>
#include <string>

#include "itemdb/wire/data.pb.h"
#include "storage/base/status.h"

namespace itemdb::storage {

struct RequestToken {
  std::string text;
  // 16 bytes; equal for equal requests. The order of attributes and of placeholders does not matter.
  std::string fingerprint;
};

// The token of a request; nothing if the request has none. `operation` is the name of the request's method,
// so that a put and an update have different fingerprints. INVALID_ARGUMENT: the token is too long.
absl::StatusOr<std::optional<RequestToken>> PrepareToken(std::string_view operation,
                                                         const wire::WriteItemRequest& request);
absl::StatusOr<std::optional<RequestToken>> PrepareToken(std::string_view operation,
                                                         const wire::BatchWriteItemRequest& request);
absl::StatusOr<std::optional<RequestToken>> PrepareToken(std::string_view operation,
                                                         const wire::TransactWriteItemsRequest& request);
absl::StatusOr<std::optional<RequestToken>> PrepareToken(std::string_view operation,
                                                         const wire::ExecuteTransactionRequest& request);
// The fingerprint leaves out the chunk number: a chunk sent again may have another one.
absl::StatusOr<std::optional<RequestToken>> PrepareToken(std::string_view operation,
                                                         const wire::BulkWriteChunk& chunk);

// The token was used for another request (ERR-08): INVALID_ARGUMENT (IDEMPOTENT_PARAMETER_MISMATCH).
absl::Status TokenMismatchError(std::string_view token);

}  // namespace itemdb::storage
