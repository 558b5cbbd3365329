// Each operation of both protocols moves the counters that it should, by exactly as much as it should, and no
// others. A new operation needs a step here.
#include <google/protobuf/text_format.h>
#include <grpcpp/client_context.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "daemon/access/authorizer.h"
#include "daemon/http/api/json_api.h"
#include "itemdb/v1/changes.grpc.pb.h"
#include "itemdb/v1/data.grpc.pb.h"
#include "tests/metrics/metered_daemon.h"

namespace itemdb::metrics {
namespace {

using Moves = std::map<std::string, double>;

// A commit of one change.
Moves Changed(Moves more = {}) {
  more.insert({{"changes", 1}, {"commits", 1}});
  return more;
}
// A change of an item in a table: capacity units, items and bytes.
Moves Wrote(const std::string& table, double units, double items, double bytes, Moves more = {}) {
  more.insert({{"write " + table, units}, {"items " + table, items}, {"bytes " + table, bytes}});
  return Changed(std::move(more));
}

// ---- over HTTP: the table Birds

constexpr char kMakeBirds[] = R"x({"TableName": "Birds", "BillingMode": "PAY_PER_REQUEST",
  "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
  "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"},
                           {"AttributeName": "kind", "AttributeType": "S"}],
  "GlobalSecondaryIndexes": [{"IndexName": "ByKind", "Projection": {"ProjectionType": "ALL"},
    "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}]}],
  "VectorIndexes": [{"IndexName": "ByShape", "VectorAttribute": {"AttributeName": "shape"}, "Dimensions": 2,
    "DistanceFunction": "EUCLIDEAN", "Projection": {"ProjectionType": "ALL"}}],
  "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"}})x";
// "id", "kind" and their values are 2 + 3 + 4 + 6 bytes long.
constexpr char kOwl[] = R"x({"id": {"S": "owl"}, "kind": {"S": "raptor"}})x";

// How much moves is not known beforehand, or depends on how fast work in the background is.
constexpr double kAny = std::numeric_limits<double>::quiet_NaN();

