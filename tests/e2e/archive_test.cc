// The archive of a running itemd, and `itemd restore --archive`, through kill -9.
#include <fcntl.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "absl/strings/str_format.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/support/files.h"
#include "tests/support/kills.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ArchiveE2e : public E2eTest {
 protected:
  void SetUp() override { StartWithArchive(); }

  void StartWithArchive(const std::vector<std::string>& more = {}) {
    arguments_ = {"--backup-directory", backups_, "--archive-directory", archive_};
    arguments_.insert(arguments_.end(), more.begin(), more.end());
    const absl::Status started = daemon_.Start(arguments_);
    ASSERT_TRUE(started.ok()) << started;
  }
  ArchiveStatus Status() {
    const auto status = OpenClient().GetStatus();
    EXPECT_TRUE(status.ok() && status->archive.has_value()) << status.status();
    return status.ok() && status->archive.has_value() ? *status->archive : ArchiveStatus();
  }
  void AwaitArchive() {
    const uint64_t last = ChangeSequence();
    for (int i = 0; i < 3000; ++i) {
      const ArchiveStatus status = Status();
      if (status.change_sequence >= last && status.oldest_time != absl::UnixEpoch() && !status.needs_backup)
        return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << "the archive does not catch up: " << Status().error;
  }
  std::vector<std::string> RestoreArguments(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"restore", backups_, restored_, "--archive", archive_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  CommandResult Restore(const std::vector<std::string>& more = {}) const {
    fs::remove_all(restored_);
    return RunProgram(testing::ProgramPath("itemd"), RestoreArguments(more));
  }

  const std::string backups_ = directory_.path() + "/backups";
  const std::string archive_ = directory_.path() + "/archive";
  const std::string restored_ = directory_.path() + "/restored";
  std::vector<std::string> arguments_;
};

// Writes that were acknowledged: by change sequence, the key of the item.
class AcknowledgedPuts {
 public:
  // Puts new items until the daemon is killed.
  void Write(Client client, int writer, int cycle) {
    for (int i = 0; !stopping_; ++i) {
      const std::string key = absl::StrFormat("%d-%d-%d", writer, cycle, i);
      const auto put = client.PutItem({.table_name = "Things", .item = {{"pk", key}, {"state", "new"}}});
      if (!put.ok()) return;
      std::lock_guard<std::mutex> lock(mutex_);
      keys_[put->change_sequence] = key;
    }
  }
  void StopWriting() { stopping_ = true; }
  void GoOn() { stopping_ = false; }
  std::map<uint64_t, std::string> keys() {
    std::lock_guard<std::mutex> lock(mutex_);
    return keys_;
  }

 private:
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::map<uint64_t, std::string> keys_;
};

TEST_F(ArchiveE2e, NothingIsMissingInItAfterKillMinus9) {
  ASSERT_TRUE(OpenClient()
                  .CreateTable({.table_name = "Things",
                                .attribute_definitions = {{"pk", ScalarAttributeType::kString},
                                                          {"state", ScalarAttributeType::kString}},
                                .key_schema = {{"pk", KeyType::kHash}},
                                .global_secondary_indexes = {{.index_name = "ByState",
                                                              .key_schema = {{"state", KeyType::kHash}}}}})
                  .ok());
  AwaitArchive();
  AcknowledgedPuts puts;
  const int cycles = Kills();
  std::mt19937 random(static_cast<uint32_t>(KillSeed()));
  for (int cycle = 0; cycle < cycles; ++cycle) {
    puts.GoOn();
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 4; ++writer)
      writers.emplace_back([&, writer] { puts.Write(OpenClient(), writer, cycle); });
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 700));
    daemon_.Kill();
    puts.StopWriting();
    for (std::thread& writer : writers) writer.join();
    StartWithArchive(cycle % 3 == 2 ? std::vector<std::string>{"--durability", "relaxed"}
                                    : std::vector<std::string>{});
    EXPECT_EQ(Status().gaps, 0) << "cycle " << cycle;
  }
  AwaitArchive();
  const std::map<uint64_t, std::string> keys = puts.keys();
  ASSERT_GT(keys.size(), 100u);
  const uint64_t last = ChangeSequence();
  for (int i = 0; i < 5; ++i) {
    const uint64_t change = i == 0 ? last : 1 + random() % last;
    SCOPED_TRACE("change " + std::to_string(change));
    const CommandResult restored = Restore({"--to", std::to_string(change)});
    ASSERT_EQ(restored.exit_code, 0) << restored.err;
    EXPECT_THAT(restored.out, HasSubstr("every change up to " + std::to_string(change)));
    fs::create_directories(directory_.path() + "/other");
    DaemonProcess other(directory_.path() + "/other");
    fs::remove_all(other.data_directory());
    fs::rename(restored_, other.data_directory());
    const absl::Status started = other.Start();
    ASSERT_TRUE(started.ok()) << started;
    auto client = Client::Open({.endpoint = other.endpoint()});
    ASSERT_TRUE(client.ok()) << client.status();
    EXPECT_EQ(client->GetStatus()->change_sequence, change);
    const auto items = client->ScanStream({.table_name = "Things"}).ToVector();
    ASSERT_TRUE(items.ok()) << items.status();
    std::set<std::string> there;
    for (const Item& item : *items) there.insert(*item.find_or_null("pk")->string_or_null());
    // Change 1 made the table; every other one put one new item.
    EXPECT_EQ(there.size(), change - 1);
    for (const auto& [sequence, key] : keys) ASSERT_EQ(there.contains(key), sequence <= change) << key;
    const CommandResult checked =
        RunProgram(testing::ProgramPath("itemctl"), {"--endpoint", other.endpoint(), "check"});
    EXPECT_EQ(checked.exit_code, 0) << checked.err << checked.out;
  }
}

