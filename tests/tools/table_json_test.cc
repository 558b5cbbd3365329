#include "tools/json/table_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/time/civil_time.h"
#include "tools/base/exit_codes.h"

namespace itemdb::tools {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The CreateTable request of the e-commerce document, unchanged (SEED-053).
constexpr char kEcommerce[] = R"({
"TableName": "ecommerce",
"KeySchema": [
{ "AttributeName": "PK", "KeyType": "HASH" },
{ "AttributeName": "SK", "KeyType": "RANGE" }
],
"AttributeDefinitions": [
{ "AttributeName": "PK", "AttributeType": "S" },
{ "AttributeName": "SK", "AttributeType": "S" }
],
"ProvisionedThroughput": {
"ReadCapacityUnits": 5,
"WriteCapacityUnits": 5
}
})";

std::string DefinitionErrorOf(std::string_view text) {
  absl::StatusOr<TableDefinition> definition = ParseTableDefinition(text);
  if (definition.ok()) return "(read)";
  EXPECT_EQ(ExitCodeOf(definition.status()), ExitCode::kUsage);
  return std::string(definition.status().message());
}

// The error message for kEcommerce with `from` replaced by `to`.
std::string MessageWith(const std::string& from, const std::string& to) {
  std::string text = kEcommerce;
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return DefinitionErrorOf(text.replace(at, from.size(), to));
}

TEST(TableJson, AcceptsTheEcommerceTableUnchanged) {
  absl::StatusOr<TableDefinition> table = ParseTableDefinition(kEcommerce);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->table_name, "ecommerce");
  EXPECT_THAT(table->key_schema,
              ElementsAre(KeySchemaElement{"PK", KeyType::kHash}, KeySchemaElement{"SK", KeyType::kRange}));
  EXPECT_THAT(table->attribute_definitions,
              ElementsAre(AttributeDefinition{"PK", ScalarAttributeType::kString},
                          AttributeDefinition{"SK", ScalarAttributeType::kString}));
  // PROVISIONED is the default billing mode (SEM-093).
  EXPECT_EQ(table->billing_mode, BillingMode::kProvisioned);
  EXPECT_EQ(table->provisioned_throughput,
            (ProvisionedThroughput{.read_capacity_units = 5, .write_capacity_units = 5}));
  EXPECT_TRUE(table->global_secondary_indexes.empty());
  EXPECT_EQ(table->stream_view_type, StreamViewType::kKeysOnly);
  EXPECT_FALSE(table->stream_enabled);
}

TEST(TableJson, ReadsIndexesAndStreams) {
  absl::StatusOr<TableDefinition> table = ParseTableDefinition(R"({
    "TableName": "Order", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "B"},
                             {"AttributeName": "shard", "AttributeType": "N"}],
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
    "GlobalSecondaryIndexes": [
      {"IndexName": "ByShard",
       "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "shard", "KeyType": "HASH"}],
       "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a", "b"]}},
      {"IndexName": "All", "KeySchema": [{"AttributeName": "shard", "KeyType": "HASH"}],
       "Projection": {"ProjectionType": "ALL"},
       "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2}}],
    "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"}})");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->billing_mode, BillingMode::kPayPerRequest);
  EXPECT_FALSE(table->provisioned_throughput.has_value());
  EXPECT_EQ(table->stream_view_type, StreamViewType::kNewAndOldImages);
  EXPECT_TRUE(table->stream_enabled);
  EXPECT_THAT(
      table->global_secondary_indexes,
      ElementsAre(GlobalSecondaryIndex{.index_name = "ByShard",
                                       .key_schema = {{"PK", KeyType::kHash}, {"shard", KeyType::kHash}},
                                       .projection = {ProjectionType::kInclude, {"a", "b"}}},
                  GlobalSecondaryIndex{.index_name = "All",
                                       .key_schema = {{"shard", KeyType::kHash}},
                                       .projection = {ProjectionType::kAll},
                                       .provisioned_throughput = ProvisionedThroughput{
                                           .read_capacity_units = 1, .write_capacity_units = 2}}));
}

