// What itemctl prints on a terminal of 80 columns, and on a narrow one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "tests/support/files.h"
#include "tests/tools/real_daemon.h"
#include "tests/tools/terminal.h"
#include "tools/base/text_width.h"

namespace itemdb::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kItemctlPrompt[] = "itemctl> ";

class TerminalWidth : public ::testing::Test {
 protected:
  // All that `arguments` show on a terminal of `columns` columns, with "\n" at line ends.
  std::string Shown(std::vector<std::string> arguments, unsigned short columns,
                    const std::vector<std::string>& variables = {}) {
    arguments.insert(arguments.begin(), {"--endpoint", daemon_.endpoint()});
    Terminal terminal(arguments, daemon_.directory(), columns, variables);
    EXPECT_EQ(terminal.Wait(), 0) << terminal.shown();
    std::string shown = std::regex_replace(terminal.shown(), std::regex("\r"), "");
    return shown;
  }

  static size_t WidestLine(const std::string& shown) {
    size_t widest = 0;
    for (const std::string& line : std::vector<std::string>(absl::StrSplit(shown, '\n')))
      widest = std::max(widest, TextWidth(line));
    return widest;
  }

  RealDaemon daemon_;
};

TEST_F(TerminalWidth, TablesFit) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"scan", "Order"},
                                             {"scan", "Employee"},
                                             {"table", "describe", "Order"},
                                             {"table", "list"},
                                             {"patterns"},
                                             {"status"},
                                             {"explain", "Order", "--limit", "5"},
                                             {"changes", "tail", "-n", "3"},
                                             {"index", "status", "Order"},
                                             {"order-entry", "customer-orders"},
                                             {"order-entry", "rep-orders"},
                                             {"order-entry", "recent-hires"},
                                             {"order-entry", "open-orders"}}) {
    const std::string shown = Shown(arguments, 80);
    EXPECT_LE(WidestLine(shown), 80u) << arguments.front() << "\n" << shown;
  }
}

TEST_F(TerminalWidth, ATableThatCannotFitIsExpanded) {
  EXPECT_THAT(Shown({"scan", "Order"}, 80), AllOf(HasSubstr("-[ 1 ]-\n"), HasSubstr("10 items\n")));
  EXPECT_THAT(Shown({"scan", "Order"}, 200), AllOf(Not(HasSubstr("-[ 1 ]-")), HasSubstr("10 items\n")));
  EXPECT_THAT(Shown({"scan", "Customer"}, 80), Not(HasSubstr("-[ 1 ]-")));
}

// An ARN is copied from the screen.
TEST_F(TerminalWidth, TheArnOfABackupIsInOnePiece) {
  Shown({"table-backup", "create", "Order", "nightly"}, 80);
  const std::string shown = Shown({"table-backup", "list"}, 80);
  EXPECT_TRUE(std::regex_search(shown, std::regex("ARN +arn:aws:dynamodb:[^\n ]*/backup/[^\n ]+\n")))
      << shown;
}

TEST_F(TerminalWidth, AnEmptyAnswerHasAWord) {
  EXPECT_EQ(Shown({"scan", "music", "--filter", "artist = :a", "--values", R"({":a": "?"})"}, 80),
            "no items\n");
}

// The command of the advice is on a line of its own and runs when it is pasted.
TEST_F(TerminalWidth, AdviceRunsWhenPasted) {
  const std::string shown =
      Shown({"explain", "Order", "--filter", "customer_id = :c", "--values", R"({":c": "cust_001"})"}, 80);
  std::smatch match;
  ASSERT_TRUE(std::regex_search(shown, match, std::regex("\n(itemctl query Order .*)\n"))) << shown;
  const Outcome pasted = daemon_.Call({"-o", "table", "-c", match[1].str()});
  EXPECT_EQ(pasted.exit_code, 0) << pasted.err;
  EXPECT_THAT(pasted.out, HasSubstr("2 items\n"));
}

TEST_F(TerminalWidth, LongOutputIsPaged) {
  const std::string pager = "ITEMDB_PAGER=sed s/^/paged:/";
  EXPECT_THAT(Shown({"help"}, 80, {pager}), HasSubstr("paged:"));
  EXPECT_THAT(Shown({"table", "list"}, 80, {pager}), Not(HasSubstr("paged:"))) << "it fits on the screen";
  EXPECT_THAT(Shown({"scan", "Order", "-o", "jsonl"}, 80, {pager}), Not(HasSubstr("paged:")));
}

