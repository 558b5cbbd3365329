#include "tools/itemctl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Every error of the command line or the JSON: exit code 2, one line on stderr, nothing on stdout.
TEST(Itemctl, MalformedInputIsExitCode2) {
  struct Row {
    std::vector<std::string> arguments;
    std::string message;
  };
  const Row rows[] = {
      {{}, "a command is missing; allowed are table, index, ttl, item,"},
      {{"nonsense"}, "unknown command \"nonsense\"; itemctl help lists the commands\n"},
      {{"tabel"}, "unknown command \"tabel\"; did you mean \"table\"?\n"},
      {{"get"}, "unknown command \"get\"; did you mean \"item get\"?\n"},
      {{"create", "table", "x"}, "the verb create comes last; write: itemctl table create\n"},
      {{"list", "tables"}, "the verb list comes last; write: itemctl table list\n"},
      {{"get", "item", "T"}, "write: itemctl item get\n"},
      {{"table"}, "a command is missing; allowed after \"table\" are create, list, describe, delete"},
      {{"table", "describe"}, "TABLE is required"},
      {{"table", "describe", "a", "b"}, "b"},
      {{"table", "list", "--wrong"}, "--wrong"},
      {{"-o", "xml", "status"}, "xml"},
      {{"--timeout", "table", "list"}, "--timeout: table is not a number of seconds from 0.001 to 86400"},
      {{"--timeout", "0", "status"}, "--timeout"},
      {{"--timeout", "nan", "status"}, "--timeout"},
      {{"--endpoint", "no-port", "status"}, "no-port"},
      {{"table", "create", "-f", "/nonexistent/file"},
       "cannot read /nonexistent/file: No such file or directory"},
      {{"table", "create", "-f", "/"}, "cannot read /: Is a directory"},
      {{"item", "get", "T", "{\"id\": 1"}, "the key: malformed JSON at line 1, column "},
      {{"item", "get", "T", "[]"}, "the key must be a JSON object, not an array"},
      {{"item", "put", "T"}, "give the item either as an argument (- for standard input) or with --file"},
      {{"item", "put", "T", "{}", "-f", "x"}, "give the item either"},
      {{"item", "put", "T", "{\"id\": \"a\"}", "--typed"}, "the item: id: DynamoDB JSON needs an object"},
      {{"item", "put", "T", "{}", "--typed", "--plain"}, "give --typed or --plain, not both"},
      {{"item", "put", "T", "{}", "--return-values", "ALL_NEW"},
       "--return-values: ALL_NEW is unknown; allowed are ALL_OLD, NONE"},
      {{"item", "update", "T", "{}", "--values", "{"}, "--expression-attribute-values: malformed JSON"},
      {{"item", "update", "T", "{}", "--names", "{\"#a\": 5}"}, "--expression-attribute-names: #a must be"},
      {{"query", "T"}, "--key-condition-expression is required"},
      {{"search", "T", "I", "--near", "[1]", "--top", "0"}, "--top-k: 0 is not a whole number from 1 to 100"},
      {{"scan", "T", "--limit", "x"}, "--limit: x is not a whole number from 1 to 2147483647"},
      {{"scan", "T", "--limit", "4294967297"}, "--limit"},
      {{"scan", "T", "--limit", "1", "--page-size", "2"}, "give --limit or --page-size, not both"},
      {{"scan", "T", "--page", "--page-size", "2"}, "give --page or --page-size, not both"},
      {{"scan", "T", "--exclusive-start-key", "7"},
       "--exclusive-start-key must be a JSON object, not a number"},
      {{"changes", "read", "--after", "-1"}, "--after"},
      {{"table", "nonsense"},
       "unknown command \"nonsense\"; allowed after \"table\" are create, list, describe, delete"},
      {{"order-entry", "nonsense"}, "unknown command \"nonsense\""},
      {{"order-entry", "employee-by-id", "a", "b"}, "b"},
      {{"order-entry", "move-stock", "p", "a", "b", "many"}, "many is not a whole number from 1 to"},
      {{"order-entry", "restock", "p", "a", "99999999999999999999"},
       "99999999999999999999 is not a whole number"},
      {{"order-entry", "restock", "p", "a", "0"}, "0 is not a whole number from 1 to"},
      {{"order-entry", "place-order", "o", "c", "--date", "d", "--rep", "r", "--line", "p", "w", "1"},
       "--line"},
      {{"order-entry", "place-order", "o", "c", "--date", "d", "--rep", "r", "--line", "p", "w", "1.5", "2"},
       "--line p: the quantity must be a whole number, not \"1.5\""},
      {{"order-entry", "place-order", "o", "c", "--date", "d", "--rep", "r", "--line", "p", "w", "1",
        "cheap"},
       "--line p: the price must be a number, not \"cheap\""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(::testing::PrintToString(row.arguments));
    // No daemon listens at this endpoint: if a request was sent, the exit code would be 5.
    std::vector<std::string> arguments = {"--endpoint", "127.0.0.1:1"};
    if (!row.arguments.empty() && row.arguments[0] == "--endpoint") arguments.clear();
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const Outcome outcome = RunTool(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, AllOf(StartsWith("itemctl: "), HasSubstr(row.message)));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST(Itemctl, ErrorsAreBrokenAtSpacesOnATerminal) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  RunItemctl({"--timeout", "table", "list"},
             {.in = in, .out = out, .err = err, .err_is_terminal = true, .terminal_size = [] {
                return TerminalSize{.columns = 30, .rows = 24};
              }});
  EXPECT_EQ(err.str(),
            "itemctl: --timeout: table is\nnot a number of seconds from\n0.001 to 86400 (see itemctl\n"
            "--help)\n");
}

// An error message must not contain control sequences for the terminal, and must not be too long.
TEST(Itemctl, ErrorMessagesAreBoundedAndPrintable) {
  const Outcome outcome =
      RunTool({"item", "put", "T", "--typed", R"({"a\u001b[31m\n)" + std::string(10'000, 'x') + R"(": 1})"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, StartsWith("itemctl: the item: a [31m xxx"));
  EXPECT_LT(outcome.err.size(), 2'100u);
  EXPECT_THAT(RunTool({"item", "put", "T", "--typed", R"({"a\u009b[31m": 1})"}).err,
              StartsWith("itemctl: the item: a [31m"));
  EXPECT_THAT(RunTool({"item", "put", "T", "\"" + std::string(10'000, 'x')}).err,
              ::testing::EndsWith("invalid string: missing closing quote\n"));
}

// Accepts no data, the default of a stream buffer.
struct FullDevice : std::streambuf {};

// As with a pipe to `head` that has ended.
TEST_F(ItemctlTest, AStreamThatDoesNotTakeTheDataIsAnError) {
  daemon_.scan = [](const auto&, v1::ScanReply* reply) {
    *reply->add_items() = ItemWithId("a");
    *reply->mutable_last_evaluated_key() = ItemWithId("a");  // The scan never ends.
    return grpc::Status::OK;
  };
  std::istringstream in;
  FullDevice device;
  std::ostream closed(&device);
  std::ostringstream err;
  EXPECT_EQ(
      RunItemctl({"--endpoint", daemon_.endpoint(), "scan", "T"}, {.in = in, .out = closed, .err = err}),
      ExitCode::kUsage);
  EXPECT_EQ(err.str(), "itemctl: cannot write standard output\n");
}

TEST(Itemctl, HelpGoesToStdoutWithTheExitCodes) {
  const Outcome outcome = RunTool({"--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("order-entry"), HasSubstr("ITEMDB_ENDPOINT"), HasSubstr("Exit codes:")));
  EXPECT_THAT(RunTool({"item", "put", "--help"}).out,
              AllOf(HasSubstr("--condition-expression"), HasSubstr("NONE|ALL_OLD")));
  EXPECT_THAT(RunTool({"--version"}).out, ::testing::MatchesRegex("[0-9.]+\n"));
  for (const absl::string_view line : absl::StrSplit(outcome.out, '\n')) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Itemctl, HasACommandForEveryPattern) {
  const std::string help = RunTool({"order-entry", "--help"}).out;
  for (const char* name : {"load",
                           "all",
                           "employee-by-id",
                           "employees-by-name",
                           "employee-phones",
                           "customer-phones",
                           "customer-orders",
                           "open-orders",
                           "recent-hires",
                           "warehouse-employees",
                           "product-orders",
                           "product-inventory",
                           "rep-customers",
                           "rep-orders",
                           "employees-by-title",
                           "inventory",
                           "total-inventory",
                           "place-order",
                           "close-order",
                           "move-stock",
                           "restock"}) {
    EXPECT_THAT(help, HasSubstr(std::string("\n  ") + name + " ")) << name;
  }
}

TEST(Itemctl, AnUnreachableDaemonIsExitCode5) {
  const Outcome outcome = RunTool({"--endpoint", "127.0.0.1:1", "--timeout", "5", "status"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(StartsWith("itemctl: "), HasSubstr("127.0.0.1:1")));
}

TEST_F(ItemctlTest, TakesTheEndpointFromTheEnvironment) {
  daemon_.get_status = [](const auto&, v1::GetStatusReply* reply) {
    reply->set_version("9.9");
    return grpc::Status::OK;
  };
  ASSERT_EQ(setenv("ITEMCTL_ENDPOINT", daemon_.endpoint().c_str(), 1), 0);
  const Outcome outcome = RunTool({"status"});
  unsetenv("ITEMCTL_ENDPOINT");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\"version\": \"9.9\""));
}

}  // namespace
}  // namespace itemdb::tools
