// Decodes reply bytes of the data operations. A false condition or a cancelled transaction, an outcome in the
// reply message, becomes an error status.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "itemdb/client.h"

namespace itemdb {

// `endpoint` is for error messages. A write returns UNKNOWN (WRITE_OUTCOME_UNKNOWN) if the reply does not
// decode or holds an outcome that this client does not know. A read returns DATA_LOSS instead.
absl::StatusOr<WriteResult> DecodePutItem(std::string_view reply, const std::string& endpoint);
absl::StatusOr<WriteResult> DecodeUpdateItem(std::string_view reply, const std::string& endpoint);
absl::StatusOr<WriteResult> DecodeDeleteItem(std::string_view reply, const std::string& endpoint);
absl::StatusOr<GetItemResult> DecodeGetItem(std::string_view reply, const std::string& endpoint);
absl::StatusOr<TransactWriteItemsResult> DecodeTransactWriteItems(std::string_view reply,
                                                                  const std::string& endpoint);
absl::StatusOr<TransactGetItemsResult> DecodeTransactGetItems(std::string_view reply,
                                                              const std::string& endpoint);
absl::StatusOr<ItemPage> DecodeQuery(std::string_view reply, const std::string& endpoint);
absl::StatusOr<ItemPage> DecodeScan(std::string_view reply, const std::string& endpoint);
// Of one PartiQL statement: a read, or a write.
absl::StatusOr<ExecuteStatementResult> DecodeSelectStatement(std::string_view reply,
                                                             const std::string& endpoint);
absl::StatusOr<ExecuteStatementResult> DecodeWriteStatement(std::string_view reply,
                                                            const std::string& endpoint);
// Of a batch of PartiQL statements: reads, or writes.
absl::StatusOr<BatchExecuteStatementResult> DecodeReadStatements(std::string_view reply,
                                                                 const std::string& endpoint);
absl::StatusOr<BatchExecuteStatementResult> DecodeWriteStatements(std::string_view reply,
                                                                  const std::string& endpoint);
absl::StatusOr<ExecuteTransactionResult> DecodeExecuteTransaction(std::string_view reply,
                                                                  const std::string& endpoint);
absl::StatusOr<SearchVectorsResult> DecodeSearchVectors(std::string_view reply, const std::string& endpoint);

}  // namespace itemdb
