// The items of examples/adjacency_list: entities and edges, made by the model's code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "adjacency_list/adjacency.h"
#include "itemdb/item_traits.h"
#include "itemdb/order_entry.h"
#include "shared/ask.h"
#include "tests/examples/model_files.h"

namespace itemdb::examples {
namespace {

using order_entry::Customer;
using order_entry::Employee;
using order_entry::NewOrderLine;
using order_entry::Order;
using order_entry::ProductStock;
using order_entry::Stock;
using ::testing::UnorderedElementsAre;

std::string Text(const Item& item, const char* name) {
  std::string text;
  EXPECT_TRUE(ItemReader(item).Read(name, text).status().ok()) << name;
  return text;
}

// The sample data of order entry as items of one table.
std::set<nlohmann::json> SampleAsAdjacency() {
  std::vector<Item> all;
  const auto append = [&](std::vector<Item> items) { all.insert(all.end(), items.begin(), items.end()); };
  std::map<std::string, Order> orders;
  std::map<std::string, std::vector<NewOrderLine>> lines;
  std::map<std::string, ProductStock> products;
  for (const auto& [table, item] : order_entry::SampleData()) {
    ItemReader reader(item);
    if (table == order_entry::kEmployeeTable) {
      Employee employee;
      reader.Read("employee_id", employee.employee_id)
          .Read("name", employee.name)
          .Read("phone_numbers", employee.phone_numbers)
          .Read("warehouse_id", employee.warehouse_id)
          .Read("job_title", employee.job_title)
          .Read("hire_date", employee.hire_date);
      append(adjacency_list::ItemsOf(employee));
    } else if (table == order_entry::kCustomerTable) {
      Customer customer;
      reader.Read("customer_id", customer.customer_id)
          .Read("name", customer.name)
          .Read("phone_numbers", customer.phone_numbers)
          .Read("email", customer.email)
          .Read("account_rep_id", customer.account_rep_id);
      append(adjacency_list::ItemsOf(customer));
    } else if (table == order_entry::kOrderTable && Text(item, "PK") == Text(item, "SK")) {
      Order& order = orders[Text(item, "PK")];
      reader.Read("order_id", order.order_id)
          .Read("customer_id", order.customer_id)
          .Read("order_date", order.order_date)
          .Read("status", order.status)
          .Read("account_rep_id", order.account_rep_id)
          .Read("total_amount", order.total_amount);
    } else if (table == order_entry::kOrderTable) {
      NewOrderLine& line = lines[Text(item, "PK")].emplace_back();
      reader.Read("product_id", line.product_id).Read("quantity", line.quantity).Read("price", line.price);
    } else if (Text(item, "product_id") == Text(item, "warehouse_id")) {
      ProductStock& product = products[Text(item, "product_id")];
      reader.Read("product_id", product.product_id)
          .Read("product_name", product.product_name)
          .Read("category", product.category)
          .Read("unit_price", product.unit_price)
          .Read("total_inventory", product.total_inventory);
    } else {
      Stock& stock = products[Text(item, "product_id")].stock.emplace_back();
      reader.Read("product_id", stock.product_id)
          .Read("warehouse_id", stock.warehouse_id)
          .Read("inventory_quantity", stock.quantity);
    }
    EXPECT_TRUE(reader.status().ok()) << reader.status();
  }
  for (const auto& [id, order] : orders) {
    append(adjacency_list::ItemsOf(order, lines[id], ShardOf(id, adjacency_list::kShards)));
  }
  for (const auto& [id, product] : products) append(adjacency_list::ItemsOf(product));
  std::set<nlohmann::json> items;
  for (const Item& item : all) items.insert(nlohmann::json::parse(example::ToJson(item)));
  return items;
}

std::vector<Item> FileItems() {
  absl::StatusOr<tools::ModelFolder> folder = ReadModel("adjacency_list");
  EXPECT_TRUE(folder.ok()) << folder.status();
  std::vector<Item> items;
  if (!folder.ok()) return items;
  for (const tools::ModelItem& item : folder->FindTable("Adjacency")->items) items.push_back(item.item);
  return items;
}

std::string KindOf(const Item& item) {
  const std::string key = Text(item, "PK");
  return key.substr(0, key.find('#'));
}

// One table of entities and edges (SEED-031); edges are items in the partition of their entity (SEED-034).
TEST(AdjacencyItems, AreTheSampleDataOfOrderEntryAndWhatItPointsTo) {
  std::set<nlohmann::json> of_file;  // 25.00 is 25 in it.
  std::set<std::string> other_kinds;
  for (const Item& item : FileItems()) {
    const std::string kind = KindOf(item);
    if (kind == "HR-EMPLOYEE" || kind == "OE-CUSTOMER" || kind == "OE-ORDER" || kind == "OE-PRODUCT") {
      of_file.insert(nlohmann::json::parse(example::ToJson(item)));
    } else {
      other_kinds.insert(kind);
    }
  }
  EXPECT_EQ(of_file, SampleAsAdjacency());
  EXPECT_THAT(other_kinds, UnorderedElementsAre("HR-REGION", "HR-COUNTRY", "HR-LOCATION", "HR-JOB",
                                                "HR-DEPARTMENT", "OE-WAREHOUSE"));
}

// The sort key of each kind of entity, in HR (SEED-032) and in order entry (SEED-033).
TEST(AdjacencyItems, HaveTheNameOrTheIdThatAnEntityIsFoundBy) {
  std::map<std::string, Item> entities;
  for (const Item& item : FileItems()) entities.try_emplace(Text(item, "Type"), item);
  const auto sort_key = [&](const char* type) { return Text(entities.at(type), "SK"); };
  EXPECT_EQ(sort_key("employee"), "John Smith");
  EXPECT_EQ(sort_key("region"), "US West");
  EXPECT_EQ(sort_key("country"), "United States");
  EXPECT_EQ(sort_key("location"), "United States");
  EXPECT_EQ(sort_key("job"), "Manager");
  EXPECT_EQ(sort_key("department"), "HR-DEPARTMENT#sales");
  EXPECT_EQ(sort_key("customer"), "OE-REP#rep_001");
  EXPECT_EQ(sort_key("order"), "OE-CUSTOMER#cust_001");
  EXPECT_EQ(sort_key("product"), "Widget A");
  EXPECT_EQ(sort_key("warehouse"), "US West");
}

// The index of open orders has shards (SEED-036). The item stores its shard (INC-18), computed by hash or
// chosen at random, only while the order is open.
TEST(AdjacencyItems, OfOpenOrdersCarryTheirShard) {
  Order order{.order_id = "o1",
              .customer_id = "c1",
              .order_date = "2026-01-01",
              .status = "OPEN",
              .account_rep_id = "r1",
              .total_amount = Number(5),
              .order_items = {},
              .shard = std::nullopt};
  for (const int shard : {0, 14, RandomShard(adjacency_list::kShards)}) {
    const std::vector<Item> items = adjacency_list::ItemsOf(order, {}, shard);
    EXPECT_EQ(*items.front().find_or_null("OpenShard"), Value(shard));
    EXPECT_EQ(Text(items.front(), "StateDate"), "OPEN#2026-01-01");
  }
  order.status = "CLOSED";
  EXPECT_FALSE(adjacency_list::ItemsOf(order, {}, 3).front().contains("OpenShard"));
  EXPECT_FALSE(adjacency_list::ItemsOf(order, {}, 3).front().contains("StateDate"));
}

// A name is a sort key, so a new name is a new item (INC-17).
TEST(AdjacencyItems, ANewNameReplacesTheEntityAndItsCopies) {
  const Employee ann{.employee_id = "e1",
                     .name = "Ann",
                     .phone_numbers = {"1"},
                     .warehouse_id = "w",
                     .job_title = "t",
                     .hire_date = "2026-01-01"};
  const TransactWriteItemsRequest request = adjacency_list::RenameEmployee(ann, "Ann Lee");
  ASSERT_EQ(request.actions.size(), 5u);
  EXPECT_EQ(Text(std::get<TransactDelete>(request.actions[0]).key, "SK"), "Ann");
  for (size_t i = 1; i < request.actions.size(); ++i) {
    EXPECT_EQ(Text(std::get<TransactPut>(request.actions[i]).item, "name"), "Ann Lee");
  }
}

}  // namespace
}  // namespace itemdb::examples
