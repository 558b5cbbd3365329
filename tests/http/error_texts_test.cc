// Texts that differ between operations: each row of the table of error_texts.h, for each of its operations.

#include "daemon/http/api/error_texts.h"

#include <algorithm>
#include <array>
#include <vector>

#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

struct Sample {
  // The row that the request is about.
  std::string rule, begins, operation;
  std::string body;
  // The member `message` or `Message` of the reply.
  std::string message;
};

constexpr char kCounted[] = "1 validation error detected: ";

// A wrong value, and the service's text for it.
struct WrongValue {
  std::string rule, value, text;
};

std::vector<WrongValue> WrongValues() {
  const std::string invalid = "One or more parameter values were invalid: ";
  std::string deep = R"({"S":"x"})";
  for (int i = 0; i < 33; ++i) deep = R"({"L":[)" + deep + "]}";
  return {
      {"SEM-009", R"({"M":{"":{"S":"x"}}})", invalid + "Empty attribute name"},
      {"SEM-010", "{}",
       "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
      {"SEM-011", R"({"N":"x"})", "The parameter cannot be converted to a numeric value: x"},
      {"SEM-015", R"({"SS":["a","b","a"]})", invalid + "Input collection [a, b, a] contains duplicates."},
      {"SEM-016", R"({"SS":[]})", invalid + "An string set  may not be empty"},
      {"SEM-017", deep,
       "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond "
       "supported limit of 32"},
  };
}

constexpr char kKey[] = R"({"pk":{"S":"p"},"sk":{"S":"s"}})";

// A single write with `members` beside its table and its key or item.
std::string Write(const std::string& operation, const std::string& members, const std::string& key = kKey) {
  return R"({"TableName":"Things",")" + std::string(operation == "PutItem" ? "Item" : "Key") + "\":" + key +
         members + "}";
}

std::string Read(const std::string& members) { return R"({"TableName":"Things")" + members + "}"; }

void AddMissingTables(std::vector<Sample>* samples) {
  const std::string key = kKey;
  const std::string named = R"({"TableName":"Missing",)";
  const std::vector<std::pair<std::string, std::string>> requests = {
      {"PutItem", named + "\"Item\":" + key + "}"},
      {"GetItem", named + "\"Key\":" + key + "}"},
      {"UpdateItem", named + "\"Key\":" + key + "}"},
      {"DeleteItem", named + "\"Key\":" + key + "}"},
      {"Query",
       named + R"("KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p"}}})"},
      {"Scan", named + R"("Limit":1})"},
      {"BatchGetItem", R"({"RequestItems":{"Missing":{"Keys":[)" + key + "]}}}"},
      {"BatchWriteItem", R"({"RequestItems":{"Missing":[{"DeleteRequest":{"Key":)" + key + "}}]}}"},
      {"TransactGetItems", R"({"TransactItems":[{"Get":)" + named + "\"Key\":" + key + "}}]}"},
      {"TransactWriteItems", R"({"TransactItems":[{"Delete":)" + named + "\"Key\":" + key + "}}]}"},
      {"ExecuteStatement", R"({"Statement":"SELECT * FROM Nothing"})"},
      {"ExecuteTransaction",
       R"({"TransactStatements":[{"Statement":"DELETE FROM Nothing WHERE pk = 'p'"}]})"},
  };
  for (const auto& [operation, body] : requests)
    samples->push_back(
        {"SEM-039", "Requested resource not found", operation, body, "Requested resource not found"});
}

