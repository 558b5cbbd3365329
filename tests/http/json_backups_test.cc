// Backups of tables and point-in-time recovery over the JSON protocol: the members and texts of the service.
#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr char kThingsArn[] = "arn:aws:dynamodb:local:000000000000:table/Things";

std::string BackupError(const std::string& exception, const std::string& message) {
  return R"({"__type":"com.amazonaws.dynamodb.v20120810#)" + exception + R"(","message":")" + message + "\"}";
}

class JsonBackups : public ::testing::Test {
 protected:
  JsonBackups() {
    json_.Succeed("CreateTable", R"({"TableName":"Things","BillingMode":"PROVISIONED",
      "ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":6},
      "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],
      "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
      "GlobalSecondaryIndexes":[{"IndexName":"Swapped","KeySchema":[{"AttributeName":"sk","KeyType":"HASH"}],
        "Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["text"]},
        "ProvisionedThroughput":{"ReadCapacityUnits":7,"WriteCapacityUnits":8}}],
      "LocalSecondaryIndexes":[{"IndexName":"Local","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},
        {"AttributeName":"sk","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],
      "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},
      "SSESpecification":{"Enabled":true}})");
    json_.Succeed("UpdateTimeToLive",
                  R"({"TableName":"Things","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"t"}})");
    json_.Succeed("PutItem", R"({"TableName":"Things","Item":{"pk":{"S":"p"},"sk":{"S":"1"}}})");
  }

  static std::string MemberIn(const std::string& body, const std::string& name) {
    std::smatch match;
    std::regex_search(body, match, std::regex("\"" + name + "\":\"?([^\",}]*)"));
    return match.empty() ? "" : match[1].str();
  }
  // Returns its ARN.
  std::string CreateBackup(const std::string& name = "backup", const std::string& table = "Things") {
    const std::string body =
        json_.Succeed("CreateBackup", R"({"TableName":")" + table + R"(","BackupName":")" + name + "\"}");
    return MemberIn(body, "BackupArn");
  }
  static std::string OfBackup(const std::string& arn) { return R"({"BackupArn":")" + arn + "\"}"; }
  // Waits until the table is not CREATING.
  std::string AwaitTable(const std::string& name) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    std::string body;
    do {
      body = json_.Ask("DescribeTable", R"({"TableName":")" + name + "\"}").body;
    } while (body.find(R"("TableStatus":"CREATING")") != std::string::npos &&
             std::chrono::steady_clock::now() < until);
    return body;
  }

  JsonFixture json_;
};

// OP-30, OP-31, OP-32: BAK-01, BAK-02, BAK-07, BAK-08, BAK-09, BAK-15.
TEST_F(JsonBackups, AreCreatedDescribedAndDeleted) {
  const std::string created =
      json_.Succeed("CreateBackup", R"({"TableName":"Things","BackupName":"my.backup"})");
  EXPECT_THAT(created, MatchesRegex(R"(\{"BackupDetails":\{"BackupArn":"arn:aws:dynamodb:local:000000000000:)"
                                    R"(table/Things/backup/[0-9]{14}-[0-9a-f]{8}","BackupName":"my\.backup",)"
                                    R"("BackupSizeBytes":6,"BackupStatus":"CREATING","BackupType":"USER",)"
                                    R"("BackupCreationDateTime":[0-9]+\.[0-9]{3}\}\})"));
  const std::string arn = MemberIn(created, "BackupArn");
  // BAK-03: the digits are the creation time.
  std::string time = MemberIn(created, "BackupCreationDateTime");
  time.erase(time.find('.'), 1);
  EXPECT_THAT(arn, HasSubstr("/backup/0" + time + "-"));

  const std::string described = json_.Succeed("DescribeBackup", OfBackup(arn));
  const std::string table = json_.Succeed("DescribeTable", R"({"TableName":"Things"})");
  const std::string rest =
      R"(,"SourceTableDetails":{"TableName":"Things","TableId":")" + MemberIn(table, "TableId") +
      R"(","TableArn":")" + kThingsArn +
      R"(","TableSizeBytes":6,"KeySchema":[)"
      R"({"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],)"
      R"("TableCreationDateTime":)" +
      MemberIn(table, "CreationDateTime") +
      R"(,"ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":6},"ItemCount":1,)"
      R"("BillingMode":"PROVISIONED"},"SourceTableFeatureDetails":{"LocalSecondaryIndexes":[)"
      R"({"IndexName":"Local","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},)"
      R"({"AttributeName":"sk","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],)"
      R"("GlobalSecondaryIndexes":[{"IndexName":"Swapped","KeySchema":[{"AttributeName":"sk","KeyType":"HASH"}],)"
      R"("Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["text"]},)"
      R"("ProvisionedThroughput":{"ReadCapacityUnits":7,"WriteCapacityUnits":8}}],)"
      R"("StreamDescription":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},)"
      R"("TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"t"},)"
      R"("SSEDescription":{"Status":"ENABLED","SSEType":"KMS"}}}})";
  std::string details = created.substr(0, created.size() - 1);
  details.replace(details.find("CREATING"), 8, "AVAILABLE");
  EXPECT_EQ(described, R"({"BackupDescription":)" + details + rest);

  details.replace(details.find("AVAILABLE"), 9, "DELETED");
  EXPECT_EQ(json_.Succeed("DeleteBackup", OfBackup(arn)), R"({"BackupDescription":)" + details + rest);
  const std::string gone = BackupError("BackupNotFoundException", "Backup not found: " + arn);
  EXPECT_EQ(json_.Fail("DescribeBackup", OfBackup(arn)), gone);
  EXPECT_EQ(json_.Fail("DeleteBackup", OfBackup(arn)), gone);
  EXPECT_EQ(json_.Fail("RestoreTableFromBackup", R"({"TargetTableName":"Copy","BackupArn":")" + arn + "\"}"),
            gone);
}

