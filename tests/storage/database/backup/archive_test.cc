// The archive of commit groups, and databases that are restored to any commit of it.
//
// ITEMDB_RESTORE_POINTS sets how many commits the tests with random ones restore, ITEMDB_TEST_SEED which.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "gmock/gmock.h"
#include "spdlog/spdlog.h"
#include "storage/base/wall_clock.h"
#include "storage/restore.h"
#include "tests/storage/database/requests.h"
#include "tests/support/await.h"
#include "tests/support/files.h"
#include "tests/support/live_index.h"
#include "tests/support/repetitions.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAreArray;

// The items of the table after a change, each as Show() writes it, by encoded key.
using State = std::map<std::string, std::string>;

std::vector<std::string> ItemsOf(const State& state) {
  std::vector<std::string> items;
  for (const auto& [key, item] : state) items.push_back(item);
  return items;
}

int Points(int count) {
  const char* given = std::getenv("ITEMDB_RESTORE_POINTS");
  return given == nullptr ? Repetitions(count) : std::atoi(given);
}

uint64_t Seed(uint64_t seed) {
  const char* given = std::getenv("ITEMDB_TEST_SEED");
  return given == nullptr ? seed : seed + 1'000 * std::strtoull(given, nullptr, 10);
}

class ArchiveTest : public ::testing::Test {
 protected:
  ArchiveTest() { Open(); }

  virtual DatabaseOptions Options() {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory_.path() + "/data");
    options.backup_directory = backups_;
    options.archive_directory = archive_;
    options.archive_interval = std::chrono::milliseconds(5);
    options.clock_us = [this] { return NowMicros() + clock_ahead_us_; };
    return options;
  }
  void Open() {
    database_.reset();
    database_ = std::make_unique<TestDatabase>(Options());
  }
  // A table whose change log has images, with a global and a local index.
  void CreateTable(const std::string& name = "Things") {
    v1::CreateTableRequest table = TableRequest(name);
    AddIndex(&table, "ByState", {"state:S"}, 1, v1::PROJECTION_TYPE_ALL);
    AddLocalIndex(&table, "ByNumber", "number", v1::PROJECTION_TYPE_KEYS_ONLY);
    table.set_stream_enabled(true);
    table.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES);
    database_->CreateTable(table);
  }
  uint64_t Put(const std::string& pk, int number, const std::string& table = "Things") {
    auto put = database_->Put(table, {{"pk", S(pk)},
                                      {"sk", S(std::to_string(number))},
                                      {"number", S(std::to_string(number * 7 % 100))},
                                      {"state", S(number % 2 == 0 ? "even" : "odd")}});
    EXPECT_TRUE(put.ok()) << put.status();
    return put.ok() ? put->change_sequence() : 0;
  }
  // The states of the table after each change, from its change log.
  std::map<uint64_t, State> States() {
    std::map<uint64_t, State> states;
    State state;
    for (const v1::ChangeRecord& change : Changes(*database_)) {
      if (change.has_key() && change.has_new_image()) {
        state[change.key().SerializeAsString()] = Show(change.new_image());
      } else if (change.has_key()) {
        state.erase(change.key().SerializeAsString());
      }
      if (change.change_sequence() == change.commit_last_sequence()) states[change.change_sequence()] = state;
    }
    return states;
  }
  v1::ArchiveStatus Status() { return (*database_)->GetStatus().archive(); }
  // Waits until everything that was committed is in the archive, and a backup that it continues was made.
  void AwaitArchive() {
    const uint64_t last = (*database_)->GetStatus().change_sequence();
    for (int i = 0; i < 3000; ++i) {
      const v1::ArchiveStatus status = Status();
      if (status.change_sequence() >= last && status.oldest_time_us() != 0 && !status.needs_backup()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << Status().DebugString();
  }
  absl::StatusOr<RestoredDatabase> Restore(RestoreOptions options = {}) {
    fs::remove_all(restored_);
    options.backup_directory = backups_;
    options.archive_directory = archive_;
    options.data_directory = restored_;
    options.encryption_keys = database_->options().encryption_keys;
    options.log = database_->options().log;
    return RestoreDatabase(options);
  }
  absl::StatusOr<RestoredDatabase> RestoreTo(uint64_t change) {
    RestoreOptions options;
    options.to_change = change;
    return Restore(options);
  }
  DatabaseOptions RestoredOptions() {
    DatabaseOptions options = TestDatabase::DefaultOptions(restored_);
    options.encryption_keys = database_->options().encryption_keys;
    return options;
  }
  // Restores to `change` and compares the table with `state`.
  void ExpectRestored(uint64_t change, const State& state) {
    SCOPED_TRACE("change " + std::to_string(change));
    const auto restored = RestoreTo(change);
    ASSERT_TRUE(restored.ok()) << restored.status();
    EXPECT_EQ(restored->change_sequence, change);
    TestDatabase other(RestoredOptions());
    EXPECT_EQ(other->GetStatus().change_sequence(), change);
    EXPECT_THAT(ScanAll(other, ScanRequest("Things")), UnorderedElementsAreArray(ItemsOf(state)));
    EXPECT_THAT(Changes(other), SizeIs(change));
    other.CheckIsClean();
  }
  std::vector<std::string> Segments() { return Segments(archive_); }
  static std::vector<std::string> Segments(const std::string& archive) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(archive)) {
      const std::string name = entry.path().filename();
      if (name.starts_with("segment-")) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryDirectory directory_;
  const std::string backups_ = directory_.path() + "/backups";
  const std::string archive_ = directory_.path() + "/archive";
  const std::string restored_ = directory_.path() + "/restored";
  std::atomic<int64_t> clock_ahead_us_ = 0;
  std::unique_ptr<TestDatabase> database_;
};

// Writers put, update and delete, alone and in transactions, so that commit groups have several units.
class WritersOfArchive {
 public:
  explicit WritersOfArchive(TestDatabase& database, int operations, uint64_t seed) {
    for (uint64_t i = 0; i < 4; ++i)
      threads_.emplace_back(
          [&database, operations, seed = seed * 4 + i] { Run(database, operations, seed); });
  }
  ~WritersOfArchive() { Join(); }
  void Join() {
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

 private:
  static wire::WriteItemRequest RandomPut(std::mt19937_64& random, uint64_t number) {
    return WriteRequest("Things", {{"pk", S("p" + std::to_string(random() % 3))},
                                   {"sk", S(std::to_string(number))},
                                   {"number", S(std::to_string(random() % 100))},
                                   {"state", S(random() % 2 == 0 ? "even" : "odd")},
                                   {"text", S(std::string(random() % 100, 'x'))}});
  }
  static void Run(TestDatabase& database, int operations, uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < operations; ++i) {
      const uint64_t number = random() % 20;
      if (random() % 4 == 0) {
        (void)database.Delete(
            "Things", {{"pk", S("p" + std::to_string(random() % 3))}, {"sk", S(std::to_string(number))}});
      } else if (random() % 3 == 0) {
        wire::TransactWriteItemsRequest transaction;
        for (uint64_t action = 0; action < 3; ++action) {
          *transaction.add_transact_items()->mutable_put() = RandomPut(random, number * 3 + action);
        }
        transaction.set_client_request_token("token " + std::to_string(random()));
        (void)database.Transact(transaction);
      } else {
        ASSERT_TRUE(PutItem(database, RandomPut(random, number)).ok());
      }
    }
  }
  std::vector<std::thread> threads_;
};

TEST_F(ArchiveTest, AnyCommitIsRestored) {
  CreateTable();
  AwaitArchive();
  WritersOfArchive(*database_, 100, Seed(1)).Join();
  Open();  // A new segment.
  WritersOfArchive(*database_, 100, Seed(2)).Join();
  AwaitArchive();
  EXPECT_EQ(Status().gaps(), 0);
  const std::map<uint64_t, State> states = States();
  ASSERT_GT(states.size(), 400u);
  std::vector<uint64_t> changes;
  for (const auto& [change, state] : states) changes.push_back(change);
  std::mt19937_64 random(Seed(3));
  for (int i = 0; i < Points(30); ++i) {
    const uint64_t change = changes[random() % changes.size()];
    ExpectRestored(change, states.at(change));
  }
  ExpectRestored(changes.back(), states.at(changes.back()));
  const auto all = Restore();
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->change_sequence, changes.back()) << "without --to: up to the last commit";
}

