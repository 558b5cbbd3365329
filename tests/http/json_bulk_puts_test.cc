// Bulk puts over the JSON protocol: the members of the service.
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

constexpr char kTableOfBulkPuts[] = R"({"TableName":"Things","BillingMode":"PAY_PER_REQUEST",
  "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
  "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]})";

class JsonBulkPuts : public ::testing::Test {
 protected:
  JsonBulkPuts() {
    const std::string bucket = json_.data_directory() + "/exports/bucket";
    std::filesystem::create_directories(bucket + "/in");
    std::ofstream(bucket + "/in/data.json")
        << R"x({"Item":{"pk":{"S":"a"}}})x"
        << "\n"
        << R"x({"Item":{"pk":{"S":"a"}},"ConditionExpression":"attribute_not_exists(pk)"})x"
        << "\n"
        << R"x({"Item":{"pk":{"N":"1"}}})x"
        << "\n";
    json_.Succeed("CreateTable", kTableOfBulkPuts);
  }
  static std::string Body(const std::string& more = "", const std::string& input = R"("S3Bucket":"bucket",)"
                                                                                   R"("S3KeyPrefix":"in/")") {
    return R"({"TableName":"Things","InputS3Configuration":{)" + input +
           R"(,"InputFormat":"DYNAMODB_JSON"},)"
           R"("OutputS3Configuration":{"OutputType":["ERROR","CONDITION_CHECK_FAILURE"]})" +
           more + "}";
  }
  static std::string ArnIn(const std::string& body) {
    std::smatch match;
    std::regex_search(body, match, std::regex("\"BulkOperationArn\":\"([^\"]*)\""));
    return match.empty() ? "" : match[1].str();
  }
  std::string AwaitEnd(const std::string& arn) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    std::string body;
    do {
      body = json_.Succeed("DescribeBulkOperation", R"({"BulkOperationArn":")" + arn + "\"}");
    } while (body.find("IN_PROGRESS") != std::string::npos && std::chrono::steady_clock::now() < until);
    return body;
  }
  static std::string Error(const std::string& exception, const std::string& message) {
    return R"({"__type":"com.amazonaws.dynamodb.v20120810#)" + exception + R"(","message":")" + message +
           "\"}";
  }

  JsonFixture json_;
};

// BLK-01, BLK-02, BLK-03, BLK-09.
TEST_F(JsonBulkPuts, AreStartedDescribedListedAndCancelled) {
  EXPECT_EQ(json_.Succeed("ListBulkOperations", "{}"), R"({"BulkOperationsSummaryList":[]})");
  const std::string started = json_.Succeed(
      "StartBulkPutItems",
      Body(R"(,"ClientToken":"token","MaxWriteRequestUnits":2000,"PerformanceTier":"ACCELERATED")"));
  const auto summary = [](const std::string& status) {
    return R"("BulkOperationArn":"arn:aws:dynamodb:local:000000000000:table/Things/bulk-operation/)"
           R"([0-9]{14}-[0-9a-f]{8}","BulkOperationStatus":")" +
           status + R"(","StartTime":[0-9.]+)";
  };
  const std::string configuration =
      R"(,"ClientToken":"token","TableDetails":\[\{)"
      R"("TableName":"arn:aws:dynamodb:local:000000000000:table/Things","TableId":"[0-9a-f-]+"\}\],)"
      R"("InputS3Configuration":\{"S3Bucket":"bucket","S3BucketOwner":"000000000000","S3KeyPrefix":"in/",)"
      R"("InputFormat":"DYNAMODB_JSON","InputCompressionType":"NONE"\},)"
      R"("OutputS3Configuration":\{"OutputType":\["ERROR","CONDITION_CHECK_FAILURE"\],"S3Bucket":"bucket",)"
      R"("S3BucketOwner":"000000000000"\},"MaxWriteRequestUnits":2000,"PerformanceTier":"ACCELERATED",)";
  EXPECT_THAT(started,
              MatchesRegex(R"(\{"BulkOperationDescription":\{)" + summary("IN_PROGRESS") + configuration +
                           R"("ProcessedInputBytes":0,"ProcessedItemCount":0,"FailedItemCount":0\}\})"));
  const std::string arn = ArnIn(started);
  const std::string ended = AwaitEnd(arn);
  EXPECT_THAT(ended, MatchesRegex(R"(\{"BulkOperationDescription":\{)" + summary("COMPLETED_WITH_ERRORS") +
                                  R"(,"EndTime":[0-9.]+)" + configuration +
                                  R"("TotalInputBytes":[0-9]+,"ProcessedInputBytes":[0-9]+,)"
                                  R"("ProcessedItemCount":3,"FailedItemCount":1\}\})"));
  EXPECT_THAT(json_.Succeed("GetItem", R"({"TableName":"Things","Key":{"pk":{"S":"a"}}})"),
              HasSubstr(R"("pk":{"S":"a"})"));
  EXPECT_THAT(json_.Succeed("ListBulkOperations", R"({"MaxResults":1})"),
              MatchesRegex(R"(\{"BulkOperationsSummaryList":\[\{)" + summary("COMPLETED_WITH_ERRORS") +
                           R"(,"EndTime":[0-9.]+\}\]\})"));
  EXPECT_EQ(json_.Succeed("CancelBulkOperation", R"({"BulkOperationArn":")" + arn + "\"}"),
            R"({"BulkOperationArn":")" + arn + R"(","BulkOperationStatus":"COMPLETED_WITH_ERRORS"})");
  // A second page.
  json_.Succeed("StartBulkPutItems", Body());
  const std::string page = json_.Succeed("ListBulkOperations", R"({"MaxResults":1})");
  std::smatch token;
  ASSERT_TRUE(std::regex_search(page, token, std::regex("\"NextToken\":\"(([0-9a-f]{16})+)\""))) << page;
  EXPECT_THAT(json_.Succeed("ListBulkOperations", R"({"NextToken":")" + token[1].str() + "\"}"),
              HasSubstr(arn));
}

