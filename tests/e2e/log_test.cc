// What must be in the log, and what must not.
#include "tests/e2e/e2e_fixture.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Part of all items, keys, attribute names and expressions of this test; it must not appear in the log.
constexpr char kSecret[] = "PLANTED";

class LogTest : public E2eTest {
 protected:
  // Makes every kind of call with kSecret in its content; most calls are refused.
  void CallWithSecrets() {
    const std::string key = std::string(kSecret) + "-key";
    const auto itemctl = [this](std::vector<std::string> arguments) { Itemctl(std::move(arguments)); };
    const std::string item =
        R"({"PK": ")" + key + R"(", "SK": "PLANTED-sort", "PLANTED-name": "PLANTED-value"})";
    const std::string primary_key = R"({"PK": ")" + key + R"(", "SK": "PLANTED-sort"})";
    itemctl({"item", "put", "secrets", item});
    itemctl({"item", "put", "secrets", item, "--condition", "attribute_not_exists(PK) AND PLANTED = :v"});
    itemctl({"item", "put", "secrets", R"({"PK": 7, "SK": "PLANTED-type"})"});
    itemctl({"item", "put", "PLANTED table", item});
    itemctl({"item", "get", "secrets", primary_key});
    itemctl({"query", "secrets", "--key-condition", "PK = :pk", "--values", R"({":pk": "PLANTED-key"})",
             "--filter", "PLANTED > nonsense ("});
    itemctl({"query", "secrets", "--key-condition", "PK = :pk", "--values", R"({":pk": "PLANTED-key"})"});
    itemctl({"scan", "secrets"});
    itemctl({"item", "delete", "secrets", primary_key});
  }
};

TEST_F(LogTest, NeverHoldsItemContentsOrKeys) {
  ASSERT_EQ(daemon_.Terminate(), 0);
  for (const char* format : {"text", "json"}) {
    ASSERT_TRUE(
        daemon_.Start({"--log-level", "debug", "--slow-request", "1us", "--log-format", format}).ok());
    const std::string table = R"({"TableName": "secrets",
        "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}, {"AttributeName": "SK", "AttributeType": "S"}]})";
    Itemctl({"table", "create", "-f", "-"}, table);
    CallWithSecrets();
    // After a kill the write-ahead log is replayed, and RocksDB logs much about it.
    KillAndRestart();
    ASSERT_EQ(daemon_.Terminate(), 0);
  }
  const std::string log = daemon_.log();
  EXPECT_THAT(log, HasSubstr("slow request method=itemdb.v1.Data/PutItem table=secrets duration_ms="));
  EXPECT_THAT(log, HasSubstr("request_bytes="));
  EXPECT_THAT(log, HasSubstr("code=INVALID_ARGUMENT"));
  EXPECT_THAT(log, Not(HasSubstr(kSecret)));
  // RocksDB prints keys in hexadecimal.
  EXPECT_THAT(log, Not(HasSubstr("504C414E544544")));
  EXPECT_THAT(log, Not(HasSubstr("504c414e544544")));
}

// Every change of a definition is one line.
TEST_F(LogTest, HasALineForEachChangeOfADefinition) {
  Itemctl({"table", "create", "-f", "-"}, R"({"TableName": "Things", "BillingMode": "PAY_PER_REQUEST",
      "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
      "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}]})");
  Itemctl({"index", "add", "Things", "ByB", "--hash", "b:S", "--wait"});
  Itemctl({"index", "drop", "Things", "ByB", "--yes"});
  Itemctl({"ttl", "enable", "Things", "expires"});
  Itemctl({"table", "tag", "Things", "team=blue"});
  Itemctl({"table", "update", "Things", "--deletion-protection-enabled"});
  Itemctl({"table", "update", "Things", "--no-deletion-protection-enabled"});
  Itemctl({"table", "delete", "Things", "--yes"});
  ASSERT_EQ(daemon_.Terminate(), 0);
  const std::string log = daemon_.log();
  for (const char* line :
       {"info table created table=Things indexes=0 change_sequence=",
        "info index added table=Things index=ByB change_sequence=",
        "info index deleted table=Things index=ByB change_sequence=",
        "info time to live changed table=Things enabled=true", "info tags of a table changed table=Things",
        "info table updated table=Things change_sequence=",
        "info table deleted table=Things items=0 change_sequence="}) {
    EXPECT_THAT(log, HasSubstr(line));
  }
}

TEST_F(LogTest, JsonLinesAreObjectsWithTimeLevelAndMessage) {
  ASSERT_EQ(daemon_.Terminate(), 0);
  const size_t before = daemon_.log().size();
  ASSERT_TRUE(daemon_.Start({"--log-format", "json", "--slow-request", "1us"}).ok());
  LoadOrderEntry();
  ASSERT_EQ(daemon_.Terminate(), 0);
  const std::vector<Json> lines = ParseLines(daemon_.log().substr(before));
  ASSERT_GE(lines.size(), 5u);
  bool slow = false;
  for (const Json& line : lines) {
    for (const char* name : {"time", "level", "message"}) EXPECT_TRUE(line.contains(name)) << line;
    slow = slow || (line["message"] == "slow request" && line["duration_ms"].is_string() &&
                    line["items"].is_number());
  }
  EXPECT_TRUE(slow);
  EXPECT_EQ(lines.front()["message"], "itemd starts");
  EXPECT_EQ(lines.back()["message"], "stopped");
}

}  // namespace
}  // namespace itemdb::e2e
