// Calls of the client and their results as text, so that tests compare the results of two transports.
#pragma once

#include <string>

#include "itemdb/client.h"
#include "tools/json/call_json.h"

namespace itemdb {

// "OK" or code and reason; with it what the error carries: item, reasons of a transaction, outcomes of a
// batch.
std::string TextOf(const absl::Status& status);

// Makes the call and renders all of its result that does not depend on when it was made.
std::string RunAsText(const Client& client, const tools::Call& call);
std::string TextOf(const absl::StatusOr<TableResult>& result);
std::string TextOf(const absl::StatusOr<ExecuteStatementResult>& result);
std::string TextOf(const absl::StatusOr<BatchExecuteStatementResult>& result);
std::string TextOf(const absl::StatusOr<ExecuteTransactionResult>& result);
std::string TextOf(const std::vector<Item>& items);

}  // namespace itemdb
