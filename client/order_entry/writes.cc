// The writes. Each is one UpdateItem or one TransactWriteItems. Conditions keep the rules while other writes
// run: stock never falls below zero, and a product's total_inventory changes only together with its stock
// items and by the same amount.
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/civil_time.h"
#include "client/errors_internal.h"
#include "client/order_entry/amount.h"
#include "client/order_entry/decode.h"
#include "client/order_entry/schema.h"
#include "common/status_macros.h"
#include "itemdb/sharding.h"

namespace itemdb::order_entry {
namespace {

// A transaction has at most 100 actions: one for the header and three for each line.
constexpr size_t kMaxLines = 33;
constexpr size_t kActionsPerLine = 3;

constexpr auto kAllOld = ReturnValuesOnConditionCheckFailure::kAllOld;

absl::Status Invalid(const std::string& message) {
  return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation, message);
}

// ---- the actions ---------------------------------------------------------------------------------

// Subtracts `quantity` from a warehouse's stock; the condition is that the warehouse has that much.
TransactUpdate TakeStock(const std::string& product_id, const std::string& warehouse_id, int64_t quantity) {
  return {.table_name = std::string(kProductTable),
          .key = {{"product_id", product_id}, {"warehouse_id", warehouse_id}},
          .update_expression = "SET #stock = #stock - :quantity",
          .condition_expression = "#stock >= :quantity",
          .expression_attribute_names = {{"#stock", "inventory_quantity"}},
          .expression_attribute_values = {{":quantity", quantity}},
          .return_values_on_condition_check_failure = kAllOld};
}

// Adds `quantity` to a warehouse's stock, which need not exist before.
TransactUpdate AddStock(const std::string& product_id, const std::string& warehouse_id, int64_t quantity) {
  return {.table_name = std::string(kProductTable),
          .key = {{"product_id", product_id}, {"warehouse_id", warehouse_id}},
          .update_expression = "SET #stock = if_not_exists(#stock, :zero) + :quantity",
          .expression_attribute_names = {{"#stock", "inventory_quantity"}},
          .expression_attribute_values = {{":zero", 0}, {":quantity", quantity}}};
}

// Adds or subtracts (`sign`) `quantity` to or from the total of a product, which must exist.
TransactUpdate ChangeTotal(const std::string& product_id, char sign, int64_t quantity) {
  return {.table_name = std::string(kProductTable),
          .key = {{"product_id", product_id}, {"warehouse_id", product_id}},
          .update_expression = absl::StrFormat("SET #total = #total %c :quantity", sign),
          .condition_expression = "attribute_exists(#total)",
          .expression_attribute_names = {{"#total", "total_inventory"}},
          .expression_attribute_values = {{":quantity", quantity}}};
}

TransactPut PutHeader(const NewOrder& order, const Number& total_amount, int shard) {
  std::vector<Value> order_items;
  for (const NewOrderLine& line : order.lines) {
    order_items.push_back(Value::Map({{"product_id", line.product_id}, {"qty", line.quantity}}));
  }
  return {.table_name = std::string(kOrderTable),
          .item = {{"PK", order.order_id},
                   {"SK", order.order_id},
                   {"order_id", order.order_id},
                   {"customer_id", order.customer_id},
                   {"order_date", order.order_date},
                   {"status", kOpen},
                   {"shard", shard},
                   {"account_rep_id", order.account_rep_id},
                   {"total_amount", total_amount},
                   {"order_items", Value::List(std::move(order_items))}},
          .condition_expression = "attribute_not_exists(#pk)",
          .expression_attribute_names = {{"#pk", "PK"}}};
}

TransactPut PutLine(const NewOrder& order, const NewOrderLine& line) {
  return {.table_name = std::string(kOrderTable),
          .item = {{"PK", order.order_id},
                   {"SK", line.product_id},
                   {"order_id", order.order_id},
                   {"product_id", line.product_id},
                   {"customer_id", order.customer_id},
                   {"order_date", order.order_date},
                   {"quantity", line.quantity},
                   {"price", line.price}}};
}

// ---- checks --------------------------------------------------------------------------------------

// A stock item of a warehouse named like the product would have the key of the product's metadata item.
absl::Status CheckStockChange(const std::string& product_id, const std::string& warehouse_id,
                              int64_t quantity) {
  if (quantity < 1)
    return Invalid(absl::StrFormat("the quantity of %s is %d; at least 1 is allowed", product_id, quantity));
  if (warehouse_id == product_id) {
    return Invalid(absl::StrFormat(
        "the warehouse %s has the name of the product, which stands for the product itself", warehouse_id));
  }
  return absl::OkStatus();
}

absl::Status CheckOrder(const NewOrder& order) {
  if (order.lines.empty() || order.lines.size() > kMaxLines) {
    return Invalid(absl::StrFormat("the order %s has %d lines; 1 to %d are allowed", order.order_id,
                                   order.lines.size(), kMaxLines));
  }
  absl::CivilDay day;
  if (!absl::ParseCivilTime(order.order_date, &day) || absl::FormatCivilTime(day) != order.order_date) {
    return Invalid(
        absl::StrFormat("the order date \"%s\" is not a date such as 2025-12-31", order.order_date));
  }
  if (order.shard.has_value() && (*order.shard < 0 || *order.shard >= kShards)) {
    return Invalid(absl::StrFormat("the shard is %d; 0 to %d are allowed", *order.shard, kShards - 1));
  }
  std::set<std::string> products;
  for (const NewOrderLine& line : order.lines) {
    ITEMDB_RETURN_IF_ERROR(CheckStockChange(line.product_id, line.warehouse_id, line.quantity));
    if (!products.insert(line.product_id).second) {
      return Invalid(absl::StrFormat("the product %s stands on two lines; an order has one line per product",
                                     line.product_id));
    }
  }
  return absl::OkStatus();
}

// ---- what a cancelled transaction means ----------------------------------------------------------

bool ConditionFailed(const std::vector<CancellationReason>& reasons, size_t action) {
  return action < reasons.size() && reasons[action].code == CancellationReason::Code::kConditionalCheckFailed;
}

// Our own status with the cancellation reasons of `cancelled`.
absl::Status Explain(const absl::Status& cancelled, absl::StatusCode code, const char* reason,
                     const std::string& message) {
  absl::Status status = MakeError(code, reason, message);
  const absl::optional<absl::Cord> payload = cancelled.GetPayload(kTransactionCancelledUrl);
  if (payload.has_value()) status.SetPayload(kTransactionCancelledUrl, *payload);
  return status;
}

// "5 of prod_100 asked from wh_sea, which has 3"; `reason` is that of a failed TakeStock.
std::string DescribeShortage(const std::string& product_id, const std::string& warehouse_id, int64_t quantity,
                             const CancellationReason& reason) {
  const std::string asked =
      absl::StrFormat("%d of %s asked from %s, which ", quantity, product_id, warehouse_id);
  if (!reason.item.has_value()) return asked + "never had any";
  const absl::StatusOr<int64_t> available = DecodeInteger(*reason.item, "inventory_quantity");
  return available.ok() ? asked + absl::StrFormat("has %d", *available) : asked + "has less";
}

absl::Status ExplainOrder(const NewOrder& order, const absl::Status& status) {
  const std::vector<CancellationReason> reasons = CancellationReasons(status);
  if (ConditionFailed(reasons, 0)) {
    return Explain(status, absl::StatusCode::kAlreadyExists, "ORDER_EXISTS",
                   "the order " + order.order_id + " exists already");
  }
  std::vector<std::string> shortages;
  for (size_t i = 0; i < order.lines.size(); ++i) {
    const NewOrderLine& line = order.lines[i];
    // The order of a line's actions: the line, its stock, its total. The header is action 0.
    const size_t stock_action = 1 + i * kActionsPerLine + 1;
    if (ConditionFailed(reasons, stock_action + 1)) {
      return Explain(status, absl::StatusCode::kNotFound, "NO_SUCH_PRODUCT",
                     absl::StrFormat("line %d: there is no product %s", i + 1, line.product_id));
    }
    if (ConditionFailed(reasons, stock_action)) {
      shortages.push_back(absl::StrFormat(
          "line %d: %s", i + 1,
          DescribeShortage(line.product_id, line.warehouse_id, line.quantity, reasons[stock_action])));
    }
  }
  if (shortages.empty()) return status;
  return Explain(status, absl::StatusCode::kFailedPrecondition, "OUT_OF_STOCK",
                 "the order " + order.order_id + " lacks stock: " + absl::StrJoin(shortages, "; "));
}

absl::StatusOr<StockResult> ToStockResult(const absl::StatusOr<TransactWriteItemsResult>& result) {
  if (!result.ok()) return result.status();
  return StockResult{.change_sequence = result->change_sequence};
}

}  // namespace

