// Texts that differ between operations: each row of the table of daemon/http/api/error_texts.h, for each of
// its operations, sent to a daemon over both protocols. The expected texts are written down here.

#include "daemon/http/api/error_texts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "tests/http/raw_http_client.h"
#include "tests/processes/daemon_process.h"
#include "tests/processes/raw_client.h"
#include "tests/protocols/expected_answer.h"
#include "tests/protocols/requests.h"
#include "tests/support/error_details.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::protocols {
namespace {

struct Sample {
  // The row that the request is about; empty: no row changes its text.
  std::string rule, begins;
  std::string operation;
  std::string body;
  // The message of the reply over HTTP, and that of the status over gRPC.
  std::string http_text, grpc_text;
};

constexpr char kCounted[] = "1 validation error detected: ";
constexpr char kInvalid[] = "One or more parameter values were invalid: ";
constexpr char kWrapped[] = "ExpressionAttributeValues contains invalid value: ";
constexpr char kOverflow[] =
    "Number overflow. Attempting to store a number with magnitude larger than supported range";
constexpr char kUnderflow[] =
    "Number underflow. Attempting to store a number with magnitude smaller than supported range";
constexpr char kTooDeep[] =
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond "
    "supported limit of 32";
constexpr char kNotFound[] = "Requested resource not found";
constexpr char kKey[] = R"({"pk":{"S":"p"},"sk":{"S":"s"}})";

// {"S":"x"} inside `levels` lists.
std::string Nested(int levels) {
  std::string value = R"({"S":"x"})";
  for (int i = 0; i < levels; ++i) value = R"({"L":[)" + value + "]}";
  return value;
}

std::string Times(int times, const std::string& text) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// A wrong value, and the service's text for it.
struct WrongValue {
  std::string rule, value, text;
  // Where it is wrong, below the value itself; only gRPC says so.
  std::string below;
};

std::vector<WrongValue> WrongValues() {
  return {
      {"SEM-009", R"({"M":{"":{"S":"x"}}})", std::string(kInvalid) + "Empty attribute name", ""},
      {"SEM-010", "{}",
       "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes", ""},
      {"SEM-011", R"({"N":"x"})", "The parameter cannot be converted to a numeric value: x", ""},
      {"SEM-011", R"({"N":"1e126"})", kOverflow, ""},
      {"SEM-011", R"({"NS":["1","-1e-131"]})", kUnderflow, ""},
      {"SEM-011", R"({"L":[{"N":"1e126"}]})", kOverflow, "[0]"},
      {"SEM-011", R"({"N":"123456789012345678901234567890123456789"})",
       "Attempting to store more than 38 significant digits in a Number", ""},
      {"SEM-015", R"({"SS":["a","b","a"]})",
       std::string(kInvalid) + "Input collection [a, b, a] contains duplicates.", ""},
      {"SEM-016", R"({"SS":[]})", std::string(kInvalid) + "An string set  may not be empty", ""},
      {"SEM-017", Nested(33), kTooDeep, Times(32, "[0]")},
  };
}

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
      {"SearchVectors", named + R"("IndexName":"ByV","TopK":1,"SearchVector":[{"N":"1"}]})"},
      {"BatchGetItem", R"({"RequestItems":{"Missing":{"Keys":[)" + key + "]}}}"},
      {"BatchWriteItem", R"({"RequestItems":{"Missing":[{"DeleteRequest":{"Key":)" + key + "}}]}}"},
      {"TransactGetItems", R"({"TransactItems":[{"Get":)" + named + "\"Key\":" + key + "}}]}"},
      {"TransactWriteItems", R"({"TransactItems":[{"Delete":)" + named + "\"Key\":" + key + "}}]}"},
      {"ExecuteStatement", R"({"Statement":"SELECT * FROM \"Missing\""})"},
      {"BatchExecuteStatement",
       R"({"Statements":[{"Statement":"SELECT * FROM \"Missing\" WHERE pk = 'a'"}]})"},
      {"ExecuteTransaction",
       R"({"TransactStatements":[{"Statement":"DELETE FROM \"Missing\" WHERE pk = 'p'"}]})"},
  };
  const std::string long_form = std::string(kNotFound) + ": Table: Missing not found";
  for (const auto& [operation, body] : requests)
    samples->push_back({"SEM-039", kNotFound, operation, body, kNotFound,
                        operation == "ExecuteTransaction" ? long_form + " (statement 1)" : long_form});
  // Operations on tables have the long form over both protocols.
  samples->push_back({"", "", "DescribeTable", R"({"TableName":"Missing"})", long_form, long_form});
  samples->push_back({"", "", "DeleteTable", R"({"TableName":"Missing"})", long_form, long_form});
}

