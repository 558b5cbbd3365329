// An archive whose file system does not answer: the database serves, says so, and archives again later.
#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "gmock/gmock.h"
#include "rocksdb/file_system.h"
#include "storage/base/mutex.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

using ::testing::HasSubstr;

// Calls about the archive do not return while it hangs.
class HangingFileSystem : public rocksdb::FileSystemWrapper {
 public:
  HangingFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "HangingFileSystem"; }

  void Hang(bool hangs) {
    storage::MutexLock lock(mutex_);
    hangs_ = hangs;
    changed_.NotifyAll();
  }

  rocksdb::IOStatus FileExists(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* dbg) override {
    Wait(path);
    return target()->FileExists(path, options, dbg);
  }
  rocksdb::IOStatus GetChildren(const std::string& path, const rocksdb::IOOptions& options,
                                std::vector<std::string>* result, rocksdb::IODebugContext* dbg) override {
    Wait(path);
    return target()->GetChildren(path, options, result, dbg);
  }
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* dbg) override {
    Wait(path);
    return target()->NewWritableFile(path, options, result, dbg);
  }
  rocksdb::IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSSequentialFile>* result,
                                      rocksdb::IODebugContext* dbg) override {
    Wait(path);
    return target()->NewSequentialFile(path, options, result, dbg);
  }

 private:
  void Wait(const std::string& path) {
    if (path.find("/archive") == std::string::npos) return;
    storage::MutexLock lock(mutex_);
    while (hangs_) changed_.Wait(mutex_);
  }

  storage::Mutex mutex_;
  storage::CondVar changed_;
  bool hangs_ ABSL_GUARDED_BY(mutex_) = false;
};

class HangingArchiveTest : public ::testing::Test {
 protected:
  HangingArchiveTest() {
    options_ = TestDatabase::DefaultOptions(directory_.path() + "/data");
    options_.file_system = files_;
    options_.backup_directory = directory_.path() + "/backups";
    options_.archive_directory = directory_.path() + "/archive";
    options_.archive_interval = std::chrono::milliseconds(100);
  }
  ~HangingArchiveTest() override { files_->Hang(false); }

