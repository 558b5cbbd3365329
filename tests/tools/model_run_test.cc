// `itemctl model run` with the real daemon: the examples, and patterns of every kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/tools/model_fixture.h"

namespace itemdb::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

size_t CountOf(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++count;
  return count;
}

class ModelRun : public Model {
 protected:
  void SetUp() override {
    Model::SetUp();
    const Outcome applied = Call({"model", "apply", folder()});
    ASSERT_EQ(applied.exit_code, 0) << applied.err;
  }

  // Runs the model with these patterns.
  Outcome Run(const std::string& patterns, std::vector<std::string> more = {}) {
    Write("patterns.json", "[" + patterns + "]");
    more.insert(more.begin(), {"model", "run", folder()});
    return Call(std::move(more));
  }
};

// Each pattern of an example has the expected answer, and no pattern scans (SEED-052).
TEST_F(Model, EveryPatternOfEveryExampleHasItsAnswerAndNoneScans) {
  size_t answered = 0;
  for (const char* example : {"order_entry", "adjacency_list", "ecommerce_single_table", "one_to_many"}) {
    SCOPED_TRACE(example);
    const std::string folder = testing::SourcePath(absl::StrCat("examples/", example));
    ASSERT_EQ(Call({"model", "apply", folder}).exit_code, 0);
    EXPECT_EQ(Call({"model", "check", folder}).exit_code, 0);
    const Outcome outcome = Call({"model", "run", folder});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, Not(HasSubstr("a scan of")));
    const size_t ok = CountOf(outcome.out, R"("Result": "OK")");
    EXPECT_EQ(ok, CountOf(outcome.out, "\"Result\": ")) << outcome.out;
    answered += ok;
  }
  EXPECT_EQ(answered, 15u + 15u + 7u + 18u);
}

TEST_F(Model, AWrongAnswerDiffersAndIsShown) {
  const std::string example = testing::SourcePath("examples/ecommerce_single_table");
  const std::string copy = directory_.path() + "/copy";
  std::filesystem::copy(example, copy);
  const std::string patterns = testing::ReadFile(example + "/patterns.json");
  std::filesystem::permissions(copy + "/patterns.json", std::filesystem::perms::owner_all);
  std::ofstream(copy + "/patterns.json") << Replaced(patterns, "Alice Smith", "Alice Jones");
  ASSERT_EQ(Call({"model", "apply", copy}).exit_code, 0);
  const Outcome outcome = Call({"model", "run", copy});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(CountOf(outcome.out, R"("Result": "DIFFERS")"), 1u);
  EXPECT_EQ(CountOf(outcome.out, R"("Result": "OK")"), 6u);
  EXPECT_THAT(
      outcome.out,
      HasSubstr(R"(["item 1: name is {\"S\": \"Alice Smith\"}, expected {\"S\": \"Alice Jones\"}"])"));
  EXPECT_THAT(outcome.err, HasSubstr("7 patterns: 6 ok, 1 DIFFERS; 7 calls"));
}

constexpr char kById[] = R"({"Name": "by-id", "Parameters": {":id": {"S": "a"}},
  "Requests": [{"Operation": "Query", "Request": {"TableName": "shelf", "KeyConditionExpression": "id = :id"}}],
  "Items": [{"id": {"S": "a"}, "kind": {"S": "x"}}]})";
constexpr char kByKey[] = R"({"Name": "by-key", "Parameters": {":item": null},
  "Requests": [{"Operation": "GetItem", "Request": {"TableName": "shelf", "Key": {"id": ":item"}}}]})";

TEST_F(ModelRun, ParametersAreFilledInWhereTheirNamesStand) {
  EXPECT_THAT(Run(kById).out, HasSubstr(R"("Count": 1, "Result": "OK")"));
  Outcome outcome = Run(kById, {"by-id", "--set", ":id=b", "--show-items"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(R"("Result": "NO_ANSWER")"),
                                 HasSubstr(R"("Items": [{"id": {"S": "b"}, "kind": {"S": "x"}}])")));
  outcome = Run(kByKey, {"by-key", "--set", R"(:item={"S": "b"})", "--show-items"});
  EXPECT_THAT(outcome.out, HasSubstr(R"("Items": [{"id": {"S": "b"}, "kind": {"S": "x"}}])"));
}

TEST_F(ModelRun, APatternWithoutAValueIsNotRunAndSaysWhichIsMissing) {
  const std::string both = std::string(kByKey) + "," + kById;
  Outcome outcome = Run(both);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr(R"("Result": "NOT_RUN", "Why": "no value for :item: give one in )"),
                    HasSubstr(R"("Result": "OK")")));
  outcome = Run(both, {"by-key"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("the pattern by-key was not run: no value for :item"));
}

