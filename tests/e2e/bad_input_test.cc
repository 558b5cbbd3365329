// Every kind of bad input to itemctl: one line that says what is wrong and what is allowed, the right exit
// code, and no change.
#include "tests/e2e/e2e_fixture.h"

namespace itemdb::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Exit codes of itemctl.
constexpr int kRefused = 1;
constexpr int kUsage = 2;
constexpr int kNotFound = 3;
constexpr int kConditionFalse = 4;
constexpr int kUnreachable = 5;

struct BadInput {
  std::vector<std::string> command;
  int exit_code;
  // Parts of the expected message.
  std::vector<std::string> says;
  std::string input = "";
};

// `text`, shortened for SCOPED_TRACE.
std::string Shortened(const std::string& text) {
  return text.size() < 200 ? text : text.substr(0, 200) + "... (" + std::to_string(text.size()) + " bytes)";
}

class BadInputTest : public E2eTest {
 protected:
  void SetUp() override {
    E2eTest::SetUp();
    LoadOrderEntry();
  }

  void ExpectRefused(const std::vector<BadInput>& rows) {
    const uint64_t before = ChangeSequence();
    for (const BadInput& row : rows) {
      std::string trace;
      for (const std::string& argument : row.command) trace += argument + " ";
      SCOPED_TRACE(Shortened(trace + row.input));
      const CommandResult result = Itemctl(row.command, row.input);
      EXPECT_EQ(result.exit_code, row.exit_code);
      EXPECT_THAT(result.out, IsEmpty());
      EXPECT_THAT(result.err, StartsWith("itemctl: "));
      EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << "one line: " << result.err;
      EXPECT_LT(result.err.size(), 2'000u) << "a message, not the request";
      for (const std::string& part : row.says) EXPECT_THAT(result.err, HasSubstr(part));
    }
    EXPECT_EQ(ChangeSequence(), before);
    ExpectCheckIsClean();
  }

  // A query of the index OrderByCustomerDate.
  static std::vector<std::string> Query(const std::string& key_condition, const std::string& values,
                                        std::vector<std::string> more = {}) {
    std::vector<std::string> command = {"query",           "Order",       "--index",  "OrderByCustomerDate",
                                        "--key-condition", key_condition, "--values", values};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  static std::vector<std::string> Update(const std::string& expression, const std::string& values,
                                         std::vector<std::string> more = {}) {
    std::vector<std::string> command = {
        "item",     "update",   "Order",    R"({"PK": "ord_001", "SK": "ord_001"})",
        "--update", expression, "--values", values};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
};

// A missing table is NOT_FOUND, a missing index of an existing table INVALID_ARGUMENT (SEM-039).
TEST_F(BadInputTest, UnknownTablesAndIndexes) {
  const std::string key = R"({"id": "a"})";
  const std::vector<std::string> says = {"not found", "nope"};
  ExpectRefused({
      {{"item", "get", "nope", key}, kNotFound, says},
      {{"item", "put", "nope", key}, kNotFound, says},
      {{"item", "update", "nope", key, "--update", "REMOVE a"}, kNotFound, says},
      {{"item", "delete", "nope", key}, kNotFound, says},
      {{"query", "nope", "--key-condition", "id = :v", "--values", R"({":v": "a"})"}, kNotFound, says},
      {{"scan", "nope"}, kNotFound, says},
      {{"table", "describe", "nope"}, kNotFound, says},
      {{"table", "delete", "nope"}, kNotFound, says},
      {{"check", "--table", "nope"}, kNotFound, says},
      {{"query", "Order", "--index", "Nope", "--key-condition", "id = :v", "--values", R"({":v": "a"})"},
       kRefused,
       {"index", "Nope", "Order"}},
      {{"scan", "Order", "--index", "Nope"}, kRefused, {"index", "Nope", "Order"}},
      // A name that no table can have.
      {{"scan", "no such table"}, kRefused, {"no such table", "3 to 255", "a-z"}},
  });
}

// Names (SEM-008), number of indexes (SEM-067), projections (SEM-068), number and order of key attributes
// (SEM-077, SEM-078), checks of CreateTable (SEM-093).
TEST_F(BadInputTest, TableDefinitions) {
  const auto row = [](const char* patch, int exit_code, std::vector<std::string> says) {
    Json table = Json::parse(R"({
      "TableName": "things", "BillingMode": "PAY_PER_REQUEST",
      "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
      "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})");
    // A member that is null in the patch is removed.
    table.merge_patch(Json::parse(patch));
    return BadInput{{"table", "create", "-f", "-"}, exit_code, std::move(says), table.dump()};
  };
  const auto index = [&row](const char* patch, std::vector<std::string> says) {
    Json one = Json::parse(R"({"IndexName": "byx", "KeySchema": [{"AttributeName": "x", "KeyType": "HASH"}],
                               "Projection": {"ProjectionType": "ALL"}})");
    one.merge_patch(Json::parse(patch));
    Json table = Json::parse(R"({"AttributeDefinitions": []})");
    for (const char* name : {"id", "x"}) {
      table["AttributeDefinitions"].push_back({{"AttributeName", name}, {"AttributeType", "S"}});
    }
    for (const Json& element : one["KeySchema"]) {
      const std::string name = element["AttributeName"];
      if (name == "id" || name == "x") continue;
      table["AttributeDefinitions"].push_back({{"AttributeName", name}, {"AttributeType", "S"}});
    }
    table["GlobalSecondaryIndexes"] = Json::array({one});
    return row(table.dump().c_str(), kRefused, std::move(says));
  };
  Json five = Json::array();
  for (const char* name : {"a", "b", "c", "d", "e"})
    five.push_back({{"AttributeName", name}, {"KeyType", "HASH"}});
  Json many = Json::array();
  for (int i = 0; i < 21; ++i) many.push_back(std::string("n") + std::to_string(i));

  ExpectRefused({
      row(R"({"TableName": null})", kUsage, {"TableName", "missing"}),
      row(R"({"KeySchema": null})", kUsage, {"KeySchema", "missing"}),
      row(R"({"AttributeDefinitions": null})", kUsage, {"AttributeDefinitions", "missing"}),
      row(R"({"TableName": 3})", kUsage, {"TableName", "string", "number"}),
      row(R"({"Nonsense": 1})", kUsage, {"Nonsense", "allowed are", "KeySchema"}),
      row(R"({"ResourcePolicy": "{}"})", kUsage, {"ResourcePolicy", "there are no resource policies"}),
      row(R"({"BillingMode": "FREE"})", kUsage, {"BillingMode", "FREE", "PROVISIONED, PAY_PER_REQUEST"}),
      row(R"({"KeySchema": [{"AttributeName": "id", "KeyType": "SORT"}]})", kUsage,
          {"KeySchema[0].KeyType", "SORT", "HASH, RANGE"}),
      row(R"({"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "SS"}]})", kUsage,
          {"AttributeDefinitions[0].AttributeType", "SS", "S, N, B"}),
      {{"table", "create", "-f", "-"}, kUsage, {"line 1", "malformed JSON"}, "{"},
      {{"table", "create", "-f", "-"}, kUsage, {"object", "array"}, "[]"},
      {{"table", "create", "-f", "/nonexistent"}, kUsage, {"/nonexistent", "No such file"}},

