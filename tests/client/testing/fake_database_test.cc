// The fake database answers as the daemon does, because it uses the daemon's storage. It fails calls when a
// test asks for it.
#include "itemdb/testing/fake_database.h"

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "itemdb/expression.h"
#include "itemdb/order_entry.h"

namespace {

using ::testing::Each;
using ::testing::SizeIs;
using namespace itemdb;  // NOLINT: as a user's test would.
using itemdb::testing::FakeDatabase;
using itemdb::testing::Fault;

class FakeDatabaseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(client_
                    .CreateTable({.table_name = "Product",
                                  .attribute_definitions = {{"id", ScalarAttributeType::kString},
                                                            {"stock", ScalarAttributeType::kNumber},
                                                            {"kind", ScalarAttributeType::kString}},
                                  .key_schema = {{"id", KeyType::kHash}},
                                  .global_secondary_indexes = {{.index_name = "ByKind",
                                                                .key_schema = {{"kind", KeyType::kHash},
                                                                               {"stock", KeyType::kRange}}}}})
                    .ok());
  }

  absl::Status Put(const std::string& id, int stock, CallOptions options = {}) {
    return client_
        .PutItem({.table_name = "Product", .item = {{"id", id}, {"stock", stock}, {"kind", "tool"}}}, options)
        .status();
  }

  Item Get(const std::string& id) {
    const absl::StatusOr<GetItemResult> got = client_.GetItem({.table_name = "Product", .key = {{"id", id}}});
    EXPECT_TRUE(got.ok()) << got.status();
    return got.ok() && got->item.has_value() ? *got->item : Item();
  }

  std::unique_ptr<FakeDatabase> database_ = *FakeDatabase::Open();
  Client client_ = database_->NewClient({.retry = {.initial_backoff = absl::Milliseconds(1)}});
};