TEST(TableJson, RefusesUnknownMembersByName) {
  EXPECT_THAT(
      MessageWith("\"TableName\"", "\"Foo\": 1, \"TableName\""),
      AllOf(HasSubstr("unknown member \"Foo\";"), HasSubstr("allowed are TableName, AttributeDefinitions")));
  EXPECT_THAT(MessageWith("\"KeyType\": \"RANGE\"", "\"KeyType\": \"RANGE\", \"Order\": 1"),
              HasSubstr("unknown member \"Order\" in KeySchema[1]; allowed are AttributeName, KeyType"));
  EXPECT_THAT(MessageWith("\"ReadCapacityUnits\": 5,", "\"ReadCapacityUnits\": 5, \"Burst\": 1,"),
              HasSubstr("unknown member \"Burst\" in ProvisionedThroughput; allowed are ReadCapacityUnits"));
}

TEST(TableJson, SaysWhichMembersOfAwsAreNotOffered) {
  for (const char* name : {"ResourcePolicy", "GlobalTableSourceArn", "GlobalTableSettingsReplicationMode"}) {
    SCOPED_TRACE(name);
    const std::string member(name);
    EXPECT_THAT(MessageWith("\"TableName\"", "\"" + member + "\": [], \"TableName\""),
                AllOf(HasSubstr(member + ": "), ::testing::Not(HasSubstr("unknown member"))));
  }
}

TEST(TableJson, ReadsAndShowsLocalIndexesProtectionAndTags) {
  const absl::StatusOr<TableDefinition> table = ParseTableDefinition(R"({
    "TableName": "t",
    "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
    "LocalSecondaryIndexes": [{"IndexName": "l",
                               "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"},
                                             {"AttributeName": "d", "KeyType": "RANGE"}],
                               "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]}}],
    "DeletionProtectionEnabled": true,
    "Tags": [{"Key": "team", "Value": "blue"}, {"Key": "env", "Value": ""}]
  })");
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->local_secondary_indexes.size(), 1u);
  EXPECT_EQ(table->local_secondary_indexes[0].index_name, "l");
  EXPECT_EQ(table->local_secondary_indexes[0].key_schema[1], (KeySchemaElement{"d", KeyType::kRange}));
  EXPECT_EQ(table->local_secondary_indexes[0].projection.non_key_attributes, std::vector<std::string>{"x"});
  EXPECT_TRUE(table->deletion_protection_enabled);
  EXPECT_EQ(table->tags, (std::map<std::string, std::string>{{"env", ""}, {"team", "blue"}}));
  const std::string shown = OneLine(
      TableToJson({.definition = *table,
                   .local_indexes = {{.definition = table->local_secondary_indexes[0], .item_count = 3}}}));
  EXPECT_THAT(shown, HasSubstr(R"("LocalSecondaryIndexes": [{"IndexName": "l")"));
  EXPECT_THAT(shown, HasSubstr(R"("DeletionProtectionEnabled": true)"));
  EXPECT_THAT(shown, HasSubstr(R"("Tags": [{"Key": "env", "Value": ""}, {"Key": "team", "Value": "blue"}])"));
  EXPECT_THAT(MessageWith("\"TableName\"",
                          R"("Tags": [{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}], "TableName")"),
              HasSubstr("Tags name \"a\" twice"));
}

