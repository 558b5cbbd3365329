// Moves between two daemons, step by step: what cannot be reached from outside in short time.
#include "tools/moving/move.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "itemdb/bulk_writer.h"
#include "tests/client/http/scripted_server.h"
#include "tests/processes/daemon_process.h"
#include "tests/support/await.h"
#include "tests/support/temporary_directory.h"
#include "tools/moving/change_log_feed.h"
#include "tools/moving/follower.h"
#include "tools/moving/stream_feed.h"

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;

// In the source and in the target.
constexpr char kMovedTable[] = "Things";

class TwoDaemonsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [name, daemon] :
         {std::pair("source", &source_daemon_), std::pair("target", &target_daemon_)}) {
      const std::string path = directory_.path() + "/" + name;
      std::filesystem::create_directory(path);
      *daemon = std::make_unique<e2e::DaemonProcess>(path);
      // The same when it is started again.
      (*daemon)->set_listen({"unix:" + path + "/socket"});
      const absl::Status started = (*daemon)->Start();
      ASSERT_TRUE(started.ok()) << started;
    }
  }
  static Client ClientOf(const e2e::DaemonProcess& daemon) {
    return *Client::Open({.endpoint = daemon.endpoint()});
  }
  Client source() const { return ClientOf(*source_daemon_); }
  Client target() const { return ClientOf(*target_daemon_); }
  std::string state_file() const { return directory_.path() + "/move.json"; }

  static void MakeTable(const Client& client) {
    const auto made = client.CreateTable({.table_name = kMovedTable,
                                          .attribute_definitions = {{"id", ScalarAttributeType::kString}},
                                          .key_schema = {{"id", KeyType::kHash}}});
    ASSERT_TRUE(made.ok()) << made.status();
  }
  static void Fill(const Client& client, int from, int count, int more = 0) {
    BulkWriter writer(client);
    for (int i = from; i < from + count; ++i)
      ASSERT_TRUE(writer.Put(kMovedTable, {{"id", "item" + std::to_string(i)}, {"n", i + more}}).ok());
    const auto written = writer.Finish();
    ASSERT_TRUE(written.ok()) << written.status();
  }
  static std::map<std::string, Item> ItemsOf(const Client& client) {
    std::map<std::string, Item> items;
    ItemRange range = client.ScanAll({.table_name = kMovedTable});
    for (const Item& item : range) items[*item.find_or_null("id")->string_or_null()] = item;
    EXPECT_TRUE(range.status().ok()) << range.status();
    return items;
  }
  // Changes an item in the target although a fence keeps writers out.
  void ChangeInTarget(const Item& item) {
    const auto table = target().DescribeTable(kMovedTable);
    ASSERT_TRUE(table.ok()) << table.status();
    const std::optional<WriteFence> fence = table->table.write_fence;
    ASSERT_TRUE(target().UpdateTable({.table_name = kMovedTable, .write_fence = WriteFence{}}).ok());
    ASSERT_TRUE(target().PutItem({.table_name = kMovedTable, .item = item}).ok());
    if (!fence.has_value()) return;
    ASSERT_TRUE(target().UpdateTable({.table_name = kMovedTable, .write_fence = fence}).ok());
  }

  testing::TemporaryDirectory directory_;
  std::unique_ptr<e2e::DaemonProcess> source_daemon_;
  std::unique_ptr<e2e::DaemonProcess> target_daemon_;
};

// The feed of a source that was restored to an earlier time: a mark is before its place.
class RolledBackFeed : public ChangeFeed {
 public:
  static constexpr uint64_t kPlace = 40;
  explicit RolledBackFeed(std::future<void> may_read) : may_read_(std::move(may_read)) {}

