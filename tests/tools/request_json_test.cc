#include "tools/json/request_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;

template <typename Result>
std::string MessageOf(const absl::StatusOr<Result>& result) {
  EXPECT_FALSE(result.ok());
  return std::string(result.status().message());
}

TEST(RequestJson, ReadsBatchGetsAsAwsWritesThem) {
  const auto tables = ParseBatchGets(R"({
    "a": {"Keys": [{"id": {"S": "x"}}, {"id": {"S": "y"}}], "ProjectionExpression": "#p",
          "ExpressionAttributeNames": {"#p": "price"}, "ConsistentRead": true},
    "b": {"Keys": [{"id": 5}]}})",
                                     ReadForm::kDetect);
  ASSERT_TRUE(tables.ok()) << tables.status();
  ASSERT_EQ(tables->size(), 2u);
  EXPECT_EQ(tables->at(0).table_name, "a");
  EXPECT_EQ(tables->at(0).keys, (std::vector<Item>{{{"id", "x"}}, {{"id", "y"}}}));
  EXPECT_EQ(tables->at(0).projection_expression, "#p");
  EXPECT_EQ(tables->at(0).expression_attribute_names.at("#p"), "price");
  EXPECT_TRUE(tables->at(0).consistent_read);
  EXPECT_EQ(tables->at(1).keys, (std::vector<Item>{{{"id", 5}}}));
  EXPECT_THAT(MessageOf(ParseBatchGets("[]", ReadForm::kDetect)),
              HasSubstr("the request items must be a JSON object of table names, not an array"));
  EXPECT_THAT(MessageOf(ParseBatchGets(R"({"a": {}})", ReadForm::kDetect)), HasSubstr("a.Keys is missing"));
  EXPECT_THAT(MessageOf(ParseBatchGets(R"({"a": {"Keys": [7]}})", ReadForm::kDetect)),
              HasSubstr("a.Keys[0]"));
  EXPECT_THAT(MessageOf(ParseBatchGets(R"({"a": {"Keys": [], "Limit": 1}})", ReadForm::kDetect)),
              HasSubstr("unknown member \"Limit\" in a; allowed are Keys"));
}

TEST(RequestJson, ReadsBatchWritesAsAwsWritesThem) {
  const auto writes = ParseBatchWrites(R"({
    "a": [{"PutRequest": {"Item": {"id": {"S": "x"}}}}, {"DeleteRequest": {"Key": {"id": "y"}}}]})",
                                       ReadForm::kDetect);
  ASSERT_TRUE(writes.ok()) << writes.status();
  ASSERT_EQ(writes->size(), 2u);
  EXPECT_EQ(std::get<BatchPut>(writes->at(0)).item, (Item{{"id", "x"}}));
  EXPECT_EQ(std::get<BatchDelete>(writes->at(1)).key, (Item{{"id", "y"}}));
  EXPECT_EQ(std::get<BatchDelete>(writes->at(1)).table_name, "a");
  EXPECT_THAT(MessageOf(ParseBatchWrites(R"({"a": {}})", ReadForm::kDetect)),
              HasSubstr("a must be an array of requests, not an object"));
  EXPECT_THAT(MessageOf(ParseBatchWrites(R"({"a": [{}]})", ReadForm::kDetect)),
              HasSubstr("a[0] must have exactly one member, PutRequest or DeleteRequest"));
  EXPECT_THAT(MessageOf(ParseBatchWrites(R"({"a": [{"PutRequest": {}}]})", ReadForm::kDetect)),
              HasSubstr("a[0].PutRequest.Item is missing"));
}

TEST(RequestJson, ALineIsAnItemOrARequest) {
  const auto parse = [](const char* line) { return ParseWriteLine(line, "t", ReadForm::kDetect, "line 3"); };
  EXPECT_EQ(std::get<BatchPut>(*parse(R"({"id": "x"})")).item, (Item{{"id", "x"}}));
  EXPECT_EQ(std::get<BatchPut>(*parse(R"({"PutRequest": {"Item": {"id": {"N": "1"}}}})")).item,
            (Item{{"id", 1}}));
  EXPECT_EQ(std::get<BatchDelete>(*parse(R"({"DeleteRequest": {"Key": {"id": "x"}}})")).table_name, "t");
  EXPECT_THAT(MessageOf(parse("{")), HasSubstr("line 3: malformed JSON"));
  EXPECT_THAT(MessageOf(parse("[]")), HasSubstr("line 3 must be an object, not an array"));
  EXPECT_THAT(MessageOf(parse(R"({"DeleteRequest": {"Item": {}}})")), HasSubstr("line 3: unknown member"));
}