// Settings without effect (SEM-099), in the request and in DescribeTable's answer.
TEST(TableJson, ReadsAndShowsTheSettingsThatAreKept) {
  const absl::StatusOr<TableDefinition> table = ParseTableDefinition(R"({
    "TableName": "t",
    "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}],
    "TableClass": "STANDARD_INFREQUENT_ACCESS",
    "SSESpecification": {"Enabled": true, "SSEType": "KMS", "KMSMasterKeyId": "alias/k"},
    "OnDemandThroughput": {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": -1},
    "WarmThroughput": {"WriteUnitsPerSecond": 4000}
  })");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->table_class, TableClass::kStandardInfrequentAccess);
  EXPECT_EQ(table->sse_specification,
            (SseSpecification{.enabled = true, .sse_type = "KMS", .kms_master_key_id = "alias/k"}));
  EXPECT_EQ(table->on_demand_throughput,
            (OnDemandThroughput{.max_read_request_units = 10, .max_write_request_units = -1}));
  EXPECT_EQ(table->warm_throughput, (WarmThroughput{.write_units_per_second = 4000}));
  EXPECT_THAT(
      OneLine(TableToJson({.definition = *table})),
      HasSubstr(R"("TableClassSummary": {"TableClass": "STANDARD_INFREQUENT_ACCESS"}, )"
                R"("SSEDescription": {"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": "alias/k"}, )"
                R"("OnDemandThroughput": {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": -1}, )"
                R"("WarmThroughput": {"WriteUnitsPerSecond": 4000}, )"));
  EXPECT_THAT(MessageWith("\"TableName\"", R"("TableClass": "COLD", "TableName")"),
              HasSubstr("TableClass is \"COLD\"; allowed are STANDARD, STANDARD_INFREQUENT_ACCESS"));
  EXPECT_THAT(MessageWith("\"TableName\"", R"("WarmThroughput": {"WriteUnitsPerSecond": "9"}, "TableName")"),
              HasSubstr("WarmThroughput.WriteUnitsPerSecond must be a number, not a string"));
}

TEST(TableJson, NamesWhatIsMissingOrMistyped) {
  EXPECT_THAT(DefinitionErrorOf("{}"), HasSubstr("TableName is missing"));
  EXPECT_THAT(DefinitionErrorOf("[]"), HasSubstr("the CreateTable document must be an object, not an array"));
  EXPECT_THAT(DefinitionErrorOf("{\n\"TableName\" 1}"), HasSubstr("malformed JSON at line 2, column 13"));
  EXPECT_THAT(MessageWith("\"ecommerce\"", "5"), HasSubstr("TableName must be a string, not a number"));
  EXPECT_THAT(MessageWith("\"HASH\"", "\"hash\""),
              HasSubstr("KeySchema[0].KeyType is \"hash\"; allowed are HASH, RANGE"));
  EXPECT_THAT(MessageWith("\"AttributeType\": \"S\" },", "\"AttributeType\": \"SS\" },"),
              HasSubstr("AttributeDefinitions[0].AttributeType is \"SS\"; allowed are S, N, B"));
  EXPECT_THAT(
      MessageWith("\"WriteCapacityUnits\": 5", "\"WriteCapacityUnits\": 5.5"),
      HasSubstr("ProvisionedThroughput.WriteCapacityUnits must be a whole number of 64 bits, not 5.5"));
  EXPECT_THAT(MessageWith(",\n\"WriteCapacityUnits\": 5", ""),
              HasSubstr("ProvisionedThroughput.WriteCapacityUnits is missing"));
  EXPECT_THAT(MessageWith("{ \"AttributeName\": \"SK\", \"KeyType\": \"RANGE\" }", "7"),
              HasSubstr("KeySchema[1] must be an object, not a number"));
}

TEST(TableJson, RefusesAViewTypeForADisabledStream) {
  EXPECT_THAT(MessageWith("\"TableName\"", R"("StreamSpecification": {"StreamEnabled": false}, "TableName")"),
              "(read)");
  EXPECT_THAT(
      MessageWith(
          "\"TableName\"",
          R"("StreamSpecification": {"StreamEnabled": false, "StreamViewType": "KEYS_ONLY"}, "TableName")"),
      HasSubstr("StreamSpecification.StreamViewType is allowed only with StreamEnabled true"));
}

