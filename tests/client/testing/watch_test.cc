// Client::Watch on the fake database: every change exactly once, whatever happens to the connection.
#include <memory>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "itemdb/testing/fake_database.h"

namespace {

using ::testing::SizeIs;
using namespace itemdb;  // NOLINT: as a user's test would.
using itemdb::testing::FakeDatabase;
using itemdb::testing::Fault;

class WatchTest : public ::testing::Test {
 protected:
  void SetUp() override { Create("Things"); }

  void Create(const std::string& name) {
    ASSERT_TRUE(client_
                    .CreateTable({.table_name = name,
                                  .attribute_definitions = {{"pk", ScalarAttributeType::kNumber}},
                                  .key_schema = {{"pk", KeyType::kHash}}})
                    .ok());
  }
  void Put(const std::string& table, int key) {
    ASSERT_TRUE(client_.PutItem({.table_name = table, .item = {{"pk", key}}}).ok());
  }

  std::unique_ptr<FakeDatabase> database_ = *FakeDatabase::Open();
  Client client_ = database_->NewClient(
      {.retry = {.initial_backoff = absl::Milliseconds(1), .max_backoff = absl::Milliseconds(2)}});
};

// Each change exactly once, in commit order (SEM-107).
TEST_F(WatchTest, GivesEveryChangeOnceHoweverOftenTheConnectionBreaks) {
  constexpr uint64_t kWrites = 200;
  ChangeRange changes = client_.Watch({.after_sequence = 0});
  // After the first record the client retries for as long as necessary.
  ASSERT_EQ((*changes.Next())->change_sequence, 1u);
  uint64_t expected = 1;
  std::thread writer([this] {
    for (uint64_t i = 0; i < kWrites; ++i) {
      if (i % 20 == 0) {
        const Fault fault = i % 40 == 0 ? Fault::kLostReply : Fault::kUnavailable;
        database_->FailNext({.calls = 3, .fault = fault, .operation = "Watch"});
      }
      Put("Things", static_cast<int>(i));
    }
  });
  for (const ChangeRecord& change : changes) {
    ASSERT_EQ(change.change_sequence, ++expected);
    if (expected == 1 + kWrites) break;
  }
  EXPECT_TRUE(changes.status().ok()) << changes.status();
  EXPECT_EQ(expected, 1 + kWrites);
  writer.join();
}

TEST_F(WatchTest, OfOneTableEndsWithIt) {
  Create("Others");
  Put("Things", 1);
  Put("Others", 2);
  ASSERT_TRUE(client_.DeleteTable("Things").ok());
  Create("Things");
  absl::StatusOr<std::vector<ChangeRecord>> none = client_.Watch({.table_name = "Nothing"}).ToVector();
  EXPECT_EQ(none.status().code(), absl::StatusCode::kNotFound);

  ChangeRange changes = client_.Watch({.after_sequence = 0, .table_name = "Others"});
  absl::StatusOr<std::optional<ChangeRecord>> created = changes.Next();
  ASSERT_TRUE(created.ok() && created->has_value()) << created.status();
  EXPECT_EQ((*created)->kind, ChangeKind::kCreateTable);
  ASSERT_TRUE(client_.DeleteTable("Others").ok());
  absl::StatusOr<std::vector<ChangeRecord>> rest = changes.ToVector();
  ASSERT_TRUE(rest.ok()) << rest.status();
  ASSERT_THAT(*rest, SizeIs(2));
  EXPECT_EQ(*rest->at(0).key, (Item{{"pk", 2}}));
  EXPECT_EQ(rest->at(1).kind, ChangeKind::kDeleteTable);
}

// The position from which another program can continue (SEM-107), also if the table does not change.
TEST_F(WatchTest, TellsHowFarItHasCome) {
  Create("Quiet");
  std::vector<WatchPosition> told;
  const auto on_progress = [&told](const WatchPosition& position) { told.push_back(position); };
  CancelToken token;
  const CallOptions options{.timeout = absl::Milliseconds(200), .cancel = token};
  ChangeRange changes =
      client_.Watch({.after_sequence = 0, .table_name = "Things", .on_progress = on_progress});
  ASSERT_EQ((*changes.Next())->change_sequence, 1u);
  EXPECT_TRUE(told.empty()) << "the record that was handed out may not have been used yet";
  Put("Things", 1);
  const absl::StatusOr<std::optional<ChangeRecord>> put = changes.Next();
  ASSERT_TRUE(put.ok()) << put.status();
  ASSERT_FALSE(told.empty());
  EXPECT_LT(told.back().change_sequence, (*put)->change_sequence);
  EXPECT_EQ(told.back().table_storage_id, (*put)->table_storage_id);

  // Ten changes of another table: positions, but no records.
  for (int i = 10; i < 20; ++i) Put("Things", i);
  const uint64_t last = (*put)->change_sequence + 10;
  uint64_t position = 0;
  ChangeRange quiet = client_.Watch({.after_sequence = 2,
                                     .table_name = "Quiet",
                                     .on_progress =
                                         [&](const WatchPosition& now) {
                                           position = now.change_sequence;
                                           if (position == last) token.Cancel();
                                         }},
                                    options);
  EXPECT_TRUE(absl::IsCancelled(quiet.Next().status()));
  EXPECT_EQ(position, last);

  // A table was deleted and created again with the same name: the resumed watch is for the old table.
  const WatchPosition old = told.back();
  ASSERT_TRUE(client_.DeleteTable("Things").ok());
  Create("Things");
  absl::StatusOr<std::vector<ChangeRecord>> rest = client_
                                                       .Watch({.after_sequence = old.change_sequence,
                                                               .table_name = "Things",
                                                               .table_storage_id = old.table_storage_id})
                                                       .ToVector();
  ASSERT_TRUE(rest.ok()) << rest.status();
  ASSERT_FALSE(rest->empty());
  EXPECT_EQ(rest->back().kind, ChangeKind::kDeleteTable);
  for (const ChangeRecord& record : *rest) EXPECT_EQ(record.table_storage_id, old.table_storage_id);
}

TEST_F(WatchTest, IsTriedForAsLongAsItTakesOnceItHasBegun) {
  // Before the first record, a daemon that is unavailable is an error.
  database_->FailNext({.calls = 5, .fault = Fault::kUnavailable, .operation = "Watch"});
  ChangeRange hopeless = client_.Watch({.after_sequence = 0});
  EXPECT_EQ(hopeless.Next().status().code(), absl::StatusCode::kUnavailable);

  ChangeRange changes = client_.Watch({.after_sequence = 0});
  ASSERT_TRUE(changes.Next().ok());
  database_->FailNext({.calls = 50, .fault = Fault::kLostReply, .operation = "Watch"});
  Put("Things", 1);
  absl::StatusOr<std::optional<ChangeRecord>> next = changes.Next();
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ((*next)->change_sequence, 2u);
}

TEST_F(WatchTest, KeepsToTheRetriesOfItsCaller) {
  ChangeRange changes =
      client_.Watch({.after_sequence = 0, .table_name = "Things"},
                    {.retry = RetryOptions{.max_attempts = 2, .initial_backoff = absl::Milliseconds(1)}});
  ASSERT_TRUE(changes.Next().ok());
  EXPECT_TRUE(changes.status().ok());
}

TEST_F(WatchTest, IsCancelledWhileItWaits) {
  CancelToken token;
  ChangeRange changes = client_.Watch({}, {.cancel = token});
  std::thread canceller([&token] { token.Cancel(); });
  EXPECT_EQ(changes.Next().status().code(), absl::StatusCode::kCancelled);
  canceller.join();
}

}  // namespace