absl::StatusOr<PlacedOrder> PlaceOrder(Client& client, const NewOrder& order, CallOptions options) {
  ITEMDB_RETURN_IF_ERROR(CheckOrder(order));
  PlacedOrder placed;
  placed.shard = order.shard.value_or(ShardOf(order.order_id, kShards));
  if (order.total_amount.has_value()) {
    placed.total_amount = *order.total_amount;
  } else {
    ITEMDB_ASSIGN_OR_RETURN(Number total, TotalAmount(order.lines));
    placed.total_amount = std::move(total);
  }

  // ExplainOrder depends on this order of actions.
  TransactWriteItemsRequest request;
  request.actions.push_back(PutHeader(order, placed.total_amount, placed.shard));
  for (const NewOrderLine& line : order.lines) {
    request.actions.push_back(PutLine(order, line));
    request.actions.push_back(TakeStock(line.product_id, line.warehouse_id, line.quantity));
    request.actions.push_back(ChangeTotal(line.product_id, '-', line.quantity));
  }
  const absl::StatusOr<TransactWriteItemsResult> result = client.TransactWriteItems(request, options);
  if (!result.ok()) return ExplainOrder(order, result.status());
  placed.change_sequence = result->change_sequence;
  return placed;
}

absl::StatusOr<WriteResult> CloseOrder(Client& client, const std::string& order_id, CallOptions options) {
  absl::StatusOr<WriteResult> result =
      client.UpdateItem({.table_name = std::string(kOrderTable),
                         .key = {{"PK", order_id}, {"SK", order_id}},
                         .update_expression = "SET #status = :closed REMOVE #shard",
                         .condition_expression = "#status = :open",
                         .expression_attribute_names = {{"#status", "status"}, {"#shard", "shard"}},
                         .expression_attribute_values = {{":closed", kClosed}, {":open", kOpen}},
                         .return_values_on_condition_check_failure = kAllOld},
                        options);
  if (result.ok() || ReasonOf(result.status()) != kReasonConditionalCheckFailed) return result;
  const std::optional<Item> item = ConditionFailedItem(result.status());
  if (!item.has_value()) {
    return MakeError(absl::StatusCode::kNotFound, "NO_SUCH_ORDER", "there is no order " + order_id);
  }
  const absl::StatusOr<Order> order = DecodeOrder(*item);
  return MakeError(absl::StatusCode::kFailedPrecondition, "ORDER_NOT_OPEN",
                   "the order " + order_id + " is not open" + (order.ok() ? ", but " + order->status : ""));
}