  absl::StatusOr<ChangedBatch> Read(bool /*checks*/) override {
    may_read_.wait();
    return absl::OutOfRangeError("restored to an earlier time");
  }
  void Save(MoveState& /*state*/) const override {}
  uint64_t place() const override { return kPlace; }
  int64_t behind() const override { return 0; }
  absl::Duration poll_interval() const override { return absl::Milliseconds(10); }
  bool is_exact() const override { return true; }
  absl::StatusOr<uint64_t> Mark() const override { return kPlace - 10; }

 private:
  std::future<void> may_read_;
};

// Nothing else tells it, if both sides are not compared again.
TEST_F(TwoDaemonsTest, ARolledBackSourceHasNoPlaceThatIsReached) {
  const Side source_side(source(), "the source", Patience(absl::Seconds(10), {}), nullptr);
  const Side target_side(target(), "the target", Patience(absl::Seconds(10), {}), nullptr);
  MoveJournal journal(state_file(), target_side, target_side);
  Pace pace(1, 0);
  std::promise<void> may_read;
  Follower follower(source_side, target_side, std::make_unique<RolledBackFeed>(may_read.get_future()),
                    journal, pace, 1);
  follower.Start();
  const auto mark = follower.Mark();
  ASSERT_TRUE(mark.ok());
  // Before the source was read.
  const absl::Status early = follower.Await(*mark, absl::Now());
  EXPECT_TRUE(absl::IsDeadlineExceeded(early)) << early;
  may_read.set_value();
  ASSERT_TRUE(testing::Await([&] { return follower.has_failed(); }));
  const absl::Status late = follower.Await(*mark);
  EXPECT_TRUE(absl::IsOutOfRange(late)) << late;
}

