// Requests over several items as JSON, as they are written for AWS: RequestItems of BatchGetItem and
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

// All errors are UsageErrors (tools/base/exit_codes.h). `form` is how items, keys and values are to be read.
// The functions called Parse take the JSON as text.

// {"TABLE": {"Keys": [...], "ProjectionExpression": ..., "ExpressionAttributeNames": ..., "ConsistentRead":
// ...}}
absl::StatusOr<std::vector<KeysAndAttributes>> BatchGetsFromJson(const JsonValue& json, ReadForm form);
absl::StatusOr<std::vector<KeysAndAttributes>> ParseBatchGets(std::string_view text, ReadForm form);

// {"TABLE": [{"PutRequest": {"Item": ...}}, {"DeleteRequest": {"Key": ...}}]}
absl::StatusOr<std::vector<BatchWrite>> BatchWritesFromJson(const JsonValue& json, ReadForm form);
absl::StatusOr<std::vector<BatchWrite>> ParseBatchWrites(std::string_view text, ReadForm form);

// One line: an item to put into `table_name`, or one of the two requests above. `what` is what errors call
// it.
absl::StatusOr<BatchWrite> ParseWriteLine(std::string_view line, const std::string& table_name, ReadForm form,
                                          const std::string& what);

using Transaction = std::variant<std::vector<TransactAction>, std::vector<TransactGet>>;

// [{"Put": ...}, {"Update": ...}, {"Delete": ...}, {"ConditionCheck": ...}] or [{"Get": ...}], also as the
// member TransactItems of an object.
absl::StatusOr<Transaction> TransactionFromJson(const JsonValue& json, ReadForm form);
absl::StatusOr<Transaction> ParseTransaction(std::string_view text, ReadForm form);

}  // namespace itemdb::tools