const std::vector<Step>& HttpSteps() {
  static const auto* const steps = new std::vector<Step>{
      {"CreateTable", kMakeBirds, "Birds", "", 0, Changed({{"tables", 1}, {"indexes Birds", 2}})},
      {"CreateTable", kMakeBirds, "Birds", "RESOURCE_IN_USE"},
      {"ListTables", "{}"},
      {"DescribeTable", R"x({"TableName": "Birds"})x", "Birds", "", 0, {}, {{"TABLE", "/Table/TableArn"}}},
      {"DescribeLimits", "{}"},
      {"DescribeEndpoints", "{}"},
      {"ListGlobalTables", "{}"},

      {"PutItem", absl::StrCat(R"x({"TableName": "Birds", "Item": )x", kOwl, "}"), "Birds", "", 0,
       Wrote("Birds", 1, 1, 15, {{"write Birds.ByKind", 1}})},
      // The condition is false. Capacity is consumed all the same.
      {"PutItem",
       absl::StrCat(R"x({"TableName": "Birds", "ConditionExpression": "attribute_not_exists(id)", "Item": )x",
                    kOwl, "}"),
       "Birds",
       "CONDITIONAL_CHECK_FAILED",
       0,
       {{"write Birds", 1}}},
      // A key of another type.
      {"PutItem", R"x({"TableName": "Birds", "Item": {"id": {"N": "1"}}})x", "Birds", "VALIDATION"},
      // A table that no request has found is not counted by table.
      {"GetItem", R"x({"TableName": "Absent", "Key": {"id": {"S": "owl"}}})x", "", "RESOURCE_NOT_FOUND"},
      {"GetItem",
       R"x({"TableName": "Birds", "Key": {"id": {"S": "owl"}}})x",
       "Birds",
       "",
       1,
       {{"read Birds", 0.5}}},
      {"GetItem",
       R"x({"TableName": "Birds", "ConsistentRead": true, "Key": {"id": {"S": "dodo"}}})x",
       "Birds",
       "",
       0,
       {{"read Birds", 1}}},
      // A table may be named by its ARN.
      {"GetItem",
       R"x({"TableName": "@TABLE@", "Key": {"id": {"S": "owl"}}})x",
       "Birds",
       "",
       1,
       {{"read Birds", 0.5}}},
      {"UpdateItem",
       R"x({"TableName": "Birds", "Key": {"id": {"S": "owl"}}, "UpdateExpression": "SET n = :n",
            "ExpressionAttributeValues": {":n": {"N": "1"}}})x",
       "Birds", "", 0, Wrote("Birds", 1, 0, 3, {{"write Birds.ByKind", 1}})},
      {"UpdateItem",
       R"x({"TableName": "Birds", "Key": {"id": {"S": "owl"}}, "UpdateExpression": "SET n = :n",
            "ConditionExpression": "n = :m",
            "ExpressionAttributeValues": {":n": {"N": "1"}, ":m": {"N": "7"}}})x",
       "Birds",
       "CONDITIONAL_CHECK_FAILED",
       0,
       {{"write Birds", 1}}},
      {"BatchWriteItem",
       R"x({"RequestItems": {"Birds": [
            {"PutRequest": {"Item": {"id": {"S": "kite"}, "kind": {"S": "raptor"}}}},
            {"PutRequest": {"Item": {"id": {"S": "wren"}, "shape": {"L": [{"N": "1"}, {"N": "2"}]}}}}]}})x",
       "Birds",
       "",
       0,
       {{"changes", 2},
        {"commits", 1},
        {"write Birds", 2},
        {"write Birds.ByKind", 1},
        {"items Birds", 2},
        {"bytes Birds", 16 + 20}}},
      {"BatchGetItem",
       R"x({"RequestItems": {"Birds": {"Keys": [{"id": {"S": "kite"}}, {"id": {"S": "dodo"}}]}}})x",
       "Birds",
       "",
       1,
       {{"read Birds", 1}}},
      {"Query",
       R"x({"TableName": "Birds", "IndexName": "ByKind", "KeyConditionExpression": "kind = :k",
            "ExpressionAttributeValues": {":k": {"S": "raptor"}}})x",
       "Birds",
       "",
       2,
       {{"read Birds.ByKind", 0.5}}},
      {"Scan", R"x({"TableName": "Birds"})x", "Birds", "", 3, {{"read Birds", 0.5}}},
      // The first search reads the index into memory.
      {"SearchVectors",
       R"x({"TableName": "Birds", "IndexName": "ByShape", "TopK": 3,
            "SearchVector": [{"N": "0"}, {"N": "0"}]})x",
       "Birds",
       "",
       1,
       {{"itemdb_vector_copies", 1},
        {"itemdb_vector_copies_made_total", 1},
        {"itemdb_vector_copy_entries", 1},
        {"itemdb_vector_copy_bytes", kAny}}},
      {"SearchVectors",
       R"x({"TableName": "Birds", "IndexName": "ByShape", "TopK": 3,
            "SearchVector": [{"N": "0"}, {"N": "0"}]})x",
       "Birds", "", 1},
      {"TransactWriteItems",
       R"x({"TransactItems": [{"Put": {"TableName": "Birds", "Item": {"id": {"S": "emu"}}}},
            {"ConditionCheck": {"TableName": "Birds", "Key": {"id": {"S": "owl"}},
                                "ConditionExpression": "attribute_exists(id)"}}]})x",
       "Birds", "", 0, Wrote("Birds", 4, 1, 5)},
      {"TransactWriteItems",
       R"x({"TransactItems": [{"Put": {"TableName": "Birds", "Item": {"id": {"S": "emu"}},
                                       "ConditionExpression": "attribute_not_exists(id)"}}]})x",
       "Birds",
       "TRANSACTION_CANCELLED",
       0,
       {{"write Birds", 2}}},
      {"TransactGetItems",
       R"x({"TransactItems": [{"Get": {"TableName": "Birds", "Key": {"id": {"S": "emu"}}}}]})x",
       "Birds",
       "",
       1,
       {{"read Birds", 2}}},
      {"TransactGetItems",
       R"x({"TransactItems": [{"Get": {"TableName": "Birds", "Key": {"id": {"N": "1"}}}}]})x", "Birds",
       "TRANSACTION_CANCELLED"},
      // The table of a statement is in its text. Statements of several tables count for none.
      {"ExecuteStatement",
       R"x({"Statement": "SELECT * FROM Birds WHERE id = 'emu'"})x",
       "Birds",
       "",
       1,
       {{"read Birds", 0.5}}},
      {"ExecuteStatement",
       R"x({"Statement": "INSERT INTO Birds VALUE {'id': 'emu'}"})x",
       "Birds",
       "DUPLICATE_ITEM",
       0,
       {{"write Birds", 1}}},
      {"ExecuteStatement",
       R"x({"Statement": "DELETE FROM Birds WHERE id = 'emu' AND n = 1"})x",
       "Birds",
       "CONDITIONAL_CHECK_FAILED",
       0,
       {{"write Birds", 1}}},
      {"BatchExecuteStatement",
       R"x({"Statements": [{"Statement": "INSERT INTO Birds VALUE {'id': 'rhea'}"},
                           {"Statement": "INSERT INTO Birds VALUE {'id': 'emu'}"}]})x",
       "Birds", "", 0, Wrote("Birds", 2, 1, 6)},
      {"BatchExecuteStatement",
       R"x({"Statements": [{"Statement": "SELECT * FROM Birds WHERE id = 'rhea'"},
                           {"Statement": "SELECT * FROM \"Birds\" WHERE id = 'dodo'"}]})x",
       "Birds",
       "",
       1,
       {{"read Birds", 1}}},
      {"BatchExecuteStatement",
       R"x({"Statements": [{"Statement": "SELECT * FROM Birds WHERE id = 'rhea'"},
                           {"Statement": "SELECT * FROM Absent WHERE id = 'dodo'"}]})x",
       "",
       "",
       1,
       {{"read Birds", 0.5}}},
      {"ExecuteTransaction",
       R"x({"TransactStatements": [{"Statement": "SELECT * FROM Birds WHERE id = 'rhea'"}]})x",
       "Birds",
       "",
       1,
       {{"read Birds", 2}}},
      {"ExecuteTransaction",
       R"x({"TransactStatements": [{"Statement": "DELETE FROM Birds WHERE id = 'rhea'"}]})x", "Birds", "", 0,
       Wrote("Birds", 2, -1, -6)},
      {"DeleteItem", R"x({"TableName": "Birds", "Key": {"id": {"S": "emu"}}})x", "Birds", "", 0,
       Wrote("Birds", 1, -1, -5)},
      // Nothing changes, and capacity is consumed.
      {"DeleteItem",
       R"x({"TableName": "Birds", "Key": {"id": {"S": "emu"}}})x",
       "Birds",
       "",
       0,
       {{"write Birds", 1}}},

      {"TagResource", R"x({"ResourceArn": "@TABLE@", "Tags": [{"Key": "k", "Value": "v"}]})x", "Birds", "", 0,
       Changed()},
      {"ListTagsOfResource", R"x({"ResourceArn": "@TABLE@"})x", "Birds"},
      {"UntagResource", R"x({"ResourceArn": "@TABLE@", "TagKeys": ["k"]})x", "Birds", "", 0, Changed()},
      {"UpdateTable", R"x({"TableName": "Birds", "DeletionProtectionEnabled": true})x", "Birds", "", 0,
       Changed()},
      // Failures are counted by table from the first success of the operation on.
      {"DeleteTable", R"x({"TableName": "Birds"})x", "", "VALIDATION"},
      {"UpdateTable", R"x({"TableName": "Birds", "DeletionProtectionEnabled": false})x", "Birds", "", 0,
       Changed()},
      {"UpdateContributorInsights", R"x({"TableName": "Birds", "ContributorInsightsAction": "ENABLE"})x",
       "Birds", "", 0, Changed()},
      {"DescribeContributorInsights", R"x({"TableName": "Birds"})x", "Birds"},
      {"ListContributorInsights", R"x({"TableName": "Birds"})x", "Birds"},
      {"DescribeKinesisStreamingDestination", R"x({"TableName": "Birds"})x", "Birds"},
      {"GetResourcePolicy", R"x({"ResourceArn": "@TABLE@"})x", "", "PolicyNotFoundException"},
      {"DeleteResourcePolicy", R"x({"ResourceArn": "@TABLE@"})x", "Birds"},

      {"ListStreams",
       R"x({"TableName": "Birds"})x",
       "Birds",
       "",
       0,
       {},
       {{"STREAM", "/Streams/0/StreamArn"}}},
      {"DescribeStream",
       R"x({"StreamArn": "@STREAM@"})x",
       "",
       "",
       0,
       {},
       {{"SHARD", "/StreamDescription/Shards/0/ShardId"}}},
      {"GetShardIterator",
       R"x({"StreamArn": "@STREAM@", "ShardId": "@SHARD@", "ShardIteratorType": "TRIM_HORIZON"})x",
       "",
       "",
       0,
       {},
       {{"ITERATOR", "/ShardIterator"}}},
      // The records of all changes of items above.
      {"GetRecords", R"x({"ShardIterator": "@ITERATOR@"})x", "", "", 8},

      {"CreateBackup",
       R"x({"TableName": "Birds", "BackupName": "nest"})x",
       "Birds",
       "",
       0,
       {},
       {{"BACKUP", "/BackupDetails/BackupArn"}}},
      {"ListBackups", "{}"},
      {"DescribeBackup", R"x({"BackupArn": "@BACKUP@"})x"},
      {.operation = "DescribeBackup",
       .request = R"x({"BackupArn": "@BACKUP@"})x",
       .until = {"/BackupDescription/BackupDetails/BackupStatus", "AVAILABLE"}},
      {"RestoreTableFromBackup",
       R"x({"TargetTableName": "Restored", "BackupArn": "@BACKUP@"})x",
       "",
       "",
       0,
       {{"tables", 1},
        {"changes", 1},
        {"commits", kAny},
        {"items Restored", 3},
        {"bytes Restored", 54},
        {"indexes Restored", 2}}},
      {"DeleteBackup", R"x({"BackupArn": "@BACKUP@"})x"},
      {"UpdateContinuousBackups",
       R"x({"TableName": "Birds", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}})x",
       "Birds", "", 0, Changed()},
      {"DescribeContinuousBackups", R"x({"TableName": "Birds"})x", "Birds"},
      {"ExportTableToPointInTime",
       R"x({"TableArn": "@TABLE@", "S3Bucket": "bucket"})x",
       "",
       "",
       0,
       {{"commits", kAny}},
       {{"EXPORT", "/ExportDescription/ExportArn"}}},
      {.operation = "DescribeExport",
       .request = R"x({"ExportArn": "@EXPORT@"})x",
       .until = {"/ExportDescription/ExportStatus", "COMPLETED"}},
      {"DescribeExport", R"x({"ExportArn": "@EXPORT@"})x"},
      {"ListExports", "{}"},
      {"RestoreTableToPointInTime",
       R"x({"SourceTableName": "Birds", "TargetTableName": "Earlier", "UseLatestRestorableTime": true})x",
       "",
       "",
       0,
       {{"tables", 1},
        {"changes", 1},
        {"commits", kAny},
        {"items Earlier", 3},
        {"bytes Earlier", 54},
        {"indexes Earlier", 2}}},
      {"ImportTable",
       R"x({"S3BucketSource": {"S3Bucket": "bucket", "S3KeyPrefix": "in/"}, "InputFormat": "DYNAMODB_JSON",
            "TableCreationParameters": {"TableName": "Imported", "BillingMode": "PAY_PER_REQUEST",
              "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
              "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}})x",
       "",
       "",
       0,
       {{"tables", 1}, {"changes", 1}, {"commits", kAny}, {"items Imported", 1}, {"bytes Imported", 5}},
       {{"IMPORT", "/ImportTableDescription/ImportArn"}}},
      {.operation = "DescribeImport",
       .request = R"x({"ImportArn": "@IMPORT@"})x",
       .until = {"/ImportTableDescription/ImportStatus", "COMPLETED"}},
      {"DescribeImport", R"x({"ImportArn": "@IMPORT@"})x"},
      {"ListImports", "{}"},
      {"StartBulkPutItems",
       R"x({"TableName": "Birds", "InputS3Configuration": {"S3Bucket": "bucket", "S3KeyPrefix": "in/",
              "InputFormat": "DYNAMODB_JSON"}, "OutputS3Configuration": {"OutputType": ["ERROR"]}})x",
       "Birds",
       "",
       0,
       {{"changes", 1}, {"commits", kAny}, {"write Birds", 1}, {"items Birds", 1}, {"bytes Birds", 5}},
       {{"BULK", "/BulkOperationDescription/BulkOperationArn"}}},
      {.operation = "DescribeBulkOperation",
       .request = R"x({"BulkOperationArn": "@BULK@"})x",
       .until = {"/BulkOperationDescription/BulkOperationStatus", "COMPLETED"}},
      // What the operation has kept for its end is deleted after it.
      {"DescribeBulkOperation", R"x({"BulkOperationArn": "@BULK@"})x", "", "", 0, {{"commits", kAny}}},
      {"ListBulkOperations", "{}", "", "", 0, {{"commits", kAny}}},
      {"CancelBulkOperation", R"x({"BulkOperationArn": "@BULK@"})x", "", "", 0, {{"commits", kAny}}},

      // The second change says that its index is built.
      {"UpdateTimeToLive",
       R"x({"TableName": "Birds", "TimeToLiveSpecification": {"Enabled": true, "AttributeName": "until"}})x",
       "Birds",
       "",
       0,
       {{"changes", 2}, {"commits", kAny}}},
      {"DescribeTimeToLive", R"x({"TableName": "Birds"})x", "Birds"},
      // Its time was over a minute ago: it is deleted soon after it was put. That costs nothing.
      {"PutItem",
       R"x({"TableName": "Birds", "Item": {"id": {"S": "dodo"}, "until": {"N": "@PAST@"}}})x",
       "Birds",
       "",
       0,
       {{"changes", 2}, {"commits", 2}, {"write Birds", 1}, {"expired Birds", 1}}},
      // What was counted for the table goes with it.
      {"DeleteTable",
       R"x({"TableName": "Birds"})x",
       "",
       "",
       0,
       {{"tables", -1},
        {"changes", 1},
        {"commits", kAny},
        {"itemdb_vector_copies", -1},
        {"itemdb_vector_copy_entries", -1},
        {"itemdb_vector_copy_bytes", kAny}}},
  };
  return *steps;
}