void AddValues(std::vector<Sample>* samples) {
  const std::string wrapped = "ExpressionAttributeValues contains invalid value: ";
  const auto TooLong = [](const std::string& kind) {
    return "Invalid " + kind + "Expression: Expression size has exceeded the maximum allowed size;";
  };
  const std::string spaces(4'096, ' ');
  samples->push_back({"SEM-019", "Invalid UpdateExpression: Expression size", "UpdateItem",
                      Write("UpdateItem", R"(,"UpdateExpression":"REMOVE a)" + spaces + "\""),
                      kCounted + TooLong("Update")});
  samples->push_back(
      {"SEM-019", "Invalid FilterExpression: Expression size", "Query",
       Read(R"(,"KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p"}},)"
            R"("FilterExpression":"a = b)" +
            spaces + "\""),
       TooLong("Filter")});
  samples->push_back({"", "", "Scan", Read(R"(,"FilterExpression":"a = b)" + spaces + "\""),
                      TooLong("Filter") + " expression size: 4101"});
  samples->push_back({"", "", "GetItem", Write("GetItem", R"(,"ProjectionExpression":"a)" + spaces + "\""),
                      TooLong("Projection")});
  for (const std::string operation : {"PutItem", "UpdateItem", "DeleteItem"}) {
    const std::string in_expression = R"(,"ConditionExpression":"a = :v","ExpressionAttributeValues":{":v":)";
    for (const WrongValue& wrong : WrongValues()) {
      samples->push_back({wrong.rule, "", operation,
                          Write(operation, "", R"({"pk":{"S":"p"},"sk":{"S":"s"},"v":)" + wrong.value + "}"),
                          kCounted + wrong.text});
      samples->push_back({wrong.rule, wrapped, operation, Write(operation, in_expression + wrong.value + "}"),
                          kCounted + wrong.text});
    }
    samples->push_back({"SEM-015", "Input collection contains duplicates", operation,
                        Write(operation, "", R"({"pk":{"S":"p"},"sk":{"S":"s"},"v":{"NS":["1","1.0"]}})"),
                        "Input collection contains duplicates"});
    samples->push_back(
        {"SEM-009", "ExpressionAttributeNames", operation,
         Write(operation, R"(,"ConditionExpression":"#a = b","ExpressionAttributeNames":{"#a":""})"),
         "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a"});
    std::string path = "a";
    for (int i = 0; i < 32; ++i) path += "[0]";
    samples->push_back(
        {"SEM-017", "Invalid ", operation,
         Write(operation, R"(,"ConditionExpression":"attribute_exists()" + path + ")\""),
         "Invalid ConditionExpression: The document path has too many nesting elements; nesting "
         "levels: 33"});
    samples->push_back(
        {"SEM-019", "Invalid ConditionExpression: Expression size", operation,
         Write(operation, R"(,"ConditionExpression":"attribute_exists(pk))" + std::string(4'096, ' ') + "\""),
         kCounted + TooLong("Condition")});
  }
  samples->push_back(
      {"SEM-011", "Number overflow", "UpdateItem",
       Write("UpdateItem", R"(,"UpdateExpression":"SET n = :a + :b","ExpressionAttributeValues":)"
                           R"({":a":{"N":"9e125"},":b":{"N":"9e125"}})"),
       "Number overflow. Attempting to store a number with magnitude larger than supported range"});
}

void AddPlaceholders(std::vector<Sample>* samples) {
  const std::string begins = "ExpressionAttributeValues can only be specified when using expressions";
  const std::string values = R"(,"ExpressionAttributeValues":{":v":{"S":"x"}})";
  for (const char* operation : {"PutItem", "DeleteItem"})
    samples->push_back(
        {"SEM-026", begins, operation, Write(operation, values), begins + ": ConditionExpression is null"});
  samples->push_back({"SEM-026", begins, "UpdateItem", Write("UpdateItem", values),
                      begins + ": UpdateExpression and ConditionExpression are null"});
  samples->push_back(
      {"SEM-026", begins, "Query",
       Read(R"(,"KeyConditions":{"pk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"p"}]}})" +
            values),
       begins + ": FilterExpression and KeyConditionExpression are null"});
  samples->push_back({"SEM-026", begins, "Scan", Read(values), begins + ": FilterExpression is null"});
}

