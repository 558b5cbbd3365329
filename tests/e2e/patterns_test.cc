// The order-entry application through itemctl: load, every access pattern, kill -9, every access pattern
// again.
//
// The expected answers are those of the order-entry document, with its contradictions resolved (INC-01 to
// INC-13): ord_004 and ord_005 are in the base table, totals are stored values, an index also projects PK and
// SK, and 25.00 is the number 25.
#include "tests/e2e/e2e_fixture.h"
#include "tests/processes/recording_proxy.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Pattern {
  int number;
  const char* row;  // The rule in docs/rules.md.
  const char* name;
  std::vector<std::string> arguments;
  const char* table;
  const char* index;  // Empty: the table itself.
  const char* items;
};

// Every pattern with the arguments of the document.
const Pattern kPatterns[] = {
    {1, "SEED-014", "employee-by-id", {"emp_001"}, "Employee", "", R"([
      {"employee_id": "emp_001", "name": "John Smith", "phone_numbers": ["+1-555-0101"], "warehouse_id": "wh_sea",
       "job_title": "Manager", "hire_date": "2024-03-15", "entity_type": "EMPLOYEE"}])"},
    {2, "SEED-015", "employees-by-name", {"John Smith"}, "Employee", "EmployeeByName", R"([
      {"name": "John Smith", "employee_id": "emp_001", "phone_numbers": ["+1-555-0101"], "warehouse_id": "wh_sea",
       "job_title": "Manager", "hire_date": "2024-03-15"}])"},
    {3, "SEED-016", "employee-phones", {"emp_001"}, "Employee", "", R"([
      {"phone_numbers": ["+1-555-0101"]}])"},
    {4, "SEED-017", "customer-phones", {"cust_001"}, "Customer", "", R"([
      {"phone_numbers": ["+1-555-1001"]}])"},
    {5,
     "SEED-018",
     "customer-orders",
     {"cust_001", "2025-01-01", "2025-12-31"},
     "Order",
     "OrderByCustomerDate",
     R"([
      {"PK": "ord_001", "SK": "ord_001", "customer_id": "cust_001", "order_date": "2025-11-15",
       "order_id": "ord_001", "status": "CLOSED", "total_amount": 225,
       "order_items": [{"product_id": "prod_100", "qty": 5}]},
      {"PK": "ord_002", "SK": "ord_002", "customer_id": "cust_001", "order_date": "2025-12-20",
       "order_id": "ord_002", "status": "OPEN", "total_amount": 150,
       "order_items": [{"product_id": "prod_101", "qty": 10}], "shard": 0}])"},
    {6, "SEED-019", "open-orders", {"2025-01-01", "2025-12-31"}, "Order", "OpenOrdersByDate", R"([
      {"PK": "ord_002", "SK": "ord_002", "status": "OPEN", "shard": 0, "order_date": "2025-12-20",
       "order_id": "ord_002", "customer_id": "cust_001", "account_rep_id": "rep_001",
       "order_items": [{"product_id": "prod_101", "qty": 10}], "total_amount": 150}])"},
    {7, "SEED-020", "recent-hires", {"2025-01-01"}, "Employee", "EmployeeByHireDate", R"([
      {"entity_type": "EMPLOYEE", "hire_date": "2025-01-10", "employee_id": "emp_002", "name": "Jane Doe",
       "warehouse_id": "wh_sea"},
      {"entity_type": "EMPLOYEE", "hire_date": "2025-06-20", "employee_id": "emp_003", "name": "Bob Wilson",
       "warehouse_id": "wh_pdx"},
      {"entity_type": "EMPLOYEE", "hire_date": "2025-12-01", "employee_id": "emp_005", "name": "Charlie Davis",
       "warehouse_id": "wh_sea"}])"},
    {8, "SEED-021", "warehouse-employees", {"wh_sea"}, "Employee", "EmployeeByWarehouse", R"([
      {"warehouse_id": "wh_sea", "employee_id": "emp_001", "name": "John Smith", "job_title": "Manager",
       "hire_date": "2024-03-15"},
      {"warehouse_id": "wh_sea", "employee_id": "emp_002", "name": "Jane Doe", "job_title": "Associate",
       "hire_date": "2025-01-10"},
      {"warehouse_id": "wh_sea", "employee_id": "emp_005", "name": "Charlie Davis", "job_title": "Associate",
       "hire_date": "2025-12-01"}])"},
    {9, "SEED-022", "product-orders", {"prod_100"}, "Order", "ProductInOrders", R"([
      {"PK": "ord_001", "SK": "prod_100", "product_id": "prod_100", "order_id": "ord_001",
       "customer_id": "cust_001", "order_date": "2025-11-15", "quantity": 5},
      {"PK": "ord_003", "SK": "prod_100", "product_id": "prod_100", "order_id": "ord_003",
       "customer_id": "cust_002", "order_date": "2026-01-05", "quantity": 3},
      {"PK": "ord_005", "SK": "prod_100", "product_id": "prod_100", "order_id": "ord_005",
       "customer_id": "cust_004", "order_date": "2026-01-03", "quantity": 20}])"},
    {10, "SEED-023", "product-inventory", {"prod_100"}, "Product", "", R"([
      {"product_id": "prod_100", "warehouse_id": "prod_100", "product_name": "Widget A", "category": "Hardware",
       "unit_price": 25, "total_inventory": 500},
      {"product_id": "prod_100", "warehouse_id": "wh_atl", "inventory_quantity": 150},
      {"product_id": "prod_100", "warehouse_id": "wh_pdx", "inventory_quantity": 150},
      {"product_id": "prod_100", "warehouse_id": "wh_sea", "inventory_quantity": 200}])"},
    {11, "SEED-024", "rep-customers", {"rep_001"}, "Customer", "CustomerByAccountRep", R"([
      {"account_rep_id": "rep_001", "customer_id": "cust_001", "name": "Acme Corp", "email": "contact@acme.com"},
      {"account_rep_id": "rep_001", "customer_id": "cust_002", "name": "TechStart Inc",
       "email": "info@techstart.com"}])"},
    {12, "SEED-025", "rep-orders", {"rep_001"}, "Order", "OrderByAccountRep", R"([
      {"PK": "ord_001", "SK": "ord_001", "account_rep_id": "rep_001", "order_date": "2025-11-15",
       "order_id": "ord_001", "customer_id": "cust_001", "status": "CLOSED", "total_amount": 225},
      {"PK": "ord_002", "SK": "ord_002", "account_rep_id": "rep_001", "order_date": "2025-12-20",
       "order_id": "ord_002", "customer_id": "cust_001", "status": "OPEN", "total_amount": 150},
      {"PK": "ord_003", "SK": "ord_003", "account_rep_id": "rep_001", "order_date": "2026-01-05",
       "order_id": "ord_003", "customer_id": "cust_002", "status": "OPEN", "total_amount": 175}])"},
    {13, "SEED-026", "employees-by-title", {"Manager"}, "Employee", "EmployeeByJobTitle", R"([
      {"job_title": "Manager", "employee_id": "emp_001", "name": "John Smith", "warehouse_id": "wh_sea",
       "hire_date": "2024-03-15"}])"},
    {14, "SEED-027", "inventory", {"prod_100", "wh_sea"}, "Product", "", R"([
      {"product_id": "prod_100", "warehouse_id": "wh_sea", "inventory_quantity": 200}])"},
    {15, "SEED-028", "total-inventory", {"prod_100"}, "Product", "", R"([
      {"product_id": "prod_100", "warehouse_id": "prod_100", "product_name": "Widget A", "category": "Hardware",
       "unit_price": 25, "total_inventory": 500}])"},
};

