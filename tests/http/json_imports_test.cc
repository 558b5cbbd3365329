// Imports over the JSON protocol: the members and texts of the service.
#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr char kParameters[] = R"({"TableName":"Things",)"
                               R"("AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},)"
                               R"({"AttributeName":"n","AttributeType":"N"}],)"
                               R"("KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],)"
                               R"("BillingMode":"PROVISIONED",)"
                               R"("ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":6},)"
                               R"("SSESpecification":{"Enabled":true},)"
                               R"("GlobalSecondaryIndexes":[{"IndexName":"ByN",)"
                               R"("KeySchema":[{"AttributeName":"n","KeyType":"HASH"}],)"
                               R"("Projection":{"ProjectionType":"KEYS_ONLY"},)"
                               R"("ProvisionedThroughput":{"ReadCapacityUnits":7,"WriteCapacityUnits":8}}]})";

class JsonImports : public ::testing::Test {
 protected:
  JsonImports() {
    const std::string bucket = json_.data_directory() + "/exports/bucket";
    std::filesystem::create_directories(bucket);
    std::ofstream(bucket + "/data.csv") << "pk|n\na|1\nb|x\n";
  }
  static std::string Body(const std::string& more, const std::string& bucket = "bucket",
                          const std::string& parameters = kParameters) {
    return R"({"S3BucketSource":{"S3Bucket":")" + bucket + R"("},"TableCreationParameters":)" + parameters +
           more + "}";
  }
  static std::string ArnIn(const std::string& body) {
    std::smatch match;
    std::regex_search(body, match, std::regex("\"ImportArn\":\"([^\"]*)\""));
    return match.empty() ? "" : match[1].str();
  }
  std::string AwaitImport(const std::string& arn) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    std::string body;
    do {
      body = json_.Succeed("DescribeImport", R"({"ImportArn":")" + arn + "\"}");
    } while (body.find("IN_PROGRESS") != std::string::npos && std::chrono::steady_clock::now() < until);
    return body;
  }

  JsonFixture json_;
};

// OP-38, OP-39, OP-40: IMP-02, IMP-13, IMP-22.
TEST_F(JsonImports, AreStartedDescribedAndListed) {
  EXPECT_EQ(json_.Succeed("ListImports", "{}"), R"({"ImportSummaryList":[]})");
  const std::string options = R"("InputFormatOptions":{"Csv":{"Delimiter":"|"}})";
  const std::string started =
      json_.Succeed("ImportTable", Body(R"(,"InputFormat":"CSV",)" + options + R"(,"ClientToken":"token")"));
  const std::string summary =
      R"("ImportArn":"arn:aws:dynamodb:local:000000000000:table/Things/import/[0-9]{14}-[0-9a-f]{8}",)"
      R"("ImportStatus":"STATUS","TableArn":"arn:aws:dynamodb:local:000000000000:table/Things",)"
      R"("CloudWatchLogGroupArn":"arn:aws:logs:local:000000000000:log-group:/aws-dynamodb/imports:\*",)"
      R"("S3BucketSource":\{"S3BucketOwner":"000000000000","S3Bucket":"bucket"\},"InputFormat":"CSV",)"
      R"("StartTime":[0-9.]+)";
  const auto with = [&](const std::string& status) {
    return std::regex_replace(summary, std::regex("STATUS"), status);
  };
  EXPECT_THAT(started, MatchesRegex(R"(\{"ImportTableDescription":\{)" + with("IN_PROGRESS") + ".*"));
  EXPECT_THAT(started, HasSubstr(R"("TableCreationParameters":)" + std::string(kParameters)));
  EXPECT_THAT(started, HasSubstr(options + R"(,"InputCompressionType":"NONE")"));
  EXPECT_THAT(started, HasSubstr(R"("ClientToken":"token")"));
  EXPECT_THAT(started, Not(HasSubstr("FailureCode")));

  const std::string ended = AwaitImport(ArnIn(started));
  EXPECT_THAT(ended,
              MatchesRegex(R"(\{"ImportTableDescription":\{)" + with("FAILED") + R"(,"EndTime":[0-9.]+,.*)"));
  EXPECT_THAT(ended, HasSubstr(R"("ProcessedSizeBytes":13,"ProcessedItemCount":2,"ImportedItemCount":1,)"
                               R"("ErrorCount":1,"FailureCode":"ItemValidationError",)"
                               R"("FailureMessage":"Some of the items failed validation checks and were not )"
                               "imported. "));
  EXPECT_THAT(json_.Succeed("DescribeTable", R"({"TableName":"Things"})"),
              HasSubstr(R"("TableStatus":"ACTIVE")"));
  EXPECT_THAT(json_.Succeed("ListImports", R"({"PageSize":1})"),
              MatchesRegex(R"(\{"ImportSummaryList":\[\{)" + with("FAILED") + R"(,"EndTime":[0-9.]+\}\]\})"));
  EXPECT_EQ(json_.Succeed("ListImports", R"({"TableArn":"arn:aws:dynamodb:local:000000000000:table/Other"})"),
            R"({"ImportSummaryList":[]})");
}