// ---- over gRPC: the table Fish

constexpr char kMakeFish[] = R"x(table_name: 'Fish' billing_mode: BILLING_MODE_PAY_PER_REQUEST
  key_schema { attribute_name: 'id' key_type: KEY_TYPE_HASH }
  attribute_definitions { attribute_name: 'id' attribute_type: SCALAR_ATTRIBUTE_TYPE_S }
  attribute_definitions { attribute_name: 'kind' attribute_type: SCALAR_ATTRIBUTE_TYPE_S }
  global_secondary_indexes { index_name: 'ByKind' projection { projection_type: PROJECTION_TYPE_ALL }
    key_schema { attribute_name: 'kind' key_type: KEY_TYPE_HASH } }
  vector_indexes { index_name: 'ByShape' vector_attribute: 'shape' dimensions: 2
    distance_function: VECTOR_DISTANCE_FUNCTION_EUCLIDEAN projection { projection_type: PROJECTION_TYPE_ALL } }
  stream_enabled: true stream_view_type: STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES)x";

// The text of a message with the attributes "id" and, unless it is empty, "kind".
std::string Fish(const std::string& id, const std::string& kind = "") {
  std::string text = absl::StrCat("{ attributes { name: 'id' value { s: '", id, "' } } ");
  if (!kind.empty()) absl::StrAppend(&text, "attributes { name: 'kind' value { s: '", kind, "' } } ");
  return text + "}";
}
std::string OfFish(const std::string& more) { return "table_name: 'Fish' " + more; }

