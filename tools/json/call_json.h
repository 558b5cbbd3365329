// Requests of single operations as JSON, exactly as they are written for AWS.
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

// "GetItem, Query, ...": what CallFromJson takes.
std::string OperationNames();

// Reads the request of `operation`. Items, keys and values are DynamoDB JSON. `document` is what errors call
// the request. All errors are UsageErrors (tools/base/exit_codes.h): an unknown operation, or a member that
// is unknown, missing or of the wrong kind.
absl::StatusOr<Call> CallFromJson(std::string_view operation, const JsonValue& json,
                                  const std::string& document);

// Whether it may change anything.
bool Writes(const Call& call);
// Whether it is a Query or Scan that returns how many items there are and not the items.
bool OnlyCounts(const Call& call);
// The tables it names, each once.
std::vector<std::string> TablesOf(const Call& call);

}  // namespace itemdb::tools