// Values in an item, a key, the values of an expression, and the older members.
void AddWrongValues(const std::string& operation, std::vector<Sample>* samples) {
  for (const WrongValue& wrong : WrongValues()) {
    const std::string counted = kCounted + wrong.text;
    const auto at = [&](const std::string& place) {
      return place + wrong.below == "" ? wrong.text
                                       : wrong.text + " (attribute \"" + place + wrong.below + "\")";
    };
    samples->push_back({wrong.rule, "", operation,
                        Write(operation, "", R"({"pk":{"S":"p"},"sk":{"S":"s"},"v":)" + wrong.value + "}"),
                        counted, at("v")});
    samples->push_back(
        {wrong.rule, kWrapped, operation,
         Write(operation,
               R"(,"ConditionExpression":"a = :v","ExpressionAttributeValues":{":v":)" + wrong.value + "}"),
         counted, kWrapped + at("") + " for key :v"});
    const std::string in_member = at("") + " (attribute \"a\")";
    samples->push_back({wrong.rule, "", operation,
                        Write(operation, R"(,"Expected":{"a":{"Value":)" + wrong.value + "}}"), counted,
                        in_member});
    if (operation == "UpdateItem")
      samples->push_back({wrong.rule, "", operation,
                          Write(operation, R"(,"AttributeUpdates":{"a":{"Value":)" + wrong.value + "}}"),
                          counted, in_member});
  }
}

void AddValues(std::vector<Sample>* samples) {
  for (const std::string operation : {"PutItem", "UpdateItem", "DeleteItem"}) {
    AddWrongValues(operation, samples);
    const std::string duplicates = "Input collection contains duplicates";
    samples->push_back({"SEM-015", duplicates, operation,
                        Write(operation, "", R"({"pk":{"S":"p"},"sk":{"S":"s"},"v":{"NS":["1","1.0"]}})"),
                        duplicates, duplicates + ": 1 is there more than once (attribute \"v\")"});
    const std::string empty_name =
        "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a";
    samples->push_back(
        {"SEM-009", "ExpressionAttributeNames", operation,
         Write(operation, R"(,"ConditionExpression":"#a = b","ExpressionAttributeNames":{"#a":""})"),
         empty_name, empty_name});
    const std::string long_path =
        "Invalid ConditionExpression: The document path has too many nesting elements; nesting levels: 33";
    samples->push_back(
        {"SEM-017", "Invalid ", operation,
         Write(operation, R"(,"ConditionExpression":"attribute_exists(a)" + Times(32, "[0]") + ")\""),
         long_path, long_path + ", maximum: 32"});
  }
  // Other operations send the texts as storage has them.
  const std::string not_a_number = "The parameter cannot be converted to a numeric value: x";
  const std::string empty_set = std::string(kInvalid) + "An string set  may not be empty";
  samples->push_back({"", "", "GetItem", R"({"TableName":"Things","Key":{"pk":{"SS":[]},"sk":{"S":"s"}}})",
                      empty_set, empty_set + " (attribute \"pk\")"});
  samples->push_back({"", "", "Scan",
                      Read(R"(,"FilterExpression":"a = :v","ExpressionAttributeValues":{":v":{"N":"x"}})"),
                      kWrapped + not_a_number + " for key :v", kWrapped + not_a_number + " for key :v"});
  samples->push_back(
      {"", "", "TransactWriteItems",
       R"({"TransactItems":[{"Put":{"TableName":"Things","Item":{"pk":{"N":"x"},"sk":{"S":"s"}}}}]})",
       not_a_number, not_a_number + " (attribute \"pk\")"});
}

// What an update computes from values that are right is no wrong value, and not counted.
void AddComputedValues(std::vector<Sample>* samples) {
  const std::string many_digits = "Attempting to store more than 38 significant digits in a Number";
  struct Computed {
    std::string update, values, http_text, grpc_text;
  };
  const std::vector<Computed> all = {
      {"SET n = :a + :b", R"(":a":{"N":"9e125"},":b":{"N":"9e125"})", kOverflow, kOverflow},
      {"SET n = :a - :b", R"(":a":{"N":"-9e125"},":b":{"N":"9e125"})", kOverflow, kOverflow},
      {"SET n = :a + :b", R"(":a":{"N":"1e100"},":b":{"N":"1"})", kOverflow, many_digits},
      {"ADD big :a", R"(":a":{"N":"9e125"})", kOverflow, kOverflow},
      {"ADD big :a", R"(":a":{"N":"1"})", kOverflow, many_digits},
      {"SET n = :a - :b", R"(":a":{"N":"1.1e-130"},":b":{"N":"1e-130"})", kUnderflow, kUnderflow},
      {"SET deep[0] = :a", "\":a\":" + Nested(31), kTooDeep,
       "Nesting Levels have exceeded supported limits: attributes may nest at most 32 levels deep"},
  };
  for (const Computed& one : all)
    samples->push_back({"", "", "UpdateItem",
                        Write("UpdateItem", R"(,"UpdateExpression":")" + one.update +
                                                R"(","ExpressionAttributeValues":{)" + one.values + "}"),
                        one.http_text, one.grpc_text});
  samples->push_back(
      {"", "", "UpdateItem",
       Write("UpdateItem", R"(,"AttributeUpdates":{"big":{"Action":"ADD","Value":{"N":"9e125"}}})"),
       kOverflow, kOverflow});
  samples->push_back({"", "", "ExecuteStatement",
                      R"({"Statement":"UPDATE Things SET big = big + 9e125 WHERE pk = 'p' AND sk = 's'"})",
                      kOverflow, kOverflow});
}

