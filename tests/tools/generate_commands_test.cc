#include "tools/commands/generate_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "tests/processes/daemon_process.h"
#include "tests/support/files.h"
#include "tests/tools/real_daemon.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;

std::vector<BatchPut> All(const GeneratedSizes& sizes) {
  const GeneratedData data(sizes);
  std::vector<BatchPut> items;
  for (uint64_t entity = 0; entity < data.entity_count(); ++entity) data.AppendEntity(entity, &items);
  EXPECT_EQ(items.size(), data.item_count());
  return items;
}

TEST(GeneratedData, IsTheSameForTheSameSeed) {
  const GeneratedSizes sizes{.orders = 20, .employees = 5, .products = 9};
  const std::vector<BatchPut> first = All(sizes);
  const std::vector<BatchPut> again = All(sizes);
  ASSERT_EQ(first.size(), again.size());
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].item, again[i].item);
  GeneratedSizes other = sizes;
  other.seed = 43;
  EXPECT_FALSE(All(other).back().item == first.back().item);
}

// A batch must not write one item twice, and no item may replace another.
TEST(GeneratedData, HasNoKeyTwiceAndDistinctProductsInAnOrder) {
  std::set<std::string> keys;
  std::map<std::string, int> of_table;
  for (const BatchPut& put : All({.orders = 2'000, .employees = 10, .products = 3})) {
    ++of_table[put.table_name];
    std::string key = put.table_name;
    for (const char* name : {"PK", "SK", "employee_id", "customer_id", "product_id", "warehouse_id"}) {
      // In the table Order only PK and SK are key attributes.
      if (put.table_name == "Order" && std::string(name).ends_with("_id")) continue;
      if (const Value* value = put.item.find_or_null(name); value != nullptr)
        key += "|" + *value->string_or_null();
    }
    // The warehouse_id of an employee is not a key attribute; including it here does no harm.
    EXPECT_TRUE(keys.insert(key).second) << key;
  }
  EXPECT_EQ(of_table, (std::map<std::string, int>{
                          {"Customer", 40}, {"Employee", 10}, {"Order", 8'000}, {"Product", 15}}));
}

TEST(GeneratedData, OpensOneOrderInFive) {
  int open = 0;
  for (const BatchPut& put : All({.orders = 5'000, .employees = 0, .products = 100})) {
    const Value* status = put.item.find_or_null("status");
    if (status == nullptr) continue;
    const bool is_open = *status->string_or_null() == "OPEN";
    EXPECT_EQ(put.item.contains("shard"), is_open) << "only open orders are in the index of open orders";
    open += is_open ? 1 : 0;
  }
  EXPECT_NEAR(open, 1'000, 100);
}

// The access patterns, including those of indexes, read the written items, and a second run changes nothing.
TEST(Generate, WritesWhatTheAccessPatternsRead) {
  const RealDaemon daemon;
  for (int run = 0; run < 2; ++run) {
    const Outcome outcome = daemon.Call(
        {"generate", "--orders", "300", "--customers", "3", "--products", "5", "--employees", "20"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("\"items\": 1248"));
  }
  const auto count = [&](std::vector<std::string> arguments) {
    const Outcome outcome = daemon.Call(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return std::count(outcome.out.begin(), outcome.out.end(), '\n');
  };
  int orders = 0;
  for (const char* customer : {"cust_0000000", "cust_0000001", "cust_0000002"}) {
    orders +=
        static_cast<int>(count({"order-entry", "customer-orders", customer, "2024-01-01", "2025-12-31"}));
  }
  EXPECT_EQ(orders, 300);
  // 900 lines of the 5 products, plus the lines of the sample data.
  int lines = 0;
  for (int product = 0; product < 5; ++product) {
    lines +=
        static_cast<int>(count({"order-entry", "product-orders", "prod_00000" + std::to_string(product)}));
  }
  EXPECT_EQ(lines, 900);
  EXPECT_EQ(count({"order-entry", "product-inventory", "prod_000001"}), 5);
  EXPECT_EQ(daemon.Call({"check"}).exit_code, 0);
}

TEST(Generate, WritesJsonLinesToAFile) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/orders.jsonl";
  // Writing a file needs no daemon.
  const Outcome outcome = RunTool({"--endpoint", "127.0.0.1:1", "generate", "--orders", "10", "--products",
                                   "3", "--employees", "1", "--to-file", path});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream file(testing::ReadFile(path));
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    const absl::StatusOr<JsonValue> json = ParseJson(line);
    ASSERT_TRUE(json.ok()) << json.status();
    EXPECT_NE(json->FindOrNull("table"), nullptr);
    EXPECT_TRUE(ItemFromJson(*json->FindOrNull("item"), ReadForm::kTyped, "item").ok());
  }
  EXPECT_EQ(lines, 1 + 1 + 15 + 40);
  const Outcome refused = RunTool({"generate", "--orders", "1", "--to-file", "/nonexistent/file"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.err, "itemctl: cannot write /nonexistent/file: No such file or directory\n");
}

}  // namespace
}  // namespace itemdb::tools
