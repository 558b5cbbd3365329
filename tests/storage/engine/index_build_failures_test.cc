// Failures and crashes during a backfill: the backfill still succeeds without help, and failed attempts
// leave nothing behind.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "gmock/gmock.h"
#include "rocksdb/env.h"
#include "spdlog/sinks/ostream_sink.h"
#include "storage/engine/durability_watermark.h"
#include "storage/schema/index_changes.h"
#include "tests/storage/database/indexes/damage.h"
#include "tests/storage/engine/gate_file_system.h"
#include "tests/support/live_index.h"
#include "tests/support/power_loss_file_system.h"

namespace itemdb::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

bool IsBuild(const std::string& path) { return path.find("/builds/") != std::string::npos; }

class IndexBuildFailures : public ::testing::Test {
 protected:
  // Collects log lines.
  class Log {
   public:
    std::shared_ptr<spdlog::logger> logger() {
      return std::make_shared<spdlog::logger>("test",
                                              std::make_shared<spdlog::sinks::ostream_sink_mt>(lines_, true));
    }
    // Call when nothing more is logged.
    std::string text() const { return lines_.str(); }

   private:
    std::ostringstream lines_;
  };

  IndexBuildFailures() {
    DatabaseOptions options = TestDatabase::DefaultOptions(root_ + "/data");
    options.file_system = gate_;
    options.index_build_bytes = 4'000;
    options.free_space_floor_bytes = 1 << 20;
    database_ = std::make_unique<TestDatabase>(options);
    database_->CreateTable(TableRequest("Things"));
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(
          database_->Put("Things", {{"pk", S("p")}, {"sk", S(std::to_string(i))}, {"grp", S("g")}}).ok());
    }
  }
  void CreateByGroup() {
    auto created = UpdateTable(**database_, CreateIndexRequest("Things", "ByGroup", {"grp:S"}, 1));
    ASSERT_TRUE(created.ok()) << created.status();
  }
  v1::IndexBuild DescribeBuild() {
    v1::DescribeTableRequest request;
    request.set_table_name("Things");
    auto described = (*database_)->DescribeTable(request);
    EXPECT_TRUE(described.ok()) << described.status();
    return described.ok() ? described->table().global_secondary_indexes(0).build() : v1::IndexBuild();
  }
  static std::vector<std::string> ScanByGroup(TestDatabase& database) {
    wire::PageRequest scan;
    scan.set_table_name("Things");
    scan.set_index_name("ByGroup");
    auto page = database.Scan(scan);
    EXPECT_TRUE(page.ok()) << page.status();
    return page.ok() ? ShowItems(*page) : std::vector<std::string>();
  }
  // Copies the data directory when all entries are sorted and none is in the index; items may have changed
  // since they were read.
  std::string CopyOfAnInterruptedBuild(bool with_changes = true) {
    gate_->SetMatches([](const std::string& path) { return IsBuild(path) && path.ends_with(".sst"); });
    gate_->Shut();
    CreateByGroup();
    gate_->AwaitWaiting();
    if (with_changes) {
      EXPECT_TRUE(database_->Put("Things", {{"pk", S("p")}, {"sk", S("3")}, {"grp", S("other")}}).ok());
      EXPECT_TRUE(database_->Put("Things", {{"pk", S("p")}, {"sk", S("4")}}).ok());
      EXPECT_TRUE(database_->Delete("Things", {{"pk", S("p")}, {"sk", S("5")}}).ok());
      EXPECT_TRUE(database_->Put("Things", {{"pk", S("p")}, {"sk", S("new")}, {"grp", S("g")}}).ok());
    }
    const std::string copy = directory_.path() + "/copy";
    std::filesystem::copy(root_ + "/data", copy, std::filesystem::copy_options::recursive);
    gate_->Open();
    return copy;
  }
  void ExpectFilled() {
    AwaitIndexes(**database_, "Things");
    wire::PageRequest scan;
    scan.set_table_name("Things");
    scan.set_index_name("ByGroup");
    auto page = database_->Scan(scan);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_GE(ShowItems(*page).size(), 100u);
    database_->CheckIsClean();
    EXPECT_TRUE(AwaitNoBuildFiles(root_ + "/data"));
    database_->Reopen();
    database_->CheckIsClean();
  }
  TemporaryDirectory directory_;
  const std::string root_ = [this] {
    std::filesystem::create_directory(directory_.path() + "/disk");
    return directory_.path() + "/disk";
  }();
  std::shared_ptr<PowerLossFileSystem> disk_ = std::make_shared<PowerLossFileSystem>(root_);
  std::shared_ptr<GateFileSystem> gate_ = std::make_shared<GateFileSystem>(disk_, IsBuild);
  std::unique_ptr<TestDatabase> database_;
};

