// Exports of tables over the JSON protocol: the members and texts of the service.
#include <gmock/gmock.h>

#include <filesystem>
#include <regex>

#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr char kExportedArn[] = "arn:aws:dynamodb:local:000000000000:table/Things";

std::string ExportError(const std::string& exception, const std::string& message) {
  return R"({"__type":"com.amazonaws.dynamodb.v20120810#)" + exception + R"(","message":")" + message + "\"}";
}

class JsonExports : public ::testing::Test {
 protected:
  JsonExports() {
    std::filesystem::create_directories(json_.data_directory() + "/exports/bucket");
    json_.Succeed("CreateTable", R"({"TableName":"Things","BillingMode":"PAY_PER_REQUEST",
      "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
      "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]})");
    json_.Succeed("PutItem", R"({"TableName":"Things","Item":{"pk":{"S":"p"}}})");
  }
  void TurnRecoveryOn() {
    json_.Succeed("UpdateContinuousBackups", R"({"TableName":"Things","PointInTimeRecoverySpecification":{
      "PointInTimeRecoveryEnabled":true}})");
  }
  static std::string Request(const std::string& more = "") {
    return R"({"TableArn":")" + std::string(kExportedArn) + R"(","S3Bucket":"bucket")" + more + "}";
  }
  static std::string MemberIn(const std::string& body, const std::string& name) {
    std::smatch match;
    std::regex_search(body, match, std::regex("\"" + name + "\":\"?([^\",}]*)"));
    return match.empty() ? "" : match[1].str();
  }
  std::string Await(const std::string& arn) {
    std::string body;
    do {
      body = json_.Succeed("DescribeExport", R"({"ExportArn":")" + arn + "\"}");
    } while (body.find("IN_PROGRESS") != std::string::npos);
    return body;
  }

  JsonFixture json_;
};

// OP-41, OP-42, OP-43: XPT-08, XPT-09, XPT-14.
TEST_F(JsonExports, AreMadeDescribedAndListed) {
  TurnRecoveryOn();
  const std::string begun = json_.Succeed("ExportTableToPointInTime", Request());
  const std::string beginning =
      R"(\{"ExportDescription":\{"ExportArn":"arn:aws:dynamodb:local:000000000000:table/Things/export/)"
      R"([0-9]{14}-[0-9a-f]{8}","ExportStatus":)";
  const std::string where =
      R"("TableArn":"arn:aws:dynamodb:local:000000000000:table/Things","TableId":"[-0-9a-f]{36}",)"
      R"("ExportTime":[0-9.]+,"ClientToken":"[-0-9a-f]{36}","DestinationType":"S3","S3Bucket":"bucket",)";
  EXPECT_THAT(begun, MatchesRegex(beginning + R"("IN_PROGRESS","StartTime":[0-9]+\.[0-9]{3},)" + where +
                                  R"("S3SseAlgorithm":"AES256","ExportFormat":"DYNAMODB_JSON"\}\})"));
  EXPECT_EQ(MemberIn(begun, "ExportTime"), MemberIn(begun, "StartTime"));
  const std::string made = Await(MemberIn(begun, "ExportArn"));
  EXPECT_THAT(made,
              MatchesRegex(beginning +
                           R"("COMPLETED","StartTime":[0-9.]+,"EndTime":[0-9.]+,"ExportManifest":)"
                           R"("AWSDynamoDB/[-0-9a-f]{23}/manifest-summary\.json",)" +
                           where +
                           R"("S3SseAlgorithm":"AES256","ExportFormat":"DYNAMODB_JSON","BilledSizeBytes":3,)"
                           R"("ItemCount":1\}\})"));
  const std::string second = json_.Succeed(
      "ExportTableToPointInTime",
      R"({"TableArn":")" + std::string(kExportedArn) +
          R"(","S3Bucket":"missing","S3Prefix":"some/where","ExportFormat":"ION","ExportType":"FULL_EXPORT",
          "S3BucketOwner":"123456789012","S3SseAlgorithm":"KMS","S3SseKmsKeyId":"key","ClientToken":"token"})");
  EXPECT_THAT(second,
              HasSubstr(R"("ClientToken":"token","DestinationType":"S3","S3Bucket":"missing",)"
                        R"("S3BucketOwner":"123456789012","S3Prefix":"some/where","S3SseAlgorithm":"KMS",)"
                        R"("S3SseKmsKeyId":"key","ExportFormat":"ION","ExportType":"FULL_EXPORT"}})"));
  const std::string failed = Await(MemberIn(second, "ExportArn"));
  EXPECT_THAT(failed, HasSubstr(R"("ExportStatus":"FAILED")"));
  EXPECT_THAT(failed, HasSubstr(R"("FailureCode":"S3NoSuchBucket","FailureMessage":"The specified bucket )"));
  EXPECT_THAT(failed, Not(HasSubstr("ItemCount")));

  const std::string page = json_.Succeed("ListExports", R"({"MaxResults":1})");
  EXPECT_THAT(page, HasSubstr(R"({"ExportSummaries":[{"ExportArn":")" + MemberIn(begun, "ExportArn") +
                              R"(","ExportStatus":"COMPLETED","ExportType":"FULL_EXPORT"}],"NextToken":")"));
  const std::string rest =
      json_.Succeed("ListExports", R"({"NextToken":")" + MemberIn(page, "NextToken") + "\"}");
  EXPECT_THAT(rest, HasSubstr(MemberIn(second, "ExportArn")));
  EXPECT_THAT(rest, Not(HasSubstr("NextToken")));
}

