#include "tests/client/http/call_text.h"

#include <map>
#include <type_traits>

#include "itemdb/errors.h"
#include "tools/json/item_json.h"
#include "tools/json/table_json.h"

namespace itemdb {
namespace {

std::string Text(const Item& item) {
  return tools::OneLine(tools::ItemToJson(item, tools::ItemForm::kTyped));
}
std::string Text(const std::optional<Item>& item) { return item.has_value() ? Text(*item) : "none"; }
std::string Text(double number) { return std::to_string(number); }

std::string Text(const std::map<std::string, double>& indexes) {
  std::string text;
  for (const auto& [name, units] : indexes) text += " " + name + "=" + Text(units);
  return text;
}

std::string Text(const ConsumedCapacity& capacity) {
  return "\n  capacity " + capacity.table_name + " " + Text(capacity.capacity_units) + " table " +
         (capacity.table_units.has_value() ? Text(*capacity.table_units) : "-") + " global" +
         Text(capacity.global_secondary_indexes) + " local" + Text(capacity.local_secondary_indexes);
}

std::string Text(const ItemCollectionMetrics& metrics) {
  return "\n  collection " + Text(metrics.item_collection_key) + " " + Text(metrics.size_lower_bound_gb) +
         ".." + Text(metrics.size_upper_bound_gb);
}

std::string Text(const TableItemCollectionMetrics& tables) {
  std::string text;
  for (const auto& [table, all] : tables)
    for (const ItemCollectionMetrics& metrics : all) text += "\n  of " + table + Text(metrics);
  return text;
}

template <typename T>
std::string Text(const std::optional<T>& value) {
  return value.has_value() ? Text(*value) : "";
}

std::string Text(const std::vector<ConsumedCapacity>& all) {
  std::string text;
  for (const ConsumedCapacity& one : all) text += Text(one);
  return text;
}

std::string Text(const WriteResult& result) {
  return "\n  attributes " + Text(result.attributes) + Text(result.consumed_capacity) +
         Text(result.item_collection_metrics);
}

std::string Text(const GetItemResult& result) {
  return "\n  item " + Text(result.item) + Text(result.consumed_capacity);
}

std::string Text(const ItemPage& page) {
  std::string text = "\n  count " + std::to_string(page.count) + " of " + std::to_string(page.scanned_count);
  for (const Item& item : page.items) text += "\n  " + Text(item);
  return text + "\n  last " + Text(page.last_evaluated_key) + Text(page.consumed_capacity);
}

std::string Text(const BatchGetItemResult& result) {
  std::string text;
  for (const auto& table : result.tables)
    for (const std::optional<Item>& item : table.items) text += "\n  " + table.table_name + " " + Text(item);
  return text + Text(result.consumed_capacity);
}

std::string Text(const TransactGetItemsResult& result) {
  std::string text;
  for (const std::optional<Item>& item : result.items) text += "\n  " + Text(item);
  return text + Text(result.consumed_capacity);
}

std::string Text(const BatchWriteItemResult& result) {
  return Text(result.consumed_capacity) + Text(result.item_collection_metrics);
}

std::string Text(const TransactWriteItemsResult& result) {
  return Text(result.consumed_capacity) + Text(result.item_collection_metrics);
}

template <typename Result>
std::string ResultText(const absl::StatusOr<Result>& result) {
  return TextOf(result.status()) + (result.ok() ? Text(*result) : "");
}

}  // namespace

std::string TextOf(const absl::Status& status) {
  if (status.ok()) return "OK";
  std::string text = absl::StatusCodeToString(status.code()) + " " + ReasonOf(status);
  if (const std::optional<Item> item = ConditionFailedItem(status)) text += "\n  item " + Text(*item);
  for (const CancellationReason& reason : CancellationReasons(status))
    text += "\n  reason " + std::string(CodeName(reason.code)) + " " + Text(reason.item);
  for (const BatchWriteOutcome outcome : BatchWriteOutcomes(status))
    text += " outcome " + std::to_string(static_cast<int>(outcome));
  return text;
}

std::string RunAsText(const Client& client, const tools::Call& call) {
  return std::visit(
      [&](const auto& request) {
        using Request = std::decay_t<decltype(request)>;
        if constexpr (std::is_same_v<Request, GetItemRequest>) return ResultText(client.GetItem(request));
        if constexpr (std::is_same_v<Request, QueryRequest>) return ResultText(client.Query(request));
        if constexpr (std::is_same_v<Request, ScanRequest>) return ResultText(client.Scan(request));
        if constexpr (std::is_same_v<Request, BatchGetItemRequest>)
          return ResultText(client.BatchGetItem(request));
        if constexpr (std::is_same_v<Request, TransactGetItemsRequest>)
          return ResultText(client.TransactGetItems(request));
        if constexpr (std::is_same_v<Request, PutItemRequest>) return ResultText(client.PutItem(request));
        if constexpr (std::is_same_v<Request, UpdateItemRequest>)
          return ResultText(client.UpdateItem(request));
        if constexpr (std::is_same_v<Request, DeleteItemRequest>)
          return ResultText(client.DeleteItem(request));
        if constexpr (std::is_same_v<Request, BatchWriteItemRequest>)
          return ResultText(client.BatchWriteItem(request));
        if constexpr (std::is_same_v<Request, TransactWriteItemsRequest>)
          return ResultText(client.TransactWriteItems(request));
      },
      call);
}

std::string TextOf(const absl::StatusOr<TableResult>& result) {
  if (!result.ok()) return TextOf(result.status());
  tools::JsonValue json = tools::TableToJson(result->table);
  // What differs between two tables, and what only gRPC tells.
  std::erase_if(json.members, [](const auto& member) {
    return member.first == "TableId" || member.first == "StorageId" || member.first == "CreationDateTime" ||
           member.first.starts_with("LatestStream");
  });
  return "OK\n  " + tools::OneLine(json);
}

std::string TextOf(const absl::StatusOr<ExecuteStatementResult>& result) {
  if (!result.ok()) return TextOf(result.status());
  return "OK" + TextOf(result->items) + "\n  token " + (result->next_token.has_value() ? "yes" : "no") +
         Text(result->consumed_capacity);
}

std::string TextOf(const absl::StatusOr<BatchExecuteStatementResult>& result) {
  if (!result.ok()) return TextOf(result.status());
  std::string text = "OK";
  for (const BatchStatementResponse& response : result->responses)
    text += "\n  " + response.table_name + " " + TextOf(response.status) + " " + Text(response.item);
  return text + Text(result->consumed_capacity);
}

std::string TextOf(const absl::StatusOr<ExecuteTransactionResult>& result) {
  if (!result.ok()) return TextOf(result.status());
  std::string text = "OK";
  for (const std::optional<Item>& item : result->items) text += "\n  " + Text(item);
  return text + Text(result->consumed_capacity);
}

std::string TextOf(const std::vector<Item>& items) {
  std::string text;
  for (const Item& item : items) text += "\n  " + Text(item);
  return text;
}

}  // namespace itemdb
