// DynamoDB Streams as they are read by a move: shards in the order of their lineage, places, what is lost.
#include "tools/moving/table_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "itemdb/json_call.h"
#include "tests/client/http/scripted_server.h"

namespace itemdb::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Client ClientOf(const ScriptedServer& server) {
  return *Client::Open({.endpoint = server.endpoint(),
                        .timeout = absl::Seconds(20),
                        .retry = {.max_attempts = 1},
                        .access_key_id = "AKID",
                        .secret_access_key = "secret"});
}

ScriptedAnswer StreamList(const std::string& label) {
  return {.body = R"({"Streams":[{"TableName":"Other","StreamLabel":"9","StreamArn":"arn9"},)"
                  R"({"TableName":"T","StreamLabel":")" +
                  label + R"(","StreamArn":"arn)" + label + R"("}]})"};
}

ScriptedAnswer Shards(const std::string& shards, const std::string& status = "ENABLED") {
  return {.body = R"({"StreamDescription":{"StreamStatus":")" + status + R"(","Shards":[)" + shards + "]}}"};
}

ScriptedAnswer Iterator(const std::string& iterator) {
  return {.body = R"({"ShardIterator":")" + iterator + R"("})"};
}

std::string Record(const std::string& key, const std::string& sequence_number) {
  return R"({"eventName":"MODIFY","dynamodb":{"ApproximateCreationDateTime":1.7e9,"Keys":{"id":{"S":")" +
         key + R"("}},"SequenceNumber":")" + sequence_number + R"("}})";
}

// Without `next` the shard has ended.
ScriptedAnswer Records(const std::string& records, const std::string& next = "") {
  return {.body = R"({"Records":[)" + records + "]" +
                  (next.empty() ? "" : R"(,"NextShardIterator":")" + next + R"(")") + "}"};
}

class TableStreamTest : public ::testing::Test {
 protected:
  TableStream StreamWith(std::deque<ScriptedAnswer> answers, StreamPlace place = {},
                         absl::Duration patience = absl::ZeroDuration()) {
    server_ = std::make_unique<ScriptedServer>(std::move(answers));
    side_ =
        std::make_unique<Side>(ClientOf(*server_), "the source", Patience(patience, CancelToken()), nullptr);
    return TableStream(*side_, "T", std::move(place));
  }
  void TearDown() override {
    side_ = nullptr;
    server_ = nullptr;
  }

  std::unique_ptr<ScriptedServer> server_;
  std::unique_ptr<Side> side_;
};

constexpr char kParentAndChild[] = R"({"ShardId":"child","ParentShardId":"parent"},{"ShardId":"parent"})";

// The list has the child first, and the change of the parent is the older one.
TEST_F(TableStreamTest, ReadsParentsBeforeChildren) {
  TableStream stream =
      StreamWith({StreamList("1"), Shards(kParentAndChild), Iterator("p0"), Records(Record("a", "10")),
                  Shards(kParentAndChild), Iterator("c0"), Records(Record("b", "20"), "c1")});
  ASSERT_TRUE(stream.Open().ok());
  ChangedBatch batch;
  const absl::StatusOr<bool> is_read = stream.Read(&batch);
  ASSERT_TRUE(is_read.ok()) << is_read.status();
  EXPECT_TRUE(*is_read);
  EXPECT_EQ(batch.changes, 2);
  const auto requests = server_->requests();
  ASSERT_EQ(requests.size(), 7u);
  EXPECT_THAT(requests[0], HasSubstr("x-amz-target: DynamoDBStreams_20120810.ListStreams"));
  EXPECT_THAT(requests[2], AllOf(HasSubstr(R"("ShardId": "parent")"), HasSubstr("TRIM_HORIZON")));
  EXPECT_THAT(requests[5], AllOf(HasSubstr(R"("ShardId": "child")"), HasSubstr("TRIM_HORIZON")));
  EXPECT_TRUE(stream.place().shards.at("parent").is_done);
  EXPECT_EQ(stream.place().shards.at("child").sequence_number, "20");
  EXPECT_FALSE(stream.place().shards.at("child").is_done);
}

TEST_F(TableStreamTest, GoesOnAfterThePlaceOfAnEarlierRun) {
  TableStream stream =
      StreamWith({StreamList("1"), Shards(kParentAndChild), Iterator("c7"), Records("", "c8")},
                 {.arn = "arn1",
                  .shards = {{"parent", {.sequence_number = "10", .is_done = true}},
                             {"child", {.sequence_number = "20"}}}});
  ASSERT_TRUE(stream.Open().ok());
  ChangedBatch batch;
  ASSERT_TRUE(stream.Read(&batch).ok());
  const auto requests = server_->requests();
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_THAT(requests[2], AllOf(HasSubstr(R"("ShardId": "child")"), HasSubstr("AFTER_SEQUENCE_NUMBER"),
                                 HasSubstr(R"("SequenceNumber": "20")")));
}

