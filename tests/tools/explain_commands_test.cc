// The commands that `itemctl explain` advises are run against a real itemd.
#include "tools/commands/explain_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "tests/processes/daemon_process.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Several indexes of one partition key, one without all attributes, one whose keys have several attributes.
constexpr char kIndexedTable[] = R"({
  "TableName": "Shelf",
  "AttributeDefinitions": [
    {"AttributeName": "PK", "AttributeType": "S"}, {"AttributeName": "SK", "AttributeType": "S"},
    {"AttributeName": "a", "AttributeType": "S"}, {"AttributeName": "n", "AttributeType": "N"},
    {"AttributeName": "b", "AttributeType": "B"}, {"AttributeName": "status", "AttributeType": "S"}],
  "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
  "GlobalSecondaryIndexes": [
    {"IndexName": "ByA", "Projection": {"ProjectionType": "ALL"},
     "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}]},
    {"IndexName": "ByAN", "Projection": {"ProjectionType": "ALL"},
     "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}]},
    {"IndexName": "ByAB", "Projection": {"ProjectionType": "ALL"},
     "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}, {"AttributeName": "b", "KeyType": "RANGE"}]},
    {"IndexName": "ByStatusKeys", "Projection": {"ProjectionType": "KEYS_ONLY"},
     "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}]},
    {"IndexName": "ByMany", "Projection": {"ProjectionType": "ALL"},
     "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}, {"AttributeName": "b", "KeyType": "HASH"},
                   {"AttributeName": "n", "KeyType": "RANGE"}, {"AttributeName": "a", "KeyType": "RANGE"}]}],
  "LocalSecondaryIndexes": [
    {"IndexName": "ByN", "Projection": {"ProjectionType": "KEYS_ONLY"},
     "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}]}],
  "BillingMode": "PAY_PER_REQUEST"
})";

class ExplainCommands : public ::testing::Test {
 protected:
  ExplainCommands() {
    EXPECT_TRUE(daemon_.Start({}).ok());
    EXPECT_EQ(Call({"table", "create", "-f", "-"}, kIndexedTable).exit_code, 0);
    std::string items;
    for (int i = 0; i < 60; ++i) {
      absl::StrAppend(&items, R"({"PK": {"S": "s)", i % 3, R"("}, "SK": {"S": "s)", i, R"("}, "a": {"S": "s)",
                      i % 4, R"("}, "n": {"N": ")", i % 5, R"("}, "b": {"B": ")",
                      i % 2 == 0 ? "eDA=" : "eDE=", R"("}, "status": {"S": "s)", i % 2,
                      R"("}, "price": {"N": ")", i % 7, R"("}, "m": {"M": {"PK": {"S": "s1"}}}})", "\n");
    }
    const Outcome put = Call({"batch-write", "Shelf", "-f", "-"}, items);
    EXPECT_EQ(put.exit_code, 0) << put.err;
  }

  Outcome Call(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), {"--endpoint", daemon_.endpoint()});
    return RunTool(std::move(arguments), input);
  }

  std::vector<std::string> Advice(const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"explain", "Shelf", "-o", "json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome explained = Call(arguments);
    EXPECT_EQ(explained.exit_code, 0) << explained.err;
    if (explained.exit_code != 0) return {};
    return nlohmann::json::parse(explained.out)["Advice"].get<std::vector<std::string>>();
  }

  // The lines that the command in `advice` prints, sorted.
  std::vector<std::string> Pasted(const std::string& advice) {
    const Outcome pasted = Call({"-c", advice.substr(advice.find(": itemctl ") + 2) + " -o jsonl"});
    EXPECT_EQ(pasted.exit_code, 0) << advice << "\n" << pasted.err;
    return Sorted(pasted.out);
  }

  static std::vector<std::string> Sorted(const std::string& text) {
    std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
    std::sort(lines.begin(), lines.end());
    return lines;
  }

 private:
  testing::TemporaryDirectory directory_;
  e2e::DaemonProcess daemon_{directory_.path()};
};

