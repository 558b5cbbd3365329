// Model folders without a daemon: reading a written folder, imports from NoSQL Workbench, parameters in
// requests, and the comparison of answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/processes/child_process.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/tools/model_fixture.h"
#include "tools/json/item_json.h"
#include "tools/model/model_answer.h"
#include "tools/model/model_folder.h"
#include "tools/model/model_parameters.h"
#include "tools/model/table_differences.h"

namespace itemdb::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<ModelFolder> Read(const std::string& directory) {
  std::istringstream in;
  std::ostringstream out, err;
  Session session;
  Context context(GlobalOptions{}, {.in = in, .out = out, .err = err}, &session);
  return ReadModelFolder(context, directory);
}

std::vector<std::string> Summary(const ModelFolder& folder) {
  std::vector<std::string> lines;
  for (const ModelTable& table : folder.tables) {
    for (const ModelItem& item : table.items)
      lines.push_back(OneLine(ItemToJson(item.item, ItemForm::kTyped)));
  }
  for (const ModelPattern& pattern : folder.patterns) {
    lines.push_back(pattern.name + "|" + pattern.title + "|" + std::to_string(pattern.number.value_or(-1)) +
                    (pattern.any_order ? "|any order" : ""));
    for (const auto& [name, value] : pattern.parameters) {
      lines.push_back(name + " " + OneLine(value.value_or(JsonValue::Null())));
    }
    for (const ModelRequest& request : pattern.requests) {
      lines.push_back(request.operation + " " + OneLine(request.request));
    }
    if (!pattern.items.has_value()) continue;
    for (const Item& item : *pattern.items) lines.push_back(OneLine(ItemToJson(item, ItemForm::kTyped)));
  }
  return lines;
}

TEST(ModelFolder, WhatIsWrittenIsWhatWasRead) {
  for (const char* example : {"order_entry", "adjacency_list", "ecommerce_single_table", "one_to_many"}) {
    SCOPED_TRACE(example);
    absl::StatusOr<ModelFolder> folder = Read(testing::SourcePath(absl::StrCat("examples/", example)));
    ASSERT_TRUE(folder.ok()) << folder.status();
    TableDefinition& settings = folder->tables.front().definition;
    settings.stream_enabled = true;
    settings.stream_view_type = StreamViewType::kNewImage;
    settings.deletion_protection_enabled = true;
    settings.tags = {{"team", "blue"}};
    settings.table_class = TableClass::kStandardInfrequentAccess;
    settings.sse_specification =
        SseSpecification{.enabled = true, .sse_type = "KMS", .kms_master_key_id = "k"};
    settings.on_demand_throughput = OnDemandThroughput{.max_read_request_units = 5};
    folder->patterns.front().any_order = true;
    const testing::TemporaryDirectory directory;
    folder->directory = directory.path() + "/new/folder";
    ASSERT_TRUE(WriteModelFolder(*folder).ok());
    absl::StatusOr<ModelFolder> again = Read(folder->directory);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(Summary(*again), Summary(*folder));
    ASSERT_EQ(again->tables.size(), folder->tables.size());
    for (size_t i = 0; i < again->tables.size(); ++i) {
      const TableDefinition& definition = again->tables[i].definition;
      EXPECT_EQ(DescribeDifference(definition, folder->tables[i].definition), "");
    }
    const TableDefinition& read = again->tables.front().definition;
    EXPECT_TRUE(read.stream_enabled);
    EXPECT_TRUE(read.deletion_protection_enabled);
    EXPECT_EQ(read.tags, settings.tags);
    EXPECT_EQ(read.table_class, settings.table_class);
    EXPECT_EQ(read.sse_specification, settings.sse_specification);
    EXPECT_EQ(read.on_demand_throughput, settings.on_demand_throughput);
    EXPECT_THAT(std::string(WriteModelFolder(*folder).message()), HasSubstr("is not empty"));
  }
}

TEST(ModelFolder, ATableCannotLeadOutOfTheFolder) {
  const testing::TemporaryDirectory directory;
  const ModelFolder folder{.directory = directory.path() + "/model",
                           .tables = {{.definition = {.table_name = "../escaped"}}},
                           .patterns = {}};
  EXPECT_THAT(std::string(WriteModelFolder(folder).message()),
              HasSubstr("the table name \"../escaped\" is not allowed"));
  EXPECT_FALSE(std::filesystem::exists(directory.path() + "/escaped.table.json"));
}

