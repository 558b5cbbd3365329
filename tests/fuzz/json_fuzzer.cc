// Sends mutated JSON bodies through an operation: parse, check, database, reply. Run by `./dev fuzz`.
//
// An input is one byte that chooses the operation, and the body of its request. Besides the checks of the
// sanitizers it tests three properties: every reply is JSON, no request causes a server fault, and every
// error has a type and a message.
#include <simdjson.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <string>

#include "daemon/http/api/json_api.h"
#include "storage/base/check.h"
#include "tests/support/test_database.h"

namespace itemdb::fuzz {
namespace {

constexpr char kTable[] = "orders";

struct World {
  testing::TestDatabase database;
  daemon::CallMemory memory{size_t{64} << 20};
  http::JsonApi api{*database, memory, "127.0.0.1:8000"};

  World() {
    v1::CreateTableRequest request = testing::TableRequest(kTable);
    testing::AddIndex(&request, "by-x", {"x:N", "pk:S"}, 1, v1::PROJECTION_TYPE_ALL);
    database.CreateTable(request);
  }
};

World& TheWorld() {
  static World world;
  return world;
}

struct Seed {
  const char* operation;
  const char* body;
};

// The first byte of an input, modulo the number of seeds, is an index into this array. Do not reorder it, or
// an existing corpus becomes useless.
constexpr Seed kSeeds[] = {
    {"PutItem",
     R"j({"TableName":"orders","Item":{"pk":{"S":"a"},"sk":{"S":"1"},"x":{"N":"-2.5e3"},"b":{"B":"AAE="},
         "l":{"L":[{"NS":["7","8"]},{"M":{"k":{"BOOL":true},"n":{"NULL":true}}},{"SS":["s"]},{"BS":["AA=="]}]}},
         "ConditionExpression":"attribute_not_exists(pk) OR NOT (#x BETWEEN :a AND :b)",
         "ExpressionAttributeNames":{"#x":"x"},"ExpressionAttributeValues":{":a":{"N":"1"},":b":{"N":"2"}},
         "ReturnValues":"ALL_OLD","ReturnConsumedCapacity":"INDEXES","ReturnValuesOnConditionCheckFailure":"ALL_OLD"})j"},
    {"GetItem",
     R"j({"TableName":"orders","Key":{"pk":{"S":"a"},"sk":{"S":"1"}},"ProjectionExpression":"l[0], #s",
         "ExpressionAttributeNames":{"#s":"\u00e9\ud834\udd1e\n"},"ConsistentRead":true})j"},
    {"UpdateItem",
     R"j({"TableName":"orders","Key":{"pk":{"S":"a"},"sk":{"S":"1"}},"UpdateExpression":"SET n = :a REMOVE s",
         "ExpressionAttributeValues":{":a":{"L":[]}},"ReturnValues":"UPDATED_NEW"})j"},
    {"UpdateItem",
     R"j({"TableName":"orders","Key":{"pk":{"S":"a"},"sk":{"S":"1"}},"AttributeUpdates":{"n":{"Action":"ADD",
         "Value":{"N":"1"}}},"Expected":{"q":{"Exists":false},"n":{"ComparisonOperator":"IN","AttributeValueList":
         [{"N":"1"}]}},"ConditionalOperator":"OR"})j"},
    {"DeleteItem",
     R"j({"TableName":"orders","Key":{"pk":{"S":"a"},"sk":{"S":"1"}},"ReturnValues":"ALL_OLD"})j"},
    {"Query",
     R"j({"TableName":"orders","KeyConditionExpression":"pk = :p","FilterExpression":"x IN (:p)","Limit":2,
         "ExpressionAttributeValues":{":p":{"S":"a"}},"ExclusiveStartKey":{"pk":{"S":"a"},"sk":{"S":"2"}},
         "ScanIndexForward":false,"Select":"COUNT"})j"},
    {"Query",
     R"j({"TableName":"orders","IndexName":"by-x","KeyConditions":{"x":{"ComparisonOperator":"EQ",
         "AttributeValueList":[{"N":"1"}]}},"QueryFilter":{"y":{"ComparisonOperator":"NULL"}},"AttributesToGet":["x"]})j"},
    {"Scan",
     R"j({"TableName":"orders","Segment":0,"TotalSegments":2,"ScanFilter":{},"ReturnConsumedCapacity":"TOTAL"})j"},
    {"BatchGetItem",
     R"j({"RequestItems":{"orders":{"Keys":[{"pk":{"S":"a"},"sk":{"S":"1"}}],"ProjectionExpression":"x"}}})j"},
    {"BatchWriteItem",
     R"j({"RequestItems":{"orders":[{"PutRequest":{"Item":{"pk":{"S":"b"},"sk":{"S":"0"}}}},
         {"DeleteRequest":{"Key":{"pk":{"S":"c"},"sk":{"S":"0"}}}}]}})j"},
    {"TransactWriteItems",
     R"j({"ClientRequestToken":"t","TransactItems":[{"Put":{"TableName":"orders","Item":{"pk":{"S":"d"},"sk":{"S":"0"}}}},
         {"ConditionCheck":{"TableName":"orders","Key":{"pk":{"S":"e"},"sk":{"S":"0"}},
         "ConditionExpression":"attribute_exists(pk)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}}]})j"},
    {"TransactGetItems",
     R"j({"TransactItems":[{"Get":{"TableName":"orders","Key":{"pk":{"S":"a"},"sk":{"S":"1"}}}}]})j"},
    // For an existing table, so that the seed creates no table.
    {"CreateTable",
     R"j({"TableName":"orders","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
         "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"ProvisionedThroughput":{"ReadCapacityUnits":1,
         "WriteCapacityUnits":1},"GlobalSecondaryIndexes":[{"IndexName":"idx","KeySchema":[{"AttributeName":"pk",
         "KeyType":"HASH"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["a"]}}],"Tags":[{"Key":"k",
         "Value":"v"}],"SSESpecification":{"Enabled":true},"StreamSpecification":{"StreamEnabled":false}})j"},
    {"DescribeTable", R"j({"TableName":"arn:aws:dynamodb:local:000000000000:table/orders"})j"},
    {"ListTables", R"j({"ExclusiveStartTableName":"abc","Limit":3})j"},
    {"ExecuteStatement",
     R"j({"Statement":"SELECT l[0], x FROM orders WHERE pk = ? AND x IN (?, 2)","Limit":1,
         "Parameters":[{"S":"a"},{"N":"1"}],"NextToken":null})j"},
    {"BatchExecuteStatement",
     R"j({"Statements":[{"Statement":"INSERT INTO orders VALUE {'pk': 'a', 'sk': ?}","Parameters":[{"S":"1"}]},
         {"Statement":"UPDATE orders SET x = 2 WHERE pk = 'a' AND sk = '1' AND x = 7",
         "ReturnValuesOnConditionCheckFailure":"ALL_OLD"}]})j"},
    {"ExecuteTransaction",
     R"j({"ClientRequestToken":"u","TransactStatements":[{"Statement":"DELETE FROM orders WHERE pk = 'a' AND sk = '1'"},
         {"Statement":"EXISTS(SELECT * FROM orders WHERE pk = 'b' AND sk = '0' AND x = 1)"}]})j"},
};