// The expected output of `order-entry all -o jsonl`.
std::vector<Json> AllAnswers() {
  std::vector<Json> answers;
  for (const Pattern& pattern : kPatterns) {
    answers.push_back({{"pattern", pattern.number},
                       {"name", pattern.name},
                       {"table", pattern.table},
                       {"index", *pattern.index == '\0' ? Json() : Json(pattern.index)},
                       {"items", Json::parse(pattern.items)}});
  }
  return answers;
}

std::vector<std::string> CommandOf(const Pattern& pattern) {
  std::vector<std::string> command = {"order-entry", pattern.name};
  command.insert(command.end(), pattern.arguments.begin(), pattern.arguments.end());
  return command;
}

class PatternsTest : public E2eTest {
 protected:
  void SetUp() override {
    E2eTest::SetUp();
    LoadOrderEntry();
  }

  // The order ids that open-orders prints for two dates.
  std::vector<std::string> OpenOrderIds(const std::string& from, const std::string& to) const {
    std::vector<std::string> ids;
    for (const Json& order : Lines({"order-entry", "open-orders", from, to}))
      ids.push_back(order["order_id"]);
    return ids;
  }

  int64_t TotalInventory(const std::string& product_id) const {
    return Document({"order-entry", "total-inventory", product_id})["total_inventory"].get<int64_t>();
  }
};