// ---- parameters ----------------------------------------------------------------------------------

JsonValue Json(const std::string& text) {
  absl::StatusOr<JsonValue> json = ParseJson(text);
  EXPECT_TRUE(json.ok()) << json.status();
  return json.ok() ? *json : JsonValue();
}

TEST(ModelParameters, TakeThePlacesOfTheirNames) {
  const ParameterValues values = {{":a", Json(R"({"S": "x"})")}, {"id", Json(R"({"N": "7"})")}};
  struct Row {
    std::string request;
    std::string filled;
  };
  const Row rows[] = {
      {R"({"KeyConditionExpression": "pk = :a AND sk > :ab"})",
       R"({"KeyConditionExpression": "pk = :a AND sk > :ab", "ExpressionAttributeValues": {":a": {"S": "x"}}})"},
      {R"j({"FilterExpression": "begins_with(pk,:a)", "ExpressionAttributeValues": {":b": {"S": "y"}}})j",
       R"j({"FilterExpression": "begins_with(pk,:a)", "ExpressionAttributeValues": {":b": {"S": "y"}, ":a": {"S": "x"}}})j"},
      {R"({"KeyConditionExpression": "pk = :a", "ExpressionAttributeValues": {":a": {"S": "y"}}})",
       R"({"KeyConditionExpression": "pk = :a", "ExpressionAttributeValues": {":a": {"S": "x"}}})"},
      {R"({"Key": {"id": {"N": "1"}, "sk": ":a"}})", R"({"Key": {"id": {"N": "7"}, "sk": {"S": "x"}}})"},
      {R"({"Item": {"id": {"N": "1"}, "list": {"L": [":a", {"S": ":ab"}]}}})",
       R"({"Item": {"id": {"N": "1"}, "list": {"L": [{"S": "x"}, {"S": ":ab"}]}}})"},
      {R"({"RequestItems": {"T": {"Keys": [{"id": {"N": "1"}}, {"id": {"N": "2"}, "sk": ":a"}]}}})",
       R"({"RequestItems": {"T": {"Keys": [{"id": {"N": "7"}}, {"id": {"N": "7"}, "sk": {"S": "x"}}]}}})"},
      {R"({"TransactItems": [{"Update": {"UpdateExpression": "SET n = :a"}}]})",
       R"({"TransactItems": [{"Update": {"UpdateExpression": "SET n = :a", "ExpressionAttributeValues": {":a": {"S": "x"}}}}]})"},
  };
  for (const Row& row : rows) {
    std::set<std::string> used;
    EXPECT_EQ(OneLine(WithParameters(Json(row.request), values, &used)), OneLine(Json(row.filled)));
    EXPECT_FALSE(used.empty());
  }
  std::set<std::string> used;
  const std::string other = R"({"KeyConditionExpression": "pk = :ab", "TableName": "T"})";
  EXPECT_EQ(OneLine(WithParameters(Json(other), values, &used)), OneLine(Json(other)));
  EXPECT_THAT(used, IsEmpty());
}

TEST(ModelParameters, ASettingIsJsonOrTextAsItStands) {
  const auto value = [](const std::string& text) {
    absl::StatusOr<std::pair<std::string, JsonValue>> setting = ParseSetting(text);
    return setting.ok() ? setting->first + " " + OneLine(setting->second)
                        : std::string(setting.status().message());
  };
  EXPECT_EQ(value(":a=cust_002"), R"(:a {"S": "cust_002"})");
  EXPECT_EQ(value(":a=25"), R"(:a {"N": "25"})");
  EXPECT_EQ(value(R"(:a="25")"), R"(:a {"S": "25"})");
  EXPECT_EQ(value(R"(:a={"SS": ["x"]})"), R"(:a {"SS": ["x"]})");
  EXPECT_EQ(value(":a="), R"(:a {"S": ""})");
  EXPECT_EQ(value(":a=x=y"), R"(:a {"S": "x=y"})");
}

// ---- answers -------------------------------------------------------------------------------------

std::vector<Item> Items(const std::vector<std::string>& texts) {
  std::vector<Item> items;
  for (const std::string& text : texts) {
    absl::StatusOr<Item> item = ParseItem(text, ReadForm::kPlain, "an item");
    EXPECT_TRUE(item.ok()) << item.status();
    if (item.ok()) items.push_back(*item);
  }
  return items;
}

