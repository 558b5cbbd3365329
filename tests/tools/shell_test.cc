// Statements from a pipe; terminal_test.cc has the tests that need a terminal.
#include "tools/shell/shell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;

class ShellTest : public ItemctlTest {
 protected:
  void SetUp() override {
    daemon_.list_tables = [this](const auto&, v1::ListTablesReply* reply) {
      ++lists_;
      reply->add_table_names("music");
      return grpc::Status::OK;
    };
  }

  int lists_ = 0;
};

TEST_F(ShellTest, RunsEveryStatementAndEndsWithTheLastFailure) {
  const Outcome outcome =
      Call({"shell"}, "table list\n# nothing\n\nscan\nitemctl table list ;\n\\nonsense\ntable list\n");
  EXPECT_EQ(lists_, 3);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("TABLE is required"));
  EXPECT_THAT(outcome.err, HasSubstr("unknown command \\nonsense; \\? lists them"));
  EXPECT_EQ(Call({"shell"}, "table list").exit_code, 0);
  EXPECT_EQ(Call({"shell"}, "").exit_code, 0);
}

TEST_F(ShellTest, LeavesWhenTold) {
  for (const char* leave : {"\\q", "quit", "exit"}) {
    lists_ = 0;
    EXPECT_EQ(Call({"shell"}, std::string("table list\n") + leave + "\ntable list\n").exit_code, 0);
    EXPECT_EQ(lists_, 1) << leave;
  }
}

TEST_F(ShellTest, AStatementMayGoOnInTheNextLine) {
  v1::PutItemRequest seen;
  daemon_.put_item = [&seen](const v1::PutItemRequest& request, v1::PutItemReply* reply) {
    seen = request;
    reply->mutable_result();
    return grpc::Status::OK;
  };
  EXPECT_EQ(Call({"shell"}, "item put T '{\"id\":\n\"a\"}'\n").exit_code, 0);
  EXPECT_EQ(seen.item().attributes_size(), 1);
  const Outcome open = Call({"shell"}, "item put T '{\n");
  EXPECT_EQ(open.exit_code, 2);
  EXPECT_EQ(open.err, "itemctl: the line ends inside quotes\n");
}

TEST_F(ShellTest, SettingsHoldForTheStatementsAfterThem) {
  const Outcome outcome = Call({"shell"}, "\\o table\n\\x\ntable list\n\\x\n\\o json\n\\d\n\\timing\n\\d\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "-[ 1 ]-\ntable  music\n1 table\n{\n  \"TableNames\": [\"music\"]\n}\n{\n  \"TableNames\": "
            "[\"music\"]\n}\n");
  EXPECT_THAT(outcome.err, HasSubstr("expanded output is on\nexpanded output is off\ntiming is on\ntime: "));
}

TEST_F(ShellTest, SettingsAreSwitchedByNameAndSemicolonsAreAccepted) {
  const Outcome outcome =
      Call({"shell"},
           "\\x on\n\\x on;\n\\x off ;\n\\x;\n\\timing on\n\\d;\n\\timing off\n\\o jsonl;\n"
           "table list;\nitemctl table list ;\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("is on\nexpanded output is on\nexpanded output is off\nexpanded output is "
                        "on\ntiming is on\ntime: "));
  EXPECT_THAT(outcome.err, HasSubstr("timing is off\n"));
  EXPECT_EQ(lists_, 3);
}

TEST_F(ShellTest, HelpFitsATerminal) {
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(Call({"shell"}, "\\?\n").out, '\n')))
    EXPECT_LE(line.size(), 80u) << line;
}

TEST_F(ShellTest, WatchRepeatsTheLastStatement) {
  EXPECT_EQ(Call({"shell"}, "table list\n\\watch 0.01 3\n").exit_code, 0);
  EXPECT_EQ(lists_, 4);
}

TEST_F(ShellTest, BadCommandsOfItsOwnAreOneSentence) {
  struct Row {
    std::string line;
    std::string says;
  };
  const Row rows[] = {{"\\watch 1", "there is no statement yet"},
                      {"\\watch", "\\watch takes a number of seconds from 0.01 to 86400"},
                      {"\\watch soon", "\\watch takes a number of seconds"},
                      {"\\watch 1 0", "\\watch takes a number of seconds"},
                      {"\\watch nan", "\\watch takes a number of seconds"},
                      {"\\o", "\\o takes one of table, json, jsonl, csv"},
                      {"\\o jsn", "\\o takes one of table, json, jsonl, csv; did you mean \"json\"?"},
                      {"\\x maybe", "\\x takes on, off or nothing"},
                      {"\\d a b", "\\d takes the name of one table"},
                      {"\\timng", "unknown command \\timng; \\? lists them; did you mean \"\\timing\"?"},
                      {"\\", "unknown command \\; \\? lists them"},
                      {"shell", "this is the shell already"},
                      {"item put T -", "the shell reads its statements from standard input"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.line);
    const Outcome outcome = Call({"shell"}, row.line + "\n");
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(row.says));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST_F(ShellTest, HelpsItself) {
  EXPECT_THAT(Call({"shell"}, "\\?\n").out, HasSubstr("\\watch SECONDS"));
  EXPECT_THAT(Call({"shell"}, "help\n").out, HasSubstr("Commands:"));
  EXPECT_THAT(Call({"shell"}, "help table list\n").out, HasSubstr("Usage: itemctl table list"));
}

// The shell reads the environment when it starts; after that its own options have precedence.
TEST_F(ShellTest, StaysWithItsEndpoint) {
  ASSERT_EQ(setenv("ITEMCTL_ENDPOINT", "127.0.0.1:1", 1), 0);
  const Outcome outcome = Call({"shell"}, "table list\n");
  unsetenv("ITEMCTL_ENDPOINT");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

}  // namespace
}  // namespace itemdb::tools