// An iterator ends after 15 minutes, for example while a side is away.
TEST_F(TableStreamTest, AnExpiredIteratorIsReplaced) {
  TableStream stream =
      StreamWith({StreamList("1"),
                  Shards(R"({"ShardId":"s"})"),
                  Iterator("s0"),
                  Records(Record("a", "10"), "s1"),
                  {.http_status = 400, .body = ExceptionBody("ExpiredIteratorException", "it is old")},
                  Iterator("s2"),
                  Records(Record("b", "20"), "s3")});
  ASSERT_TRUE(stream.Open().ok());
  ChangedBatch batch;
  for (int64_t changes : {1, 2}) {
    const absl::StatusOr<bool> is_read = stream.Read(&batch);
    ASSERT_TRUE(is_read.ok()) << is_read.status();
    EXPECT_EQ(batch.changes, changes);
  }
  EXPECT_THAT(server_->requests()[5], HasSubstr(R"("SequenceNumber": "10")"));
}

TEST_F(TableStreamTest, TrimmedRecordsAreToldByName) {
  TableStream stream =
      StreamWith({StreamList("1"),
                  Shards(R"({"ShardId":"s"})"),
                  {.http_status = 400, .body = ExceptionBody("TrimmedDataAccessException", "too old")}},
                 {.arn = "arn1", .shards = {{"s", {.sequence_number = "10"}}}});
  ASSERT_TRUE(stream.Open().ok());
  ChangedBatch batch;
  const absl::Status status = stream.Read(&batch).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("the stream of table T of the source"), HasSubstr("after 10 of shard s"),
                    HasSubstr("TrimmedDataAccessException"), HasSubstr("24 hours")));
}

// A shard goes 24 hours after its end, also when nobody has read it.
TEST_F(TableStreamTest, AShardThatIsGoneBeforeItWasReadIsToldByName) {
  constexpr char kChild[] = R"({"ShardId":"child","ParentShardId":"parent"})";
  TableStream of_place = StreamWith({StreamList("1"), Shards(kChild)},
                                    {.arn = "arn1", .shards = {{"parent", {.sequence_number = "10"}}}});
  const absl::Status at_open = of_place.Open();
  EXPECT_EQ(at_open.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(at_open.message()), HasSubstr("after 10 of shard parent"));
  TearDown();
  // Of a list: "other" has ended, so the shards are listed again.
  TableStream of_list =
      StreamWith({StreamList("1"), Shards(R"({"ShardId":"other"},{"ShardId":"parent"})"), Iterator("o0"),
                  Records(""), Iterator("p0"), Records("", "p1"), Shards(kChild)});
  ASSERT_TRUE(of_list.Open().ok());
  ChangedBatch batch;
  const absl::Status at_read = of_list.Read(&batch).status();
  EXPECT_EQ(at_read.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(at_read.message()), HasSubstr("of shard parent any more"));
  TearDown();
  // Between the list and the iterator.
  TableStream at_iterator =
      StreamWith({StreamList("1"),
                  Shards(R"({"ShardId":"s"})"),
                  {.http_status = 400, .body = ExceptionBody("ResourceNotFoundException", "no shard")}});
  ASSERT_TRUE(at_iterator.Open().ok());
  EXPECT_EQ(at_iterator.Read(&batch).status().code(), absl::StatusCode::kOutOfRange);
  TearDown();
  // One that was read is not missed.
  TableStream read = StreamWith({StreamList("1"), Shards(kChild)},
                                {.arn = "arn1", .shards = {{"parent", {.is_done = true}}}});
  EXPECT_TRUE(read.Open().ok());
  EXPECT_TRUE(read.place().shards.empty());
}

TEST_F(TableStreamTest, AStreamThatIsOffOrAnotherOneIsToldByName) {
  TableStream off = StreamWith({StreamList("1"), Shards("", "DISABLED")});
  const absl::Status is_off = off.Open();
  EXPECT_EQ(is_off.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(is_off.message()), HasSubstr("has no stream: give --enable-streams"));
  TearDown();
  TableStream none = StreamWith({{.body = R"({"Streams":[]})"}});
  EXPECT_THAT(std::string(none.Open().message()), HasSubstr("has no stream: give --enable-streams"));
  TearDown();
  TableStream other = StreamWith({StreamList("2")}, {.arn = "arn1"});
  const absl::Status is_other = other.Open();
  EXPECT_EQ(is_other.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(is_other.message()), HasSubstr("has another stream than when it was last read"));
}

