// Reads requests for several items from JSON as it is written for AWS: RequestItems of BatchGetItem and
// BatchWriteItem, TransactItems of transactions. Items, keys and values may also be plain JSON (item_json.h).
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "itemdb/requests.h"
#include "tools/json/item_json.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {

// All errors are UsageErrors (tools/base/exit_codes.h). `form` is the form of items, keys and values. The
// functions named Parse... take the JSON as text.

// {"TABLE": {"Keys": [...], "ProjectionExpression": ..., "ExpressionAttributeNames": ..., "ConsistentRead":
// ...}}
absl::StatusOr<std::vector<KeysAndAttributes>> BatchGetsFromJson(const JsonValue& json, ReadForm form);
absl::StatusOr<std::vector<KeysAndAttributes>> ParseBatchGets(std::string_view text, ReadForm form);

// {"TABLE": [{"PutRequest": {"Item": ...}}, {"DeleteRequest": {"Key": ...}}]}
absl::StatusOr<std::vector<BatchWrite>> BatchWritesFromJson(const JsonValue& json, ReadForm form);
absl::StatusOr<std::vector<BatchWrite>> ParseBatchWrites(std::string_view text, ReadForm form);

// Reads one line: an item to put into `table_name`, or a PutRequest or DeleteRequest as above. Error messages
// name the line `what`.
absl::StatusOr<BatchWrite> ParseWriteLine(std::string_view line, const std::string& table_name, ReadForm form,
                                          const std::string& what);

using Transaction = std::variant<std::vector<TransactAction>, std::vector<TransactGet>>;

// [{"Put": ...}, {"Update": ...}, {"Delete": ...}, {"ConditionCheck": ...}] or [{"Get": ...}]; the array may
// also be the member TransactItems of an object.
absl::StatusOr<Transaction> TransactionFromJson(const JsonValue& json, ReadForm form);
absl::StatusOr<Transaction> ParseTransaction(std::string_view text, ReadForm form);

}  // namespace itemdb::tools
