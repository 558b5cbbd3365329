// Trimming the change log: by age, by bytes, never inside a commit, never without an error for a reader.

#include <filesystem>
#include <random>
#include <thread>

#include "tests/storage/database/changes/watching.h"
#include "tests/storage/database/indexes/damage.h"
#include "tests/support/power_loss_file_system.h"
#include "tests/support/repetitions.h"

namespace itemdb::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class Trim : public ::testing::Test {
 protected:
  // Removes every change that is older than a moment, at once.
  static DatabaseOptions KeepNothing(const std::string& directory) {
    auto options = TestDatabase::DefaultOptions(directory);
    options.change_retention = std::chrono::milliseconds(1);
    options.change_trim_interval = std::chrono::milliseconds(5);
    return options;
  }

  static uint64_t Oldest(TestDatabase& database) {
    auto reply = database.ReadChanges(UINT64_MAX);
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() ? reply->oldest_sequence() : 0;
  }
  static void AwaitOldest(TestDatabase& database, uint64_t at_least) {
    for (int i = 0; i < 60'000 && Oldest(database) < at_least; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ASSERT_GE(Oldest(database), at_least);
  }
  static void Fill(TestDatabase& database, int from, int count, size_t padding = 0) {
    for (int i = from; i < from + count; ++i) {
      auto put = database.Put("Things", {{"pk", S(std::to_string(i))}, {"x", S(std::string(padding, 'x'))}});
      ASSERT_TRUE(put.ok()) << put.status();
    }
  }
  // Random text, which does not compress.
  static std::string Noise(uint32_t seed, size_t bytes) {
    std::mt19937 random(seed);
    std::string noise(bytes, ' ');
    for (char& c : noise) c = static_cast<char>('!' + random() % 90);
    return noise;
  }
  static v1::CreateTableRequest WithImages() {
    auto table = TableRequest("Things", false);
    table.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_IMAGE);
    return table;
  }
  uint64_t LogBytes(TestDatabase& database) {
    database.Close();
    uint64_t bytes = Families(database.options().data_directory).FileBytes("changes");
    database.Reopen();
    return bytes;
  }

  TemporaryDirectory directory_;
  const std::string data_ = directory_.path() + "/data";
};

TEST_F(Trim, TakesWhatIsOlderThanTheRetention) {  // SEM-103
  TestDatabase database(KeepNothing(data_));
  database.CreateTable(TableRequest("Things", false));
  Fill(database, 0, 9);
  AwaitOldest(database, 10);
  for (uint64_t after : {0, 5, 8}) {
    absl::Status gone = database.ReadChanges(after).status();
    EXPECT_TRUE(absl::IsOutOfRange(gone)) << gone;
    EXPECT_EQ(ReasonOf(gone), kReasonChangesTrimmed);
    EXPECT_THAT(MessageOf(gone), HasSubstr("the oldest available is 10"));
    Watcher watcher(database);
    watcher.request().set_after_sequence(after);
    EXPECT_EQ(watcher.Next().status(), gone);
  }
  // The last commit is kept.
  auto left = database.ReadChanges(9);
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_THAT(left->records(), SizeIs(1));
  database.CheckIsClean();
  for (int i = 0; i < 2; ++i) {
    database.Reopen();
    EXPECT_EQ(Oldest(database), 10u);
    database.CheckIsClean();
  }
  Fill(database, 9, 1);
  AwaitOldest(database, 11);
  database.CheckIsClean();
}

TEST_F(Trim, GoesOnWhenTheRecordOfAStreamIsDamaged) {  // SEM-103
  {
    TestDatabase database(TestDatabase::DefaultOptions(data_));
    database.CreateTable(TableRequest("Things", false));
    Fill(database, 0, 9);
  }
  Families(data_).Put("catalog", "stream/Things/2026-01-01T00:00:00.000", "damaged");
  TestDatabase database(KeepNothing(data_));
  AwaitOldest(database, 10);
  EXPECT_EQ(Oldest(database), 10u);
}

