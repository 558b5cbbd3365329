// Encodes data requests as calls: method, kind and message, with a request token if the options ask for it.
#pragma once

#include "absl/status/statusor.h"
#include "itemdb/client.h"

namespace itemdb::v1 {
class BatchGetItemRequest;
class BatchWriteItemRequest;
}  // namespace itemdb::v1

namespace itemdb {

struct CallSpec;

// INVALID_ARGUMENT: a value nests too deeply to be encoded. The client checks nothing else.
absl::StatusOr<CallSpec> Encode(const PutItemRequest& request, const CallOptions& options);
absl::StatusOr<CallSpec> Encode(const UpdateItemRequest& request, const CallOptions& options);
absl::StatusOr<CallSpec> Encode(const DeleteItemRequest& request, const CallOptions& options);
absl::StatusOr<CallSpec> Encode(const TransactWriteItemsRequest& request, const CallOptions& options);
absl::StatusOr<CallSpec> Encode(const GetItemRequest& request);
absl::StatusOr<CallSpec> Encode(const TransactGetItemsRequest& request);
absl::StatusOr<CallSpec> Encode(const QueryRequest& request);
absl::StatusOr<CallSpec> Encode(const ScanRequest& request);
absl::StatusOr<CallSpec> Encode(const ExecuteStatementRequest& request);
absl::StatusOr<CallSpec> Encode(const BatchExecuteStatementRequest& request);
absl::StatusOr<CallSpec> Encode(const ExecuteTransactionRequest& request, const CallOptions& options);

// The batch writes nothing: all its statements are SELECTs.
bool IsReadBatch(const BatchExecuteStatementRequest& request);

// The only message that the client sends on a stream of pages.
absl::StatusOr<CallSpec> Encode(const SearchVectorsRequest& request);
absl::StatusOr<std::string> EncodeStream(const QueryRequest& request, bool one_state);
absl::StatusOr<std::string> EncodeStream(const ScanRequest& request, bool one_state);

// Encode the messages of batch_write.cc and batch_get.cc; adds a token to the write.
CallSpec Encode(v1::BatchWriteItemRequest* message, const CallOptions& options);
CallSpec Encode(const v1::BatchGetItemRequest& message);

}  // namespace itemdb
