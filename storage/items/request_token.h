// The client request token of a write: checked, and the request it stands for fingerprinted.
#pragma once

#include <optional>
#include <string>

#include "itemdb/wire/data.pb.h"
#include "storage/base/status.h"

namespace itemdb {

struct RequestToken {
  std::string text;
  // 16 bytes; equal for equal requests, whatever the order of the attributes of their items and of their
  // placeholders.
  std::string fingerprint;
};

// The token of a request; nothing when it has none. `operation` is the request's method, so that a put and an
// update with one token differ. INVALID_ARGUMENT: the token is too long.
absl::StatusOr<std::optional<RequestToken>> PrepareToken(std::string_view operation,
                                                         const wire::WriteItemRequest& request);
absl::StatusOr<std::optional<RequestToken>> PrepareToken(std::string_view operation,
                                                         const wire::BatchWriteItemRequest& request);
absl::StatusOr<std::optional<RequestToken>> PrepareToken(std::string_view operation,
                                                         const wire::TransactWriteItemsRequest& request);
absl::StatusOr<std::optional<RequestToken>> PrepareToken(std::string_view operation,
                                                         const wire::ExecuteTransactionRequest& request);
// Whatever the number of the chunk.
absl::StatusOr<std::optional<RequestToken>> PrepareToken(std::string_view operation,
                                                         const wire::BulkWriteChunk& chunk);

// The token was used for another request. INVALID_ARGUMENT (IDEMPOTENT_PARAMETER_MISMATCH, ERR-08).
absl::Status TokenMismatchError(std::string_view token);

}  // namespace itemdb