// OP-33.
TEST_F(JsonBackups, AreListed) {
  EXPECT_EQ(json_.Succeed("ListBackups", "{}"), R"({"BackupSummaries":[]})");
  const std::string first = CreateBackup("first");
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const std::string second = CreateBackup("second");
  const std::string page = json_.Succeed("ListBackups", R"({"TableName":"Things","Limit":1})");
  EXPECT_THAT(page, MatchesRegex(R"(\{"BackupSummaries":\[\{"TableName":"Things","TableId":"[0-9a-f-]{36}",)"
                                 R"("TableArn":"arn:aws:dynamodb:local:000000000000:table/Things",)"
                                 R"("BackupArn":".*","BackupName":"first","BackupSizeBytes":6,)"
                                 R"("BackupStatus":"AVAILABLE","BackupType":"USER",)"
                                 R"("BackupCreationDateTime":[0-9.]+\}\],"LastEvaluatedBackupArn":")" +
                                 first + R"("\})"));
  const std::string next =
      json_.Succeed("ListBackups", R"({"ExclusiveStartBackupArn":")" + first + R"(","Limit":1})");
  EXPECT_THAT(next, HasSubstr("second"));
  EXPECT_THAT(next, Not(HasSubstr("LastEvaluatedBackupArn")));
  EXPECT_EQ(json_.Succeed("ListBackups", R"({"TableName":"Nothing","BackupType":"ALL"})"),
            R"({"BackupSummaries":[]})");
  // Times may be whole numbers or have fractions.
  const std::string at = MemberIn(next, "BackupCreationDateTime");
  EXPECT_THAT(json_.Succeed("ListBackups", R"({"TimeRangeLowerBound":)" + at + "}"), Not(HasSubstr("first")));
  EXPECT_THAT(json_.Succeed("ListBackups", R"({"TimeRangeUpperBound":)" + at + "}"),
              Not(HasSubstr("second")));
  EXPECT_THAT(json_.Succeed("ListBackups", R"({"TimeRangeLowerBound":1,"TimeRangeUpperBound":1e300})"),
              HasSubstr("second"));
  EXPECT_EQ(json_.Fail("ListBackups", R"({"TimeRangeLowerBound":2.5,"TimeRangeUpperBound":2})"),
            ValidationBody("Time range lower bound must be less than or equal to upper bound"));
  EXPECT_THAT(json_.Fail("ListBackups", R"({"TimeRangeLowerBound":"2"})"),
              HasSubstr("SerializationException"));
  EXPECT_THAT(json_.Fail("ListBackups", R"({"Limit":101})"),
              HasSubstr("Value '101' at 'limit' failed to satisfy constraint"));
}

