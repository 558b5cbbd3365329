// Backups of the whole database, and databases that are made of them.
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <random>
#include <thread>

#include "gmock/gmock.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "spdlog/spdlog.h"
#include "storage/restore.h"
#include "tests/storage/database/requests.h"
#include "tests/support/files.h"
#include "tests/support/live_index.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BackupTest : public ::testing::Test {
 protected:
  BackupTest() {
    v1::CreateTableRequest table = TableRequest("Things");
    AddIndex(&table, "ByState", {"state:S"}, 1, v1::PROJECTION_TYPE_ALL);
    database_.CreateTable(table);
  }

  static DatabaseOptions Options(const std::string& data, const std::string& backups) {
    DatabaseOptions options = TestDatabase::DefaultOptions(data);
    options.backup_directory = backups;
    return options;
  }
  // The item has `bytes` of text that does not compress.
  void Put(const std::string& pk, int number, size_t bytes = 10) {
    std::mt19937 random(static_cast<uint32_t>(number));
    std::string text(bytes, ' ');
    for (char& c : text) c = static_cast<char>('!' + random() % 90);
    auto put = database_.Put("Things", {{"pk", S(pk)},
                                        {"sk", S(std::to_string(number))},
                                        {"state", S(number % 2 == 0 ? "even" : "odd")},
                                        {"text", S(text)}});
    ASSERT_TRUE(put.ok()) << put.status();
  }
  absl::StatusOr<v1::DatabaseBackup> Create(CancellationPtr cancellation = nullptr) {
    return Await<v1::DatabaseBackup>(
        [&](auto done) { database_->CreateDatabaseBackup({}, std::move(done), cancellation); });
  }
  v1::ListDatabaseBackupsReply List() {
    auto listed = Await<v1::ListDatabaseBackupsReply>(
        [&](auto done) { database_->ListDatabaseBackups({}, std::move(done)); });
    EXPECT_TRUE(listed.ok()) << listed.status();
    return listed.ok() ? *listed : v1::ListDatabaseBackupsReply();
  }
  std::vector<uint32_t> Ids() {
    std::vector<uint32_t> ids;
    const v1::ListDatabaseBackupsReply listed = List();
    for (const v1::DatabaseBackup& backup : listed.backups()) ids.push_back(backup.backup_id());
    return ids;
  }
  absl::StatusOr<v1::DatabaseBackup> Verify(uint32_t id = 0, CancellationPtr cancellation = nullptr) {
    v1::VerifyDatabaseBackupRequest request;
    request.set_backup_id(id);
    return Await<v1::DatabaseBackup>(
        [&](auto done) { database_->VerifyDatabaseBackup(request, std::move(done), cancellation); });
  }
  absl::StatusOr<v1::DeleteDatabaseBackupsReply> Delete(uint32_t id, uint32_t keep_newest = 0) {
    v1::DeleteDatabaseBackupsRequest request;
    request.set_backup_id(id);
    request.set_keep_newest(keep_newest);
    return Await<v1::DeleteDatabaseBackupsReply>(
        [&](auto done) { database_->DeleteDatabaseBackups(request, std::move(done)); });
  }
  absl::StatusOr<RestoredDatabase> Restore(uint32_t id = 0) {
    return RestoreDatabase({.backup_directory = backups_,
                            .backup_id = id,
                            .data_directory = restored_,
                            .log = database_.options().log});
  }
  void Flush() {
    const Cancellation never;
    const absl::Status flushed = database_->FlushBeforeStop(std::chrono::minutes(1), never);
    ASSERT_TRUE(flushed.ok()) << flushed;
  }
  static uint64_t BytesIn(const std::string& directory) {
    uint64_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(directory))
      if (entry.is_regular_file()) bytes += entry.file_size();
    return bytes;
  }

  TemporaryDirectory directory_;
  const std::string backups_ = directory_.path() + "/backups";
  const std::string restored_ = directory_.path() + "/restored";
  TestDatabase database_{Options(directory_.path() + "/data", backups_)};
};