const std::vector<Step>& GrpcSteps() {
  static const auto* const steps = new std::vector<Step>{
      {"Tables/CreateTable", kMakeFish, "Fish", "", 0, Changed({{"tables", 1}, {"indexes Fish", 2}})},
      {"Tables/CreateTable", kMakeFish, "Fish", "RESOURCE_IN_USE"},
      {"Tables/ListTables", ""},
      {"Tables/DescribeTable", OfFish(""), "Fish"},
      {"Tables/DescribeLimits", ""},

      {"Data/PutItem", OfFish("item " + Fish("cod", "bony")), "Fish", "", 0,
       Wrote("Fish", 1, 1, 13, {{"write Fish.ByKind", 1}})},
      {"Data/PutItem",
       OfFish("condition_expression: 'attribute_not_exists(id)' item " + Fish("cod", "bony")),
       "Fish",
       "CONDITIONAL_CHECK_FAILED",
       0,
       {{"write Fish", 1}}},
      {"Data/PutItem", OfFish("item { attributes { name: 'id' value { n: '1' } } }"), "Fish", "VALIDATION"},
      {"Data/GetItem", "table_name: 'Absent' key " + Fish("cod"), "", "RESOURCE_NOT_FOUND"},
      {"Data/GetItem", OfFish("key " + Fish("cod")), "Fish", "", 1, {{"read Fish", 0.5}}},
      {"Data/GetItem", OfFish("consistent_read: true key " + Fish("eel")), "Fish", "", 0, {{"read Fish", 1}}},
      {"Data/GetItem",
       "table_name: 'arn:aws:dynamodb:local:000000000000:table/Fish' key " + Fish("cod"),
       "Fish",
       "",
       1,
       {{"read Fish", 0.5}}},
      {"Data/UpdateItem",
       OfFish("update_expression: 'SET n = :n' "
              "expression_attribute_values { key: ':n' value { n: '1' } } key " +
              Fish("cod")),
       "Fish", "", 0, Wrote("Fish", 1, 0, 3, {{"write Fish.ByKind", 1}})},
      {"Data/BatchWriteItem",
       absl::StrCat("request_items { table_name: 'Fish' write_requests { put_request { item ",
                    Fish("tuna", "bony"), " } } write_requests { put_request { item { attributes { name: ",
                    "'id' value { s: 'ray' } } attributes { name: 'shape' value { l { values { n: '1' } ",
                    "values { n: '2' } } } } } } } }"),
       "Fish",
       "",
       0,
       {{"changes", 2},
        {"commits", 1},
        {"write Fish", 2},
        {"write Fish.ByKind", 1},
        {"items Fish", 2},
        {"bytes Fish", 14 + 19}}},
      {"Data/BatchGetItem",
       absl::StrCat("request_items { table_name: 'Fish' keys ", Fish("tuna"), " keys ", Fish("eel"), " }"),
       "Fish",
       "",
       1,
       {{"read Fish", 1}}},
      {"Data/Query",
       OfFish("index_name: 'ByKind' key_condition_expression: 'kind = :k' "
              "expression_attribute_values { key: ':k' value { s: 'bony' } }"),
       "Fish",
       "",
       2,
       {{"read Fish.ByKind", 0.5}}},
      {"Data/Scan", OfFish(""), "Fish", "", 3, {{"read Fish", 0.5}}},
      {"Data/SearchVectors",
       OfFish("index_name: 'ByShape' top_k: 3 search_vector { n: '0' } search_vector { n: '0' }"),
       "Fish",
       "",
       1,
       {{"itemdb_vector_copies", 1},
        {"itemdb_vector_copies_made_total", 1},
        {"itemdb_vector_copy_entries", 1},
        {"itemdb_vector_copy_bytes", kAny}}},
      {"Data/TransactWriteItems",
       absl::StrCat("transact_items { put { table_name: 'Fish' item ", Fish("eel"),
                    " } } transact_items { condition_check { table_name: 'Fish' condition_expression: ",
                    "'attribute_exists(id)' key ", Fish("cod"), " } }"),
       "Fish", "", 0, Wrote("Fish", 4, 1, 5)},
      {"Data/TransactWriteItems",
       absl::StrCat("transact_items { put { table_name: 'Fish' condition_expression: ",
                    "'attribute_not_exists(id)' item ", Fish("eel"), " } }"),
       "Fish",
       "TRANSACTION_CANCELLED",
       0,
       {{"write Fish", 2}}},
      {"Data/TransactGetItems",
       "transact_items { table_name: 'Fish' key " + Fish("eel") + " }",
       "Fish",
       "",
       1,
       {{"read Fish", 2}}},
      {"Data/TransactGetItems",
       "transact_items { table_name: 'Fish' key { attributes { name: 'id' value { n: '1' } } } }", "Fish",
       "TRANSACTION_CANCELLED"},
      {"Data/ExecuteStatement",
       R"x(statement: "SELECT * FROM Fish WHERE id = 'eel'")x",
       "Fish",
       "",
       1,
       {{"read Fish", 0.5}}},
      {"Data/ExecuteStatement",
       R"x(statement: "INSERT INTO Fish VALUE {'id': 'eel'}")x",
       "Fish",
       "DUPLICATE_ITEM",
       0,
       {{"write Fish", 1}}},
      {"Data/ExecuteStatement",
       R"x(statement: "DELETE FROM Fish WHERE id = 'eel' AND n = 1")x",
       "Fish",
       "CONDITIONAL_CHECK_FAILED",
       0,
       {{"write Fish", 1}}},
      {"Data/BatchExecuteStatement",
       R"x(statements { statement: "INSERT INTO Fish VALUE {'id': 'dace'}" }
           statements { statement: "INSERT INTO Fish VALUE {'id': 'eel'}" })x",
       "Fish", "", 0, Wrote("Fish", 2, 1, 6)},
      {"Data/BatchExecuteStatement",
       R"x(statements { statement: "SELECT * FROM Fish WHERE id = 'dace'" }
           statements { statement: "SELECT * FROM Fish WHERE id = 'cod2'" })x",
       "Fish",
       "",
       1,
       {{"read Fish", 1}}},
      {"Data/ExecuteTransaction",
       R"x(transact_statements { statement: "SELECT * FROM Fish WHERE id = 'dace'" })x",
       "Fish",
       "",
       1,
       {{"read Fish", 2}}},
      {"Data/ExecuteTransaction",
       R"x(transact_statements { statement: "DELETE FROM Fish WHERE id = 'dace'" })x", "Fish", "", 0,
       Wrote("Fish", 2, -1, -6)},
      {"Data/DeleteItem", OfFish("key " + Fish("eel")), "Fish", "", 0, Wrote("Fish", 1, -1, -5)},

      {"Tables/TagTable", OfFish("tags { key: 'k' value: 'v' }"), "Fish", "", 0, Changed()},
      {"Tables/UntagTable", OfFish("tag_keys: 'k'"), "Fish", "", 0, Changed()},
      {"Tables/UpdateTable", OfFish("deletion_protection_enabled: true"), "Fish", "", 0, Changed()},
      {"Tables/DeleteTable", OfFish(""), "", "VALIDATION"},
      {"Tables/UpdateTable", OfFish("deletion_protection_enabled: false"), "Fish", "", 0, Changed()},

      {"Changes/ReadChanges", "", "", "", 0, {}, {{"LAST", "/change_sequence"}}},
      {"Changes/HoldChanges", "name: 'nets' after_sequence: @LAST@", "", "", 0, {{"commits", 1}}},
      {"Changes/ReleaseChanges", "name: 'nets'", "", "", 0, {{"commits", 1}}},
      {"Changes/ReleaseChanges", "name: 'nets'", "", "HOLD_ENDED"},
      {"Changes/UndoChanges", OfFish("from_sequence: @LAST@ to_sequence: @LAST@"), "Fish"},

      {"Backups/CreateBackup",
       OfFish("backup_name: 'nets'"),
       "Fish",
       "",
       0,
       {},
       {{"BACKUP", "/backup/backup_arn"}}},
      {"Backups/ListBackups", ""},
      {.operation = "Backups/DescribeBackup",
       .request = "backup_arn: '@BACKUP@'",
       .until = {"/backup/backup_status", "BACKUP_STATUS_AVAILABLE"}},
      {"Backups/DescribeBackup", "backup_arn: '@BACKUP@'"},
      {"Backups/RestoreTableFromBackup",
       "target_table_name: 'Restored' backup_arn: '@BACKUP@'",
       "",
       "",
       0,
       {{"tables", 1},
        {"changes", 1},
        {"commits", kAny},
        {"items Restored", 3},
        {"bytes Restored", 49},
        {"indexes Restored", 2}}},
      {"Backups/DeleteBackup", "backup_arn: '@BACKUP@'"},
      {"Backups/UpdateContinuousBackups", OfFish("point_in_time_recovery_enabled: true"), "Fish", "", 0,
       Changed()},
      {"Backups/DescribeContinuousBackups", OfFish(""), "Fish"},
      {"Exports/ExportTableToPointInTime",
       "table_arn: 'arn:aws:dynamodb:local:000000000000:table/Fish' s3_bucket: 'bucket'",
       "",
       "",
       0,
       {{"commits", kAny}},
       {{"EXPORT", "/description/export_arn"}}},
      {.operation = "Exports/DescribeExport",
       .request = "export_arn: '@EXPORT@'",
       .until = {"/description/export_status", "EXPORT_STATUS_COMPLETED"}},
      {"Exports/DescribeExport", "export_arn: '@EXPORT@'"},
      {"Exports/ListExports", ""},
      {"Backups/RestoreTableToPointInTime",
       "source_table_name: 'Fish' target_table_name: 'Earlier' use_latest_restorable_time: true",
       "",
       "",
       0,
       {{"tables", 1},
        {"changes", 1},
        {"commits", kAny},
        {"items Earlier", 3},
        {"bytes Earlier", 49},
        {"indexes Earlier", 2}}},
      {"Imports/ImportTable",
       R"x(s3_bucket_source { s3_bucket: 'bucket' s3_key_prefix: 'in/' } input_format: INPUT_FORMAT_DYNAMODB_JSON
           table_creation_parameters { table_name: 'Imported' billing_mode: BILLING_MODE_PAY_PER_REQUEST
             key_schema { attribute_name: 'id' key_type: KEY_TYPE_HASH }
             attribute_definitions { attribute_name: 'id' attribute_type: SCALAR_ATTRIBUTE_TYPE_S } })x",
       "",
       "",
       0,
       {{"tables", 1}, {"changes", 1}, {"commits", kAny}, {"items Imported", 1}, {"bytes Imported", 5}},
       {{"IMPORT", "/import/import_arn"}}},
      {.operation = "Imports/DescribeImport",
       .request = "import_arn: '@IMPORT@'",
       .until = {"/import/import_status", "IMPORT_STATUS_COMPLETED"}},
      {"Imports/DescribeImport", "import_arn: '@IMPORT@'"},
      {"Imports/ListImports", ""},
      {"BulkPuts/StartBulkPutItems",
       OfFish("input { s3_bucket: 'bucket' s3_key_prefix: 'in/' input_format: INPUT_FORMAT_DYNAMODB_JSON } "
              "output { output_type: BULK_OUTPUT_TYPE_ERROR }"),
       "Fish",
       "",
       0,
       {{"changes", 1}, {"commits", kAny}, {"write Fish", 1}, {"items Fish", 1}, {"bytes Fish", 5}},
       {{"BULK", "/description/bulk_operation_arn"}}},
      {.operation = "BulkPuts/DescribeBulkOperation",
       .request = "bulk_operation_arn: '@BULK@'",
       .until = {"/description/bulk_operation_status", "BULK_OPERATION_STATUS_COMPLETED"}},
      {"BulkPuts/DescribeBulkOperation", "bulk_operation_arn: '@BULK@'", "", "", 0, {{"commits", kAny}}},
      {"BulkPuts/ListBulkOperations", "", "", "", 0, {{"commits", kAny}}},
      {"BulkPuts/CancelBulkOperation", "bulk_operation_arn: '@BULK@'", "", "", 0, {{"commits", kAny}}},

      {"Tables/UpdateTimeToLive",
       OfFish("time_to_live_specification { enabled: true attribute_name: 'until' }"),
       "Fish",
       "",
       0,
       {{"changes", 2}, {"commits", kAny}}},
      {"Tables/DescribeTimeToLive", OfFish(""), "Fish"},
      {"Data/PutItem",
       OfFish("item { attributes { name: 'id' value { s: 'carp' } } "
              "attributes { name: 'until' value { n: '@PAST@' } } }"),
       "Fish",
       "",
       0,
       {{"changes", 2}, {"commits", 2}, {"write Fish", 1}, {"expired Fish", 1}}},

      {"Admin/GetStatus", "with_tables: true"},
      {"Admin/CheckDatabase", ""},
      {"Admin/GetAccessPatterns", OfFish(""), "Fish"},
      {"Tables/UpdateContributorInsights",
       OfFish("contributor_insights_action: CONTRIBUTOR_INSIGHTS_ACTION_ENABLE"), "Fish", "", 0, Changed()},
      {"Tables/DescribeContributorInsights", OfFish(""), "Fish"},
      {"Tables/ListContributorInsights", OfFish(""), "Fish"},
      {"Admin/GetTopKeys", OfFish(""), "Fish"},
      {"Admin/CreateDatabaseBackup", "", "", "", 0, {}, {{"ID", "/backup_id"}}},
      {"Admin/ListDatabaseBackups", ""},
      {"Admin/VerifyDatabaseBackup", "backup_id: @ID@"},
      {"Admin/DeleteDatabaseBackups", "backup_id: @ID@"},
      {"Admin/ListDamage", ""},
      // The item can be read.
      {"Admin/DiscardDamagedItem", OfFish("key " + Fish("cod")), "", "VALIDATION"},
      // It is no standby.
      {"Admin/Promote", "", "", "VALIDATION"},
      {"Replication/ListReplicationFiles", "from_segment: 1", "", "", 0, {}, {{"SEGMENT", "/files/0/name"}}},
      {"Replication/ReadReplicationFile",
       "folder: REPLICATION_FOLDER_ARCHIVE name: '@SEGMENT@' max_bytes: 100"},
      // Of another database.
      {"Replication/FencePrimary", "primary_database_id: 'other'", "", "VALIDATION"},
      {"Tables/DeleteTable",
       OfFish(""),
       "",
       "",
       0,
       {{"tables", -1},
        {"changes", 1},
        {"commits", kAny},
        {"itemdb_vector_copies", -1},
        {"itemdb_vector_copy_entries", -1},
        {"itemdb_vector_copy_bytes", kAny}}},
  };
  return *steps;
}

