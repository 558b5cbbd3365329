// Features of itemctl that need a terminal: line editing, completion, history, questions, progress, Ctrl-C.
#include "tests/tools/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "absl/synchronization/notification.h"
#include "tests/tools/real_daemon.h"

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPrompt[] = "itemctl> ";
constexpr char kTab[] = "\t";
constexpr char kEnter[] = "\r";
constexpr char kCtrlC[] = "\x03";
constexpr char kUp[] = "\x1b[A";

class InteractiveShell : public ::testing::Test {
 protected:
  void Enter(Terminal& terminal, const std::string& line) { terminal.Type(line + kEnter); }

  RealDaemon daemon_;
};

TEST_F(InteractiveShell, CompletesCommandsTablesAndIndexes) {
  Terminal terminal({"--endpoint", daemon_.endpoint()}, daemon_.directory());
  ASSERT_TRUE(terminal.Await(kPrompt));
  terminal.Type(std::string("table desc") + kTab);
  ASSERT_TRUE(terminal.Await("ribe ")) << "what was missing is added";
  terminal.Type(std::string("Or") + kTab);
  ASSERT_TRUE(terminal.Await("der "));
  terminal.Type(kEnter);
  ASSERT_TRUE(terminal.Await("OpenOrdersByDate"));
  ASSERT_TRUE(terminal.Await(kPrompt));
  // Several candidates: the first Tab completes the common prefix, the second lists all of them.
  terminal.Type(std::string("scan Order --index O") + kTab + kTab);
  ASSERT_TRUE(terminal.Await("OpenOrdersByDate"));
  ASSERT_TRUE(terminal.Await("OrderByCustomerDate"));
  terminal.Type(kCtrlC);
  ASSERT_TRUE(terminal.Await(kPrompt));
  terminal.Type(std::string("\\d mus") + kTab + kEnter);
  ASSERT_TRUE(terminal.Await("artist S HASH"));
  ASSERT_TRUE(terminal.Await(kPrompt));
  Enter(terminal, "\\q");
  EXPECT_EQ(terminal.Wait(), 0);
}

TEST_F(InteractiveShell, CtrlCForgetsTheLineAndNotTheShell) {
  Terminal terminal({"--endpoint", daemon_.endpoint()}, daemon_.directory());
  ASSERT_TRUE(terminal.Await(kPrompt));
  // The candidates show that the line editor is active; before that, Ctrl-C would send SIGINT.
  terminal.Type(std::string("frobnicate ") + kTab);
  ASSERT_TRUE(terminal.Await("completion"));
  terminal.Type(kCtrlC);
  ASSERT_TRUE(terminal.Await(kPrompt));
  Enter(terminal, "table list");
  ASSERT_TRUE(terminal.Await("music"));
  ASSERT_TRUE(terminal.Await(kPrompt));
  EXPECT_THAT(terminal.shown(), Not(HasSubstr("unknown command")));
  Enter(terminal, "\\q");
  EXPECT_EQ(terminal.Wait(), 0);
}

TEST_F(InteractiveShell, CtrlCEndsTheCommandAndNotTheShell) {
  Terminal terminal({"--endpoint", daemon_.endpoint()}, daemon_.directory());
  ASSERT_TRUE(terminal.Await(kPrompt));
  Enter(terminal, "latency --seconds 86400");
  ASSERT_TRUE(terminal.Await("samples)")) << "the live line";
  terminal.Type(kCtrlC);
  ASSERT_TRUE(terminal.Await("GetStatus")) << "the figures so far";
  ASSERT_TRUE(terminal.Await(kPrompt));
  Enter(terminal, "table list");
  ASSERT_TRUE(terminal.Await(kPrompt));
  Enter(terminal, "\\watch 0.01");
  ASSERT_TRUE(terminal.Await("music"));
  ASSERT_TRUE(terminal.Await("music"));
  terminal.Type(kCtrlC);
  ASSERT_TRUE(terminal.Await(kPrompt));
  Enter(terminal, "nonsense");
  ASSERT_TRUE(terminal.Await("unknown command"));
  ASSERT_TRUE(terminal.Await(kPrompt));
  Enter(terminal, "\\q");
  EXPECT_EQ(terminal.Wait(), 2) << "the exit code of the last statement that failed";
}