void AddQueries(std::vector<Sample>* samples) {
  const std::string query =
      R"(,"KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p"}})";
  const std::string cannot = "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES";
  const std::string must =
      "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES";
  const std::string only = "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName";
  const std::vector<std::array<std::string, 3>> selects = {
      {"Cannot specify the ", R"(,"Select":"ALL_ATTRIBUTES","ProjectionExpression":"a")", cannot},
      {"Must specify the ", R"(,"Select":"SPECIFIC_ATTRIBUTES")", must},
      {"ALL_PROJECTED_ATTRIBUTES can be used only", R"(,"Select":"ALL_PROJECTED_ATTRIBUTES")", only},
  };
  for (const auto& [begins, members, text] : selects) {
    samples->push_back({"SEM-036", begins, "Query", Read(query + members), kCounted + text});
    // A Scan has the bare text.
    samples->push_back({"", "", "Scan", Read(members), text});
  }
  const std::string start = R"(,"ExclusiveStartKey":{"pk":{"S":"p"}})";
  const std::string invalid = "The provided starting key is invalid";
  const std::string mismatch = invalid + ": The provided key element does not match the schema";
  samples->push_back(
      {"SEM-032", invalid + ": The provided key element", "Query", Read(query + start), invalid});
  samples->push_back({"", "", "Scan", Read(start), mismatch});
  samples->push_back(
      {"", "", "Scan", Read(R"(,"ExclusiveStartKey":{"pk":{"S":"p"},"sk":{"N":"1"}})"), mismatch});
}

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  AddMissingTables(&samples);
  AddValues(&samples);
  AddPlaceholders(&samples);
  AddQueries(&samples);
  // Operations that no row names give the texts of storage.
  samples.push_back({"", "", "DescribeTable", R"({"TableName":"Missing"})",
                     "Requested resource not found: Table: Missing not found"});
  samples.push_back({"", "", "GetItem", R"({"TableName":"Things","Key":{"pk":{"SS":[]},"sk":{"S":"s"}}})",
                     "One or more parameter values were invalid: An string set  may not be empty"});
  samples.push_back({"", "", "Scan",
                     Read(R"(,"FilterExpression":"a = :v","ExpressionAttributeValues":{":v":{"N":"x"}})"),
                     "ExpressionAttributeValues contains invalid value: The parameter cannot be converted to "
                     "a numeric value: x "
                     "for key :v"});
  samples.push_back(
      {"", "", "TransactWriteItems",
       R"({"TransactItems":[{"Put":{"TableName":"Things","Item":{"pk":{"N":"x"},"sk":{"S":"s"}}}}]})",
       "The parameter cannot be converted to a numeric value: x"});
  return samples;
}

TEST(ErrorTexts, EachRowHoldsForEachOfItsOperations) {
  JsonFixture json;
  json.Succeed("CreateTable", kCreateThings);
  for (const Sample& sample : Samples()) {
    const std::string reply = json.Fail(sample.operation, sample.body);
    EXPECT_NE(reply.find("\"message\":\"" + sample.message + "\""), std::string::npos)
        << sample.operation << " " << sample.body.substr(0, 300) << "\n"
        << reply << "\n"
        << sample.message;
  }
}

// One statement of a batch has the text of the row too.
TEST(ErrorTexts, AStatementOfABatchOnAMissingTableHasTheBareText) {
  JsonFixture json;
  const std::string reply = json.Succeed(
      "BatchExecuteStatement", R"({"Statements":[{"Statement":"SELECT * FROM Nothing WHERE pk = 'a'"}]})");
  EXPECT_NE(reply.find(R"("Message":"Requested resource not found"})"), std::string::npos) << reply;
}

// The test above cannot leave out a row or an operation.
TEST(ErrorTexts, EachRowHasASampleForEachOfItsOperations) {
  const std::vector<Sample> samples = Samples();
  for (const OperationText& row : OperationTexts()) {
    for (std::string_view operation : row.operations) {
      if (operation == "BatchExecuteStatement") continue;
      EXPECT_TRUE(std::any_of(samples.begin(), samples.end(),
                              [&](const Sample& sample) {
                                return sample.rule == row.rule && sample.begins == row.begins &&
                                       sample.operation == operation;
                              }))
          << row.rule << " " << row.begins << " " << operation;
    }
  }
}

}  // namespace
}  // namespace itemdb::testing