class OperationMetrics : public MeteredDaemon {
 protected:
  void SetUp() override {
    const std::string folder = directory_.path() + "/exports/bucket/in";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/1.json") << R"x({"Item": {"id": {"S": "moa"}}})x"
                                      << "\n";
    Start({"--background-check-rate", "0", "--file-check-rate", "0", "--archive-directory",
           directory_.path() + "/archive", "--backup-directory", directory_.path() + "/backups",
           "--export-directory", directory_.path() + "/exports"});
    Keep("PAST", absl::StrCat(time(nullptr) - 60));
    // The archive begins with a backup.
    Run({.operation = "Replication/ListReplicationFiles",
         .request = "with_backup: true",
         .until = {"/files/0/folder", "REPLICATION_FOLDER_BACKUPS"}});
  }

  // Reads a stream of pages to its end; they have so many items each.
  template <typename Reply, typename Request>
  void RunPages(Step step, const std::vector<int>& items, const Request& request,
                std::unique_ptr<grpc::ClientReader<Reply>> (v1::Data::Stub::*start)(grpc::ClientContext*,
                                                                                    const Request&)) {
    SCOPED_TRACE(step.operation);
    const std::unique_ptr<v1::Data::Stub> data = v1::Data::NewStub(grpc_->channel());
    grpc::ClientContext context;
    const auto stream = (data.get()->*start)(&context, request);
    Series moves;
    auto request_bytes = static_cast<int64_t>(request.ByteSizeLong());
    for (const int of_page : items) {
      Reply page;
      ASSERT_TRUE(stream->Read(&page));
      EXPECT_EQ(page.items_size(), of_page);
      step.items = of_page;
      AddCall("grpc", step, std::exchange(request_bytes, 0), static_cast<int64_t>(page.ByteSizeLong()),
              &moves);
      step.moves.clear();
    }
    Reply more;
    EXPECT_FALSE(stream->Read(&more));
    EXPECT_TRUE(stream->Finish().ok());
    ExpectMoves(moves);
  }
};

