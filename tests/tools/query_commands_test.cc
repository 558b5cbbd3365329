#include "tools/commands/query_commands.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

using QueryCommands = ItemctlTest;

// Items "1", "2", "3" in pages of `limit` items, or of one item without a limit.
grpc::Status ThreeItems(const v1::ScanRequest& request, v1::ScanReply* reply) {
  int next = 1;
  if (request.has_exclusive_start_key()) {
    next = std::stoi(request.exclusive_start_key().attributes(0).value().s()) + 1;
  }
  const int end = std::min(4, next + (request.has_limit() ? request.limit() : 1));
  for (int i = next; i < end; ++i) *reply->add_items() = ItemWithId(std::to_string(i));
  reply->set_count(end - next);
  reply->set_scanned_count(2 * (end - next));
  if (end <= 3) *reply->mutable_last_evaluated_key() = ItemWithId(std::to_string(end - 1));
  return grpc::Status::OK;
}

TEST_F(QueryCommands, ScanPrintsAllPages) {
  daemon_.scan = ThreeItems;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"scan", "T"}, {"scan", "T", "--page-size", "2"}}) {
    const Outcome outcome = Call(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "{\"id\": \"1\"}\n{\"id\": \"2\"}\n{\"id\": \"3\"}\n");
    EXPECT_EQ(outcome.err, "");
  }
  EXPECT_EQ(Call({"scan", "T", "-o", "json"}).out,
            "{\n  \"Items\": [\n    {\"id\": \"1\"},\n    {\"id\": \"2\"},\n    {\"id\": \"3\"}\n  ],\n"
            "  \"Count\": 3,\n  \"ScannedCount\": 6\n}\n");
}

TEST_F(QueryCommands, OnePageNamesItsLastEvaluatedKey) {
  daemon_.scan = ThreeItems;
  Outcome outcome = Call({"scan", "T", "--limit", "2"});
  EXPECT_EQ(outcome.out, "{\"id\": \"1\"}\n{\"id\": \"2\"}\n");
  EXPECT_EQ(outcome.err, "LastEvaluatedKey: {\"id\": {\"S\": \"2\"}}\n");

  outcome = Call({"scan", "T", "--page", "--exclusive-start-key", R"({"id": {"S": "1"}})", "-o", "json"});
  EXPECT_EQ(outcome.out,
            "{\n  \"Items\": [\n    {\"id\": \"2\"}\n  ],\n  \"Count\": 1,\n  \"ScannedCount\": 2,\n"
            "  \"LastEvaluatedKey\": {\n    \"id\": {\"S\": \"2\"}\n  }\n}\n");
  EXPECT_EQ(outcome.err, "");

  outcome = Call({"scan", "T", "--limit", "5"});
  EXPECT_EQ(outcome.err, "");
}

// The items of earlier pages are printed; the error decides the exit code.
TEST_F(QueryCommands, AnErrorOnALaterPageIsReported) {
  daemon_.scan = [](const v1::ScanRequest& request, v1::ScanReply* reply) {
    if (request.has_exclusive_start_key())
      return ErrorReply(grpc::StatusCode::DATA_LOSS, "DATA_LOSS", "damaged");
    return ThreeItems(request, reply);
  };
  const Outcome outcome = Call({"scan", "T"});
  EXPECT_EQ(outcome.out, "{\"id\": \"1\"}\n");
  EXPECT_EQ(outcome.err, "itemctl: damaged\n");
  EXPECT_EQ(outcome.exit_code, 1);
}

TEST_F(QueryCommands, QueryPassesEverythingOn) {
  v1::QueryRequest seen;
  daemon_.query = [&seen](const v1::QueryRequest& request, v1::QueryReply*) {
    seen = request;
    return grpc::Status::OK;
  };
  const Outcome outcome = Call(
      {"query", "T", "--index-name", "I", "--key-condition-expression", "#p = :p", "--filter-expression",
       "x > :p", "--projection-expression", "#p", "--expression-attribute-names", R"({"#p": "PK"})",
       "--expression-attribute-values", R"({":p": {"S": "a"}})", "--no-scan-index-forward", "--limit", "7"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  v1::QueryRequest expected;
  expected.set_table_name("T");
  expected.set_index_name("I");
  expected.set_key_condition_expression("#p = :p");
  expected.set_filter_expression("x > :p");
  expected.set_projection_expression("#p");
  (*expected.mutable_expression_attribute_names())["#p"] = "PK";
  (*expected.mutable_expression_attribute_values())[":p"].set_s("a");
  expected.set_scan_index_forward(false);
  expected.set_limit(7);
  expected.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_NONE);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(seen, expected)) << seen.ShortDebugString();
}

TEST_F(QueryCommands, TablesBeginWithTheKeys) {
  daemon_.describe_table = [](const auto&, v1::DescribeTableReply* reply) {
    v1::KeySchemaElement* key = reply->mutable_table()->add_key_schema();
    key->set_attribute_name("z");
    key->set_key_type(v1::KEY_TYPE_HASH);
    return grpc::Status::OK;
  };
  daemon_.scan = [](const auto&, v1::ScanReply* reply) {
    v1::Item* item = reply->add_items();
    AddString(*item, "a", "1");
    AddString(*item, "z", "2");
    return grpc::Status::OK;
  };
  EXPECT_EQ(Call({"scan", "T"}, "", true).out, "z  a\n-  -\n2  1\n1 item\n");
}

}  // namespace
}  // namespace itemdb::tools