// The places after the first page of a batch are changes of the source too.
TEST_F(TwoDaemonsTest, ASourceThatIsRolledBackBetweenTwoPagesIsNoticed) {
  MakeTable(source());
  const auto table = source().DescribeTable(kMovedTable);
  ASSERT_TRUE(table.ok()) << table.status();
  Fill(source(), 0, 1'500);
  const std::string data = source_daemon_->data_directory();
  const std::string earlier = directory_.path() + "/earlier";
  source_daemon_->Kill();
  std::filesystem::copy(data, earlier, std::filesystem::copy_options::recursive);
  ASSERT_TRUE(source_daemon_->Start().ok());
  Fill(source(), 1'500, 7'000);

  const Side plain(source(), "the source", Patience(absl::Seconds(10), {}), nullptr);
  const auto first_time = CommitTimeOf(plain, 1);
  ASSERT_TRUE(first_time.ok());
  ASSERT_GT(*first_time, 0);
  // In the middle of the batch, when more is read than the earlier time has.
  int reads = 0;
  const auto roll_back = [&](const CallRecord& call) {
    if (call.operation != "ReadChanges" || ++reads != 3) return;
    source_daemon_->Kill();
    std::filesystem::remove_all(data);
    std::filesystem::rename(earlier, data);
    ASSERT_TRUE(source_daemon_->Start().ok());
    Fill(source(), 20'000, 9'000);
  };
  const auto client = Client::Open({.endpoint = source_daemon_->endpoint(), .on_call = roll_back});
  ASSERT_TRUE(client.ok());
  const Side side(*client, "the source", Patience(absl::Seconds(10), {}), nullptr);
  ChangeLogFeed feed(side, {.tables = {{table->table.storage_id, kMovedTable}},
                            .after_sequence = 1,
                            .after_time_us = *first_time});
  const auto batch = feed.Read(/*checks=*/true);
  EXPECT_GT(reads, 3);
  EXPECT_TRUE(absl::IsOutOfRange(batch.status())) << batch.status();
}

// That change tells whether the source was restored to an earlier time.
TEST_F(TwoDaemonsTest, TheHoldOfAMoveHasTheChangeThatItComesAfter) {
  MakeTable(source());
  Fill(source(), 0, 10);
  const auto before = source().GetStatus();
  ASSERT_TRUE(before.ok()) << before.status();
  Move move(source(), target(), {.state_path = state_file()});
  ASSERT_TRUE(move.Open().ok());
  const auto holds = source().ListChangeHolds();
  ASSERT_TRUE(holds.ok()) << holds.status();
  ASSERT_EQ(holds->size(), 1u);
  EXPECT_EQ(holds->front().after_sequence, before->change_sequence - 1);
}

// What differs may be among the keys that were not noted.
TEST_F(TwoDaemonsTest, ComparesAllWhenMoreKeysChangedThanAreNoted) {
  constexpr size_t kMost = 3'000;
  MakeTable(source());
  Fill(source(), 0, 10'000);
  Move move(source(), target(), {.state_path = state_file(), .most_changed_keys = kMost});
  ASSERT_TRUE(move.Open().ok());
  ASSERT_TRUE(move.Copy().ok());
  ASSERT_TRUE(move.StartFollowing().ok());
  ASSERT_TRUE(move.Verify().ok());
  EXPECT_EQ(move.report().items_compared, 10'000);
  EXPECT_TRUE(move.report().repaired.empty());

  Fill(source(), 0, 5'000, /*more=*/1);
  Fill(source(), 10'000, 10);
  ASSERT_TRUE(testing::Await([&] { return move.report().changes_applied >= 10; }));
  ASSERT_TRUE(testing::Await([&] { return ItemsOf(target()).size() == 10'010; }));
  EXPECT_EQ(move.follower_or_null()->changed().count(), kMost);
  ChangeInTarget({{"id", "item9000"}, {"n", 7}});
  const absl::Status compared = move.CompareUntilFew();
  ASSERT_TRUE(compared.ok()) << compared;
  ASSERT_EQ(move.report().repaired.size(), 1u);
  const Item changed{{"id", "item9000"}};
  EXPECT_EQ(move.report().repaired[0].key, changed);
  // Noting has begun anew before the comparison.
  EXPECT_FALSE(move.follower_or_null()->changed().overflowed());
  const absl::Status switched = move.Switch();
  ASSERT_TRUE(switched.ok()) << switched;
  EXPECT_EQ(ItemsOf(target()), ItemsOf(source()));
}

// ---- the plan

const Side SideOf(Client client) {
  return {std::move(client), "the target", Patience(absl::ZeroDuration(), CancelToken()), nullptr};
}

constexpr char kEmptyTable[] = R"({"Table":{"TableName":"Things","TableStatus":"ACTIVE","ItemCount":0,
    "BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST"},
    "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
    "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}]}})";

// Items that were deleted may fill many pages, and DynamoDB counts those that are there seldom.
TEST_F(TwoDaemonsTest, ATableOfEmptyPagesIsNotReadToItsEnd) {
  MakeTable(source());
  std::deque<ScriptedAnswer> answers = {{.body = kEmptyTable}};
  for (int i = 0; i < 1'000; ++i)
    answers.push_back(
        {.body = R"({"Items":[],"Count":0,"ScannedCount":0,"LastEvaluatedKey":{"id":{"S":"x"}}})"});
  ScriptedServer server(std::move(answers));
  const Side there = SideOf(*Client::Open({.endpoint = server.endpoint(),
                                           .retry = {.max_attempts = 1},
                                           .access_key_id = "AKID",
                                           .secret_access_key = "secret"}));
  const absl::StatusOr<MovePlan> plan = PlanMove(SideOf(source()), there, {.table_names = {kMovedTable}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(plan->tables[0].may_have_items_in_target);
  EXPECT_THAT(plan->tables[0].problem, HasSubstr("may have items: its first 20 pages have none"));
  EXPECT_THAT(plan->tables[0].problem, HasSubstr("give --overwrite"));
  EXPECT_LT(server.requests().size(), 30u);
}

// An engine may refuse a question for another reason than that it lacks the feature.
TEST_F(TwoDaemonsTest, ThePlanHasTheWordsOfTheTarget) {
  MakeTable(source());
  ASSERT_TRUE(source()
                  .UpdateTimeToLive({.table_name = kMovedTable, .enabled = true, .attribute_name = "until"})
                  .ok());
  ScriptedServer server(
      {{.http_status = 400, .body = ExceptionBody("ResourceNotFoundException", "no such table")},
       {.http_status = 400, .body = ExceptionBody("ValidationException", "the moon is full")}});
  const Side there = SideOf(*Client::Open({.endpoint = server.endpoint(),
                                           .retry = {.max_attempts = 1},
                                           .access_key_id = "AKID",
                                           .secret_access_key = "secret"}));
  const absl::StatusOr<MovePlan> plan = PlanMove(SideOf(source()), there, {.table_names = {kMovedTable}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->tables[0].problem,
              HasSubstr("time to live (itemctl ttl disable Things; it says: the moon is full)"));
}

// ---- where a move is

constexpr int kManyShards = 5'000;

std::string ShardId(int number) {
  return "shardId-0000001760000000" + std::to_string(100'000 + number) + "-0123abcd";
}

MoveState StateOf(const std::string& run) {
  MoveState state{.move_id = "m", .source = "the source", .source_endpoint = "e", .target_endpoint = "t"};
  state.run = run;
  state.tables.push_back({.name = kMovedTable, .table_id = "i", .segments = {{.done = true}}});
  return state;
}

class LargeStateTest : public TwoDaemonsTest {
 protected:
  Side SideOfTarget() const {
    return {target(), "the target", Patience(absl::Seconds(10), CancelToken()), nullptr};
  }
  // How many items the table of moves has.
  int64_t Records() const {
    const auto page = target().Scan({.table_name = kMovesTable});
    EXPECT_TRUE(page.ok()) << page.status();
    return page.ok() ? page->count : -1;
  }
};

// One item of the target has room for about 4,000.
TEST_F(LargeStateTest, APlaceInAStreamOfManyShardsIsKept) {
  std::deque<ScriptedAnswer> answers = {
      {.body = R"({"Streams":[{"TableName":"Things","StreamLabel":"1","StreamArn":"arn1"}]})"}};
  for (int from = 0; from < kManyShards; from += 100) {
    std::string shards;
    for (int i = from; i < from + 100; ++i)
      shards += std::string(i == from ? "" : ",") + R"({"ShardId":")" + ShardId(i) + R"("})";
    const std::string last =
        from + 100 < kManyShards ? R"(,"LastEvaluatedShardId":")" + ShardId(from + 99) + "\"" : "";
    answers.push_back({.body = R"({"StreamDescription":{"StreamStatus":"ENABLED","Shards":[)" + shards + "]" +
                               last + "}}"});
  }
  for (int i = 0; i < kManyShards; ++i) {
    answers.push_back({.body = R"({"ShardIterator":"s"})"});
    answers.push_back({.body = R"({"Records":[{"eventName":"MODIFY","dynamodb":{"Keys":{"id":{"S":"k)" +
                               std::to_string(i) + R"("}},"SequenceNumber":")" + std::to_string(100'000 + i) +
                               R"(0000000000000000"}}],"NextShardIterator":"n"})"});
  }
  ScriptedServer server(std::move(answers));
  const Side source(*Client::Open({.endpoint = server.endpoint(),
                                   .timeout = absl::Seconds(20),
                                   .retry = {.max_attempts = 1},
                                   .access_key_id = "AKID",
                                   .secret_access_key = "secret"}),
                    "the source", Patience(absl::ZeroDuration(), CancelToken()), nullptr);
  const Side target = SideOfTarget();
  {
    const absl::StatusOr<std::unique_ptr<ChangeFeed>> feed = StreamFeed::Open(source, StateOf("r1"));
    ASSERT_TRUE(feed.ok()) << feed.status();
    const absl::StatusOr<ChangedBatch> batch = (*feed)->Read(/*checks=*/true);
    ASSERT_TRUE(batch.ok()) << batch.status();
    EXPECT_EQ(batch->changes, kManyShards);

    MoveJournal journal(state_file(), target, target);
    ASSERT_TRUE(journal.Begin(StateOf("r1")).ok());
    EXPECT_EQ(Records(), 1);
    // Each set of parts is used, and some again.
    for (uint64_t sequence = 1; sequence <= 10; ++sequence) {
      const absl::Status stored = journal.Change(/*now=*/true, [&](MoveState& state) {
        (*feed)->Save(state);
        state.sequence = sequence;
      });
      ASSERT_TRUE(stored.ok()) << stored;
    }
    EXPECT_EQ(journal.stored_sequence(), 10u);
  }
  std::filesystem::remove(state_file());
  MoveJournal later(state_file(), target, target);
  const absl::StatusOr<std::optional<MoveState>> state = later.Load("the source");
  ASSERT_TRUE(state.ok()) << state.status();
  ASSERT_TRUE(state->has_value());
  EXPECT_EQ((*state)->sequence, 10u);
  const auto& shards = (*state)->tables[0].stream.shards;
  ASSERT_EQ(shards.size(), static_cast<size_t>(kManyShards));
  EXPECT_EQ(shards.at(ShardId(4'999)).sequence_number, "1049990000000000000000");

  // Another run takes it over, and what the first one stored goes.
  ASSERT_TRUE(later.TakeOver("r2").ok());
  EXPECT_GT(Records(), 1);
  MoveJournal third(directory_.path() + "/other.json", target, target);
  const auto again = third.Load("the source");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)->run, "r2");
  EXPECT_EQ((*again)->tables[0].stream.shards.size(), static_cast<size_t>(kManyShards));
  // A state that has become small is read without what was in the parts.
  ASSERT_TRUE(later.Change(/*now=*/true, [](MoveState& changed) { changed.tables[0].stream = {}; }).ok());
  EXPECT_TRUE((*third.Load("the source"))->tables[0].stream.shards.empty());
  ASSERT_TRUE(later.Forget().ok());
  EXPECT_EQ(Records(), 0);
}

// Such as one on a disk that has become full since it was looked at.
TEST_F(LargeStateTest, AMoveWhoseFileCannotBeWrittenLeavesNoRecord) {
  const Side target = SideOfTarget();
  // A folder has its name.
  MoveJournal journal(directory_.path() + "/source", target, target);
  const absl::Status begun = journal.Begin(StateOf("r1"));
  EXPECT_TRUE(absl::IsFailedPrecondition(begun)) << begun;
  EXPECT_EQ(Records(), 0);
}

// No character is cut, and parts of another state are no parts of this one.
TEST_F(LargeStateTest, PartsFitTogether) {
  const Side target = SideOfTarget();
  MoveState state = StateOf("r1");
  for (int i = 0; i < 400; ++i) {
    std::string key;
    for (int k = 0; k < 700 + i % 3; ++k) key += "\xe2\x82\xac";
    state.tables[0].segments.push_back({.after = Item{{"id", key + std::to_string(i)}}});
  }
  MoveJournal journal(state_file(), target, target);
  const absl::Status begun = journal.Begin(state);
  ASSERT_TRUE(begun.ok()) << begun;
  MoveJournal other(directory_.path() + "/other.json", target, target);
  const auto read = other.Load("the source");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(OneLine(MoveStateToJson(**read)), OneLine(MoveStateToJson(journal.state())));

  const auto page = this->target().Scan({.table_name = kMovesTable});
  ASSERT_TRUE(page.ok());
  for (const Item& item : page->items) {
    if (item.find_or_null("part_of") == nullptr) continue;
    Item changed = item;
    changed.Set("revision", 77);
    ASSERT_TRUE(this->target().PutItem({.table_name = kMovesTable, .item = changed}).ok());
    break;
  }
  const absl::Status missing = other.Load("the source").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("parts of the state of the move"));
}

}  // namespace
}  // namespace itemdb::tools