TEST_F(OperationMetrics, OverHttp) {
  std::set<std::string> called;
  for (const Step& step : HttpSteps()) called.insert(step.operation);
  for (const std::string& target : http::OperationTargets())
    EXPECT_TRUE(called.contains(target.substr(target.find('.') + 1))) << target << " has no step";
  RunAll(HttpSteps());
  // There is no such operation, and no end of names.
  ASSERT_TRUE(http_->Send(http::PostRequest("NoSuchOperation", "{}")));
  EXPECT_EQ(http_->ReadReply().value_or(http::RawReply()).status, 400);
  ExpectMoves({{"itemdb_commits_total", kAny}});  // The space of the table comes back.
}

TEST_F(OperationMetrics, OverGrpc) {
  std::set<std::string> called = {"Data/QueryStream", "Data/ScanStream", "Data/BulkWrite", "Changes/Watch"};
  for (const Step& step : GrpcSteps()) called.insert(step.operation);
  for (const daemon::MethodRole& row : daemon::MethodRoles()) {
    const std::string_view method = row.method;
    if (method.starts_with("grpc.")) continue;  // What all servers have.
    EXPECT_TRUE(called.contains(std::string(method.substr(method.rfind('.') + 1))))
        << method << " has no step";
  }
  RunAll(GrpcSteps());
}