TEST_F(ModelRun, WhatCannotBeSetOrRunIsRefused) {
  struct Row {
    std::vector<std::string> arguments;
    std::string message;
  };
  const Row rows[] = {
      {{"by-id", "--set", ":di=b"},
       R"(the pattern by-id has no parameter, placeholder or key attribute ":di"; it has :id)"},
      {{"by-id", "--set", ":id"}, R"(--set: ":id" must be NAME=VALUE)"},
      {{"by-id", "--set", "=b"}, R"(--set: "=b" must be NAME=VALUE)"},
      {{"--set", ":id=b"}, "--set needs the name of exactly one PATTERN"},
      {{"by-id", "by-key", "--set", ":id=b"}, "--set needs the name of exactly one PATTERN"},
      {{"by-di"}, R"(has no pattern "by-di"; it has by-id, by-key; did you mean "by-id"?)"},
  };
  for (const Row& row : rows) {
    const Outcome outcome = Run(std::string(kById) + "," + kByKey, row.arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(row.message));
  }
  EXPECT_THAT(Run("").err, HasSubstr(folder() + "/patterns.json has no patterns to run"));
}

TEST_F(ModelRun, AScanAndAFilterThatThrowsAwayAreWarnedAbout) {
  const Outcome outcome = Run(
      R"({"Name": "all", "AnyOrder": true,
          "Requests": [{"Operation": "Scan", "Request": {"TableName": "shelf"}}],
          "Items": [{"kind": {"S": "x"}, "id": {"S": "b"}}, {"kind": {"S": "x"}, "id": {"S": "a"}}]},
         {"Name": "index",
          "Requests": [{"Operation": "Scan", "Request": {"TableName": "shelf", "IndexName": "ByKind"}}]},
         {"Name": "none",
          "Requests": [{"Operation": "Query", "Request": {
            "TableName": "shelf", "IndexName": "ByKind", "KeyConditionExpression": "kind = :k",
            "FilterExpression": "color = :c",
            "ExpressionAttributeValues": {":k": {"S": "x"}, ":c": {"S": "red"}}}}],
          "Items": []})");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr(R"("Result": "OK", "Warnings": ["a scan of the table shelf read 2 items)"),
                    HasSubstr("a scan of the index ByKind of shelf read 2 items"),
                    HasSubstr(R"("ScannedCount": 2, "Count": 0, "Result": "OK", )"
                              R"("Warnings": ["the filter discarded 2 of 2 items)")));
}

// A table whose index has two items with equal keys; engines order those in different ways.
class OrderedModelRun : public ModelRun {
 protected:
  void SetUp() override {
    ModelRun::SetUp();
    Write("rows.table.json", R"({"TableName": "rows", "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"},
                                 {"AttributeName": "sk", "AttributeType": "S"},
                                 {"AttributeName": "n", "AttributeType": "N"}],
        "GlobalSecondaryIndexes": [{"IndexName": "BySize", "Projection": {"ProjectionType": "ALL"}, "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "n", "KeyType": "RANGE"}]}]})");
    std::string items;
    for (const char* item : {kA, kB, kC}) items += std::string(item) + "\n";
    Write("rows.items.jsonl", items);
    ASSERT_EQ(Call({"model", "apply", folder()}).exit_code, 0);
  }
  static constexpr char kA[] = R"({"pk": {"S": "x"}, "sk": {"S": "a"}, "n": {"N": "1"}})";
  static constexpr char kB[] = R"({"pk": {"S": "x"}, "sk": {"S": "b"}, "n": {"N": "1"}})";
  static constexpr char kC[] = R"({"pk": {"S": "x"}, "sk": {"S": "c"}, "n": {"N": "2"}})";

  // A query in descending order. `request`: members of the request, `pattern`: of the pattern.
  Outcome RunDescending(const std::vector<std::string>& expected, const std::string& request = "",
                        const std::string& pattern = "") {
    return Run(R"({"Name": "rows", "Requests": [{"Operation": "Query", "Request": {"TableName": "rows", )" +
               request + R"("KeyConditionExpression": "pk = :p", "ScanIndexForward": false,
            "ExpressionAttributeValues": {":p": {"S": "x"}}}}], )" +
               pattern + R"("Items": [)" + absl::StrJoin(expected, ", ") + "]}");
  }
};

TEST_F(OrderedModelRun, ADirectionCountsUnlessAnyOrderWillDo) {
  for (const char* index : {"", R"("IndexName": "BySize", )"}) {
    SCOPED_TRACE(index);
    const Outcome ordered = RunDescending({kA, kB, kC}, index);
    EXPECT_EQ(ordered.exit_code, 1);
    EXPECT_THAT(ordered.out, HasSubstr("the items are the expected ones in another order; item 1 is"));
    EXPECT_EQ(RunDescending({kA, kB, kC}, index, R"("AnyOrder": true, )").exit_code, 0);
  }
}

