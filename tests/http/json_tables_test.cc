// Operations on tables: requests and the whole bodies of their replies.

#include <chrono>
#include <regex>
#include <thread>

#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

// `body` with ids and times replaced by "*".
std::string MaskedTable(std::string body) {
  body = std::regex_replace(body, std::regex(R"("TableId":"[0-9a-f-]{36}")"), R"("TableId":"*")");
  return std::regex_replace(body, std::regex("(CreationDateTime|PayPerRequestDateTime)\":[0-9]+\\.[0-9]{3}"),
                            "$1\":*");
}

constexpr char kThings[] =
    R"({"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"}],)"
    R"("TableName":"Things","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],)"
    R"("TableStatus":"ACTIVE","CreationDateTime":*,)"
    R"("ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0},)"
    R"("TableSizeBytes":0,"ItemCount":0,"TableArn":"arn:aws:dynamodb:local:000000000000:table/Things","TableId":"*",)"
    R"("BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST","LastUpdateToPayPerRequestDateTime":*},)"
    R"("WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000,"Status":"ACTIVE"},)"
    R"("DeletionProtectionEnabled":false})";

// CreateTable (OP-01), DeleteTable (OP-02), DescribeTable (OP-03); ids of tables (SEM-100).
TEST(JsonTables, ATableIsCreatedDescribedAndDeleted) {
  JsonFixture json;
  EXPECT_EQ(MaskedTable(json.Succeed("CreateTable", kCreateThings)),
            std::string(R"({"TableDescription":)") + kThings + "}");
  EXPECT_EQ(MaskedTable(json.Succeed("DescribeTable", R"({"TableName":"Things"})")),
            std::string(R"({"Table":)") + kThings + "}");
  EXPECT_EQ(json.Fail("CreateTable", kCreateThings),
            R"({"__type":"com.amazonaws.dynamodb.v20120810#ResourceInUseException",)"
            R"("message":"Table already exists: Things"})");
  EXPECT_EQ(
      MaskedTable(json.Succeed("DeleteTable", R"({"TableName":"Things"})")),
      R"({"TableDescription":{"TableName":"Things","TableStatus":"DELETING",)"
      R"("ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0},)"
      R"("TableSizeBytes":0,"ItemCount":0,"TableArn":"arn:aws:dynamodb:local:000000000000:table/Things",)"
      R"("TableId":"*",)"
      R"("BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST","LastUpdateToPayPerRequestDateTime":*},)"
      R"("DeletionProtectionEnabled":false}})");
  EXPECT_EQ(json.Fail("DescribeTable", R"({"TableName":"Things"})"),
            R"({"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",)"
            R"("message":"Requested resource not found: Table: Things not found"})");
}