// A page and a chunk are a request each. Open streams and watches are counted while they are open.
TEST_F(OperationMetrics, OfStreams) {
  Run({"Tables/CreateTable", kMakeFish, "Fish", "", 0, Changed({{"tables", 1}, {"indexes Fish", 2}})});
  v1::BulkWriteChunk chunk;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      absl::StrCat("chunk_number: 1 request_items { table_name: 'Fish' write_requests { put_request { item ",
                   Fish("cod", "bony"), " } } write_requests { put_request { item ", Fish("eel"), " } } }"),
      &chunk));
  const e2e::RawReply written = grpc_->Exchange("itemdb.v1.Data/BulkWrite", chunk.SerializeAsString());
  ASSERT_TRUE(written.status.ok()) << written.status.error_message();
  Series moves;
  AddCall("grpc",
          {"Data/BulkWrite",
           "",
           "Fish",
           "",
           0,
           {{"changes", 2},
            {"commits", 1},
            {"write Fish", 2},
            {"write Fish.ByKind", 1},
            {"items Fish", 2},
            {"bytes Fish", 13 + 5}}},
          static_cast<int64_t>(chunk.ByteSizeLong()), static_cast<int64_t>(written.bytes.size()), &moves);
  ExpectMoves(moves);

  v1::QueryStreamRequest query;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      absl::StrCat("query { ",
                   OfFish("key_condition_expression: 'id = :i' "
                          "expression_attribute_values { key: ':i' value { s: 'cod' } }"),
                   " }"),
      &query));
  RunPages({.operation = "Data/QueryStream", .request = "", .table = "Fish", .moves = {{"read Fish", 0.5}}},
           {1}, query, &v1::Data::Stub::QueryStream);
  v1::ScanStreamRequest scan;
  scan.mutable_scan()->set_table_name("Fish");
  Step scanned{.operation = "Data/ScanStream", .request = "", .table = "Fish", .moves = {{"read Fish", 0.5}}};
  RunPages(scanned, {2}, scan, &v1::Data::Stub::ScanStream);
  // A page ends at 1 MiB.
  constexpr int kLongBytes = 390'000;
  for (const char* id : {"a", "b", "c", "d"}) {
    Run({"Data/PutItem",
         absl::StrCat("table_name: 'Fish' item { attributes { name: 'id' value { s: '", id,
                      "' } } attributes { name: 'x' value { s: '", std::string(kLongBytes, 'x'), "' } } }"),
         "Fish", "", 0, Wrote("Fish", 381, 1, kLongBytes + 4)});
  }
  scanned.moves = {{"read Fish", kAny}};
  RunPages(scanned, {3, 3}, scan, &v1::Data::Stub::ScanStream);

  // A watch counts no requests: it is open as long as its reader likes.
  const std::unique_ptr<v1::Changes::Stub> changes = v1::Changes::NewStub(grpc_->channel());
  {
    grpc::ClientContext context;
    v1::WatchRequest request;
    request.set_after_sequence(0);
    const auto watch = changes->Watch(&context, request);
    v1::WatchReply reply;
    for (int records = 0; records < 1 + 2 + 4; records += reply.records_size())
      ASSERT_TRUE(watch->Read(&reply));
    Series opened;
    for (const char* name : {"streams", "watches", "itemdb_requests_in_flight"}) {
      for (const std::string& series : NamesOf(name)) opened[series] = 1;
    }
    ExpectMoves(opened);
    context.TryCancel();
    while (watch->Read(&reply)) {
    }
    EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::CANCELLED);
    Series closed = opened;
    for (auto& [name, by] : closed) by = -1;
    ExpectMoves(closed);
  }
}

}  // namespace
}  // namespace itemdb::metrics
