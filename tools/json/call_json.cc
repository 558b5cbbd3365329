#include "tools/json/call_json.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/base/exit_codes.h"
#include "tools/json/member_reader.h"
#include "tools/json/request_json.h"

namespace itemdb::tools {
namespace {

using Kind = JsonValue::Kind;

constexpr ReadForm kForm = ReadForm::kTyped;

constexpr Named<ReturnValues> kReturnValues[] = {{"NONE", ReturnValues::kNone},
                                                 {"ALL_OLD", ReturnValues::kAllOld},
                                                 {"UPDATED_OLD", ReturnValues::kUpdatedOld},
                                                 {"ALL_NEW", ReturnValues::kAllNew},
                                                 {"UPDATED_NEW", ReturnValues::kUpdatedNew}};
constexpr Named<Select> kSelects[] = {{"ALL_ATTRIBUTES", Select::kAllAttributes},
                                      {"ALL_PROJECTED_ATTRIBUTES", Select::kAllProjectedAttributes},
                                      {"SPECIFIC_ATTRIBUTES", Select::kSpecificAttributes},
                                      {"COUNT", Select::kCount}};

Call ReadGet(MemberReader& reader) {
  reader.Allow({"TableName", "Key", "ProjectionExpression", "ExpressionAttributeNames", "ConsistentRead"});
  GetItemRequest get;
  get.table_name = reader.RequiredString("TableName");
  get.key = reader.RequiredItem("Key", kForm);
  get.projection_expression = reader.OptionalString("ProjectionExpression");
  get.expression_attribute_names = reader.Names();
  get.consistent_read = reader.OptionalBool("ConsistentRead");
  return get;
}

// Reads the members that Query and Scan have in common.
template <typename Request>
void ReadPage(MemberReader& reader, Request* page) {
  page->table_name = reader.RequiredString("TableName");
  page->index_name = reader.OptionalString("IndexName");
  page->filter_expression = reader.OptionalString("FilterExpression");
  page->projection_expression = reader.OptionalString("ProjectionExpression");
  page->expression_attribute_names = reader.Names();
  page->expression_attribute_values = reader.Values(kForm);
  if (const std::optional<int64_t> limit = reader.OptionalInt64("Limit"); limit.has_value()) {
    if (*limit < 1 || *limit > std::numeric_limits<int32_t>::max()) {
      reader.Fail(absl::StrFormat("Limit is %d; allowed are 1 to 2147483647", *limit));
    } else {
      page->limit = static_cast<int32_t>(*limit);
    }
  }
  if (reader.Has("ExclusiveStartKey")) {
    page->exclusive_start_key = reader.RequiredItem("ExclusiveStartKey", kForm);
  }
  page->select = reader.Enum<Select>("Select", kSelects, Select::kDefault);
  page->consistent_read = reader.OptionalBool("ConsistentRead");
}

Call ReadQuery(MemberReader& reader) {
  reader.Allow({"TableName", "IndexName", "KeyConditionExpression", "FilterExpression",
                "ProjectionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues", "Limit",
                "ExclusiveStartKey", "ScanIndexForward", "Select", "ConsistentRead"});
  QueryRequest query;
  ReadPage(reader, &query);
  query.key_condition_expression = reader.RequiredString("KeyConditionExpression");
  if (reader.Has("ScanIndexForward")) query.scan_index_forward = reader.RequiredBool("ScanIndexForward");
  return query;
}

Call ReadScan(MemberReader& reader) {
  reader.Allow({"TableName", "IndexName", "FilterExpression", "ProjectionExpression",
                "ExpressionAttributeNames", "ExpressionAttributeValues", "Limit", "ExclusiveStartKey",
                "Select", "ConsistentRead"});
  ScanRequest scan;
  ReadPage(reader, &scan);
  return scan;
}

// Reads the members that PutItem, UpdateItem and DeleteItem have in common.
template <typename Request>
void ReadWrite(MemberReader& reader, Request* write) {
  write->table_name = reader.RequiredString("TableName");
  write->condition_expression = reader.OptionalString("ConditionExpression");
  write->expression_attribute_names = reader.Names();
  write->expression_attribute_values = reader.Values(kForm);
  write->return_values = reader.Enum<ReturnValues>("ReturnValues", kReturnValues, ReturnValues::kNone);
}

Call ReadPut(MemberReader& reader) {
  reader.Allow({"TableName", "Item", "ConditionExpression", "ExpressionAttributeNames",
                "ExpressionAttributeValues", "ReturnValues"});
  PutItemRequest put;
  ReadWrite(reader, &put);
  put.item = reader.RequiredItem("Item", kForm);
  return put;
}

Call ReadUpdate(MemberReader& reader) {
  reader.Allow({"TableName", "Key", "UpdateExpression", "ConditionExpression", "ExpressionAttributeNames",
                "ExpressionAttributeValues", "ReturnValues"});
  UpdateItemRequest update;
  ReadWrite(reader, &update);
  update.key = reader.RequiredItem("Key", kForm);
  update.update_expression = reader.OptionalString("UpdateExpression");
  return update;
}

Call ReadDelete(MemberReader& reader) {
  reader.Allow({"TableName", "Key", "ConditionExpression", "ExpressionAttributeNames",
                "ExpressionAttributeValues", "ReturnValues"});
  DeleteItemRequest remove;
  ReadWrite(reader, &remove);
  remove.key = reader.RequiredItem("Key", kForm);
  return remove;
}

// Returns the value; an error is recorded in `reader`, and a default value is returned.
template <typename T>
T OrFail(absl::StatusOr<T> value, MemberReader& reader) {
  if (value.ok()) return *std::move(value);
  reader.Fail(std::string(value.status().message()));
  return T();
}

Call ReadBatchGet(MemberReader& reader) {
  reader.Allow({"RequestItems"});
  BatchGetItemRequest batch;
  if (const JsonValue* items = reader.Member("RequestItems", Kind::kObject, true); items != nullptr) {
    batch.request_items = OrFail(BatchGetsFromJson(*items, kForm), reader);
  }
  return batch;
}

Call ReadBatchWrite(MemberReader& reader) {
  reader.Allow({"RequestItems"});
  BatchWriteItemRequest batch;
  if (const JsonValue* items = reader.Member("RequestItems", Kind::kObject, true); items != nullptr) {
    batch.writes = OrFail(BatchWritesFromJson(*items, kForm), reader);
  }
  return batch;
}

Transaction ReadTransaction(MemberReader& reader) {
  reader.Allow({"TransactItems"});
  const JsonValue* items = reader.Member("TransactItems", Kind::kArray, true);
  return items == nullptr ? Transaction() : OrFail(TransactionFromJson(*items, kForm), reader);
}

Call ReadTransactGet(MemberReader& reader) {
  Transaction transaction = ReadTransaction(reader);
  if (auto* gets = std::get_if<std::vector<TransactGet>>(&transaction); gets != nullptr) {
    return TransactGetItemsRequest{.gets = std::move(*gets)};
  }
  reader.Fail("TransactItems of TransactGetItems must be Get only");
  return TransactGetItemsRequest{};
}

Call ReadTransactWrite(MemberReader& reader) {
  Transaction transaction = ReadTransaction(reader);
  if (auto* actions = std::get_if<std::vector<TransactAction>>(&transaction); actions != nullptr) {
    return TransactWriteItemsRequest{.actions = std::move(*actions)};
  }
  reader.Fail("TransactItems of TransactWriteItems must be Put, Update, Delete or ConditionCheck");
  return TransactWriteItemsRequest{};
}

struct Operation {
  std::string_view name;
  Call (*read)(MemberReader&);
};
constexpr Operation kOperations[] = {{"GetItem", ReadGet},
                                     {"Query", ReadQuery},
                                     {"Scan", ReadScan},
                                     {"BatchGetItem", ReadBatchGet},
                                     {"TransactGetItems", ReadTransactGet},
                                     {"PutItem", ReadPut},
                                     {"UpdateItem", ReadUpdate},
                                     {"DeleteItem", ReadDelete},
                                     {"BatchWriteItem", ReadBatchWrite},
                                     {"TransactWriteItems", ReadTransactWrite}};

template <typename Part>
std::string TableOf(const Part& part) {
  return part.table_name;
}
template <typename... Parts>
std::string TableOf(const std::variant<Parts...>& part) {
  return std::visit([](const auto& each) { return each.table_name; }, part);
}

template <typename Part>
std::vector<std::string> TablesOfParts(const std::vector<Part>& parts) {
  std::vector<std::string> tables;
  for (const Part& part : parts) {
    std::string table = TableOf(part);
    if (std::find(tables.begin(), tables.end(), table) == tables.end()) tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace

std::string OperationNames() {
  return absl::StrJoin(kOperations, ", ",
                       [](std::string* out, const Operation& operation) { out->append(operation.name); });
}

absl::StatusOr<Call> CallFromJson(std::string_view operation, const JsonValue& json,
                                  const std::string& document) {
  for (const Operation& known : kOperations) {
    if (known.name != operation) continue;
    MemberReader reader(json, document);
    Call call = known.read(reader);
    if (!reader.status().ok()) return reader.status();
    return call;
  }
  return UsageError(absl::StrFormat("%s: Operation is %s; allowed are %s", document, JsonString(operation),
                                    OperationNames()));
}

bool Writes(const Call& call) {
  return std::holds_alternative<PutItemRequest>(call) || std::holds_alternative<UpdateItemRequest>(call) ||
         std::holds_alternative<DeleteItemRequest>(call) ||
         std::holds_alternative<BatchWriteItemRequest>(call) ||
         std::holds_alternative<TransactWriteItemsRequest>(call);
}

bool OnlyCounts(const Call& call) {
  return std::visit(
      [](const auto& request) {
        if constexpr (requires { request.select; }) return request.select == Select::kCount;
        return false;
      },
      call);
}

std::vector<std::string> TablesOf(const Call& call) {
  return std::visit(
      [](const auto& request) -> std::vector<std::string> {
        if constexpr (requires { request.table_name; }) return {request.table_name};
        if constexpr (requires { request.request_items; }) return TablesOfParts(request.request_items);
        if constexpr (requires { request.gets; }) return TablesOfParts(request.gets);
        if constexpr (requires { request.writes; }) return TablesOfParts(request.writes);
        if constexpr (requires { request.actions; }) return TablesOfParts(request.actions);
        return {};
      },
      call);
}

}  // namespace itemdb::tools