TEST_F(OrderedModelRun, ItemsWithEqualKeysOfAnIndexMayComeInAnyOrder) {
  const std::string index = R"("IndexName": "BySize", )";
  EXPECT_EQ(RunDescending({kC, kB, kA}, index).exit_code, 0);
  EXPECT_EQ(RunDescending({kC, kA, kB}, index).exit_code, 0);
  // Keys of a table are never equal.
  EXPECT_EQ(RunDescending({kC, kA, kB}).exit_code, 1);
  // What is expected still counts.
  EXPECT_EQ(RunDescending({kC, kA, kA}, index).exit_code, 1);
  EXPECT_EQ(RunDescending({kC, kA}, index).exit_code, 1);
}

// Patterns with every operation that writes, and with reads of several items, run in the order of the file.
constexpr char kWrites[] = R"j(
  {"Name": "put", "Requests": [{"Operation": "PutItem", "Request": {
     "TableName": "shelf", "Item": {"id": {"S": "c"}, "count": {"N": "1"}},
     "ConditionExpression": "attribute_not_exists(id)"}}], "Items": []},
  {"Name": "update", "Requests": [{"Operation": "UpdateItem", "Request": {
     "TableName": "shelf", "Key": {"id": {"S": "c"}}, "UpdateExpression": "ADD #n :one",
     "ExpressionAttributeNames": {"#n": "count"}, "ExpressionAttributeValues": {":one": {"N": "1"}},
     "ReturnValues": "ALL_NEW"}}], "Items": [{"id": {"S": "c"}, "count": {"N": "2.0"}}]},
  {"Name": "transact", "Requests": [
     {"Operation": "TransactWriteItems", "Request": {"TransactItems": [
       {"Put": {"TableName": "shelf", "Item": {"id": {"S": "d"}}}},
       {"ConditionCheck": {"TableName": "shelf", "Key": {"id": {"S": "c"}},
                           "ConditionExpression": "attribute_exists(id)"}}]}},
     {"Operation": "TransactGetItems", "Request": {"TransactItems": [
       {"Get": {"TableName": "shelf", "Key": {"id": {"S": "none"}}}},
       {"Get": {"TableName": "shelf", "Key": {"id": {"S": "d"}}}}]}}], "Items": [{"id": {"S": "d"}}]},
  {"Name": "batch", "Requests": [
     {"Operation": "BatchWriteItem", "Request": {"RequestItems": {"shelf": [
       {"DeleteRequest": {"Key": {"id": {"S": "d"}}}}, {"PutRequest": {"Item": {"id": {"S": "e"}}}}]}}},
     {"Operation": "BatchGetItem", "Request": {"RequestItems": {"shelf": {
       "Keys": [{"id": {"S": "d"}}, {"id": {"S": "e"}}]}}}}], "Items": [{"id": {"S": "e"}}]},
  {"Name": "delete", "Requests": [{"Operation": "DeleteItem", "Request": {
     "TableName": "shelf", "Key": {"id": {"S": "e"}}, "ReturnValues": "ALL_OLD"}}], "Items": [{"id": {"S": "e"}}]})j";

TEST_F(ModelRun, PatternsThatWriteAreRunInTheirOrderAndOnlyWhenAsked) {
  Outcome outcome = Run(kWrites);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(CountOf(outcome.out, R"("Result": "NOT_RUN", "Why": "it writes, and --writes was not given")"),
            5u);
  EXPECT_THAT(Run(kWrites, {"put"}).err, HasSubstr("the pattern put was not run: it writes"));
  EXPECT_EQ(Call({"count", "shelf"}).out, "{\"Count\": 2, \"ScannedCount\": 2}\n") << "nothing was written";

  outcome = Run(kWrites, {"--writes"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_EQ(CountOf(outcome.out, R"("Result": "OK")"), 5u) << outcome.out;
  EXPECT_EQ(Call({"count", "shelf"}).out, "{\"Count\": 3, \"ScannedCount\": 3}\n");

  // A false condition fails its pattern; the other patterns are run.
  outcome = Run(kWrites, {"--writes"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr(R"("Name": "put", "Requests": "PutItem shelf")"));
  EXPECT_EQ(CountOf(outcome.out, R"("Result": "FAILED", "Why": )"), 1u) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("1 FAILED"));
}

TEST_F(ModelRun, WhatTheDaemonRefusesFailsAndTheOthersAreRun) {
  const std::string refused = R"({"Name": "refused", "Requests": [{"Operation": "Query", "Request": {
      "TableName": "shelf", "KeyConditionExpression": "kind = :k",
      "ExpressionAttributeValues": {":k": {"S": "x"}}}}]},)";
  Outcome outcome = Run(refused + kById);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr(R"("Result": "FAILED", "Why": )"), HasSubstr(R"("Result": "OK")")));
  ASSERT_EQ(Call({"table", "delete", "shelf", "--yes"}).exit_code, 0);
  outcome = Run(kById);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("shelf"));
  outcome = RunTool({"--endpoint", "127.0.0.1:1", "--timeout", "1", "model", "run", folder()});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_EQ(outcome.out, "") << "a daemon that is not there is no answer";
}