// Deletes the tables that an input has created, because the number of tables is limited.
void DeleteOtherTables(testing::TestDatabase& database) {
  const auto tables = database->ListTables({});
  for (const std::string& name : tables->table_names()) {
    if (name == kTable) continue;
    v1::DeleteTableRequest request;
    request.set_table_name(name);
    testing::Await<v1::DeleteTableReply>([&](auto done) {
      database->DeleteTable(request, std::move(done));
    }).IgnoreError();
  }
}

void CheckReply(const http::JsonReply& reply) {
  ITEMDB_CHECK(reply.http_status == 200 || reply.http_status == 400);
  simdjson::dom::parser parser;
  simdjson::dom::object body;
  ITEMDB_CHECK(parser.parse(reply.body).get(body) == simdjson::SUCCESS);
  std::string_view type, message;
  const bool is_error = body.at_key("__type").get(type) == simdjson::SUCCESS;
  ITEMDB_CHECK(is_error == (reply.http_status == 400));
  // A SerializationException has "Message", or none if the request is not JSON.
  if (is_error && !type.ends_with("#SerializationException"))
    ITEMDB_CHECK(body.at_key("message").get(message) == simdjson::SUCCESS);
  if (is_error) ITEMDB_CHECK(!type.empty());
}

}  // namespace
}  // namespace itemdb::fuzz

// libFuzzer's entry points. The seeds are written into the corpus directory, the last argument, before
// libFuzzer reads it.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  itemdb::fuzz::TheWorld();
  std::filesystem::path corpus((*argv)[*argc - 1]);
  if (*argc < 2 || !std::filesystem::is_directory(corpus)) return 0;
  for (size_t i = 0; i < std::size(itemdb::fuzz::kSeeds); ++i) {
    std::ofstream(corpus / ("seed" + std::to_string(i)), std::ios::binary)
        << static_cast<char>(i) << itemdb::fuzz::kSeeds[i].body;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  if (bytes == 0) return 0;
  itemdb::fuzz::World& world = itemdb::fuzz::TheWorld();
  const std::string operation = itemdb::fuzz::kSeeds[data[0] % std::size(itemdb::fuzz::kSeeds)].operation;
  std::promise<itemdb::http::JsonReply> promise;
  auto future = promise.get_future();
  world.api.Answer(*itemdb::http::FindOperation("DynamoDB_20120810." + operation),
                   std::string(data + 1, data + bytes), itemdb::daemon::Caller(), nullptr,
                   [&promise](itemdb::http::JsonReply reply) { promise.set_value(std::move(reply)); });
  itemdb::fuzz::CheckReply(future.get());
  if (operation == "CreateTable") itemdb::fuzz::DeleteOtherTables(world.database);
  return 0;
}
