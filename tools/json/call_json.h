// Reads the JSON request of any data operation, exactly as it is written for AWS.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "itemdb/requests.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {

using Call = std::variant<GetItemRequest, QueryRequest, ScanRequest, BatchGetItemRequest,
                          TransactGetItemsRequest, PutItemRequest, UpdateItemRequest, DeleteItemRequest,
                          BatchWriteItemRequest, TransactWriteItemsRequest>;

// "GetItem, Query, ...": the operations that CallFromJson accepts.
std::string OperationNames();

// Reads the request of `operation`. Items, keys and values are DynamoDB JSON. Error messages name the request
// `document`. All errors are UsageErrors (tools/base/exit_codes.h): an unknown operation, or a member that is
// unknown, missing or of the wrong kind.
absl::StatusOr<Call> CallFromJson(std::string_view operation, const JsonValue& json,
                                  const std::string& document);

// Whether `call` is a write operation.
bool Writes(const Call& call);
// Whether `call` is a Query or Scan with Select COUNT: it returns the number of items and no items.
bool OnlyCounts(const Call& call);
// The names of the tables in `call`, each once.
std::vector<std::string> TablesOf(const Call& call);

}  // namespace itemdb::tools
