// Watch with the real programs: kills, restarts, Ctrl-C.
#include <fcntl.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/e2e/e2e_fixture.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;

// Waits until the file contains `text`, which another process writes; false after kPatienceMs.
bool AwaitInFile(const std::string& path, const std::string& text) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (testing::ReadFile(path).find(text) == std::string::npos) {
    if (std::chrono::steady_clock::now() >= give_up) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

class WatchE2e : public E2eTest {
 protected:
  // The same address after each start.
  void SetUp() override {
    daemon_.set_listen({"unix:" + directory_.path() + "/s"});
    E2eTest::SetUp();
    ASSERT_TRUE(OpenClient()
                    .CreateTable({.table_name = "Things",
                                  .attribute_definitions = {{"pk", ScalarAttributeType::kString}},
                                  .key_schema = {{"pk", KeyType::kHash}},
                                  .stream_view_type = StreamViewType::kNewImage})
                    .ok());
  }
};

// The watch delivers exactly the final change log: each change once and in commit order (SEM-107), and no
// change that was lost in a kill.
TEST_F(WatchE2e, SeesEveryChangeOnceThroughKillsAndRestarts) {
  constexpr int kCycles = 6;
  constexpr int kWriters = 2;
  CancelToken token;
  std::atomic<uint64_t> last_seen = 0;
  std::vector<uint64_t> seen;
  std::vector<std::optional<Item>> keys;
  absl::Status ended;
  std::thread watcher([&] {
    ChangeRange changes = OpenClient().Watch({.after_sequence = 0}, {.cancel = token});
    for (const ChangeRecord& change : changes) {
      seen.push_back(change.change_sequence);
      keys.push_back(change.key);
      last_seen = change.change_sequence;
      last_seen.notify_all();
    }
    ended = changes.status();
    last_seen = UINT64_MAX;
    last_seen.notify_all();
  });
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    std::atomic<int> applied = 0;
    std::atomic<bool> stop = false;
    std::vector<std::thread> writers;
    for (int w = 0; w < kWriters; ++w) {
      writers.emplace_back([&, w] {
        Client client = OpenClient();
        for (int i = 0; !stop; ++i) {
          const std::string key = std::to_string(cycle) + "/" + std::to_string(w) + "/" + std::to_string(i);
          auto put = client.PutItem({.table_name = "Things", .item = {{"pk", key}}},
                                    {.retry = RetryOptions{.max_attempts = 1}});
          if (!put.ok()) break;
          ++applied;
          applied.notify_all();
        }
        // The writer ends here; no thread may wait for more of its writes.
        applied += 40;
        applied.notify_all();
      });
    }
    for (int done = applied; done < 40; done = applied) applied.wait(done);
    if (cycle % 2 == 0) {
      daemon_.Kill();
    } else {
      EXPECT_EQ(daemon_.Terminate(), 0);
    }
    stop = true;
    for (std::thread& writer : writers) writer.join();
    absl::Status started = daemon_.Start();
    if (!started.ok()) {
      token.Cancel();
      watcher.join();
      FAIL() << started;
    }
  }
  const uint64_t end = ChangeSequence();
  // Waits until the watch has seen all changes or has ended.
  for (uint64_t last = last_seen; last < end; last = last_seen) last_seen.wait(last);
  token.Cancel();
  watcher.join();
  EXPECT_TRUE(absl::IsCancelled(ended)) << ended;

  Client client = OpenClient();
  std::vector<std::optional<Item>> kept;
  for (uint64_t after = 0; after < end;) {
    absl::StatusOr<ReadChangesResult> page = client.ReadChanges({.after_sequence = after});
    ASSERT_TRUE(page.ok()) << page.status();
    for (const ChangeRecord& record : page->records) kept.push_back(record.key);
    after = page->records.back().change_sequence;
  }
  ASSERT_EQ(seen.size(), end);
  for (size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], i + 1);
  EXPECT_EQ(keys, kept);
}

TEST_F(WatchE2e, TailFollowsUntilCtrlC) {
  const std::string out_path = directory_.path() + "/tail.out";
  const daemon::Descriptor out(open(out_path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600));
  const daemon::Descriptor in(open("/dev/null", O_RDONLY | O_CLOEXEC));
  ChildProcess tail(testing::ProgramPath("itemctl"),
                    {"--endpoint", daemon_.endpoint(), "-o", "json", "changes", "tail", "--table", "Things",
                     "--from", "1", "--follow"},
                    {.in = in.get(), .out = out.get(), .err = out.get()});
  Client client = OpenClient();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.PutItem({.table_name = "Things", .item = {{"pk", std::to_string(i)}}}).ok());
  }
  ASSERT_TRUE(AwaitInFile(out_path, "\"pk\": \"2\"")) << testing::ReadFile(out_path);
  tail.Signal(SIGINT);
  EXPECT_EQ(tail.Wait(), 0);
  const Json document = Json::parse(testing::ReadFile(out_path), nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << testing::ReadFile(out_path);
  ASSERT_EQ(document["records"].size(), 4u);
  EXPECT_EQ(document["records"][3]["new_image"]["pk"], "2");
  EXPECT_EQ(document["change_sequence"], 4);
}

