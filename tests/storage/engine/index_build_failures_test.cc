// Failures of the disk while an index is filled: it is begun anew by itself, and nothing of the attempt is
// left.
#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/storage/engine/gate_file_system.h"
#include "tests/support/live_index.h"
#include "tests/support/power_loss_file_system.h"

namespace itemdb::testing {
namespace {

bool IsBuild(const std::string& path) { return path.find("/builds/") != std::string::npos; }

class IndexBuildFailures : public ::testing::Test {
 protected:
  IndexBuildFailures() {
    DatabaseOptions options = TestDatabase::DefaultOptions(root_ + "/data");
    options.file_system = gate_;
    options.index_build_bytes = 4'000;
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
  for (Operation operation : {Operation::kAppend, Operation::kSync, Operation::kCreateFile}) {
    disk_->Inject({.operation = operation, .matches = IsBuild, .times = 2});
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
  // The store cannot be closed before the build has let go of it.
  gate_->Open();
  ExpectFilled();
}

// The index is there after all once the store has been reopened, and who looked for it before saw nothing.
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
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // Time to look in vain.
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