// XPT-08, XPT-16.
TEST_F(JsonExports, AFilterSelectsItemsAndAttributes) {
  TurnRecoveryOn();
  json_.Succeed("PutItem", R"({"TableName":"Things","Item":{"pk":{"S":"q"},"a":{"N":"1"},"b":{"N":"2"}}})");
  const std::string filter =
      R"("FilterSpecification":{"KeyConditionExpression":"pk = :p","FilterExpression":"#a = :a",)"
      R"("ProjectionExpression":"pk,b","ExpressionAttributeNames":{"#a":"a"},)"
      R"("ExpressionAttributeValues":{":a":{"N":"1"},":p":{"S":"q"}}})";
  const std::string begun = json_.Succeed("ExportTableToPointInTime", Request("," + filter));
  EXPECT_THAT(begun, HasSubstr(filter));
  EXPECT_THAT(Await(MemberIn(begun, "ExportArn")), HasSubstr(R"("ItemCount":1)"));
  const auto fail = [&](const std::string& specification) {
    return json_.Fail("ExportTableToPointInTime",
                      Request(R"(,"FilterSpecification":{)" + specification + "}"));
  };
  EXPECT_EQ(fail(""),
            ValidationBody("Invalid Request: Invalid FilterSpecification: The specification can not be "
                           "empty"));
  EXPECT_THAT(fail(R"("FilterExpression":"a = :a")"), HasSubstr("FilterExpression"));
  EXPECT_THAT(fail(R"("FilterExpression":"a = :a","ExpressionAttributeValues":{":a":{"S":1}})"),
              HasSubstr("SerializationException"));
  EXPECT_THAT(fail(R"("KeyConditionExpression":"a = :a","ExpressionAttributeValues":{":a":{"S":"q"}})"),
              HasSubstr("ValidationException"));
  EXPECT_THAT(fail(R"("KeyConditionExpression":"pk = :a","FilterExpression":"pk = :a",)"
                   R"("ExpressionAttributeValues":{":a":{"S":"q"}})"),
              HasSubstr("Filter Expression can only contain non-primary key attributes"));
}

