// The Streams API over JSON: DynamoDBStreams_20120810.
#include <chrono>
#include <ctime>
#include <regex>
#include <thread>

#include "gmock/gmock.h"
#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

using ::testing::HasSubstr;

// The text of the first member called `name` in `body`.
std::string Text(const std::string& body, const std::string& name) {
  std::smatch match;
  std::regex_search(body, match, std::regex("\"" + name + "\":\"([^\"]*)\""));
  return match.empty() ? "" : match[1].str();
}

// `body` with times, labels and texts made of them replaced by "*".
std::string Masked(std::string body) {
  body = std::regex_replace(body, std::regex("\\d{4}-\\d\\d-\\d\\dT[0-9:.]{12}"), "*");
  body = std::regex_replace(body, std::regex("(DateTime\":)[0-9.]+"), "$1*");
  body = std::regex_replace(body, std::regex("shardId-[0-9]{20}-[0-9a-f]{8}"), "SHARD");
  body = std::regex_replace(body, std::regex("(eventID\":\")[0-9a-f]{32}\""), "$1*\"");
  return std::regex_replace(body, std::regex("(ShardIterator\":\")[^\"]*\""), "$1*\"");
}

constexpr char kCreateWithStream[] = R"({"TableName":"Things","BillingMode":"PAY_PER_REQUEST",
  "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
  "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],
  "StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"}})";

class JsonStreams : public ::testing::Test {
 protected:
  std::string Iterator(const std::string& arn, const std::string& type) {
    const std::string shard =
        Text(json_.Succeed("DescribeStream", R"({"StreamArn":")" + arn + "\"}"), "ShardId");
    return Text(json_.Succeed("GetShardIterator", R"({"StreamArn":")" + arn + R"(","ShardId":")" + shard +
                                                      R"(","ShardIteratorType":")" + type + "\"}"),
                "ShardIterator");
  }
  std::string GetRecords(const std::string& iterator) {
    return json_.Succeed("GetRecords", R"({"ShardIterator":")" + iterator + "\"}");
  }

  JsonFixture json_;
};

