// The space of deleted tables and indexes is reclaimed, and a reader of a deleted table still gets all of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "spdlog/sinks/ostream_sink.h"
#include "spdlog/spdlog.h"
#include "storage/engine/recovery.h"
#include "storage/store/catalog_records.h"
#include "storage/store/dropped_keyspace.h"
#include "storage/store/size_statistics.h"
#include "tests/storage/database/indexes/damage.h"
#include "tests/storage/database/requests.h"
#include "tests/support/await.h"
#include "tests/support/live_index.h"
#include "tests/support/power_loss_file_system.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

class Reclaim : public ::testing::Test {
 protected:
  static v1::CreateTableRequest Described(const std::string& name) {
    v1::CreateTableRequest table = TableRequest(name);
    AddIndex(&table, "ByStatus", {"status:S"}, 1, v1::PROJECTION_TYPE_ALL);
    AddLocalIndex(&table, "ByRank", "rank:N", v1::PROJECTION_TYPE_KEYS_ONLY);
    return table;
  }
  void Fill(const std::string& table, int items) {
    for (int i = 0; i < items; ++i) {
      ASSERT_TRUE(database_
                      .Put(table, {{"pk", S(std::to_string(i))},
                                   {"sk", S("s")},
                                   {"rank", N(std::to_string(i))},
                                   {"status", S("open")},
                                   {"padding", S(std::string(2'000, 'a' + i % 26))}})
                      .ok());
    }
  }
  absl::Status Delete(const std::string& table) { return DeleteTable(database_, table).status(); }
  bool AwaitReclaimed() {
    return Await([&] { return database_->GetStatus().disk().dropped_count() == 0; });
  }
  // The number of stored records for each storage id.
  std::map<uint64_t, int> Stored() {
    database_.Close();
    std::map<uint64_t, int> stored;
    {
      Families families(database_.options().data_directory);
      for (const char* family : {"items", "global_entries", "local_entries"}) {
        for (const auto& [key, value] : families.All(family)) {
          std::string_view rest = key;
          ++stored[ConsumeStorageId(&rest).value_or(UINT64_MAX)];
        }
      }
    }
    database_.Reopen();
    return stored;
  }
  // Reads a page from a pinned snapshot, appends the keys, and moves the request to the next page.
  static void ReadPage(TestDatabase& database, const PinnedSnapshot& state, wire::PageRequest* request,
                       std::multiset<std::string>* keys) {
    auto page =
        Await<Page>([&](auto done) { database->ScanSnapshot(state, *request, std::move(done), nullptr); });
    ASSERT_TRUE(page.ok()) << page.status();
    for (const std::string& item : ShowItems(*page)) keys->insert(item);
    request->set_exclusive_start_key(page->reply.last_evaluated_key());
  }

  TestDatabase database_;
};

TEST_F(Reclaim, RemovesEveryRecordOfADeletedTableAndNoOther) {
  for (const char* table : {"Before", "Gone", "After"}) {
    database_.CreateTable(Described(table));
    Fill(table, 50);
  }
  const std::map<uint64_t, int> all = Stored();
  ASSERT_EQ(all.size(), 9u);
  Fill("Gone", 60);  // Some of it in memtables.
  ASSERT_TRUE(Delete("Gone").ok());
  ASSERT_TRUE(AwaitReclaimed());
  const std::map<uint64_t, int> left = Stored();
  EXPECT_EQ(left.size(), 6u);
  for (const auto& [storage_id, records] : left) EXPECT_EQ(all.at(storage_id), records);
  database_.CheckIsClean();
}

// The rest of a table, in files that hold other tables too, is rewritten at the configured rate; closing the
// database does not wait for it.
TEST_F(Reclaim, RewritesWhatOthersHaveInTheSameFilesAtItsRate) {
  DatabaseOptions options = database_.options();
  options.reclaim_bytes_per_second = 1;
  database_.Close();
  {
    TestDatabase slow(options);
    std::mt19937_64 random(1);
    for (const char* table : {"Before", "Gone", "After"}) {
      slow.CreateTable(TableRequest(table));
      for (int i = 0; i < 10; ++i) {
        std::string noise(100'000, '\0');
        for (char& byte : noise) byte = static_cast<char>(random());
        auto put = slow.Put(table, {{"pk", S(std::to_string(i))}, {"sk", S("s")}, {"noise", B(noise)}});
        ASSERT_TRUE(put.ok()) << put.status();
      }
    }
    ASSERT_TRUE(DeleteTable(slow, "Gone").ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_EQ(slow->GetStatus().disk().dropped_count(), 1);
    EXPECT_TRUE(slow.Put("After", {{"pk", S("p")}, {"sk", S("s")}}).ok());
  }
  database_.Reopen();
  EXPECT_TRUE(AwaitReclaimed());
  EXPECT_EQ(Stored().size(), 2u);
  database_.CheckIsClean();
}

TEST_F(Reclaim, RemovesWhatADeletedIndexHad) {
  database_.CreateTable(Described("Things"));
  Fill("Things", 50);
  auto updated = Await<v1::UpdateTableReply>(
      [&](auto done) { database_->UpdateTable(DeleteIndexRequest("Things", "ByStatus"), std::move(done)); });
  ASSERT_TRUE(updated.ok()) << updated.status();
  ASSERT_TRUE(AwaitReclaimed());
  EXPECT_EQ(Stored().size(), 2u);
  database_.CheckIsClean();
}

TEST_F(Reclaim, SpaceComesBackAndStatusTellsWhatIsLeft) {
  DatabaseOptions options = database_.options();
  options.reclaim_interval = std::chrono::hours(1);
  database_.Close();
  TestDatabase waiting(options);
  waiting.CreateTable(TableRequest("Large"));
  std::mt19937_64 random(1);
  int64_t bytes = 0;
  for (int i = 0; i < 40; ++i) {
    std::string noise(300'000, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    auto put = waiting.Put("Large", {{"pk", S(std::to_string(i))}, {"sk", S("s")}, {"noise", B(noise)}});
    ASSERT_TRUE(put.ok()) << put.status();
    bytes += 300'000;
  }
  v1::DeleteTableRequest request;
  request.set_table_name("Large");
  ASSERT_TRUE(
      Await<v1::DeleteTableReply>([&](auto done) { waiting->DeleteTable(request, std::move(done)); }).ok());
  // Too little space to be reclaimed before the hour is over.
  ASSERT_TRUE(Await([&] { return waiting->GetStatus().disk().dropped_count() == 1; }));
  v1::DiskUsage disk = waiting->GetStatus().disk();
  EXPECT_GE(disk.dropped_bytes(), bytes);
  EXPECT_LT(disk.dropped_bytes(), bytes + 40 * 1'000);
  EXPECT_GT(disk.dropped_since_us(), int64_t{1'700'000'000'000'000});
  waiting.Close();
  database_.Reopen();
  ASSERT_TRUE(AwaitReclaimed());
  EXPECT_EQ(database_->GetStatus().disk().dropped_bytes(), 0);
  // The change log still has the items.
  database_.Close();
  EXPECT_LT(Families(options.data_directory).FileBytes("items"), 10'000u);
}

// No records are left to read, but the deletions take space too.
TEST_F(Reclaim, OfATableThatWasEmptiedBefore) {
  database_.CreateTable(TableRequest("Emptied"));
  std::mt19937_64 random(1);
  for (int i = 0; i < 20; ++i) {
    std::string noise(300'000, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    ASSERT_TRUE(
        database_.Put("Emptied", {{"pk", S("p")}, {"sk", S(std::to_string(i))}, {"noise", B(noise)}}).ok());
  }
  database_.Reopen();  // Moves the items to files.
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(database_.Delete("Emptied", {{"pk", S("p")}, {"sk", S(std::to_string(i))}}).ok());
  ASSERT_TRUE(Delete("Emptied").ok());
  ASSERT_TRUE(AwaitReclaimed());
  database_.Close();
  EXPECT_LT(Families(database_.options().data_directory).FileBytes("items"), 10'000u);
}

// RocksDB's deletion of files and its compaction filters ignore snapshots.
TEST_F(Reclaim, WaitsForWhoeverStillReadsTheTable) {
  database_.CreateTable(Described("Things"));
  Fill("Things", 300);
  database_.Reopen();  // Moves the items to files.
  Fill("Things", 100);
  std::multiset<std::string> keys;
  wire::PageRequest request;
  request.set_table_name("Things");
  request.set_limit(100);
  request.set_projection_expression("pk");
  {
    auto state = database_->PinSnapshot();
    ASSERT_TRUE(state.ok()) << state.status();
    ReadPage(database_, **state, &request, &keys);
    ASSERT_TRUE(Delete("Things").ok());
    // Writes to other tables and their deletions continue.
    database_.CreateTable(Described("Others"));
    Fill("Others", 20);
    ASSERT_TRUE(Delete("Others").ok());
    ASSERT_TRUE(Await([&] { return database_->GetStatus().disk().dropped_count() == 6; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    while (!request.exclusive_start_key().empty()) ReadPage(database_, **state, &request, &keys);
    EXPECT_EQ(keys.size(), 300u);
    EXPECT_EQ(database_->GetStatus().disk().dropped_count(), 6);
  }
  database_.CreateTable(TableRequest("Next"));  // Makes a view without a snapshot of the deleted table.
  EXPECT_TRUE(AwaitReclaimed());
  EXPECT_TRUE(Stored().empty());
}

// If the log is lost after the space was reclaimed, that must not bring back a table without its items.
TEST_F(Reclaim, MakesTheDeletionDurableFirst) {
  database_.CreateTable(Described("Things"));
  Fill("Things", 50);
  database_.Reopen();
  database_.CreateTable(TableRequest("Others"));
  ASSERT_TRUE(Delete("Things").ok());
  ASSERT_TRUE(AwaitReclaimed());
  database_.Close();
  for (const auto& entry :
       std::filesystem::directory_iterator(database_.options().data_directory + "/rocksdb")) {
    if (entry.path().extension() == ".log") std::filesystem::remove(entry.path());
  }
  DatabaseOptions options = database_.options();
  options.recover_last_good = true;
  auto recovered = Database::Open(options);
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  const v1::GetStatusReply status = StatusWithTables(**recovered);
  ASSERT_EQ(status.tables_size(), 1);
  EXPECT_EQ(status.tables(0).table_name(), "Others");
}

// The disk cannot write the files: that is logged once, reads and writes of other tables continue, and in the
// end the space is reclaimed.
TEST_F(Reclaim, TellsThatItCannotAndTriesAgain) {
  auto disk = std::make_shared<PowerLossFileSystem>(database_.options().data_directory);
  DatabaseOptions options = database_.options();
  options.file_system = disk;
  std::ostringstream log;
  options.log =
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log));
  database_.Close();
  TestDatabase failing(options);
  for (const char* table : {"Gone", "Others"}) {
    failing.CreateTable(TableRequest(table));
    ASSERT_TRUE(failing.Put(table, {{"pk", S("p")}, {"sk", S("s")}}).ok());
  }
  failing.Reopen();  // Moves the items to files.
  disk->Inject({.operation = InjectedFault::Operation::kRead,
                .matches = [](const std::string& path) { return path.ends_with(".sst"); },
                .times = 1'000'000});
  v1::DeleteTableRequest request;
  request.set_table_name("Gone");
  ASSERT_TRUE(
      Await<v1::DeleteTableReply>([&](auto done) { failing->DeleteTable(request, std::move(done)); }).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(failing->GetStatus().disk().dropped_count(), 1);
  disk->ClearFaults();
  // The store is opened again without any write; until then there is no table.
  v1::DescribeTableRequest others;
  others.set_table_name("Others");
  EXPECT_TRUE(Await([&] {
    return failing->GetStatus().disk().dropped_count() == 0 && failing->DescribeTable(others).ok();
  }));
  EXPECT_EQ(failing.Get("Others", {{"pk", S("p")}, {"sk", S("s")}}), "pk=p sk=s");
  failing.Close();
  options.log->flush();
  const std::string told = "could not be reclaimed yet";
  const size_t first = log.str().find(told);
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(log.str().find(told, first + 1), std::string::npos) << log.str();
}

// After a damaged log the records of the catalog may be from different times. The ids of tables that it has
// lost, and of tables that it knows to be deleted, must not be reused.
TEST_F(Reclaim, GivesNoIdOutAgainAfterARecoveryWithLosses) {
  DatabaseOptions options = database_.options();
  database_.CreateTable(TableRequest("Things"));
  database_.Close();
  {
    Families families(options.data_directory);
    families.Put("catalog", kNextStorageIdKey, EncodeCatalogNumber(kNextStorageIdKey, 2));
    families.Put("catalog", DroppedKey(40), EncodeDropped({40, KeyspaceKind::kItems, 1, 1}));
    const std::string collection = CollectionKey(50, "Sp");
    families.Put("stats", collection, EncodeStatistics(50, collection, {1, 1}));
    std::string item;
    AppendStorageId(300, &item);
    families.Put("global_entries", item + "key", "record");
  }
  std::filesystem::remove(options.data_directory + "/WATERMARK");
  options.recover_last_good = true;
  for (const uint64_t highest : {300, 301}) {
    TestDatabase recovered(options);
    const std::string name = "Next" + std::to_string(highest);
    recovered.CreateTable(TableRequest(name));
    v1::DescribeTableRequest request;
    request.set_table_name(name);
    EXPECT_EQ(recovered->DescribeTable(request)->table().storage_id(), highest + 1);
    recovered.Close();
    options.recover_last_good = false;
  }
  // Records that belong to no known table are kept.
  EXPECT_EQ(Families(options.data_directory).All(300).size(), 1u);
}

// A storage id above the catalog's next id would be given out again.
TEST_F(Reclaim, RefusesACatalogThatGivesIdsOutAgain) {
  database_.CreateTable(Described("Things"));
  database_.Close();
  Families(database_.options().data_directory)
      .Put("catalog", kNextStorageIdKey, EncodeCatalogNumber(kNextStorageIdKey, 3));
  const auto opened = Database::Open(database_.options());
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(MessageOf(opened.status()),
              ::testing::AllOf(::testing::HasSubstr("table Things"), ::testing::HasSubstr("storage id 3"),
                               ::testing::HasSubstr("--recover=last-good")));
}

TEST_F(Reclaim, NamesAColumnFamilyThatIsMissingOrUnknown) {
  const std::string directory = database_.options().data_directory;
  database_.CreateTable(TableRequest("Things"));
  database_.Close();
  Families(directory).Create("later");
  auto opened = Database::Open(database_.options());
  EXPECT_EQ(ReasonOf(opened.status()), kReasonFormatUnknown);
  EXPECT_THAT(MessageOf(opened.status()), ::testing::HasSubstr("later"));
  Families(directory).Drop("later");
  Families(directory).Drop("local_entries");
  opened = Database::Open(database_.options());
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(MessageOf(opened.status()), ::testing::HasSubstr("column family local_entries is missing"));
}

TEST_F(Reclaim, OfManyTablesIsDoneAtOnce) {
  for (int i = 0; i < 60; ++i) {
    const std::string name = "Table" + std::to_string(i);
    database_.CreateTable(Described(name));
    Fill(name, 3);
  }
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(Delete("Table" + std::to_string(i)).ok());
  ASSERT_TRUE(AwaitReclaimed());
  EXPECT_TRUE(Stored().empty());
  // Ids are not reused.
  database_.CreateTable(TableRequest("Later"));
  v1::DescribeTableRequest request;
  request.set_table_name("Later");
  EXPECT_EQ(database_->DescribeTable(request)->table().storage_id(), 181u);
}

}  // namespace
}  // namespace itemdb::testing