absl::StatusOr<StockResult> MoveStock(Client& client, const StockMove& move, CallOptions options) {
  for (const std::string& warehouse_id : {move.from_warehouse_id, move.to_warehouse_id}) {
    ITEMDB_RETURN_IF_ERROR(CheckStockChange(move.product_id, warehouse_id, move.quantity));
  }
  if (move.from_warehouse_id == move.to_warehouse_id) {
    return Invalid("stock of " + move.product_id + " cannot move from " + move.from_warehouse_id +
                   " to itself");
  }
  const absl::StatusOr<TransactWriteItemsResult> result = client.TransactWriteItems(
      {.actions = {TakeStock(move.product_id, move.from_warehouse_id, move.quantity),
                   AddStock(move.product_id, move.to_warehouse_id, move.quantity)}},
      options);
  const std::vector<CancellationReason> reasons = CancellationReasons(result.status());
  if (ConditionFailed(reasons, 0)) {
    return Explain(result.status(), absl::StatusCode::kFailedPrecondition, "OUT_OF_STOCK",
                   DescribeShortage(move.product_id, move.from_warehouse_id, move.quantity, reasons[0]));
  }
  return ToStockResult(result);
}

absl::StatusOr<StockResult> Restock(Client& client, const StockDelivery& delivery, CallOptions options) {
  ITEMDB_RETURN_IF_ERROR(CheckStockChange(delivery.product_id, delivery.warehouse_id, delivery.quantity));
  const absl::StatusOr<TransactWriteItemsResult> result = client.TransactWriteItems(
      {.actions = {AddStock(delivery.product_id, delivery.warehouse_id, delivery.quantity),
                   ChangeTotal(delivery.product_id, '+', delivery.quantity)}},
      options);
  if (ConditionFailed(CancellationReasons(result.status()), 1)) {
    return Explain(result.status(), absl::StatusCode::kNotFound, "NO_SUCH_PRODUCT",
                   "there is no product " + delivery.product_id);
  }
  return ToStockResult(result);
}

}  // namespace itemdb::order_entry