TEST_F(BackupTest, IsRestoredWithItemsIndexesAndChanges) {
  for (int i = 0; i < 50; ++i) Put("a", i);
  Flush();
  for (int i = 50; i < 100; ++i) Put("a", i);  // Only in the write-ahead log.
  const std::vector<std::string> items = ScanAll(database_, ScanRequest("Things"));
  auto backup = Create();
  ASSERT_TRUE(backup.ok()) << backup.status();
  EXPECT_EQ(backup->backup_id(), 1u);
  EXPECT_EQ(backup->table_count(), 1);
  EXPECT_EQ(backup->change_sequence(), 101u);
  EXPECT_EQ(backup->database_id(), database_->GetStatus().database_id());
  const size_t changes = Changes(database_).size();
  Put("later", 1);

  auto restored = Restore();
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(restored->backup.backup_id(), 1u);
  TestDatabase other(TestDatabase::DefaultOptions(restored_));
  EXPECT_EQ(ScanAll(other, ScanRequest("Things")), items);
  EXPECT_EQ(Changes(other).size(), changes);
  EXPECT_EQ(other->GetStatus().change_sequence(), 101u);
  // Change sequences after the backup mean other changes there.
  EXPECT_NE(other->GetStatus().database_id(), backup->database_id());
  other.CheckIsClean();
  ASSERT_TRUE(other.Put("Things", {{"pk", S("b")}, {"sk", S("1")}}).ok());
  other.Reopen();
  EXPECT_EQ(other->GetStatus().change_sequence(), 102u);
  other.CheckIsClean();
}

TEST_F(BackupTest, CopiesOnlyFilesThatAreInNoBackupYet) {
  // So few that nothing is compacted.
  for (int i = 0; i < 8; ++i) Put("a", i, 100'000);
  Flush();
  auto first = Create();
  ASSERT_TRUE(first.ok()) << first.status();
  const uint64_t after_first = BytesIn(backups_);
  Put("a", 41);
  auto second = Create();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_LT(BytesIn(backups_), after_first + after_first / 4);
  // What is left has all it needs.
  ASSERT_TRUE(Delete(1).ok());
  EXPECT_TRUE(Verify(2).ok());
  ASSERT_TRUE(Restore().ok());
  TestDatabase other(TestDatabase::DefaultOptions(restored_));
  EXPECT_EQ(ScanAll(other, ScanRequest("Things")).size(), 9u);
}

// Each writer's items are there up to some number, without a gap, and at least those that were answered
// before.
TEST_F(BackupTest, OfADatabaseThatIsWrittenIsAPrefixOfTheWrites) {
  constexpr int kWriters = 3;
  std::atomic<bool> stop = false;
  std::atomic<int> answered[kWriters] = {};
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; !stop && !HasFatalFailure(); ++i) {
        Put("writer" + std::to_string(w), i, 500);
        answered[w] = i + 1;
      }
    });
  }
  std::vector<std::vector<int>> least;
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    least.push_back({answered[0], answered[1], answered[2]});
    auto backup = Create();
    EXPECT_TRUE(backup.ok()) << backup.status();
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  ASSERT_EQ(Ids().size(), 5u);
  for (uint32_t id = 1; id <= 5; ++id) {
    SCOPED_TRACE("backup " + std::to_string(id));
    fs::remove_all(restored_);
    auto restored = Restore(id);
    ASSERT_TRUE(restored.ok()) << restored.status();
    TestDatabase other(TestDatabase::DefaultOptions(restored_));
    EXPECT_GE(other->GetStatus().change_sequence(), restored->change_sequence);
    other.CheckIsClean();
    for (int w = 0; w < kWriters; ++w) {
      wire::PageRequest query =
          QueryRequest("Things", "pk = :pk", {{":pk", S("writer" + std::to_string(w))}});
      query.set_projection_expression("sk");
      std::vector<int> numbers;
      for (const std::string& item : QueryAll(other, query)) numbers.push_back(std::stoi(item.substr(3)));
      std::sort(numbers.begin(), numbers.end());
      EXPECT_GE(static_cast<int>(numbers.size()), least[id - 1][w]);
      for (size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], static_cast<int>(i));
    }
  }
}

