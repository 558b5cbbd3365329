// The statuses that `--status-delay` keeps.

#include <chrono>

#include "daemon/http/api/shown_statuses.h"
#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

constexpr char kShownTable[] = R"({"TableName":"Things"})";
constexpr char kEnableTimeToLive[] =
    R"({"TableName":"Things","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}})";
constexpr char kProtect[] = R"({"TableName":"Things","DeletionProtectionEnabled":true})";

bool Has(const std::string& reply, const std::string& text) { return reply.find(text) != std::string::npos; }

TEST(ShownStatuses, AreShownForATimeAndTheTableCanBeUsed) {
  JsonFixture json(std::chrono::hours(1));
  EXPECT_TRUE(Has(json.Succeed("CreateTable", kCreateThings), R"("TableStatus":"CREATING")"));
  EXPECT_TRUE(Has(json.Succeed("DescribeTable", kShownTable), R"("TableStatus":"CREATING")"));
  EXPECT_TRUE(Has(
      json.Succeed("DescribeTable", R"({"TableName":"arn:aws:dynamodb:local:000000000000:table/Things"})"),
      R"("TableStatus":"CREATING")"));
  json.Succeed("PutItem", R"({"TableName":"Things","Item":{"pk":{"S":"p"},"sk":{"S":"s"}}})");
  json.Succeed("UpdateTimeToLive", kEnableTimeToLive);
  EXPECT_TRUE(Has(json.Succeed("DescribeTimeToLive", kShownTable), R"("TimeToLiveStatus":"ENABLING")"));
}

TEST(ShownStatuses, AreThoseOfContributorInsightsToo) {
  for (const bool delayed : {true, false}) {
    JsonFixture json(delayed ? std::chrono::milliseconds(std::chrono::hours(1))
                             : std::chrono::milliseconds(0));
    json.Succeed("CreateTable", kCreateThings);
    const auto status = [&] {
      const std::string reply = json.Succeed("DescribeContributorInsights", kShownTable);
      for (const char* one : {"ENABLING", "ENABLED", "DISABLING", "DISABLED"})
        if (Has(reply, std::string(R"("ContributorInsightsStatus":")") + one + '"')) return std::string(one);
      return reply;
    };
    // Before the first change nothing is under way.
    EXPECT_EQ(status(), "DISABLED");
    json.Succeed("UpdateContributorInsights",
                 R"({"TableName":"Things","ContributorInsightsAction":"ENABLE"})");
    EXPECT_EQ(status(), delayed ? "ENABLING" : "ENABLED");
    EXPECT_TRUE(
        Has(json.Succeed("ListContributorInsights", "{}"), delayed ? R"("ENABLING")" : R"("ENABLED")"));
    json.Succeed("UpdateContributorInsights",
                 R"({"TableName":"Things","ContributorInsightsAction":"DISABLE"})");
    EXPECT_EQ(status(), delayed ? "DISABLING" : "DISABLED");
  }
}

// The service names the status of the table (QRK-18); a request that is wrong is refused for that first.
TEST(ShownStatuses, CreateTableAgainSaysThatTheTableIsBeingCreated) {
  JsonFixture json(std::chrono::hours(1));
  json.Succeed("CreateTable", kCreateThings);
  EXPECT_EQ(
      json.Fail("CreateTable", kCreateThings),
      R"({"__type":"com.amazonaws.dynamodb.v20120810#ResourceInUseException",)"
      R"("message":"Attempt to change a resource which is still in use: Table is being created: Things",)"
      R"("Detail":"Table already exists: Things"})");
  std::string wrong = kCreateThings;
  wrong.replace(wrong.find("PAY_PER_REQUEST"), 15, "PROVISIONED");
  EXPECT_TRUE(Has(json.Fail("CreateTable", wrong), "ValidationException"));
  JsonFixture at_once;
  at_once.Succeed("CreateTable", kCreateThings);
  EXPECT_TRUE(
      Has(at_once.Fail("CreateTable", kCreateThings), R"("message":"Table already exists: Things"})"));
}

TEST(ShownStatuses, IndexesOfEachKindAreCreatedWithTheirTable) {
  ShownStatuses statuses(std::chrono::hours(1));
  v1::TableDescription table;
  table.set_table_name("Things");
  table.set_table_status(v1::TABLE_STATUS_ACTIVE);
  table.add_global_secondary_indexes()->set_index_status(v1::TABLE_STATUS_ACTIVE);
  table.add_vector_indexes()->set_index_status(v1::TABLE_STATUS_ACTIVE);
  statuses.Created("Things");
  statuses.Show(&table);
  EXPECT_EQ(table.global_secondary_indexes(0).index_status(), v1::TABLE_STATUS_CREATING);
  EXPECT_EQ(table.vector_indexes(0).index_status(), v1::TABLE_STATUS_CREATING);
}

TEST(ShownStatuses, EndWithTheirTime) {
  JsonFixture json(std::chrono::milliseconds(1));
  json.Succeed("CreateTable", kCreateThings);
  // As a program waits; a status that stays would never end this.
  while (!Has(json.Succeed("DescribeTable", kShownTable), R"("TableStatus":"ACTIVE")")) {
  }
  json.Succeed("UpdateTable", kProtect);
  while (!Has(json.Succeed("DescribeTable", kShownTable), R"("TableStatus":"ACTIVE")")) {
  }
  json.Succeed("UpdateContributorInsights", R"({"TableName":"Things","ContributorInsightsAction":"ENABLE"})");
  while (!Has(json.Succeed("DescribeContributorInsights", kShownTable), R"("ENABLED")")) {
  }
}

TEST(ShownStatuses, AreAsTheyAreWithoutADelay) {
  JsonFixture json;
  EXPECT_TRUE(Has(json.Succeed("CreateTable", kCreateThings), R"("TableStatus":"ACTIVE")"));
  EXPECT_TRUE(Has(json.Succeed("UpdateTable", kProtect), R"("TableStatus":"ACTIVE")"));
}

TEST(ShownStatuses, AnUpdateIsShownAfterTheCreation) {
  ShownStatuses statuses(std::chrono::hours(1));
  v1::TableDescription table;
  table.set_table_name("Things");
  table.set_table_status(v1::TABLE_STATUS_ACTIVE);
  statuses.Updated("Things");
  statuses.Show(&table);
  EXPECT_EQ(table.table_status(), v1::TABLE_STATUS_UPDATING);
  table.set_table_status(v1::TABLE_STATUS_ACTIVE);
  statuses.Created("Things");
  statuses.Show(&table);
  EXPECT_EQ(table.table_status(), v1::TABLE_STATUS_CREATING);
  table.set_table_name("Others");
  table.set_table_status(v1::TABLE_STATUS_ACTIVE);
  statuses.Show(&table);
  EXPECT_EQ(table.table_status(), v1::TABLE_STATUS_ACTIVE);
}

}  // namespace
}  // namespace itemdb::testing
