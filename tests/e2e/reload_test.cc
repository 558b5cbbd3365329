// SIGHUP: itemd reads access keys again at once and goes on, also when the signal comes from a closed
// terminal.
#include <pty.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/e2e_fixture.h"
#include "tests/support/await.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;

constexpr char kReloadSecret[] = "a secret of sufficient length";

class ReloadTest : public E2eTest {
 protected:
  void SetUp() override {}

  // Replaces the key file, as `mv` does, by one with the key `id`.
  void WriteKey(const std::string& id) {
    const std::string made = key_file_ + ".new";
    testing::WriteFile(made,
                       "[[key]]\nid = \"" + id + "\"\nsecret = \"" + kReloadSecret + "\"\nrole = \"read\"\n");
    ASSERT_EQ(chmod(made.c_str(), 0600), 0);
    ASSERT_EQ(rename(made.c_str(), key_file_.c_str()), 0);
  }

  bool Accepts(const std::string& id) const {
    absl::StatusOr<Client> client = Client::Open(
        {.endpoint = daemon_.endpoint(), .access_key_id = id, .secret_access_key = kReloadSecret});
    return client.ok() && client->GetStatus().ok();
  }

  const std::string key_file_ = directory_.path() + "/keys.toml";
};

// The reload interval is longer than the test, so only the signal can make the new key valid.
TEST_F(ReloadTest, AHangUpMakesNewKeysValidAtOnce) {
  WriteKey("FIRST");
  ASSERT_TRUE(daemon_.Start({"--access-keys", key_file_, "--tls-reload-interval", "24h"}).ok());
  ASSERT_TRUE(Accepts("FIRST"));
  WriteKey("SECOND");
  EXPECT_FALSE(Accepts("SECOND"));
  daemon_.Signal(SIGHUP);
  EXPECT_TRUE(testing::Await([&] { return Accepts("SECOND"); }));
  EXPECT_FALSE(Accepts("FIRST"));
  EXPECT_THAT(daemon_.log(), HasSubstr("signal=Hangup"));
  EXPECT_THAT(daemon_.log(), HasSubstr("access keys reloaded path=" + key_file_));

  // A file that stays invalid is logged again each time that someone asks.
  testing::WriteFile(key_file_, "hello");
  for (int times = 1; times <= 2; ++times) {
    daemon_.Signal(SIGHUP);
    EXPECT_TRUE(testing::Await([&] {
      int logged = 0;
      const std::string log = daemon_.log();
      for (size_t at = 0; (at = log.find("access keys not reloaded", at)) != std::string::npos; ++at)
        ++logged;
      return logged == times;
    })) << times;
  }
  EXPECT_TRUE(Accepts("SECOND"));
  EXPECT_EQ(daemon_.Terminate(), 0);
}

TEST_F(ReloadTest, AClosedTerminalDoesNotEndTheDaemon) {
  std::vector<std::string> words = {testing::ProgramPath("itemd"),
                                    "--data-dir",
                                    daemon_.data_directory(),
                                    "--listen",
                                    "127.0.0.1:0",
                                    "--address-file",
                                    daemon_.address_file()};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid == 0) {
    execv(argv[0], argv.data());
    _exit(127);
  }
  ASSERT_TRUE(testing::Await([&] { return !testing::ReadFile(daemon_.address_file()).empty(); }));
  // The kernel sends SIGHUP to the process whose terminal this is; its log can no longer be written.
  close(terminal);
  const std::string endpoint = Json::parse(testing::ReadFile(daemon_.address_file()))["grpc"][0];
  for (int call = 0; call < 20; ++call) {
    const CommandResult status =
        RunProgram(testing::ProgramPath("itemctl"), {"--endpoint", endpoint, "status"});
    ASSERT_EQ(status.exit_code, 0) << status.err;
    usleep(10'000);
  }
  EXPECT_EQ(kill(pid, SIGTERM), 0);
  int ended = -1;
  ASSERT_EQ(waitpid(pid, &ended, 0), pid);
  EXPECT_TRUE(WIFEXITED(ended));
  EXPECT_EQ(WEXITSTATUS(ended), 0);
}

}  // namespace
}  // namespace itemdb::e2e