TEST_F(BackupTest, ThatIsDamagedIsNoticedAndNotRestored) {
  for (int i = 0; i < 40; ++i) Put("a", i, 10'000);
  Flush();
  ASSERT_TRUE(Create().ok());
  EXPECT_TRUE(Verify().ok());
  fs::path largest;
  for (const auto& entry : fs::recursive_directory_iterator(backups_))
    if (entry.path().extension() == ".sst" && (largest.empty() || entry.file_size() > fs::file_size(largest)))
      largest = entry.path();
  const std::string content = ReadFile(largest);
  std::string flipped = content;
  flipped[flipped.size() / 2] ^= 1;
  WriteFile(largest, flipped);
  EXPECT_TRUE(absl::IsDataLoss(Verify().status())) << Verify().status();
  const absl::Status refused = Restore().status();
  EXPECT_TRUE(absl::IsDataLoss(refused)) << refused;
  // It names the file.
  EXPECT_THAT(std::string(refused.message()), HasSubstr("hecksum mismatch for "));
  EXPECT_FALSE(fs::exists(restored_ + "/rocksdb"));
  WriteFile(largest, content.substr(0, content.size() / 2));
  EXPECT_TRUE(absl::IsDataLoss(Verify().status())) << Verify().status();
  fs::remove(largest);
  EXPECT_THAT(List().damaged_backup_ids(), ElementsAre(1u));
  EXPECT_TRUE(absl::IsDataLoss(Verify(1).status())) << Verify(1).status();
  // The next backup does not use the damaged file.
  ASSERT_TRUE(Create().ok());
  EXPECT_TRUE(Verify().ok());
  EXPECT_TRUE(Restore().ok());
}

TEST_F(BackupTest, IsProvenByRestoringIt) {
  for (int i = 0; i < 50; ++i) Put("a", i);
  ASSERT_TRUE(Create().ok());
  EXPECT_FALSE(database_->GetStatus().has_proven_backup());
  v1::VerifyDatabaseBackupRequest request;
  request.set_by_restoring(true);
  const auto prove = [&] {
    return Await<v1::DatabaseBackup>(
        [&](auto done) { database_->VerifyDatabaseBackup(request, std::move(done)); });
  };
  const auto proven = prove();
  ASSERT_TRUE(proven.ok()) << proven.status();
  EXPECT_EQ(proven->backup_id(), 1u);
  EXPECT_FALSE(fs::exists(database_.options().data_directory + "/proof"));
  EXPECT_EQ(database_->GetStatus().proven_backup().backup_id(), 1u);
  EXPECT_EQ(database_->GetStatus().proven_backup().begin_time_us(), proven->begin_time_us());

  // What a killed proof has left goes at the next opening.
  fs::create_directories(database_.options().data_directory + "/proof/rocksdb");
  database_.Reopen();
  EXPECT_FALSE(fs::exists(database_.options().data_directory + "/proof"));
  EXPECT_EQ(database_->GetStatus().proven_backup().backup_id(), 1u) << "it is remembered";

  Put("b", 1);
  ASSERT_TRUE(Create().ok());
  for (const auto& entry : fs::directory_iterator(backups_ + "/shared_checksum"))
    fs::resize_file(entry.path(), entry.file_size() - 1);
  EXPECT_TRUE(absl::IsDataLoss(prove().status())) << prove().status();
  EXPECT_EQ(database_->GetStatus().proven_backup().backup_id(), 1u) << "the damaged one is not proven";
  request.set_backup_id(9);
  EXPECT_TRUE(absl::IsNotFound(prove().status()));
}

// What a backup is described with comes from RocksDB's list of files and from notes beside it.
TEST_F(BackupTest, IsDescribedWithItsTablesAndWhenItWasVerified) {
  const auto describe = [&](uint32_t id) {
    v1::ListDatabaseBackupsRequest request;
    request.set_describe_backup_id(id);
    return Await<v1::ListDatabaseBackupsReply>(
        [&](auto done) { database_->ListDatabaseBackups(request, std::move(done)); });
  };
  for (int i = 0; i < 50; ++i) Put("a", i, 10'000);
  Flush();
  ASSERT_TRUE(Create().ok());
  for (int i = 50; i < 60; ++i) Put("a", i);
  database_.CreateTable(TableRequest("Others"));
  ASSERT_TRUE(Create().ok());

  const auto first = describe(1);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_EQ(first->backups_size(), 1);
  EXPECT_EQ(first->backups(0).backup_id(), 1u);
  EXPECT_GE(first->details().end_time_us(), first->backups(0).begin_time_us());
  EXPECT_FALSE(first->details().encrypted());
  EXPECT_EQ(first->details().verified_time_us(), 0);
  EXPECT_EQ(first->details().proven_time_us(), 0);
  ASSERT_TRUE(first->details().knows_tables());
  ASSERT_EQ(first->details().tables_size(), 1);
  EXPECT_EQ(first->details().tables(0).table_name(), "Things");
  EXPECT_EQ(first->details().tables(0).item_count(), 50) << "as it was then";
  EXPECT_GT(first->details().tables(0).item_bytes(), 500'000);
  EXPECT_EQ(first->details().tables(0).index_count(), 1);
  // Whatever was compacted between the two: a file that both have is there once.
  const v1::ListDatabaseBackupsReply listed = List();
  int64_t of_both = 0;
  for (const v1::DatabaseBackup& backup : listed.backups()) of_both += backup.size_bytes();
  const uint64_t stored = BytesIn(backups_ + "/shared_checksum") + BytesIn(backups_ + "/private");
  EXPECT_EQ(first->details().shared_bytes(), of_both - static_cast<int64_t>(stored));
  EXPECT_LT(first->details().shared_bytes(), first->backups(0).size_bytes());

  ASSERT_TRUE(Verify(2).ok());
  v1::VerifyDatabaseBackupRequest prove;
  prove.set_by_restoring(true);
  prove.set_backup_id(1);
  ASSERT_TRUE(Await<v1::DatabaseBackup>([&](auto done) {
                database_->VerifyDatabaseBackup(prove, std::move(done));
              }).ok());
  EXPECT_GT(describe(1)->details().proven_time_us(), 0);
  EXPECT_EQ(describe(1)->details().tables_size(), 1) << "the notes keep what they had";
  const auto second = describe(2);
  EXPECT_GT(second->details().verified_time_us(), second->details().end_time_us());
  EXPECT_EQ(second->details().proven_time_us(), 0);
  EXPECT_EQ(second->details().tables_size(), 2);
  EXPECT_TRUE(absl::IsNotFound(describe(9).status())) << describe(9).status();

  // A version that knows less wrote the notes, and then they are lost.
  {
    std::ofstream(backups_ + "/ended/1") << "begun " << first->backups(0).begin_time_us() << " ended "
                                         << first->details().end_time_us() << "\n";
  }
  EXPECT_EQ(describe(1)->details().end_time_us(), first->details().end_time_us());
  EXPECT_FALSE(describe(1)->details().knows_tables());
  EXPECT_GT(describe(1)->details().proven_time_us(), 0) << "the last proof has a record of its own";
  fs::remove(backups_ + "/ended/1");
  EXPECT_EQ(describe(1)->details().end_time_us(), 0);
  ASSERT_TRUE(Delete(1).ok());
  EXPECT_TRUE(absl::IsNotFound(describe(1).status()));
  EXPECT_EQ(describe(2)->details().shared_file_count(), 0) << "nobody else has its files now";
}

TEST_F(BackupTest, StatusSaysWhetherTheDiskOfTheDataHasThem) {
  EXPECT_EQ(database_->GetStatus().backup_places().backup_directory(), backups_);
  EXPECT_FALSE(fs::exists(backups_)) << "the directory is made with the first backup";
  EXPECT_TRUE(database_->GetStatus().backup_places().shares_disk());
  // A file system of the kernel's own: nothing is written there.
  TestDatabase other(Options(directory_.path() + "/other", "/proc/itemdb-backups"));
  EXPECT_FALSE(other->GetStatus().backup_places().shares_disk());
}

TEST_F(BackupTest, OfAnotherDatabaseIsNotMixedIn) {
  ASSERT_TRUE(Create().ok());
  TestDatabase other(Options(directory_.path() + "/other", backups_));
  auto refused =
      Await<v1::DatabaseBackup>([&](auto done) { other->CreateDatabaseBackup({}, std::move(done)); });
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status())) << refused.status();
  EXPECT_THAT(MessageOf(refused.status()), HasSubstr(database_->GetStatus().database_id()));
  v1::DeleteDatabaseBackupsRequest prune;
  for (const bool all_but_newest : {false, true}) {
    prune.Clear();
    all_but_newest ? prune.set_keep_newest(1) : prune.set_backup_id(1);
    ASSERT_TRUE(!all_but_newest || Create().ok());
    auto kept = Await<v1::DeleteDatabaseBackupsReply>(
        [&](auto done) { other->DeleteDatabaseBackups(prune, std::move(done)); });
    EXPECT_TRUE(absl::IsFailedPrecondition(kept.status())) << kept.status();
  }
  EXPECT_THAT(Ids(), ElementsAre(1u, 2u));
}

// Two processes would delete each other's files.
TEST_F(BackupTest, DirectoryInUseByAnotherProcessIsLeftAlone) {
  ASSERT_TRUE(Create().ok());
  rocksdb::FileLock* lock = nullptr;
  ASSERT_TRUE(rocksdb::Env::Default()->LockFile(backups_ + "/LOCK", &lock).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(Create().status())) << Create().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(Delete(1).status()));
  EXPECT_THAT(Ids(), ElementsAre(1u)) << "they can be listed";
  ASSERT_TRUE(rocksdb::Env::Default()->UnlockFile(lock).ok());
  EXPECT_TRUE(Create().ok());
}

