// Backups that the database makes by itself.
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "tests/storage/database/requests.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::chrono::hours kDay(24);

class BackupScheduleTest : public ::testing::Test {
 protected:
  DatabaseOptions Options() {
    DatabaseOptions options = TestDatabase::DefaultOptions(root_.path() + "/data");
    options.backup_directory = root_.path() + "/backups";
    options.backup_schedule = "0 3 * * *";
    options.clock_us = [this] { return now_us_.load(); };
    return options;
  }

  void SetClock(absl::CivilSecond time) {
    now_us_ = absl::ToUnixMicros(absl::FromCivil(time, absl::LocalTimeZone()));
  }
  void PassDays(int days) { now_us_ += std::chrono::microseconds(days * kDay).count(); }

  static std::vector<uint32_t> Ids(TestDatabase& database) {
    auto listed = Await<v1::ListDatabaseBackupsReply>(
        [&](auto done) { database->ListDatabaseBackups({}, std::move(done)); });
    std::vector<uint32_t> ids;
    if (!listed.ok()) return ids;
    for (const v1::DatabaseBackup& backup : listed->backups()) ids.push_back(backup.backup_id());
    return ids;
  }
  // The status once `holds` does; bounded.
  static v1::ScheduledBackups Until(TestDatabase& database,
                                    const std::function<bool(const v1::ScheduledBackups&)>& holds) {
    for (int i = 0; i < 3'000; ++i) {
      v1::ScheduledBackups status = database->GetStatus().scheduled_backups();
      if (holds(status)) return status;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << "the schedule did not get there: "
                  << database->GetStatus().scheduled_backups().ShortDebugString();
    return {};
  }
  static v1::ScheduledBackups UntilBackup(TestDatabase& database, uint32_t id) {
    return Until(database,
                 [id](const v1::ScheduledBackups& status) { return status.last().backup_id() == id; });
  }
  static v1::ScheduledBackups UntilPlanned(TestDatabase& database) {
    return Until(database, [](const v1::ScheduledBackups& status) { return status.next_time_us() != 0; });
  }
  static std::string LocalText(int64_t time_us) {
    return absl::FormatTime("%Y-%m-%d %H:%M", absl::FromUnixMicros(time_us), absl::LocalTimeZone());
  }

  const TemporaryDirectory root_;
  std::atomic<int64_t> now_us_ = 0;
};

TEST_F(BackupScheduleTest, MakesOneWhenItIsDueAndNotBefore) {
  SetClock(absl::CivilSecond(2026, 11, 25, 2, 59, 0));
  TestDatabase database(Options());
  EXPECT_EQ(LocalText(UntilPlanned(database).next_time_us()), "2026-11-25 03:00");
  // Two ticks.
  std::this_thread::sleep_for(std::chrono::milliseconds(2'100));
  EXPECT_THAT(Ids(database), IsEmpty());
  SetClock(absl::CivilSecond(2026, 11, 25, 3, 0, 1));
  const v1::ScheduledBackups status = UntilBackup(database, 1);
  EXPECT_THAT(Ids(database), ElementsAre(1u));
  EXPECT_EQ(LocalText(status.last().begin_time_us()), "2026-11-25 03:00");
  EXPECT_EQ(LocalText(status.last_verified_time_us()), "2026-11-25 03:00");
  EXPECT_EQ(status.last_error(), "");
  EXPECT_EQ(
      LocalText(Until(database, [](const auto& now) { return LocalText(now.next_time_us()) > "2026-11-26"; })
                    .next_time_us()),
      "2026-11-26 03:00");
}

TEST_F(BackupScheduleTest, MakesOneThatWasMissedWhileTheDatabaseWasClosed) {
  SetClock(absl::CivilSecond(2026, 11, 25, 2, 59, 0));
  TestDatabase database(Options());
  UntilPlanned(database);
  SetClock(absl::CivilSecond(2026, 11, 25, 3, 0, 1));
  UntilBackup(database, 1);
  database.Close();
  SetClock(absl::CivilSecond(2026, 11, 25, 20, 0, 0));
  database.Reopen();
  EXPECT_EQ(LocalText(UntilPlanned(database).last_verified_time_us()), "2026-11-25 03:00");
  std::this_thread::sleep_for(std::chrono::milliseconds(2'100));
  EXPECT_THAT(Ids(database), ElementsAre(1u)) << "none was due meanwhile";
  database.Close();
  SetClock(absl::CivilSecond(2026, 11, 27, 20, 0, 0));
  database.Reopen();
  UntilBackup(database, 2);
}

TEST_F(BackupScheduleTest, KeepsTheNewestAndThoseThatAreNotTooOld) {
  SetClock(absl::CivilSecond(2026, 11, 1, 2, 59, 0));
  DatabaseOptions options = Options();
  options.backup_keep = 3;
  TestDatabase database(std::move(options));
  UntilPlanned(database);
  for (uint32_t id = 1; id <= 5; ++id) {
    PassDays(1);
    UntilBackup(database, id);
  }
  EXPECT_THAT(Ids(database), ElementsAre(3u, 4u, 5u));
  database.Close();
  options = Options();
  options.backup_keep_age = 2 * kDay;
  TestDatabase by_age(std::move(options));
  UntilPlanned(by_age);
  PassDays(1);
  UntilBackup(by_age, 6);
  EXPECT_THAT(Ids(by_age), ElementsAre(4u, 5u, 6u));
  by_age.Close();
  options = Options();
  options.backup_keep_age = std::chrono::milliseconds(1);
  TestDatabase only_newest(std::move(options));
  UntilPlanned(only_newest);
  PassDays(30);
  UntilBackup(only_newest, 7);
  EXPECT_THAT(Ids(only_newest), ElementsAre(7u));
}

TEST_F(BackupScheduleTest, SaysWhyOneFailedTriesAgainAndKeepsTheOldOnes) {
  SetClock(absl::CivilSecond(2026, 11, 25, 2, 59, 0));
  DatabaseOptions options = Options();
  // A file is where the directory should be.
  WriteFile(options.backup_directory, "");
  TestDatabase database(std::move(options));
  UntilPlanned(database);
  SetClock(absl::CivilSecond(2026, 11, 25, 3, 0, 1));
  v1::ScheduledBackups status =
      Until(database, [](const v1::ScheduledBackups& now) { return !now.last_error().empty(); });
  EXPECT_THAT(status.last_error(), HasSubstr("backups"));
  EXPECT_FALSE(status.has_last());
  std::filesystem::remove(root_.path() + "/backups");
  SetClock(absl::CivilSecond(2026, 11, 25, 3, 11, 0));
  status = UntilBackup(database, 1);
  EXPECT_EQ(status.last_error(), "");
}

// RocksDB does not read the files that backups have in common when it makes another backup.
TEST_F(BackupScheduleTest, DeletesABackupThatCannotBeVerifiedAndNoOther) {
  SetClock(absl::CivilSecond(2026, 11, 25, 2, 59, 0));
  DatabaseOptions options = Options();
  options.backup_keep = 1;
  TestDatabase database(std::move(options));
  database.CreateTable(TableRequest("Things"));
  const Cancellation never;
  ASSERT_TRUE(database->FlushBeforeStop(std::chrono::minutes(1), never).ok());
  UntilPlanned(database);
  SetClock(absl::CivilSecond(2026, 11, 25, 3, 0, 1));
  UntilBackup(database, 1);
  for (const auto& file : std::filesystem::directory_iterator(root_.path() + "/backups/shared_checksum")) {
    std::string content = ReadFile(file.path());
    content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
    WriteFile(file.path(), content);
  }
  for (int day = 26; day < 28; ++day) {
    SetClock(absl::CivilSecond(2026, 11, day, 3, 0, 1));
    const int64_t now = now_us_;
    const v1::ScheduledBackups status = Until(database, [now](const v1::ScheduledBackups& one) {
      return !one.last_error().empty() && one.next_time_us() > now;
    });
    EXPECT_THAT(status.last_error(), HasSubstr("could not be verified, and was deleted"));
    EXPECT_GT(status.next_time_us(), now + std::chrono::microseconds(std::chrono::hours(20)).count());
    EXPECT_THAT(Ids(database), ElementsAre(1u));
  }
}

TEST_F(BackupScheduleTest, GoesOnAfterAClockThatWasAhead) {
  SetClock(absl::CivilSecond(2027, 11, 25, 2, 59, 0));
  TestDatabase database(Options());
  EXPECT_EQ(LocalText(UntilPlanned(database).next_time_us()), "2027-11-25 03:00");
  SetClock(absl::CivilSecond(2026, 11, 25, 2, 59, 0));
  EXPECT_EQ(LocalText(Until(database, [](const auto& now) { return LocalText(now.next_time_us()) < "2027"; })
                          .next_time_us()),
            "2026-11-25 03:00");
}

TEST_F(BackupScheduleTest, IsNotThereUnlessAskedFor) {
  DatabaseOptions options = Options();
  options.backup_schedule.clear();
  SetClock(absl::CivilSecond(2026, 11, 25, 2, 59, 0));
  TestDatabase database(std::move(options));
  EXPECT_FALSE(database->GetStatus().has_scheduled_backups());
}

}  // namespace
}  // namespace itemdb::testing
