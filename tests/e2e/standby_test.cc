// A primary and its standby as two itemd, killed at random.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "absl/strings/str_format.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/support/kills.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class StandbyE2e : public E2eTest {
 protected:
  void SetUp() override {
    fs::create_directories(directory_.path() + "/second");
    StartPrimary();
  }

  void StartPrimary() {
    const absl::Status started =
        daemon_.Start({"--backup-directory", backups_, "--archive-directory", archive_});
    ASSERT_TRUE(started.ok()) << started;
  }
  void StartStandby() {
    const absl::Status started = standby_.Start({"--standby", archive_, "--standby-backups", backups_});
    ASSERT_TRUE(started.ok()) << started;
  }
  Client OpenStandby() const {
    absl::StatusOr<Client> client = Client::Open({.endpoint = standby_.endpoint()});
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }
  CommandResult OnStandby(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--endpoint", standby_.endpoint()});
    return RunProgram(testing::ProgramPath("itemctl"), arguments);
  }
  // Waits until a standby can be made: until there is a backup that the archive continues.
  void AwaitBackup() const {
    for (int i = 0; i < 3000; ++i) {
      const auto status = OpenClient().GetStatus();
      if (status.ok() && status->archive.has_value() && !status->archive->needs_backup &&
          status->archive->oldest_time != absl::UnixEpoch())
        return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << "there is no backup";
  }
  void AwaitStandby(uint64_t change) const {
    uint64_t now = 0;
    for (int i = 0; i < 3000; ++i) {
      const auto status = OpenStandby().GetStatus();
      if (status.ok()) now = status->change_sequence;
      if (now >= change) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << "the standby is at change " << now << " of " << change << "\n" << standby_.log();
  }

  const std::string backups_ = directory_.path() + "/backups";
  const std::string archive_ = directory_.path() + "/archive";
  DaemonProcess standby_{directory_.path() + "/second"};
};

TEST_F(StandbyE2e, HasEveryWriteUpToItsPromotionAndNoOtherThroughKillMinus9OfBoth) {
  ASSERT_TRUE(OpenClient()
                  .CreateTable({.table_name = "Things",
                                .attribute_definitions = {{"pk", ScalarAttributeType::kString},
                                                          {"state", ScalarAttributeType::kString}},
                                .key_schema = {{"pk", KeyType::kHash}},
                                .global_secondary_indexes = {{.index_name = "ByState",
                                                              .key_schema = {{"state", KeyType::kHash}}}}})
                  .ok());
  AwaitBackup();
  StartStandby();
  Random random(KillSeed());
  std::mutex mutex;
  std::map<uint64_t, std::string> answered;
  const int cycles = Kills();
  for (int cycle = 0; cycle < cycles; ++cycle) {
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 2; ++writer) {
      writers.emplace_back([&, writer, cycle, client = OpenClient()] {
        for (int i = 0;; ++i) {
          const std::string key = absl::StrFormat("%d-%d-%d", writer, cycle, i);
          const auto put =
              client.PutItem({.table_name = "Things", .item = {{"pk", key}, {"state", "new"}}}, OneAttempt());
          if (!put.ok()) return;
          std::lock_guard<std::mutex> lock(mutex);
          answered[put->change_sequence] = key;
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(Pick(random, 0, 500)));
    standby_.Kill();
    StartStandby();
    std::this_thread::sleep_for(std::chrono::milliseconds(Pick(random, 0, 500)));
    daemon_.Kill();
    for (std::thread& writer : writers) writer.join();
    if (cycle + 1 == cycles) break;
    StartPrimary();
    AwaitStandby(ChangeSequence());
  }
  ASSERT_GT(answered.size(), 100u);
  const auto begin = std::chrono::steady_clock::now();
  const CommandResult promoted = OnStandby({"promote", "--yes", "-o", "json"});
  ASSERT_EQ(promoted.exit_code, 0) << promoted.err;
  ASSERT_TRUE(
      OpenStandby().PutItem({.table_name = "Things", .item = {{"pk", "own"}, {"state", "own"}}}).ok());
  RecordProperty("milliseconds_to_the_first_write",
                 static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                      std::chrono::steady_clock::now() - begin)
                                      .count()));
  const uint64_t last = Json::parse(promoted.out)["change_sequence"];
  std::set<std::string> found;
  for (const Json& item : ParseLines(OnStandby({"scan", "Things", "-o", "jsonl"}).out))
    found.insert(item["pk"]);
  EXPECT_EQ(found.erase("own"), 1u);
  for (const auto& [change, key] : answered)
    EXPECT_EQ(found.contains(key), change <= last) << key << " is change " << change << " of " << last;
  EXPECT_EQ(found.size(), last - 1) << "each change but the creation of the table is an item";
  const CommandResult check = OnStandby({"check"});
  EXPECT_EQ(check.exit_code, 0) << check.err << check.out;
  // The old primary comes back, and takes no writes.
  StartPrimary();
  const CommandResult refused = Itemctl({"item", "put", "Things", R"({"pk": "late"})"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("its standby was promoted"));
}

TEST_F(StandbyE2e, ItsStatusSaysWhatItFollowsAndWhyItRefusesWrites) {
  AwaitBackup();
  StartStandby();
  LoadOrderEntry();
  AwaitStandby(ChangeSequence());
  const Json status = Json::parse(OnStandby({"status", "-o", "json"}).out);
  EXPECT_EQ(status["standby"]["archive_directory"], archive_);
  EXPECT_EQ(status["standby"]["needs_base"], false);
  EXPECT_THAT(std::string(status["writes_refused"]), HasSubstr("this database is a standby"));
  EXPECT_EQ(OnStandby({"-o", "jsonl", "scan", "Order"}).out, Itemctl({"-o", "jsonl", "scan", "Order"}).out);
  const CommandResult refused = OnStandby({"order-entry", "load"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("write to the primary"));
}

TEST_F(StandbyE2e, SettingsThatDoNotFitAreRefused) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{"--standby", archive_}, "also give --standby-backups"},
      {{"--standby-backups", backups_}, "only with --standby"},
      {{"--standby", archive_, "--standby-backups", backups_, "--archive-directory", archive_},
       "cannot be its own"},
  };
  for (const auto& [arguments, text] : refused) {
    const CommandResult result = standby_.RunToEnd(arguments);
    EXPECT_EQ(result.exit_code, 64) << result.err;
    EXPECT_THAT(result.err + standby_.log(), HasSubstr(text));
  }
}

}  // namespace
}  // namespace itemdb::e2e
