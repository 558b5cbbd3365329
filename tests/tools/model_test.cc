// Data models in files with the real daemon: what `itemctl model apply` creates, what `check` compares, and
// which folders are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/tools/model_fixture.h"

namespace itemdb::tools {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Model, ApplyMakesWhatIsMissingAndCanBeRepeated) {
  Outcome outcome = Call({"model", "apply", folder()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(R"("Action": "CREATE")"), HasSubstr(R"("ItemsPut": 2)")));
  ASSERT_EQ(Call({"item", "put", "shelf", R"({"id": "a", "kind": "changed"})"}).exit_code, 0);

  outcome = Call({"model", "apply", folder()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(R"("Action": "KEEP")"), HasSubstr(R"("ItemsPut": 0)")));
  EXPECT_THAT(Call({"item", "get", "shelf", R"({"id": "a"})"}).out, HasSubstr("changed"));

  outcome = Call({"model", "apply", folder(), "--items"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(R"("Action": "KEEP")"), HasSubstr(R"("ItemsPut": 2)")));
  EXPECT_THAT(Call({"item", "get", "shelf", R"({"id": "a"})"}).out, Not(HasSubstr("changed")));
  EXPECT_EQ(Call({"model", "apply", folder(), "--items", "--only-tables"}).exit_code, 2);
}

