// Features that itemdb does not have. Programs that manage tables ask about them for every table, and know
// the service's answer for "off" and UnknownOperationException, but no other error.

#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

constexpr char kArn[] = R"("ResourceArn":"arn:aws:dynamodb:local:000000000000:table/Things")";

std::string ServiceError(const std::string& exception, const std::string& message) {
  return R"({"__type":"com.amazonaws.dynamodb.v20120810#)" + exception + R"(","message":")" + message + "\"}";
}

// OP-40, OP-43, OP-47, OP-54, OP-57, OP-58, OP-60, OP-61.
TEST(JsonResting, AFeatureThatIsNotOfferedIsOff) {
  JsonFixture json;
  json.Succeed("CreateTable", R"({"TableName":"Things","BillingMode":"PAY_PER_REQUEST",
      "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
      "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
      "GlobalSecondaryIndexes":[{"IndexName":"Same","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
        "Projection":{"ProjectionType":"ALL"}}]})");
  const std::string things = R"({"TableName":"Things"})";
  const struct {
    const char* operation;
    std::string body;
    std::string answer;
  } rows[] = {
      {"DescribeContributorInsights", things,
       R"({"TableName":"Things","ContributorInsightsStatus":"DISABLED"})"},
      {"DescribeContributorInsights", R"({"TableName":"Things","IndexName":"Same"})",
       R"({"TableName":"Things","IndexName":"Same","ContributorInsightsStatus":"DISABLED"})"},
      {"DescribeKinesisStreamingDestination", things,
       R"({"TableName":"Things","KinesisDataStreamDestinations":[]})"},
      {"ListContributorInsights", "{}", R"({"ContributorInsightsSummaries":[]})"},
      {"ListContributorInsights", things, R"({"ContributorInsightsSummaries":[]})"},
      {"ListGlobalTables", "{}", R"({"GlobalTables":[]})"},
      {"DeleteResourcePolicy", "{" + std::string(kArn) + "}", "{}"},
  };
  for (const auto& row : rows) EXPECT_EQ(json.Succeed(row.operation, row.body), row.answer) << row.body;
  EXPECT_EQ(json.Fail("GetResourcePolicy", "{" + std::string(kArn) + "}"),
            ServiceError("PolicyNotFoundException",
                         "Resource-based policy not found for the provided ResourceArn: "
                         "arn:aws:dynamodb:local:000000000000:table/Things"));
  EXPECT_EQ(json.Fail("DeleteResourcePolicy", "{" + std::string(kArn) + R"(,"ExpectedRevisionId":"1"})"),
            ServiceError("PolicyNotFoundException",
                         "Resource-based policy not found for the provided ResourceArn: "
                         "arn:aws:dynamodb:local:000000000000:table/Things"));
}

TEST(JsonResting, OfAMissingTableNothingIsKnown) {
  JsonFixture json;
  json.Succeed("CreateTable", kCreateThings);
  const std::string nothing = R"({"TableName":"Nothing"})";
  const std::string not_found =
      ServiceError("ResourceNotFoundException", "Requested resource not found: Table: Nothing not found");
  EXPECT_EQ(json.Fail("DescribeContributorInsights", nothing), not_found);
  EXPECT_EQ(json.Fail("ListContributorInsights", nothing), not_found);
  EXPECT_EQ(json.Fail("DescribeKinesisStreamingDestination", nothing), not_found);
  EXPECT_EQ(
      json.Fail("DescribeContributorInsights", R"({"TableName":"Things","IndexName":"Other"})"),
      ServiceError("ResourceNotFoundException", "Requested resource not found: Index: Other not found"));
  EXPECT_NE(
      json.Fail("GetResourcePolicy", R"({"ResourceArn":"arn:aws:dynamodb:local:000000000000:table/Nothing"})")
          .find("#ResourceNotFoundException"),
      std::string::npos);
}

// No reply has a token, so a token in a request is not valid.
TEST(JsonResting, ListsTakeNoToken) {
  JsonFixture json;
  const std::string invalid = ValidationBody("Invalid Request: Provided nextToken is invalid");
  EXPECT_EQ(json.Fail("ListContributorInsights", R"({"NextToken":"t"})"), invalid);
}

}  // namespace
}  // namespace itemdb::testing