// XPT-04, XPT-08.
TEST_F(JsonExports, AnIncrementalExportNeedsATime) {
  TurnRecoveryOn();
  const auto fail = [&](const std::string& changes) {
    return json_.Fail(
        "ExportTableToPointInTime",
        Request(R"(,"ExportType":"INCREMENTAL_EXPORT","IncrementalExportSpecification":{)" + changes + "}"));
  };
  EXPECT_THAT(
      fail(R"("ExportFromTime":1)"),
      HasSubstr(R"(InvalidExportTimeException","message":"Incremental export period from time cannot be )"
                R"(less than the table creation time : 20)"));
  EXPECT_THAT(fail(R"("ExportFromTime":4102444800,"ExportToTime":4102448400)"),
              HasSubstr("Incremental export period to time cannot be greater than the current time : 20"));
  EXPECT_EQ(
      fail(R"("ExportFromTime":4102444800)"),
      ExportError("InvalidExportTimeException",
                  "Difference between export period from time and export period to time is less than 15 "
                  "minutes"));
}

// XPT-01..03, XPT-05, XPT-06, XPT-11, XPT-13.
TEST_F(JsonExports, RefusalsHaveTheTextsOfTheService) {
  const auto fail = [&](const std::string& more) {
    return json_.Fail("ExportTableToPointInTime", Request(more));
  };
  EXPECT_EQ(fail(""), ExportError("PointInTimeRecoveryUnavailableException",
                                  "Point in time recovery is not enabled for table 'Things'"));
  TurnRecoveryOn();
  EXPECT_EQ(fail(R"(,"ExportTime":1)"), ExportError("InvalidExportTimeException", "Export Time is invalid"));
  EXPECT_EQ(fail(R"(,"S3SseKmsKeyId":"key")"),
            ValidationBody("Invalid Request: KMS Key Id is not supported for this encryption type"));
  EXPECT_EQ(
      fail(R"(,"ExportType":"INCREMENTAL_EXPORT")"),
      ValidationBody("Invalid Request: Incremental Export Specification expected when export type is set as "
                     "Incremental Export"));
  EXPECT_EQ(
      fail(R"(,"IncrementalExportSpecification":{})"),
      ValidationBody("Invalid Request: Export Type expected to be Incremental Export when incremental export "
                     "specification is provided"));
  EXPECT_EQ(
      fail(R"(,"ExportType":"FULL_EXPORT","IncrementalExportSpecification":{})"),
      ValidationBody("Invalid Request: When Export Type is Full Export , Incremental Export Specification "
                     "should not be provided"));
  EXPECT_EQ(
      fail(R"(,"ExportType":"INCREMENTAL_EXPORT","IncrementalExportSpecification":{})"),
      ValidationBody("Invalid Request: ExportFromTime must be provided in IncrementalExportSpecification"));
  EXPECT_THAT(fail(R"(,"ExportFormat":"CSV")"), HasSubstr("Member must satisfy enum value set"));
  EXPECT_THAT(fail(R"(,"IncrementalExportSpecification":{"ExportViewType":"NEW_IMAGES"})"),
              HasSubstr("Member must satisfy enum value set: [NEW_IMAGE, NEW_AND_OLD_IMAGES]"));
  EXPECT_THAT(json_.Fail("ExportTableToPointInTime", R"({"TableArn":"Things"})"),
              HasSubstr("Value null at 's3Bucket'"));
  EXPECT_EQ(json_.Fail("ExportTableToPointInTime", R"({"TableArn":"Things","S3Bucket":"bucket"})"),
            ValidationBody("One or more parameter values were invalid: tableArn is not a valid ARN"));
  json_.Succeed("ExportTableToPointInTime", Request(R"(,"ClientToken":"token")"));
  EXPECT_EQ(fail(R"(,"ClientToken":"token","S3Prefix":"other")"),
            ExportError("ExportConflictException",
                        "Export conflict: Duplicate request detected with conflicting parameters"));
  const std::string missing = std::string(kExportedArn) + "/export/01700000000000-0123abcd";
  EXPECT_EQ(json_.Fail("DescribeExport", R"({"ExportArn":")" + missing + "\"}"),
            ExportError("ExportNotFoundException", "Export not found: Export not found: " + missing));
}

}  // namespace
}  // namespace itemdb::testing