TEST_F(JsonBackups, RefusalsHaveTheTextsOfTheService) {
  const std::string id = "/backup/01700000000000-0123abcd";
  EXPECT_EQ(json_.Fail("CreateBackup", R"({"TableName":"Nothing","BackupName":"backup"})"),
            BackupError("TableNotFoundException", "Table not found: Nothing"));
  EXPECT_EQ(json_.Fail("CreateBackup", R"({"TableName":"Things","BackupName":"a b"})"),
            ValidationBody("1 validation error detected: Value 'a b' at 'backupName' failed to satisfy "
                           "constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"));
  EXPECT_THAT(json_.Fail("CreateBackup", R"({"TableName":"Things"})"),
              HasSubstr("Value null at 'backupName' failed to satisfy constraint: Member must not be null"));
  EXPECT_EQ(
      json_.Fail("DescribeBackup", OfBackup(std::string(kThingsArn) + "/stream/2026-11-22T04:13:14.159")),
      ValidationBody("Invalid Backup ARN"));
  EXPECT_EQ(json_.Fail("DescribeBackup", OfBackup("arn:aws:s3:local:000000000000:table/Things" + id)),
            ValidationBody("BackupArn is not valid"));
  EXPECT_EQ(json_.Fail("DeleteBackup", OfBackup("arn:aws:dynamodb:local:123456789012:table/Things" + id)),
            R"({"__type":"com.amazon.coral.service#AccessDeniedException","message":"Access is denied"})");

  const std::string arn = CreateBackup();
  // BAK-19.
  EXPECT_EQ(
      json_.Fail("ListTagsOfResource", R"({"ResourceArn":")" + arn + "\"}"),
      ValidationBody("One or more parameter values were invalid: Provided Arn is not a DynamoDB resource "
                     "arn: " +
                     arn));
  const auto restore = [&](const std::string& target, const std::string& more) {
    return json_.Fail("RestoreTableFromBackup",
                      R"({"TargetTableName":")" + target + R"(","BackupArn":")" + arn + "\"" + more + "}");
  };
  EXPECT_EQ(restore("Things", ""),
            BackupError("TableAlreadyExistsException", "Table already exists: Things"));
  EXPECT_EQ(restore("Things", R"(,"BillingModeOverride":"PAY_PER_REQUEST",
              "ProvisionedThroughputOverride":{"ReadCapacityUnits":1,"WriteCapacityUnits":1})"),
            ValidationBody("Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED"));
  EXPECT_EQ(
      restore("Things", R"(,"GlobalSecondaryIndexOverride":[{"IndexName":"Other",
              "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}])"),
      ValidationBody("Index Other does not match a secondary index that existed in the source table and "
                     "cannot be created during the restore operation"));
  EXPECT_EQ(
      restore("Things",
              R"(,"VectorIndexOverride":[{"IndexName":"Other","VectorAttribute":{"AttributeName":"v"},
              "Dimensions":3,"DistanceFunction":"COSINE","Projection":{"ProjectionType":"ALL"}}])"),
      ValidationBody("Index Other does not match a secondary index that existed in the source table and "
                     "cannot be created during the restore operation"));
}

// OP-37: PIT-07, PIT-08, PIT-11.
TEST_F(JsonBackups, ATableIsRestoredToAPointInTime) {
  const auto fail = [&](const std::string& members) {
    return json_.Fail("RestoreTableToPointInTime", R"({"TargetTableName":"Copy")" + members + "}");
  };
  EXPECT_THAT(fail(R"(,"SourceTableName":"Things","UseLatestRestorableTime":true)"),
              AllOf(HasSubstr("PointInTimeRecoveryUnavailableException"),
                    HasSubstr("Point in time recovery is not enabled for table 'Things'")));
  json_.Succeed("UpdateContinuousBackups", R"({"TableName":"Things",
    "PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}})");
  EXPECT_THAT(fail(R"(,"SourceTableName":"Nothing","UseLatestRestorableTime":true)"),
              AllOf(HasSubstr("TableNotFoundException"), HasSubstr("Table not found: Nothing")));
  EXPECT_EQ(fail(R"(,"UseLatestRestorableTime":true)"),
            ValidationBody("The parameter 'TableName' is required"));
  EXPECT_EQ(fail(R"(,"SourceTableName":"Things","SourceTableArn":")" + std::string(kThingsArn) +
                 R"(","UseLatestRestorableTime":true)"),
            ValidationBody("Must provide exactly one of: sourceTableArn, sourceTableName"));
  EXPECT_EQ(fail(R"(,"SourceTableArn":"Things","UseLatestRestorableTime":true)"),
            ValidationBody("sourceTableArn is not a valid ARN"));
  EXPECT_THAT(fail(R"(,"SourceTableName":"Things")"), HasSubstr("must be specified, but not both"));
  EXPECT_THAT(fail(R"(,"SourceTableName":"Things","RestoreDateTime":1000000000)"),
              AllOf(HasSubstr("InvalidRestoreTimeException"),
                    HasSubstr("RestoreDateTime '2001-09-09T01:46:40.000Z' must be within Earliest")));
  const std::string body = json_.Succeed(
      "RestoreTableToPointInTime",
      R"({"TargetTableName":"Copy","SourceTableName":"Things","UseLatestRestorableTime":true})");
  EXPECT_THAT(body, HasSubstr(R"("RestoreSummary":{"SourceTableArn":")" + std::string(kThingsArn) +
                              R"(","RestoreDateTime":)"));
  EXPECT_THAT(AwaitTable("Copy"), HasSubstr(R"("TableStatus":"ACTIVE")"));
  EXPECT_EQ(json_.Succeed("Scan", R"({"TableName":"Copy"})"),
            json_.Succeed("Scan", R"({"TableName":"Things"})"));
}

