#include "tools/cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/processes/child_process.h"
#include "tests/support/paths.h"
#include "tests/tools/real_daemon.h"
#include "tools/shell/all_commands.h"

namespace itemdb::tools {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Tables Apples and Bananas; each has an index named after the table.
NameSources Names() {
  return {.tables =
              [] {
                return std::vector<std::string>{"Apples", "Bananas"};
              },
          .indexes = [](const std::string& table) { return std::vector<std::string>{table + "ByName"}; },
          .attributes =
              [](const std::string&) {
                return std::vector<std::string>{"name", "number"};
              }};
}

std::vector<std::string> Candidates(std::vector<std::string> words) {
  const CommandTable table(RegisterAllCommands);
  return Complete(table, words, Names()).candidates;
}

TEST(Complete, KnowsCommandsAndOptions) {
  EXPECT_THAT(Candidates({"ta"}), ElementsAre("table", "table-backup"));
  EXPECT_THAT(Candidates({"table", ""}),
              ElementsAre("create", "list", "describe", "delete", "update", "tag", "untag", "limits"));
  EXPECT_THAT(Candidates({"table", "de"}), ElementsAre("describe", "delete"));
  EXPECT_THAT(Candidates({"scan", "T", "--li"}), ElementsAre("--limit"));
  EXPECT_THAT(Candidates({"scan", "T", "--end"}), ElementsAre("--endpoint"));
  EXPECT_THAT(Candidates({"-o", "js"}), ElementsAre("json", "jsonl"));
  EXPECT_THAT(Candidates({"--output=t"}), ElementsAre("table"));
  EXPECT_THAT(Candidates({"item", "put", "T", "--return-values", "A"}), ElementsAre("ALL_OLD"));
  EXPECT_THAT(Candidates({"completion", ""}), ElementsAre("bash", "zsh"));
  EXPECT_THAT(Candidates({"nonsense", "x"}), IsEmpty());
  EXPECT_THAT(Candidates({""}), Not(Contains("complete"))) << "a command for programs";
  EXPECT_THAT(Candidates({}), IsEmpty());
}

TEST(Complete, KnowsTablesIndexesAndAttributes) {
  EXPECT_THAT(Candidates({"scan", "A"}), ElementsAre("Apples"));
  EXPECT_THAT(Candidates({"--endpoint", "h:1", "table", "delete", ""}), ElementsAre("Apples", "Bananas"));
  EXPECT_THAT(Candidates({"check", "--table", "B"}), ElementsAre("Bananas"));
  EXPECT_THAT(Candidates({"scan", "Apples", "--index", ""}), ElementsAre("ApplesByName"));
  EXPECT_THAT(Candidates({"query", "--index=A", "Apples", "--index", "App"}), ElementsAre("ApplesByName"));
  EXPECT_THAT(Candidates({"scan", "Apples", "--projection", "id, nu"}), ElementsAre("number"));
  EXPECT_THAT(Candidates({"item", "get", "Apples", ""}), IsEmpty()) << "a key is nobody's to guess";
}

TEST(Complete, KnowsWhereFilesStand) {
  const CommandTable table(RegisterAllCommands);
  EXPECT_TRUE(Complete(table, {"table", "create", "-f", ""}, Names()).files);
  EXPECT_TRUE(Complete(table, {"--tls-ca=x"}, Names()).files);
  EXPECT_FALSE(Complete(table, {"scan", ""}, Names()).files);
}

// Without a daemon there are no names, no error and no delay.
TEST(Complete, IsSilentWithoutADaemon) {
  const Outcome outcome = RunTool({"--endpoint", "127.0.0.1:1", "complete", "scan", ""});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "words\n");
  EXPECT_EQ(outcome.err, "");
}

class ShellCompletion : public ::testing::Test {
 protected:
  e2e::CommandResult Run(const std::string& shell, const std::string& script) {
    const std::string path = std::filesystem::path(testing::ProgramPath("itemctl")).parent_path().string() +
                             ":" + std::getenv("PATH");
    return e2e::RunProgram("/usr/bin/env",
                           {"PATH=" + path, "ITEMCTL_ENDPOINT=" + daemon_.endpoint(), shell, "-c", script});
  }

  RealDaemon daemon_;
};

// Does what bash does when Tab is pressed: sets these variables, calls the function, reads COMPREPLY.
TEST_F(ShellCompletion, BashAsksTheDaemon) {
  const std::string begin = "source <(itemctl completion bash) || exit 9; ";
  const auto press = [&](const std::string& line, const std::string& word) {
    return Run("bash", begin + "COMP_LINE=\"" + line + "\"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=(itemctl " +
                           word + "); COMP_CWORD=1; _itemctl; echo \"${COMPREPLY[*]}\"");
  };
  EXPECT_EQ(press("itemctl scan Or", "Or").out, "Order\n");
  EXPECT_EQ(press("itemctl scan Order --index OrderBy", "OrderBy").out,
            "OrderByAccountRep OrderByCustomerDate\n");
  EXPECT_EQ(press("itemctl --output=json", "json").out, "json jsonl\n");
  EXPECT_EQ(press("itemctl table create -f /et", "/et").out, "/etc\n");
  EXPECT_EQ(press("itemctl item get Order ", "''").err, "");
}

TEST_F(ShellCompletion, ZshAsksTheDaemon) {
  if (!std::filesystem::exists("/bin/zsh")) GTEST_SKIP() << "no zsh here";
  // Calls the function as zsh's completion does; the functions that it calls print their arguments.
  const std::string script =
      "compdef() { : }; compset() { : }; compadd() { shift; print -r -- $* }; source <(itemctl completion "
      "zsh); "
      "words=(itemctl scan Order --index OrderBy); CURRENT=5; _itemctl";
  EXPECT_EQ(Run("zsh", script).out, "OrderByAccountRep OrderByCustomerDate\n");
  const std::string described =
      "compdef() { : }; compset() { : }; _describe() { print -rl -- ${(P)2} }; source <(itemctl completion "
      "zsh); "
      "words=(itemctl table cr); CURRENT=3; _itemctl";
  EXPECT_EQ(Run("zsh", described).out,
            "create:Create a table from a CreateTable document as written for AWS\n");
}

}  // namespace
}  // namespace itemdb::tools
