// Backups that the database makes by itself.
#include <atomic>
#include <chrono>
#include <functional>
#include <random>
#include <sstream>
#include <thread>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "rocksdb/file_system.h"
#include "spdlog/sinks/ostream_sink.h"
#include "spdlog/spdlog.h"
#include "tests/storage/database/requests.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::chrono::hours kDay(24);
// A proof of what Fill() has written takes two minutes with it. It is never waited for.
constexpr int64_t kSlow = 64 << 10;

// As the real file system, but what is free beside the backups is what the test says.
class RoomFileSystem : public rocksdb::FileSystemWrapper {
 public:
  explicit RoomFileSystem(std::string backups)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), backups_(std::move(backups)) {}
  const char* Name() const override { return "itemdb.RoomFileSystem"; }
  rocksdb::IOStatus GetFreeSpace(const std::string& path, const rocksdb::IOOptions& options, uint64_t* bytes,
                                 rocksdb::IODebugContext* dbg) override {
    if (path != backups_) return target()->GetFreeSpace(path, options, bytes, dbg);
    *bytes = free_bytes;
    return rocksdb::IOStatus::OK();
  }

  std::atomic<uint64_t> free_bytes = uint64_t{1} << 40;

 private:
  const std::string backups_;
};

class BackupScheduleTest : public ::testing::Test {
 protected:
  DatabaseOptions Options() {
    DatabaseOptions options = TestDatabase::DefaultOptions(root_.path() + "/data");
    options.backup_directory = root_.path() + "/backups";
    options.backup_schedule = "0 3 * * *";
    options.backup_prove_interval = std::chrono::milliseconds(0);
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
  // Once `holds` for the whole status; bounded.
  static v1::GetStatusReply UntilStatus(TestDatabase& database,
                                        const std::function<bool(const v1::GetStatusReply&)>& holds) {
    v1::GetStatusReply status;
    for (int i = 0; i < 3'000; ++i) {
      status = database->GetStatus();
      if (holds(status)) return status;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << "the database did not get there: " << status.scheduled_backups().ShortDebugString()
                  << status.proven_backup().ShortDebugString();
    return status;
  }
  static v1::GetStatusReply UntilProven(TestDatabase& database, uint32_t id) {
    return UntilStatus(database, [id](const v1::GetStatusReply& status) {
      return status.proven_backup().backup_id() == id && status.scheduled_backups().proving_backup_id() == 0;
    });
  }
  static void UntilProving(TestDatabase& database, uint32_t id) {
    Until(database, [id](const v1::ScheduledBackups& status) { return status.proving_backup_id() == id; });
  }
  // A proof failed, and is done.
  static v1::ScheduledBackups UntilProofError(TestDatabase& database) {
    return Until(database, [](const v1::ScheduledBackups& status) {
      return !status.last_proof_error().empty() && status.proving_backup_id() == 0;
    });
  }
  static v1::DatabaseBackupDetails Details(TestDatabase& database, uint32_t id) {
    v1::ListDatabaseBackupsRequest request;
    request.set_describe_backup_id(id);
    auto described = Await<v1::ListDatabaseBackupsReply>(
        [&](auto done) { database->ListDatabaseBackups(request, std::move(done)); });
    EXPECT_TRUE(described.ok()) << described.status();
    return described.ok() ? described->details() : v1::DatabaseBackupDetails();
  }
  // 8 MB that do not compress, in several files.
  static void Fill(TestDatabase& database) {
    database.CreateTable(TableRequest("Things"));
    std::mt19937 random(1);
    const Cancellation never;
    for (int i = 0; i < 20; ++i) {
      std::string text = "secret text ";
      while (text.size() < 390'000) text += static_cast<char>('!' + random() % 90);
      auto put = database.Put("Things", {{"pk", S("a")}, {"sk", S(std::to_string(i))}, {"text", S(text)}});
      ASSERT_TRUE(put.ok()) << put.status();
      ASSERT_TRUE(database->FlushBeforeStop(std::chrono::minutes(1), never).ok());
    }
  }
  // A database with 8 MB and backup 1 of them, which was not proven, one minute before the next one is due.
  void MakeBackupOfMuch(const DatabaseOptions& options) {
    SetClock(absl::CivilSecond(2026, 11, 24, 2, 59, 0));
    DatabaseOptions unproven = options;
    unproven.backup_prove_interval = std::chrono::milliseconds(0);
    unproven.backup_bytes_per_second = 0;
    TestDatabase database(unproven);
    UntilPlanned(database);
    Fill(database);
    PassDays(1);
    UntilBackup(database, 1);
  }
  static std::string ProofFolder(TestDatabase& database) {
    return database.options().backup_directory + "/proof-" + database->GetStatus().database_id();
  }
  // Threads of this process that give way to all others.
  static int LowThreads() {
    int low = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      const std::string stat = ReadFile(task.path() / "stat");
      // The name, which is in parentheses, may have spaces. The 17th field after it is the nice value.
      std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
      std::string field;
      for (int i = 0; i < 17; ++i) fields >> field;
      low += field == "19" ? 1 : 0;
    }
    return low;
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

TEST_F(BackupScheduleTest, ProvesTheFirstAndThenOneEachInterval) {
  SetClock(absl::CivilSecond(2026, 11, 1, 2, 59, 0));
  DatabaseOptions options = Options();
  options.backup_prove_interval = 2 * kDay;
  TestDatabase database(options);
  UntilPlanned(database);
  for (uint32_t id = 1; id <= 5; ++id) {
    PassDays(1);
    EXPECT_EQ(UntilBackup(database, id).last_error(), "");
    const v1::GetStatusReply status = UntilProven(database, id % 2 == 1 ? id : id - 1);
    EXPECT_EQ(status.scheduled_backups().last_proof_error(), "");
    EXPECT_FALSE(std::filesystem::exists(ProofFolder(database)));
  }
  for (uint32_t id = 1; id <= 5; ++id)
    EXPECT_EQ(Details(database, id).proven_time_us() != 0, id % 2 == 1) << id;
  database.Close();
  options.backup_prove_interval = std::chrono::milliseconds(0);
  TestDatabase never(std::move(options));
  UntilPlanned(never);
  for (uint32_t id = 6; id <= 8; ++id) {
    PassDays(1);
    UntilBackup(never, id);
  }
  PassDays(1);
  UntilBackup(never, 9);
  for (uint32_t id = 6; id <= 8; ++id) EXPECT_EQ(Details(never, id).proven_time_us(), 0) << id;
}

TEST_F(BackupScheduleTest, SaysHowOldTheLastProvenBackupMayBecome) {
  SetClock(absl::CivilSecond(2026, 11, 25, 2, 59, 0));
  struct Row {
    const char* schedule;
    std::chrono::hours interval;
    int64_t hours;
  };
  for (const Row& row : {Row{"0 3 * * *", kDay, 48}, Row{"0 * * * *", kDay, 25}, Row{"0 3 * * 1-5", kDay, 96},
                         Row{"0 3 * * 0", kDay, 8 * 24}, Row{"0 3 * * *", kDay * 0, 0}}) {
    SCOPED_TRACE(row.schedule);
    DatabaseOptions options = Options();
    options.backup_schedule = row.schedule;
    options.backup_prove_interval = row.interval;
    TestDatabase database(options);
    const v1::ScheduledBackups status = UntilPlanned(database);
    EXPECT_EQ(status.proof_interval_ms(), std::chrono::milliseconds(row.interval).count());
    EXPECT_EQ(status.proof_max_age_ms(), row.hours * 3'600'000);
  }
}

TEST_F(BackupScheduleTest, AProofLeavesTheDiskItsFreeSpaceAndIsTriedAgain) {
  SetClock(absl::CivilSecond(2026, 11, 24, 3, 30, 0));
  DatabaseOptions options = Options();
  options.backup_prove_interval = kDay;
  options.backup_keep = 1;
  options.free_space_floor_bytes = 1 << 20;
  const auto files = std::make_shared<RoomFileSystem>(options.backup_directory);
  files->free_bytes = 3 * options.free_space_floor_bytes;
  options.file_system = files;
  TestDatabase database(std::move(options));
  UntilPlanned(database);
  for (uint32_t id = 1; id <= 2; ++id) {
    PassDays(1);
    UntilBackup(database, id);
    const v1::ScheduledBackups status = UntilProofError(database);
    EXPECT_THAT(status.last_proof_error(), HasSubstr("for lack of space"));
    EXPECT_EQ(status.last_error(), "") << "the backup is verified";
  }
  for (int i = 0; i < 3'000 && Ids(database).size() > 1; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_THAT(Ids(database), ElementsAre(2u)) << "the old ones are deleted all the same";
  files->free_bytes = uint64_t{1} << 40;
  // No backup is due.
  now_us_ += absl::ToInt64Microseconds(absl::Hours(2));
  EXPECT_EQ(UntilProven(database, 2).scheduled_backups().last_proof_error(), "");
}

TEST_F(BackupScheduleTest, AProofEndsWhenTheDiskFillsUp) {
  DatabaseOptions options = Options();
  options.free_space_floor_bytes = 1 << 20;
  const auto files = std::make_shared<RoomFileSystem>(options.backup_directory);
  options.file_system = files;
  MakeBackupOfMuch(options);
  options.backup_prove_interval = kDay;
  options.backup_bytes_per_second = kSlow;
  TestDatabase database(options);
  UntilProving(database, 1);
  files->free_bytes = 2 * options.free_space_floor_bytes - 1;
  EXPECT_THAT(UntilProofError(database).last_proof_error(), HasSubstr("came below"));
  EXPECT_FALSE(std::filesystem::exists(ProofFolder(database)));
  EXPECT_FALSE(database->GetStatus().has_proven_backup());
}

TEST_F(BackupScheduleTest, BackupsGoOnBesideAProofAndAStopEndsIt) {
  DatabaseOptions options = Options();
  options.backup_keep = 1;
  MakeBackupOfMuch(options);
  options.backup_prove_interval = kDay;
  options.backup_bytes_per_second = kSlow;
  {
    TestDatabase database(options);
    UntilProving(database, 1);
    EXPECT_THAT(Ids(database), ElementsAre(1u)) << "the list is answered";
    EXPECT_GT(LowThreads(), 0);
    PassDays(1);
    EXPECT_EQ(UntilBackup(database, 2).proving_backup_id(), 1u);
    EXPECT_THAT(Ids(database), ElementsAre(1u, 2u)) << "old ones stay until the proof is done";
    EXPECT_TRUE(std::filesystem::exists(ProofFolder(database)));
    const std::string folder = ProofFolder(database);
    // The proof would go on for two minutes.
    database.Close();
    EXPECT_FALSE(std::filesystem::exists(folder));
  }
  EXPECT_EQ(LowThreads(), 0) << "a thread that others use too was begun by the proof";
  options.backup_bytes_per_second = 0;
  TestDatabase database(options);
  EXPECT_EQ(UntilProven(database, 2).scheduled_backups().last_proof_error(), "")
      << "the newest is proven at the start";
  EXPECT_THAT(Ids(database), ElementsAre(1u, 2u));
  PassDays(1);
  UntilProven(database, 3);
  EXPECT_THAT(Ids(database), ElementsAre(3u));
}

TEST_F(BackupScheduleTest, AProofThatFindsDamageIsAnErrorAndKeepsTheOldBackups) {
  DatabaseOptions options = Options();
  options.backup_keep = 1;
  MakeBackupOfMuch(options);
  options.backup_prove_interval = kDay;
  options.backup_bytes_per_second = kSlow;
  // Backup 2 is due at once.
  PassDays(1);
  TestDatabase database(options);
  UntilProving(database, 2);
  EXPECT_NE(Details(database, 2).verified_time_us(), 0);
  for (const auto& file : std::filesystem::directory_iterator(options.backup_directory + "/shared_checksum"))
    std::filesystem::resize_file(file.path(), 0);
  const v1::ScheduledBackups status = UntilProofError(database);
  EXPECT_THAT(status.last_proof_error(), HasSubstr("backup 2"));
  EXPECT_EQ(status.last_error(), status.last_proof_error()) << "it is as bad as no backup";
  EXPECT_EQ(Details(database, 2).verified_time_us(), 0);
  EXPECT_THAT(Ids(database), ElementsAre(1u, 2u));
}

TEST_F(BackupScheduleTest, ABackupThatIsDeletedWhileItIsProvenIsNoError) {
  DatabaseOptions options = Options();
  MakeBackupOfMuch(options);
  options.backup_prove_interval = kDay;
  options.backup_bytes_per_second = 4 * kSlow;
  TestDatabase database(options);
  UntilProving(database, 1);
  v1::DeleteDatabaseBackupsRequest request;
  request.set_backup_id(1);
  const auto deleted = Await<v1::DeleteDatabaseBackupsReply>(
      [&](auto done) { database->DeleteDatabaseBackups(request, std::move(done)); });
  EXPECT_TRUE(deleted.ok()) << deleted.status();
  UntilProving(database, 0);
  EXPECT_EQ(database->GetStatus().scheduled_backups().last_proof_error(), "");
  EXPECT_FALSE(database->GetStatus().has_proven_backup());
}

TEST_F(BackupScheduleTest, WhatAProofWritesOfAnEncryptedDatabaseIsEncrypted) {
  DatabaseOptions options = Options();
  options.encryption_keys = KeysOf({"KEY"});
  MakeBackupOfMuch(options);
  options.backup_prove_interval = kDay;
  options.backup_bytes_per_second = 4 * kSlow;
  TestDatabase database(options);
  UntilProving(database, 1);
  const auto has_copied = [folder = ProofFolder(database)] {
    std::error_code error;
    for (const auto& file : std::filesystem::directory_iterator(folder + "/restoring", error))
      if (file.path().extension() == ".sst") return true;
    return false;
  };
  for (int i = 0; i < 3'000 && !has_copied(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(has_copied());
  EXPECT_THAT(FilesWith(options.backup_directory, "secret text"), IsEmpty());
  database.Close();
  options.backup_bytes_per_second = 0;
  TestDatabase fast(options);
  UntilProven(fast, 1);
}

TEST_F(BackupScheduleTest, AStartDeletesWhatAKilledProofHasLeftAndLogsTheLastProvenBackup) {
  SetClock(absl::CivilSecond(2026, 11, 24, 2, 59, 0));
  DatabaseOptions options = Options();
  std::ostringstream log;
  options.log =
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log));
  std::string folder;
  {
    TestDatabase database(options);
    UntilPlanned(database);
    folder = ProofFolder(database);
    database.Close();
    EXPECT_THAT(log.str(), Not(HasSubstr("proven"))) << "there is no backup";
    database.Reopen();
    UntilPlanned(database);
    PassDays(1);
    UntilBackup(database, 1);
  }
  const auto log_of_start = [&] {
    std::filesystem::create_directories(folder + "/rocksdb");
    log.str("");
    // Closing waits for what the start has begun.
    { const TestDatabase database(options); }
    EXPECT_FALSE(std::filesystem::exists(folder));
    return log.str();
  };
  EXPECT_THAT(log_of_start(), HasSubstr("no backup was ever proven"));
  options.backup_prove_interval = kDay;
  {
    TestDatabase database(options);
    UntilProven(database, 1);
  }
  now_us_ += absl::ToInt64Microseconds(absl::Hours(5));
  options.backup_schedule.clear();
  const std::string text = log_of_start();
  EXPECT_THAT(text, HasSubstr("last proven backup backup_id=1 made_at=2026-11-2"));
  EXPECT_THAT(text, HasSubstr(" age_hours=5.0 "));
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
