// --regions-apart: over HTTP each region has tables of its own. (For each key:
// tests/client/http/regions_of_keys_test.cc.)
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/e2e/e2e_fixture.h"
#include "tests/http/raw_http_client.h"

namespace itemdb::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RegionsTest : public E2eTest {
 protected:
  void SetUp() override {}

  void Start(std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--http-listen", "127.0.0.1:0", "--regions-apart"});
    const absl::Status started = daemon_.Start(more);
    ASSERT_TRUE(started.ok()) << started;
  }

  // The reply of an unsigned request whose credential scope has `region`.
  http::RawReply Call(const std::string& region, std::string_view operation, const std::string& body) const {
    std::string request = http::PostRequest(operation, body);
    if (operation.ends_with("Stream") || operation.ends_with("Streams"))
      request.replace(request.find("DynamoDB_"), 9, "DynamoDBStreams_");
    const std::string scope = "/us-east-1/dynamodb";
    request.replace(request.find(scope), scope.size(), "/" + region + "/dynamodb");
    http::RawHttpClient client(daemon_.http_endpoint());
    EXPECT_TRUE(client.Send(request));
    return client.ReadReply().value_or(http::RawReply());
  }
  http::RawReply CreateTable(const std::string& region, const std::string& name) const {
    return Call(region, "CreateTable", R"({"TableName": ")" + name + R"(", "BillingMode": "PAY_PER_REQUEST",
                    "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_IMAGE"},
                    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
                    "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}]})");
  }
  std::vector<std::string> Tables(const std::string& region) const {
    return Json::parse(Call(region, "ListTables", "{}").body)["TableNames"].get<std::vector<std::string>>();
  }
};

TEST_F(RegionsTest, HaveTablesStreamsAndBackupsOfTheirOwn) {
  Start();
  // The first requests of a region come at once, while its database is opened.
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] { EXPECT_EQ(Call("eu-central-1", "ListTables", "{}").status, 200); });
  for (std::thread& thread : threads) thread.join();

  ASSERT_EQ(CreateTable("eu-central-1", "Orders").status, 200);
  ASSERT_EQ(CreateTable("us-east-1", "Orders").status, 200) << "the same name in another region";
  ASSERT_EQ(CreateTable("local", "Local").status, 200);
  const std::string put = R"({"TableName": "Orders", "Item": {"PK": {"S": "here"}}})";
  const std::string get = R"({"TableName": "Orders", "Key": {"PK": {"S": "here"}}})";
  ASSERT_EQ(Call("eu-central-1", "PutItem", put).status, 200);
  EXPECT_THAT(Call("eu-central-1", "GetItem", get).body, HasSubstr("here"));
  EXPECT_EQ(Call("us-east-1", "GetItem", get).body, "{}");
  EXPECT_EQ(Call("local", "GetItem", get).status, 400);
  EXPECT_THAT(Call("us-east-1", "ExecuteStatement", R"({"Statement": "SELECT * FROM Orders"})").body,
              Not(HasSubstr("here")));

  // ARNs lead to what is in their region.
  const Json description =
      Json::parse(Call("eu-central-1", "DescribeTable", R"({"TableName": "Orders"})").body)["Table"];
  const std::string stream = description["LatestStreamArn"];
  EXPECT_THAT(Call("eu-central-1", "DescribeStream", R"({"StreamArn": ")" + stream + R"("})").body,
              HasSubstr("Orders"));
  EXPECT_THAT(Call("ap-south-1", "ListStreams", "{}").body, HasSubstr(R"("Streams":[])"));
  ASSERT_EQ(Call("us-east-1", "CreateBackup", R"({"TableName": "Orders", "BackupName": "one"})").status, 200);
  EXPECT_THAT(Call("us-east-1", "ListBackups", "{}").body, HasSubstr("Orders"));
  EXPECT_THAT(Call("eu-central-1", "ListBackups", "{}").body, Not(HasSubstr("Orders")));

  // gRPC has the region local.
  EXPECT_THAT(Itemctl({"table", "list", "-o", "jsonl"}).out, HasSubstr("Local"));
  EXPECT_THAT(Itemctl({"table", "list", "-o", "jsonl"}).out, Not(HasSubstr("Orders")));

  daemon_.Kill();
  Start();
  EXPECT_THAT(Tables("eu-central-1"), ElementsAre("Orders"));
  EXPECT_THAT(Call("eu-central-1", "GetItem", get).body, HasSubstr("here"));
  EXPECT_THAT(Tables("local"), ElementsAre("Local"));
  EXPECT_THAT(Tables("ap-south-1"), IsEmpty());
  EXPECT_EQ(daemon_.Terminate(), 0);
}

TEST_F(RegionsTest, WithoutTheSettingAllHaveTheSameTables) {
  ASSERT_TRUE(daemon_.Start({"--http-listen", "127.0.0.1:0"}).ok());
  ASSERT_EQ(CreateTable("eu-central-1", "Orders").status, 200);
  EXPECT_THAT(Tables("us-east-1"), ElementsAre("Orders"));
  EXPECT_FALSE(std::filesystem::exists(daemon_.data_directory() + "/regions"));
}

TEST_F(RegionsTest, ThatAreNoneAreRefused) {
  Start();
  for (const std::string& region :
       {std::string(".."), std::string("a.b"), std::string(65, 'x'), std::string("%2e")}) {
    const http::RawReply reply = Call(region, "ListTables", "{}");
    EXPECT_EQ(reply.status, 400) << region;
    EXPECT_THAT(reply.body, HasSubstr("UnrecognizedClientException")) << region;
  }
  EXPECT_FALSE(std::filesystem::exists(daemon_.data_directory() + "/regions"));
  for (int i = 0; i < 32; ++i) EXPECT_EQ(Call("r" + std::to_string(i), "ListTables", "{}").status, 200) << i;
  const http::RawReply further = Call("r32", "ListTables", "{}");
  EXPECT_EQ(further.status, 400);
  EXPECT_THAT(further.body, HasSubstr("LimitExceededException"));
  EXPECT_EQ(Call("r0", "ListTables", "{}").status, 200);
}

}  // namespace
}  // namespace itemdb::e2e