// Indexes (SEM-067, SEM-091), projections (SEM-068), several key attributes (SEM-077), settings without
// effect (SEM-099).
TEST(JsonTables, EveryPartOfADefinitionIsShownAgain) {
  JsonFixture json;
  json.Succeed("CreateTable", R"({"TableName":"Orders",
    "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"},
      {"AttributeName":"a","AttributeType":"B"},{"AttributeName":"b","AttributeType":"S"},{"AttributeName":"c","AttributeType":"N"}],
    "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
    "ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":6},
    "LocalSecondaryIndexes":[{"IndexName":"ByA","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"a","KeyType":"RANGE"}],
      "Projection":{"ProjectionType":"KEYS_ONLY"}}],
    "GlobalSecondaryIndexes":[{"IndexName":"ByABC","KeySchema":[{"AttributeName":"a","KeyType":"HASH"},{"AttributeName":"b","KeyType":"HASH"},
      {"AttributeName":"c","KeyType":"RANGE"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["y","x"]},
      "ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":2}}],
    "StreamSpecification":{"StreamEnabled":false},"SSESpecification":{"Enabled":true,"SSEType":"KMS","KMSMasterKeyId":"key"},
    "TableClass":"STANDARD_INFREQUENT_ACCESS","DeletionProtectionEnabled":true,
    "WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000},
    "Tags":[{"Key":"b","Value":"2"},{"Key":"a","Value":""}]})");
  EXPECT_EQ(
      MaskedTable(json.Succeed("DescribeTable", R"({"TableName":"Orders"})")),
      R"({"Table":{"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"B"},{"AttributeName":"b","AttributeType":"S"},)"
      R"({"AttributeName":"c","AttributeType":"N"},{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"}],)"
      R"("TableName":"Orders","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],)"
      R"("TableStatus":"ACTIVE","CreationDateTime":*,)"
      R"("ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":5,"WriteCapacityUnits":6},)"
      R"("TableSizeBytes":0,"ItemCount":0,"TableArn":"arn:aws:dynamodb:local:000000000000:table/Orders","TableId":"*",)"
      R"("LocalSecondaryIndexes":[{"IndexName":"ByA","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},)"
      R"({"AttributeName":"a","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"},"IndexSizeBytes":0,"ItemCount":0,)"
      R"("IndexArn":"arn:aws:dynamodb:local:000000000000:table/Orders/index/ByA"}],)"
      R"("GlobalSecondaryIndexes":[{"IndexName":"ByABC","KeySchema":[{"AttributeName":"a","KeyType":"HASH"},)"
      R"({"AttributeName":"b","KeyType":"HASH"},{"AttributeName":"c","KeyType":"RANGE"}],)"
      R"("Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x","y"]},"IndexSizeBytes":0,"ItemCount":0,)"
      R"("IndexArn":"arn:aws:dynamodb:local:000000000000:table/Orders/index/ByABC","IndexStatus":"ACTIVE",)"
      R"("WarmThroughput":{"ReadUnitsPerSecond":1,"WriteUnitsPerSecond":2,"Status":"ACTIVE"},)"
      R"("ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":1,"WriteCapacityUnits":2}}],)"
      R"("TableClassSummary":{"TableClass":"STANDARD_INFREQUENT_ACCESS"},)"
      R"("SSEDescription":{"Status":"ENABLED","SSEType":"KMS","KMSMasterKeyArn":"key"},)"
      R"("WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000,"Status":"ACTIVE"},)"
      R"("DeletionProtectionEnabled":true}})");
  EXPECT_EQ(json.Succeed("ListTagsOfResource",
                         R"({"ResourceArn":"arn:aws:dynamodb:local:000000000000:table/Orders"})"),
            R"({"Tags":[{"Key":"a","Value":""},{"Key":"b","Value":"2"}]})");
}

// ListTables in the order of names (OP-04).
TEST(JsonTables, TablesAreListedInPages) {
  JsonFixture json;
  EXPECT_EQ(json.Succeed("ListTables", "{}"), R"({"TableNames":[]})");
  for (const char* name : {"ccc", "aaa", "bbb"}) {
    std::string body = kCreateThings;
    json.Succeed("CreateTable", body.replace(body.find("Things"), 6, name));
  }
  EXPECT_EQ(json.Succeed("ListTables", R"({"Limit":2})"),
            R"({"TableNames":["aaa","bbb"],"LastEvaluatedTableName":"bbb"})");
  EXPECT_EQ(json.Succeed("ListTables", R"({"ExclusiveStartTableName":"bbb"})"), R"({"TableNames":["ccc"]})");
}

// UpdateTable (OP-05, SEM-095), deletion protection (SEM-094).
TEST(JsonTables, SettingsAreUpdated) {
  JsonFixture json;
  json.Succeed("CreateTable", kCreateThings);
  EXPECT_NE(json.Succeed("UpdateTable", R"({"TableName":"Things","DeletionProtectionEnabled":true})")
                .find(R"("DeletionProtectionEnabled":true)"),
            std::string::npos);
  EXPECT_NE(json.Fail("DeleteTable", R"({"TableName":"Things"})").find("#ValidationException"),
            std::string::npos);
  EXPECT_NE(json.Succeed("UpdateTable",
                         R"({"TableName":"Things","BillingMode":"PROVISIONED",
                             "ProvisionedThroughput":{"ReadCapacityUnits":3,"WriteCapacityUnits":4}})")
                .find(R"("ReadCapacityUnits":3,"WriteCapacityUnits":4)"),
            std::string::npos);
  EXPECT_NE(json.Fail("UpdateTable", R"({"TableName":"Things"})").find("#ValidationException"),
            std::string::npos);
  EXPECT_NE(json.Fail("UpdateTable",
                      R"({"TableName":"Things","TableClass":"STANDARD","DeletionProtectionEnabled":true})")
                .find(R"("message":"TableClass must be the only operation in the request")"),
            std::string::npos);
}

// The service turns a time to live on at once, also while we still read the items that were there before.
TEST(JsonTables, ATimeToLiveIsEnabledAtOnce) {
  JsonFixture json;
  json.Succeed("CreateTable", kCreateThings);
  json.Succeed("UpdateTimeToLive",
               R"({"TableName":"Things","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}})");
  EXPECT_EQ(json.Succeed("DescribeTimeToLive", R"({"TableName":"Things"})"),
            R"({"TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"ttl"}})");
}

