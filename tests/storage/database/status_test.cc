// GetStatus: the statistics of the database.

#include <atomic>
#include <thread>

#include "tests/storage/database/requests.h"
#include "tests/support/await.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

// Every database has a snapshot of its present state, which keeps nothing.
TEST(Status, TheOldestSnapshotIsOneThatKeepsSomething) {
  TestDatabase database;
  database.CreateTable(TableRequest("Things"));
  const auto put = [&](const char* sk) {
    ASSERT_TRUE(PutItem(database, WriteRequest("Things", {{"pk", S("p")}, {"sk", S(sk)}})).ok());
  };
  put("first");
  EXPECT_EQ(database->MeasureFigures().store.oldest_snapshot_time_s, 0u);
  {
    const auto state = database->PinSnapshot();
    ASSERT_TRUE(state.ok());
    put("second");
    EXPECT_GT(database->MeasureFigures().store.oldest_snapshot_time_s, 0u);
  }
  EXPECT_EQ(database->MeasureFigures().store.oldest_snapshot_time_s, 0u);
}

TEST(Status, CountsWhatIsStoredAndWritten) {
  TestDatabase database;
  database.CreateTable(TableRequest("Empty"));
  auto things = TableRequest("Things");
  AddIndex(&things, "ByDate", {"date:S"}, 1, v1::PROJECTION_TYPE_ALL);
  database.CreateTable(things);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(
        PutItem(database, WriteRequest("Things", {{"pk", S("p")}, {"sk", S(std::to_string(i))}})).ok());
  }
  EXPECT_EQ(database->GetStatus().tables_size(), 0);
  v1::GetStatusReply status = StatusWithTables(*database);
  EXPECT_EQ(status.table_count(), 2);
  EXPECT_EQ(status.change_sequence(), 5u);
  EXPECT_EQ(status.durable_sequence(), 5u);
  EXPECT_TRUE(status.durable());
  ASSERT_EQ(status.tables_size(), 2);
  EXPECT_EQ(status.tables(0).table_name(), "Empty");
  EXPECT_EQ(status.tables(0).item_count(), 0);
  EXPECT_EQ(status.tables(1).table_name(), "Things");
  EXPECT_EQ(status.tables(1).item_count(), 3);
  EXPECT_EQ(status.tables(1).item_bytes(), 3 * 6);
  EXPECT_EQ(status.tables(1).index_count(), 1);
  EXPECT_EQ(status.writes().committed(), 5);
  EXPECT_EQ(status.writes().commit_groups(), 5);
  EXPECT_EQ(status.writes().refused(), 0);
  EXPECT_GT(status.disk().write_ahead_log(), 0);
  EXPECT_GT(status.disk().free(), 0);
  EXPECT_GT(status.memory().memtables(), 0);
  EXPECT_EQ(status.memory().memtable_budget(), static_cast<int64_t>(database.options().memtable_bytes));
  EXPECT_EQ(status.memory().block_cache_capacity(),
            static_cast<int64_t>(database.options().block_cache_bytes));
  EXPECT_EQ(status.memory().write_queue(), 0);
  EXPECT_EQ(status.memory().write_queue_limit(), static_cast<int64_t>(database.options().max_queue_bytes));
}

v1::TableStatistics FiguresOf(const v1::GetStatusReply& status, const std::string& table) {
  for (const v1::TableStatistics& figures : status.tables())
    if (figures.table_name() == table) return figures;
  return {};
}

TEST(Status, CountsAcrossDefinitionsDeletionsAndStarts) {
  TestDatabase database;
  database.CreateTable(TableRequest("Things"));
  const auto count = [&] { return FiguresOf(StatusWithTables(*database), "Things").item_count(); };
  const auto put = [&](const std::string& sk) {
    ASSERT_TRUE(PutItem(database, WriteRequest("Things", {{"pk", S("p")}, {"sk", S(sk)}})).ok());
  };
  EXPECT_EQ(count(), 0);
  put("1");
  put("2");
  v1::TagTableRequest tag;
  tag.set_table_name("Things");
  tag.add_tags()->set_key("key");
  ASSERT_TRUE(Await<v1::TagTableReply>([&](auto done) { database->TagTable(tag, std::move(done)); }).ok());
  EXPECT_EQ(count(), 2);
  put("3");
  EXPECT_EQ(count(), 3);
  database.Reopen();
  EXPECT_EQ(count(), 3);
  put("4");
  EXPECT_EQ(count(), 4);
  ASSERT_TRUE(DeleteTable(database, "Things").ok());
  database.CreateTable(TableRequest("Things"));
  EXPECT_EQ(count(), 0);
  put("5");
  EXPECT_EQ(count(), 1);
}

TEST(Status, CountsAreThoseOfItsChangeSequence) {
  TestDatabase database;
  for (const char* table : {"Kept", "Things"}) database.CreateTable(TableRequest(table));
  ASSERT_TRUE(PutItem(database, WriteRequest("Kept", {{"pk", S("p")}, {"sk", S("s")}})).ok());
  const uint64_t before = database->GetStatus().change_sequence();
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      ASSERT_TRUE(
          PutItem(database, WriteRequest("Things", {{"pk", S("p")}, {"sk", S(std::to_string(i))}})).ok());
    }
  });
  for (int i = 0; i < 2'000; ++i) {
    const v1::GetStatusReply status = StatusWithTables(*database);
    EXPECT_EQ(FiguresOf(status, "Things").item_count(),
              static_cast<int64_t>(status.change_sequence() - before));
    EXPECT_EQ(FiguresOf(status, "Kept").item_count(), 1);
    v1::DescribeTableRequest request;
    request.set_table_name("Things");
    const auto described = database->DescribeTable(request);
    EXPECT_TRUE(described.ok()) << described.status();
    if (!described.ok()) break;  // The writer has to be joined.
    EXPECT_EQ(described->table().item_count(), static_cast<int64_t>(described->change_sequence() - before));
  }
  stop = true;
  writer.join();
}

// The time of a start depends on the length of the log.
TEST(Status, TheWriteAheadLogIsBoundedHoweverMuchMemoryThereIs) {
  TemporaryDirectory directory;
  DatabaseOptions options = TestDatabase::DefaultOptions(directory.path());
  options.memtable_bytes = 512 << 20;
  options.durable = false;
  TestDatabase database(options);
  database.CreateTable(TableRequest("Things"));
  constexpr size_t kItemBytes = 350'000;
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE(PutItem(database, WriteRequest("Things", {{"pk", S("p")},
                                                          {"sk", S(std::to_string(i))},
                                                          {"text", S(std::string(kItemBytes, 'x'))}}))
                    .ok());
  }
  constexpr int64_t kBound = 128 << 20;
  EXPECT_TRUE(Await([&] { return database->GetStatus().disk().write_ahead_log() < kBound; }))
      << database->GetStatus().disk().write_ahead_log();
}

}  // namespace
}  // namespace itemdb::testing