TEST_F(Trim, KeepsWhatIsYounger) {  // SEM-103
  auto options = KeepNothing(data_);
  options.change_retention = std::chrono::hours(24);
  TestDatabase database(options);
  database.CreateTable(TableRequest("Things", false));
  for (int i = 0; i < 20; ++i) {
    Fill(database, i, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_EQ(Oldest(database), 1u);
  }
  EXPECT_THAT(Changes(database), SizeIs(21));
}

TEST_F(Trim, NeverCutsThroughATransaction) {  // SEM-107
  TestDatabase database(KeepNothing(data_));
  database.CreateTable(TableRequest("Things", false));
  wire::TransactWriteItemsRequest transaction;
  for (int i = 0; i < 5; ++i)
    *transaction.add_transact_items()->mutable_put() = WriteRequest("Things", {{"pk", S(std::to_string(i))}});
  ASSERT_TRUE(database.Transact(transaction)->has_committed());
  AwaitOldest(database, 2);
  EXPECT_EQ(Oldest(database), 2u);
  auto left = database.ReadChanges(1);
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_THAT(left->records(), SizeIs(5));
  database.CheckIsClean();
}

TEST_F(Trim, GivesTheDiskBack) {  // SEM-103
  constexpr int kItems = 100;
  constexpr size_t kItemBytes = 100'000;
  auto options = TestDatabase::DefaultOptions(data_);
  options.memtable_bytes = 1 << 20;
  TestDatabase keeping(options);
  keeping.CreateTable(WithImages());
  for (int i = 0; i < kItems; ++i)
    ASSERT_TRUE(keeping.Put("Things", {{"pk", S("p")}, {"x", S(Noise(i, kItemBytes))}}).ok());
  EXPECT_GT(LogBytes(keeping), kItems * kItemBytes * 3 / 4);
  keeping.Close();

  options = KeepNothing(data_);
  options.memtable_bytes = 1 << 20;
  TestDatabase database(options);
  AwaitOldest(database, kItems + 1);
  uint64_t bytes = 0;
  // Space is freed after readers get the new start, and in whole files: the file of the last commit stays
  // until there is a later commit.
  for (int i = 0; i < 200; ++i) {
    Fill(database, i, 1);
    AwaitOldest(database, kItems + 2 + i);
    bytes = LogBytes(database);
    if (bytes < kItems * kItemBytes / 4) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_LT(bytes, kItems * kItemBytes / 4);
  database.CheckIsClean();
}

TEST_F(Trim, KeepsTheFilesWithinTheirBound) {  // SEM-103
  constexpr uint64_t kBound = 4 << 20;
  auto options = TestDatabase::DefaultOptions(data_);
  options.memtable_bytes = 1 << 20;
  options.max_change_log_bytes = kBound;
  options.change_trim_interval = std::chrono::milliseconds(5);
  TestDatabase database(options);
  database.CreateTable(WithImages());
  int written = 0;
  uint64_t oldest = 1;
  while (oldest < 100 && written < 20'000) {
    for (int i = 0; i < 20; ++i, ++written)
      ASSERT_TRUE(database.Put("Things", {{"pk", S("p")}, {"x", S(Noise(written, 50'000))}}).ok());
    oldest = Oldest(database);
  }
  EXPECT_GE(oldest, 100u);
  // What is left begins with a whole commit, and is not empty.
  auto left = database.ReadChanges(oldest - 1);
  if (left.ok()) {
    EXPECT_EQ(left->records(0).change_sequence(), oldest);
  }
  EXPECT_LT(Oldest(database), static_cast<uint64_t>(written));
  database.CheckIsClean();
}

// A reader finds every change in order, or gets an error that says which changes are missing and continues
// with the oldest kept one. No change is missing without an error.
TEST_F(Trim, ReadersAreToldOfWhatTheyMissed) {  // SEM-103, SEM-107
  auto options = KeepNothing(data_);
  options.change_retention = std::chrono::milliseconds(20);
  options.memtable_bytes = 1 << 20;
  TestDatabase database(options);
  database.CreateTable(WithImages());
  constexpr uint64_t kWrites = 400;
  std::thread writer([&] {
    for (uint64_t i = 0; i < kWrites; ++i)
      ASSERT_TRUE(database.Put("Things", {{"pk", S("p")}, {"x", S(Noise(i, 20'000))}}).ok());
  });
  Watcher watcher(database);
  watcher.request().set_after_sequence(0);
  while (watcher.request().after_sequence() < 1 + kWrites) {
    uint64_t expected = watcher.request().after_sequence() + 1;
    auto reply = watcher.Next();
    if (!reply.ok()) {
      ASSERT_EQ(ReasonOf(reply.status()), kReasonChangesTrimmed) << reply.status();
      const uint64_t oldest = Oldest(database);
      ASSERT_GT(oldest, expected);
      watcher.request().set_after_sequence(oldest - 1);
      continue;
    }
    for (const auto& record : reply->records()) ASSERT_EQ(record.change_sequence(), expected++);
    ASSERT_EQ(reply->change_sequence(), expected - 1);
  }
  writer.join();
  database.CheckIsClean();
}

// After a power cut during trimming the database opens and is undamaged. The start of its log may be later
// than the one that readers were told, but never earlier.
TEST_F(Trim, SurvivesPowerCuts) {  // SEM-103
  for (uint64_t seed = 1; seed <= Repetitions<uint64_t>(12); ++seed) {
    SCOPED_TRACE(seed);
    TemporaryDirectory directory;
    const std::string root = directory.path() + "/root";
    std::filesystem::create_directory(root);
    const bool durable = seed % 3 != 0;
    uint64_t told = 0;
    {
      auto disk = std::make_shared<PowerLossFileSystem>(root);
      disk->SetFreeSpace(128 << 20);
      auto options = KeepNothing(root + "/data");
      options.durable = durable;
      options.memtable_bytes = 1 << 20;
      options.file_system = disk;
      auto opened = Database::Open(options);
      ASSERT_TRUE(opened.ok()) << opened.status();
      auto database = *std::move(opened);
      auto created = Await<v1::CreateTableReply>(
          [&](auto done) { database->CreateTable(WithImages(), std::move(done)); });
      ASSERT_TRUE(created.ok()) << created.status();
      disk->CutPowerAfter(seed * 37 % 300);
      for (uint64_t i = 0; i < 80; ++i) {
        auto put = Await<wire::WriteItemReply>([&](auto done) {
          database->PutItem(WriteRequest("Things", {{"pk", S("p")}, {"x", S(Noise(i, 40'000))}}),
                            std::move(done));
        });
        if (!put.ok()) break;
        v1::ReadChangesRequest read;
        read.set_after_sequence(UINT64_MAX);
        auto reply =
            Await<v1::ReadChangesReply>([&](auto done) { database->ReadChanges(read, std::move(done)); });
        if (reply.ok()) told = std::max(told, reply->oldest_sequence());
      }
      database.reset();
      disk->DropUnsynced(seed);
    }
    TestDatabase database(TestDatabase::DefaultOptions(root + "/data"));
    EXPECT_GE(Oldest(database), told);
    database.CheckIsClean();
  }
}

// Moving the start is not a change, but is still on disk before files are deleted.
TEST_F(Trim, AnIdleRelaxedDatabaseSurvivesAPowerCut) {  // SEM-103
  TemporaryDirectory directory;
  const std::string root = directory.path() + "/root";
  std::filesystem::create_directory(root);
  {
    auto disk = std::make_shared<PowerLossFileSystem>(root);
    auto options = KeepNothing(root + "/data");
    options.durable = false;
    options.memtable_bytes = 1 << 20;
    options.file_system = disk;
    // Not before everything is written and on disk.
    options.change_trim_interval = std::chrono::milliseconds(500);
    auto opened = Database::Open(options);
    ASSERT_TRUE(opened.ok()) << opened.status();
    auto database = *std::move(opened);
    auto created =
        Await<v1::CreateTableReply>([&](auto done) { database->CreateTable(WithImages(), std::move(done)); });
    ASSERT_TRUE(created.ok()) << created.status();
    for (uint64_t i = 0; i < 80; ++i) {
      auto put = Await<wire::WriteItemReply>([&](auto done) {
        database->PutItem(WriteRequest("Things", {{"pk", S("p")}, {"x", S(Noise(i, 40'000))}}),
                          std::move(done));
      });
      ASSERT_TRUE(put.ok()) << put.status();
    }
    uint64_t oldest = 1;
    for (int i = 0; i < 3'000 && oldest < 81; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      v1::ReadChangesRequest read;
      read.set_after_sequence(UINT64_MAX);
      auto reply =
          Await<v1::ReadChangesReply>([&](auto done) { database->ReadChanges(read, std::move(done)); });
      if (reply.ok()) oldest = reply->oldest_sequence();
    }
    ASSERT_GE(oldest, 81u);
    // Files are deleted after the start has moved.
    std::this_thread::sleep_for(std::chrono::seconds(1));
    disk->CutPowerAfter(0);
    database.reset();
    disk->DropUnsynced(1);
  }
  TestDatabase database(TestDatabase::DefaultOptions(root + "/data"));
  database.CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
