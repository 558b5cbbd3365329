// The order-entry writes: the transaction that each sends, and the errors for its cancellations.
#include <functional>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "client/order_entry/amount.h"
#include "itemdb/order_entry.h"
#include "tests/support/fake_daemon.h"

namespace itemdb::order_entry {
namespace {

Number N(const char* text) { return Number::Parse(text).value(); }

class OrderEntryWritesTest : public testing::Test {
 protected:
  void SetUp() override {
    daemon_.transact_write_items = [this](const v1::TransactWriteItemsRequest& request,
                                          v1::TransactWriteItemsReply* reply) {
      ++calls_;
      request_ = request;
      reply->set_change_sequence(77);
      if (failing_actions_.empty()) {
        reply->mutable_committed();
        return grpc::Status::OK;
      }
      for (int i = 0; i < request.transact_items_size(); ++i) {
        v1::CancellationReason* reason = reply->mutable_cancelled()->add_reasons();
        reason->set_code(v1::CANCELLATION_CODE_NONE);
        if (!failing_actions_.contains(i)) continue;
        reason->set_code(v1::CANCELLATION_CODE_CONDITIONAL_CHECK_FAILED);
        if (failing_actions_[i] < 0) continue;
        v1::Attribute* attribute = reason->mutable_item()->add_attributes();
        attribute->set_name("inventory_quantity");
        attribute->mutable_value()->set_n(std::to_string(failing_actions_[i]));
      }
      return grpc::Status::OK;
    };
  }

  static NewOrder TwoLines() {
    return {
        .order_id = "ord_100",
        .customer_id = "cust_001",
        .order_date = "2026-02-01",
        .account_rep_id = "rep_001",
        .lines = {{.product_id = "prod_100", .quantity = 5, .price = N("25.00"), .warehouse_id = "wh_sea"},
                  {.product_id = "prod_101", .quantity = 2, .price = N("0.35"), .warehouse_id = "wh_pdx"}}};
  }