TEST_F(JsonImports, RefusalsHaveTheTextsOfTheService) {
  const std::string service = "com.amazonaws.dynamodb.v20120810#";
  const auto error = [&](const std::string& exception, const std::string& message) {
    return R"({"__type":")" + service + exception + R"(","message":")" + message + "\"}";
  };
  // IMP-08.
  EXPECT_EQ(
      json_.Fail("ImportTable", Body(R"(,"InputFormat":"DYNAMODB_JSON","InputFormatOptions":{"Csv":{}})")),
      ValidationBody("Invalid Request: Unsupported InputFormatOptions for the given input format: "
                     "DYNAMODB_JSON."));
  EXPECT_EQ(json_.Fail("ImportTable", Body(R"(,"InputFormat":"ION")", "bucket",
                                           R"({"TableName":"Things","AttributeDefinitions":[
                                              {"AttributeName":"pk","AttributeType":"S"}],
                                              "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]})")),
            ValidationBody(
                "One or more parameter values were invalid: ReadCapacityUnits and WriteCapacityUnits must "
                "both be specified when BillingMode is PROVISIONED"));
  EXPECT_THAT(json_.Fail("ImportTable", Body(R"(,"InputFormat":"XML")")), HasSubstr("ValidationException"));
  // IMP-09.
  const std::string missing =
      AwaitImport(ArnIn(json_.Succeed("ImportTable", Body(R"(,"InputFormat":"ION")", "missing"))));
  EXPECT_THAT(missing, HasSubstr(R"("FailureCode":"S3NoSuchBucket")"));
  // IMP-06.
  AwaitImport(ArnIn(json_.Succeed("ImportTable", Body(R"(,"InputFormat":"CSV")"))));
  EXPECT_EQ(json_.Fail("ImportTable", Body(R"(,"InputFormat":"CSV")")),
            error("ResourceInUseException", "Table already exists: Things"));
  // IMP-21.
  const std::string arn = "arn:aws:dynamodb:local:000000000000:table/Things/import/01700000000000-0123abcd";
  EXPECT_EQ(json_.Fail("DescribeImport", R"({"ImportArn":")" + arn + "\"}"),
            error("ImportNotFoundException", "Import not found: " + arn));
  EXPECT_EQ(
      json_.Fail("DescribeImport", R"({"ImportArn":"arn:aws:dynamodb:local:000000000000:table/Things"})"),
      ValidationBody("Invalid Import ARN"));
  // IMP-22.
  EXPECT_EQ(json_.Fail("ListImports", R"({"NextToken":")" + std::string(112, 'a') + "\"}"),
            ValidationBody("Invalid Request: Provided nextToken is invalid"));
}

}  // namespace
}  // namespace itemdb::testing
