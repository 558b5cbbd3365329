// The statuses that `--status-delay` keeps.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "daemon/http/api/shown_statuses.h"
#include "tests/http/json_fixture.h"
#include "tests/support/await.h"

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

// VEC-05, SEM-097
TEST(ShownStatuses, AnIndexThatIsAddedGetsItsRoomFirst) {
  const auto phase_of = [](const std::string& reply) {
    std::string phase;
    for (const char* status : {"CREATING", "UPDATING", "ACTIVE"})
      if (Has(reply, std::string(R"("TableStatus":")") + status + '"')) phase += status;
    for (const char* status : {"CREATING", "ACTIVE"})
      if (Has(reply, std::string(R"("IndexStatus":")") + status + '"')) phase += std::string(", ") + status;
    for (const char* value : {"false", "true"})
      if (Has(reply, std::string(R"("Backfilling":)") + value)) phase += std::string(", ") + value;
    return phase;
  };
  for (const bool is_vector : {false, true}) {
    SCOPED_TRACE(is_vector);
    const std::string add =
        is_vector
            ? R"({"TableName":"Plain","VectorIndexUpdates":[{"Create":{"IndexName":"Added",)"
              R"("VectorAttribute":{"AttributeName":"v"},"Dimensions":2,"DistanceFunction":"COSINE",)"
              R"("Projection":{"ProjectionType":"ALL"}}}]})"
            : R"({"TableName":"Plain","AttributeDefinitions":[{"AttributeName":"g","AttributeType":"S"}],)"
              R"("GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"Added","KeySchema":)"
              R"([{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]})";
    constexpr char kCreate[] =
        R"({"TableName":"Plain","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":)"
        R"("PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}]})";
    constexpr char kPlain[] = R"({"TableName":"Plain"})";
    const std::vector<std::string> expected = {"UPDATING, CREATING, false", "ACTIVE, CREATING, true",
                                               "ACTIVE, ACTIVE"};
    // A machine that pauses may miss a phase.
    std::vector<std::string> phases;
    for (int attempt = 0; attempt < 5 && phases != expected; ++attempt) {
      JsonFixture json(std::chrono::milliseconds(300));
      json.Succeed("CreateTable", kCreate);
      ASSERT_TRUE(Await([&] { return phase_of(json.Succeed("DescribeTable", kPlain)) == "ACTIVE"; }));
      phases = {phase_of(json.Succeed("UpdateTable", add))};
      ASSERT_TRUE(Await([&] {
        std::string phase = phase_of(json.Succeed("DescribeTable", kPlain));
        if (phase != phases.back()) phases.push_back(std::move(phase));
        return phases.back() == "ACTIVE, ACTIVE" || phases.size() >= 10;
      }));
      ASSERT_LT(phases.size(), 10U);
    }
    EXPECT_EQ(phases, expected);
  }
}

TEST(ShownStatuses, AnIndexThatIsCreatedWithItsTableNeverShowsBackfilling) {  // VEC-05
  constexpr char kCreateIndexed[] =
      R"({"TableName":"Indexed","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":)"
      R"("PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],)"
      R"("GlobalSecondaryIndexes":[{"IndexName":"Added","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],)"
      R"("Projection":{"ProjectionType":"ALL"}}],"VectorIndexes":[{"IndexName":"Vectors","VectorAttribute":)"
      R"({"AttributeName":"v"},"Dimensions":2,"DistanceFunction":"COSINE","Projection":)"
      R"({"ProjectionType":"ALL"}}]})";
  JsonFixture json(std::chrono::hours(1));
  const std::string created = json.Succeed("CreateTable", kCreateIndexed);
  EXPECT_TRUE(Has(created, R"("IndexStatus":"CREATING")")) << created;
  EXPECT_FALSE(Has(created, R"("IndexStatus":"ACTIVE")")) << created;
  EXPECT_FALSE(Has(created, "Backfilling")) << created;
}

TEST(ShownStatuses, AnIndexThatIsReallyBackfilledIsShownSoAndTheTableIsActive) {
  ShownStatuses statuses(std::chrono::milliseconds(1));
  v1::TableDescription table;
  table.set_table_name("Things");
  table.set_table_status(v1::TABLE_STATUS_UPDATING);
  auto* index = table.add_global_secondary_indexes();
  index->set_index_name("I");
  index->set_index_status(v1::TABLE_STATUS_CREATING);
  index->set_backfilling(true);
  statuses.Updated(table);
  v1::TableDescription shown;
  do {
    shown = table;
    statuses.Show(&shown);
  } while (shown.table_status() != v1::TABLE_STATUS_ACTIVE);
  EXPECT_EQ(shown.global_secondary_indexes(0).index_status(), v1::TABLE_STATUS_CREATING);
  EXPECT_TRUE(shown.global_secondary_indexes(0).backfilling());
  // It is deleted, which another update shows.
  index->set_index_status(v1::TABLE_STATUS_DELETING);
  index->clear_backfilling();
  statuses.Updated(table);
  shown = table;
  statuses.Show(&shown);
  EXPECT_EQ(shown.table_status(), v1::TABLE_STATUS_UPDATING);
  EXPECT_EQ(shown.global_secondary_indexes(0).index_status(), v1::TABLE_STATUS_DELETING);
  // Without a delay everything is shown as it is.
  ShownStatuses none(std::chrono::milliseconds(0));
  shown = table;
  none.Show(&shown);
  EXPECT_EQ(shown.SerializeAsString(), table.SerializeAsString());
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
  statuses.Updated(table);
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