TEST_F(BackupTest, OnTheDiskOfTheDataLeavesTheFreeSpaceToWrites) {
  DatabaseOptions options = Options(directory_.path() + "/full", directory_.path() + "/full-backups");
  TestDatabase full(options);
  full.Close();
  options.free_space_floor_bytes = uint64_t{1} << 60;
  auto database = Database::Open(options);
  ASSERT_TRUE(database.ok()) << database.status();
  auto refused =
      Await<v1::DatabaseBackup>([&](auto done) { (*database)->CreateDatabaseBackup({}, std::move(done)); });
  EXPECT_EQ(ReasonOf(refused.status()), kReasonDiskFull) << refused.status();
}

// While a backup is copied, an index is built: the backup has all of its entries or none.
TEST_F(BackupTest, BesideAnIndexBuildHasAWholeIndexOrNone) {
  for (int i = 0; i < 3'000; ++i) Put("p" + std::to_string(i), i, 100);
  for (int round = 0; round < 4; ++round) {
    auto added =
        UpdateTable(*database_, CreateIndexRequest("Things", "Index" + std::to_string(round), {"text:S"}, 1));
    ASSERT_TRUE(added.ok()) << added.status();
    std::this_thread::sleep_for(std::chrono::milliseconds(7 * round));
    auto backup = Create();
    if (!backup.ok()) {
      EXPECT_TRUE(absl::IsUnavailable(backup.status())) << backup.status();
      continue;
    }
    fs::remove_all(restored_);
    ASSERT_TRUE(Restore().ok());
    TestDatabase other(TestDatabase::DefaultOptions(restored_));
    AwaitIndexes(*other, "Things");
    other.CheckIsClean();
    AwaitIndexes(*database_, "Things");
  }
}

// A disk on which two operations wait to be let through: the link that adds the first table file of an index
// build, and after it RocksDB's listing of its directory, which a backup makes between its choice of table
// files and its choice of log files.
class TwoGatesDisk : public rocksdb::FileSystemWrapper {
 public:
  struct Gate {
    std::promise<void> reached;
    std::promise<void> opened;
    std::atomic<bool> is_used = false;

    void Pass() {
      if (is_used.exchange(true)) return;
      reached.set_value();
      opened.get_future().wait();
    }
  };

  TwoGatesDisk() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  static const char* kClassName() { return "TwoGatesDisk"; }
  const char* Name() const override { return kClassName(); }
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options, rocksdb::IODebugContext* dbg) override {
    if (from.find("/builds/") != std::string::npos) ingestion.Pass();
    return target()->LinkFile(from, to, options, dbg);
  }
  rocksdb::IOStatus GetChildren(const std::string& directory, const rocksdb::IOOptions& options,
                                std::vector<std::string>* children, rocksdb::IODebugContext* dbg) override {
    if (ingestion.is_used && directory.ends_with("/rocksdb")) listing.Pass();
    return target()->GetChildren(directory, options, children, dbg);
  }

  Gate ingestion;
  Gate listing;
};