// Filters of conditions that AND connects, with aliases, parentheses and values of all kinds.
class Filters {
 public:
  std::string Next() {
    std::vector<std::string> parts;
    for (int i = Below(3); i >= 0; --i) parts.push_back(Part());
    return InParentheses(absl::StrJoin(parts, Below(2) == 0 ? " and " : " AND "));
  }

 private:
  int Below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  std::string OneOf(const std::vector<std::string>& choices) {
    return choices[static_cast<size_t>(Below(static_cast<int>(choices.size())))];
  }
  std::string InParentheses(std::string text) { return Below(3) == 0 ? "(" + text + ")" : text; }

  std::string Part() {
    const std::string name =
        OneOf({"PK", "#PK", "SK", "a", "a", "n", "b", "status", "#status", "price", "m.PK"});
    const std::string kind = name == "n" || name == "price" ? "n" : name == "b" ? "b" : "s";
    const std::string value = ":" + (Below(12) == 0 ? OneOf({"s", "n", "b"}) : kind) + OneOf({"0", "1", "9"});
    const std::string higher = ":" + kind + "9";
    switch (Below(16)) {
      case 0:
        return InParentheses(value + OneOf({" = ", " < ", ">="}) + name);
      case 1:
        return InParentheses(name + OneOf({"<", " <= ", ">", " >= "}) + value);
      case 2:
        return InParentheses(name + " between " + value + " and " + higher);
      case 3:
        return InParentheses("begins_with(" + name + ", :s0)");
      case 4:
        return OneOf({"contains(" + name + ", :s0)", "attribute_exists(" + name + ")", "size(SK) > :n0"});
      case 5:
        return OneOf(
            {"NOT " + name + " = " + value, name + " <> " + value, name + " IN (" + value + ", :s1)"});
      case 6:
        return "(" + name + " = " + value + " or price > :n1)";
      case 7:
        return name + " = price";
      default:
        return InParentheses(name + OneOf({" = ", "="}) + value);
    }
  }

  std::mt19937 random_{17};
};

// Whatever the filter is: an advised command runs and reads the items that the filter lets pass.
TEST_F(ExplainCommands, AdvisedCommandsRunAndReadTheSameItems) {
  const nlohmann::json names = nlohmann::json::parse(R"({"#PK": "PK", "#status": "status"})");
  nlohmann::json values;
  for (const char* end : {"0", "1", "9"}) {
    values[std::string(":s") + end] = {{"S", std::string("s") + end}};
    values[std::string(":n") + end] = {{"N", end}};
  }
  values[":b0"] = {{"B", "eDA="}};
  values[":b1"] = {{"B", "eDE="}};
  values[":b9"] = {{"B", "eDk="}};
  Filters filters;
  int commands = 0;
  int without = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string filter = filters.Next();
    // A request must use all of its names and values.
    nlohmann::json used_names = nlohmann::json::object();
    nlohmann::json used_values = nlohmann::json::object();
    for (const auto& [name, value] : names.items())
      if (filter.find(name) != std::string::npos) used_names[name] = value;
    for (const auto& [name, value] : values.items())
      if (filter.find(name) != std::string::npos) used_values[name] = value;
    std::vector<std::string> options = {"--filter", filter, "--projection", "PK, SK"};
    if (!used_names.empty()) options.insert(options.end(), {"--names", used_names.dump()});
    if (!used_values.empty()) options.insert(options.end(), {"--values", used_values.dump()});
    std::vector<std::string> scan = {"scan", "Shelf", "-o", "jsonl"};
    scan.insert(scan.end(), options.begin(), options.end());
    const Outcome scanned = Call(scan);
    if (scanned.exit_code != 0) continue;  // Not a filter.
    SCOPED_TRACE(filter);
    for (const std::string& advice : Advice(options)) {
      if (advice.find(": itemctl ") == std::string::npos) {
        ++without;
        continue;
      }
      ++commands;
      EXPECT_EQ(Pasted(advice), Sorted(scanned.out)) << advice;
    }
  }
  // So that the test stays one.
  EXPECT_GT(commands, 60);
  EXPECT_GT(without, 40);
}

