// UpdateContributorInsights, DescribeContributorInsights, ListContributorInsights (OP-56 to OP-58).

#include <regex>

#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

class JsonContributorInsights : public ::testing::Test {
 protected:
  JsonContributorInsights() {
    for (const char* name : {"Things", "Zebras"}) {
      json_.Succeed("CreateTable",
                    std::string(R"({"TableName":")") + name + R"(","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
        "GlobalSecondaryIndexes":[{"IndexName":"Same","KeySchema":[{"AttributeName":"sk","KeyType":"HASH"}],
          "Projection":{"ProjectionType":"ALL"}}]})");
    }
  }

  std::string Describe(const std::string& body) {
    const std::string text = json_.Succeed("DescribeContributorInsights", body);
    return std::regex_replace(std::regex_replace(text, std::regex("-[0-9]{13}\""), "-MS\""),
                              std::regex(R"(DateTime":[0-9.]+)"), "DateTime\":TIME");
  }

  JsonFixture json_;
};

TEST_F(JsonContributorInsights, AreTurnedOnAndOff) {
  EXPECT_EQ(json_.Succeed("UpdateContributorInsights",
                          R"({"TableName":"Things","ContributorInsightsAction":"ENABLE"})"),
            R"({"TableName":"Things","ContributorInsightsStatus":"ENABLING",)"
            R"("ContributorInsightsMode":"ACCESSED_AND_THROTTLED_KEYS"})");
  EXPECT_EQ(Describe(R"({"TableName":"Things"})"),
            R"({"TableName":"Things","ContributorInsightsRuleList":[)"
            R"("DynamoDBContributorInsights-PKC-Things-MS","DynamoDBContributorInsights-SKC-Things-MS",)"
            R"("DynamoDBContributorInsights-PKT-Things-MS","DynamoDBContributorInsights-SKT-Things-MS"],)"
            R"("ContributorInsightsStatus":"ENABLED","LastUpdateDateTime":TIME,)"
            R"("ContributorInsightsMode":"ACCESSED_AND_THROTTLED_KEYS"})");
  EXPECT_EQ(
      json_.Succeed("UpdateContributorInsights",
                    R"({"TableName":"arn:aws:dynamodb:local:000000000000:table/Things","IndexName":"Same",
                              "ContributorInsightsAction":"ENABLE","ContributorInsightsMode":"THROTTLED_KEYS"})"),
      R"({"TableName":"Things","IndexName":"Same","ContributorInsightsStatus":"ENABLING",)"
      R"("ContributorInsightsMode":"THROTTLED_KEYS"})");
  EXPECT_EQ(Describe(R"({"TableName":"Things","IndexName":"Same"})"),
            R"({"TableName":"Things","IndexName":"Same","ContributorInsightsRuleList":[)"
            R"("DynamoDBContributorInsights-PKT-Same-MS"],)"
            R"("ContributorInsightsStatus":"ENABLED","LastUpdateDateTime":TIME,)"
            R"("ContributorInsightsMode":"THROTTLED_KEYS"})");
  EXPECT_EQ(json_.Succeed("UpdateContributorInsights",
                          R"({"TableName":"Things","ContributorInsightsAction":"DISABLE"})"),
            R"({"TableName":"Things","ContributorInsightsStatus":"DISABLING"})");
  EXPECT_EQ(Describe(R"({"TableName":"Things"})"),
            R"({"TableName":"Things","ContributorInsightsStatus":"DISABLED","LastUpdateDateTime":TIME})");
}

TEST_F(JsonContributorInsights, AreListedByPages) {
  for (const char* body :
       {R"({"TableName":"Zebras","ContributorInsightsAction":"ENABLE"})",
        R"({"TableName":"Things","IndexName":"Same","ContributorInsightsAction":"ENABLE"})",
        R"({"TableName":"Things","ContributorInsightsAction":"ENABLE"})"})
    json_.Succeed("UpdateContributorInsights", body);
  const std::string of_things =
      R"({"TableName":"Things","ContributorInsightsStatus":"ENABLED","ContributorInsightsMode":"ACCESSED_AND_THROTTLED_KEYS"},)"
      R"({"TableName":"Things","IndexName":"Same","ContributorInsightsStatus":"ENABLED","ContributorInsightsMode":"ACCESSED_AND_THROTTLED_KEYS"})";
  const std::string of_zebras =
      R"({"TableName":"Zebras","ContributorInsightsStatus":"ENABLED","ContributorInsightsMode":"ACCESSED_AND_THROTTLED_KEYS"})";
  EXPECT_EQ(json_.Succeed("ListContributorInsights", R"({"TableName":"Things"})"),
            R"({"ContributorInsightsSummaries":[)" + of_things + "]}");
  const std::string first = json_.Succeed("ListContributorInsights", R"({"MaxResults":2})");
  const std::string begin = R"({"ContributorInsightsSummaries":[)" + of_things + R"(],"NextToken":)";
  ASSERT_EQ(first.substr(0, begin.size()), begin);
  const std::string token = first.substr(begin.size(), first.size() - begin.size() - 1);
  EXPECT_EQ(json_.Succeed("ListContributorInsights", R"({"NextToken":)" + token + "}"),
            R"({"ContributorInsightsSummaries":[)" + of_zebras + "]}");
}

TEST_F(JsonContributorInsights, BadRequestsAreRefused) {
  EXPECT_EQ(json_.Fail("UpdateContributorInsights", R"({"TableName":"Things"})"),
            ValidationBody(
                "1 validation error detected: Value null at 'contributorInsightsAction' failed to satisfy "
                "constraint: Member must not be null"));
  EXPECT_EQ(
      json_.Fail(
          "UpdateContributorInsights",
          R"({"TableName":"Things","ContributorInsightsAction":"ENABLE","ContributorInsightsMode":"ALL"})"),
      ValidationBody(
          "1 validation error detected: Value 'ALL' at 'contributorInsightsMode' failed to satisfy "
          "constraint: Member must satisfy enum value set: [ACCESSED_AND_THROTTLED_KEYS, "
          "THROTTLED_KEYS]"));
  for (const char* body :
       {R"({"TableName":"Nothing","ContributorInsightsAction":"ENABLE"})",
        R"({"TableName":"Things","IndexName":"Other","ContributorInsightsAction":"ENABLE"})"}) {
    EXPECT_NE(json_.Fail("UpdateContributorInsights", body).find("#ResourceNotFoundException"),
              std::string::npos)
        << body;
  }
}

}  // namespace
}  // namespace itemdb::testing