// Ctrl-C cancels a call that would never be answered.
TEST(InteractiveShellCall, CtrlCEndsACallUnderWay) {
  const testing::TemporaryDirectory directory;
  absl::Notification asked;
  absl::Notification ended;
  FakeDaemon daemon;
  daemon.check_database = [&](const auto&, v1::CheckDatabaseReply*) {
    asked.Notify();
    ended.WaitForNotificationWithTimeout(absl::Minutes(1));
    return grpc::Status::OK;
  };
  Terminal terminal({"--endpoint", daemon.endpoint()}, directory.path());
  ASSERT_TRUE(terminal.Await(kPrompt));
  terminal.Type(std::string("check") + kEnter);
  ASSERT_TRUE(asked.WaitForNotificationWithTimeout(absl::Minutes(1)));
  terminal.Type(kCtrlC);
  EXPECT_TRUE(terminal.Await("cancel"));
  EXPECT_TRUE(terminal.Await(kPrompt));
  ended.Notify();
  terminal.Type(std::string("\\q") + kEnter);
  EXPECT_EQ(terminal.Wait(), 1);
}

TEST_F(InteractiveShell, RemembersWhatWasTyped) {
  const std::string history = daemon_.directory() + "/.itemctl_history";
  {
    Terminal terminal({"--endpoint", daemon_.endpoint()}, daemon_.directory());
    ASSERT_TRUE(terminal.Await(kPrompt));
    Enter(terminal, "table describe music");
    ASSERT_TRUE(terminal.Await("artist S HASH"));
    ASSERT_TRUE(terminal.Await(kPrompt));
    Enter(terminal, "\\timing");
    ASSERT_TRUE(terminal.Await("timing is on"));
    ASSERT_TRUE(terminal.Await(kPrompt));
    Enter(terminal, "\\x");
    ASSERT_TRUE(terminal.Await("expanded output is on"));
    ASSERT_TRUE(terminal.Await(kPrompt));
    Enter(terminal, "\\d music");
    ASSERT_TRUE(terminal.Await("-[ 1 ]-"));
    ASSERT_TRUE(terminal.Await("time: "));
    ASSERT_TRUE(terminal.Await(kPrompt));
    Enter(terminal, "\\q");
    EXPECT_EQ(terminal.Wait(), 0);
  }
  struct stat status = {};
  ASSERT_EQ(stat(history.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u) << "items may be in there";
  Terminal again({"--endpoint", daemon_.endpoint()}, daemon_.directory());
  ASSERT_TRUE(again.Await(kPrompt));
  again.Type(std::string(kUp) + kUp + kUp + kUp + kUp + kEnter);
  ASSERT_TRUE(again.Await("artist S HASH"));
}

TEST_F(InteractiveShell, AsksBeforeItDeletes) {
  Terminal terminal({"--endpoint", daemon_.endpoint()}, daemon_.directory());
  ASSERT_TRUE(terminal.Await(kPrompt));
  Enter(terminal, "table delete music");
  ASSERT_TRUE(terminal.Await("delete the table music with 2 items (69 B) and 0 indexes. Go on? [y/N] "));
  Enter(terminal, "n");
  ASSERT_TRUE(terminal.Await("nothing was deleted"));
  ASSERT_TRUE(terminal.Await(kPrompt));
  Enter(terminal, R"(item delete music '{"artist": "Bach", "song": "Air"}')");
  ASSERT_TRUE(terminal.Await(R"("plays": 7)"));
  ASSERT_TRUE(terminal.Await("Go on? [y/N] "));
  Enter(terminal, "y");
  ASSERT_TRUE(terminal.Await(kPrompt));
  EXPECT_EQ(daemon_.Call({"item", "get", "music", R"({"artist": "Bach", "song": "Air"})"}).exit_code, 3);
  Enter(terminal, "table delete music");
  ASSERT_TRUE(terminal.Await("with 1 item"));
  Enter(terminal, "y");
  ASSERT_TRUE(terminal.Await(kPrompt));
  EXPECT_EQ(daemon_.Call({"table", "describe", "music"}).exit_code, 3);
}

TEST(TerminalProgress, IsShownForWorkThatTakesLong) {
  const testing::TemporaryDirectory directory;
  absl::Notification seen;
  FakeDaemon daemon;
  daemon.check_database = [&seen](const auto&, v1::CheckDatabaseReply* reply) {
    seen.WaitForNotificationWithTimeout(absl::Minutes(1));
    reply->set_items_checked(5);
    return grpc::Status::OK;
  };
  Terminal terminal({"--endpoint", daemon.endpoint(), "check"}, directory.path());
  EXPECT_TRUE(terminal.Await("checking the database  1 s"));
  EXPECT_TRUE(terminal.Await("checking the database  2 s"));
  seen.Notify();
  EXPECT_TRUE(terminal.Await("\r\x1b[K")) << "and taken away again";
  EXPECT_TRUE(terminal.Await("items checked"));
  EXPECT_EQ(terminal.Wait(), 0);
}

}  // namespace
}  // namespace itemdb::tools