// The sample data: 5 employees (SEED-001), 5 customers (SEED-006), 5 orders with a header and a line
// (SEED-008), 2 products with 3 and 2 stock items (SEED-013).
TEST_F(PatternsTest, LoadingAgainWritesNothing) {
  const uint64_t before = ChangeSequence();
  EXPECT_EQ(Document({"order-entry", "load"}), Json::parse(R"({"written": 0, "kept": 27})"));
  EXPECT_EQ(ChangeSequence(), before);
  EXPECT_EQ(before, 4u + 27u) << "four tables and 27 items are one change each";
}

TEST_F(PatternsTest, LoadingKeepsWhatHasChangedSince) {
  ASSERT_EQ(Itemctl({"order-entry", "close-order", "ord_002"}).exit_code, 0);
  EXPECT_EQ(Document({"order-entry", "load"}), Json::parse(R"({"written": 0, "kept": 27})"));
  EXPECT_THAT(OpenOrderIds("2025-01-01", "2025-12-31"), IsEmpty());
}

// Patterns 1 to 15 (SEED-014 to SEED-028), with the contradictions resolved (INC-01 to INC-13).
TEST_F(PatternsTest, AnswersEveryPatternAndAnswersTheSameAfterKill9) {
  const std::vector<Json> expected = AllAnswers();
  EXPECT_EQ(Lines({"order-entry", "all", "-o", "jsonl"}), expected);
  KillAndRestart();
  EXPECT_EQ(Lines({"order-entry", "all", "-o", "jsonl"}), expected);
  ExpectCheckIsClean();
  EXPECT_EQ(Document({"order-entry", "load"}), Json::parse(R"({"written": 0, "kept": 27})"));
}

TEST_F(PatternsTest, PrintsEachPatternAlone) {
  for (const Pattern& pattern : kPatterns) {
    SCOPED_TRACE(std::string(pattern.row) + " " + pattern.name);
    const Json expected = Json::parse(pattern.items);
    EXPECT_EQ(Json(Lines(CommandOf(pattern))), expected);
    // The default arguments are those of the document.
    EXPECT_EQ(Json(Lines({"order-entry", pattern.name})), expected);
    // The answer as one JSON document.
    std::vector<std::string> as_json = CommandOf(pattern);
    as_json.insert(as_json.end(), {"-o", "json"});
    const CommandResult document = Itemctl(as_json);
    EXPECT_EQ(document.exit_code, 0) << document.err;
    EXPECT_EQ(Json::parse(document.out, nullptr, false)["items"], expected) << document.out;
  }
}

// The other examples of the document's sample data.
TEST_F(PatternsTest, AnswersForOtherArguments) {
  // Open orders until the end of the next year, merged by date over shards 0, 1 and 2 (SEED-019).
  EXPECT_THAT(OpenOrderIds("2025-01-01", "2026-12-31"), ElementsAre("ord_002", "ord_005", "ord_003"));
  // The total stock, 100 + 200 (SEED-028).
  EXPECT_EQ(TotalInventory("prod_101"), 300);
  // An employee with two phone numbers (SEED-016).
  EXPECT_EQ(Document({"order-entry", "employee-phones", "emp_002"}),
            Json::parse(R"({"phone_numbers": ["+1-555-0102", "+1-555-0103"]})"));
  // The line of ord_004 (INC-01).
  std::vector<std::string> orders;
  for (const Json& line : Lines({"order-entry", "product-orders", "prod_101"})) {
    orders.push_back(line["order_id"].get<std::string>() + "x" + line["quantity"].dump());
  }
  EXPECT_THAT(orders, ElementsAre("ord_002x10", "ord_004x5"));
  // The bounds are inclusive: these are the dates of the first and the last order.
  EXPECT_THAT(OpenOrderIds("2025-12-20", "2026-01-05"), ElementsAre("ord_002", "ord_005", "ord_003"));
  EXPECT_THAT(OpenOrderIds("2025-12-21", "2026-01-04"), ElementsAre("ord_005"));
}

