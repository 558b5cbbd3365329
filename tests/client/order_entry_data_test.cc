// The order-entry tables and sample data, and loading them into a database.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "itemdb/order_entry.h"
#include "tests/client/memory_daemon.h"

namespace itemdb::order_entry {
namespace {

class OrderEntryDataTest : public testing::Test {
 protected:
  void SetUp() override {
    const absl::Status created = CreateTables(client_);
    ASSERT_TRUE(created.ok()) << created;
    const absl::StatusOr<LoadResult> loaded = Load(client_);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->written, 27);
    EXPECT_EQ(loaded->kept, 0);
  }

  MemoryDaemon daemon_;
  Client client_ = *Client::Open({.endpoint = daemon_.endpoint()});
};

std::string Text(const Item& item, const std::string& name) {
  const Value* value = item.find_or_null(name);
  return value != nullptr && value->string_or_null() != nullptr ? *value->string_or_null() : "";
}

std::vector<std::string> Texts(const std::vector<Item>& items, const std::string& name) {
  std::vector<std::string> texts;
  for (const Item& item : items) texts.push_back(Text(item, name));
  return texts;
}

std::string KeyText(const std::vector<KeySchemaElement>& key_schema) {
  std::string text;
  for (const KeySchemaElement& element : key_schema) {
    text += (element.key_type == KeyType::kHash ? "H:" : "R:") + element.attribute_name + " ";
  }
  return text;
}

// The tables and indexes of the order-entry document (SEED-001 to SEED-013), with its corrections (INC-07,
// INC-12).
TEST(OrderEntryTables, HaveTheKeysAndProjectionsOfTheDocument) {
  const std::map<std::string, std::string> expected = {
      {"Employee", "H:employee_id "},
      {"Employee.EmployeeByName", "H:name R:employee_id : hire_date job_title phone_numbers warehouse_id"},
      {"Employee.EmployeeByWarehouse", "H:warehouse_id R:employee_id : hire_date job_title name"},
      {"Employee.EmployeeByJobTitle", "H:job_title R:employee_id : hire_date name warehouse_id"},
      {"Employee.EmployeeByHireDate", "H:entity_type R:hire_date : name warehouse_id"},
      {"Customer", "H:customer_id "},
      {"Customer.CustomerByAccountRep", "H:account_rep_id R:customer_id : email name"},
      {"Order", "H:PK R:SK "},
      {"Order.OrderByCustomerDate",
       "H:customer_id R:order_date R:status : order_id order_items shard total_amount"},
      {"Order.OpenOrdersByDate",
       "H:status H:shard R:order_date : account_rep_id customer_id order_id order_items total_amount"},
      {"Order.OrderByAccountRep", "H:account_rep_id R:order_date : customer_id order_id status total_amount"},
      {"Order.ProductInOrders", "H:product_id R:order_id : customer_id order_date quantity"},
      {"Product", "H:product_id R:warehouse_id "},
  };
  std::map<std::string, std::string> actual;
  for (const TableDefinition& table : TableDefinitions()) {
    EXPECT_EQ(table.billing_mode, BillingMode::kPayPerRequest);
    actual[table.table_name] = KeyText(table.key_schema);
    std::set<std::string> key_attributes;
    for (const KeySchemaElement& element : table.key_schema) key_attributes.insert(element.attribute_name);
    for (const GlobalSecondaryIndex& index : table.global_secondary_indexes) {
      std::string& text = actual[table.table_name + "." + index.index_name];
      text = KeyText(index.key_schema) + ":";
      EXPECT_EQ(index.projection.projection_type, ProjectionType::kInclude);
      const auto& names = index.projection.non_key_attributes;
      for (const std::string& name : std::set<std::string>(names.begin(), names.end())) text += " " + name;
      for (const KeySchemaElement& element : index.key_schema) key_attributes.insert(element.attribute_name);
    }
    // The definitions have exactly the attributes of the key schemas, each once (SEM-093); only shard is a
    // number.
    std::set<std::string> defined;
    for (const AttributeDefinition& attribute : table.attribute_definitions) {
      EXPECT_TRUE(defined.insert(attribute.attribute_name).second);
      EXPECT_EQ(attribute.attribute_type, attribute.attribute_name == "shard" ? ScalarAttributeType::kNumber
                                                                              : ScalarAttributeType::kString);
    }
    EXPECT_EQ(defined, key_attributes);
  }
  EXPECT_EQ(actual, expected);
}

TEST_F(OrderEntryDataTest, CreatingTablesAgainIsFineUnlessOneDiffers) {
  EXPECT_TRUE(CreateTables(client_).ok());

  MemoryDaemon other;
  Client client = *Client::Open({.endpoint = other.endpoint()});
  TableDefinition order = TableDefinitions()[2];
  order.global_secondary_indexes[1].key_schema[1].key_type = KeyType::kRange;
  ASSERT_TRUE(client.CreateTable(order).ok());
  const absl::Status status = CreateTables(client);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReasonOf(status), "TABLE_DIFFERS");
  const std::string message(status.message());
  EXPECT_NE(message.find("Order"), std::string::npos);
  EXPECT_NE(message.find("OpenOrdersByDate"), std::string::npos) << message;
}

