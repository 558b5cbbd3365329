// The archive of a running itemd, and `itemd restore --archive`, through kill -9.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
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

TEST_F(ArchiveE2e, Kill9LeavesNoGap) {
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
  KilledRounds rounds("writing the archive");
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
    rounds.Add({.was_interrupted = true, .is_whole = true});
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

// A restore that was killed begins again.
TEST_F(ArchiveE2e, Kill9LeavesAWholeRestoredDatabaseOrNone) {
  LoadOrderEntry();
  AwaitArchive();
  ASSERT_EQ(Itemctl({"generate", "--orders", "500"}).exit_code, 0);
  AwaitArchive();
  const std::string items = Itemctl({"-o", "jsonl", "scan", "Order"}).out;
  const daemon::Descriptor nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  daemon_.Terminate();
  // Whole: the database at its last commit.
  const auto expect_whole = [&] {
    fs::create_directories(directory_.path() + "/other");
    DaemonProcess other(directory_.path() + "/other");
    fs::remove_all(other.data_directory());
    fs::rename(restored_, other.data_directory());
    const absl::Status started = other.Start();
    ASSERT_TRUE(started.ok()) << started;
    EXPECT_EQ(Itemctl({"--endpoint", other.endpoint(), "-o", "jsonl", "scan", "Order"}).out, items);
    const CommandResult check = Itemctl({"--endpoint", other.endpoint(), "check"});
    EXPECT_EQ(check.exit_code, 0) << check.err << check.out;
  };
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(Restore().exit_code, 0);
  const int64_t whole_us =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
  ASSERT_NO_FATAL_FAILURE(expect_whole());
  Random random(KillSeed());
  KilledRounds rounds("restoring the database");
  for (int kill = 0; kill < Kills(kDefaultKillsOfLongSteps); ++kill) {
    const int64_t delay_us = Pick(random, 0, whole_us * 13 / 10);
    SCOPED_TRACE("killed after " + std::to_string(delay_us) + " us");
    ChildProcess restore(testing::ProgramPath("itemd"), RestoreArguments({}),
                         {.in = nothing.get(), .out = nothing.get(), .err = nothing.get()});
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
    restore.Signal(SIGKILL);
    restore.Wait();
    const bool has_begun = fs::exists(restored_) && !fs::is_empty(restored_);
    const bool is_whole = has_begun && !fs::exists(restored_ + "/restoring");
    if (!is_whole) {
      EXPECT_NE(RunProgram(testing::ProgramPath("itemd"), {"inspect", restored_}).exit_code, 0);
      const CommandResult again = RunProgram(testing::ProgramPath("itemd"), RestoreArguments({}));
      EXPECT_EQ(again.exit_code, 0) << again.err;
    }
    ASSERT_NO_FATAL_FAILURE(expect_whole());
    rounds.Add({.was_interrupted = has_begun && !is_whole, .is_whole = is_whole});
  }
}

// A read from the backups does not return, as on a mount whose server is gone: here nobody writes to a FIFO.
// A stop would wait for the thread that reads for ever.
TEST_F(ArchiveE2e, AHungFileSystemEndsTheStopAndTheLogSaysIt) {
  LoadOrderEntry();
  AwaitArchive();
  EXPECT_EQ(daemon_.Terminate(), 0);
  const std::string record = backups_ + "/ended/1";
  const std::string kept = directory_.path() + "/kept";
  fs::rename(record, kept);
  ASSERT_EQ(mkfifo(record.c_str(), 0600), 0);
  StartWithArchive({"--shutdown-timeout", "100ms"});
  // Without a reader this open fails.
  daemon::Descriptor writer;
  for (int i = 0; i < 3'000 && writer.get() < 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    writer = daemon::Descriptor(open(record.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  }
  ASSERT_GE(writer.get(), 0) << "nobody reads " << record;
  ASSERT_EQ(Itemctl({"item", "put", "Order", R"({"PK": "answered", "SK": "a"})"}).exit_code, 0);
  EXPECT_EQ(daemon_.Terminate(), 74);
  EXPECT_THAT(daemon_.log(),
              HasSubstr("error stopping takes too long, as with a file system that does not answer"));
  fs::remove(record);
  fs::rename(kept, record);
  StartWithArchive();
  EXPECT_EQ(Document({"-o", "jsonl", "item", "get", "Order", R"({"PK": "answered", "SK": "a"})"})["SK"], "a");
  ExpectCheckIsClean();
}

// PIT-20: the newest commit that is not later than the time, also with an offset from UTC.
TEST_F(ArchiveE2e, RestoresToATime) {
  LoadOrderEntry();
  AwaitArchive();
  Client client = OpenClient();
  const auto put = [&](const std::string& state) {
    EXPECT_TRUE(
        client.PutItem({.table_name = "Order", .item = {{"PK", "timed"}, {"SK", "a"}, {"state", state}}})
            .ok());
    // Times of commits have microseconds.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const absl::Time time = absl::Now();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return time;
  };
  const absl::Time first = put("first");
  const absl::Time second = put("second");
  put("third");
  AwaitArchive();
  ASSERT_EQ(daemon_.Terminate(), 0);
  const std::vector<std::tuple<absl::Time, absl::TimeZone, std::string>> rows = {
      {first, absl::UTCTimeZone(), "first"},
      {second, absl::UTCTimeZone(), "second"},
      {second, absl::FixedTimeZone(5 * 3'600 + 1'800), "second"}};
  for (const auto& [time, zone, state] : rows) {
    const std::string text = absl::FormatTime(absl::RFC3339_full, time, zone);
    SCOPED_TRACE(text);
    const CommandResult restored = Restore({"--to", text});
    ASSERT_EQ(restored.exit_code, 0) << restored.err;
    const std::string other_directory = directory_.path() + "/at-" +
                                        std::to_string(absl::ToUnixMicros(time)) +
                                        (zone == absl::UTCTimeZone() ? "" : "-offset");
    fs::create_directories(other_directory);
    DaemonProcess other(other_directory);
    fs::rename(restored_, other.data_directory());
    const absl::Status started = other.Start();
    ASSERT_TRUE(started.ok()) << started;
    auto restored_client = Client::Open({.endpoint = other.endpoint()});
    ASSERT_TRUE(restored_client.ok()) << restored_client.status();
    const auto item =
        restored_client->GetItem({.table_name = "Order", .key = {{"PK", "timed"}, {"SK", "a"}}});
    ASSERT_TRUE(item.ok() && item->item.has_value()) << item.status();
    EXPECT_EQ(*item->item->find_or_null("state")->string_or_null(), state);
  }
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
