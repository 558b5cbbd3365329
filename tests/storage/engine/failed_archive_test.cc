// An archive whose disk fails now and then: the database goes on, and nothing is missing in the archive
// afterwards.
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "gtest/gtest.h"
#include "storage/base/wall_clock.h"
#include "storage/restore.h"
#include "tests/storage/engine/order_workload.h"
#include "tests/support/power_loss_file_system.h"
#include "tests/support/repetitions.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

using Operation = InjectedFault::Operation;

class FailedArchiveTest : public ::testing::Test {
 protected:
  FailedArchiveTest() {
    std::filesystem::create_directory(root_);
    disk_ = std::make_shared<PowerLossFileSystem>(root_);
  }

  DatabaseOptions Options() const {
    DatabaseOptions options = TestDatabase::DefaultOptions(root_ + "/data");
    options.file_system = disk_;
    options.backup_directory = directory_.path() + "/backups";
    options.archive_directory = root_ + "/archive";
    options.archive_interval = std::chrono::milliseconds(2);
    options.archive_queue_bytes = archive_queue_bytes_;
    return options;
  }
  void Open() {
    auto opened = Database::Open(Options());
    ASSERT_TRUE(opened.ok()) << opened.status();
    database_ = *std::move(opened);
  }
  void CreateOrderTable() {
    auto created = Await<v1::CreateTableReply>(
        [&](auto done) { database_->CreateTable(OrderTableRequest(), std::move(done)); });
    ASSERT_TRUE(created.ok()) << created.status();
  }
  void AwaitArchive() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    const uint64_t last = database_->GetStatus().change_sequence();
    v1::ArchiveStatus status;
    do {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << status.DebugString();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      status = database_->GetStatus().archive();
    } while (status.change_sequence() < last || status.needs_backup() || !status.error().empty());
  }
  absl::StatusOr<RestoredDatabase> Restore(std::optional<uint64_t> change,
                                           std::optional<int64_t> time_us = std::nullopt) {
    std::filesystem::remove_all(restored_);
    RestoreOptions options;
    options.backup_directory = directory_.path() + "/backups";
    options.archive_directory = root_ + "/archive";
    options.data_directory = restored_;
    options.to_change = change;
    options.to_time_us = time_us;
    options.encryption_keys = Options().encryption_keys;
    options.log = Options().log;
    return RestoreDatabase(options);
  }
  // The restored database, read and compared with its change log.
  void ExpectConsistent(uint64_t change) {
    DatabaseOptions options = TestDatabase::DefaultOptions(restored_);
    auto opened = Database::Open(options);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(ReadOrders(**opened).last_sequence, change);
  }

  TemporaryDirectory directory_;
  const std::string root_ = directory_.path() + "/disk";
  const std::string restored_ = directory_.path() + "/restored";
  size_t archive_queue_bytes_ = 32 << 20;
  std::shared_ptr<PowerLossFileSystem> disk_;
  std::unique_ptr<Database> database_;
};

TEST_F(FailedArchiveTest, HasEveryCommitWhenItCanBeWrittenAgain) {
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_NO_FATAL_FAILURE(CreateOrderTable());
  ASSERT_NO_FATAL_FAILURE(AwaitArchive());
  std::mt19937_64 random(1);
  OrderWriter writer({.seed = 1, .number = 0, .max_padding_bytes = 2'000});
  constexpr Operation kFailing[] = {Operation::kAppend, Operation::kSync, Operation::kCreateFile,
                                    Operation::kSyncDirectory};
  for (int round = 0; round < Repetitions(40); ++round) {
    InjectedFault fault;
    fault.operation = kFailing[random() % std::size(kFailing)];
    fault.matches = [](const std::string& path) { return path.find("/archive") != std::string::npos; };
    fault.times = 1 + static_cast<int>(random() % 3);
    disk_->Inject(fault);
    // Without another fault no file is made, and no directory synced.
    if (random() % 2 == 0) {
      fault.operation = Operation::kSync;
      disk_->Inject(fault);
    }
    for (int step = 0; step < 5; ++step) EXPECT_TRUE(writer.Step(*database_)) << "writers do not notice";
    if (round % 10 == 9) {
      disk_->ClearFaults();
      ASSERT_NO_FATAL_FAILURE(AwaitArchive());
      database_.reset();
      ASSERT_NO_FATAL_FAILURE(Open());
    }
  }
  disk_->ClearFaults();
  ASSERT_NO_FATAL_FAILURE(AwaitArchive());
  EXPECT_EQ(database_->GetStatus().archive().gaps(), 0);
  const uint64_t last = database_->GetStatus().change_sequence();
  for (int i = 0; i < 6; ++i) {
    const uint64_t change = i == 0 ? last : 1 + random() % last;
    SCOPED_TRACE("change " + std::to_string(change));
    const auto restored = Restore(change);
    if (absl::IsInvalidArgument(restored.status())) continue;  // Inside of a transaction.
    ASSERT_TRUE(restored.ok()) << restored.status();
    EXPECT_EQ(restored->backup.backup_id(), 1u) << "from the first backup on";
    ASSERT_NO_FATAL_FAILURE(ExpectConsistent(change));
  }
}

TEST_F(FailedArchiveTest, ThatFailsForTooLongHasAGapAndANewBackup) {
  archive_queue_bytes_ = 20'000;
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_NO_FATAL_FAILURE(CreateOrderTable());
  ASSERT_NO_FATAL_FAILURE(AwaitArchive());
  OrderWriter writer({.seed = 1, .number = 0, .max_padding_bytes = 2'000});
  InjectedFault fault;
  fault.operation = Operation::kSync;
  fault.matches = [](const std::string& path) { return path.find("/archive/") != std::string::npos; };
  fault.times = 1'000'000;
  fault.status = rocksdb::IOStatus::NoSpace("injected: the disk is full");
  disk_->Inject(fault);
  while (database_->GetStatus().archive().gaps() == 0) ASSERT_TRUE(writer.Step(*database_));
  std::string error;
  for (int i = 0; i < 3000 && error.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    error = database_->GetStatus().archive().error();
  }
  EXPECT_NE(error.find("the disk is full"), std::string::npos) << error;
  for (int step = 0; step < 20; ++step) ASSERT_TRUE(writer.Step(*database_));
  const uint64_t lost = database_->GetStatus().change_sequence();
  const int64_t in_the_gap_us = NowMicros();
  disk_->ClearFaults();
  for (int step = 0; step < 20; ++step) ASSERT_TRUE(writer.Step(*database_));
  ASSERT_NO_FATAL_FAILURE(AwaitArchive());
  for (int step = 0; step < 20; ++step) ASSERT_TRUE(writer.Step(*database_));
  ASSERT_NO_FATAL_FAILURE(AwaitArchive());
  const uint64_t last = database_->GetStatus().change_sequence();
  const auto restored = Restore(last);
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_GT(restored->backup.backup_id(), 1u);
  ASSERT_NO_FATAL_FAILURE(ExpectConsistent(last));
  absl::Status missing = Restore(lost - 5).status();
  EXPECT_TRUE(absl::IsOutOfRange(missing) || absl::IsInvalidArgument(missing)) << missing;
  // Commits that are not later than this are missing, so the last one that is not is not known.
  missing = Restore(std::nullopt, in_the_gap_us).status();
  EXPECT_EQ(ReasonOf(missing), kReasonRestorePointUnknown) << missing;
}

}  // namespace
}  // namespace itemdb::testing