TEST_F(ArchiveTest, CommitsWhileBackupsAreMadeAreRestored) {
  CreateTable();
  AwaitArchive();
  std::atomic<bool> done = false;
  std::thread backups([&] {
    while (!done) {
      (void)Await<v1::DatabaseBackup>(
          [&](auto reply) { (*database_)->CreateDatabaseBackup({}, std::move(reply), nullptr); });
    }
  });
  WritersOfArchive(*database_, Repetitions(400), Seed(4)).Join();
  done = true;
  backups.join();
  AwaitArchive();
  const std::map<uint64_t, State> states = States();
  std::mt19937_64 random(Seed(5));
  for (int i = 0; i < Points(20); ++i) {
    const auto chosen = std::next(states.begin(), static_cast<int64_t>(random() % states.size()));
    ExpectRestored(chosen->first, chosen->second);
  }
}

TEST_F(ArchiveTest, AChangeInsideOfATransactionIsRefusedWithBothEnds) {
  CreateTable();
  AwaitArchive();
  wire::TransactWriteItemsRequest transaction;
  for (const char* sk : {"1", "2", "3"})
    *transaction.add_transact_items()->mutable_put() =
        WriteRequest("Things", {{"pk", S("a")}, {"sk", S(sk)}});
  ASSERT_TRUE(database_->Transact(transaction).ok());  // Changes 2 to 4.
  Put("a", 4);
  AwaitArchive();
  for (const uint64_t inside : {2, 3}) {
    const absl::Status refused = RestoreTo(inside).status();
    EXPECT_THAT(refused, IsInvalid("transaction with the changes 2 to 4; restore to 1 or to 4"));
    EXPECT_FALSE(fs::exists(restored_ + "/rocksdb"));
  }
  ExpectRestored(1, {});
  EXPECT_TRUE(RestoreTo(4).ok());
}

