// The single-table e-commerce model through itemctl: the unchanged CreateTable request, the items as in the
// document (plain JSON, INC-21), the queries.
#include "tests/e2e/e2e_fixture.h"

namespace itemdb::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The CreateTable request of the document, unchanged (SEED-053).
constexpr char kCreateTable[] = R"({
"TableName": "ecommerce",
"KeySchema": [
{ "AttributeName": "PK", "KeyType": "HASH" },
{ "AttributeName": "SK", "KeyType": "RANGE" }
],
"AttributeDefinitions": [
{ "AttributeName": "PK", "AttributeType": "S" },
{ "AttributeName": "SK", "AttributeType": "S" }
],
"ProvisionedThroughput": {
"ReadCapacityUnits": 5,
"WriteCapacityUnits": 5
}
})";

// The items of the document, unchanged (SEED-054 to SEED-056).
constexpr char kCustomer[] = R"({
"PK": "CUSTOMER#12345",
"SK": "METADATA",
"customer_id": "12345",
"name": "Alice Smith",
"email": "alice.smith@example.com"
})";
constexpr char kOrder[] = R"({
"PK": "CUSTOMER#12345",
"SK": "ORDER#98765",
"order_id": "98765",
"order_date": "2023-10-27T10:00:00Z",
"total_amount": 150.75
})";
constexpr char kMouse[] = R"({
"PK": "CUSTOMER#12345",
"SK": "ORDER#98765#ITEM#ABC",
"order_item_id": "ABC",
"product_name": "Wireless Mouse",
"quantity": 1,
"price": 25.00
})";
constexpr char kKeyboard[] = R"({
"PK": "CUSTOMER#12345",
"SK": "ORDER#98765#ITEM#DEF",
"order_item_id": "DEF",
"product_name": "Mechanical Keyboard",
"quantity": 1,
"price": 125.75
})";

class EcommerceTest : public E2eTest {
 protected:
  void SetUp() override {
    E2eTest::SetUp();
    const CommandResult created = Itemctl({"table", "create", "-f", "-"}, kCreateTable);
    ASSERT_EQ(created.exit_code, 0) << created.err;
    // In another order than they are read.
    for (const char* item : {kKeyboard, kOrder, kCustomer, kMouse}) {
      const CommandResult put = Itemctl({"item", "put", "ecommerce", item});
      ASSERT_EQ(put.exit_code, 0) << put.err;
    }
  }

  std::vector<Json> Query(const std::string& key_condition, const std::string& values) const {
    return Lines({"query", "ecommerce", "--key-condition-expression", key_condition,
                  "--expression-attribute-values", values});
  }

  const Json customer_ = Json::parse(kCustomer);
  const Json order_ = Json::parse(kOrder);
  const Json mouse_ = Json::parse(kMouse);
  const Json keyboard_ = Json::parse(kKeyboard);
};

// The request is accepted unchanged (SEED-053), and DescribeTable returns its values, including the
// throughput (INC-23).
TEST_F(EcommerceTest, TheCreateTableDocumentIsAcceptedUnchanged) {
  const Json described = Document({"table", "describe", "ecommerce"});
  const Json asked = Json::parse(kCreateTable);
  EXPECT_EQ(described["KeySchema"], asked["KeySchema"]);
  EXPECT_EQ(described["AttributeDefinitions"], asked["AttributeDefinitions"]);
  EXPECT_EQ(described["ProvisionedThroughput"]["ReadCapacityUnits"], 5);
  EXPECT_EQ(described["ProvisionedThroughput"]["WriteCapacityUnits"], 5);
  EXPECT_EQ(described["ItemCount"], 4);
  const CommandResult again = Itemctl({"table", "create", "-f", "-"}, kCreateTable);
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("ecommerce"));
}