class ModelRunOfAFakeDaemon : public ItemctlTest {};

TEST_F(ModelRunOfAFakeDaemon, WhatWasRunBeforeTheDaemonWentAwayIsPrinted) {
  daemon_.get_item = [](const auto&, v1::GetItemReply*) { return grpc::Status::OK; };
  daemon_.query = [](const auto&, v1::QueryReply*) {
    return ErrorReply(grpc::StatusCode::PERMISSION_DENIED, "ACCESS_DENIED", "no longer");
  };
  const testing::TemporaryDirectory directory;
  std::ofstream(directory.path() + "/shelf.table.json") << kTable;
  std::ofstream(directory.path() + "/patterns.json")
      << "[" << Replaced(kByKey, R"(":item": null)", R"(":item": {"S": "a"})") << "," << kById << "]";
  const Outcome outcome = Call({"model", "run", directory.path()});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("no longer"));
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr(R"("Name": "by-key")"), HasSubstr(R"("Calls": 1)"), Not(HasSubstr("by-id"))));
}

TEST_F(ModelRun, ItemsThatAreNotShownAreCounted) {
  std::string lines;
  for (int i = 0; i < 1'002; ++i) {
    lines += R"({"id": {"S": "n)" + std::to_string(i) + R"("}, "kind": {"S": "many"}})" + "\n";
  }
  Write("shelf.items.jsonl", lines);
  ASSERT_EQ(Call({"model", "apply", folder(), "--items"}).exit_code, 0);
  const std::string many = R"({"Name": "many", "Requests": [{"Operation": "Query", "Request": {
      "TableName": "shelf", "IndexName": "ByKind", "KeyConditionExpression": "kind = :k",
      "ExpressionAttributeValues": {":k": {"S": "many"}}}}]})";
  Outcome outcome = Run(many, {"--show-items"});
  EXPECT_EQ(CountOf(outcome.out, R"("kind")"), 1'000u);
  EXPECT_THAT(outcome.out, HasSubstr(R"("ItemsNotShown": 2})"));
  EXPECT_THAT(Run(many, {"--show-items", "-o", "table"}).out,
              HasSubstr("found: many: 2 more, which are not shown\n"));
  EXPECT_THAT(Run(kById, {"--show-items"}).out, Not(HasSubstr("ItemsNotShown")));
  EXPECT_THAT(Run(many).out, Not(HasSubstr("ItemsNotShown")));
}

// Pages (SEM-027), Limit (SEM-029), LastEvaluatedKey (SEM-030).
TEST_F(ModelRun, AllPagesAreReadUnlessARequestHasALimit) {
  std::string lines;
  for (int i = 0; i < 5; ++i) {
    lines += R"({"id": {"S": "big)" + std::to_string(i) + R"("}, "kind": {"S": "big"}, "text": {"S": ")" +
             std::string(300'000, 'x') + "\"}}\n";
  }
  Write("shelf.items.jsonl", lines);
  ASSERT_EQ(Call({"model", "apply", folder(), "--items"}).exit_code, 0);
  const auto pattern = [](const std::string& limit) {
    return R"({"Name": "big", "Requests": [{"Operation": "Query", "Request": {"TableName": "shelf",
            "IndexName": "ByKind", "KeyConditionExpression": "kind = :k", )" +
           limit + R"("ExpressionAttributeValues": {":k": {"S": "big"}}}}]})";
  };
  EXPECT_THAT(Run(pattern("")).out, HasSubstr(R"("Calls": 2, "ScannedCount": 5, "Count": 5)"));
  EXPECT_THAT(Run(pattern("\"Limit\": 3, ")).out, HasSubstr(R"("Calls": 1, "ScannedCount": 3, "Count": 3)"));
  const Outcome outcome = Run(pattern("\"Limit\": 0, "));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("Limit is 0; allowed are 1 to 2147483647"));
}

}  // namespace
}  // namespace itemdb::tools