TEST_F(FakeDatabaseTest, JudgesAsTheDaemonDoes) {
  ASSERT_TRUE(Put("hammer", 5).ok());
  EXPECT_EQ(Put("hammer", 5).code(), absl::StatusCode::kOk);
  EXPECT_EQ(client_.PutItem({.table_name = "Product", .item = {{"id", 1}}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(client_.PutItem({.table_name = "Missing", .item = {{"id", "x"}}}).status().code(),
            absl::StatusCode::kNotFound);
  const absl::Status missing = client_.GetItem({.table_name = "Missing", .key = {{"id", "x"}}}).status();
  EXPECT_EQ(RuleOf(missing), "SEM-039");
  const absl::Status failed = client_
                                  .DeleteItem({.table_name = "Product",
                                               .key = {{"id", "hammer"}},
                                               .condition_expression = "stock = :s",
                                               .expression_attribute_values = {{":s", 6}},
                                               .return_values_on_condition_check_failure =
                                                   ReturnValuesOnConditionCheckFailure::kAllOld})
                                  .status();
  EXPECT_EQ(ReasonOf(failed), kReasonConditionalCheckFailed);
  EXPECT_EQ(*ConditionFailedItem(failed), Get("hammer"));
  const absl::StatusOr<DaemonStatus> status = client_.GetStatus({.with_tables = true});
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->table_count, 1);
  EXPECT_THAT(status->tables, SizeIs(1));
  EXPECT_TRUE(client_.CheckDatabase()->findings.empty());
  EXPECT_THAT(client_.ReadChanges({})->records, SizeIs(2));
  EXPECT_THAT(client_.ListTables()->table_names, SizeIs(1));
  EXPECT_TRUE(client_.DescribeTable("Product").ok());
  EXPECT_TRUE(client_.DeleteTable("Product").ok());
}

// The whole order-entry application runs on it.
TEST(FakeDatabaseApplication, RunsOrderEntry) {
  const std::unique_ptr<FakeDatabase> database = *FakeDatabase::Open();
  Client client = database->NewClient();
  ASSERT_TRUE(order_entry::CreateTables(client).ok());
  ASSERT_TRUE(order_entry::Load(client).ok());
  auto orders =
      order_entry::CustomerOrders(client, "cust_001", {.from = "2025-01-01", .to = "2026-12-31"}).ToVector();
  ASSERT_TRUE(orders.ok()) << orders.status();
  EXPECT_FALSE(orders->empty());
  EXPECT_TRUE(client.CheckDatabase()->findings.empty());
}

TEST_F(FakeDatabaseTest, BuiltExpressionsMeanWhatTheySay) {
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Put("p" + std::to_string(i), i).ok());
  const UpdateItemRequest reserve =
      Compose(UpdateItemRequest{.table_name = "Product", .key = {{"id", "p5"}}},
              Update()
                  .Set(Attr("stock"), Attr("stock") - 3)
                  .Set(Attr("log.book"),
                       ListAppend(IfNotExists(Attr("log.book"), Value::List({})), Value::List({"took 3"})))
                  .Set(Attr("times"), Plus(IfNotExists(Attr("times"), 0), 1))
                  .Add(Attr("total"), 3)
                  .Remove(Attr("nothing")),
              If(Attr("stock") >= 3 && !Attr("locked").Exists() && Attr("kind").In({"tool", "part"})));
  const absl::Status first = client_.UpdateItem(reserve).status();
  ASSERT_TRUE(first.ok()) << first;
  EXPECT_EQ(ReasonOf(client_.UpdateItem(reserve).status()), kReasonConditionalCheckFailed);
  const Item item = Get("p5");
  EXPECT_EQ(*item.find_or_null("stock"), Value(2));
  EXPECT_EQ(*item.find_or_null("times"), Value(1));
  EXPECT_EQ(*item.find_or_null("log.book"), Value::List({"took 3"}));

  const absl::StatusOr<ItemPage> page = client_.Query(
      Compose(QueryRequest{.table_name = "Product", .index_name = "ByKind"},
              Where(Key("kind") == "tool" && Key("stock").Between(2, 7)),
              Filter(Attr("id").BeginsWith("p") && SizeOf(Attr("id")) == 2 && Attr("id") != "p3" &&
                     (Attr("log.book")[0] == "took 3" || Attr("total").NotExists())),
              Project({Attr("id"), Attr("log.book")[0]})));
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->scanned_count, 6);  // p2 p3 p4 p5 p6 p7 in the index; p5 has a stock of 2.
  EXPECT_EQ(page->count, 5);
  EXPECT_FALSE(page->items[0].contains("stock"));
}

TEST_F(FakeDatabaseTest, RefusalsAreRetriedUntilTheyPass) {
  database_->FailNext({.calls = 2, .fault = Fault::kUnavailable, .operation = "PutItem"});
  database_->FailNext({.calls = 1, .fault = Fault::kQueueFull});
  EXPECT_TRUE(Put("hammer", 5).ok());
  EXPECT_EQ(database_->calls("PutItem"), 4);
  EXPECT_EQ(database_->calls("GetItem"), 0);
  EXPECT_EQ(*Get("hammer").find_or_null("stock"), Value(5));
}

TEST_F(FakeDatabaseTest, LostRepliesAreUnknownOutcomesAndReallyApplied) {
  database_->FailNext({.fault = Fault::kLostReply});
  EXPECT_EQ(ReasonOf(Put("applied", 1)), kReasonWriteOutcomeUnknown);
  database_->FailNext({.fault = Fault::kLostRequest});
  EXPECT_EQ(ReasonOf(Put("not applied", 1)), kReasonWriteOutcomeUnknown);
  EXPECT_FALSE(Get("applied").empty());
  EXPECT_TRUE(Get("not applied").empty());
}