// The whole customer: four items in one partition (SEED-057).
TEST_F(EcommerceTest, TheWholeCustomerIsOneQuery) {
  EXPECT_THAT(Query("PK = :pk", R"({":pk": {"S": "CUSTOMER#12345"}})"),
              ElementsAre(customer_, order_, mouse_, keyboard_));
}

// The document filters on SK, which is refused (INC-19); as a key condition it works (SEED-058).
TEST_F(EcommerceTest, TheOrdersOfACustomerNeedAKeyCondition) {
  const CommandResult refused =
      Itemctl({"query", "ecommerce", "--key-condition-expression", "PK = :pk", "--filter-expression",
               "begins_with(SK, :sk_prefix)", "--expression-attribute-values",
               R"({":pk": {"S": "CUSTOMER#12345"}, ":sk_prefix": {"S": "ORDER#"}})"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.out, IsEmpty());
  EXPECT_THAT(refused.err, HasSubstr("SK"));

  EXPECT_THAT(Query("PK = :pk AND begins_with(SK, :sk_prefix)",
                    R"({":pk": {"S": "CUSTOMER#12345"}, ":sk_prefix": {"S": "ORDER#"}})"),
              ElementsAre(order_, mouse_, keyboard_));
}

// The prefix ORDER# also finds order items; a filter leaves only the orders (INC-20).
TEST_F(EcommerceTest, AFilterLeavesTheOrdersWithoutTheirItems) {
  EXPECT_THAT(
      Lines({"query", "ecommerce", "--key-condition", "PK = :pk AND begins_with(SK, :o)", "--filter",
             "attribute_exists(order_date)", "--values", R"({":pk": "CUSTOMER#12345", ":o": "ORDER#"})"}),
      ElementsAre(order_));
}

TEST_F(EcommerceTest, TheItemsOfAnOrderAreAPrefix) {  // The items of an order: begins_with (SEED-059).
  EXPECT_THAT(Query("PK = :pk AND begins_with(SK, :sk_prefix)",
                    R"({":pk": {"S": "CUSTOMER#12345"}, ":sk_prefix": {"S": "ORDER#98765#ITEM#"}})"),
              ElementsAre(mouse_, keyboard_));
}

TEST_F(EcommerceTest, AnOrderWithItsItemsIsARange) {  // An order with its items: BETWEEN (SEED-060).
  EXPECT_THAT(Query("PK = :pk AND SK BETWEEN :from AND :to",
                    R"({":pk": "CUSTOMER#12345", ":from": "ORDER#98765", ":to": "ORDER#98765#~"})"),
              ElementsAre(order_, mouse_, keyboard_));
}

// The same answers page by page, in both directions.
TEST_F(EcommerceTest, PagesOfOneAddUp) {
  EXPECT_THAT(Lines({"query", "ecommerce", "--key-condition", "PK = :pk", "--values",
                     R"({":pk": "CUSTOMER#12345"})", "--page-size", "1"}),
              ElementsAre(customer_, order_, mouse_, keyboard_));

  std::vector<Json> backwards;
  std::string start;
  for (int pages = 0; pages < 10; ++pages) {
    std::vector<std::string> command = {"query",
                                        "ecommerce",
                                        "--key-condition",
                                        "PK = :pk",
                                        "--values",
                                        R"({":pk": "CUSTOMER#12345"})",
                                        "--limit",
                                        "1",
                                        "-o",
                                        "json",
                                        "--no-scan-index-forward"};
    if (!start.empty()) command.insert(command.end(), {"--exclusive-start-key", start});
    const CommandResult result = Itemctl(command);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json page = Json::parse(result.out);
    for (const Json& item : page["Items"]) backwards.push_back(item);
    if (!page.contains("LastEvaluatedKey")) break;
    start = page["LastEvaluatedKey"].dump();
  }
  EXPECT_THAT(backwards, ElementsAre(keyboard_, mouse_, order_, customer_));
}

TEST_F(EcommerceTest, EverythingIsThereAfterKill9) {
  KillAndRestart();
  EXPECT_THAT(Query("PK = :pk", R"({":pk": {"S": "CUSTOMER#12345"}})"),
              ElementsAre(customer_, order_, mouse_, keyboard_));
  ExpectCheckIsClean();
}

}  // namespace
}  // namespace itemdb::e2e