// UpdateTable creates or deletes one index (SEM-095), defines its attributes (SEM-096), and backfills it
// (SEM-097); warm throughput (SEM-099).
TEST(JsonTables, IndexesAreCreatedAndDeletedOnLiveTables) {
  JsonFixture json;
  json.Succeed("CreateTable", kCreateThings);
  json.Succeed("PutItem", R"({"TableName":"Things","Item":{"pk":{"S":"p"},"sk":{"S":"s"},"a":{"S":"x"}}})");
  const std::string create =
      R"({"Create":{"IndexName":"ByA","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],
      "Projection":{"ProjectionType":"ALL"},"OnDemandThroughput":{"MaxReadRequestUnits":9}}})";
  const std::string attributes = R"("AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}])";
  const std::string created =
      json.Succeed("UpdateTable", R"({"TableName":"Things",)" + attributes +
                                      R"(,"GlobalSecondaryIndexUpdates":[)" + create + "]}");
  EXPECT_NE(created.find(R"("TableStatus":"UPDATING")"), std::string::npos) << created;
  EXPECT_NE(
      created.find(
          R"("IndexStatus":"CREATING","Backfilling":true,"OnDemandThroughput":{"MaxReadRequestUnits":9})"),
      std::string::npos)
      << created;
  std::string described;
  do {
    described = json.Succeed("DescribeTable", R"({"TableName":"Things"})");
  } while (described.find(R"("TableStatus":"ACTIVE")") == std::string::npos);
  EXPECT_NE(described.find(R"("IndexStatus":"ACTIVE")"), std::string::npos) << described;
  EXPECT_EQ(described.find("Backfilling"), std::string::npos) << described;
  EXPECT_NE(
      json.Succeed("Query", R"({"TableName":"Things","IndexName":"ByA","KeyConditionExpression":"a = :a",
                                      "ExpressionAttributeValues":{":a":{"S":"x"}}})")
          .find(R"("Count":1)"),
      std::string::npos);

  const std::string remove = R"({"Delete":{"IndexName":"ByA"}})";
  EXPECT_NE(
      json.Fail("UpdateTable",
                R"({"TableName":"Things","GlobalSecondaryIndexUpdates":[)" + remove + "," + remove + "]}")
          .find("Only one global secondary index update per index is allowed simultaneously. Index: ByA"),
      std::string::npos);
  EXPECT_NE(json.Fail("UpdateTable", R"({"TableName":"Things","GlobalSecondaryIndexUpdates":[)" + remove +
                                         R"(,{"Delete":{"IndexName":"Other"}}]})")
                .find("#LimitExceededException"),
            std::string::npos);
  // A local index is no global one (QRK-11).
  json.Succeed("CreateTable", R"({"TableName":"Local","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[
      {"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},
      {"AttributeName":"b","AttributeType":"S"}],
      "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
      "LocalSecondaryIndexes":[{"IndexName":"ByB","Projection":{"ProjectionType":"ALL"},
      "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"b","KeyType":"RANGE"}]}]})");
  EXPECT_EQ(
      json.Fail("UpdateTable",
                R"({"TableName":"Local","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"ByB"}}]})"),
      ValidationBody("Cannot delete an index that is not a GlobalSecondaryIndex: ByB"));

  // Two actions on one index, in two entries and in one (QRK-04).
  const std::string update = R"("Update":{"IndexName":"ByA","ProvisionedThroughput":{"ReadCapacityUnits":1,)"
                             R"("WriteCapacityUnits":1}})";
  EXPECT_EQ(json.Fail("UpdateTable", R"({"TableName":"Things","GlobalSecondaryIndexUpdates":[{)" + update +
                                         "}," + remove + "]}"),
            ValidationBody("One or more parameter values were invalid: Only one global secondary index "
                           "update per index is allowed "
                           "simultaneously. Index: ByA",
                           "One or more parameter values were invalid: index ByA is named twice"));
  EXPECT_EQ(
      json.Fail("UpdateTable", R"({"TableName":"Things","GlobalSecondaryIndexUpdates":[{)" + update +
                                   R"(,"Delete":{"IndexName":"ByA"}}]})"),
      ValidationBody("One or more parameter values were invalid: Only one global secondary index action "
                     "is allowed per GlobalSecondaryIndexUpdate object"));
  const std::string deleted =
      json.Succeed("UpdateTable", R"({"TableName":"Things","GlobalSecondaryIndexUpdates":[)" + remove + "]}");
  EXPECT_NE(deleted.find(R"("IndexStatus":"DELETING")"), std::string::npos) << deleted;
  EXPECT_EQ(json.Succeed("DescribeTable", R"({"TableName":"Things"})").find("ByA"), std::string::npos);
  EXPECT_NE(
      json.Fail("UpdateTable", R"({"TableName":"Things","GlobalSecondaryIndexUpdates":[)" + remove + "]}")
          .find("#ResourceNotFoundException"),
      std::string::npos);
}