// A user who leaves the pager early has seen enough: that is no error.
TEST_F(TerminalWidth, APagerMayEndEarly) {
  const std::string shown = Shown({"scan", "Order"}, 80, {"ITEMDB_PAGER=head -n 1"});
  EXPECT_THAT(shown, AllOf(HasSubstr("-[ 1 ]-"), Not(HasSubstr("cannot write")), Not(HasSubstr("-[ 2 ]-"))));
}

// Nothing is lost with a pager that is misspelled.
TEST_F(TerminalWidth, APagerThatCannotRunIsTold) {
  const std::string shown = Shown({"help"}, 80, {"ITEMDB_PAGER=nosuchpager"});
  EXPECT_THAT(shown, AllOf(HasSubstr("the pager nosuchpager cannot be run; see ITEMDB_PAGER"),
                           HasSubstr("Administers an itemdb daemon"), HasSubstr("Exit codes:")));
}

TEST_F(TerminalWidth, StatementsOfPartiqlMayHaveSeveralLines) {
  Terminal terminal({"--endpoint", daemon_.endpoint()}, daemon_.directory(), 80);
  ASSERT_TRUE(terminal.Await(kItemctlPrompt));
  terminal.Type("SELECT order_id FROM Order\r");
  ASSERT_TRUE(terminal.Await("...> "));
  terminal.Type("WHERE PK = 'ord_002';\r");
  ASSERT_TRUE(terminal.Await("ord_002"));
  ASSERT_TRUE(terminal.Await("2 items"));
  ASSERT_TRUE(terminal.Await(kItemctlPrompt));
  terminal.Type("update music set plays = 3 where artist = 'Bach' and song = 'Air';\r");
  ASSERT_TRUE(terminal.Await("UPDATE done"));
  ASSERT_TRUE(terminal.Await(kItemctlPrompt));
  terminal.Type("SELECT\r");
  ASSERT_TRUE(terminal.Await("...> "));
  // Ctrl-P: the line of the history shows that the editor is active; before that, Ctrl-C would send SIGINT.
  terminal.Type("\x10");
  ASSERT_TRUE(terminal.Await("update music"));
  terminal.Type("\x03");
  ASSERT_TRUE(terminal.Await(kItemctlPrompt));
  terminal.Type("SELECT * FROM mus\t;\r");
  ASSERT_TRUE(terminal.Await("Sinnerman"));
  ASSERT_TRUE(terminal.Await(kItemctlPrompt));
  terminal.Type("\\q\r");
  EXPECT_EQ(terminal.Wait(), 0);
}

TEST_F(TerminalWidth, NamesOfFilesAreCompleted) {
  Terminal terminal({"--endpoint", daemon_.endpoint()}, daemon_.directory(), 80);
  ASSERT_TRUE(terminal.Await(kItemctlPrompt));
  terminal.Type("table create -f " + daemon_.directory() + "/boo\t");
  ASSERT_TRUE(terminal.Await("ks.json "));
  terminal.Type("\r");
  ASSERT_TRUE(terminal.Await("ACTIVE"));
  ASSERT_TRUE(terminal.Await(kItemctlPrompt));
  terminal.Type("\\q\r");
  EXPECT_EQ(terminal.Wait(), 0);
}

TEST_F(TerminalWidth, TopDrawsAScreenAndLeavesIt) {
  Terminal terminal({"--endpoint", daemon_.endpoint(), "top", "--interval", "0.1"}, daemon_.directory(), 80);
  ASSERT_TRUE(terminal.Await("calls/s"));
  ASSERT_TRUE(terminal.Await("q or Ctrl-C leaves"));
  ASSERT_TRUE(terminal.Await("calls/s")) << "drawn again";
  terminal.Type("q");
  EXPECT_EQ(terminal.Wait(), 0);
  EXPECT_TRUE(terminal.shown().ends_with("\x1b[?1049l")) << "the screen before is shown again";
}

}  // namespace
}  // namespace itemdb::tools