// What the patterns do not need does no harm: a table need not be deleted because of it.
TEST_F(OrderEntryDataTest, TablesMayHaveMoreThanThePatternsNeed) {
  MemoryDaemon other;
  Client client = *Client::Open({.endpoint = other.endpoint()});
  TableDefinition order = TableDefinitions()[2];
  order.global_secondary_indexes.push_back({.index_name = "ByNote",
                                            .key_schema = {{"note", KeyType::kHash}},
                                            .projection = {.projection_type = ProjectionType::kKeysOnly}});
  order.attribute_definitions.push_back({"note", ScalarAttributeType::kString});
  ASSERT_TRUE(client.CreateTable(order).ok());
  const absl::Status created = CreateTables(client);
  EXPECT_TRUE(created.ok()) << created;
}

TEST_F(OrderEntryDataTest, LoadingAgainChangesNothing) {
  const int transactions = daemon_.transactions();
  const absl::StatusOr<LoadResult> again = Load(client_);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->written, 0);
  EXPECT_EQ(again->kept, 27);
  EXPECT_EQ(daemon_.transactions(), transactions);
  EXPECT_EQ(daemon_.item_count(), 27u);
}

// The total stock of a product (SEED-028) equals the sum of its warehouses' stock (SEED-013) in the sample
// data.
TEST(OrderEntrySampleData, TotalsEqualTheStockOfTheirWarehouses) {
  std::map<std::string, int64_t> totals;
  std::map<std::string, int64_t> sums;
  for (const SampleItem& sample : SampleData()) {
    if (sample.table_name != kProductTable) continue;
    const std::string product = Text(sample.item, "product_id");
    if (const Value* total = sample.item.find_or_null("total_inventory")) {
      totals[product] = *total->number_or_null()->ToInt64();
    } else {
      sums[product] += *sample.item.find_or_null("inventory_quantity")->number_or_null()->ToInt64();
    }
  }
  EXPECT_EQ(totals, sums);
  EXPECT_EQ(totals, (std::map<std::string, int64_t>{{"prod_100", 500}, {"prod_101", 300}}));
}

// Values are those of the document, digit by digit, even if they contradict each other (INC-02, INC-03,
// INC-04, INC-08).
TEST(OrderEntrySampleData, KeepsAmountsVerbatim) {
  std::map<std::string, std::string> amounts;
  for (const SampleItem& sample : SampleData()) {
    for (const char* name : {"total_amount", "price", "unit_price"}) {
      const Value* value = sample.item.find_or_null(name);
      if (value == nullptr) continue;
      const std::string owner = Text(sample.item, "order_id").empty() ? Text(sample.item, "product_id")
                                                                      : Text(sample.item, "order_id");
      amounts[owner + " " + name] = value->number_or_null()->text();
    }
  }
  EXPECT_EQ(amounts, (std::map<std::string, std::string>{{"ord_001 total_amount", "225.00"},
                                                         {"ord_001 price", "25.00"},
                                                         {"ord_002 total_amount", "150.00"},
                                                         {"ord_002 price", "15.00"},
                                                         {"ord_003 total_amount", "175.00"},
                                                         {"ord_003 price", "25.00"},
                                                         {"ord_004 total_amount", "250.00"},
                                                         {"ord_004 price", "50.00"},
                                                         {"ord_005 total_amount", "200.00"},
                                                         {"ord_005 price", "25.00"},
                                                         {"prod_100 unit_price", "25.00"},
                                                         {"prod_101 unit_price", "50.00"}}));
}

// The entries of each index of the table Order (SEED-009 to SEED-012), with the items that the document
// leaves out (INC-01, INC-06, INC-07).
TEST_F(OrderEntryDataTest, IndexesOfOrdersHoldWhatTheDocumentShows) {
  const std::string order(kOrderTable);
  using Ids = std::vector<std::string>;
  EXPECT_EQ(Texts(daemon_.Entries(order, "OrderByCustomerDate"), "order_id"),
            (Ids{"ord_001", "ord_002", "ord_003", "ord_004", "ord_005"}));
  EXPECT_EQ(Texts(daemon_.Entries(order, "OpenOrdersByDate"), "order_id"),
            (Ids{"ord_002", "ord_005", "ord_003"}));
  EXPECT_EQ(Texts(daemon_.Entries(order, "OrderByAccountRep"), "order_id"),
            (Ids{"ord_001", "ord_002", "ord_003", "ord_004", "ord_005"}));
  EXPECT_EQ(Texts(daemon_.Entries(order, "ProductInOrders"), "order_id"),
            (Ids{"ord_001", "ord_003", "ord_005", "ord_002", "ord_004"}));

  const Item open = daemon_.Entries(order, "OpenOrdersByDate")[0];
  EXPECT_EQ(open, (Item{{"PK", "ord_002"},
                        {"SK", "ord_002"},
                        {"status", "OPEN"},
                        {"shard", 0},
                        {"order_date", "2025-12-20"},
                        {"order_id", "ord_002"},
                        {"customer_id", "cust_001"},
                        {"account_rep_id", "rep_001"},
                        {"order_items", Value::List({Value::Map({{"product_id", "prod_101"}, {"qty", 10}})})},
                        {"total_amount", 150}}));
}

}  // namespace
}  // namespace itemdb::order_entry