TEST_F(ExplainCommands, TheBestOfSeveralIndexesIsAdvised) {
  const std::vector<std::string> advice =
      Advice({"--filter", "(a = :a) AND (n > :n)", "--values", R"({":a": "s1", ":n": 2})"});
  ASSERT_THAT(advice,
              ElementsAre(HasSubstr("the index ByAN (the index ByA and the index ByAB would also do)"),
                          HasSubstr("discarded")));
  EXPECT_THAT(advice.front(), HasSubstr("--index ByAN --key-condition 'a = :a AND n > :n' --values"));
  EXPECT_EQ(Pasted(advice.front()).size(), 6u);
  // An index has only items that have its key attributes.
  EXPECT_THAT(Advice({"--filter", "a = :a", "--values", R"({":a": "s1"})"}),
              Contains(HasSubstr("the index ByA (")));
  EXPECT_THAT(Advice({"--filter", "status = :s", "--projection", "PK", "--values", R"({":s": "s1"})"}),
              Contains(HasSubstr("the index ByStatusKeys; a query")))
      << "SK is in every item";
  EXPECT_THAT(Advice({"--filter", "status = :s AND b = :b", "--values",
                      R"({":s": {"S": "s1"}, ":b": {"B": "eDA="}})"}),
              Contains(HasSubstr("the index ByMany, which holds only items that have n and a; a query")));
}

TEST_F(ExplainCommands, WhatAQueryWouldRefuseIsSaidWithoutACommand) {
  for (const char* filter :
       {"status = :a AND SK > :b AND SK < :c", "status = :a AND contains(SK, :b) AND SK > :c",
        "status = :a AND status = :b AND PK <> :c"}) {
    const std::vector<std::string> advice =
        Advice({"--filter", filter, "--values", R"({":a": "s0", ":b": "s1", ":c": "s9"})"});
    ASSERT_FALSE(advice.empty()) << filter;
    EXPECT_THAT(advice.front(), AllOf(HasSubstr("must not name key attributes: leave out "),
                                      HasSubstr("check it in your program"), Not(HasSubstr("itemctl"))));
  }
  EXPECT_THAT(Advice({"--filter", "PK = :a", "--values", R"({":a": 5})"}),
              ElementsAre(HasSubstr("no item passes PK = :a: the values of the key attribute PK are strings"),
                          HasSubstr("discarded")));
  EXPECT_THAT(Advice({"--filter", "status = :a and price > :b", "--values", R"({":a": "s0", ":b": 3})"}),
              ElementsAre(HasSubstr("the index does not hold price"), HasSubstr("discarded")));
}

// The key condition of a query is kept when another index is advised.
TEST_F(ExplainCommands, AnIndexForAQueryKeepsItsKeyCondition) {
  const std::vector<std::string> advice =
      Advice({"--key-condition", "PK = :p", "--filter", "n = :n", "--values", R"({":p": "s0", ":n": 2})"});
  ASSERT_FALSE(advice.empty());
  EXPECT_THAT(advice.front(), HasSubstr("the sort key of the local index ByN"));
  EXPECT_EQ(Pasted(advice.front()).size(), 4u);
  const std::vector<std::string> other =
      Advice({"--key-condition", "PK = :p", "--filter", "a = :a", "--values", R"({":p": "s0", ":a": "s0"})"});
  ASSERT_FALSE(other.empty());
  EXPECT_THAT(other.front(), HasSubstr("--filter 'PK = :p'"));
  EXPECT_EQ(Pasted(other.front()).size(), 5u);
}

}  // namespace
}  // namespace itemdb::tools