      row(R"({"TableName": "ab"})", kRefused, {"ab", "3 to 255"}),
      row(R"({"TableName": "Order"})", kRefused, {"already exists", "Order"}),
      row(R"({"KeySchema": []})", kRefused, {"things", "HASH"}),
      row(R"({"KeySchema": [{"AttributeName": "id", "KeyType": "RANGE"}]})", kRefused, {"first", "HASH"}),
      row(R"({"KeySchema": [{"AttributeName": "other", "KeyType": "HASH"}]})", kRefused, {"other", "id"}),
      row(R"({"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"},
                            {"AttributeName": "id", "KeyType": "RANGE"}]})",
          kRefused, {"id", "twice"}),
      row(R"({"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"},
                                       {"AttributeName": "spare", "AttributeType": "S"}]})",
          kRefused, {"spare", "not used"}),
      row(R"({"BillingMode": null})", kRefused, {"ProvisionedThroughput", "PAY_PER_REQUEST"}),
      row(R"({"BillingMode": "PROVISIONED",
              "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 5}})",
          kRefused, {"CapacityUnits", "at least 1"}),

      index(R"({"IndexName": "x"})", {"x", "3 to 255"}),
      index(R"({"Projection": {"ProjectionType": "INCLUDE"}})", {"byx", "NonKeyAttributes"}),
      index(R"({"Projection": {"NonKeyAttributes": ["a"]}})", {"byx", "ALL", "NonKeyAttributes"}),
      index(
          Json({{"Projection", {{"ProjectionType", "INCLUDE"}, {"NonKeyAttributes", many}}}}).dump().c_str(),
          {"byx", "21", "at most 20"}),
      index(Json({{"KeySchema", five}}).dump().c_str(), {"byx", "4 HASH and 4 RANGE"}),
      index(
          R"({"KeySchema": [{"AttributeName": "x", "KeyType": "HASH"}, {"AttributeName": "r", "KeyType": "RANGE"},
                              {"AttributeName": "h", "KeyType": "HASH"}]})",
          {"byx", "HASH key attributes must precede RANGE"}),
  });
}