TEST_F(Model, ApplyPutsNoItemsWhenOnlyTablesAreAskedFor) {
  const Outcome outcome = Call({"model", "apply", folder(), "--only-tables"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Call({"count", "shelf"}).out, "{\"Count\": 0, \"ScannedCount\": 0}\n");
}

// UpdateTable creates one index (SEM-095) and backfills it (SEM-097).
TEST_F(Model, ApplyAddsAMissingIndexAndWaitsForIt) {
  ASSERT_EQ(Call({"model", "apply", folder()}).exit_code, 0);
  ASSERT_EQ(Call({"index", "drop", "shelf", "ByKind", "--yes"}).exit_code, 0);
  Outcome outcome = Call({"model", "check", folder()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out,
            R"({"TableName": "shelf", "Differences": [{"What": "index ByKind", "Model": "kind S HASH", )"
            R"("Live": "none"}]})"
            "\n");
  outcome = Call({"model", "apply", folder()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(R"("Action": "ADD_INDEXES", "IndexesAdded": ["ByKind"])"));
  EXPECT_EQ(Call({"model", "check", folder()}).exit_code, 0);
  EXPECT_THAT(Call({"index", "status", "shelf"}).out, HasSubstr(R"("ItemCount": 2)"));
}

// A fake daemon with the table of kTable, whose index is CREATING for the first polls. With a real daemon
// this state would be too short.
class ModelOfABusyTable : public ItemctlTest {
 protected:
  void SetUp() override {
    std::ofstream(directory_.path() + "/shelf.table.json") << kTable;
    table_.set_table_name("shelf");
    table_.set_table_status(v1::TABLE_STATUS_ACTIVE);
    table_.set_billing_mode(v1::BILLING_MODE_PAY_PER_REQUEST);
    for (const char* name : {"id", "kind"}) {
      v1::AttributeDefinition* attribute = table_.add_attribute_definitions();
      attribute->set_attribute_name(name);
      attribute->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_S);
    }
    AddHashKey(table_, "id");
    AddIndex("ByKind", v1::TABLE_STATUS_CREATING);
    daemon_.describe_table = [this](const auto&, v1::DescribeTableReply* reply) {
      if (++looks_ == 3)
        table_.mutable_global_secondary_indexes(0)->set_index_status(v1::TABLE_STATUS_ACTIVE);
      *reply->mutable_table() = table_;
      return grpc::Status::OK;
    };
    daemon_.describe_time_to_live = [](const auto&, v1::DescribeTimeToLiveReply* reply) {
      reply->set_time_to_live_status(v1::TIME_TO_LIVE_STATUS_DISABLED);
      return grpc::Status::OK;
    };
    daemon_.update_table = [this](const v1::UpdateTableRequest& request, v1::UpdateTableReply* reply) {
      // One index is created at a time (SEM-095).
      if (looks_ < 3)
        return ErrorReply(grpc::StatusCode::RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED", "one at a time");
      added_.push_back(request.global_secondary_index_creations(0).index_name());
      AddIndex(added_.back(), v1::TABLE_STATUS_ACTIVE);
      *reply->mutable_table() = table_;
      return grpc::Status::OK;
    };
  }

  template <typename Description>
  static void AddHashKey(Description& description, const std::string& attribute_name) {
    v1::KeySchemaElement* key = description.add_key_schema();
    key->set_attribute_name(attribute_name);
    key->set_key_type(v1::KEY_TYPE_HASH);
  }

  void AddIndex(const std::string& name, v1::TableStatus status) {
    v1::GlobalSecondaryIndexDescription* index = table_.add_global_secondary_indexes();
    index->set_index_name(name);
    index->set_index_status(status);
    AddHashKey(*index, "kind");
    index->mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_ALL);
  }

  testing::TemporaryDirectory directory_;
  v1::TableDescription table_;
  int looks_ = 0;
  std::vector<std::string> added_;
};

// The backfill of an index (SEM-097).
TEST_F(ModelOfABusyTable, ApplyWaitsForAnIndexThatIsBeingCreated) {
  const Outcome outcome = Call({"model", "apply", directory_.path()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr(R"("Action": "AWAIT_INDEXES")"), HasSubstr(R"("StillDiffers": [])")));
  EXPECT_EQ(looks_, 3);
}

// One index of a table is created at a time (SEM-095).
TEST_F(ModelOfABusyTable, ApplyWaitsBeforeItAddsAnotherIndex) {
  std::string document = kTable;
  document = Replaced(document, R"("GlobalSecondaryIndexes": [)",
                      R"("GlobalSecondaryIndexes": [{"IndexName": "More",
                           "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
                           "Projection": {"ProjectionType": "ALL"}}, )");
  std::ofstream(directory_.path() + "/shelf.table.json") << document;
  const Outcome outcome = Call({"model", "apply", directory_.path()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(R"("Action": "ADD_INDEXES", "IndexesAdded": ["More"])"));
  EXPECT_THAT(added_, ElementsAre("More"));
}

TEST_F(Model, AnotherKeyIsRefusedByNameBeforeAnythingIsChanged) {
  ASSERT_EQ(Call({"model", "apply", folder()}).exit_code, 0);
  Write("shelf.table.json",
        Replaced(kTable, R"("id", "AttributeType": "S")", R"("id", "AttributeType": "N")"));
  Write("shelf.items.jsonl", R"({"id": {"N": "1"}})");
  Write("another.table.json", Replaced(kTable, "shelf", "another"));
  for (const char* option : {"--items", "--dry-run"}) {
    const Outcome outcome = Call({"model", "apply", folder(), option});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("shelf: key schema: id N HASH in the model, id S HASH live"));
  }
  EXPECT_EQ(Call({"table", "list"}).out, "{\"TableName\": \"shelf\"}\n") << "another was created first";
}

TEST_F(Model, WhatCannotBeChangedIsListedAndReplacedOnlyWhenConfirmed) {
  ASSERT_EQ(Call({"model", "apply", folder()}).exit_code, 0);
  Write("shelf.table.json",
        Replaced(kTable, R"("ProjectionType": "ALL")", R"("ProjectionType": "KEYS_ONLY")"));
  Outcome outcome = Call({"model", "apply", folder()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("projection of index ByKind: KEYS_ONLY in the model, ALL live"));
  EXPECT_THAT(outcome.err,
              HasSubstr("1 differences remain: remove them with table update, index drop or ttl"));
  const Outcome dry = Call({"model", "apply", folder(), "--dry-run"});
  EXPECT_EQ(dry.exit_code, 1) << "as the real one";
  EXPECT_EQ(dry.out, outcome.out);

  outcome = Call({"model", "apply", folder(), "--replace"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("delete shelf with 2 items"));
  outcome = Call({"model", "apply", folder(), "--replace", "--dry-run"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr(R"("Action": "REPLACE")"));
  EXPECT_EQ(Call({"model", "check", folder()}).exit_code, 1) << "nothing was deleted so far";

  ASSERT_EQ(Call({"item", "put", "shelf", R"({"id": "more"})"}).exit_code, 0);
  outcome = Call({"model", "apply", folder(), "--replace", "--yes"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Call({"model", "check", folder()}).exit_code, 0);
  EXPECT_EQ(Call({"count", "shelf"}).out, "{\"Count\": 2, \"ScannedCount\": 2}\n");
}

TEST_F(Model, CheckListsEveryDifference) {
  EXPECT_THAT(Call({"model", "check", folder()}).out,
              HasSubstr(R"({"What": "table", "Model": "defined", "Live": "none"})"));
  ASSERT_EQ(Call({"model", "apply", folder()}).exit_code, 0);
  EXPECT_EQ(Call({"model", "check", folder()}).out, "{\"TableName\": \"shelf\", \"Differences\": []}\n");

  std::string document = Replaced(kTable, R"("kind", "KeyType")", R"("id", "KeyType")");
  document = Replaced(document, "PAY_PER_REQUEST", "PROVISIONED");
  document =
      Replaced(document, R"("ALL"})",
               R"("ALL"}, "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2})");
  document = Replaced(document, R"("BillingMode")",
                      R"("StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_IMAGE"},
                         "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}, "BillingMode")");
  Write("shelf.table.json", document);
  ASSERT_EQ(Call({"index", "add", "shelf", "More", "--hash", "more:N", "--wait"}).exit_code, 0);
  const Outcome outcome = Call({"model", "check", folder()});
  EXPECT_EQ(outcome.exit_code, 1);
  for (const char* difference :
       {R"("What": "index ByKind", "Model": "id S HASH", "Live": "kind S HASH")",
        R"("What": "throughput of index ByKind", "Model": "1 read, 2 write units", "Live": "none")",
        R"("What": "index More", "Model": "none", "Live": "more N HASH")",
        R"("What": "billing mode", "Model": "PROVISIONED", "Live": "PAY_PER_REQUEST")",
        R"("What": "throughput", "Model": "5 read, 6 write units", "Live": "none")",
        R"("What": "stream", "Model": "NEW_IMAGE", "Live": "none")"}) {
    EXPECT_THAT(outcome.out, HasSubstr(difference));
  }
  EXPECT_THAT(outcome.err, HasSubstr("6 differences in 1 of 1 tables"));
}

// The time to live (SEM-108) is part of the model, and is turned on only for new tables, where no items can
// be lost.
TEST_F(Model, TheTimeToLiveIsPartOfTheModel) {
  Write("shelf.ttl.json",
        R"({"TableName": "shelf", "TimeToLiveSpecification": {"AttributeName": "until", "Enabled": true}})");
  ASSERT_EQ(Call({"model", "apply", folder()}).exit_code, 0);
  EXPECT_THAT(Call({"ttl", "status", "shelf"}).out, HasSubstr(R"("AttributeName": "until")"));
  EXPECT_EQ(Call({"model", "check", folder()}).exit_code, 0);

  const std::string drafted = directory_.path() + "/drafted";
  ASSERT_EQ(Call({"model", "draft", drafted, "--table", "shelf"}).exit_code, 0);
  EXPECT_EQ(Call({"model", "check", drafted}).exit_code, 0);

  Write("shelf.ttl.json",
        R"({"TableName": "shelf", "TimeToLiveSpecification": {"AttributeName": "end", "Enabled": true}})");
  EXPECT_THAT(Call({"model", "check", folder()}).out,
              HasSubstr(R"({"What": "time to live", "Model": "attribute end", "Live": "attribute until"})"));
  Outcome outcome = Call({"model", "apply", folder()});
  EXPECT_EQ(outcome.exit_code, 1) << "of a table with items it is not turned on unasked";
  EXPECT_THAT(outcome.out, HasSubstr("time to live: attribute end in the model, attribute until live"));
  ASSERT_EQ(Call({"ttl", "disable", "shelf"}).exit_code, 0);
  EXPECT_THAT(Call({"model", "check", folder()}).out, HasSubstr(R"("Live": "none")"));

  std::filesystem::remove(folder() + "/shelf.ttl.json");
  EXPECT_EQ(Call({"model", "check", folder()}).exit_code, 0);
  ASSERT_EQ(Call({"ttl", "enable", "shelf", "until"}).exit_code, 0);
  EXPECT_THAT(Call({"model", "check", folder()}).out,
              HasSubstr(R"({"What": "time to live", "Model": "none", "Live": "attribute until"})"));
}

TEST_F(Model, ARefusedItemIsNamedByItsLineAndItemsPutsTheRest) {
  Write("shelf.items.jsonl", std::string(kItems) + R"({"id": {"S": ""}})");
  Outcome outcome = Call({"model", "apply", folder()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("1 of 3 items were refused, the first of them in " + folder() +
                                           "/shelf.items.jsonl line 4: "),
                                 HasSubstr("not all items were put: run this command again with --items")));

  Write("shelf.items.jsonl", std::string(kItems) + R"({"id": {"S": "c"}})");
  outcome = Call({"model", "apply", folder()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("hint: the table shelf has 2 items, its file has 3; --items puts them\n"));
  EXPECT_THAT(Call({"model", "apply", folder(), "--only-tables"}).err, Not(HasSubstr("hint")));
  EXPECT_THAT(Call({"model", "apply", folder(), "--items"}).err, Not(HasSubstr("hint")));
  EXPECT_EQ(Call({"count", "shelf"}).out, "{\"Count\": 3, \"ScannedCount\": 3}\n");
  EXPECT_THAT(Call({"model", "apply", folder()}).err, Not(HasSubstr("hint")));
}

TEST_F(Model, NothingIsDeletedWhenATableToBeReplacedIsProtected) {
  Write("another.table.json", Replaced(kTable, "shelf", "another"));
  ASSERT_EQ(Call({"model", "apply", folder()}).exit_code, 0);
  ASSERT_EQ(Call({"item", "put", "another", R"({"id": "kept"})"}).exit_code, 0);
  ASSERT_EQ(Call({"table", "update", "shelf", "--deletion-protection-enabled"}).exit_code, 0);
  const Outcome outcome = Call({"model", "apply", folder(), "--replace", "--yes"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(
      outcome.err,
      HasSubstr("nothing was changed: --replace cannot delete tables with deletion protection: shelf; to "
                "turn it off: itemctl table update TABLE --no-deletion-protection-enabled"));
  EXPECT_EQ(Call({"count", "another"}).out, "{\"Count\": 1, \"ScannedCount\": 1}\n");
}

// Each folder is refused before any call to the daemon.
TEST_F(Model, AMalformedFolderIsRefusedWithFileAndPlace) {
  struct Row {
    std::string file;
    std::string content;
    std::string message;
  };
  const std::string query = R"("Operation": "Query", "Request": {"TableName": "shelf", )"
                            R"("KeyConditionExpression": "id = :id"}})";
  const Row rows[] = {
      {"shelf.table.json", "{", "shelf.table.json: the CreateTable document: malformed JSON at line 1"},
      {"shelf.table.json", R"({"TableName": "shelf", "Shape": 1})", "unknown member \"Shape\""},
      {"shelf.table.json", Replaced(kTable, "shelf", "shelves"),
       "TableName is \"shelves\", but by its file name it must be \"shelf\""},
      {"shelf.items.jsonl", "{\"id\": {\"S\": \"a\"}}\n{\"id\": 1}\n",
       "shelf.items.jsonl line 2: id: DynamoDB JSON needs an object"},
      {"shelf.table.json", Replaced(kTable, R"([{"AttributeName": "id", "AttributeType": "S"},)", "["),
       "shelf.table.json: KeySchema names the attribute \"id\", which AttributeDefinitions does not define"},
      {"shelf.table.json", Replaced(kTable, R"("kind", "AttributeType")", R"("kin", "AttributeType")"),
       "KeySchema of the index ByKind names the attribute \"kind\", which AttributeDefinitions does not "
       "define"},
      {"shelf.items.jsonl", "{\"id\": {\"S\": \"a\"}}\n{\"kind\": {\"S\": \"a\"}}\n",
       "shelf.items.jsonl line 2: the item lacks the key attribute \"id\""},
      {"shelf.items.jsonl", "\n{\"id\": {\"N\": \"1\"}}\n",
       "shelf.items.jsonl line 2: the key attribute \"id\" is of type N; the table's is S"},
      {"shelf.items.jsonl", "nonsense\n", "shelf.items.jsonl line 1: malformed JSON"},
      {"box.items.jsonl", kItems,
       "box.items.jsonl belongs to a table that the folder does not define: box.table.json is missing"},
      {"box.ttl.json", "{}",
       "box.ttl.json belongs to a table that the folder does not define: box.table.json is missing"},
      {"shelf.ttl.json", R"({"TableName": "shelf"})", "TimeToLiveSpecification is missing"},
      {"shelf.ttl.json",
       R"({"TableName": "self", "TimeToLiveSpecification": {"AttributeName": "t", "Enabled": true}})",
       "shelf.ttl.json: TableName is \"self\", but by its file name it must be \"shelf\""},
      {"shelf.ttl.json",
       R"({"TableName": "shelf", "TimeToLiveSpecification": {"AttributeName": "", "Enabled": true}})",
       "TimeToLiveSpecification.AttributeName must have 1 to 255 bytes"},
      {"patterns.json", "[", "patterns.json: malformed JSON"},
      {"patterns.json", "{}", "patterns.json must be an array of patterns, not an object"},
      {"patterns.json", "[7]", "patterns.json: [0] must be an object, not a number"},
      {"patterns.json", R"([{"Requests": []}])", "patterns.json: [0].Name is missing"},
      {"patterns.json", R"([{"Name": "", "Requests": []}])", "Name is empty"},
      {"patterns.json", R"([{"Name": "all", "Requests": []}])", "the pattern all.Requests is empty"},
      {"patterns.json", R"([{"Name": "all", "Query": []}])",
       "unknown member \"Query\" in the pattern all; allowed are Pattern, Name, Title"},
      {"patterns.json", R"([{"Name": "all", "Requests": [{"Operation": "List", "Request": {}}]}])",
       "the pattern all: Requests[0]: Operation is \"List\"; allowed are GetItem, Query, Scan"},
      {"patterns.json",
       R"([{"Name": "all", "Requests": [{"Operation": "Scan", "Request": {"TableName": "shelf", "Key": {}}}]}])",
       "the pattern all: Requests[0]: unknown member \"Key\"; allowed are TableName, IndexName"},
      {"patterns.json",
       R"([{"Name": "all", "Requests": [{"Operation": "Scan", "Request": {"TableName": "self"}}]}])",
       "the table \"self\", which the folder does not have; it has shelf; did you mean \"shelf\"?"},
      {"patterns.json", R"([{"Name": "one", "Parameters": {"id": null}, "Requests": [{)" + query + "]}]",
       "Parameters: the name \"id\" must be a colon"},
      {"patterns.json", R"([{"Name": "one", "Parameters": {":id": 5}, "Requests": [{)" + query + "]}]",
       ":id: DynamoDB JSON needs an object"},
      {"patterns.json", R"([{"Name": "one", "Parameters": {":di": null}, "Requests": [{)" + query + "]}]",
       "the pattern one has the parameter :di, which no request uses"},
      {"patterns.json", R"([{"Name": "one", "AnyOrder": true, "Requests": [{)" + query + "]}]",
       "AnyOrder is allowed only with Items"},
      {"patterns.json", R"([{"Name": "one", "Items": [{"id": "a"}], "Requests": [{)" + query + "]}]",
       "the pattern one.Items[0]: id: DynamoDB JSON needs an object"},
      {"patterns.json",
       R"([{"Name": "all", "Items": [], "Requests": [{"Operation": "Scan",
            "Request": {"TableName": "shelf", "Select": "COUNT"}}]}])",
       "the pattern all: Requests[0] has Select COUNT, which returns no items to "
       "compare with Items"},
      {"patterns.json",
       R"([{"Name": "one", "Requests": [{)" + query + R"(]}, {"Name": "one", "Requests": [{)" + query + "]}]",
       "two patterns have the name \"one\""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.content);
    const std::string path = folder() + "/" + row.file;
    const std::string before = std::filesystem::exists(path) ? testing::ReadFile(path) : "";
    Write(row.file, row.content);
    for (const char* command : {"apply", "check"}) {
      const Outcome outcome = Call({"model", command, folder()});
      EXPECT_EQ(outcome.exit_code, 2);
      EXPECT_THAT(outcome.err, AllOf(HasSubstr(folder()), HasSubstr(row.message)));
    }
    if (before.empty()) {
      std::filesystem::remove(path);
    } else {
      Write(row.file, before);
    }
  }
  EXPECT_EQ(Call({"table", "list"}).out, "");
  std::filesystem::remove(folder() + "/shelf.table.json");
  std::filesystem::remove(folder() + "/shelf.items.jsonl");
  EXPECT_THAT(Call({"model", "check", folder()}).err,
              HasSubstr("is not a model: it has no file NAME.table.json"));
  EXPECT_THAT(Call({"model", "check", folder() + "/none"}).err, HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace itemdb::tools
