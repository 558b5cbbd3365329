// Every command has two examples in its help, and every example succeeds in a real shell with a real daemon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "tests/processes/child_process.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/tools/real_daemon.h"
#include "tools/cli/command_table.h"
#include "tools/cli/help.h"
#include "tools/shell/all_commands.h"

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;

// Calls `visit` for every command that can be run.
void ForEachCommand(const CommandTable& table, const CLI::App& below,
                    const std::function<void(const CLI::App&)>& visit) {
  for (const CLI::App* command : CommandsOf(below)) {
    if (CommandsOf(*command).empty()) {
      visit(*command);
    } else {
      ForEachCommand(table, *command, visit);
    }
  }
}

TEST(Examples, EveryCommandHasTwoAndShowsThem) {
  const CommandTable table(RegisterAllCommands);
  int commands = 0;
  ForEachCommand(table, table.root(), [&](const CLI::App& command) {
    SCOPED_TRACE(PathOf(command));
    ++commands;
    const CommandSpec& spec = table.SpecOf(&command);
    EXPECT_EQ(spec.examples.size(), 2u);
    EXPECT_FALSE(spec.summary.empty());
    EXPECT_FALSE(spec.summary.ends_with(".")) << "help adds the full stop";
    const std::string help = HelpText(table, command);
    for (const Example& example : spec.examples) {
      EXPECT_THAT(help, HasSubstr(example.line));
      EXPECT_THAT(example.line, HasSubstr("itemctl "));
      EXPECT_FALSE(example.what.empty());
    }
  });
  EXPECT_GE(commands, 58);
}

// The description of every option that is not required has its default.
TEST(Examples, EveryOptionSaysItsDefault) {
  const CommandTable table(RegisterAllCommands);
  const auto check = [&](const CLI::App& command) {
    for (const CLI::Option* option : OptionsOf(command)) {
      SCOPED_TRACE(PathOf(command) + " " + SyntaxOf(*option));
      EXPECT_FALSE(option->get_description().empty());
      if (ValueNameOf(*option).empty()) continue;
      EXPECT_EQ(ValueNameOf(*option).find("TEXT"), std::string::npos) << "a name that says what it is";
      EXPECT_EQ(ValueNameOf(*option).find("INT"), std::string::npos) << "a name that says what it is";
      if (!option->get_required()) {
        EXPECT_THAT(option->get_description(), HasSubstr("Default: "));
      }
    }
    for (const CLI::Option* argument : ArgumentsOf(command))
      EXPECT_FALSE(argument->get_description().empty());
  };
  check(table.root());
  ForEachCommand(table, table.root(), check);
}

// Makes three files of the audit log, as after two rotations.
void RotateAuditLog(const std::string& path) {
  const std::vector<std::string> lines = absl::StrSplit(testing::ReadFile(path), '\n');
  ASSERT_GE(lines.size(), 4u) << "at least three records, each ends with a newline";
  testing::WriteFile(path + ".2", lines[0] + "\n");
  testing::WriteFile(path + ".1", lines[1] + "\n");
  testing::WriteFile(path, absl::StrJoin(absl::MakeSpan(lines).subspan(2), "\n"));
}

// A table with a vector index.
void MakeArticles(const RealDaemon& daemon) {
  const Outcome created = daemon.Call({"table", "create", "-f", "-"}, R"({"TableName": "articles",
    "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "topic", "AttributeType": "S"}],
    "VectorIndexes": [{"IndexName": "ByMeaning", "VectorAttribute": {"AttributeName": "meaning"}, "Dimensions": 3,
      "DistanceFunction": "COSINE", "Projection": {"ProjectionType": "ALL"},
      "SearchSchema": [{"AttributeName": "topic", "SearchSchemaElementType": "INLINE_FILTER"}]}]})");
  EXPECT_EQ(created.exit_code, 0) << created.err;
  const Outcome put =
      daemon.Call({"item", "put", "articles", R"({"id": "1", "topic": "music", "meaning": [0.9, 0.1, 0]})"});
  EXPECT_EQ(put.exit_code, 0) << put.err;
}

TEST(Examples, AllSucceedAgainstARealDaemon) {
  const std::filesystem::path directory =
      std::filesystem::path(testing::ProgramPath("itemctl")).parent_path();
  const std::string path = directory.string() + ":" + std::getenv("PATH");
  const CommandTable table(RegisterAllCommands);
  int examples = 0;
  ForEachCommand(table, table.root(), [&](const CLI::App& command) {
    // A new daemon for each command, so that examples do not see the writes of other commands.
    const RealDaemon daemon;
    // The other side of a move.
    testing::TemporaryDirectory empty_directory;
    e2e::DaemonProcess empty(empty_directory.path());
    std::string endpoint = daemon.endpoint();
    std::string other;
    if (PathOf(command) == "graduate" || PathOf(command) == "adopt") {
      ASSERT_TRUE(empty.Start().ok());
      other = empty.endpoint();
      if (PathOf(command) == "adopt") std::swap(endpoint, other);
    }
    if (PathOf(command) == "search") MakeArticles(daemon);
    if (PathOf(command) == "audit verify") RotateAuditLog(daemon.directory() + "/audit.jsonl");
    for (const Example& example : table.SpecOf(&command).examples) {
      SCOPED_TRACE(example.line);
      // Both examples create the same table.
      if (PathOf(command) == "table create" || PathOf(command).starts_with("import ")) {
        daemon.Call({"table", "delete", "--yes", "books"});
      }
      const e2e::CommandResult result =
          e2e::RunProgram("/usr/bin/env", {"-C", daemon.directory(), "PATH=" + path,
                                           "ITEMCTL_ENDPOINT=" + endpoint, "TARGET=" + other,
                                           "SOURCE=" + other, "bash", "-o", "pipefail", "-c", example.line});
      EXPECT_EQ(result.exit_code, 0) << result.err;
      ++examples;
    }
  });
  EXPECT_GE(examples, 116);
}

}  // namespace
}  // namespace itemdb::tools