// The files are being added when the backup begins. While it looks for its files nothing is committed.
TEST_F(BackupTest, ThatBeginsWhileEntriesAreAddedHasAWholeIndexOrNone) {
  const auto disk = std::make_shared<TwoGatesDisk>();
  database_.Close();
  DatabaseOptions options = Options(directory_.path() + "/data", backups_);
  options.file_system = disk;
  TestDatabase database(options);
  ASSERT_TRUE(database.Put("Things", {{"pk", S("a")}, {"sk", S("1")}, {"text", S("t")}}).ok());
  ASSERT_TRUE(UpdateTable(*database, CreateIndexRequest("Things", "ByText", {"text:S"}, 1)).ok());
  disk->ingestion.reached.get_future().wait();
  auto backup = std::async(std::launch::async, [&] {
    return Await<v1::DatabaseBackup>([&](auto done) { database->CreateDatabaseBackup({}, std::move(done)); });
  });
  disk->listing.reached.get_future().wait();
  disk->ingestion.opened.set_value();
  disk->listing.opened.set_value();
  const absl::StatusOr<v1::DatabaseBackup> made = backup.get();
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_TRUE(Restore().ok());
  TestDatabase other(TestDatabase::DefaultOptions(restored_));
  AwaitIndexes(*other, "Things");
  other.CheckIsClean();
}