TEST_F(JsonBulkPuts, RefusalsAreTheExceptionsOfTheService) {
  json_.Succeed("StartBulkPutItems", Body(R"(,"ClientToken":"token")"));
  EXPECT_EQ(
      json_.Fail("StartBulkPutItems", Body(R"(,"ClientToken":"token","PerformanceTier":"ACCELERATED")")),
      Error("IdempotentParameterMismatchException",
            "The client token token was used for a bulk put with other parameters"));
  EXPECT_THAT(json_.Fail("StartBulkPutItems", R"({"TableName":"Others","InputS3Configuration":{)"
                                              R"("S3Bucket":"bucket","InputFormat":"ION"},)"
                                              R"("OutputS3Configuration":{"OutputType":["ERROR"]}})"),
              HasSubstr("ResourceNotFoundException"));
  for (const char* more : {R"(,"MaxWriteRequestUnits":1023)", R"(,"PerformanceTier":"FAST")"})
    EXPECT_THAT(json_.Fail("StartBulkPutItems", Body(more)), HasSubstr("ValidationException")) << more;
  EXPECT_THAT(json_.Fail("StartBulkPutItems", Body("", R"("S3Bucket":"..")")),
              HasSubstr("ValidationException"));
  EXPECT_THAT(json_.Fail("StartBulkPutItems", R"({"TableName":"Things"})"), HasSubstr("ValidationException"));
  const std::string arn =
      "arn:aws:dynamodb:local:000000000000:table/Things/bulk-operation/01700000000000-0123abcd";
  for (const char* operation : {"DescribeBulkOperation", "CancelBulkOperation"}) {
    EXPECT_EQ(json_.Fail(operation, R"({"BulkOperationArn":")" + arn + "\"}"),
              Error("ResourceNotFoundException", "Requested resource not found: Bulk operation: " + arn));
  }
  EXPECT_THAT(json_.Fail("ListBulkOperations", R"({"MaxResults":26})"), HasSubstr("ValidationException"));
  EXPECT_THAT(json_.Fail("ListBulkOperations", R"({"NextToken":"0123456789abcdef"})"),
              HasSubstr("Provided NextToken is invalid"));
  // A failed operation says why.
  const std::string failed =
      AwaitEnd(ArnIn(json_.Succeed("StartBulkPutItems", Body("", R"("S3Bucket":"missing")"))));
  EXPECT_THAT(failed, HasSubstr(R"("BulkOperationStatus":"FAILED")"));
  EXPECT_THAT(failed, HasSubstr(R"("FailureCode":"S3NoSuchBucket","FailureMessage":")"));
  EXPECT_THAT(failed, Not(HasSubstr("TotalInputBytes")));
}

}  // namespace
}  // namespace itemdb::testing