TEST_F(ArchiveTest, ATimeIsTheLastCommitThatIsNotLater) {
  CreateTable();
  AwaitArchive();
  const uint64_t first = Put("a", 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const int64_t between = NowMicros();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const uint64_t second = Put("a", 2);
  AwaitArchive();
  RestoreOptions options;
  options.to_time_us = between;
  auto restored = Restore(options);
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(restored->change_sequence, first);
  EXPECT_LE(restored->commit_time_us, between);
  options.to_time_us = NowMicros();
  restored = Restore(options);
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(restored->change_sequence, second);
  options.to_time_us = NowMicros() + 3'600'000'000;
  EXPECT_THAT(Restore(options).status().ToString(), HasSubstr("is in the future"));
  options.to_time_us = 1'000'000;
  EXPECT_EQ(ReasonOf(Restore(options).status()), kReasonRestorePointUnknown);
}

TEST_F(ArchiveTest, ATableThatWasDeletedComesBackAndNothingOfItStaysLater) {
  CreateTable();
  AwaitArchive();
  for (int i = 0; i < 50; ++i) Put("a", i);
  const State before = States().rbegin()->second;
  const uint64_t last = (*database_)->GetStatus().change_sequence();
  ASSERT_TRUE(DeleteTable(*database_, "Things").ok());
  for (int i = 0; i < 3000 && (*database_)->GetStatus().disk().dropped_count() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_EQ((*database_)->GetStatus().disk().dropped_count(), 0) << "its space was not reclaimed";
  AwaitArchive();
  ExpectRestored(last, before);
  const auto after = Restore();
  ASSERT_TRUE(after.ok()) << after.status();
  {
    DatabaseOptions options = RestoredOptions();
    options.reclaim_interval = std::chrono::hours(1);
    TestDatabase waits(options);
    EXPECT_EQ(waits->GetStatus().table_count(), 0);
    EXPECT_EQ(waits->GetStatus().disk().dropped_count(), 3) << "the table and its two indexes are there";
  }
  TestDatabase other(RestoredOptions());
  for (int i = 0; i < 3000 && other->GetStatus().disk().dropped_count() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(other->GetStatus().disk().dropped_count(), 0) << "its space is reclaimed there too";
  other.CheckIsClean();
}

TEST_F(ArchiveTest, AnIndexThatWasBuiltMeanwhileIsWhole) {
  CreateTable();
  AwaitArchive();
  for (int i = 0; i < 50; ++i) Put("a", i);
  ASSERT_TRUE(UpdateTable(**database_, CreateIndexRequest("Things", "Built", {"number:S"}, 1)).ok());
  AwaitIndexes(**database_, "Things");
  for (int i = 50; i < 60; ++i) Put("a", i);
  AwaitArchive();
  EXPECT_EQ(Status().gaps(), 0);
  const auto restored = Restore();
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_TRUE(restored->needs_rebuild) << "entries that were ingested are not in the archive";
  TestDatabase other(RestoredOptions());
  wire::PageRequest scan = ScanRequest("Things");
  scan.set_index_name("Built");
  EXPECT_THAT(ScanAll(other, scan), SizeIs(60));
  other.CheckIsClean();
}

// Its items are in no commit group.
TEST_F(ArchiveTest, ATableThatWasLoadedFromFilesIsRestored) {
  CreateTable();
  AwaitArchive();
  for (int i = 0; i < 50; ++i) Put("a", i);
  v1::CreateBackupRequest backup;
  backup.set_table_name("Things");
  backup.set_backup_name("one");
  const auto made =
      Await<v1::CreateBackupReply>([&](auto done) { (*database_)->CreateBackup(backup, std::move(done)); });
  ASSERT_TRUE(made.ok()) << made.status();
  const uint64_t before = Put("a", 50);
  const State state_before = States().rbegin()->second;
  v1::RestoreTableFromBackupRequest request;
  request.set_target_table_name("Loaded");
  request.set_backup_arn(made->backup().backup_arn());
  ASSERT_TRUE(Await<v1::RestoreTableFromBackupReply>([&](auto done) {
                (*database_)->RestoreTableFromBackup(request, std::move(done));
              }).ok());
  AwaitIndexes(**database_, "Loaded");
  Put("a", 51);
  AwaitArchive();
  const auto restored = Restore();
  ASSERT_TRUE(restored.ok()) << restored.status();
  {
    TestDatabase other(RestoredOptions());
    EXPECT_EQ(ScanAll(other, ScanRequest("Loaded")), ScanAll(*database_, ScanRequest("Loaded")));
    EXPECT_THAT(ScanAll(other, ScanRequest("Loaded")), SizeIs(50));
    EXPECT_THAT(ScanAll(other, ScanRequest("Things")), SizeIs(52));
    other.CheckIsClean();
  }
  ExpectRestored(before, state_before);
}

TEST_F(ArchiveTest, AnotherDatabaseIsRefused) {
  CreateTable();
  AwaitArchive();
  database_->Close();
  DatabaseOptions options = Options();
  options.data_directory = directory_.path() + "/other";
  const absl::Status refused = Database::Open(options).status();
  EXPECT_EQ(ReasonOf(refused), kReasonDataDirectoryForeign);
  EXPECT_THAT(refused.ToString(), HasSubstr("give each database an --archive-directory of its own"));
}

TEST_F(ArchiveTest, ADirectoryOfSomethingElseIsRefused) {
  CreateTable();
  database_->Close();
  const std::string photos = directory_.path() + "/photos";
  fs::create_directory(photos);
  // These do not count.
  WriteFile(photos + "/.hidden", "x");
  WriteFile(photos + "/ENCRYPTION.next", "");
  fs::create_directory(photos + "/lost+found");
  WriteFile(photos + "/cat.jpg", "x");
  DatabaseOptions options = Options();
  options.archive_directory = photos;
  const absl::Status archived = Database::Open(options).status();
  EXPECT_EQ(ReasonOf(archived), kReasonDataDirectoryForeign);
  EXPECT_THAT(archived.ToString(), HasSubstr("something else than an archive, such as cat.jpg"));
  options = Options();
  options.archive_directory.clear();
  for (const std::string& directory : {photos, archive_, options.data_directory}) {
    SCOPED_TRACE(directory);
    options.backup_directory = directory;
    auto opened = Database::Open(options);
    ASSERT_TRUE(opened.ok()) << opened.status();
    const auto backup = Await<v1::DatabaseBackup>(
        [&](auto reply) { (*opened)->CreateDatabaseBackup({}, std::move(reply), nullptr); });
    EXPECT_EQ(ReasonOf(backup.status()), kReasonDataDirectoryForeign) << backup.status();
    EXPECT_THAT(backup.status().ToString(), HasSubstr("something else than backups"));
  }
  EXPECT_THAT(FilesWith(photos, "LOCK"), IsEmpty());
  fs::remove(photos + "/cat.jpg");
  options.backup_directory = photos;
  auto opened = Database::Open(options);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_TRUE(Await<v1::DatabaseBackup>([&](auto reply) {
                (*opened)->CreateDatabaseBackup({}, std::move(reply), nullptr);
              }).ok());
}

TEST_F(ArchiveTest, AMissingSegmentIsNamed) {
  CreateTable();
  AwaitArchive();
  // Behind the first backup.
  Put("a", 1);
  AwaitArchive();
  Open();
  Put("a", 2);
  AwaitArchive();
  database_->Close();
  const std::string first = archive_ + "/segment-000000000001";
  ASSERT_TRUE(fs::exists(archive_ + "/segment-000000000002"));
  ASSERT_TRUE(fs::remove(first));
  RestoreOptions options;
  options.backup_id = 1;
  const absl::Status refused = Restore(options).status();
  EXPECT_EQ(ReasonOf(refused), kReasonRestorePointUnknown) << refused;
  EXPECT_THAT(refused.ToString(), HasSubstr("segment-000000000001 is missing or damaged"));
}

// The data directory is put back from a copy, beside an archive and backups that know later commits. Those
// are not of this time line any more.
TEST_F(ArchiveTest, ADataDirectoryThatWasPutBackIsNotMixedWithWhatWasAfterIt) {
  CreateTable();
  for (int i = 0; i < 10; ++i) Put("before", i);
  AwaitArchive();
  database_.reset();
  const std::string data = directory_.path() + "/data", copy = directory_.path() + "/copy";
  fs::copy(data, copy, fs::copy_options::recursive);
  Open();
  for (int i = 0; i < 20; ++i) Put("abandoned", i);
  AwaitArchive();
  const auto backup = Await<v1::DatabaseBackup>(
      [&](auto reply) { (*database_)->CreateDatabaseBackup({}, std::move(reply), nullptr); });
  ASSERT_TRUE(backup.ok()) << backup.status();
  for (int i = 20; i < 25; ++i) Put("abandoned", i);
  AwaitArchive();
  database_.reset();
  fs::remove_all(data);
  fs::rename(copy, data);

  Open();
  for (int i = 0; i < 30; ++i) Put("after", i);
  AwaitArchive();
  for (int i = 30; i < 35; ++i) Put("after", i);
  AwaitArchive();
  const std::map<uint64_t, State> states = States();
  int restored = 0;
  for (const auto& [change, state] : states) {
    if (absl::IsOutOfRange(RestoreTo(change).status())) continue;
    ++restored;
    ExpectRestored(change, state);
  }
  EXPECT_GT(restored, 5) << "behind the new backup, and before the copy";
  ExpectRestored(states.rbegin()->first, states.rbegin()->second);
}

TEST_F(ArchiveTest, ADirectoryIsUsedByOneProcess) {
  DatabaseOptions options = Options();
  options.data_directory = directory_.path() + "/other";
  EXPECT_EQ(ReasonOf(Database::Open(options).status()), kReasonDataDirectoryInUse);
}

TEST_F(ArchiveTest, ADatabaseWithoutItsArchiveGoesOnAndSaysSo) {
  CreateTable();
  AwaitArchive();
  Put("a", 1);
  database_->Close();
  fs::rename(archive_, archive_ + "-away");
  WriteFile(archive_, "no directory");
  Open();
  Put("a", 2);
  EXPECT_THAT(Status().error(), HasSubstr("cannot use the archive directory"));
  fs::remove(archive_);
  fs::rename(archive_ + "-away", archive_);
  Put("a", 3);
  AwaitArchive();
  EXPECT_THAT(Status().error(), IsEmpty());
  const std::map<uint64_t, State> states = States();
  const uint64_t last = states.rbegin()->first;
  ExpectRestored(last, states.at(last));
  ExpectRestored(2, states.at(2));
  // What was committed while the archive was away is in no chain, and the backup behind it has it already.
  const absl::Status lost = RestoreTo(3).status();
  EXPECT_EQ(ReasonOf(lost), kReasonRestorePointUnknown) << lost;
}

// What is written to a deleted file is lost, and no error says so.
TEST_F(ArchiveTest, FilesThatAreDeletedMeanwhileAreAGapAndNotMissedLater) {
  CreateTable();
  AwaitArchive();
  Put("a", 1);
  AwaitArchive();
  for (const std::string& segment : Segments()) fs::remove(archive_ + "/" + segment);
  for (int i = 0; i < 3'000 && Status().gaps() == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(Status().gaps(), 1);
  const uint64_t last = Put("a", 2);
  AwaitArchive();
  EXPECT_EQ(Status().gaps(), 1);
  ExpectRestored(last, States().at(last));
}

TEST_F(ArchiveTest, ACommitBehindTheEndIsRefusedWithTheEnd) {
  CreateTable();
  AwaitArchive();
  Put("a", 1);
  AwaitArchive();
  const absl::Status refused = RestoreTo(9).status();
  EXPECT_EQ(ReasonOf(refused), kReasonRestorePointUnknown);
  EXPECT_THAT(refused.ToString(), HasSubstr("change 9 cannot be restored: the archive ends at change 2"));
}

TEST_F(ArchiveTest, DamageInTheMiddleIsFoundAndNamesTheSegment) {
  CreateTable();
  AwaitArchive();
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 20; ++j) Put("a", i * 20 + j);
    AwaitArchive();
    Open();
  }
  const std::map<uint64_t, State> states = States();
  const uint64_t last = states.rbegin()->first;
  ExpectRestored(last, states.at(last));
  const std::string middle = Segments()[1];
  const std::string whole = ReadFile(archive_ + "/" + middle);
  std::mt19937_64 random(6);
  for (int i = 0; i < Repetitions(40); ++i) {
    std::string damaged = whole;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    WriteFile(archive_ + "/" + middle, damaged);
    const absl::Status refused = RestoreTo(last).status();
    EXPECT_TRUE(absl::IsDataLoss(refused) || ReasonOf(refused) == kReasonRestorePointUnknown) << refused;
    EXPECT_FALSE(fs::exists(restored_ + "/rocksdb"));
  }
  WriteFile(archive_ + "/" + middle, whole.substr(0, whole.size() - 1));
  EXPECT_THAT(RestoreTo(last).status().ToString(), HasSubstr(middle + " ends after change"));
  fs::remove(archive_ + "/" + middle);
  const absl::Status missing = RestoreTo(last).status();
  EXPECT_EQ(ReasonOf(missing), kReasonRestorePointUnknown);
  EXPECT_THAT(std::string(missing.message()),
              AllOf(HasSubstr("cannot be restored: the archive has a gap after change"),
                    HasSubstr("because " + middle + " is missing or damaged")));
  WriteFile(archive_ + "/" + middle, whole);
  ExpectRestored(last, states.at(last));
}

TEST_F(ArchiveTest, WhatIsOlderThanTheWindowIsDeleted) {
  CreateTable();
  AwaitArchive();
  for (int day = 0; day < 20; ++day) {
    Put("a", day);
    AwaitArchive();
    clock_ahead_us_ += int64_t{24} * 3'600'000'000;
    Open();
  }
  AwaitArchive();
  Put("a", 20);
  AwaitArchive();
  const std::map<uint64_t, State> states = States();
  const uint64_t last = states.rbegin()->first;
  // The window has 7 days; the backup before it stays.
  EXPECT_GE(Status().oldest_change_sequence(), last - 10);
  EXPECT_LE(Status().oldest_change_sequence(), last - 7);
  for (uint64_t change = last - 7; change <= last; ++change) ExpectRestored(change, states.at(change));
  EXPECT_EQ(ReasonOf(RestoreTo(3).status()), kReasonRestorePointUnknown);
  EXPECT_LT(Segments().size(), 14u);
}

// RestoreTableToPointInTime, of databases with and without an archive directory.
class PointInTimeTest : public ArchiveTest, public ::testing::WithParamInterface<bool> {
 protected:
  PointInTimeTest() {
    BeginAnew();
    CreateTable();
  }
  // An empty database. `refuses_backups`: no backup of it can be made, until AllowBackups.
  void BeginAnew(bool refuses_backups = false) {
    database_.reset();
    fs::remove_all(directory_.path() + "/data");
    fs::remove_all(archive_);
    fs::remove_all(backups_);
    // The archive of a directory is begun by the opening; that in the data directory, later.
    if (refuses_backups && GetParam()) RefuseBackups();
    Open();
    if (refuses_backups && !GetParam()) RefuseBackups();
  }
  void RefuseBackups() {
    fs::create_directories(Backups());
    WriteFile(Backups() + "/private", "in the place of a folder");
  }
  void AllowBackups() { fs::remove(Backups() + "/private"); }
  std::string Backups() { return GetParam() ? backups_ : directory_.path() + "/data/backups"; }
  DatabaseOptions Options() override {
    DatabaseOptions options = ArchiveTest::Options();
    if (!GetParam()) options.archive_directory.clear();
    if (!GetParam()) options.backup_directory.clear();
    return options;
  }
  v1::ContinuousBackupsDescription Enable() {
    v1::UpdateContinuousBackupsRequest request;
    request.set_table_name("Things");
    request.set_point_in_time_recovery_enabled(true);
    const auto enabled = Await<v1::UpdateContinuousBackupsReply>(
        [&](auto done) { (*database_)->UpdateContinuousBackups(request, std::move(done)); });
    EXPECT_TRUE(enabled.ok()) << enabled.status();
    return enabled.ok() ? enabled->continuous_backups() : v1::ContinuousBackupsDescription();
  }
  void EnableRecovery() {
    Enable();
    AwaitArchive();
  }
  // The present in milliseconds, and in no millisecond with a commit.
  static int64_t BetweenCommits() {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const int64_t between_ms = NowMicros() / 1'000;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return between_ms;
  }
  // As after `cp -r` of the backups.
  void ReopenWithNewFileTimes() {
    database_.reset();
    for (const auto& entry : fs::recursive_directory_iterator(Backups()))
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now());
    Open();
    ASSERT_TRUE(Await([&] { return Recovery().earliest_restorable_time_ms() != 0; }));
  }
  absl::Status RestoreToTime(const std::string& target, int64_t time_ms) {
    v1::RestoreTableToPointInTimeRequest request = RestoreRequest(target);
    request.set_restore_time_ms(time_ms);
    return RestoreTable(request);
  }
  absl::Status DescribeStatus(const std::string& table) {
    v1::DescribeTableRequest request;
    request.set_table_name(table);
    return (*database_)->DescribeTable(request).status();
  }
  v1::ContinuousBackupsDescription Recovery() {
    v1::DescribeContinuousBackupsRequest request;
    request.set_table_name("Things");
    const auto described = (*database_)->DescribeContinuousBackups(request);
    EXPECT_TRUE(described.ok()) << described.status();
    return described.ok() ? described->continuous_backups() : v1::ContinuousBackupsDescription();
  }
  static v1::RestoreTableToPointInTimeRequest RestoreRequest(const std::string& target) {
    v1::RestoreTableToPointInTimeRequest request;
    request.set_source_table_name("Things");
    request.set_target_table_name(target);
    return request;
  }
  absl::Status RestoreTable(const v1::RestoreTableToPointInTimeRequest& request) {
    ITEMDB_RETURN_IF_ERROR(Await<v1::RestoreTableToPointInTimeReply>([&](auto done) {
                             (*database_)->RestoreTableToPointInTime(request, std::move(done));
                           }).status());
    AwaitIndexes(**database_, request.target_table_name());
    return absl::OkStatus();
  }
  void ExpectTable(const std::string& name, const State& state) {
    EXPECT_THAT(ScanAll(*database_, ScanRequest(name)), UnorderedElementsAreArray(ItemsOf(state))) << name;
    const std::string folder = database_->options().data_directory + "/point-in-time";
    for (int i = 0; i < 3000 && fs::exists(folder); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(fs::exists(folder));
    database_->CheckIsClean();
  }
};

TEST_P(PointInTimeTest, ATableIsRestoredToAnyCommitBesideItself) {  // PIT-07, PIT-13, PIT-20
  for (int i = 0; i < 20; ++i) Put("before", i);
  EnableRecovery();
  WritersOfArchive(*database_, Repetitions(50), 7).Join();
  const std::map<uint64_t, State> states = States();
  const uint64_t enabled = 22;
  std::mt19937_64 random(8);
  for (int i = 0; i < 4; ++i) {
    auto chosen =
        std::next(states.lower_bound(enabled), static_cast<int64_t>(random() % (states.size() - enabled)));
    if (chosen == states.end()) --chosen;
    SCOPED_TRACE("change " + std::to_string(chosen->first));
    v1::RestoreTableToPointInTimeRequest request = RestoreRequest("Restored" + std::to_string(i));
    request.set_change_sequence(chosen->first);
    const absl::Status restored = RestoreTable(request);
    ASSERT_TRUE(restored.ok()) << restored;
    ExpectTable(request.target_table_name(), chosen->second);
    // The restored items are in no commit group: the next backup has them.
    AwaitArchive();
  }
  v1::RestoreTableToPointInTimeRequest request = RestoreRequest("Latest");
  request.set_use_latest_restorable_time(true);
  const absl::Status restored = RestoreTable(request);
  ASSERT_TRUE(restored.ok()) << restored;
  ExpectTable("Latest", states.rbegin()->second);
}

TEST_P(PointInTimeTest, ATimeIsTheLastCommitThatIsNotLater) {  // PIT-20
  EnableRecovery();
  for (int i = 0; i < 5; ++i) Put("a", i);
  const State before = States().rbegin()->second;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const int64_t between_ms = NowMicros() / 1'000;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  Put("a", 5);
  v1::RestoreTableToPointInTimeRequest request = RestoreRequest("Earlier");
  request.set_restore_time_ms(between_ms);
  const absl::Status restored = RestoreTable(request);
  ASSERT_TRUE(restored.ok()) << restored;
  ExpectTable("Earlier", before);
}

TEST_P(PointInTimeTest, WhatCannotBeRestoredIsRefused) {  // PIT-07, PIT-08, PIT-09
  v1::RestoreTableToPointInTimeRequest request = RestoreRequest("Other");
  request.set_use_latest_restorable_time(true);
  EXPECT_EQ(ReasonOf(RestoreTable(request)), kReasonPointInTimeRecoveryUnavailable);
  EnableRecovery();
  request.set_restore_time_ms(NowMicros() / 1'000);
  EXPECT_THAT(RestoreTable(request), IsInvalid("Both RestoreDateTime and UseLatestRestorableTime"));
  request.set_use_latest_restorable_time(false);
  request.set_restore_time_ms(Recovery().earliest_restorable_time_ms() - 1);
  EXPECT_EQ(ReasonOf(RestoreTable(request)), kReasonInvalidRestoreTime);
  request.set_restore_time_ms(NowMicros() / 1'000 + 60'000);
  EXPECT_EQ(ReasonOf(RestoreTable(request)), kReasonInvalidRestoreTime);
  request.clear_restore_time_ms();
  EXPECT_THAT(RestoreTable(request), IsInvalid("Either one of RestoreDateTime or UseLatestRestorableTime"));
  request.set_use_latest_restorable_time(true);
  request.set_target_table_name("Things");
  EXPECT_EQ(ReasonOf(RestoreTable(request)), kReasonTableAlreadyExists);
  request.set_target_table_name("Other");
  request.set_source_table_name("Nothing");
  EXPECT_EQ(ReasonOf(RestoreTable(request)), kReasonTableNotFound);
  request.clear_source_table_name();
  EXPECT_THAT(RestoreTable(request), IsInvalid("The parameter 'TableName' is required"));
  // Behind the end of the archive.
  request = RestoreRequest("Other");
  request.set_change_sequence(99'999);
  EXPECT_EQ(ReasonOf(RestoreTable(request)), kReasonRestorePointUnknown);
  EXPECT_TRUE(absl::IsNotFound(DescribeStatus("Other")));
}

// A restore to a time before the first backup was accepted, and failed later, when nobody looked.
TEST_P(PointInTimeTest, NoTimeCanBeRestoredBeforeTheFirstBackup) {  // PIT-05, PIT-07
  BeginAnew(/*refuses_backups=*/true);
  CreateTable();
  const v1::ContinuousBackupsDescription enabled = Enable();
  EXPECT_TRUE(enabled.point_in_time_recovery_enabled());
  EXPECT_EQ(enabled.earliest_restorable_time_ms(), 0);
  EXPECT_EQ(enabled.latest_restorable_time_ms(), 0);
  Put("a", 1);
  const int64_t before_ms = BetweenCommits();
  const absl::Status refused = RestoreToTime("Early", before_ms);
  EXPECT_EQ(ReasonOf(refused), kReasonInvalidRestoreTime) << refused;
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("must be within EarliestRestorableDateTime '"),
                    HasSubstr("no time can be restored before the backup is made")));
  EXPECT_TRUE(absl::IsNotFound(DescribeStatus("Early")));
  AllowBackups();
  Open();
  AwaitArchive();
  ASSERT_TRUE(Await([&] { return Recovery().latest_restorable_time_ms() != 0; }));
  const int64_t earliest_ms = Recovery().earliest_restorable_time_ms();
  EXPECT_GT(earliest_ms, before_ms);
  EXPECT_EQ(ReasonOf(RestoreToTime("Early", before_ms)), kReasonInvalidRestoreTime);
  const State state = States().rbegin()->second;
  BetweenCommits();
  Put("a", 2);
  const absl::Status restored = RestoreToTime("Earliest", earliest_ms);
  ASSERT_TRUE(restored.ok()) << restored;
  ExpectTable("Earliest", state);
}

TEST_P(PointInTimeTest, TheFirstReplyHasTheTimesOfASmallDatabase) {  // PIT-01, PIT-02
  const v1::ContinuousBackupsDescription enabled = Enable();
  EXPECT_GT(enabled.earliest_restorable_time_ms(), 0);
  EXPECT_GE(enabled.latest_restorable_time_ms(), enabled.earliest_restorable_time_ms());
}

// The archive begins a chain, and at once another one, because a table was loaded from files before. The
// backup was made before the second had a file, and its times were unknown for ten minutes.
TEST_P(PointInTimeTest, TheFirstReplyHasTimesAlsoAfterATableWasRestored) {
  v1::CreateBackupRequest backup;
  backup.set_table_name("Things");
  backup.set_backup_name("backup");
  const auto made =
      Await<v1::CreateBackupReply>([&](auto done) { (*database_)->CreateBackup(backup, std::move(done)); });
  ASSERT_TRUE(made.ok()) << made.status();
  v1::RestoreTableFromBackupRequest restore;
  restore.set_target_table_name("Copy");
  restore.set_backup_arn(made->backup().backup_arn());
  ASSERT_TRUE(Await<v1::RestoreTableFromBackupReply>([&](auto done) {
                (*database_)->RestoreTableFromBackup(restore, std::move(done));
              }).ok());
  AwaitIndexes(**database_, "Copy");
  Enable();
  for (int i = 0; i < 1'000 && Recovery().latest_restorable_time_ms() == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GT(Recovery().latest_restorable_time_ms(), 0);
}

// A backup directory that is copied, as to another disk, has files with the time of the copy.
TEST_P(PointInTimeTest, TheTimesOfFilesDoNotSayWhatCanBeRestored) {  // PIT-05
  EnableRecovery();
  ASSERT_TRUE(Await([&] { return Recovery().earliest_restorable_time_ms() != 0; }));
  const int64_t earliest_ms = Recovery().earliest_restorable_time_ms();
  Put("a", 1);
  const State state = States().rbegin()->second;
  const int64_t before_ms = BetweenCommits();
  const auto next = Await<v1::DatabaseBackup>(
      [&](auto reply) { (*database_)->CreateDatabaseBackup({}, std::move(reply), nullptr); });
  ASSERT_TRUE(next.ok()) << next.status();
  Put("a", 2);
  AwaitArchive();
  ReopenWithNewFileTimes();
  EXPECT_EQ(Recovery().earliest_restorable_time_ms(), earliest_ms);
  const absl::Status restored = RestoreToTime("Before", before_ms);
  ASSERT_TRUE(restored.ok()) << restored;
  ExpectTable("Before", state);
  // Backups of a program that did not note it.
  fs::remove_all(Backups() + "/ended");
  ReopenWithNewFileTimes();
  EXPECT_GE(Recovery().earliest_restorable_time_ms(), earliest_ms);
  EXPECT_LE(Recovery().earliest_restorable_time_ms(), next->begin_time_us() / 1'000 + 1);
}

// A directory with one old backup is copied by hand, and the record of its end is lost. Its times began with
// the copy, although every commit since the backup can be restored.
TEST_P(PointInTimeTest, AnOldBackupWithoutARecordIsNotAsYoungAsItsCopy) {  // PIT-05
  constexpr int64_t kHourUs = int64_t{3'600} * 1'000'000;
  EnableRecovery();
  const int64_t earliest_ms = Recovery().earliest_restorable_time_ms();
  clock_ahead_us_ += kHourUs;
  Put("a", 1);
  const State state = States().rbegin()->second;
  const int64_t before_ms = BetweenCommits() + kHourUs / 1'000;
  Put("a", 2);
  AwaitArchive();
  database_.reset();
  fs::remove_all(Backups() + "/ended");
  for (const auto& entry : fs::recursive_directory_iterator(Backups()))
    fs::last_write_time(entry.path(), fs::file_time_type::clock::now() + std::chrono::hours(60));
  clock_ahead_us_ += 60 * kHourUs;
  Open();
  AwaitArchive();
  ASSERT_TRUE(Await([&] { return Recovery().earliest_restorable_time_ms() != 0; }));
  const int64_t known_ms = Recovery().earliest_restorable_time_ms();
  EXPECT_GE(known_ms, earliest_ms);
  EXPECT_LT(known_ms, before_ms);
  // Within the time that the backup may have taken.
  const absl::Status refused = RestoreToTime("Refused", earliest_ms);
  EXPECT_EQ(ReasonOf(refused), kReasonInvalidRestoreTime) << refused;
  const absl::Status restored = RestoreToTime("Before", before_ms);
  ASSERT_TRUE(restored.ok()) << restored;
  ExpectTable("Before", state);
}

TEST_P(PointInTimeTest, ATimeInAGapOfTheArchiveIsRefused) {  // PIT-05, PIT-07
  EnableRecovery();
  Put("a", 1);
  const State state = States().rbegin()->second;
  const int64_t before_ms = BetweenCommits();
  Put("a", 2);
  Open();
  Put("a", 3);
  const int64_t lost_ms = BetweenCommits();
  Put("a", 4);
  AwaitArchive();
  const std::string archive = Status().directory();
  // Otherwise the next opening takes the commits from the write-ahead log.
  ASSERT_TRUE((*database_)->FlushBeforeStop(std::chrono::seconds(10), Cancellation()).ok());
  database_.reset();
  fs::remove(archive + "/" + Segments(archive).back());
  Open();
  AwaitArchive();
  ASSERT_TRUE(Await([&] { return absl::IsOutOfRange(RestoreToTime("Lost", NowMicros() / 1'000 + 60'000)); }));
  const absl::Status refused = RestoreToTime("Lost", lost_ms);
  EXPECT_EQ(ReasonOf(refused), kReasonInvalidRestoreTime) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the archive of commits has a gap there"));
  EXPECT_TRUE(absl::IsNotFound(DescribeStatus("Lost")));
  EXPECT_LE(Recovery().earliest_restorable_time_ms(), before_ms);
  const absl::Status restored = RestoreToTime("Before", before_ms);
  ASSERT_TRUE(restored.ok()) << restored;
  ExpectTable("Before", state);
}

TEST_P(PointInTimeTest, ADamagedArchiveIsToldByTheCall) {
  EnableRecovery();
  for (int i = 0; i < 20; ++i) Put("a", i);
  Open();
  for (int i = 0; i < 20; ++i) Put("b", i);
  AwaitArchive();
  const std::string archive = Status().directory();
  database_.reset();
  const std::string first = archive + "/" + Segments(archive)[0];
  std::string damaged = ReadFile(first);
  damaged[damaged.size() / 2] ^= 1;
  WriteFile(first, damaged);
  Open();
  v1::RestoreTableToPointInTimeRequest request = RestoreRequest("Copy");
  request.set_use_latest_restorable_time(true);
  const absl::Status refused = RestoreTable(request);
  EXPECT_TRUE(absl::IsDataLoss(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr(Segments(archive)[0]));
  EXPECT_TRUE(absl::IsNotFound(DescribeStatus("Copy")));
}

// A table of the same name that was deleted before is another table.
TEST_P(PointInTimeTest, AChangeBeforeTheTableIsRefused) {
  EnableRecovery();
  const uint64_t of_the_first = Put("a", 1);
  // The call knows the time of creation in milliseconds.
  BetweenCommits();
  ASSERT_TRUE(DeleteTable(*database_, "Things").ok());
  CreateTable();
  EnableRecovery();
  v1::RestoreTableToPointInTimeRequest request = RestoreRequest("Other");
  request.set_change_sequence(of_the_first);
  const absl::Status refused = RestoreTable(request);
  EXPECT_EQ(ReasonOf(refused), kReasonRestorePointUnknown) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the table did not exist after change"));
  EXPECT_TRUE(absl::IsNotFound(DescribeStatus("Other")));
}

// The call reads no backup: what is damaged there is found out later, and DescribeTable says it.
TEST_P(PointInTimeTest, ARestoreThatFailsLaterSaysWhy) {
  EnableRecovery();
  for (const auto& entry : fs::recursive_directory_iterator(Backups())) {
    if (!entry.is_regular_file() || entry.path().string().find("/meta/") != std::string::npos) continue;
    std::string damaged = ReadFile(entry.path());
    if (damaged.empty()) continue;
    damaged[damaged.size() / 2] ^= 1;
    WriteFile(entry.path(), damaged);
  }
  v1::RestoreTableToPointInTimeRequest request = RestoreRequest("Copy");
  request.set_use_latest_restorable_time(true);
  ASSERT_TRUE(Await<v1::RestoreTableToPointInTimeReply>([&](auto done) {
                (*database_)->RestoreTableToPointInTime(request, std::move(done));
              }).ok());
  for (int i = 0; i < 3000 && DescribeStatus("Copy").ok(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const absl::Status missing = DescribeStatus("Copy");
  EXPECT_EQ(ReasonOf(missing), kReasonResourceNotFound) << missing;
  EXPECT_THAT(std::string(missing.message()),
              AllOf(HasSubstr("Copy"), HasSubstr("; restoring it failed at "), HasSubstr("backup 1")));
  EXPECT_THAT(std::string(DescribeStatus("Nothing").message()), Not(HasSubstr("failed")));
}

// Without --archive-directory, point-in-time recovery begins an archive in the data directory.
TEST_P(PointInTimeTest, TheArchiveGoesOnAfterARestart) {
  EXPECT_EQ((*database_)->GetStatus().has_archive(), GetParam());
  EnableRecovery();
  const uint64_t first = Put("a", 1);
  const State state = States().rbegin()->second;
  Open();
  ASSERT_TRUE((*database_)->GetStatus().has_archive());
  EXPECT_EQ(Status().gaps(), 0);
  Put("a", 2);
  AwaitArchive();
  v1::RestoreTableToPointInTimeRequest request = RestoreRequest("Earlier");
  request.set_change_sequence(first);
  const absl::Status restored = RestoreTable(request);
  ASSERT_TRUE(restored.ok()) << restored;
  ExpectTable("Earlier", state);
}

INSTANTIATE_TEST_SUITE_P(Archive, PointInTimeTest, ::testing::Bool());

class EncryptedArchiveTest : public ArchiveTest {
 protected:
  EncryptedArchiveTest() {
    keys_ = KeysOf({"k1"});
    database_.reset();
    fs::remove_all(directory_.path() + "/data");
    fs::remove_all(archive_);
    fs::remove_all(backups_);
    Open();
  }
  DatabaseOptions Options() override {
    DatabaseOptions options = ArchiveTest::Options();
    options.encryption_keys = keys_;
    return options;
  }
  EncryptionKeys keys_;
};

TEST_F(EncryptedArchiveTest, IsEncryptedAndRestored) {
  CreateTable();
  AwaitArchive();
  for (int i = 0; i < 20; ++i) Put("plainly readable", i);
  AwaitArchive();
  EXPECT_THAT(FilesWith(archive_, "readable"), IsEmpty());
  Open();
  Put("plainly readable", 20);
  AwaitArchive();
  const std::map<uint64_t, State> states = States();
  ExpectRestored(10, states.at(10));
  const uint64_t last = states.rbegin()->first;
  ExpectRestored(last, states.at(last));
}

}  // namespace
}  // namespace itemdb::testing