  void Open() {
    auto opened = storage::Database::Open(options_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    database_ = *std::move(opened);
  }
  v1::ArchiveStatus Status() { return database_->GetStatus().archive(); }
  void AwaitArchive() {
    const uint64_t last = database_->GetStatus().change_sequence();
    for (int i = 0; i < 6'000; ++i) {
      if (Status().error().empty() && Status().change_sequence() >= last && !Status().needs_backup()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << Status().DebugString();
  }
  void AwaitError() {
    for (int i = 0; i < 3'000 && Status().error().empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_THAT(Status().error(), HasSubstr("seconds: is its server, or its disk, gone?"));
  }
  absl::Status Put(const std::string& sk) {
    wire::WriteItemRequest request;
    request.set_table_name("Things");
    request.set_key_or_item(Encode({{"pk", S("p")}, {"sk", S(sk)}}));
    return Await<wire::WriteItemReply>([&](auto done) { database_->PutItem(request, std::move(done)); })
        .status();
  }
  void CreateTable() {
    ASSERT_TRUE(Await<v1::CreateTableReply>([&](auto done) {
                  database_->CreateTable(TableRequest("Things"), std::move(done));
                }).ok());
  }
  // A standby asks for the archive.
  absl::Status ListFiles() {
    return Await<v1::ListReplicationFilesReply>(
               [&](auto done) { database_->ListReplicationFiles({}, std::move(done)); })
        .status();
  }
  // The answer to a restore of Things as it is now.
  std::future<absl::Status> BeginRestore() {
    v1::RestoreTableToPointInTimeRequest request;
    request.set_source_table_name("Things");
    request.set_target_table_name("Restored");
    request.set_use_latest_restorable_time(true);
    auto answer = std::make_shared<std::promise<absl::Status>>();
    database_->RestoreTableToPointInTime(request,
                                         [answer](const auto& reply) { answer->set_value(reply.status()); });
    return answer->get_future();
  }
  std::future<absl::Status> BeginListBackups() {
    auto answer = std::make_shared<std::promise<absl::Status>>();
    database_->ListBackups({}, [answer](const auto& reply) { answer->set_value(reply.status()); });
    return answer->get_future();
  }
  void EnableRecovery() {
    v1::UpdateContinuousBackupsRequest request;
    request.set_table_name("Things");
    request.set_point_in_time_recovery_enabled(true);
    ASSERT_TRUE(Await<v1::UpdateContinuousBackupsReply>([&](auto done) {
                  database_->UpdateContinuousBackups(request, std::move(done));
                }).ok());
  }
  // How long the database takes to close.
  std::chrono::steady_clock::duration Close() {
    const auto begin = std::chrono::steady_clock::now();
    database_.reset();
    return std::chrono::steady_clock::now() - begin;
  }

  TemporaryDirectory directory_;
  const std::shared_ptr<HangingFileSystem> files_ = std::make_shared<HangingFileSystem>();
  DatabaseOptions options_;
  std::unique_ptr<storage::Database> database_;
};

TEST_F(HangingArchiveTest, DoesNotKeepTheDatabaseFromServingAndClosing) {
  ASSERT_NO_FATAL_FAILURE(Open());
  CreateTable();
  ASSERT_TRUE(Put("before").ok());
  AwaitArchive();
  files_->Hang(true);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(std::to_string(i)).ok());
  AwaitError();
  EXPECT_GE(database_->MeasureFigures().status.archive().lag_ms(), 1'000);
  EXPECT_TRUE(absl::IsUnavailable(ListFiles()));
  ASSERT_TRUE(Put("meanwhile").ok());
  files_->Hang(false);
  AwaitArchive();
  EXPECT_TRUE(ListFiles().ok());
  EXPECT_EQ(Status().gaps(), 0) << "everything that was written meanwhile is archived";
  files_->Hang(true);
  AwaitError();
  EXPECT_LT(Close(), std::chrono::seconds(20));
}

TEST_F(HangingArchiveTest, DoesNotKeepTheDatabaseFromStarting) {
  ASSERT_NO_FATAL_FAILURE(Open());
  CreateTable();
  ASSERT_TRUE(Put("before").ok());
  AwaitArchive();
  database_.reset();
  files_->Hang(true);
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_TRUE(Put("meanwhile").ok());
  AwaitError();
  files_->Hang(false);
  ASSERT_TRUE(Put("after").ok());
  AwaitArchive();
}

// The call of a restore waits for the archive; calls about backups of tables do not wait for the call.
TEST_F(HangingArchiveTest, DoesNotKeepOtherCallsWaitingForARestore) {
  ASSERT_NO_FATAL_FAILURE(Open());
  CreateTable();
  EnableRecovery();
  ASSERT_TRUE(Put("before").ok());
  AwaitArchive();
  // It does not answer at all.
  files_->Hang(true);
  std::future<absl::Status> refused = BeginRestore();
  std::future<absl::Status> listed = BeginListBackups();
  ASSERT_EQ(listed.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  EXPECT_TRUE(listed.get().ok());
  EXPECT_EQ(refused.wait_for(std::chrono::seconds(0)), std::future_status::timeout)
      << "the restore was answered first, so this tested nothing";
  const absl::Status unavailable = refused.get();
  EXPECT_TRUE(absl::IsUnavailable(unavailable)) << unavailable;
  EXPECT_THAT(std::string(unavailable.message()), HasSubstr("is its server, or its disk, gone?"));
  files_->Hang(false);
  AwaitArchive();
  EXPECT_TRUE(BeginRestore().get().ok());
}

}  // namespace
}  // namespace itemdb::testing