// A repeated request with the same token has no new effect (SEM-050): the storage remembers the tokens.
TEST_F(FakeDatabaseTest, TokensMakeLostRepliesHarmless) {
  ASSERT_TRUE(Put("hammer", 0).ok());
  const UpdateItemRequest increment = Compose(
      UpdateItemRequest{.table_name = "Product", .key = {{"id", "hammer"}}}, Update().Add(Attr("stock"), 1));
  for (int i = 0; i < 20; ++i) {
    database_->FailNext({.calls = 2, .fault = i % 2 == 0 ? Fault::kLostReply : Fault::kLostRequest});
    const absl::Status status = client_.UpdateItem(increment, {.idempotent = true}).status();
    EXPECT_TRUE(status.ok()) << status;
  }
  EXPECT_EQ(*Get("hammer").find_or_null("stock"), Value(20));
}

TEST_F(FakeDatabaseTest, BatchesOfAnySizeArrive) {
  std::vector<BatchWrite> writes;
  for (int i = 0; i < 120; ++i) {
    writes.push_back(BatchPut{.table_name = "Product", .item = {{"id", "b" + std::to_string(i)}}});
  }
  ASSERT_TRUE(client_.BatchWriteItem({.writes = writes}).ok());
  EXPECT_EQ(database_->calls("BatchWriteItem"), 5);
  EXPECT_EQ(client_.Scan({.table_name = "Product"})->count, 120);
  // The third batch is refused: 50 writes were applied, and the error says which.
  for (BatchWrite& write : writes) std::get<BatchPut>(write).table_name = "Product";
  std::get<BatchPut>(writes[60]).table_name = "Missing";
  const std::vector<BatchWriteOutcome> outcomes =
      BatchWriteOutcomes(client_.BatchWriteItem({.writes = writes}).status());
  ASSERT_EQ(outcomes.size(), 120u);
  EXPECT_EQ(outcomes[49], BatchWriteOutcome::kApplied);
  EXPECT_EQ(outcomes[50], BatchWriteOutcome::kNotApplied);
}

TEST_F(FakeDatabaseTest, DelayedCallsMeetTheirDeadlineOrCancellation) {
  database_->DelayCalls(absl::Seconds(30));
  const absl::Time start = absl::Now();
  const absl::Status late = Put("x", 1, {.timeout = absl::Milliseconds(20)});
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(ReasonOf(late), kReasonWriteOutcomeUnknown);
  const CancelToken token;
  std::future<absl::StatusOr<GetItemResult>> read =
      client_.GetItemAsync({.table_name = "Product", .key = {{"id", "x"}}}, {.cancel = token});
  token.Cancel();
  EXPECT_EQ(ReasonOf(read.get().status()), kReasonCancelled);
  EXPECT_LT(absl::Now() - start, absl::Seconds(25));
  database_->DelayCalls(absl::ZeroDuration());
  EXPECT_TRUE(Put("x", 1).ok());
}

TEST_F(FakeDatabaseTest, ClientsMayOutliveIt) {
  Client client = client_;
  database_.reset();
  EXPECT_TRUE(client.PutItem({.table_name = "Product", .item = {{"id", "x"}}}).ok());
  std::vector<std::future<absl::StatusOr<WriteResult>>> results;
  for (int i = 0; i < 50; ++i) {
    results.push_back(client.PutItemAsync({.table_name = "Product", .item = {{"id", std::to_string(i)}}}));
  }
  // The last clients of the database are destroyed while calls run.
  const std::unique_ptr<FakeDatabase> other = *FakeDatabase::Open();
  client = other->NewClient();
  client_ = client;
  for (auto& result : results) EXPECT_TRUE(result.get().ok());
}

TEST(FakeDatabaseOpen, SaysWhenThereIsNoRoomForIt) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  setenv("TMPDIR", "/nonexistent", 1);
  const absl::Status status = FakeDatabase::Open().status();
  before != nullptr ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_NE(std::string(status.message()).find("/nonexistent"), std::string::npos) << status;
}

}  // namespace
