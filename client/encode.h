// Data requests as calls: method, kind and encoded message, with a request token where one is due.
#pragma once

#include "absl/status/statusor.h"
#include "itemdb/client.h"

namespace itemdb::v1 {
class BatchGetItemRequest;
class BatchWriteItemRequest;
}  // namespace itemdb::v1

namespace itemdb {
inline namespace client {

struct CallSpec;

// INVALID_ARGUMENT: a value nests too deeply to be encoded. Nothing else is judged here.
absl::StatusOr<CallSpec> Encode(const PutItemRequest& request, const CallOptions& options);
absl::StatusOr<CallSpec> Encode(const UpdateItemRequest& request, const CallOptions& options);
absl::StatusOr<CallSpec> Encode(const DeleteItemRequest& request, const CallOptions& options);
absl::StatusOr<CallSpec> Encode(const TransactWriteItemsRequest& request, const CallOptions& options);
absl::StatusOr<CallSpec> Encode(const GetItemRequest& request);
absl::StatusOr<CallSpec> Encode(const TransactGetItemsRequest& request);
absl::StatusOr<CallSpec> Encode(const QueryRequest& request);
absl::StatusOr<CallSpec> Encode(const ScanRequest& request);

// The one message of a stream of pages.
absl::StatusOr<std::string> EncodeStream(const QueryRequest& request, bool one_state);
absl::StatusOr<std::string> EncodeStream(const ScanRequest& request, bool one_state);

// Of the messages that batch_write.cc and batch_get.cc make; a write is given its token.
CallSpec Encode(v1::BatchWriteItemRequest* message, const CallOptions& options);
CallSpec Encode(const v1::BatchGetItemRequest& message);

}  // namespace client
}  // namespace itemdb
