#include "tools/cli/man_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "tests/processes/child_process.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/itemctl_fixture.h"
#include "tools/cli/help.h"
#include "tools/shell/all_commands.h"

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ManPages, ThereIsOneForEachCommand) {
  const CommandTable table(RegisterAllCommands);
  const std::vector<ManPage> pages = ManPages(table);
  EXPECT_EQ(pages.size(), 1 + CommandsOf(table.root()).size());
  EXPECT_EQ(pages.front().name, "itemctl");
  for (const ManPage& page : pages) {
    EXPECT_THAT(page.text, StartsWith(".TH "));
    EXPECT_THAT(page.text, HasSubstr(".SH NAME\n"));
    EXPECT_THAT(page.text, HasSubstr(".SH DESCRIPTION\n"));
  }
  EXPECT_THAT(RunTool({"man", "itemctl-table"}).out, HasSubstr("itemctl table create \\-f FILE"));
  EXPECT_EQ(RunTool({"man", "nonsense"}).exit_code, 2);
  EXPECT_EQ(RunTool({"man", "--to-directory", "/nonexistent"}).exit_code, 2);
}

TEST(ManPages, GroffHasNothingToSayAboutThem) {
  if (!std::filesystem::exists("/usr/bin/groff")) GTEST_SKIP() << "no groff here";
  const testing::TemporaryDirectory directory;
  ASSERT_EQ(RunTool({"man", "--to-directory", directory.path()}).exit_code, 0);
  int pages = 0;
  for (const auto& page : std::filesystem::directory_iterator(directory.path())) {
    SCOPED_TRACE(page.path());
    const e2e::CommandResult result =
        e2e::RunProgram("/usr/bin/groff", {"-ww", "-man", "-Tutf8", "-K", "utf8", page.path().string()});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_FALSE(result.out.empty());
    ++pages;
  }
  EXPECT_GE(pages, 10);
}

TEST(Help, LinesFitATerminal) {
  const CommandTable table(RegisterAllCommands);
  for (const CLI::App* command : CommandsOf(table.root())) {
    std::istringstream help(HelpText(table, *command));
    for (std::string line; std::getline(help, line);) {
      if (line.find("itemctl ") != std::string::npos) continue;
      EXPECT_LE(line.size(), 80u) << line;
    }
  }
}

}  // namespace
}  // namespace itemdb::tools