TEST(ModelAnswer, SaysWhatDiffersAndNothingElse) {
  const std::vector<Item> expected = Items({R"({"id": "a", "n": 1})", R"({"id": "b", "n": 2})"});
  EXPECT_THAT(
      AnswerDifferences(expected, Items({R"({"n": 1.0, "id": "a"})", R"({"id": "b", "n": 2})"}), false),
      IsEmpty());
  const std::vector<Item> turned = {expected[1], expected[0]};
  EXPECT_THAT(AnswerDifferences(expected, turned, true), IsEmpty());
  EXPECT_THAT(AnswerDifferences(expected, turned, false),
              ElementsAre(HasSubstr("in another order; item 1 is")));
  EXPECT_THAT(AnswerDifferences(expected, {}, true),
              ElementsAre(R"(expected, and not found: {"id": {"S": "a"}, "n": {"N": "1"}})",
                          R"(expected, and not found: {"id": {"S": "b"}, "n": {"N": "2"}})"));
  EXPECT_THAT(AnswerDifferences({}, Items({R"({"id": "a"})"}), false),
              ElementsAre(R"(found, and not expected: {"id": {"S": "a"}})"));
  EXPECT_THAT(AnswerDifferences(expected, Items({R"({"id": "a", "n": 1})", R"({"id": "b", "m": 2})"}), false),
              ElementsAre(R"(item 2: n is missing, expected {"N": "2"})",
                          R"(item 2: m is {"N": "2"}, expected missing)"));
  // An item that is expected twice must be found twice.
  EXPECT_THAT(AnswerDifferences({expected[0], expected[0]}, {expected[0]}, true),
              ElementsAre(HasSubstr("expected, and not found")));
}

TEST(ModelAnswer, IsOfBoundedLength) {
  std::vector<std::string> texts;
  for (int i = 0; i < 1'000; ++i) texts.push_back(R"({"id": ")" + std::to_string(i) + "\"}");
  const std::vector<std::string> lines = AnswerDifferences({}, Items(texts), false);
  ASSERT_EQ(lines.size(), 11u);
  EXPECT_EQ(lines.back(), "and 990 more differences");
}

// ---- import --------------------------------------------------------------------------------------

class ModelImport : public Model {
 protected:
  Outcome Import(const std::string& document, const std::string& name = "imported") {
    std::ofstream(directory_.path() + "/workbench.json") << document;
    return Call({"model", "import", directory_.path() + "/workbench.json", directory_.path() + "/" + name});
  }

  const std::string library_ = testing::ReadFile(testing::SourcePath("examples/workbench/library.json"));
};

TEST_F(ModelImport, AWorkbenchModelBecomesAFolderThatCanBeAppliedAndRun) {
  Outcome outcome = Import(library_);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr(R"("Tables": 2, "Items": 5, "Patterns": 4, "ParametersWithoutValue": 1})"));
  const std::string imported = directory_.path() + "/imported";
  absl::StatusOr<ModelFolder> folder = Read(imported);
  ASSERT_TRUE(folder.ok()) << folder.status();
  const TableDefinition& table = folder->tables.front().definition;
  EXPECT_EQ(table.billing_mode, BillingMode::kProvisioned);
  ASSERT_EQ(table.global_secondary_indexes.size(), 1u);
  EXPECT_EQ(table.global_secondary_indexes[0].provisioned_throughput, table.provisioned_throughput);
  EXPECT_EQ(table.global_secondary_indexes[0].projection.non_key_attributes,
            std::vector<std::string>{"Title"});
  EXPECT_EQ(folder->tables.back().definition.attribute_definitions[0].attribute_type,
            ScalarAttributeType::kNumber);
  // The value comes from the item that has most attributes of the facet.
  EXPECT_EQ(OneLine(folder->patterns[1].parameters.at(":pk").value_or(JsonValue())), R"({"S": "BOOK#7"})");

  EXPECT_EQ(Call({"model", "apply", imported}).exit_code, 0);
  EXPECT_EQ(Call({"model", "check", imported}).exit_code, 0);
  outcome = Call({"model", "run", imported});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr(R"("Name": "Library.LoansByBook", "Requests": "Query Library.LoansByBook", )"
                        R"("Calls": 1, "ScannedCount": 2, "Count": 2, "Result": "NO_ANSWER")"));
  outcome = Import(library_);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("is not empty: a model is written into a new or empty folder"));
}