// ListStreams, DescribeStream, GetShardIterator and GetRecords (OP-26, OP-27, OP-28, OP-29): view types
// (SEM-101), limits (SEM-105), ids (SEM-106).
TEST_F(JsonStreams, AreReadFromTheirTable) {
  json_.Succeed("CreateTable", kCreateWithStream);
  const std::string table = json_.Succeed("DescribeTable", R"({"TableName":"Things"})");
  EXPECT_THAT(table, HasSubstr(R"("StreamSpecification":{"StreamEnabled":true,)"
                               R"("StreamViewType":"NEW_AND_OLD_IMAGES"},"LatestStreamLabel":")"));
  const std::string arn = Text(table, "LatestStreamArn");
  EXPECT_EQ(arn,
            "arn:aws:dynamodb:local:000000000000:table/Things/stream/" + Text(table, "LatestStreamLabel"));
  EXPECT_EQ(Masked(json_.Succeed("ListStreams", "{}")),
            R"({"Streams":[{"StreamArn":"arn:aws:dynamodb:local:000000000000:table/Things/stream/*",)"
            R"("TableName":"Things","StreamLabel":"*"}]})");
  EXPECT_EQ(
      Masked(json_.Succeed("DescribeStream", R"({"StreamArn":")" + arn + "\"}")),
      R"({"StreamDescription":{"StreamArn":"arn:aws:dynamodb:local:000000000000:table/Things/stream/*",)"
      R"("TableName":"Things","StreamLabel":"*","StreamStatus":"ENABLED",)"
      R"("StreamViewType":"NEW_AND_OLD_IMAGES","CreationRequestDateTime":*,)"
      R"("KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Shards":[{"ShardId":"SHARD",)"
      R"("SequenceNumberRange":{"StartingSequenceNumber":"100000000000000000001"}}]}})");

  json_.Succeed("PutItem", R"({"TableName":"Things","Item":{"pk":{"S":"p"},"n":{"N":"1"}}})");
  json_.Succeed("PutItem", R"({"TableName":"Things","Item":{"pk":{"S":"p"},"n":{"N":"2"}}})");
  json_.Succeed("DeleteItem", R"({"TableName":"Things","Key":{"pk":{"S":"p"}}})");
  auto record = [](const std::string& event, const std::string& images, int sequence, int size) {
    return R"({"eventID":"*","eventName":")" + event +
           R"(","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"local","dynamodb":{)"
           R"("ApproximateCreationDateTime":*,"Keys":{"pk":{"S":"p"}},)" +
           images + R"("SequenceNumber":"10000000000000000000)" + std::to_string(sequence) +
           R"(","SizeBytes":)" + std::to_string(size) + R"(,"StreamViewType":"NEW_AND_OLD_IMAGES"}})";
  };
  EXPECT_EQ(
      Masked(GetRecords(Iterator(arn, "TRIM_HORIZON"))),
      R"({"Records":[)" + record("INSERT", R"("NewImage":{"n":{"N":"1"},"pk":{"S":"p"}},)", 2, 9) + "," +
          record("MODIFY",
                 R"("NewImage":{"n":{"N":"2"},"pk":{"S":"p"}},"OldImage":{"n":{"N":"1"},"pk":{"S":"p"}},)", 3,
                 15) +
          "," + record("REMOVE", R"("OldImage":{"n":{"N":"2"},"pk":{"S":"p"}},)", 4, 9) +
          R"(],"NextShardIterator":"*"})");
  EXPECT_EQ(Masked(GetRecords(Iterator(arn, "LATEST"))), R"({"Records":[],"NextShardIterator":"*"})");
}

// A start that is no shard of the stream has no shards behind it, as its only shard has none (SEM-106).
TEST_F(JsonStreams, AnUnknownStartShardHasNoShardsBehindIt) {
  json_.Succeed("CreateTable", kCreateWithStream);
  const std::string arn =
      Text(json_.Succeed("DescribeTable", R"({"TableName":"Things"})"), "LatestStreamArn");
  const std::string stream = R"({"StreamArn":")" + arn + "\"";
  const std::string described = json_.Succeed("DescribeStream", stream + "}");
  EXPECT_THAT(described, HasSubstr(R"("Shards":[{"ShardId":)"));
  for (const std::string& start :
       {std::string("shardId-00000000000000000000-00000000"), Text(described, "ShardId")}) {
    EXPECT_THAT(json_.Succeed("DescribeStream", stream + R"(,"ExclusiveStartShardId":")" + start + "\"}"),
                HasSubstr(R"("Shards":[])"))
        << start;
  }
}

// The REMOVE record of an expired item has a userIdentity (SEM-102).
TEST_F(JsonStreams, SayThatAnItemExpired) {
  json_.Succeed("CreateTable", kCreateWithStream);
  json_.Succeed("UpdateTimeToLive",
                R"({"TableName":"Things","TimeToLiveSpecification":{"Enabled":true,"AttributeName":"ttl"}})");
  const std::string key = R"({"pk":{"S":"p"}})";
  json_.Succeed("PutItem", R"({"TableName":"Things","Item":{"pk":{"S":"p"},"ttl":{"N":")" +
                               std::to_string(std::time(nullptr) - 1) + R"("}}})");
  while (json_.Succeed("GetItem", R"({"TableName":"Things","Key":)" + key + "}") != "{}")
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  json_.Succeed("PutItem", R"({"TableName":"Things","Item":)" + key + "}");
  json_.Succeed("DeleteItem", R"({"TableName":"Things","Key":)" + key + "}");
  const std::string arn =
      Text(json_.Succeed("DescribeTable", R"({"TableName":"Things"})"), "LatestStreamArn");
  const std::string records = GetRecords(Iterator(arn, "TRIM_HORIZON"));
  const std::string identity = R"("userIdentity":{"Type":"Service","PrincipalId":"dynamodb.amazonaws.com"},)";
  const size_t expired = records.find(R"("eventName":"REMOVE")");
  const size_t deleted = records.rfind(R"("eventName":"REMOVE")");
  ASSERT_LT(expired, deleted) << records;
  EXPECT_GT(records.find(identity), expired) << records;
  EXPECT_LT(records.find(identity), deleted) << records;
  EXPECT_EQ(records.find(identity), records.rfind(identity)) << records;
}

// A disabled stream (SEM-098) stays readable (SEM-103); its shard ends without NextShardIterator (SEM-105).
TEST_F(JsonStreams, AClosedShardEndsWithoutAnIterator) {
  json_.Succeed("CreateTable", kCreateWithStream);
  const std::string arn =
      Text(json_.Succeed("DescribeTable", R"({"TableName":"Things"})"), "LatestStreamArn");
  json_.Succeed("UpdateTable", R"({"TableName":"Things","StreamSpecification":{"StreamEnabled":false}})");
  const std::string table = json_.Succeed("DescribeTable", R"({"TableName":"Things"})");
  EXPECT_EQ(Text(table, "LatestStreamArn"), arn);
  EXPECT_THAT(table, Not(HasSubstr("StreamSpecification")));
  EXPECT_EQ(GetRecords(Iterator(arn, "TRIM_HORIZON")), R"({"Records":[]})");
  const std::string described = json_.Succeed("DescribeStream", R"({"StreamArn":")" + arn + "\"}");
  EXPECT_THAT(described, HasSubstr(R"("StreamStatus":"DISABLED")"));
  EXPECT_THAT(described, HasSubstr(R"("EndingSequenceNumber":"100000000000000000002")"));
  json_.Succeed("DeleteTable", R"({"TableName":"Things"})");
  EXPECT_EQ(GetRecords(Iterator(arn, "TRIM_HORIZON")), R"({"Records":[]})");
}

// Enabling twice (SEM-098), iterators (SEM-104), ids (SEM-106), and the exceptions for them (ERR-01, ERR-02).
TEST_F(JsonStreams, AreRefusedInTheWordsOfTheService) {
  json_.Succeed("CreateTable", kCreateWithStream);
  const std::string arn =
      Text(json_.Succeed("DescribeTable", R"({"TableName":"Things"})"), "LatestStreamArn");
  struct Row {
    std::string operation, body, exception, message;
  };
  const std::string shard = "shardId-00000000000000000000-00000000";
  const std::string of_stream = R"("StreamArn":")" + arn + "\"";
  const Row rows[] = {
      {"UpdateTable",
       R"({"TableName":"Things","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}})",
       "ValidationException", "already enabled"},
      {"UpdateTable",
       R"({"TableName":"Things","StreamSpecification":{"StreamEnabled":false,"StreamViewType":"KEYS_ONLY"}})",
       "ValidationException", "StreamViewType must not be given"},
      {"CreateTable",
       R"({"TableName":"Other","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk",)"
       R"("AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"StreamSpecification":)"
       R"({"StreamEnabled":false,"StreamViewType":"KEYS_ONLY"}})",
       "ValidationException",
       R"("message":"One or more parameter values were invalid: Table is being created with a stream disabled, )"
       R"(UpdateViewType should not be specified","Detail":"StreamSpecification: StreamViewType must not be )"
       R"(given when StreamEnabled is false"})"},
      {"DescribeStream", R"({"StreamArn":"short"})", "ValidationException", "greater than or equal to 37"},
      {"DescribeStream", R"({})", "ValidationException", "streamArn"},
      {"DescribeStream", R"({"StreamArn":"arn:aws:dynamodb:local:000000000000:table/Things/stream/other"})",
       "ResourceNotFoundException",
       R"("message":"Requested resource not found: Stream: arn:aws:dynamodb:local:000000000000:table/Things/)"
       R"(stream/other not found","Detail":"Requested resource not found: Stream: table Things has no stream )"
       R"(other"})"},
      {"DescribeStream", "{" + of_stream + R"(,"Limit":101})", "ValidationException", "1 to 100"},
      {"DescribeStream", "{" + of_stream + R"(,"ShardFilter":{"Type":"CHILD_SHARDS"}})",
       "ValidationException", "ShardFilter"},
      {"ListStreams", R"({"TableName":"Nothing"})", "ResourceNotFoundException", "Nothing"},
      {"ListStreams", R"({"Limit":0})", "ValidationException", "limit"},
      {"GetShardIterator", "{" + of_stream + R"(,"ShardId":")" + shard + R"(","ShardIteratorType":"LATEST"})",
       "ResourceNotFoundException",
       R"("message":"Requested resource not found: Shard does not exist","Detail":"Requested resource not )"
       R"(found: Shard: the stream has no shard )" +
           shard + "\"}"},
      {"GetShardIterator", "{" + of_stream + R"(,"ShardId":")" + shard + R"(","ShardIteratorType":"x"})",
       "ValidationException", "enum value set"},
      {"GetRecords", R"({"ShardIterator":"AAAA"})", "ValidationException", "Invalid ShardIterator"},
      {"GetRecords", R"({"ShardIterator":"AAAA","Limit":1001})", "ValidationException", "1 to 1000"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.operation + " " + row.body);
    const std::string body = json_.Fail(row.operation, row.body);
    EXPECT_THAT(Text(body, "__type"), HasSubstr("#" + row.exception));
    EXPECT_THAT(body, HasSubstr(row.message));
  }
}

TEST_F(JsonStreams, ChildrenOfAShardAreAskedFor) {  // DescribeStream with ShardFilter CHILD_SHARDS (SEM-106).
  json_.Succeed("CreateTable", kCreateWithStream);
  const std::string arn =
      Text(json_.Succeed("DescribeTable", R"({"TableName":"Things"})"), "LatestStreamArn");
  const std::string shard =
      Text(json_.Succeed("DescribeStream", R"({"StreamArn":")" + arn + "\"}"), "ShardId");
  EXPECT_THAT(json_.Succeed("DescribeStream", R"({"StreamArn":")" + arn +
                                                  R"(","ShardFilter":{"Type":"CHILD_SHARDS","ShardId":")" +
                                                  shard + "\"}}"),
              HasSubstr(R"("Shards":[])"));
}

}  // namespace
}  // namespace itemdb::testing