TEST_F(BackupTest, IsRestoredIntoAnEmptyDirectoryOnly) {
  EXPECT_TRUE(absl::IsNotFound(Restore().status())) << "no directory";
  fs::create_directory(backups_);
  EXPECT_TRUE(absl::IsNotFound(Restore().status())) << "no backup";
  ASSERT_TRUE(Create().ok());
  EXPECT_TRUE(absl::IsNotFound(Restore(7).status()));
  fs::create_directory(restored_);
  WriteFile(restored_ + "/notes", "mine");
  const absl::Status refused = Restore().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(MessageOf(refused), HasSubstr("notes"));
  fs::remove(restored_ + "/notes");
  ASSERT_TRUE(Restore().ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(Restore().status())) << "it has a database now";
}

// The files are copied into the folder `restoring`, then the watermark is written, then the folder is
// renamed.
TEST_F(BackupTest, ThatIsHalfRestoredIsNoDatabaseAndIsRestoredAnew) {
  Put("a", 1);
  ASSERT_TRUE(Create().ok());
  ASSERT_TRUE(Restore().ok());
  for (const bool has_watermark : {false, true}) {
    fs::rename(restored_ + "/rocksdb", restored_ + "/restoring");
    fs::remove(restored_ + "/SYNCED");
    if (!has_watermark) fs::remove(restored_ + "/WATERMARK");
    EXPECT_FALSE(Database::Open(TestDatabase::DefaultOptions(restored_)).ok());
    auto restored = Restore();
    ASSERT_TRUE(restored.ok()) << restored.status();
    EXPECT_FALSE(fs::exists(restored_ + "/restoring"));
  }
  TestDatabase other(TestDatabase::DefaultOptions(restored_));
  EXPECT_EQ(ScanAll(other, ScanRequest("Things")).size(), 1u);
}

TEST_F(BackupTest, IsDeletedAloneOrWithAllButTheNewest) {
  for (int i = 0; i < 4; ++i) {
    Put("a", i);
    ASSERT_TRUE(Create().ok());
  }
  auto one = Delete(2);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_THAT(one->deleted_backup_ids(), ElementsAre(2u));
  EXPECT_TRUE(absl::IsNotFound(Delete(2).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Delete(0).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Delete(1, 1).status()));
  auto old = Delete(0, 2);
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_THAT(old->deleted_backup_ids(), ElementsAre(1u));
  EXPECT_THAT(Ids(), ElementsAre(3u, 4u));
  EXPECT_THAT(Delete(0, 2)->deleted_backup_ids(), IsEmpty());
}

TEST_F(BackupTest, ThatIsCancelledLeavesNothing) {
  for (int i = 0; i < 40; ++i) Put("a", i, 100'000);
  Flush();
  auto cancellation = std::make_shared<Cancellation>();
  cancellation->Cancel();
  EXPECT_TRUE(absl::IsCancelled(Create(cancellation).status()));
  EXPECT_THAT(Ids(), IsEmpty());
  EXPECT_TRUE(Create().ok());
  // Verifying ends soon too, and other calls go on.
  (void)Verify(0, cancellation);
  EXPECT_TRUE(Verify().ok());
}

// The files that are whole in a folder of the backups: inode numbers by name.
std::map<std::string, uint64_t> FilesIn(const std::string& folder) {
  std::map<std::string, uint64_t> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    struct stat file = {};
    const std::string name = entry.path().filename();
    if (!name.starts_with('.') && stat(entry.path().c_str(), &file) == 0) files[name] = file.st_ino;
  }
  return files;
}