// A member of the service's requests that is not offered is refused with its name, never forgotten. A member
// that the service does not have either is ignored, as there (OP-01, OP-05).
TEST(JsonTables, AMemberThatIsNotOfferedIsRefusedByName) {
  JsonFixture json;
  json.Succeed("CreateTable", kCreateThings);
  const std::string one_machine = " is not supported: itemdb is one machine without replicas; leave it out";
  const std::string policies =
      " is not supported: itemdb has access keys with roles, and no policies; leave it out";
  const struct {
    const char* operation;
    const char* member;
    const char* value;
    const std::string& why;
  } rows[] = {
      {"CreateTable", "ResourcePolicy", R"("{}")", policies},
      {"CreateTable", "GlobalTableSourceArn", R"("arn:aws:dynamodb:x:0:table/t")", one_machine},
      {"CreateTable", "GlobalTableSettingsReplicationMode", R"("ENABLED")", one_machine},
      {"UpdateTable", "ReplicaUpdates", R"([{"Create":{"RegionName":"x"}}])", one_machine},
      {"UpdateTable", "MultiRegionConsistency", R"("STRONG")", one_machine},
      {"UpdateTable", "GlobalTableWitnessUpdates", R"([{"Create":{"RegionName":"x"}}])", one_machine},
      {"UpdateTable", "GlobalTableSettingsReplicationMode", R"("ENABLED")", one_machine},
      {"UpdateTable", "DisassociationProtectionEnabled", "true", one_machine},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.member);
    std::string body = std::string(row.operation) == "CreateTable"
                           ? std::regex_replace(std::string(kCreateThings), std::regex("Things"), "More")
                           : R"({"TableName":"Things","DeletionProtectionEnabled":true})";
    const std::string with = [&](const std::string& value) {
      return body.substr(0, body.size() - 1) + ",\"" + row.member + "\":" + value + "}";
    }(row.value);
    EXPECT_EQ(json.Fail(row.operation, with), ValidationBody(row.member + row.why));
  }
  // Nothing was made or changed.
  EXPECT_EQ(json.Succeed("ListTables", "{}"), R"({"TableNames":["Things"]})");
  EXPECT_NE(
      json.Succeed("DescribeTable", R"({"TableName":"Things"})").find(R"("DeletionProtectionEnabled":false)"),
      std::string::npos);
  json.Succeed(
      "UpdateTable",
      R"({"TableName":"Things","DeletionProtectionEnabled":true,"VectorIndexUpdates":null,"NoSuchMember":1})");
}

// TagResource (OP-08), UntagResource (OP-09), ListTagsOfResource (OP-10).
TEST(JsonTables, TagsAreAddedListedAndRemoved) {
  JsonFixture json;
  json.Succeed("CreateTable", kCreateThings);
  const std::string arn = R"("ResourceArn":"arn:aws:dynamodb:local:000000000000:table/Things")";
  EXPECT_EQ(json.Succeed("TagResource",
                         "{" + arn + R"(,"Tags":[{"Key":"k","Value":"v"},{"Key":"l","Value":"w"}]})"),
            "");
  EXPECT_EQ(json.Succeed("UntagResource", "{" + arn + R"(,"TagKeys":["k","gone"]})"), "");
  EXPECT_EQ(json.Fail("TagResource", "{" + arn + R"(,"Tags":[{"Key":"a,b","Value":"v"}]})"),
            ValidationBody("The Tag Key provided is invalid, Key: a,b"));
  EXPECT_EQ(json.Succeed("ListTagsOfResource", "{" + arn + "}"), R"({"Tags":[{"Key":"l","Value":"w"}]})");
  EXPECT_EQ(json.Succeed("ListTables", "{}"), R"({"TableNames":["Things"]})");
  EXPECT_EQ(json.Fail("ListTagsOfResource", "{" + arn + R"(,"NextToken":"t"})"),
            ValidationBody("NextToken is invalid: all tags of a table come in one reply"));
  EXPECT_EQ(
      json.Fail("ListTagsOfResource", R"({"ResourceArn":"Things"})"),
      ValidationBody("Invalid ResourceArn: 'Things' is not the ARN of a table, as DescribeTable shows it"));
}

