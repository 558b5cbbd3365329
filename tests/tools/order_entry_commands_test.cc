#include "tools/commands/order_entry_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/tools/itemctl_fixture.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using OrderEntryCommands = ItemctlTest;

void AddNumber(v1::Item& item, const std::string& name, const std::string& number) {
  v1::Attribute* attribute = item.add_attributes();
  attribute->set_name(name);
  attribute->mutable_value()->set_n(number);
}

// The header of an order as stored, with attributes ordered by name.
v1::Item OrderHeader(const std::string& order_id, const std::string& partition_key, int lines) {
  v1::Item order;
  AddString(order, "PK", partition_key);
  AddString(order, "SK", order_id);
  AddString(order, "account_rep_id", "rep_001");
  AddString(order, "customer_id", "cust_001");
  AddString(order, "order_date", "2026-02-01");
  AddString(order, "order_id", order_id);
  v1::Attribute* order_items = order.add_attributes();
  order_items->set_name("order_items");
  for (int i = 0; i < lines; ++i) {
    v1::Item line;
    AddString(line, "product_id", "prod_10" + std::to_string(i));
    AddNumber(line, "qty", std::to_string(i + 2));
    *order_items->mutable_value()->mutable_l()->add_values()->mutable_m()->mutable_attributes() =
        line.attributes();
  }
  AddNumber(order, "shard", "3");
  AddString(order, "status", "OPEN");
  AddNumber(order, "total_amount", "150");
  return order;
}

// Every pattern is answered with one item and prints one line.
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

TEST_F(OrderEntryCommands, ATableStandsBetweenTheQuestionAndTheNumberOfItems) {
  daemon_.query = [](const auto&, v1::QueryReply* reply) {
    *reply->add_items() = OrderHeader("ord_1", "ord_1", 1);
    *reply->add_items() = OrderHeader("ord_2", "ord_2", 2);
    return grpc::Status::OK;
  };
  const Outcome outcome = Call({"order-entry", "customer-orders", "cust_9", "2026-01-01"}, "", true);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(
      outcome.out,
      "5. Orders of a customer between two dates: customer-id cust_9, from 2026-01-01, to 2025-12-31\n"
      "   customer-orders: Query on Order, index OrderByCustomerDate\n"
      "\n"
      "order_id  order_date  customer_id  account_rep_id  status  shard  total_amount  order_items\n"
      "--------  ----------  -----------  --------------  ------  -----  ------------  --------------------\n"
      "ord_1     2026-02-01  cust_001     rep_001         OPEN        3           150  prod_100 x 2\n"
      "ord_2     2026-02-01  cust_001     rep_001         OPEN        3           150  prod_100 x 2,\n"
      "                                                                                prod_101 x 3\n"
      "2 items; PK and SK repeat order_id\n");
}

TEST_F(OrderEntryCommands, ATableSaysWhenThereAreNoItems) {
  daemon_.query = [](const auto&, auto*) { return grpc::Status::OK; };
  EXPECT_EQ(Call({"order-entry", "employees-by-name", "Nobody", "-o", "table"}).out,
            "2. Employees of a name: name Nobody\n"
            "   employees-by-name: Query on Employee, index EmployeeByName\n"
            "\n"
            "no items\n");
}

// A cell that is too wide continues on the next line, and nothing is left out.
TEST_F(OrderEntryCommands, ATableOfOrdersWithManyLinesFits100Columns) {
  daemon_.query = [](const v1::QueryRequest& request, v1::QueryReply* reply) {
    for (const auto& [name, value] : request.expression_attribute_values()) {
      if (value.n() == "3") *reply->add_items() = OrderHeader("ord_1", "ord_1", 9);
    }
    return grpc::Status::OK;
  };
  const Outcome outcome = Call({"order-entry", "open-orders", "-o", "table"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  for (int i = 0; i < 9; ++i) {
    EXPECT_THAT(outcome.out, HasSubstr(" prod_10" + std::to_string(i) + " x " + std::to_string(i + 2)));
  }
  EXPECT_THAT(outcome.out, HasSubstr("\n1 item; "));
}

TEST_F(OrderEntryCommands, ATableShowsKeyAttributesThatRepeatNoOther) {
  daemon_.query = [](const auto&, v1::QueryReply* reply) {
    *reply->add_items() = OrderHeader("ord_1", "ord_1", 1);
    *reply->add_items() = OrderHeader("ord_2", "other", 1);
    return grpc::Status::OK;
  };
  const Outcome outcome = Call({"order-entry", "rep-orders", "-o", "table"});
  EXPECT_THAT(outcome.out, HasSubstr("  PK\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  other\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\n2 items; SK repeats order_id\n"));
}

TEST_F(OrderEntryCommands, ATypedTableShowsItemsAsTheyAreStored) {
  daemon_.query = [](const auto&, v1::QueryReply* reply) {
    *reply->add_items() = OrderHeader("ord_1", "ord_1", 1);
    return grpc::Status::OK;
  };
  const Outcome outcome = Call({"order-entry", "rep-orders", "--typed", "-o", "table"});
  EXPECT_THAT(outcome.out, HasSubstr(R"({"N": "150"})"));
  EXPECT_THAT(outcome.out,
              HasSubstr(R"({"L": [{"M": {"product_id": {"S": "prod_100"}, "qty": {"N": "2"}}}]})"));
  EXPECT_THAT(outcome.out, HasSubstr("  PK  "));
  EXPECT_THAT(outcome.out, HasSubstr("\n1 item\n"));
}

TEST_F(OrderEntryCommands, ATableShowsAttributesOfUnexpectedTypesAsJson) {
  daemon_.get_item = [](const auto&, v1::GetItemReply* reply) {
    AddNumber(*reply->mutable_item(), "phone_numbers", "7");
    AddString(*reply->mutable_item(), "what", "new");
    v1::Attribute* list = reply->mutable_item()->add_attributes();
    list->set_name("order_items");
    list->mutable_value()->mutable_l()->add_values()->set_n("5");
    return grpc::Status::OK;
  };
  EXPECT_THAT(Call({"order-entry", "employee-by-id", "-o", "table"}).out,
              HasSubstr("phone_numbers  order_items  what\n"
                        "-------------  -----------  ----\n"
                        "            7  [5]          new\n"
                        "1 item\n"));
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