TEST_F(ArchiveE2e, ARestoreThatIsKilledBeginsAgain) {
  LoadOrderEntry();
  AwaitArchive();
  ASSERT_EQ(Itemctl({"generate", "--orders", "500"}).exit_code, 0);
  AwaitArchive();
  const std::string items = Itemctl({"-o", "jsonl", "scan", "Order"}).out;
  const daemon::Descriptor nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  Random random(KillSeed());
  int interrupted = 0;
  for (int kill = 0; kill < (Kills() + 9) / 10; ++kill) {
    const int64_t delay_ms = Pick(random, 0, 160);
    SCOPED_TRACE("killed after " + std::to_string(delay_ms) + " ms");
    // A restore that was fast enough is made again.
    if (fs::exists(restored_) && !fs::exists(restored_ + "/restoring")) fs::remove_all(restored_);
    ChildProcess restore(testing::ProgramPath("itemd"), RestoreArguments({}),
                         {.in = nothing.get(), .out = nothing.get(), .err = nothing.get()});
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    restore.Signal(SIGKILL);
    restore.Wait();
    if (fs::exists(restored_ + "/restoring")) {
      ++interrupted;
      EXPECT_NE(RunProgram(testing::ProgramPath("itemd"), {"inspect", restored_}).exit_code, 0);
    }
  }
  std::printf("%d of %d kills interrupted a restore\n", interrupted, (Kills() + 9) / 10);
  if (fs::exists(restored_) && !fs::exists(restored_ + "/restoring")) fs::remove_all(restored_);
  const CommandResult restored = RunProgram(testing::ProgramPath("itemd"), RestoreArguments({}));
  EXPECT_EQ(restored.exit_code, 0) << restored.err;
  daemon_.Kill();
  fs::remove_all(daemon_.data_directory());
  fs::rename(restored_, daemon_.data_directory());
  const absl::Status started = daemon_.Start();
  ASSERT_TRUE(started.ok()) << started;
  EXPECT_EQ(Itemctl({"-o", "jsonl", "scan", "Order"}).out, items);
  ExpectCheckIsClean();
}

TEST_F(ArchiveE2e, WhatCannotBeRestoredIsRefusedInOneSentence) {
  LoadOrderEntry();
  AwaitArchive();
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{"--to", "99999"}, "change 99999 cannot be restored: the archive ends at change"},
      {{"--to", "yesterday"}, "--to must be the number of a change, or a time with its offset"},
      {{"--to", "0"}, "--to must be the number of a change"},
      {{"--to", "1999-01-01T00:00:00Z"}, "no backup"},
      {{"--to", "2999-01-01T00:00:00Z"}, "is in the future"},
  };
  for (const auto& [arguments, text] : refused) {
    const CommandResult result = Restore(arguments);
    EXPECT_EQ(result.exit_code, 64) << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_FALSE(fs::exists(restored_ + "/rocksdb"));
  }
  const CommandResult alone =
      RunProgram(testing::ProgramPath("itemd"), {"restore", backups_, restored_, "--to", "5"});
  EXPECT_EQ(alone.exit_code, 64);
  EXPECT_THAT(alone.err, HasSubstr("--to needs --archive"));
}

}  // namespace
}  // namespace itemdb::e2e