TEST(TableJson, WritesADescription) {
  absl::StatusOr<TableDefinition> definition = ParseTableDefinition(kEcommerce);
  ASSERT_TRUE(definition.ok());
  TableDescription table;
  table.definition = *definition;
  table.table_status = TableStatus::kActive;
  table.table_id = "id-1";
  table.storage_id = 7;
  table.creation_time = absl::FromCivil(absl::CivilSecond(2026, 1, 2, 3, 4, 5), absl::UTCTimeZone());
  table.item_count = 4;
  table.table_size_bytes = 321;
  IndexDescription index;
  index.definition = {.index_name = "I1",
                      .key_schema = {{"SK", KeyType::kHash}},
                      .projection = {ProjectionType::kInclude, {"x"}}};
  index.index_status = TableStatus::kActive;
  index.item_count = 2;
  index.index_size_bytes = 30;
  table.indexes.push_back(index);
  EXPECT_EQ(
      OneLine(TableToJson(table)),
      R"({"TableName": "ecommerce", "TableStatus": "ACTIVE", "TableArn": "arn:aws:dynamodb:local:000000000000:table/ecommerce", "TableId": "id-1", "StorageId": 7, )"
      R"("CreationDateTime": "2026-01-02T03:04:05.000Z", "AttributeDefinitions": [{"AttributeName": "PK", )"
      R"("AttributeType": "S"}, {"AttributeName": "SK", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "PK", )"
      R"("KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}], "BillingModeSummary": {"BillingMode": )"
      R"("PROVISIONED"}, "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}, )"
      R"("GlobalSecondaryIndexes": [{"IndexName": "I1", "IndexStatus": "ACTIVE", "KeySchema": [{"AttributeName": "SK", )"
      R"("KeyType": "HASH"}], "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]}, "ItemCount": 2, )"
      R"("IndexSizeBytes": 30}], "TableClassSummary": {"TableClass": "STANDARD"}, "DeletionProtectionEnabled": false, "StreamSpecification": {"StreamEnabled": false}, )"
      R"("ItemCount": 4, "TableSizeBytes": 321})");
}

// What DescribeTable returns, ours or AWS's, creates the same table.
TEST(TableJson, ReadsADescriptionAsTheRequest) {
  const absl::StatusOr<TableDefinition> wanted = ParseTableDefinition(R"({
"TableName": "T", "BillingMode": "PAY_PER_REQUEST",
"KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}, {"AttributeName": "b", "KeyType": "RANGE"}],
"AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}, {"AttributeName": "b", "AttributeType": "N"}],
"GlobalSecondaryIndexes": [{"IndexName": "G", "KeySchema": [{"AttributeName": "b", "KeyType": "HASH"}],
                            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["c"]}}],
"LocalSecondaryIndexes": [{"IndexName": "L", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"},
                           {"AttributeName": "b", "KeyType": "RANGE"}], "Projection": {"ProjectionType": "ALL"}}],
"VectorIndexes": [{"IndexName": "V", "VectorAttribute": {"AttributeName": "v"}, "Dimensions": 3, "DistanceFunction": "COSINE",
                   "Projection": {"ProjectionType": "ALL"}}],
"Tags": [{"Key": "k", "Value": "v"}], "SSESpecification": {"Enabled": true, "SSEType": "KMS"},
"StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_IMAGE"}, "DeletionProtectionEnabled": true})");
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  TableDescription description{.definition = *wanted,
                               .table_status = TableStatus::kActive,
                               .table_id = "id",
                               .storage_id = 7,
                               .latest_stream_label = "label"};
  description.indexes = {{.definition = wanted->global_secondary_indexes[0],
                          .index_status = TableStatus::kActive,
                          .item_count = 3,
                          .index_size_bytes = 100}};
  description.local_indexes = {{.definition = wanted->local_secondary_indexes[0]}};
  description.vector_indexes = {{.definition = wanted->vector_indexes.at(0),
                                 .index_status = TableStatus::kCreating,
                                 .build = IndexBuild{},
                                 .skipped_items = 1,
                                 .item_count = 3}};
  const JsonValue described = TableToJson(description);
  for (const JsonValue& document : {described, JsonValue::Object().Add("Table", described)}) {
    const absl::StatusOr<TableDefinition> read = TableDefinitionFromJson(document);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(DescribeDifference(*read, *wanted), "");
    EXPECT_EQ(read->tags, wanted->tags);
    EXPECT_TRUE(read->stream_enabled);
    EXPECT_TRUE(read->deletion_protection_enabled);
    ASSERT_TRUE(read->sse_specification.has_value());
    EXPECT_EQ(read->sse_specification->sse_type, "KMS");
  }
  EXPECT_EQ(described.FindOrNull("TableArn")->text, "arn:aws:dynamodb:local:000000000000:table/T");
}

}  // namespace
}  // namespace itemdb::tools