TEST(RequestJson, ReadsTransactionsAsAwsWritesThem) {
  const char kActions[] = R"j([
    {"Put": {"TableName": "a", "Item": {"id": {"S": "x"}}, "ConditionExpression": "attribute_not_exists(#i)",
             "ExpressionAttributeNames" : {"#i" : "id"}, "ReturnValuesOnConditionCheckFailure" : "ALL_OLD"
}
},
    {"Update": {"TableName": "b", "Key": {"id": "y"}, "UpdateExpression": "SET n = :n",
                "ExpressionAttributeValues": {":n": {"N": "1"}}}},
    {"Delete": {"TableName": "c", "Key": {"id": "z"}}},
    {"ConditionCheck": {"TableName": "d", "Key": {"id": "z"}, "ConditionExpression": "attribute_exists(id)"}}])j";
  for (const std::string& text :
       {std::string(kActions), R"({"TransactItems": )" + std::string(kActions) + "}"}) {
    const auto transaction = ParseTransaction(text, ReadForm::kDetect);
    ASSERT_TRUE(transaction.ok()) << transaction.status();
    const auto& actions = std::get<std::vector<TransactAction>>(*transaction);
    ASSERT_EQ(actions.size(), 4u);
    const auto& put = std::get<TransactPut>(actions[0]);
    EXPECT_EQ(put.table_name, "a");
    EXPECT_EQ(put.condition_expression, "attribute_not_exists(#i)");
    EXPECT_EQ(put.expression_attribute_names.at("#i"), "id");
    EXPECT_EQ(put.return_values_on_condition_check_failure, ReturnValuesOnConditionCheckFailure::kAllOld);
    const auto& update = std::get<TransactUpdate>(actions[1]);
    EXPECT_EQ(update.update_expression, "SET n = :n");
    EXPECT_EQ(update.expression_attribute_values.at(":n"), Value(1));
    EXPECT_EQ(std::get<TransactDelete>(actions[2]).key, (Item{{"id", "z"}}));
    EXPECT_EQ(std::get<ConditionCheck>(actions[3]).condition_expression, "attribute_exists(id)");
  }
  const auto gets =
      ParseTransaction(R"([{"Get": {"TableName": "a", "Key": {"id": "x"}, "ProjectionExpression": "id"}}])",
                       ReadForm::kDetect);
  ASSERT_TRUE(gets.ok()) << gets.status();
  EXPECT_EQ(std::get<std::vector<TransactGet>>(*gets)[0].projection_expression, "id");
}

TEST(RequestJson, NamesWhatIsWrongWithATransaction) {
  const auto message = [](const char* text) { return MessageOf(ParseTransaction(text, ReadForm::kDetect)); };
  EXPECT_THAT(message("7"), HasSubstr("the transact items must be a JSON array, not a number"));
  EXPECT_THAT(message("[{}]"), HasSubstr("TransactItems[0] must have exactly one member: Put"));
  EXPECT_THAT(message(R"([{"Put": {}, "Get": {}}])"), HasSubstr("must have exactly one member"));
  EXPECT_THAT(message(R"([{"Putt": {}}])"),
              HasSubstr("unknown member \"Putt\" in TransactItems[0]; allowed are Put"));
  EXPECT_THAT(message(R"([{"Put": {"TableName": "a"}}])"), HasSubstr("TransactItems[0].Put.Item is missing"));
  EXPECT_THAT(message(R"([{"Put": {"TableName": "a", "Item": {}, "Key": {}}}])"),
              HasSubstr("unknown member \"Key\" in TransactItems[0].Put"));
  EXPECT_THAT(message(R"([{"Put": {"TableName": "a", "Item": {}}}, {"Get": {"TableName": "a", "Key": {}}}])"),
              HasSubstr("either reads or writes; these are 1 Get and 1 others"));
}

}  // namespace
}  // namespace itemdb::tools