TEST_F(BackupTest, GoesOnWithTheFilesThatAnInterruptedOneHadCopied) {
  for (int file = 0; file < 3; ++file) {
    for (int i = 0; i < 15; ++i) Put("a", 15 * file + i, 100'000);
    Flush();
  }
  const std::vector<std::string> items = ScanAll(database_, ScanRequest("Things"));
  DatabaseOptions slow = database_.options();
  slow.backup_bytes_per_second = 4 << 20;
  database_.Close();
  TestDatabase database(slow);
  const auto create = [&](CancellationPtr cancellation) {
    return Await<v1::DatabaseBackup>(
        [&](auto done) { database->CreateDatabaseBackup({}, std::move(done), std::move(cancellation)); });
  };
  const auto copied_by_now = [&] {
    std::map<std::string, uint64_t> files = FilesIn(backups_ + "/shared_checksum");
    files.merge(FilesIn(backups_ + "/resumed"));
    return files;
  };
  std::map<std::string, uint64_t> copied;
  // Twice, because what was moved aside once must be found again.
  for (const size_t at_least : {size_t{2}, size_t{4}}) {
    auto cancellation = std::make_shared<Cancellation>();
    std::future<absl::Status> interrupted =
        std::async(std::launch::async, [&] { return create(cancellation).status(); });
    for (int i = 0; i < 3'000 && copied_by_now().size() < at_least; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    cancellation->Cancel();
    const absl::Status status = interrupted.get();
    ASSERT_TRUE(absl::IsCancelled(status)) << status;
    EXPECT_THAT(FilesIn(backups_ + "/meta"), IsEmpty());
    std::map<std::string, uint64_t> now = copied_by_now();
    for (const auto& [name, inode] : copied) EXPECT_EQ(now[name], inode) << name;
    copied = std::move(now);
    ASSERT_GE(copied.size(), at_least);
  }

  const auto backup = create(nullptr);
  ASSERT_TRUE(backup.ok()) << backup.status();
  std::map<std::string, uint64_t> files = FilesIn(backups_ + "/shared_checksum");
  EXPECT_GT(files.size(), copied.size());
  for (const auto& [name, inode] : copied) EXPECT_EQ(files[name], inode) << name << " was copied again";
  EXPECT_FALSE(fs::exists(backups_ + "/resumed"));
  v1::VerifyDatabaseBackupRequest request;
  const auto verified =
      Await<v1::DatabaseBackup>([&](auto done) { database->VerifyDatabaseBackup(request, std::move(done)); });
  EXPECT_TRUE(verified.ok()) << verified.status();
  ASSERT_TRUE(Restore().ok());
  TestDatabase restored(TestDatabase::DefaultOptions(restored_));
  restored.CheckIsClean();
  EXPECT_EQ(ScanAll(restored, ScanRequest("Things")), items);
}

// Its length is right, its bytes are not: a disk that damages files.
TEST_F(BackupTest, ThatWentOnWithADamagedFileIsNotVerified) {
  for (int i = 0; i < 10; ++i) Put("a", i, 20'000);
  Flush();
  const auto first = Create();
  ASSERT_TRUE(first.ok()) << first.status();
  // As if the backup had been interrupted before its end.
  fs::remove_all(backups_ + "/meta");
  fs::remove_all(backups_ + "/ended");
  for (const auto& [name, inode] : FilesIn(backups_ + "/shared_checksum")) {
    std::string bytes = ReadFile(backups_ + "/shared_checksum/" + name);
    bytes[bytes.size() / 2] ^= 1;
    WriteFile(backups_ + "/shared_checksum/" + name, bytes);
  }
  const auto second = Create();
  ASSERT_TRUE(second.ok()) << second.status();
  const absl::Status verified = Verify().status();
  EXPECT_TRUE(absl::IsDataLoss(verified)) << verified;
}

TEST_F(BackupTest, GoesIntoTheDataDirectoryByDefault) {
  DatabaseOptions options = TestDatabase::DefaultOptions(directory_.path() + "/simple");
  {
    TestDatabase simple(options);
    EXPECT_TRUE(Await<v1::DatabaseBackup>([&](auto done) {
                  simple->CreateDatabaseBackup({}, std::move(done));
                }).ok());
  }
  EXPECT_TRUE(fs::is_directory(options.data_directory + "/backups"));
  EXPECT_TRUE(Database::Open(options).ok());
}

}  // namespace
}  // namespace itemdb::testing
