// --backup-bytes-per-second bounds backups of the database, backups of tables and exports.
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "tests/storage/database/backup/table_backup_fixture.h"

namespace itemdb::testing {
namespace {

using PaceClock = std::chrono::steady_clock;

constexpr int kPacedItems = 200;
constexpr int kPacedItemBytes = 1'000;
// What each of them reads or writes at least, and what is left to a limiter that begins with a burst.
constexpr int64_t kPacedBytes = int64_t{kPacedItems} * kPacedItemBytes;
constexpr int64_t kPacedBytesPerSecond = kPacedBytes;
// Whatever else the machine does, it takes no less.
constexpr std::chrono::milliseconds kLeastTime(700);

class BackupPaceTest : public TableBackupTest {
 protected:
  DatabaseOptions Options() const override {
    DatabaseOptions options = TableBackupTest::Options();
    options.export_directory = directory_.path() + "/exports";
    return options;
  }
  void SetUp() override {
    std::filesystem::create_directories(directory_.path() + "/exports/bucket");
    TableBackupTest::SetUp();
    database_->CreateTable(TableRequest("Things"));
    std::mt19937_64 random(7);
    for (int i = 0; i < kPacedItems; ++i) {
      // It cannot be compressed.
      std::string bytes(kPacedItemBytes, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random());
      ASSERT_TRUE(
          database_->Put("Things", {{"pk", S("p")}, {"sk", S(std::to_string(i))}, {"bytes", B(bytes)}}).ok());
    }
  }
  void OpenPaced() {
    DatabaseOptions paced = Options();
    paced.backup_bytes_per_second = kPacedBytesPerSecond;
    Open(paced);
  }
  template <typename Work>
  static void ExpectTakesTime(const Work& work) {
    const PaceClock::time_point begin = PaceClock::now();
    work();
    EXPECT_GE(PaceClock::now() - begin, kLeastTime);
  }
};

TEST_F(BackupPaceTest, ABackupOfTheDatabase) {
  OpenPaced();
  ExpectTakesTime([&] {
    const auto made =
        Await<v1::DatabaseBackup>([&](auto done) { database().CreateDatabaseBackup({}, std::move(done)); });
    ASSERT_TRUE(made.ok()) << made.status();
  });
}

TEST_F(BackupPaceTest, ABackupOfATable) {
  OpenPaced();
  ExpectTakesTime([&] { BackUp("Things"); });
}

TEST_F(BackupPaceTest, AnExport) {
  ASSERT_TRUE(SetRecovery("Things", true).ok());
  // The backup that the archive needs is made before.
  while (Recovery("Things")->earliest_restorable_time_ms() >= Recovery("Things")->latest_restorable_time_ms())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  OpenPaced();
  ExpectTakesTime([&] {
    v1::ExportTableToPointInTimeRequest request;
    request.set_table_arn("arn:aws:dynamodb:local:000000000000:table/Things");
    request.set_s3_bucket("bucket");
    const auto begun = Await<v1::ExportTableToPointInTimeReply>(
        [&](auto done) { database().ExportTableToPointInTime(request, std::move(done)); });
    ASSERT_TRUE(begun.ok()) << begun.status();
    v1::DescribeExportRequest describe;
    describe.set_export_arn(begun->description().export_arn());
    while (true) {
      const auto described = Await<v1::DescribeExportReply>(
          [&](auto done) { database().DescribeExport(describe, std::move(done)); });
      ASSERT_TRUE(described.ok()) << described.status();
      if (described->description().export_status() == v1::EXPORT_STATUS_COMPLETED) break;
      ASSERT_EQ(described->description().export_status(), v1::EXPORT_STATUS_IN_PROGRESS);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
}

}  // namespace
}  // namespace itemdb::testing
