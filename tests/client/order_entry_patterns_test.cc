// The 15 access patterns on the sample data have the answers of the order-entry document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "itemdb/order_entry.h"
#include "tests/client/memory_daemon.h"

namespace itemdb::order_entry {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

class OrderEntryPatternsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(CreateTables(client_).ok());
    ASSERT_TRUE(Load(client_).ok());
  }

  std::vector<Item> Run(const std::string& pattern, const std::vector<std::string>& arguments = {}) {
    absl::StatusOr<ItemRange> range = RunPattern(client_, *FindPatternOrNull(pattern), arguments);
    EXPECT_TRUE(range.ok()) << range.status();
    const absl::StatusOr<std::vector<Item>> items = range->ToVector();
    EXPECT_TRUE(items.ok()) << pattern << ": " << items.status();
    return items.value_or(std::vector<Item>());
  }

  void Put(const Item& product) {
    const TransactPut put{.table_name = "Product",
                          .item = product,
                          .condition_expression = "attribute_not_exists(#pk)",
                          .expression_attribute_names = {{"#pk", "product_id"}}};
    ASSERT_TRUE(client_.TransactWriteItems({.actions = {put}}).ok());
  }

  MemoryDaemon daemon_;
  Client client_ = *Client::Open({.endpoint = daemon_.endpoint()});
};

// The value of `attribute` in each item, numbers as text.
std::vector<std::string> Show(const std::vector<Item>& items, const std::string& attribute) {
  std::vector<std::string> texts;
  for (const Item& item : items) {
    const Value* value = item.find_or_null(attribute);
    texts.push_back(value == nullptr                     ? "-"
                    : value->string_or_null() != nullptr ? *value->string_or_null()
                    : value->number_or_null() != nullptr ? value->number_or_null()->text()
                                                         : "?");
  }
  return texts;
}