// A full page is no end: there may be more.
TEST_F(TableStreamTest, ReadsOnAfterAFullPage) {
  std::string records;
  for (int i = 0; i < 1'000; ++i)
    records += (i == 0 ? "" : ",") + Record("a" + std::to_string(i), "1" + std::to_string(i));
  TableStream stream = StreamWith({StreamList("1"), Shards(R"({"ShardId":"s"})"), Iterator("s0"),
                                   Records(records, "s1"), Records(Record("b", "20"), "s2")});
  ASSERT_TRUE(stream.Open().ok());
  ChangedBatch batch;
  for (const bool is_at_end : {false, true}) {
    const absl::StatusOr<bool> is_read = stream.Read(&batch);
    ASSERT_TRUE(is_read.ok()) << is_read.status();
    EXPECT_EQ(*is_read, is_at_end);
  }
  EXPECT_EQ(batch.changes, 1'001);
  EXPECT_EQ(batch.keys.at("T").size(), 1'001u);
  EXPECT_EQ(server_->requests().size(), 5u);
}

// DynamoDB allows five reads of a shard in a second, of all who read it.
TEST_F(TableStreamTest, AThrottledReadIsRepeatedAndReadsKeepTheirPace) {
  const ScriptedAnswer throttled{.http_status = 400,
                                 .body = ExceptionBody("LimitExceededException", "too many reads")};
  TableStream stream = StreamWith({StreamList("1"), Shards(R"({"ShardId":"s"})"), Iterator("s0"), throttled,
                                   throttled, Records("", "s1"), Records("", "s2"), Records("", "s3")},
                                  {}, absl::Seconds(60));
  ASSERT_TRUE(stream.Open().ok());
  ChangedBatch batch;
  const auto read = [&] {
    const absl::StatusOr<bool> is_read = stream.Read(&batch);
    EXPECT_TRUE(is_read.ok()) << is_read.status();
  };
  const absl::Time begin = absl::Now();
  read();
  // After each of the refusals.
  EXPECT_GE(absl::Now() - begin, absl::Milliseconds(400));
  const absl::Time second = absl::Now();
  read();
  read();
  EXPECT_GE(absl::Now() - second, absl::Milliseconds(200));
  EXPECT_EQ(server_->requests().size(), 8u);
}

// A long line of shards that have ended: each is the parent of the next.
TEST_F(TableStreamTest, AReadEndsWhenThereIsMuchToApply) {
  constexpr int kShards = 40;
  std::string shards = R"({"ShardId":"s0"})";
  for (int i = 1; i < kShards; ++i)
    shards = R"({"ShardId":"s)" + std::to_string(i) + R"(","ParentShardId":"s)" + std::to_string(i - 1) +
             R"("},)" + shards;
  std::deque<ScriptedAnswer> answers = {StreamList("1"), Shards(shards)};
  for (int i = 0; i < kShards; ++i) {
    std::string records;
    for (int k = 0; k < 1'000; ++k)
      records += (k == 0 ? "" : ",") + Record(std::to_string(i) + "/" + std::to_string(k), "1");
    answers.push_back(Iterator("i"));
    answers.push_back(Records(records));
    answers.push_back(Shards(shards));
  }
  TableStream stream = StreamWith(std::move(answers));
  ASSERT_TRUE(stream.Open().ok());
  for (const int64_t changes : {21'000, 19'000}) {
    ChangedBatch batch;
    const absl::StatusOr<bool> is_read = stream.Read(&batch);
    ASSERT_TRUE(is_read.ok()) << is_read.status();
    EXPECT_EQ(*is_read, changes < 20'000);
    EXPECT_EQ(batch.changes, changes);
  }
}

TEST(StreamsEndpoint, IsAHostOfItsOwnAtAws) {
  EXPECT_EQ(StreamsEndpointOf("https://dynamodb.eu-central-1.amazonaws.com"),
            "https://streams.dynamodb.eu-central-1.amazonaws.com");
  EXPECT_EQ(StreamsEndpointOf("https://dynamodb.cn-north-1.amazonaws.com.cn"),
            "https://streams.dynamodb.cn-north-1.amazonaws.com.cn");
  EXPECT_EQ(StreamsEndpointOf("http://127.0.0.1:8000"), "http://127.0.0.1:8000");
  EXPECT_EQ(StreamsEndpointOf("127.0.0.1:7420"), "127.0.0.1:7420");
}

// Without it a kill would begin the streams anew.
TEST(MoveStateOfStreams, IsReadAsItWasWritten) {
  MoveState state{.move_id = "m", .source = "s", .source_endpoint = "e", .target_endpoint = "t"};
  state.tables.push_back({.name = "T", .table_id = "i", .segments = {{.done = true}}});
  state.tables.push_back({.name = "U",
                          .table_id = "j",
                          .stream = {.arn = "arn",
                                     .shards = {{"a", {.sequence_number = "10", .is_done = true}},
                                                {"b", {.sequence_number = "20"}}}}});
  const std::string text = OneLine(MoveStateToJson(state));
  const absl::StatusOr<MoveState> read = ParseMoveState(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(OneLine(MoveStateToJson(*read)), text);
  EXPECT_EQ(read->tables[1].stream.shards.at("b").sequence_number, "20");
  EXPECT_TRUE(read->tables[1].stream.shards.at("a").is_done);
  EXPECT_TRUE(read->tables[0].stream.arn.empty());
}

TEST(CallJson, IsOfUrlsOnly) {
  const Client client = *Client::Open({.endpoint = "127.0.0.1:7420"});
  const absl::Status status =
      CallJson(client, {.target = "DynamoDBStreams_20120810.ListStreams", .body = "{}"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("127.0.0.1:7420 is no URL"));
}

TEST(CallJson, RefusesATargetThatWouldBreakTheHeader) {
  ScriptedServer server({});
  const absl::Status status = CallJson(ClientOf(server), {.target = "A.B\r\nx: y", .body = "{}"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(server.requests().empty());
}

}  // namespace
}  // namespace itemdb::tools