// OP-35, OP-37: PIT-05, PIT-07. The first backup of the database cannot be made.
TEST_F(JsonBackups, NoTimeIsRestoredBeforeTheFirstBackup) {
  const std::string backups = json_.data_directory() + "/backups";
  std::filesystem::create_directories(backups);
  std::ofstream(backups + "/private") << "in the place of a folder";
  const std::string on = json_.Succeed("UpdateContinuousBackups", R"({"TableName":"Things",
    "PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}})");
  EXPECT_THAT(on, HasSubstr(R"({"PointInTimeRecoveryStatus":"ENABLED","RecoveryPeriodInDays":35}})"));
  const int64_t now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                             std::chrono::system_clock::now().time_since_epoch())
                             .count();
  EXPECT_THAT(
      json_.Fail("RestoreTableToPointInTime",
                 R"({"TargetTableName":"Copy","SourceTableName":"Things","RestoreDateTime":)" +
                     std::to_string(now_ms / 1'000) + "}"),
      AllOf(HasSubstr("#InvalidRestoreTimeException"),
            MatchesRegex(".*\"RestoreDateTime '[^']*' must be within EarliestRestorableDateTime '[^']*' "
                         "and LatestRestorableDateTime '[^']*'; no time .*")));
  EXPECT_THAT(json_.Fail("DescribeTable", R"({"TableName":"Copy"})"), HasSubstr("ResourceNotFoundException"));
}

// OP-34: PIT-11, PIT-13, PIT-14, PIT-17.
TEST_F(JsonBackups, ATableIsRestored) {
  const std::string arn = CreateBackup();
  const std::string body =
      json_.Succeed("RestoreTableFromBackup", R"({"TargetTableName":"Copy","BackupArn":")" + arn + "\"}");
  EXPECT_THAT(body, HasSubstr(R"("TableStatus":"CREATING")"));
  EXPECT_THAT(body, HasSubstr(R"("RestoreSummary":{"SourceBackupArn":")" + arn + R"(","SourceTableArn":")" +
                              kThingsArn + R"(","RestoreDateTime":)"));
  EXPECT_THAT(body, HasSubstr(R"("RestoreInProgress":true})"));
  EXPECT_THAT(body, Not(HasSubstr("IndexStatus")));
  const std::string table = AwaitTable("Copy");
  EXPECT_THAT(table, HasSubstr(R"("TableStatus":"ACTIVE")"));
  EXPECT_THAT(table, HasSubstr(R"("IndexStatus":"ACTIVE")"));
  EXPECT_THAT(table, HasSubstr(R"("SSEDescription")"));
  for (const char* absent : {"RestoreSummary", "StreamSpecification", "LatestStreamArn"})
    EXPECT_THAT(table, Not(HasSubstr(absent)));
  EXPECT_EQ(json_.Succeed("Scan", R"({"TableName":"Copy"})"),
            json_.Succeed("Scan", R"({"TableName":"Things"})"));
  EXPECT_THAT(json_.Succeed("DescribeTimeToLive", R"({"TableName":"Copy"})"), HasSubstr("DISABLED"));

  json_.Succeed("RestoreTableFromBackup",
                R"({"TargetTableName":"Plain","BillingModeOverride":"PAY_PER_REQUEST",
    "GlobalSecondaryIndexOverride":[],"LocalSecondaryIndexOverride":[],"SSESpecificationOverride":{},
    "OnDemandThroughputOverride":{"MaxReadRequestUnits":9},"BackupArn":")" +
                    arn + "\"}");
  const std::string plain = AwaitTable("Plain");
  EXPECT_THAT(plain, HasSubstr(R"("MaxReadRequestUnits":9)"));
  EXPECT_THAT(plain, HasSubstr(R"("BillingMode":"PAY_PER_REQUEST")"));
  for (const char* absent : {"SSEDescription", "SecondaryIndexes"})
    EXPECT_THAT(plain, Not(HasSubstr(absent)));
}