TEST_F(ModelImport, WhatTableAndFacetsShowOfOneKeyIsOneItem) {
  const std::string ada = R"("Name": {"S": "Ada"}, "Since")";
  std::string document = Replaced(library_, ada, R"("Name": {"S": "of the facet"}, "Since")");
  document = Replaced(document, "\"TableData\": [],",
                      R"("TableData": [{"PK": {"S": "BOOK#8"}, "SK": {"S": "COPY#1"}, "Title": {"S": "Emma"}},
                                       {"PK": {"S": "BOOK#8"}, "SK": {"S": "COPY#1"}, "Name": {"S": "x"}},
                                       {"PK": {"S": "BOOK#8"}, "SK": {"S": "COPY#2"}}],)");
  EXPECT_EQ(Import(document).exit_code, 0);
  absl::StatusOr<ModelFolder> folder = Read(directory_.path() + "/imported");
  ASSERT_TRUE(folder.ok()) << folder.status();
  std::vector<std::string> items;
  for (const ModelItem& item : folder->tables.front().items)
    items.push_back(OneLine(ItemToJson(item.item, ItemForm::kPlain)));
  ASSERT_EQ(items.size(), 7u);
  EXPECT_EQ(items[0], R"({"Name": "Ada", "PK": "MEMBER#1", "SK": "PROFILE", "Since": "2024-05-01"})");
  EXPECT_EQ(items[5], R"({"Name": "x", "PK": "BOOK#8", "SK": "COPY#1", "Title": "Emma"})");
  EXPECT_EQ(items[6], R"({"PK": "BOOK#8", "SK": "COPY#2"})");
}

TEST_F(ModelImport, WhatIsNoModelIsRefusedByName) {
  struct Row {
    std::string document;
    std::string message;
  };
  const std::string one_table = R"({"DataModel": [{"TableName": "T", "KeyAttributes": {"PartitionKey": )"
                                R"({"AttributeName": "id", "AttributeType": "S"}}, "TableData": []}]})";
  const std::string index = R"({"IndexName": "I", "KeyAttributes": {"PartitionKey": {"AttributeName": "id", )"
                            R"("AttributeType": "N"}}, "Projection": {"ProjectionType": "ALL"}})";
  const auto with = [&](const std::string& members) {
    return Replaced(one_table, R"("TableData": [])", members);
  };
  const Row rows[] = {
      {"{", "workbench.json: malformed JSON at line 1"},
      {"[]", "workbench.json must be an object, not an array"},
      {R"({"ModelName": "x"})", "workbench.json: DataModel is missing"},
      {R"({"DataModel": []})", "DataModel has no tables"},
      {R"({"DataModel": [], "Layout": 1})",
       "unknown member \"Layout\"; allowed are ModelName, ModelMetadata"},
      {with(R"("LocalSecondaryIndexes": [])"), "unknown member \"LocalSecondaryIndexes\" in DataModel[0]"},
      {Replaced(one_table, R"("AttributeType": "S")", R"("AttributeType": "SS")"),
       "the table T: the CreateTable document: AttributeDefinitions[0].AttributeType is \"SS\"; allowed are "
       "S, N, B"},
      {Replaced(one_table, "PartitionKey", "Key"), "unknown member \"Key\" in DataModel[0].KeyAttributes"},
      {with(R"("TableData": [{"id": "a"}])"), "DataModel[0].TableData[0]: id: DynamoDB JSON needs an object"},
      {with(R"("BillingMode": "FREE")"), "BillingMode is \"FREE\"; allowed are PROVISIONED, PAY_PER_REQUEST"},
      {with(R"("BillingMode": "PROVISIONED")"), "DataModel[0].ProvisionedCapacitySettings is missing"},
      {with("\"GlobalSecondaryIndexes\": [" + index + "]"),
       "the table T: the key attribute id has the types S and N"},
      {with(R"("TableFacets": [{"FacetName": "F"}])"), "TableFacets[0].KeyAttributeAlias is missing"},
      {Replaced(one_table, "\"T\"", "\"../T\""), "the table name \"../T\" is not allowed"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.document);
    const Outcome outcome = Import(row.document, "refused");
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(row.message));
    EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/refused"));
  }
  EXPECT_EQ(Import(one_table).exit_code, 0) << "without what may be missing";
}

}  // namespace
}  // namespace itemdb::tools
