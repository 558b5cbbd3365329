// Backups of a running itemd: `itemctl backup` and `itemd restore`, also through kill -9.
//
// ITEMDB_KILL9_CYCLES sets the number of kills (default 5; 1 in sanitizer builds).
#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/e2e/e2e_fixture.h"
#include "tests/support/await.h"
#include "tests/support/files.h"
#include "tests/support/kills.h"
#include "tests/support/paths.h"
#include "tests/support/repetitions.h"

namespace itemdb::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class BackupE2e : public E2eTest {
 protected:
  void SetUp() override { StartWithBackups(); }

  void StartWithBackups() {
    const absl::Status started = daemon_.Start({"--backup-directory", backups_});
    ASSERT_TRUE(started.ok()) << started;
  }
  CommandResult Restore(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"restore", backups_, restored_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(testing::ProgramPath("itemd"), arguments);
  }
  // Goes on with the restored directory instead of the old one.
  void ServeRestored() {
    daemon_.Kill();
    fs::remove_all(daemon_.data_directory());
    fs::rename(restored_, daemon_.data_directory());
    StartWithBackups();
  }

  const std::string backups_ = directory_.path() + "/backups";
  const std::string restored_ = directory_.path() + "/restored";
};

// The disk with the data is lost.
TEST_F(BackupE2e, ALostDiskIsRestored) {
  LoadOrderEntry();
  const Json backup = Document({"-o", "jsonl", "backup", "create"});
  EXPECT_EQ(backup["backup_id"], 1);
  EXPECT_EQ(backup["change_sequence"], ChangeSequence());
  const CommandResult items = Itemctl({"-o", "jsonl", "scan", "Order"});
  ASSERT_EQ(Itemctl({"item", "put", "Order", R"({"PK": "late", "SK": "late"})"}).exit_code, 0);
  const CommandResult verified = Itemctl({"backup", "verify"});
  EXPECT_EQ(verified.exit_code, 0) << verified.err;

  const CommandResult restored = Restore();
  EXPECT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_THAT(restored.err, HasSubstr("restoring backup_id=1"));
  EXPECT_THAT(restored.out, HasSubstr("backup 1 of database " + backup["database_id"].get<std::string>()));
  ServeRestored();
  EXPECT_EQ(Itemctl({"-o", "jsonl", "scan", "Order"}).out, items.out);
  EXPECT_EQ(Itemctl({"check"}).exit_code, 0);
  // Its backups do not go to those of the database that it was.
  const CommandResult refused = Itemctl({"backup", "create"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("--backup-directory"));
}

TEST_F(BackupE2e, ADamagedBackupIsNoLongerDescribedAsVerified) {
  LoadOrderEntry();
  ASSERT_EQ(Itemctl({"backup", "create"}).exit_code, 0);
  ASSERT_EQ(Itemctl({"backup", "verify", "--restore"}).exit_code, 0);
  ASSERT_EQ(Itemctl({"backup", "verify"}).exit_code, 0);
  const auto described = [&] { return Document({"-o", "jsonl", "backup", "describe", "1"}); };
  EXPECT_TRUE(described().contains("verified_time"));
  EXPECT_TRUE(described().contains("proven_time"));
  fs::path largest;
  for (const auto& entry : fs::recursive_directory_iterator(backups_)) {
    const bool has_data = entry.path().extension() == ".sst" || entry.path().extension() == ".log";
    if (has_data && (largest.empty() || entry.file_size() > fs::file_size(largest))) largest = entry.path();
  }
  const std::string content = testing::ReadFile(largest);
  std::string flipped = content;
  flipped[flipped.size() / 2] ^= 1;
  testing::WriteFile(largest, flipped);
  EXPECT_NE(Itemctl({"backup", "verify"}).exit_code, 0);
  EXPECT_FALSE(described().contains("verified_time"));
  EXPECT_FALSE(described().contains("proven_time"));
  testing::WriteFile(largest, content);
  EXPECT_EQ(Itemctl({"backup", "verify"}).exit_code, 0);
  EXPECT_TRUE(described().contains("verified_time"));
  // Without the notes nobody knows.
  fs::remove_all(backups_ + "/ended");
  EXPECT_THAT(Itemctl({"-o", "table", "backup", "describe", "1"}).out, HasSubstr("verified   not known"));
}

TEST_F(BackupE2e, AnOlderBackupIsRestoredByItsNumber) {
  ASSERT_EQ(Itemctl({"backup", "create"}).exit_code, 0);
  LoadOrderEntry();
  ASSERT_EQ(Itemctl({"backup", "create"}).exit_code, 0);
  const CommandResult missing = Restore({"--backup", "7"});
  EXPECT_NE(missing.exit_code, 0);
  EXPECT_THAT(missing.err, HasSubstr("there is no backup 7"));
  const CommandResult restored = Restore({"--backup", "1"});
  EXPECT_EQ(restored.exit_code, 0) << restored.err;
  ServeRestored();
  EXPECT_TRUE(Lines({"-o", "jsonl", "table", "list"}).empty() ||
              Itemctl({"table", "describe", "Order"}).exit_code != 0);
}

// After kill -9 in the middle of a backup there is a whole one or none, and the next one succeeds.
TEST_F(BackupE2e, Kill9LeavesAWholeBackupOrNone) {
  LoadOrderEntry();
  ASSERT_EQ(Itemctl({"generate", "--orders", "2000"}).exit_code, 0);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  ASSERT_EQ(Itemctl({"backup", "create"}).exit_code, 0);
  const int64_t whole_us =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();
  Random random(KillSeed());
  KilledRounds rounds("a backup of the database");
  size_t backups = 1;
  for (int kill = 0; kill < Kills(kDefaultKillsOfLongSteps); ++kill) {
    // Something to copy.
    ASSERT_EQ(Itemctl({"generate", "--orders", "200", "--products", "20", "--employees", "10", "--seed",
                       std::to_string(kill)})
                  .exit_code,
              0);
    const int64_t delay_us = Pick(random, 0, whole_us * 5 / 4);
    SCOPED_TRACE("killed after " + std::to_string(delay_us) + " us");
    bool is_answered = false;
    std::thread caller([&] { is_answered = Itemctl({"backup", "create"}).exit_code == 0; });
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
    daemon_.Kill();
    caller.join();
    StartWithBackups();
    const Json listed = Document({"-o", "jsonl", "backup", "list"});
    EXPECT_TRUE(listed["damaged_backup_ids"].empty()) << listed;
    const size_t now = listed["backups"].size();
    const bool is_whole = now == backups + 1;
    EXPECT_EQ(now, is_whole ? backups + 1 : backups) << listed;
    EXPECT_TRUE(is_whole || !is_answered) << "a backup that was answered is lost";
    if (is_whole) {
      const CommandResult verified = Itemctl({"backup", "verify", "--restore"});
      EXPECT_EQ(verified.exit_code, 0) << verified.err;
    }
    backups = now;
    rounds.Add({.was_interrupted = !is_answered, .is_whole = is_whole});
  }
  ASSERT_EQ(Itemctl({"backup", "create"}).exit_code, 0);
  EXPECT_EQ(Restore().exit_code, 0);
  ServeRestored();
  EXPECT_EQ(Itemctl({"check"}).exit_code, 0);
}

// Without directories for them, all copies are lost with the disk of the data: a start and `status` say so.
class CopiesOnOneDiskE2e : public E2eTest {
 protected:
  void SetUp() override {}
  // The log has `text`, at the latest after a minute.
  void AwaitLogged(const std::string& text) {
    for (int i = 0; i < 6'000 && daemon_.log().find(text) == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_THAT(daemon_.log(), HasSubstr(text));
  }
};

TEST_F(CopiesOnOneDiskE2e, AStartAndStatusSaySo) {
  ASSERT_TRUE(daemon_.Start().ok());
  const std::string data = daemon_.data_directory();
  AwaitLogged("backups, and the archive that point-in-time recovery begins, go to the disk of the data");
  AwaitLogged("archive=" + data + "/archive backups=" + data + "/backups");
  constexpr char kLost[] = "; on the disk of the data, and lost with it";
  const std::string status = Itemctl({"-o", "table", "status"}).out;
  EXPECT_THAT(status, HasSubstr(data + "/backups" + kLost));
  // No archive is there yet.
  LoadOrderEntry();
  ASSERT_EQ(Itemctl({"pitr", "enable", "Order"}).exit_code, 0);
  AwaitLogged("the archive and the backups are on the disk of the data, and lost with it");
  const Json places = Document({"-o", "jsonl", "status"})["backup_places"];
  EXPECT_EQ(places["archive_directory"], data + "/archive") << places;
  EXPECT_EQ(places["archive_shares_disk"], true) << places;
  EXPECT_EQ(places["backups_share_disk"], true) << places;

  // Directories that are named are looked at too.
  ASSERT_EQ(daemon_.Terminate(), 0);
  const std::string backups = directory_.path() + "/elsewhere";
  ASSERT_TRUE(daemon_.Start({"--backup-directory", backups}).ok());
  AwaitLogged(
      "the archive and the backups are on the disk of the data, and lost with it; --archive-directory and "
      "--backup-directory name others archive=" +
      data + "/archive backups=" + backups);
}

// A proof of the schedule that was killed is deleted by the next start, and done again by the next one with a
// schedule.
TEST_F(BackupE2e, Kill9InAProofLeavesNothingBehind) {
  LoadOrderEntry();
  ASSERT_EQ(Itemctl({"generate", "--orders", testing::kHasSanitizer ? "5000" : "20000"}).exit_code, 0);
  ASSERT_EQ(Itemctl({"backup", "create"}).exit_code, 0);
  daemon_.Kill();
  const std::vector<std::string> schedule = {"--backup-directory", backups_, "--backup-schedule",
                                             "0 3 1 1 *"};
  std::vector<std::string> slow = schedule;
  slow.insert(slow.end(), {"--backup-bytes-per-second", "1MiB"});
  const auto proof_files = [&] {
    int files = 0;
    std::error_code error;
    for (const auto& folder : fs::directory_iterator(backups_)) {
      if (!folder.path().filename().string().starts_with("proof-")) continue;
      ++files;
      for (fs::recursive_directory_iterator file(folder, error), end; !error && file != end;
           file.increment(error))
        ++files;
    }
    return files;
  };
  absl::Status started = daemon_.Start(slow);
  ASSERT_TRUE(started.ok()) << started;
  ASSERT_TRUE(testing::Await([&] { return proof_files() > 3; }));
  EXPECT_THAT(Itemctl({"-o", "table", "status"}).out, HasSubstr("none yet"));
  daemon_.Kill();
  ASSERT_GT(proof_files(), 3) << "the proof was done before the kill";
  StartWithBackups();
  EXPECT_TRUE(testing::Await([&] { return proof_files() == 0; }));
  EXPECT_FALSE(Document({"-o", "jsonl", "status"}).contains("proven_backup"));
  EXPECT_EQ(Itemctl({"backup", "verify"}).exit_code, 0);
  daemon_.Kill();
  started = daemon_.Start(schedule);
  ASSERT_TRUE(started.ok()) << started;
  EXPECT_TRUE(testing::Await([&] { return Document({"-o", "jsonl", "status"}).contains("proven_backup"); }));
  EXPECT_TRUE(testing::Await([&] { return proof_files() == 0; }));
  EXPECT_EQ(Itemctl({"check"}).exit_code, 0);
}

}  // namespace
}  // namespace itemdb::e2e