void AddLongExpressions(std::vector<Sample>* samples) {
  const auto too_long = [](const std::string& kind) {
    return "Invalid " + kind + "Expression: Expression size has exceeded the maximum allowed size;";
  };
  const std::string spaces(4'096, ' ');
  for (const std::string operation : {"PutItem", "UpdateItem", "DeleteItem"})
    samples->push_back({"SEM-019", "Invalid ConditionExpression: Expression size", operation,
                        Write(operation, R"(,"ConditionExpression":"attribute_exists(pk))" + spaces + "\""),
                        kCounted + too_long("Condition"),
                        too_long("Condition") + " expression size: 4116, maximum: 4096"});
  samples->push_back({"SEM-019", "Invalid UpdateExpression: Expression size", "UpdateItem",
                      Write("UpdateItem", R"(,"UpdateExpression":"REMOVE a)" + spaces + "\""),
                      kCounted + too_long("Update"),
                      too_long("Update") + " expression size: 4104, maximum: 4096"});
  samples->push_back(
      {"SEM-019", "Invalid FilterExpression: Expression size", "Query",
       Read(R"(,"KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"p"}},)"
            R"("FilterExpression":"a = b)" +
            spaces + "\""),
       too_long("Filter"), too_long("Filter") + " expression size: 4101, maximum: 4096"});
  samples->push_back({"", "", "Scan", Read(R"(,"FilterExpression":"a = b)" + spaces + "\""),
                      too_long("Filter") + " expression size: 4101",
                      too_long("Filter") + " expression size: 4101, maximum: 4096"});
  samples->push_back({"", "", "GetItem", Write("GetItem", R"(,"ProjectionExpression":"a)" + spaces + "\""),
                      too_long("Projection"),
                      too_long("Projection") + " expression size: 4097, maximum: 4096"});
}

void AddPlaceholders(std::vector<Sample>* samples) {
  const std::string begins = "ExpressionAttributeValues can only be specified when using expressions";
  const std::string values = R"(,"ExpressionAttributeValues":{":v":{"S":"x"}})";
  for (const char* operation : {"PutItem", "DeleteItem"})
    samples->push_back({"SEM-026", begins, operation, Write(operation, values),
                        begins + ": ConditionExpression is null", begins});
  samples->push_back({"SEM-026", begins, "UpdateItem", Write("UpdateItem", values),
                      begins + ": UpdateExpression and ConditionExpression are null", begins});
  samples->push_back(
      {"SEM-026", begins, "Query",
       Read(R"(,"KeyConditions":{"pk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"p"}]}})" +
            values),
       begins + ": FilterExpression and KeyConditionExpression are null", begins});
  samples->push_back(
      {"SEM-026", begins, "Scan", Read(values), begins + ": FilterExpression is null", begins});
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
    samples->push_back({"SEM-036", begins, "Query", Read(query + members), kCounted + text, text});
    // A Scan has the bare text.
    samples->push_back({"", "", "Scan", Read(members), text, text});
  }
  const std::string start = R"(,"ExclusiveStartKey":{"pk":{"S":"p"}})";
  const std::string invalid = "The provided starting key is invalid";
  const std::string mismatch = invalid + ": The provided key element does not match the schema";
  const std::string all_of_it = invalid + ": it must consist of exactly these attributes: pk, sk";
  samples->push_back(
      {"SEM-032", invalid + ": The provided key element", "Query", Read(query + start), invalid, all_of_it});
  samples->push_back({"", "", "Scan", Read(start), mismatch, all_of_it});
  samples->push_back({"", "", "Scan", Read(R"(,"ExclusiveStartKey":{"pk":{"S":"p"},"sk":{"N":"1"}})"),
                      mismatch,
                      invalid + ": " + kInvalid + "Type mismatch for key sk expected: S actual: N"});
}