// A deleted table with point-in-time recovery leaves a backup that cannot be deleted (BAK-18).
TEST_F(JsonBackups, ADeletedTableLeavesASystemBackup) {
  json_.Succeed("UpdateContinuousBackups", R"({"TableName":"Things","PointInTimeRecoverySpecification":{
    "PointInTimeRecoveryEnabled":true}})");
  json_.Succeed("DeleteTable", R"({"TableName":"Things"})");
  std::string listed;
  do {
    listed = json_.Succeed("ListBackups", R"({"BackupType":"SYSTEM"})");
  } while (listed.find("AVAILABLE") == std::string::npos);
  EXPECT_THAT(listed, HasSubstr(R"("BackupName":"Things$DeletedTableBackup")"));
  EXPECT_THAT(listed, HasSubstr(R"("BackupType":"SYSTEM")"));
  EXPECT_THAT(listed, HasSubstr(R"("BackupExpiryDateTime":)"));
  const std::string arn = MemberIn(listed, "BackupArn");
  EXPECT_THAT(json_.Succeed("DescribeBackup", OfBackup(arn)), HasSubstr(R"("SourceTableFeatureDetails":{})"));
  EXPECT_THAT(json_.Fail("DeleteBackup", OfBackup(arn)),
              HasSubstr("User is not allowed to delete the system backup with arn " + arn));
  EXPECT_EQ(json_.Succeed("ListBackups", "{}"), R"({"BackupSummaries":[]})");
}

// OP-35, OP-36: PIT-01..06.
TEST_F(JsonBackups, PointInTimeRecoveryIsTurnedOnAndOff) {
  constexpr char kOff[] = R"({"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED",)"
                          R"("PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"DISABLED"}}})";
  const std::string things = R"({"TableName":"Things"})";
  const auto update = [](const std::string& specification) {
    return R"({"TableName":"Things","PointInTimeRecoverySpecification":{)" + specification + "}}";
  };
  EXPECT_EQ(json_.Succeed("DescribeContinuousBackups", things), kOff);
  EXPECT_EQ(json_.Succeed("DescribeContinuousBackups", R"({"TableName":")" + std::string(kThingsArn) + "\"}"),
            kOff);
  EXPECT_EQ(json_.Succeed("UpdateContinuousBackups", update(R"("PointInTimeRecoveryEnabled":false)")), kOff);
  const std::string on =
      json_.Succeed("UpdateContinuousBackups", update(R"("PointInTimeRecoveryEnabled":true)"));
  EXPECT_THAT(on, MatchesRegex(R"(\{"ContinuousBackupsDescription":\{"ContinuousBackupsStatus":"ENABLED",)"
                               R"("PointInTimeRecoveryDescription":\{"PointInTimeRecoveryStatus":"ENABLED",)"
                               R"("RecoveryPeriodInDays":35,"EarliestRestorableDateTime":[0-9]+\.[0-9]{3},)"
                               R"("LatestRestorableDateTime":[0-9]+\.[0-9]{3}\}\}\})"));
  EXPECT_THAT(json_.Succeed("UpdateContinuousBackups",
                            update(R"("PointInTimeRecoveryEnabled":true,"RecoveryPeriodInDays":7)")),
              HasSubstr(R"("RecoveryPeriodInDays":7)"));
  EXPECT_THAT(json_.Succeed("DescribeContinuousBackups", things), HasSubstr(R"("RecoveryPeriodInDays":7)"));
  EXPECT_EQ(json_.Succeed("UpdateContinuousBackups", update(R"("PointInTimeRecoveryEnabled":false)")), kOff);

  EXPECT_EQ(
      json_.Fail("UpdateContinuousBackups",
                 update(R"("PointInTimeRecoveryEnabled":false,"RecoveryPeriodInDays":7)")),
      ValidationBody("Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time "
                     "recovery."));
  EXPECT_EQ(json_.Fail("UpdateContinuousBackups",
                       update(R"("PointInTimeRecoveryEnabled":true,"RecoveryPeriodInDays":36)")),
            ValidationBody("1 validation error detected: Value '36' at "
                           "'pointInTimeRecoverySpecification.recoveryPeriodInDays' failed to satisfy "
                           "constraint: Member must have value less than or equal to 35"));
  const std::string not_found = BackupError("TableNotFoundException", "Table not found: Nothing");
  EXPECT_EQ(json_.Fail("DescribeContinuousBackups", R"({"TableName":"Nothing"})"), not_found);
  EXPECT_EQ(
      json_.Fail("UpdateContinuousBackups", R"({"TableName":"Nothing","PointInTimeRecoverySpecification":{
              "PointInTimeRecoveryEnabled":false}})"),
      not_found);
}

}  // namespace
}  // namespace itemdb::testing