// For a table without changes the command ends with the last sequence that it has read, not with the first.
TEST_F(WatchE2e, TailOfAQuietTableTellsHowFarItHasCome) {
  Client client = OpenClient();
  ASSERT_TRUE(client
                  .CreateTable({.table_name = "Quiet",
                                .attribute_definitions = {{"pk", ScalarAttributeType::kString}},
                                .key_schema = {{"pk", KeyType::kHash}}})
                  .ok());
  // Written before the tail begins, so that its first reply goes up to the last of these changes.
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(client.PutItem({.table_name = "Things", .item = {{"pk", std::to_string(i)}}}).ok());
  const std::string out_path = directory_.path() + "/tail.out";
  const daemon::Descriptor out(open(out_path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600));
  const daemon::Descriptor in(open("/dev/null", O_RDONLY | O_CLOEXEC));
  ChildProcess tail(testing::ProgramPath("itemctl"),
                    {"--endpoint", daemon_.endpoint(), "-o", "json", "changes", "tail", "--table", "Quiet",
                     "--from", "1", "--follow"},
                    {.in = in.get(), .out = out.get(), .err = out.get()});
  // The reply with this record also has the position. The watch stores it before it checks for cancellation,
  // so Ctrl-C may come as soon as the record is printed.
  ASSERT_TRUE(AwaitInFile(out_path, "CREATE_TABLE")) << testing::ReadFile(out_path);
  tail.Signal(SIGINT);
  EXPECT_EQ(tail.Wait(), 0);
  const Json document = Json::parse(testing::ReadFile(out_path), nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << testing::ReadFile(out_path);
  EXPECT_EQ(document["records"].size(), 1u);
  EXPECT_EQ(document["change_sequence"], 7);
}

TEST_F(WatchE2e, TailWithoutFollowPrintsWhatIsThere) {
  Client client = OpenClient();
  ASSERT_TRUE(client.PutItem({.table_name = "Things", .item = {{"pk", "a"}}}).ok());
  EXPECT_EQ(Lines({"-o", "jsonl", "changes", "tail"}).size(), 2u);
  EXPECT_EQ(Lines({"-o", "jsonl", "changes", "tail", "--from", "2"}).size(), 1u);
  EXPECT_EQ(Lines({"-o", "jsonl", "changes", "tail", "--table", "Things"}).size(), 2u);
  // The last ten, as tail does it, or as many as are asked for; of one table too, behind many of another.
  ASSERT_TRUE(client
                  .CreateTable({.table_name = "Others",
                                .attribute_definitions = {{"pk", ScalarAttributeType::kString}},
                                .key_schema = {{"pk", KeyType::kHash}}})
                  .ok());
  for (int i = 0; i < 30; ++i)
    ASSERT_TRUE(client.PutItem({.table_name = "Others", .item = {{"pk", std::to_string(i)}}}).ok());
  const std::vector<Json> last = Lines({"-o", "jsonl", "changes", "tail"});
  ASSERT_EQ(last.size(), 10u);
  EXPECT_EQ(last.back()["key"]["pk"], "29");
  EXPECT_EQ(last.back()["table_name"], "Others");
  EXPECT_EQ(Lines({"-o", "jsonl", "changes", "tail", "-n", "3"}).size(), 3u);
  EXPECT_EQ(Lines({"-o", "jsonl", "changes", "tail", "-n", "0"}).size(), 0u);
  const std::vector<Json> of_one = Lines({"-o", "jsonl", "changes", "tail", "--table", "Things", "-n", "1"});
  ASSERT_EQ(of_one.size(), 1u);
  EXPECT_EQ(of_one[0]["kind"], "INSERT");
  EXPECT_EQ(of_one[0]["table_name"], "Things");
  const CommandResult table = Itemctl({"-o", "table", "changes", "tail"});
  EXPECT_THAT(table.out, HasSubstr("Others"));
  const CommandResult csv = Itemctl({"-o", "csv", "changes", "tail", "-n", "2"});
  EXPECT_THAT(csv.out, HasSubstr("change_sequence,commit_time,table_storage_id,table_name,kind,"));
  EXPECT_EQ(Itemctl({"-o", "csv", "changes", "tail", "--follow"}).exit_code, 2);
  EXPECT_THAT(table.out, HasSubstr("sequence"));
  EXPECT_THAT(table.out, HasSubstr("INSERT"));
  EXPECT_NE(Itemctl({"changes", "tail", "--table", "Nothing"}).exit_code, 0);
  EXPECT_NE(Itemctl({"changes", "tail", "--from", "0"}).exit_code, 0);
}

}  // namespace
}  // namespace itemdb::e2e
