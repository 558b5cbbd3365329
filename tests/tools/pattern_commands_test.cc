// `itemctl patterns` and `itemctl model draft` with the real daemon: calls are counted, and the written
// folder is a model of the daemon's tables (SEED-049).
#include "tools/commands/pattern_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/tools/real_daemon.h"
#include "tools/commands/model_draft.h"
#include "tools/json/status_json.h"

namespace itemdb::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(AdviceForPatterns, MarksWhatReadsTooMuch) {  // The daemon's access patterns (SEED-049).
  EXPECT_EQ(AdviceFor({.operation = "Scan", .calls = 1}), "reads all of the table");
  EXPECT_EQ(AdviceFor({.index_name = "ByDate", .operation = "Scan"}), "reads all of the index");
  AccessPattern query{.operation = "Query", .items_scanned = 20, .items_returned = 10};
  EXPECT_EQ(AdviceFor(query), "");
  query.items_returned = 5;
  EXPECT_EQ(AdviceFor(query), "the filter discards 75 of 100 items read");
  query.items_scanned = 1'000;
  query.items_returned = 9;
  EXPECT_EQ(AdviceFor(query), "the filter discards 99 of 100 items read") << "some are left";
  query.items_returned = 0;
  EXPECT_EQ(AdviceFor(query), "the filter discards 100 of 100 items read");
  EXPECT_EQ(AdviceFor({.operation = "Query"}), "");
  EXPECT_EQ(AdviceFor({.operation = "GetItem", .items_scanned = 3}), "");
}

TableDefinition Things() {
  return {.table_name = "Things",
          .attribute_definitions = {},
          .key_schema = {{.attribute_name = "pk"}, {.attribute_name = "date"}}};
}

std::string Drafted(const AccessPattern& seen) {
  const std::optional<ModelPattern> pattern = DraftPattern(seen, Things(), "p");
  if (!pattern.has_value()) return "(left out)";
  std::string parameters;
  for (const auto& [name, value] : pattern->parameters) parameters += name + " ";
  return OneLine(pattern->requests[0].request) + " " + parameters;
}

TEST(ModelDraft, MakesRequestsOfShapes) {  // The daemon's access patterns (SEED-049).
  const AccessPattern query{.table_name = "Things",
                            .index_name = "ByTag",
                            .operation = "Query",
                            .key_condition = "tag = ? AND date BETWEEN ? AND ?",
                            .filter = "contains(\"first name\", ?) AND NOT size(a.\"say \"\"hi\"\"\"[3]) > ?",
                            .descending = true};
  EXPECT_EQ(
      Drafted(query),
      R"({"TableName": "Things", "IndexName": "ByTag", )"
      R"("KeyConditionExpression": "#tag = :tag AND #date BETWEEN :date AND :date_2", )"
      R"("FilterExpression": "contains(#first_name, :first_name) AND NOT size(#a.#say__hi_[3]) > :say__hi_", )"
      R"("ExpressionAttributeNames": {"#a": "a", "#date": "date", "#first_name": "first name", )"
      R"("#say__hi_": "say \"hi\"", "#tag": "tag"}, "ScanIndexForward": false} )"
      ":date :date_2 :first_name :say__hi_ :tag ");
  EXPECT_EQ(Drafted({.table_name = "Things", .operation = "DeleteItem", .filter = "date = ?"}),
            R"({"TableName": "Things", "Key": {"pk": ":pk", "date": ":date"}, )"
            R"("ConditionExpression": "#date = :date_2", "ExpressionAttributeNames": {"#date": "date"}} )"
            ":date :date_2 :pk ");
  EXPECT_EQ(Drafted({.table_name = "Things", .operation = "BatchGetItem"}),
            R"({"RequestItems": {"Things": {"Keys": [{"pk": ":pk", "date": ":date"}]}}} :date :pk )");
  EXPECT_EQ(Drafted({.table_name = "Things", .operation = "BulkWrite"}), "(left out)");
  EXPECT_EQ(Drafted({.table_name = "Things", .operation = "Scan", .filter = "a = ? OR ..."}), "(left out)");
  EXPECT_EQ(Drafted({.table_name = "Things", .operation = "Scan", .filter = "a[3 = ?"}), "(left out)");
}

TEST(Patterns, OfTheDaemonBecomeAModelOfItsTables) {  // The daemon's access patterns (SEED-049).
  const RealDaemon daemon;
  const auto succeed = [&daemon](std::vector<std::string> arguments) {
    const Outcome outcome = daemon.Call(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  succeed({"-o", "json", "order-entry", "customer-orders", "cust_001", "2025-01-01", "2025-12-31"});
  succeed(
      {"scan", "music", "--filter", "#r > :r", "--names", R"({"#r": "rating"})", "--values", R"({":r": 1})"});
  succeed({"item", "put", "music", R"({"artist": "Bach", "song": "Air"})", "--condition",
           "attribute_exists(artist)"});
  EXPECT_THAT(succeed({"-o", "jsonl", "patterns", "Order"}),
              HasSubstr(R"("index_name": "OrderByCustomerDate", "operation": "Query", )"
                        R"("key_condition": "customer_id = ? AND order_date BETWEEN ? AND ?")"));
  EXPECT_THAT(succeed({"-o", "jsonl", "patterns", "music"}),
              AllOf(HasSubstr(R"("filter": "rating > ?")"), HasSubstr("reads all of the table"),
                    HasSubstr(R"j("filter": "attribute_exists(artist)")j"), Not(HasSubstr("Order"))));
  EXPECT_EQ(daemon.Call({"patterns", "musik"}).exit_code, 3);

  const std::string folder = daemon.directory() + "/seen";
  EXPECT_THAT(succeed({"-o", "jsonl", "model", "draft", folder}), HasSubstr("\"PatternsLeftOut\": "));
  EXPECT_TRUE(std::filesystem::exists(folder + "/Order.table.json"));
  EXPECT_THAT(succeed({"-o", "jsonl", "model", "check", folder}), HasSubstr("\"Differences\": []"));
  // The values of parameters are unknown, but the requests are valid with any values.
  EXPECT_THAT(succeed({"-o", "jsonl", "model", "run", folder, "query-Order-by-OrderByCustomerDate", "--set",
                       ":customer_id=cust_001", "--set", ":order_date=2025-01-01", "--set",
                       ":order_date_2=2025-12-31"}),
              HasSubstr(R"("Calls": 1, "ScannedCount": 2, "Count": 2, "Result": "NO_ANSWER")"));
  EXPECT_EQ(daemon.Call({"model", "draft", folder}).exit_code, 2) << "it is not empty";
}

TEST(Contributors, SaysWhichCommandTurnsInsightsOn) {
  const RealDaemon daemon;
  EXPECT_THAT(
      daemon.Call({"contributors", "show", "Order", "--index", "OrderByCustomerDate", "-o", "table"}).out,
      HasSubstr("\nitemctl contributors enable Order --index OrderByCustomerDate\n"));
}

}  // namespace
}  // namespace itemdb::tools