const std::vector<Sample>& Samples() {
  static const auto* all = [] {
    auto* samples = new std::vector<Sample>;
    AddMissingTables(samples);
    AddValues(samples);
    AddComputedValues(samples);
    AddLongExpressions(samples);
    AddPlaceholders(samples);
    AddQueries(samples);
    return samples;
  }();
  return *all;
}

class ErrorTexts : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::Status started = daemon_.Start({"--durability", "relaxed", "--http-listen", "127.0.0.1:0"});
    ASSERT_TRUE(started.ok()) << started;
    grpc_ = std::make_unique<e2e::RawClient>(daemon_.endpoint());
    http_ = std::make_unique<http::RawHttpClient>(daemon_.http_endpoint());
    ASSERT_EQ(Ask("CreateTable", R"({"TableName":"Things","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},
                                {"AttributeName":"sk","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]})")
                  .status,
              200);
    ASSERT_EQ(Ask("PutItem", R"({"TableName":"Things","Item":{"pk":{"S":"p"},"sk":{"S":"s"},
                                 "big":{"N":"9e125"},"deep":{"L":[{"S":"x"}]}}})")
                  .status,
              200);
  }

  http::RawReply Ask(const std::string& operation, const std::string& body) {
    EXPECT_TRUE(http_->Send(http::PostRequest(operation, body)));
    return http_->ReadReply().value_or(http::RawReply());
  }

  void ExpectHttp(const Sample& sample) {
    const Json reply = Json::parse(Ask(sample.operation, sample.body).body, nullptr, false);
    // A statement of a batch has an error of its own.
    const std::string message = sample.operation == "BatchExecuteStatement"
                                    ? reply["Responses"][0]["Error"].value("Message", "")
                                    : reply.value("message", "");
    EXPECT_EQ(message, sample.http_text) << "over HTTP: " << reply;
  }

  void ExpectGrpc(const Sample& sample) {
    const Method& method = MethodOf(sample.operation);
    const e2e::RawReply reply = grpc_->Call(method.name, EncodeRequest(method, Json::parse(sample.body)));
    if (sample.operation == "BatchExecuteStatement") {
      const std::unique_ptr<google::protobuf::Message> message(method.reply->New());
      ASSERT_TRUE(message->ParseFromString(reply.bytes));
      const Json json = ToDynamoDbJson(*message);
      EXPECT_EQ(json["Responses"][0]["Error"]["Message"], sample.grpc_text) << "over gRPC: " << json;
      return;
    }
    EXPECT_EQ(reply.status.error_message(), sample.grpc_text) << "over gRPC";
    // No row names the rule of what it changes wrongly.
    if (!sample.rule.empty() && sample.rule != "SEM-039") {
      EXPECT_EQ(DetailsOf(reply.status).rule, sample.rule);
    }
  }

  testing::TemporaryDirectory directory_;
  e2e::DaemonProcess daemon_{directory_.path()};
  std::unique_ptr<e2e::RawClient> grpc_;
  std::unique_ptr<http::RawHttpClient> http_;
};

// Walks the table: every row needs a sample for each of its operations.
TEST_F(ErrorTexts, EachRowHoldsForEachOfItsOperationsOverBothProtocols) {
  for (const http::OperationText& row : http::OperationTexts()) {
    for (std::string_view operation : row.operations) {
      bool found = false;
      for (const Sample& sample : Samples()) {
        if (sample.rule != row.rule || sample.begins != row.begins || sample.operation != operation) continue;
        found = true;
        SCOPED_TRACE(sample.operation + " " + sample.body.substr(0, 300));
        ExpectHttp(sample);
        ExpectGrpc(sample);
      }
      EXPECT_TRUE(found) << "no sample: " << row.rule << " \"" << row.begins << "\" " << operation;
    }
  }
}

TEST_F(ErrorTexts, WhatNoRowNamesIsSentAsItIs) {
  for (const Sample& sample : Samples()) {
    if (!sample.rule.empty()) continue;
    SCOPED_TRACE(sample.operation + " " + sample.body.substr(0, 300));
    ExpectHttp(sample);
    ExpectGrpc(sample);
  }
}

// A sample that belongs to no row would never be sent.
TEST(ErrorTextSamples, EachBelongsToARow) {
  for (const Sample& sample : Samples()) {
    if (sample.rule.empty()) continue;
    EXPECT_TRUE(std::any_of(http::OperationTexts().begin(), http::OperationTexts().end(),
                            [&](const http::OperationText& row) {
                              return row.rule == sample.rule && row.begins == sample.begins &&
                                     std::find(row.operations.begin(), row.operations.end(),
                                               sample.operation) != row.operations.end();
                            }))
        << sample.rule << " " << sample.begins << " " << sample.operation;
  }
}

}  // namespace
}  // namespace itemdb::protocols