  // From the position of an action to the stock that its false condition has seen; -1: no item.
  std::map<int, int> failing_actions_;
  v1::TransactWriteItemsRequest request_;
  int calls_ = 0;
  FakeDaemon daemon_;
  Client client_ = *Client::Open({.endpoint = daemon_.endpoint()});
};

std::string TextOf(const v1::Item& item, const std::string& name) {
  for (const v1::Attribute& attribute : item.attributes()) {
    if (attribute.name() == name) return attribute.value().s() + attribute.value().n();
  }
  return "-";
}

TEST_F(OrderEntryWritesTest, PlaceOrderIsOneTransactionOverOrderAndStock) {
  const absl::StatusOr<PlacedOrder> placed = PlaceOrder(client_, TwoLines());
  ASSERT_TRUE(placed.ok()) << placed.status();
  EXPECT_EQ(placed->change_sequence, 77u);
  EXPECT_EQ(placed->total_amount, N("125.7"));
  EXPECT_GE(placed->shard, 0);
  EXPECT_LT(placed->shard, kShards);

  EXPECT_EQ(calls_, 1);
  ASSERT_EQ(request_.transact_items_size(), 7);
  const v1::TransactPut& header = request_.transact_items(0).put();
  EXPECT_EQ(header.table_name(), "Order");
  EXPECT_EQ(header.condition_expression(), "attribute_not_exists(#pk)");
  EXPECT_EQ(TextOf(header.item(), "PK"), "ord_100");
  EXPECT_EQ(TextOf(header.item(), "SK"), "ord_100");
  EXPECT_EQ(TextOf(header.item(), "status"), "OPEN");
  EXPECT_EQ(TextOf(header.item(), "shard"), std::to_string(placed->shard));
  EXPECT_EQ(TextOf(header.item(), "total_amount"), "125.7");
  EXPECT_EQ(TextOf(header.item(), "product_id"), "-") << "headers stay out of ProductInOrders (INC-06)";

  const v1::TransactPut& line = request_.transact_items(4).put();
  EXPECT_EQ(TextOf(line.item(), "SK"), "prod_101");
  EXPECT_EQ(TextOf(line.item(), "price"), "0.35");
  EXPECT_EQ(TextOf(line.item(), "status"), "-") << "lines stay out of OrderByCustomerDate (INC-07)";
  EXPECT_EQ(TextOf(line.item(), "account_rep_id"), "-") << "lines stay out of OrderByAccountRep";

  const v1::TransactUpdate& stock = request_.transact_items(5).update();
  EXPECT_EQ(TextOf(stock.key(), "warehouse_id"), "wh_pdx");
  EXPECT_EQ(stock.update_expression(), "SET #stock = #stock - :quantity");
  EXPECT_EQ(stock.condition_expression(), "#stock >= :quantity");
  EXPECT_EQ(stock.expression_attribute_values().at(":quantity").n(), "2");
  const v1::TransactUpdate& total = request_.transact_items(6).update();
  EXPECT_EQ(TextOf(total.key(), "warehouse_id"), "prod_101");
  EXPECT_EQ(total.update_expression(), "SET #total = #total - :quantity");
  EXPECT_EQ(total.expression_attribute_names().at("#total"), "total_inventory");
}

TEST_F(OrderEntryWritesTest, PlaceOrderTakesTotalAndShardWhenGiven) {
  NewOrder order = TwoLines();
  order.total_amount = N("99.90");
  order.shard = 4;
  const absl::StatusOr<PlacedOrder> placed = PlaceOrder(client_, order);
  ASSERT_TRUE(placed.ok());
  EXPECT_EQ(placed->shard, 4);
  EXPECT_EQ(TextOf(request_.transact_items(0).put().item(), "total_amount"), "99.90");
}

TEST_F(OrderEntryWritesTest, OutOfStockNamesEveryLineThatLacks) {
  failing_actions_ = {{2, 3}, {5, -1}};
  const absl::Status status = PlaceOrder(client_, TwoLines()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReasonOf(status), "OUT_OF_STOCK");
  EXPECT_EQ(std::string(status.message()),
            "the order ord_100 lacks stock: line 1: 5 of prod_100 asked from wh_sea, which has 3; "
            "line 2: 2 of prod_101 asked from wh_pdx, which never had any");
  EXPECT_EQ(CancellationReasons(status).size(), 7u);
}

TEST_F(OrderEntryWritesTest, TakenOrderIdAndMissingProductHaveTheirOwnErrors) {
  failing_actions_ = {{0, -1}, {2, 3}};
  const absl::Status exists = PlaceOrder(client_, TwoLines()).status();
  EXPECT_EQ(exists.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(ReasonOf(exists), "ORDER_EXISTS");
  failing_actions_ = {{5, -1}, {6, -1}};
  const absl::Status missing = PlaceOrder(client_, TwoLines()).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReasonOf(missing), "NO_SUCH_PRODUCT");
  EXPECT_NE(std::string(missing.message()).find("line 2: there is no product prod_101"), std::string::npos);
}

TEST_F(OrderEntryWritesTest, PlaceOrderRefusesWhatWouldBreakStockOrDates) {
  const std::vector<std::pair<std::string, std::function<void(NewOrder&)>>> cases = {
      {"no lines", [](NewOrder& o) { o.lines.clear(); }},
      {"34 lines",
       [](NewOrder& o) {
         const NewOrderLine line = o.lines[0];
         o.lines.clear();
         for (int i = 0; i < 34; ++i) {
           o.lines.push_back(line);
           o.lines.back().product_id = "prod_" + std::to_string(i);
         }
       }},
      {"quantity 0", [](NewOrder& o) { o.lines[0].quantity = 0; }},
      {"negative quantity", [](NewOrder& o) { o.lines[1].quantity = -5; }},
      {"product twice", [](NewOrder& o) { o.lines[1].product_id = "prod_100"; }},
      {"warehouse named like the product", [](NewOrder& o) { o.lines[0].warehouse_id = "prod_100"; }},
      {"shard 5", [](NewOrder& o) { o.shard = 5; }},
      {"shard -1", [](NewOrder& o) { o.shard = -1; }},
      {"no date", [](NewOrder& o) { o.order_date = ""; }},
      {"short date", [](NewOrder& o) { o.order_date = "2026-2-1"; }},
      {"impossible date", [](NewOrder& o) { o.order_date = "2026-02-30"; }},
  };
  for (const auto& [name, change] : cases) {
    SCOPED_TRACE(name);
    NewOrder order = TwoLines();
    change(order);
    EXPECT_EQ(PlaceOrder(client_, order).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(calls_, 0);
}

TEST_F(OrderEntryWritesTest, OrdersSpreadOverAllShards) {
  std::set<int> shards;
  for (int i = 0; i < 100; ++i) {
    NewOrder order = TwoLines();
    order.order_id = "ord_" + std::to_string(i);
    shards.insert(PlaceOrder(client_, order)->shard);
  }
  EXPECT_EQ(shards, (std::set<int>{0, 1, 2, 3, 4}));
}

// Closing an order removes its shard, which removes it from the sparse index (SEED-029).
TEST_F(OrderEntryWritesTest, CloseOrderRemovesTheShardOfAnOpenOrder) {
  v1::UpdateItemRequest seen;
  std::string stored_status = "OPEN";
  daemon_.update_item = [&](const v1::UpdateItemRequest& request, v1::UpdateItemReply* reply) {
    seen = request;
    if (stored_status == "OPEN") {
      reply->mutable_result();
    } else {
      v1::ConditionFailed* failed = reply->mutable_condition_failed();
      if (!stored_status.empty()) {
        v1::Attribute* attribute = failed->mutable_item()->add_attributes();
        attribute->set_name("status");
        attribute->mutable_value()->set_s(stored_status);
      }
    }
    return grpc::Status::OK;
  };
  EXPECT_TRUE(CloseOrder(client_, "ord_002").ok());
  EXPECT_EQ(seen.update_expression(), "SET #status = :closed REMOVE #shard");
  EXPECT_EQ(seen.condition_expression(), "#status = :open");
  EXPECT_EQ(TextOf(seen.key(), "SK"), "ord_002");

  stored_status = "CLOSED";
  const absl::Status closed = CloseOrder(client_, "ord_001").status();
  EXPECT_EQ(closed.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReasonOf(closed), "ORDER_NOT_OPEN");
  stored_status = "";
  const absl::Status missing = CloseOrder(client_, "ord_999").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReasonOf(missing), "NO_SUCH_ORDER");
}

TEST_F(OrderEntryWritesTest, MoveStockLeavesTheTotalAlone) {
  const StockMove move{
      .product_id = "prod_100", .from_warehouse_id = "wh_sea", .to_warehouse_id = "wh_new", .quantity = 7};
  EXPECT_EQ(MoveStock(client_, move)->change_sequence, 77u);
  ASSERT_EQ(request_.transact_items_size(), 2);
  EXPECT_EQ(TextOf(request_.transact_items(0).update().key(), "warehouse_id"), "wh_sea");
  EXPECT_EQ(TextOf(request_.transact_items(1).update().key(), "warehouse_id"), "wh_new");
  EXPECT_EQ(request_.transact_items(1).update().update_expression(),
            "SET #stock = if_not_exists(#stock, :zero) + :quantity");

  failing_actions_ = {{0, 6}};
  const absl::Status status = MoveStock(client_, move).status();
  EXPECT_EQ(ReasonOf(status), "OUT_OF_STOCK");
  EXPECT_EQ(std::string(status.message()), "7 of prod_100 asked from wh_sea, which has 6");

  calls_ = 0;
  for (const StockMove& bad : {StockMove{"p", "a", "a", 1}, StockMove{"p", "a", "b", 0},
                               StockMove{"p", "p", "b", 1}, StockMove{"p", "a", "p", 1}}) {
    EXPECT_EQ(MoveStock(client_, bad).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(calls_, 0);
}

TEST_F(OrderEntryWritesTest, RestockChangesStockAndTotalTogether) {
  const StockDelivery delivery{.product_id = "prod_100", .warehouse_id = "wh_sea", .quantity = 9};
  EXPECT_TRUE(Restock(client_, delivery).ok());
  ASSERT_EQ(request_.transact_items_size(), 2);
  EXPECT_EQ(TextOf(request_.transact_items(1).update().key(), "warehouse_id"), "prod_100");
  EXPECT_EQ(request_.transact_items(1).update().update_expression(), "SET #total = #total + :quantity");
  for (int action : {0, 1}) {
    EXPECT_EQ(request_.transact_items(action).update().expression_attribute_values().at(":quantity").n(),
              "9");
  }
  failing_actions_ = {{1, -1}};
  EXPECT_EQ(ReasonOf(Restock(client_, delivery).status()), "NO_SUCH_PRODUCT");
  EXPECT_EQ(Restock(client_, {.product_id = "p", .warehouse_id = "w", .quantity = -1}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

NewOrderLine Line(int64_t quantity, const char* price) {
  return {.product_id = "p", .quantity = quantity, .price = N(price), .warehouse_id = "w"};
}

TEST(TotalAmount, IsExact) {
  struct Case {
    std::vector<std::pair<int64_t, const char*>> lines;
    std::string expected;
  };
  for (const Case& c : std::vector<Case>{
           {{{5, "25.00"}}, "125"},
           {{{3, "0.1"}, {3, "0.2"}}, "0.9"},
           {{{1, "0.001"}, {2, "1e3"}}, "2000.001"},
           {{{1, "5"}, {1, "-5.00"}}, "0"},
           {{{2, "-0.05"}}, "-0.1"},
           {{{1, "0"}}, "0"},
           {{{1, "12345678901234567890123456789012345678"}}, "12345678901234567890123456789012345678"}}) {
    std::vector<NewOrderLine> lines;
    for (const auto& [quantity, price] : c.lines) lines.push_back(Line(quantity, price));
    const absl::StatusOr<Number> total = TotalAmount(lines);
    ASSERT_TRUE(total.ok()) << total.status();
    EXPECT_EQ(total->text(), c.expected);
  }
}

TEST(TotalAmount, RefusesSumsOfMoreThan38Digits) {
  for (const char* price : {"99999999999999999999999999999999999999", "1e125"}) {
    const absl::StatusOr<Number> total = TotalAmount({Line(1, price), Line(1, "0.1")});
    EXPECT_EQ(total.status().code(), absl::StatusCode::kInvalidArgument) << price;
  }
  EXPECT_FALSE(TotalAmount({Line(2, "99999999999999999999999999999999999999")}).ok());
}

}  // namespace
}  // namespace itemdb::order_entry
