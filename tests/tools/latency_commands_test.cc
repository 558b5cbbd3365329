#include "tools/commands/latency_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;

TEST(LatencySummary, AreThoseOfTheSortedCalls) {
  std::vector<absl::Duration> calls;
  for (int i = 200; i >= 1; --i) calls.push_back(absl::Microseconds(i));
  const LatencySummary summary = SummarizeLatencies(calls);
  EXPECT_EQ(summary.samples, 200);
  EXPECT_EQ(summary.min_us, 1);
  EXPECT_EQ(summary.mean_us, 100);
  EXPECT_EQ(summary.p50_us, 100);
  EXPECT_EQ(summary.p99_us, 198);
  EXPECT_EQ(summary.max_us, 200);
  EXPECT_EQ(SummarizeLatencies({absl::Microseconds(7)}).p99_us, 7);
  EXPECT_EQ(SummarizeLatencies({}).samples, 0);
}

using Latency = ItemctlTest;

TEST_F(Latency, MakesSoManyCallsAndOneBefore) {
  int calls = 0;
  daemon_.get_status = [&calls](const auto&, auto*) {
    ++calls;
    return grpc::Status::OK;
  };
  const Outcome outcome = Call({"latency", "--samples", "5", "--interval", "0"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(calls, 6);
  EXPECT_THAT(outcome.out, HasSubstr(R"({"call": "GetStatus", "samples": 5, "min_us": )"));
}

TEST_F(Latency, ReadsAnItemOfTheTable) {
  daemon_.describe_table = [](const auto&, v1::DescribeTableReply* reply) {
    v1::KeySchemaElement* key = reply->mutable_table()->add_key_schema();
    key->set_attribute_name("id");
    key->set_key_type(v1::KEY_TYPE_HASH);
    return grpc::Status::OK;
  };
  bool empty = false;
  daemon_.scan = [&empty](const auto&, v1::ScanReply* reply) {
    if (!empty) AddString(*reply->add_items() = ItemWithId("first"), "more", "no key");
    return grpc::Status::OK;
  };
  v1::GetItemRequest seen;
  daemon_.get_item = [&seen](const v1::GetItemRequest& request, auto*) {
    seen = request;
    return grpc::Status::OK;
  };
  const Outcome outcome = Call({"latency", "--table", "T", "--samples", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(seen.key().attributes_size(), 1);
  EXPECT_EQ(seen.key().attributes(0).value().s(), "first");
  EXPECT_EQ(Call({"latency", "--table", "T", "--samples", "1", "--key", R"({"id": "mine"})"}).exit_code, 0);
  EXPECT_EQ(seen.key().attributes(0).value().s(), "mine");
  empty = true;
  EXPECT_THAT(Call({"latency", "--table", "T"}).err,
              HasSubstr("has no items to read; name a key with --key"));
  EXPECT_THAT(Call({"latency", "--key", "{}"}).err, HasSubstr("name its table with --table"));
}

TEST_F(Latency, EndsWithTheFirstError) {
  int calls = 0;
  daemon_.get_status = [&calls](const auto&, auto*) {
    return ++calls < 3 ? grpc::Status::OK : ErrorReply(grpc::StatusCode::DATA_LOSS, "DATA_LOSS", "broken");
  };
  const Outcome outcome = Call({"latency", "--interval", "0"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "itemctl: broken\n");
  EXPECT_EQ(outcome.out, "");
}

}  // namespace
}  // namespace itemdb::tools