// The limits (SEM-006) and types (SEM-007) of keys, on every operation with a key.
TEST_F(BadInputTest, Keys) {
  const std::string long_partition = Json({{"PK", std::string(2'049, 'x')}, {"SK", "a"}}).dump();
  const std::string long_sort = Json({{"PK", "a"}, {"SK", std::string(1'025, 'x')}}).dump();
  std::vector<BadInput> rows;
  for (const char* verb : {"get", "delete", "update"}) {
    rows.push_back({{"item", verb, "Order", R"({"PK": "a"})"}, kRefused, {"Order", "PK (S), SK (S)"}});
    rows.push_back(
        {{"item", verb, "Order", R"({"PK": "a", "SK": "b", "x": 1})"}, kRefused, {"PK (S), SK (S)"}});
    rows.push_back({{"item", verb, "Order", "{}"}, kRefused, {"PK (S), SK (S)"}});
    rows.push_back({{"item", verb, "Order", R"({"PK": "a", "SK": 1})"}, kRefused, {"SK (S)"}});
    rows.push_back({{"item", verb, "Order", R"({"PK": "", "SK": "a"})"}, kRefused, {"PK", "empty"}});
    rows.push_back({{"item", verb, "Order", long_partition}, kRefused, {"2048 bytes"}});
    rows.push_back({{"item", verb, "Order", long_sort}, kRefused, {"1024 bytes"}});
    rows.push_back({{"item", verb, "Order", "[]"}, kUsage, {"the key", "object", "array"}});
  }
  rows.push_back({{"item", "put", "Order", R"({"PK": "a"})"}, kRefused, {"SK"}});
  rows.push_back({{"item", "put", "Order", long_partition}, kRefused, {"2048 bytes"}});
  rows.push_back({{"item", "put", "Order", long_sort}, kRefused, {"1024 bytes"}});
  rows.push_back({Update("SET PK = :v", R"({":v": "x"})"), kRefused, {"PK", "part of the key"}});
  ExpectRefused(rows);
}

// Item size (SEM-001), attribute names (SEM-009), types (SEM-010), number range (SEM-011), sets (SEM-015),
// depth (SEM-017), types of index keys (SEM-070).
TEST_F(BadInputTest, Items) {
  // An item in DynamoDB JSON with the attribute "v" besides the key.
  const auto typed = [](const std::string& value, int exit_code, std::vector<std::string> says) {
    return BadInput{{"item", "put", "Order", "-", "--typed"},
                    exit_code,
                    std::move(says),
                    R"({"PK": {"S": "a"}, "SK": {"S": "b"}, "v": )" + value + "}"};
  };
  const auto plain = [](const std::string& members, int exit_code, std::vector<std::string> says) {
    return BadInput{{"item", "put", "Order", "-"},
                    exit_code,
                    std::move(says),
                    R"({"PK": "a", "SK": "b", )" + members + "}"};
  };
  ExpectRefused({
      // One byte too many. The key needs 2 + 1 + 2 + 1 bytes, the name 1 byte.
      plain(R"("t": ")" + std::string(409'600 - 6, 'x') + '"', kRefused, {"Item size", "409600"}),
      plain('"' + std::string(65'536, 'n') + "\": 1", kRefused, {"name", "65535"}),
      plain(R"("": 1)", kRefused, {"Empty attribute name"}),
      plain(R"("d": )" + std::string(32, '[') + "1" + std::string(32, ']'), kRefused, {"32", "d[0]"}),
      plain(R"("status": 5)", kRefused, {"status", "S", "N", "OrderByCustomerDate"}),
      plain(R"("shard": null)", kRefused, {"shard", "N", "NULL", "OpenOrdersByDate"}),
      plain(R"("customer_id": "")", kRefused, {"customer_id", "empty", "OrderByCustomerDate"}),
      plain(R"("customer_id": ")" + std::string(2'049, 'c') + '"', kRefused, {"customer_id", "2048", "2049"}),

      typed(R"({"N": "123456789012345678901234567890123456789"})", kRefused, {"38", "\"v\""}),
      typed(R"({"N": "1E126"})", kRefused, {"overflow", "\"v\""}),
      typed(R"({"N": "-1E-131"})", kRefused, {"underflow", "\"v\""}),
      typed(R"({"N": "twelve"})", kUsage, {"v", "twelve", "decimal number"}),
      typed(R"({"N": "1e99999999999"})", kUsage, {"v", "exponent"}),
      typed(R"({"SS": []})", kRefused, {"empty", "\"v\""}),
      typed(R"({"SS": ["a", "a"]})", kRefused, {"duplicates", "\"v\""}),
      typed(R"({"NS": ["1", "1.0"]})", kRefused, {"duplicates", "\"v\""}),
      typed(R"({"NULL": false})", kUsage, {"v", "NULL must be true"}),
      typed(R"({"B": "AA="})", kUsage, {"v", "base64"}),
      typed(R"({"L": [{"X": 1}]})", kUsage, {"v[0]", "X", "S, N, B, SS, NS, BS, L, M, BOOL or NULL"}),
      typed(R"({"S": "a", "N": "1"})", kUsage, {"v", "exactly one member"}),
      typed(R"({"N": 1})", kUsage, {"v", "N needs a number in a string"}),
      typed(R"("plain")", kUsage, {"v", "exactly one member"}),

      {{"item", "put", "Order", "-"}, kUsage, {"PK", "twice"}, R"({"PK": "a", "SK": "b", "PK": "c"})"},
      {{"item", "put", "Order", "-"}, kUsage, {"line 1", "UTF-8"}, "{\"PK\": \"a\", \"SK\": \"\xff\"}"},
      {{"item", "put", "Order", "-"}, kUsage, {"malformed JSON"}, R"({"PK": NaN})"},
      {{"item", "put", "Order", "-"}, kUsage, {"malformed JSON"}, R"({"PK": "a", "SK": "b"} more)"},
      {{"item", "put", "Order", "-"}, kUsage, {"empty"}, ""},
      {{"item", "put", "Order", "-"}, kUsage, {"object", "array"}, "[1]"},
      {{"item", "put", "Order", "-"}, kUsage, {"100 levels"}, std::string(1'000'000, '[')},
  });
}

// Expressions (EXP-01 to EXP-34) and their limits (SEM-019 to SEM-025).
TEST_F(BadInputTest, UpdateExpressionsAndConditions) {
  const std::string one = R"({":v": 1})";
  const auto condition = [](const std::string& text, int exit_code, std::vector<std::string> says) {
    return BadInput{{"item", "put", "Order", R"({"PK": "ord_001", "SK": "ord_001"})", "--condition", text},
                    exit_code,
                    std::move(says)};
  };
  ExpectRefused({
      {Update("SET", one), kRefused, {"UpdateExpression", "SET"}},
      {Update("FROB a", one), kRefused, {"UpdateExpression", "FROB"}},
      {Update("SET a = b +", one), kRefused, {"UpdateExpression", "+"}},
      {Update("SET a = :w", one), kRefused, {":w"}},
      {Update("SET a = :v", R"({":v": 1, ":w": 2})"), kRefused, {"unused", ":w"}},
      {Update("SET #a = :v", one), kRefused, {"#a"}},
      {Update("SET a = :v, a = :v", one), kRefused, {"overlap", "[a]"}},
      {Update("SET a = :v SET b = :v", one), kRefused, {"SET", "once"}},
      {Update("SET a.b = :v", one), kRefused, {"document path", "a, b"}},
      {Update("SET a = nofunc(:v)", one), kRefused, {"function", "nofunc"}},
      {Update("SET a = absent + :v", one), kRefused, {"does not exist", "absent"}},
      {Update("SET a = total_amount + :v", R"({":v": "x"})"), kRefused, {"+", "S"}},
      {Update("ADD total_amount :v", R"({":v": "x"})"), kRefused, {"ADD", "S"}},
      {Update("DELETE a :v", one), kRefused, {"DELETE", "N"}},
      {Update("SET #s = :v", one, {"--names", R"({"#s": "status"})"}), kRefused, {"status", "S", "N"}},
      {Update("SET a = :v" + std::string(4'096, ' '), one), kRefused, {"4096"}},
      {Update("SET a = " + std::string(2'000, '(') + ":v" + std::string(2'000, ')'), one),
       kRefused,
       {"deeply"}},
      {Update("SET a = :v", R"({"v": 1})"), kRefused, {"ExpressionAttributeValues", "\"v\""}},
      {Update("SET a = :v", "[]"), kUsage, {"--expression-attribute-values", "object", "array"}},
      {Update("SET #a = :v", one, {"--names", R"({"#a": 1})"}), kUsage, {"#a", "string", "number"}},

      condition("attribute_exists(", kRefused, {"ConditionExpression", "near: \"(\""}),
      condition("((attribute_exists(PK)))", kRefused, {"redundant parentheses"}),
      condition("size(PK)", kRefused, {"size"}),
      condition("attribute_not_exists(PK)", kConditionFalse, {"condition"}),
  });
}

// Key conditions (EXP-08, EXP-21), also of several key attributes (SEM-080, SEM-081); filters on attributes
// that are not projected (SEM-037) and on keys (SEM-040).
TEST_F(BadInputTest, QueriesAndScans) {
  const std::string customer = R"({":v": "cust_001"})";
  std::string in_operands;
  Json in_values = {{":v", "cust_001"}};
  for (int i = 0; i <= 100; ++i) {
    in_values[":o" + std::to_string(i)] = i;
    in_operands += std::string(i == 0 ? ":o" : ", :o") + std::to_string(i);
  }
  std::string operators = "slot = :s";
  for (int i = 0; i < 150; ++i) operators += " OR slot = :s";
  ExpectRefused({
      {Query("customer_id =", customer), kRefused, {"KeyConditionExpression", "="}},
      {Query("order_date = :v", customer), kRefused, {"customer_id"}},
      {Query("customer_id > :v", customer), kRefused, {"customer_id", "only ="}},
      {Query("customer_id = :v OR customer_id = :v", customer), kRefused, {"OR"}},
      {Query("customer_id = :v AND #s = :v", customer, {"--names", R"({"#s": "status"})"}),
       kRefused,
       {"order_date", "equality", "status"}},
      // itemctl gives the reserved word an alias.
      {Query("customer_id = :v AND status = :v", customer), kRefused, {"order_date", "equality", "status"}},
      {Query("customer_id = :v AND total_amount = :v", customer),
       kRefused,
       {"total_amount", "customer_id, order_date, status"}},
      {Query("customer_id = :v", R"({":v": 1})"), kRefused, {"customer_id", "expected: S", "actual: N"}},
      {Query("customer_id = :v", R"({":v": ""})"), kRefused, {"customer_id", "empty"}},
      {Query("customer_id = :v AND order_date BETWEEN :b AND :a", R"({":v": "c", ":a": "1", ":b": "2"})"),
       kRefused,
       {"BETWEEN", "upper bound"}},
      {{"query", "Order", "--index", "OpenOrdersByDate", "--key-condition", "#s = :v", "--names",
        R"({"#s": "status"})", "--values", customer},
       kRefused,
       {"HASH key attributes", "shard", "equality"}},

      {Query("customer_id = :v", customer, {"--filter", "order_date = :v"}),
       kRefused,
       {"non-primary", "order_date"}},
      {Query("customer_id = :v", customer, {"--filter", "account_rep_id = :v"}),
       kRefused,
       {"OrderByCustomerDate", "project", "account_rep_id"}},
      {Query("customer_id = :v", in_values.dump(), {"--filter", "slot IN (" + in_operands + ")"}),
       kRefused,
       {"IN", "101"}},
      {Query("customer_id = :v", R"({":v": "c", ":s": 1})", {"--filter", operators}),
       kRefused,
       {"operators", "301"}},
      {Query("customer_id = :v", customer, {"--projection", "account_rep_id"}), kRefused, {"account_rep_id"}},
      {Query("customer_id = :v", customer, {"--projection", "slot, slot.x"}), kRefused, {"overlap", "slot"}},
      {Query("customer_id = :v", customer, {"--names", R"({"#x": "y"})"}), kRefused, {"unused", "#x"}},
      {{"scan", "Order", "--filter", "x ="}, kRefused, {"FilterExpression", "="}},
      {{"scan", "Order", "--values", R"({":v": 1})"}, kRefused, {"ExpressionAttributeValues"}},
      {{"item", "get", "Order", R"({"PK": "a", "SK": "b"})", "--projection", "a..b"},
       kRefused,
       {"ProjectionExpression", "..b"}},
  });
}

// ExclusiveStartKey must have exactly the key attributes (SEM-032), for an index those of index and table
// (SEM-085).
TEST_F(BadInputTest, StartKeys) {
  const std::string customer = R"({":v": "cust_001"})";
  const Json good = Json::parse(R"({"PK": "ord_001", "SK": "ord_001", "customer_id": "cust_001",
                                    "order_date": "2025-11-15", "status": "CLOSED"})");
  const auto start = [&](const char* patch, std::vector<std::string> says) {
    Json key = good;
    key.merge_patch(Json::parse(patch));
    return BadInput{Query("customer_id = :v", customer, {"--exclusive-start-key", key.dump()}), kRefused,
                    std::move(says)};
  };
  const std::string all = "PK, SK, customer_id, order_date, status";
  ExpectRefused({
      start(R"({"SK": null})", {"starting key", all}),
      start(R"({"status": null})", {"starting key", all}),
      start(R"({"extra": 1})", {"starting key", all}),
      start(R"({"order_date": 5})", {"starting key", "order_date", "S", "N"}),
      start(R"({"PK": ""})", {"starting key", "PK", "empty"}),
      start(R"({"customer_id": "cust_002"})", {"starting key", "outside"}),
      {Query("customer_id = :v", customer, {"--exclusive-start-key", "{}"}), kRefused, {"starting key", all}},
      {Query("customer_id = :v", customer, {"--exclusive-start-key", "{"}),
       kUsage,
       {"--exclusive-start-key", "line 1"}},
      {Query("customer_id = :v AND order_date > :d", R"({":v": "cust_001", ":d": "2026"})",
             {"--exclusive-start-key", good.dump()}),
       kRefused,
       {"starting key", "range key"}},
      {{"query", "Employee", "--key-condition", "employee_id = :v", "--values", R"({":v": "emp_001"})",
        "--exclusive-start-key", R"({"employee_id": "emp_001"})"},
       kRefused,
       {"ExclusiveStartKey", "sort key"}},
      {{"scan", "Order", "--exclusive-start-key", R"({"PK": "a"})"}, kRefused, {"starting key", "PK, SK"}},
      {{"scan", "Order", "--index", "OpenOrdersByDate", "--exclusive-start-key", R"({"PK": "a", "SK": "b"})"},
       kRefused,
       {"starting key", "PK, SK, order_date, shard, status"}},
  });
  // A valid key is accepted, even if the table has no such item (SEM-032).
  Json absent = good;
  absent["order_date"] = "2025-11-16";
  for (const Json& key : {good, absent}) {
    EXPECT_EQ(
        Document(Query("customer_id = :v", customer, {"--exclusive-start-key", key.dump()}))["order_id"],
        "ord_002");
  }
}

TEST_F(BadInputTest, CommandLines) {
  ExpectRefused({
      {{}, kUsage, {"command", "table, index, ttl, item, query, scan"}},
      {{"frob"}, kUsage, {"frob", "itemctl help lists the commands"}},
      {{"item", "frob"}, kUsage, {"frob", "get, put, update, delete"}},
      {{"scan", "Order", "--nonsense"}, kUsage, {"--nonsense"}},
      {{"scan"}, kUsage, {"TABLE"}},
      {{"scan", "Order", "--limit", "0"}, kUsage, {"--limit", "1 to 2147483647"}},
      {{"scan", "Order", "--limit", "4294967297"}, kUsage, {"--limit", "1 to 2147483647"}},
      {{"-o", "xml", "status"}, kUsage, {"--output", "xml", "table,json,jsonl"}},
      {{"--timeout", "0", "status"}, kUsage, {"--timeout", "0.001 to 86400"}},
      {{"--endpoint", "nonsense", "status"}, kUsage, {"nonsense", "HOST:PORT", "unix:/PATH"}},
      {{"--endpoint", "127.0.0.1:1", "status"}, kUnreachable, {"127.0.0.1:1", "is itemd running"}},
      {{"--endpoint", "unix:/nonexistent/socket", "status"}, kUnreachable, {"unix:/nonexistent/socket"}},
      {{"item", "put", "Order", "{}", "--return-values", "ALL_NEW"}, kUsage, {"ALL_NEW", "ALL_OLD, NONE"}},
      {{"changes", "read", "--limit", "1001"}, kRefused, {"Limit", "1 to 1000", "1001"}},
      {{"order-entry", "employee-by-id", "nobody"}, kNotFound, {"Employee", "nobody"}},
      // An empty argument is not a missing one, which would mean the default employee.
      {{"order-entry", "employee-by-id", ""}, kRefused, {"employee-id", "empty"}},
      {{"order-entry", "customer-orders", "cust_001", "", "2025-12-31"}, kRefused, {"from", "empty"}},
      {{"order-entry", "close-order", "ord_999"}, kNotFound, {"ord_999"}},
      {{"order-entry", "close-order", "ord_001"}, kConditionFalse, {"ord_001", "CLOSED"}},
      {{"order-entry", "restock", "prod_999", "wh_sea", "5"}, kNotFound, {"prod_999"}},
      {{"order-entry", "move-stock", "prod_100", "wh_sea", "wh_sea", "5"}, kRefused, {"prod_100", "wh_sea"}},
      {{"order-entry", "move-stock", "prod_100", "wh_sea", "wh_pdx", "0"}, kUsage, {"quantity", "from 1"}},
      {{"order-entry", "place-order", "o", "c", "--date", "2025-13-01", "--rep", "r", "--line", "prod_100",
        "wh_sea", "1", "25"},
       kRefused,
       {"2025-13-01", "2025-12-31"}},
  });
}

}  // namespace
}  // namespace itemdb::e2e
