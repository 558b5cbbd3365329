// Watching the change log: every change once and in order, when it is committed.

#include <thread>

#include "tests/storage/database/changes/watching.h"

namespace itemdb::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class Watch : public ::testing::Test {
 protected:
  Watch() { database_.CreateTable(TableRequest("Things", false)); }

  void Put(const std::string& table, const std::string& key) {
    auto put = database_.Put(table, {{"pk", S(key)}});
    ASSERT_TRUE(put.ok()) << put.status();
  }

  TestDatabase database_;
};

TEST_F(Watch, SeesEveryChangeOnceAndInOrderWhileOthersWrite) {  // SEM-107
  constexpr int kWriters = 3;
  constexpr int kWrites = 200;
  Watcher watcher(database_);
  watcher.request().set_after_sequence(0);
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([this, w] {
      for (int i = 0; i < kWrites; ++i) Put("Things", std::to_string(w) + "/" + std::to_string(i));
    });
  }
  const auto records = watcher.ReadThrough(1 + kWriters * kWrites);
  for (std::thread& writer : writers) writer.join();
  ASSERT_THAT(records, SizeIs(1 + kWriters * kWrites));
  for (size_t i = 0; i < records.size(); ++i) EXPECT_EQ(records[i].change_sequence(), i + 1);
}

TEST_F(Watch, GoesOnAcrossRestarts) {  // SEM-107
  Watcher watcher(database_);
  watcher.request().set_after_sequence(1);
  for (uint64_t i = 0; i < 5; ++i) {
    Put("Things", std::to_string(i));
    database_.Reopen();
    const auto records = watcher.ReadThrough(2 + i);
    ASSERT_THAT(records, SizeIs(1));
    EXPECT_EQ(Show(records[0].key()), "pk=" + std::to_string(i));
  }
}

TEST_F(Watch, BeginsWithWhatComesUnlessToldOtherwise) {
  Put("Things", "before");
  Watcher watcher(database_);
  auto first = watcher.Next();
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->change_sequence(), 2u);
  EXPECT_THAT(first->records(), IsEmpty());
  Put("Things", "after");
  const auto records = watcher.ReadThrough(3);
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(Show(records[0].key()), "pk=after");
}

TEST_F(Watch, SaysWhenThereIsNothing) {
  Watcher watcher(database_);
  watcher.request().set_after_sequence(1);
  for (int i = 0; i < 3; ++i) {
    auto reply = watcher.Next();
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_THAT(reply->records(), IsEmpty());
    EXPECT_EQ(reply->change_sequence(), 1u);
    EXPECT_EQ(reply->last_sequence(), 1u);
    EXPECT_EQ(reply->oldest_sequence(), 1u);
  }
}

// When the watch of one table continues, it must not read the changes of all other tables again.
TEST_F(Watch, OfOneTablePassesByTheOthers) {
  database_.CreateTable(TableRequest("Others", false));
  for (int i = 0; i < 10; ++i) Put("Others", std::to_string(i));
  Put("Things", "mine");
  for (int i = 0; i < 10; ++i) Put("Others", std::to_string(i) + "!");
  Watcher watcher(database_, "Things");
  watcher.request().set_after_sequence(0);
  const auto records = watcher.ReadThrough(23);
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].kind(), v1::CHANGE_KIND_CREATE_TABLE);
  EXPECT_EQ(Show(records[1].key()), "pk=mine");
  EXPECT_EQ(watcher.request().after_sequence(), 23u);
  EXPECT_EQ(watcher.request().table_storage_id(), records[0].table_storage_id());
}

TEST_F(Watch, OfADeletedTableEndsBehindItsLastChange) {
  Watcher watcher(database_, "Things");
  watcher.request().set_after_sequence(0);
  Put("Things", "a");
  ASSERT_TRUE(watcher.Next().ok());
  EXPECT_FALSE(watcher.ended());
  Put("Things", "b");
  ASSERT_TRUE(DeleteTable(database_, "Things").ok());
  database_.CreateTable(TableRequest("Things", false));  // A new table with the same name.
  Put("Things", "of the other");
  std::vector<v1::ChangeRecord> records = watcher.ReadThrough(UINT64_MAX);
  EXPECT_TRUE(watcher.ended());
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(Show(records[0].key()), "pk=b");
  EXPECT_EQ(records[1].kind(), v1::CHANGE_KIND_DELETE_TABLE);
}

TEST_F(Watch, NeverSplitsATransaction) {  // SEM-107
  constexpr int kTransactions = 12;
  constexpr int kActions = 99;
  for (int t = 0; t < kTransactions; ++t) {
    wire::TransactWriteItemsRequest transaction;
    for (int i = 0; i < kActions; ++i) {
      *transaction.add_transact_items()->mutable_put() =
          WriteRequest("Things", {{"pk", S(std::to_string(t) + "/" + std::to_string(i))}});
    }
    ASSERT_TRUE(database_.Transact(transaction)->has_committed());
  }
  Watcher watcher(database_);
  watcher.request().set_after_sequence(1);
  auto reply = watcher.Next();
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->records_size(), 11 * kActions);  // The fewest whole commits with 1,000 records.
  EXPECT_EQ(reply->records().rbegin()->commit_last_sequence(), reply->change_sequence());
  EXPECT_THAT(watcher.ReadThrough(1 + kTransactions * kActions), SizeIs(kActions));
}

TEST_F(Watch, EndsSoonAfterItsCallerHasLeft) {
  Watcher watcher(database_);
  watcher.request().set_after_sequence(1);
  watcher.request().set_progress_interval_ms(60'000);
  auto cancellation = std::make_shared<Cancellation>();
  std::thread caller([&] { cancellation->Cancel(); });
  EXPECT_TRUE(absl::IsCancelled(watcher.Next(cancellation).status()));
  caller.join();
  auto deadline = std::make_shared<Cancellation>(Cancellation::Clock::now() + std::chrono::milliseconds(20));
  EXPECT_TRUE(absl::IsDeadlineExceeded(watcher.Next(deadline).status()));
}

TEST_F(Watch, RefusesWhatItCannotDo) {
  Watcher missing(database_, "Nothing");
  EXPECT_THAT(missing.Next().status(), IsTableNotFound());
  for (int interval : {-1, 0, 9, 60'001}) {
    Watcher watcher(database_);
    watcher.request().set_progress_interval_ms(interval);
    EXPECT_THAT(watcher.Next().status(), IsInvalid("10 to 60000"));
  }
}

// A change that a power cut could undo must not be delivered, as its sequence would be used again.
TEST(RelaxedWatch, ShowsOnlyWhatIsDurable) {
  TemporaryDirectory directory;
  auto options = TestDatabase::DefaultOptions(directory.path() + "/data");
  options.durable = false;
  TestDatabase database(options);
  database.CreateTable(TableRequest("Things", false));
  Watcher watcher(database);
  watcher.request().set_after_sequence(0);
  uint64_t seen = 0;
  for (int i = 0; seen < 20; ++i) {
    if (i < 20) {
      ASSERT_TRUE(database.Put("Things", {{"pk", S(std::to_string(i))}}).ok());
    }
    auto reply = watcher.Next();
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_LE(reply->last_sequence(), database->GetStatus().durable_sequence());
    for (const auto& record : reply->records()) EXPECT_EQ(record.change_sequence(), ++seen);
  }
}

}  // namespace
}  // namespace itemdb::testing