TEST_F(IndexBuildFailures, OfItsOwnFiles) {
  using Operation = InjectedFault::Operation;
  for (Operation operation :
       {Operation::kAppend, Operation::kSync, Operation::kCreateFile, Operation::kRename}) {
    disk_->Inject({.operation = operation, .matches = IsBuild, .times = 2});
    CreateByGroup();
    ExpectFilled();
    EXPECT_EQ(disk_->faults_left(), 0);
    ASSERT_TRUE(UpdateTable(**database_, DeleteIndexRequest("Things", "ByGroup")).ok());
  }
}

// Fails after all items were read: the entries are in files, or in memory, which the next attempt lacks.
TEST_F(IndexBuildFailures, OfTheFilesThatEntriesAreWrittenInto) {
  for (size_t build_bytes : {4'000, 1'000'000}) {
    SCOPED_TRACE(build_bytes);
    DatabaseOptions options = database_->options();
    database_.reset();
    options.index_build_bytes = build_bytes;
    database_ = std::make_unique<TestDatabase>(options);
    disk_->Inject({.operation = InjectedFault::Operation::kAppend,
                   .matches = [](const std::string& path) { return IsBuild(path) && path.ends_with(".sst"); },
                   .times = 2});
    CreateByGroup();
    ExpectFilled();
    EXPECT_EQ(disk_->faults_left(), 0);
    ASSERT_TRUE(UpdateTable(**database_, DeleteIndexRequest("Things", "ByGroup")).ok());
  }
}

TEST_F(IndexBuildFailures, OfTheLogWhileEntriesAreWritten) {
  gate_->Shut();
  CreateByGroup();
  gate_->AwaitWaiting();
  disk_->Inject({.operation = InjectedFault::Operation::kSync,
                 .matches = [](const std::string& path) { return path.ends_with(".log"); }});
  auto failed = database_->Put("Things", {{"pk", S("q")}, {"sk", S("1")}, {"grp", S("g")}});
  EXPECT_FALSE(failed.ok());
  // The store cannot be closed before the build has released it.
  gate_->Open();
  ExpectFilled();
}

// As after kill -9: sorted entries are not read again, and later changes are in the index.
TEST_F(IndexBuildFailures, GoOnFromWhatWasSorted) {
  const std::string directory = CopyOfAnInterruptedBuild();
  Log log;
  DatabaseOptions options = TestDatabase::DefaultOptions(directory);
  options.log = log.logger();
  // Readers of the log do not need it, so only the build pins it.
  options.change_retention = std::chrono::milliseconds(1);
  options.change_trim_interval = std::chrono::milliseconds(1);
  TestDatabase copy(options);
  AwaitIndexes(*copy, "Things");
  EXPECT_EQ(ScanByGroup(copy).size(), 99u);
  copy.CheckIsClean();
  EXPECT_TRUE(AwaitNoBuildFiles(directory));
  copy.Reopen();
  copy.CheckIsClean();
  copy.Close();
  EXPECT_THAT(log.text(), HasSubstr("index backfill resumed table=Things index=ByGroup items_read=100"));
}

TEST_F(IndexBuildFailures, BeginAnewWhenWhatWasSortedIsDamaged) {
  const std::string directory = CopyOfAnInterruptedBuild();
  {
    std::fstream run(directory + "/builds/entries-0", std::ios::in | std::ios::out | std::ios::binary);
    ASSERT_TRUE(run.seekp(100));
    run.put('!');
  }
  Log log;
  DatabaseOptions options = TestDatabase::DefaultOptions(directory);
  options.log = log.logger();
  TestDatabase copy(options);
  AwaitIndexes(*copy, "Things");
  EXPECT_EQ(ScanByGroup(copy).size(), 99u);
  copy.CheckIsClean();
  EXPECT_TRUE(AwaitNoBuildFiles(directory));
  copy.Close();
  EXPECT_THAT(log.text(), HasSubstr("entries-0 are not as they were written"));
  EXPECT_THAT(log.text(), HasSubstr("index backfill started table=Things index=ByGroup\n"));
}

// A recovery with losses may have lost items whose entries are sorted.
TEST_F(IndexBuildFailures, BeginAnewAfterARecoveryWithLosses) {
  const std::string directory = CopyOfAnInterruptedBuild(/*with_changes=*/false);
  // The process died during such a recovery.
  auto watermark = ReadWatermark(rocksdb::Env::Default(), directory);
  ASSERT_TRUE(watermark.ok() && watermark->has_value()) << watermark.status();
  (*watermark)->recovering = true;
  ASSERT_TRUE(WriteWatermark(rocksdb::Env::Default(), directory, **watermark).ok());
  Log log;
  DatabaseOptions options = TestDatabase::DefaultOptions(directory);
  options.log = log.logger();
  options.recover_last_good = true;
  TestDatabase copy(options);
  AwaitIndexes(*copy, "Things");
  EXPECT_EQ(ScanByGroup(copy).size(), 100u);
  copy.CheckIsClean();
  copy.Close();
  EXPECT_THAT(log.text(), Not(HasSubstr("index backfill resumed")));
}

// The sorted files themselves may fill the disk.
TEST_F(IndexBuildFailures, ForWantOfSpaceGiveBackWhatTheyTook) {
  gate_->Shut();
  CreateByGroup();
  gate_->AwaitWaiting();
  disk_->SetFreeSpace(database_->options().free_space_floor_bytes - 1);
  gate_->Open();
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (DescribeBuild().last_error().empty() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_THAT(DescribeBuild().last_error(), HasSubstr("it waits for space: the disk has less than"));
  EXPECT_TRUE(AwaitNoBuildFiles(root_ + "/data"));
  disk_->SetFreeSpace(int64_t{10} << 30);
  ExpectFilled();
}

// The build for an unreadable table does not delay the builds for other tables.
TEST(IndexBuild, OfADamagedTableLetsOthersGoFirst) {
  TemporaryDirectory directory;
  const DatabaseOptions options = TestDatabase::DefaultOptions(directory.path() + "/data");
  TestDatabase database(options);
  const auto put = [&database](const std::string& table) {
    return database.Put(table, {{"pk", S("p")}, {"sk", S("1")}, {"grp", S("g")}}).status();
  };
  const auto describe = [&database](const std::string& table) {
    v1::DescribeTableRequest request;
    request.set_table_name(table);
    return database->DescribeTable(request)->table();
  };
  database.CreateTable(TableRequest("Broken"));
  database.CreateTable(TableRequest("Whole"));
  ASSERT_TRUE(put("Broken").ok());
  const uint64_t broken = describe("Broken").storage_id();
  database.Close();
  Families(options.data_directory).DamageFiles(broken);
  database.Reopen();
  ASSERT_TRUE(put("Whole").ok());
  for (const char* table : {"Broken", "Whole"}) {
    const auto created = UpdateTable(*database, CreateIndexRequest(table, "ByGroup", {"grp:S"}, 1));
    ASSERT_TRUE(created.ok()) << created.status();
  }
  AwaitIndexes(*database, "Whole");
  EXPECT_TRUE(put("Whole").ok());
  const v1::GlobalSecondaryIndexDescription index = describe("Broken").global_secondary_indexes(0);
  EXPECT_EQ(index.index_status(), v1::TABLE_STATUS_CREATING);
  EXPECT_THAT(index.build().last_error(), HasSubstr("cannot read table Broken"));
  // Such a build can be given up like any other.
  EXPECT_TRUE(UpdateTable(*database, DeleteIndexRequest("Broken", "ByGroup")).ok());
  EXPECT_TRUE(AwaitNoBuildFiles(options.data_directory));
}

// An index becomes ACTIVE only in the store that its entries were put into (BackfilledInOneOpening).
TEST(IndexBuild, IsNotOverWhenTheStoreIsAnotherOne) {
  TemporaryDirectory directory;
  auto engine = Engine::Open(TestDatabase::DefaultOptions(directory.path() + "/data"));
  auto other = Engine::Open(TestDatabase::DefaultOptions(directory.path() + "/other"));
  ASSERT_TRUE(engine.ok() && other.ok());
  const BuildingIndex building{.table_name = "Things", .index_name = "ByGroup"};
  const absl::Status status = ActivateIndex(**engine, building, *(*(*other)->View())->store(), {}, 0);
  EXPECT_TRUE(absl::IsAborted(status)) << status;
}

// The index exists once the store is reopened; the build thread polled before that and found no index.
TEST_F(IndexBuildFailures, OfTheCommitOfTheirDefinition) {
  database_.reset();
  auto watermark = std::make_shared<GateFileSystem>(
      disk_, [](const std::string& path) { return path.find("WATERMARK") != std::string::npos; });
  DatabaseOptions options = TestDatabase::DefaultOptions(root_ + "/data");
  options.file_system = watermark;
  database_ = std::make_unique<TestDatabase>(options);
  // Holds up the thread that will reopen the store.
  watermark->Shut();
  ASSERT_TRUE(database_->Put("Things", {{"pk", S("q")}, {"sk", S("1")}, {"grp", S("g")}}).ok());
  watermark->AwaitWaiting();
  disk_->Inject({.operation = InjectedFault::Operation::kSync,
                 .matches = [](const std::string& path) { return path.ends_with(".log"); }});
  auto created = UpdateTable(**database_, CreateIndexRequest("Things", "ByGroup", {"grp:S"}, 1));
  EXPECT_EQ(ReasonOf(created.status()), kReasonWriteOutcomeUnknown) << created.status();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // Time for a poll that finds no index.
  watermark->Open();
  v1::DescribeTableRequest request;
  request.set_table_name("Things");
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (true) {
    auto described = (*database_)->DescribeTable(request);
    if (described.ok() && described->table().global_secondary_indexes_size() == 1) break;
    ASSERT_LT(std::chrono::steady_clock::now(), until) << "on this disk it is there";
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ExpectFilled();
}

}  // namespace
}  // namespace itemdb::testing
