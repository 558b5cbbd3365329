#include "tools/order_entry_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tools/itemctl_fixture.h"
#include "tools/json_value.h"

namespace itemdb::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using OrderEntryCommands = ItemctlTest;

// Every pattern, each answered with one item, one line each.
TEST_F(OrderEntryCommands, OrderEntryAllPrintsALineForEachPattern) {
  daemon_.get_item = [](const auto&, v1::GetItemReply* reply) {
    *reply->mutable_item() = ItemWithId("got");
    return grpc::Status::OK;
  };
  daemon_.query = [](const v1::QueryRequest& request, v1::QueryReply* reply) {
    if (request.index_name() != "OpenOrdersByDate") *reply->add_items() = ItemWithId("queried");
    return grpc::Status::OK;
  };
  const Outcome outcome = Call({"order-entry", "all"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(
      outcome.out,
      R"({"pattern": 1, "name": "employee-by-id", "table": "Employee", "index": null, "items": [{"id": "got"}]}
{"pattern": 2, "name": "employees-by-name", "table": "Employee", "index": "EmployeeByName", "items": [{"id": "queried"}]}
{"pattern": 3, "name": "employee-phones", "table": "Employee", "index": null, "items": [{"id": "got"}]}
{"pattern": 4, "name": "customer-phones", "table": "Customer", "index": null, "items": [{"id": "got"}]}
{"pattern": 5, "name": "customer-orders", "table": "Order", "index": "OrderByCustomerDate", "items": [{"id": "queried"}]}
{"pattern": 6, "name": "open-orders", "table": "Order", "index": "OpenOrdersByDate", "items": []}
{"pattern": 7, "name": "recent-hires", "table": "Employee", "index": "EmployeeByHireDate", "items": [{"id": "queried"}]}
{"pattern": 8, "name": "warehouse-employees", "table": "Employee", "index": "EmployeeByWarehouse", "items": [{"id": "queried"}]}
{"pattern": 9, "name": "product-orders", "table": "Order", "index": "ProductInOrders", "items": [{"id": "queried"}]}
{"pattern": 10, "name": "product-inventory", "table": "Product", "index": null, "items": [{"id": "queried"}]}
{"pattern": 11, "name": "rep-customers", "table": "Customer", "index": "CustomerByAccountRep", "items": [{"id": "queried"}]}
{"pattern": 12, "name": "rep-orders", "table": "Order", "index": "OrderByAccountRep", "items": [{"id": "queried"}]}
{"pattern": 13, "name": "employees-by-title", "table": "Employee", "index": "EmployeeByJobTitle", "items": [{"id": "queried"}]}
{"pattern": 14, "name": "inventory", "table": "Product", "index": null, "items": [{"id": "got"}]}
{"pattern": 15, "name": "total-inventory", "table": "Product", "index": null, "items": [{"id": "got"}]}
)");
  absl::StatusOr<JsonValue> json = ParseJson(Call({"order-entry", "all", "-o", "json"}).out);
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(json->elements.size(), 15u);
}

TEST_F(OrderEntryCommands, APatternTakesItsArguments) {
  v1::QueryRequest seen;
  daemon_.query = [&seen](const v1::QueryRequest& request, v1::QueryReply* reply) {
    seen = request;
    AddString(*reply->add_items(), "order_id", "ord_1");
    return grpc::Status::OK;
  };
  Outcome outcome = Call({"order-entry", "customer-orders", "cust_9", "2025-01-01"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "{\"order_id\": \"ord_1\"}\n");
  std::vector<std::string> values;
  for (const auto& [name, value] : seen.expression_attribute_values()) values.push_back(value.s());
  EXPECT_THAT(values, ::testing::UnorderedElementsAre("cust_9", "2025-01-01", "2025-12-31"));
  outcome = Call({"order-entry", "customer-orders", "cust_9", "-o", "json"});
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("\"pattern\": 5"), HasSubstr("\"index\": \"OrderByCustomerDate\"")));
}

TEST_F(OrderEntryCommands, ALookUpThatFindsNothingIsExitCode3) {
  daemon_.get_item = [](const auto&, auto*) { return grpc::Status::OK; };
  const Outcome outcome = Call({"order-entry", "inventory", "prod_9"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err, "itemctl: the table Product has no such item: prod_9, wh_sea\n");
}

TEST_F(OrderEntryCommands, PlacesAnOrderOfSeveralLines) {
  v1::TransactWriteItemsRequest seen;
  daemon_.transact_write_items = [&seen](const v1::TransactWriteItemsRequest& request,
                                         v1::TransactWriteItemsReply* reply) {
    seen = request;
    reply->set_change_sequence(42);
    reply->mutable_committed();
    return grpc::Status::OK;
  };
  const Outcome outcome =
      Call({"order-entry", "place-order", "ord_9",  "cust_1", "--date",  "2026-02-01", "--rep",
            "rep_1",       "--line",      "prod_1", "wh_sea", "2",       "25.00",      "--line",
            "prod_2",      "wh_pdx",      "1",      "0.50",   "--shard", "3"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "{\"change_sequence\": 42, \"shard\": 3, \"total_amount\": 50.5}\n");
  EXPECT_THAT(seen.ShortDebugString(),
              AllOf(HasSubstr("prod_1"), HasSubstr("wh_pdx"), HasSubstr("2026-02-01")));
}

TEST_F(OrderEntryCommands, ACancelledTransactionIsExitCode4) {
  daemon_.transact_write_items = [](const v1::TransactWriteItemsRequest& request,
                                    v1::TransactWriteItemsReply* reply) {
    for (int i = 0; i < request.transact_items_size(); ++i) {
      reply->mutable_cancelled()->add_reasons()->set_code(v1::CANCELLATION_CODE_CONDITIONAL_CHECK_FAILED);
    }
    return grpc::Status::OK;
  };
  daemon_.get_item = [](const auto&, auto*) { return grpc::Status::OK; };
  const Outcome outcome = Call({"order-entry", "move-stock", "prod_1", "wh_sea", "wh_pdx", "5"});
  EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

}  // namespace
}  // namespace itemdb::tools
