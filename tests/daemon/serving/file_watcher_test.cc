// Files whose changes take effect while the daemon runs; a thread of its own polls them.
#include "daemon/access/file_watcher.h"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/await.h"

namespace itemdb::testing {
namespace {

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// A file: its content, the content that is in effect, and the number of polls.
struct File {
  std::atomic<int> content = 0;
  std::atomic<int> in_effect = 0;
  std::atomic<int> polls = 0;

  std::function<absl::StatusOr<bool>()> Reload() {
    auto reload = daemon::MakeReload(
        0, [this]() -> absl::StatusOr<int> { return content.load(); },
        [this](int found) -> absl::Status {
          if (found < 0) return absl::InvalidArgumentError("it is negative");
          in_effect = found;
          return absl::OkStatus();
        });
    return [this, reload]() mutable {
      auto changed = reload();
      ++polls;
      return changed;
    };
  }
  bool AwaitPolls(int more) {
    const int before = polls;
    return Await([&] { return polls >= before + more; });
  }
};

class FileWatcherTest : public ::testing::Test {
 protected:
  void Start() {
    watcher_ = std::make_unique<daemon::FileWatcher>(
        std::vector<daemon::WatchedFiles>{{"certificates", "a.pem", certificates_.Reload()},
                                          {"access keys", "k.toml", keys_.Reload()}},
        absl::Milliseconds(1), std::make_shared<spdlog::logger>("test", sink_));
  }

  std::ostringstream log_;
  const std::shared_ptr<spdlog::sinks::ostream_sink_mt> sink_ =
      std::make_shared<spdlog::sinks::ostream_sink_mt>(log_);
  File certificates_;
  File keys_;
  std::unique_ptr<daemon::FileWatcher> watcher_;
};

TEST_F(FileWatcherTest, PutsIntoEffectWhatHasChanged) {
  Start();
  certificates_.content = 1;
  keys_.content = 2;
  ASSERT_TRUE(Await([&] { return certificates_.in_effect == 1 && keys_.in_effect == 2; }));
  ASSERT_TRUE(keys_.AwaitPolls(2));
  watcher_.reset();
  EXPECT_EQ(Count(log_.str(), "certificates reloaded path=a.pem"), 1u);
  EXPECT_EQ(Count(log_.str(), "access keys reloaded path=k.toml"), 1u);
}

TEST_F(FileWatcherTest, KeepsWhatIsInEffectAndComplainsOnce) {
  Start();
  keys_.content = 3;
  ASSERT_TRUE(Await([&] { return keys_.in_effect == 3; }));
  keys_.content = -1;
  ASSERT_TRUE(keys_.AwaitPolls(5));
  EXPECT_EQ(keys_.in_effect, 3);
  keys_.content = 4;
  ASSERT_TRUE(Await([&] { return keys_.in_effect == 4; }));
  keys_.content = -1;
  ASSERT_TRUE(keys_.AwaitPolls(3));
  watcher_.reset();
  EXPECT_EQ(
      Count(log_.str(), "access keys not reloaded, the old ones stay in effect reason=\"it is negative\""),
      2u)
      << "once for each time that it became so";
}

TEST_F(FileWatcherTest, EndsAtOnceHoweverSeldomItPolls) {
  daemon::FileWatcher seldom({{"certificates", "", certificates_.Reload()}}, absl::Hours(1),
                             std::make_shared<spdlog::logger>("test", sink_));
}

}  // namespace
}  // namespace itemdb::testing