// Patterns 1 to 15 (SEED-014 to SEED-028) with the document's arguments, for pages of one item and of many.
TEST_F(OrderEntryPatternsTest, AnswerAsTheDocumentWhateverThePageSize) {
  struct Case {
    std::string pattern;
    std::string attribute;
    std::vector<std::string> expected;
  };
  const std::vector<Case> cases = {
      {"employee-by-id", "name", {"John Smith"}},
      {"employees-by-name", "employee_id", {"emp_001"}},
      {"employee-phones", "phone_numbers", {"?"}},
      {"customer-phones", "phone_numbers", {"?"}},
      {"customer-orders", "order_id", {"ord_001", "ord_002"}},
      {"open-orders", "order_id", {"ord_002"}},
      {"recent-hires", "employee_id", {"emp_002", "emp_003", "emp_005"}},
      {"warehouse-employees", "employee_id", {"emp_001", "emp_002", "emp_005"}},
      {"product-orders", "order_id", {"ord_001", "ord_003", "ord_005"}},
      {"product-orders", "quantity", {"5", "3", "20"}},
      {"product-inventory", "warehouse_id", {"prod_100", "wh_atl", "wh_pdx", "wh_sea"}},
      {"product-inventory", "inventory_quantity", {"-", "150", "150", "200"}},
      {"rep-customers", "customer_id", {"cust_001", "cust_002"}},
      {"rep-orders", "order_id", {"ord_001", "ord_002", "ord_003"}},
      {"employees-by-title", "employee_id", {"emp_001"}},
      {"inventory", "inventory_quantity", {"200"}},
      {"total-inventory", "total_inventory", {"500"}},
  };
  for (const size_t page_items : {1, 2, 1'000}) {
    daemon_.page_items = page_items;
    for (const Case& c : cases) {
      SCOPED_TRACE(c.pattern + ", pages of " + std::to_string(page_items));
      EXPECT_EQ(Show(Run(c.pattern), c.attribute), c.expected);
    }
  }
}

TEST_F(OrderEntryPatternsTest, TakeOtherArguments) {
  EXPECT_THAT(Show(Run("customer-orders", {"cust_002", "2026-01-05", "2026-01-05"}), "order_id"),
              ElementsAre("ord_003"));
  EXPECT_THAT(Show(Run("customer-orders", {"cust_001", "2025-12-01"}), "order_id"), ElementsAre("ord_002"));
  EXPECT_THAT(Show(Run("total-inventory", {"prod_101"}), "total_inventory"), ElementsAre("300"));
  EXPECT_TRUE(Run("employee-by-id", {"emp_999"}).empty());
}

// Open orders are read with one query per shard, merged by date (SEED-019).
TEST_F(OrderEntryPatternsTest, OpenOrdersAreOneQueryPerShardMergedByDate) {
  const size_t before = daemon_.queries().size();
  EXPECT_THAT(Show(Run("open-orders", {"2025-01-01", "2026-12-31"}), "order_id"),
              ElementsAre("ord_002", "ord_005", "ord_003"));
  std::vector<std::string> shards;
  const std::vector<v1::QueryRequest> queries = daemon_.queries();
  for (size_t i = before; i < queries.size(); ++i) {
    EXPECT_EQ(queries[i].index_name(), "OpenOrdersByDate");
    shards.push_back(queries[i].expression_attribute_values().at(":shard").n());
  }
  EXPECT_THAT(shards, UnorderedElementsAre("0", "1", "2", "3", "4"));
}

// No pattern scans (SEED-029): the daemon of this test refuses scans. Each pattern names the table or index
// that it reads.
TEST_F(OrderEntryPatternsTest, ReadTheTableOrIndexTheyName) {
  for (const AccessPattern& pattern : AccessPatterns()) {
    SCOPED_TRACE(std::string(pattern.name));
    const size_t before = daemon_.queries().size();
    EXPECT_FALSE(Run(std::string(pattern.name)).empty());
    const std::vector<v1::QueryRequest> queries = daemon_.queries();
    EXPECT_EQ(pattern.operation, queries.size() == before ? "GetItem" : "Query");
    for (size_t i = before; i < queries.size(); ++i) {
      EXPECT_EQ(queries[i].table_name(), std::string(pattern.table_name));
      EXPECT_EQ(queries[i].index_name(), std::string(pattern.index_name.value_or("")));
    }
  }
}

TEST(OrderEntryPatternList, IsNumberedAndFoundByNameAndNumber) {
  ASSERT_EQ(AccessPatterns().size(), 15u);
  for (size_t i = 0; i < AccessPatterns().size(); ++i) {
    const AccessPattern& pattern = AccessPatterns()[i];
    EXPECT_EQ(pattern.number, static_cast<int>(i) + 1);
    EXPECT_EQ(FindPatternOrNull(pattern.name), &pattern);
    EXPECT_EQ(FindPatternOrNull(std::to_string(pattern.number)), &pattern);
  }
  EXPECT_EQ(FindPatternOrNull("16"), nullptr);
  EXPECT_EQ(FindPatternOrNull(""), nullptr);
}

TEST_F(OrderEntryPatternsTest, RefuseTooManyAndEmptyArguments) {
  const AccessPattern& inventory = *FindPatternOrNull("inventory");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"a", "b", "c"}, std::vector<std::string>{"a", ""}}) {
    const absl::StatusOr<ItemRange> range = RunPattern(client_, inventory, arguments);
    EXPECT_EQ(range.status().code(), absl::StatusCode::kInvalidArgument);
  }
  AccessPattern unknown = inventory;
  unknown.name = "none";
  EXPECT_EQ(RunPattern(client_, unknown, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

// ---- typed ---------------------------------------------------------------------------------------

TEST_F(OrderEntryPatternsTest, TypedEmployees) {
  const absl::StatusOr<std::optional<Employee>> john = EmployeeById(client_, "emp_001");
  ASSERT_TRUE(john.ok()) << john.status();
  ASSERT_TRUE(john->has_value());
  EXPECT_EQ((*john)->name, "John Smith");
  EXPECT_EQ((*john)->hire_date, "2024-03-15");
  EXPECT_THAT((*john)->phone_numbers, ElementsAre("+1-555-0101"));
  EXPECT_FALSE(EmployeeById(client_, "emp_999")->has_value());

  EXPECT_EQ(EmployeesByName(client_, "Jane Doe").ToVector()->at(0).phone_numbers.size(), 2u);
  EXPECT_EQ(WarehouseEmployees(client_, "wh_pdx").ToVector()->at(0).job_title, "Associate");
  EXPECT_EQ(EmployeesByTitle(client_, "Supervisor").ToVector()->at(0).name, "Alice Brown");
  const std::vector<Employee> hires = *RecentHires(client_, "2025-06-20").ToVector();
  ASSERT_EQ(hires.size(), 2u);
  EXPECT_EQ(hires[0].employee_id, "emp_003");
  EXPECT_EQ(hires[0].job_title, "") << "EmployeeByHireDate does not carry it";
}

TEST_F(OrderEntryPatternsTest, TypedPhonesTellAMissingPersonFromNoPhones) {
  EXPECT_THAT(*EmployeePhones(client_, "emp_001"), ElementsAre("+1-555-0101"));
  EXPECT_THAT(*CustomerPhones(client_, "cust_001"), ElementsAre("+1-555-1001"));
  EXPECT_EQ(ReasonOf(EmployeePhones(client_, "emp_999").status()), "NO_SUCH_EMPLOYEE");
  EXPECT_EQ(ReasonOf(CustomerPhones(client_, "cust_999").status()), "NO_SUCH_CUSTOMER");
  EXPECT_EQ(CustomerPhones(client_, "cust_999").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(OrderEntryPatternsTest, TypedOrdersAndCustomers) {
  const std::vector<Order> orders =
      *CustomerOrders(client_, "cust_001", {.from = "2025-01-01", .to = "2025-12-31"}).ToVector();
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders[0].status, "CLOSED");
  EXPECT_FALSE(orders[0].shard.has_value());
  EXPECT_EQ(*orders[0].total_amount, Number(225));
  EXPECT_EQ(orders[1].shard, 0);
  ASSERT_EQ(orders[1].order_items.size(), 1u);
  EXPECT_EQ(orders[1].order_items[0].product_id, "prod_101");
  EXPECT_EQ(orders[1].order_items[0].quantity, 10);

  Results<Order> open = OpenOrders(client_, {.from = "2025-01-01", .to = "2026-12-31"});
  EXPECT_EQ((*open.Next())->order_id, "ord_002");
  EXPECT_EQ(open.ToVector()->size(), 2u);
  EXPECT_EQ(RepOrders(client_, "rep_002").ToVector()->at(0).order_id, "ord_004");
  EXPECT_EQ(RepCustomers(client_, "rep_003").ToVector()->at(0).email, "support@fastship.com");
  EXPECT_EQ(ProductOrders(client_, "prod_100").ToVector()->at(2).quantity, 20);
}

TEST_F(OrderEntryPatternsTest, TypedInventory) {
  const absl::StatusOr<std::optional<ProductStock>> product = ProductInventory(client_, "prod_100");
  ASSERT_TRUE(product.ok()) << product.status();
  ASSERT_TRUE(product->has_value());
  EXPECT_EQ((*product)->product_name, "Widget A");
  EXPECT_EQ(*(*product)->unit_price, Number(25));
  EXPECT_EQ((*product)->total_inventory, 500);
  ASSERT_EQ((*product)->stock.size(), 3u);
  EXPECT_EQ((*product)->stock[2].warehouse_id, "wh_sea");
  EXPECT_EQ((*product)->stock[2].quantity, 200);
  EXPECT_FALSE(ProductInventory(client_, "prod_999")->has_value());

  // A warehouse id may sort before the product's id, and stock may exist without its product's item.
  Put({{"product_id", "prod_100"}, {"warehouse_id", "annex"}, {"inventory_quantity", 1}});
  EXPECT_EQ((*ProductInventory(client_, "prod_100"))->stock.size(), 4u);
  EXPECT_EQ((*ProductInventory(client_, "prod_100"))->stock[0].warehouse_id, "annex");
  Put({{"product_id", "orphan"}, {"warehouse_id", "wh_sea"}, {"inventory_quantity", 1}});
  EXPECT_EQ((*ProductInventory(client_, "orphan"))->product_id, "orphan");
  EXPECT_EQ((*ProductInventory(client_, "orphan"))->product_name, "");

  EXPECT_EQ(**Inventory(client_, {.product_id = "prod_100", .warehouse_id = "wh_sea"}), 200);
  EXPECT_FALSE(Inventory(client_, {.product_id = "prod_101", .warehouse_id = "wh_atl"})->has_value());
  EXPECT_EQ(**TotalInventory(client_, "prod_101"), 300);
  EXPECT_FALSE(TotalInventory(client_, "prod_999")->has_value());
}

// An item of another application in an order-entry table is an error, not a crash and not a 0.
TEST_F(OrderEntryPatternsTest, ItemOfAnotherShapeIsDataLoss) {
  Put({{"product_id", "odd"}, {"warehouse_id", "odd"}, {"total_inventory", "many"}});
  const absl::Status status = TotalInventory(client_, "odd").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReasonOf(status), "UNEXPECTED_ITEM");
}

}  // namespace
}  // namespace itemdb::order_entry