TEST_F(PatternsTest, NothingFoundIsAnEmptyAnswerOrNotFound) {
  for (const Pattern& pattern : kPatterns) {
    SCOPED_TRACE(pattern.name);
    std::vector<std::string> command = {"order-entry", pattern.name};
    for (size_t i = 0; i < pattern.arguments.size(); ++i) command.push_back("zzz");
    const CommandResult result = Itemctl(command);
    EXPECT_THAT(result.out, IsEmpty());
    const bool point_read = pattern.number == 1 || pattern.number == 3 || pattern.number == 4 ||
                            pattern.number == 14 || pattern.number == 15;
    EXPECT_EQ(result.exit_code, point_read ? 3 : 0) << result.err;
    EXPECT_THAT(result.err, point_read ? HasSubstr("zzz") : HasSubstr(""));
  }
}

// Each pattern is a key look-up or a single query of an index (SEED-029), except pattern 6, which is five
// queries (INC-11).
TEST_F(PatternsTest, NoPatternScans) {
  RecordingProxy proxy(daemon_.endpoint());
  for (const Pattern& pattern : kPatterns) {
    SCOPED_TRACE(pattern.name);
    std::vector<std::string> command = CommandOf(pattern);
    command.insert(command.begin(), {"--endpoint", proxy.endpoint()});
    const CommandResult result = RunProgram(testing::ProgramPath("itemctl"), command);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(Json(ParseLines(result.out)), Json::parse(pattern.items));
    const std::vector<std::string> calls = proxy.TakeCalls();
    switch (pattern.number) {
      case 1:
      case 3:
      case 4:
      case 14:
      case 15:
        EXPECT_THAT(calls, ElementsAre("Data/GetItem"));
        break;
      case 6:
        EXPECT_THAT(calls, SizeIs(5));
        EXPECT_THAT(calls, Each("Data/Query"));
        break;
      default:
        EXPECT_THAT(calls, ElementsAre("Data/Query"));
    }
  }
}

// Closing an order removes its shard (SEED-029), which removes its entry from the sparse index (SEED-010).
TEST_F(PatternsTest, ClosingAnOrderTakesItOutOfTheOpenOrders) {
  ASSERT_EQ(Itemctl({"order-entry", "close-order", "ord_005"}).exit_code, 0);
  EXPECT_THAT(OpenOrderIds("2025-01-01", "2026-12-31"), ElementsAre("ord_002", "ord_003"));

  const Json header = Document({"item", "get", "Order", R"({"PK": "ord_005", "SK": "ord_005"})"});
  EXPECT_EQ(header["status"], "CLOSED");
  EXPECT_FALSE(header.contains("shard"));
  EXPECT_EQ(header["total_amount"], 200);
  std::vector<std::string> statuses;
  for (const Json& order : Lines({"order-entry", "rep-orders", "rep_002"})) {
    statuses.push_back(order["order_id"].get<std::string>() + " " + order["status"].get<std::string>());
  }
  EXPECT_THAT(statuses, ElementsAre("ord_004 CLOSED", "ord_005 CLOSED"));

  const CommandResult again = Itemctl({"order-entry", "close-order", "ord_005"});
  EXPECT_EQ(again.exit_code, 4);
  EXPECT_THAT(again.err, HasSubstr("ord_005"));
  ExpectCheckIsClean();
  KillAndRestart();
  EXPECT_THAT(OpenOrderIds("2025-01-01", "2026-12-31"), ElementsAre("ord_002", "ord_003"));
}