// UpdateTimeToLive (OP-11), DescribeTimeToLive (OP-12), the attribute's name (SEM-009), repeated requests
// (SEM-111).
TEST(JsonTables, TimeToLiveIsTurnedOnAndOff) {
  JsonFixture json;
  json.Succeed("CreateTable", kCreateThings);
  auto body = [](const std::string& specification, const std::string& table = "Things") {
    return R"({"TableName":")" + table + R"(","TimeToLiveSpecification":{)" + specification + "}}";
  };
  const std::string on = R"("Enabled":true,"AttributeName":"ttl")";
  const std::string off = R"("Enabled":false,"AttributeName":"ttl")";
  const std::string describe = R"({"TableName":"Things"})";
  EXPECT_EQ(json.Succeed("DescribeTimeToLive", describe),
            R"({"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}})");
  EXPECT_EQ(json.Fail("UpdateTimeToLive", body(off)), ValidationBody("TimeToLive is already disabled"));
  EXPECT_EQ(json.Succeed("UpdateTimeToLive", body(on)),
            R"({"TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}})");
  const std::string enabled =
      R"({"TimeToLiveDescription":{"TimeToLiveStatus":"ENABLED","AttributeName":"ttl"}})";
  while (json.Succeed("DescribeTimeToLive", describe) != enabled) {
    EXPECT_EQ(json.Succeed("DescribeTimeToLive", describe).find("DISABLED"), std::string::npos);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(json.Fail("UpdateTimeToLive", body(on)), ValidationBody("TimeToLive is already enabled"));
  EXPECT_EQ(
      json.Fail("UpdateTimeToLive", body(R"("Enabled":false,"AttributeName":"other")")),
      ValidationBody("TimeToLive is active on a different AttributeName: current AttributeName is ttl"));
  // The internal index of the time to live is not shown.
  EXPECT_EQ(json.Succeed("DescribeTable", describe).find("ttl"), std::string::npos);
  EXPECT_EQ(json.Succeed("UpdateTimeToLive", body(off, "arn:aws:dynamodb:local:000000000000:table/Things")),
            R"({"TimeToLiveSpecification":{"Enabled":false,"AttributeName":"ttl"}})");
  EXPECT_EQ(json.Succeed("DescribeTimeToLive", describe),
            R"({"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}})");

  EXPECT_NE(json.Fail("UpdateTimeToLive", body(on, "Missing")).find("#ResourceNotFoundException"),
            std::string::npos);
  EXPECT_NE(json.Fail("DescribeTimeToLive", R"({"TableName":"Missing"})").find("#ResourceNotFoundException"),
            std::string::npos);
  EXPECT_NE(json.Fail("UpdateTimeToLive", describe).find("'timeToLiveSpecification' failed to satisfy"),
            std::string::npos);
  EXPECT_NE(json.Fail("UpdateTimeToLive", body(R"("Enabled":true)"))
                .find("'timeToLiveSpecification.attributeName' failed to satisfy"),
            std::string::npos);
  EXPECT_NE(json.Fail("UpdateTimeToLive", body(R"("Enabled":true,"AttributeName":"")"))
                .find("'timeToLiveSpecification.attributeName' failed to satisfy"),
            std::string::npos);
  EXPECT_NE(json.Fail("UpdateTimeToLive",
                      body(R"("Enabled":true,"AttributeName":")" + std::string(256, 'a') + "\""))
                .find("#ValidationException"),
            std::string::npos);
}

// DescribeLimits (OP-06) and DescribeEndpoints (OP-07).
TEST(JsonTables, LimitsAndEndpointsAreDescribed) {
  JsonFixture json;
  EXPECT_EQ(json.Succeed("DescribeLimits", "{}"),
            R"({"AccountMaxReadCapacityUnits":80000,"AccountMaxWriteCapacityUnits":80000,)"
            R"("TableMaxReadCapacityUnits":40000,"TableMaxWriteCapacityUnits":40000})");
  EXPECT_EQ(json.Succeed("DescribeEndpoints", "{}"),
            R"({"Endpoints":[{"Address":"127.0.0.1:8000","CachePeriodInMinutes":1440}]})");
}

}  // namespace
}  // namespace itemdb::testing