// Moving stock is one transaction (SEED-029).
TEST_F(PatternsTest, MovingStockKeepsTheTotal) {
  const uint64_t before = ChangeSequence();
  ASSERT_EQ(Itemctl({"order-entry", "move-stock", "prod_100", "wh_sea", "wh_new", "60"}).exit_code, 0);
  const char* const kAfter = R"([
      {"product_id": "prod_100", "warehouse_id": "prod_100", "product_name": "Widget A", "category": "Hardware",
       "unit_price": 25, "total_inventory": 500},
      {"product_id": "prod_100", "warehouse_id": "wh_atl", "inventory_quantity": 150},
      {"product_id": "prod_100", "warehouse_id": "wh_new", "inventory_quantity": 60},
      {"product_id": "prod_100", "warehouse_id": "wh_pdx", "inventory_quantity": 150},
      {"product_id": "prod_100", "warehouse_id": "wh_sea", "inventory_quantity": 140}])";
  EXPECT_EQ(Json(Lines({"order-entry", "product-inventory", "prod_100"})), Json::parse(kAfter));

  // Two change records of one commit.
  const std::vector<Json> records = Lines({"changes", "read", "--after", std::to_string(before)});
  ASSERT_THAT(records, SizeIs(2));
  for (const Json& record : records) {
    EXPECT_EQ(record["commit_first_sequence"], before + 1);
    EXPECT_EQ(record["commit_last_sequence"], before + 2);
  }

  // More than the stock: nothing is moved, and the message has the stock.
  const CommandResult refused = Itemctl({"order-entry", "move-stock", "prod_100", "wh_sea", "wh_atl", "141"});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.err, HasSubstr("140"));
  EXPECT_EQ(ChangeSequence(), before + 2);
  EXPECT_EQ(Json(Lines({"order-entry", "product-inventory", "prod_100"})), Json::parse(kAfter));
}

TEST_F(PatternsTest, PlacingAnOrderTakesStockAndShowsInEveryPattern) {
  const Json placed =
      Document({"order-entry", "place-order", "ord_900",  "cust_005", "--date",   "2026-02-01", "--rep",
                "rep_003",     "--shard",     "4",        "--line",   "prod_100", "wh_sea",     "2",
                "25.00",       "--line",      "prod_101", "wh_pdx",   "3",        "49.95"});
  EXPECT_EQ(placed["shard"], 4);
  EXPECT_EQ(placed["total_amount"].dump(), "199.85");

  EXPECT_THAT(OpenOrderIds("2025-01-01", "2026-12-31"),
              ElementsAre("ord_002", "ord_005", "ord_003", "ord_900"));
  EXPECT_EQ(TotalInventory("prod_100"), 498);
  EXPECT_EQ(TotalInventory("prod_101"), 297);
  EXPECT_EQ(Document({"order-entry", "inventory", "prod_100", "wh_sea"})["inventory_quantity"], 198);
  EXPECT_EQ(Document({"order-entry", "rep-orders", "rep_003"})["order_id"], "ord_900");
  EXPECT_EQ(
      Document({"order-entry", "customer-orders", "cust_005", "2026-01-01", "2026-12-31"})["order_items"],
      Json::parse(R"([{"product_id": "prod_100", "qty": 2}, {"product_id": "prod_101", "qty": 3}])"));
  // Lines have a customer and a date, but must not be in an index of headers (INC-07).
  EXPECT_THAT(Lines({"order-entry", "product-orders", "prod_101"}), SizeIs(3));

  const uint64_t before = ChangeSequence();
  const CommandResult again =
      Itemctl({"order-entry", "place-order", "ord_900", "cust_005", "--date", "2026-02-01", "--rep",
               "rep_003", "--line", "prod_100", "wh_sea", "1", "25"});
  EXPECT_EQ(again.exit_code, 1) << "the order exists";
  EXPECT_THAT(again.err, HasSubstr("ord_900"));
  const CommandResult short_of = Itemctl({"order-entry", "place-order", "ord_901", "cust_005", "--date",
                                          "2026-02-01", "--rep", "rep_003", "--line", "prod_100", "wh_sea",
                                          "1", "25", "--line", "prod_101", "wh_sea", "101", "50"});
  EXPECT_EQ(short_of.exit_code, 4) << "wh_sea has 100 of prod_101";
  EXPECT_THAT(short_of.err, HasSubstr("line 2: 101 of prod_101 asked from wh_sea, which has 100"));
  EXPECT_EQ(ChangeSequence(), before) << "a cancelled transaction changes nothing";
  ExpectCheckIsClean();
}

TEST_F(PatternsTest, RestockingAddsToWarehouseAndTotal) {
  ASSERT_EQ(Itemctl({"order-entry", "restock", "prod_101", "wh_atl", "25"}).exit_code, 0);
  EXPECT_EQ(TotalInventory("prod_101"), 325);
  EXPECT_EQ(Document({"order-entry", "inventory", "prod_101", "wh_atl"})["inventory_quantity"], 25);
}

}  // namespace
}  // namespace itemdb::e2e
