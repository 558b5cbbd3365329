// Batches and transactions: requests and the whole bodies of their replies.

#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

class JsonSeveralItems : public ::testing::Test {
 protected:
  JsonSeveralItems() { json_.Succeed("CreateTable", kCreateThings); }

  static std::string Key(const std::string& sk) { return R"({"pk":{"S":"p"},"sk":{"S":")" + sk + "\"}}"; }
  static std::string Named(const std::string& sk) {
    return R"({"TableName":"Things","Key":)" + Key(sk) + "}";
  }

  JsonFixture json_;
};

// BatchWriteItem (OP-20) without unprocessed items (SEM-046), with consumed capacity (SEM-061).
TEST_F(JsonSeveralItems, ABatchIsWritten) {
  EXPECT_EQ(json_.Succeed("BatchWriteItem", R"({"RequestItems":{"Things":[{"PutRequest":{"Item":)" +
                                                Key("a") + R"(}},{"PutRequest":{"Item":)" + Key("b") +
                                                R"(}},{"DeleteRequest":{"Key":)" + Key("c") + "}}]}}"),
            R"({"UnprocessedItems":{}})");
  EXPECT_EQ(json_.Succeed("BatchWriteItem", R"({"ReturnConsumedCapacity":"TOTAL","RequestItems":{"Things":[)"
                                            R"({"DeleteRequest":{"Key":)" +
                                                Key("a") + "}}]}}"),
            R"({"UnprocessedItems":{},"ConsumedCapacity":[{"TableName":"Things","CapacityUnits":1.0}]})");
  EXPECT_EQ(json_.Succeed("GetItem", Named("a")), "{}");
  EXPECT_EQ(json_.Succeed("GetItem", Named("b")), R"({"Item":)" + Key("b") + "}");
}

// A batch has Put and Delete requests only (SEM-045).
TEST_F(JsonSeveralItems, AWriteOfABatchIsOnePutOrDelete) {
  EXPECT_EQ(json_.Fail("BatchWriteItem", R"({"RequestItems":{"Things":[{}]}})"),
            ValidationBody("Supplied AttributeValue is empty, must contain exactly one of the supported "
                           "datatypes",
                           "each write request must contain a PutRequest or a DeleteRequest"));
  EXPECT_EQ(
      json_.Fail("BatchWriteItem",
                 R"({"RequestItems":{"Things":[{"PutRequest":{"Item":{}},"DeleteRequest":{"Key":{}}}]}})"),
      ValidationBody(
          "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
          "supported datatypes",
          "Supplied WriteRequest has more than one request set: it must contain a PutRequest or a "
          "DeleteRequest, not both"));
}

// BatchGetItem (OP-19, SEM-043) refuses duplicate keys (SEM-044).
TEST_F(JsonSeveralItems, ABatchIsRead) {
  json_.Succeed("PutItem", R"({"TableName":"Things","Item":)" + Key("a") + "}");
  EXPECT_EQ(json_.Succeed("BatchGetItem",
                          R"({"ReturnConsumedCapacity":"TOTAL","RequestItems":{"Things":{"Keys":[)" +
                              Key("a") + "," + Key("b") +
                              R"(],"ConsistentRead":true,"ProjectionExpression":"#s",)"
                              R"("ExpressionAttributeNames":{"#s":"sk"}}}})"),
            R"({"Responses":{"Things":[{"sk":{"S":"a"}}]},"UnprocessedKeys":{},)"
            R"("ConsumedCapacity":[{"TableName":"Things","CapacityUnits":2.0}]})");
  EXPECT_EQ(json_.Fail("BatchGetItem",
                       R"({"RequestItems":{"Things":{"Keys":[)" + Key("a") + "," + Key("a") + "]}}}"),
            ValidationBody("Provided list of item keys contains duplicates"));
  EXPECT_EQ(json_.Fail("BatchGetItem", R"({"RequestItems":{"Things":{"Keys":[)" + Key("a") +
                                           R"(]},"Things":{"Keys":[)" + Key("b") + "]}}}"),
            ValidationBody("table 'Things' is named twice; put all its keys into one entry"));
}

// An answer has at most 16 MiB; the other keys are in UnprocessedKeys, in the form of a request (SEM-043).
TEST_F(JsonSeveralItems, WhatABatchCannotHoldIsNamedToBeAskedForAgain) {
  const std::string fat(400'000, 'x');
  std::string keys;
  for (int i = 10; i < 55; ++i) {
    const std::string key = Key(std::to_string(i));
    std::string item = key;
    item.insert(item.size() - 1, R"(,"v":{"S":")" + fat + "\"}");
    json_.Succeed("PutItem", R"({"TableName":"Things","Item":)" + item + "}");
    keys += (keys.empty() ? "" : ",") + key;
  }
  const std::string table = R"({"Keys":[)" + keys +
                            R"(],"ProjectionExpression":"#v",)"
                            R"("ExpressionAttributeNames":{"#v":"v"},"ConsistentRead":true})";
  const std::string body = json_.Succeed("BatchGetItem", R"({"RequestItems":{"Things":)" + table + "}}");
  const size_t rest = body.find(R"(]},"UnprocessedKeys":)");
  ASSERT_NE(rest, std::string::npos);
  // 41 items of 400,000 bytes fit, 42 do not.
  EXPECT_EQ(body.substr(rest), R"(]},"UnprocessedKeys":{"Things":{"Keys":[)" + Key("51") + "," + Key("52") +
                                   "," + Key("53") + "," + Key("54") +
                                   R"(],"ProjectionExpression":"#v","ExpressionAttributeNames":{"#v":"v"},)"
                                   R"("ConsistentRead":true}}})");
}

// TransactWriteItems (OP-21) with a ClientRequestToken (SEM-050) and consumed capacity (SEM-061).
TEST_F(JsonSeveralItems, ATransactionIsWrittenOnce) {
  const std::string body =
      R"j({"ClientRequestToken":"token","ReturnConsumedCapacity":"TOTAL","TransactItems":[
      {"Put":{"TableName":"Things","Item":)j" +
      Key("a") + R"j(,"ConditionExpression":"attribute_not_exists(pk)"}},
      {"Update":{"TableName":"Things","Key":)j" +
      Key("b") + R"j(,"UpdateExpression":"SET n = :n",
                 "ExpressionAttributeValues":{":n":{"N":"1"}}}},
      {"Delete":{"TableName":"Things","Key":)j" +
      Key("c") + R"j(}},
      {"ConditionCheck":{"TableName":"Things","Key":)j" +
      Key("d") +
      R"j(,"ConditionExpression":"attribute_not_exists(#p)","ExpressionAttributeNames":{"#p":"pk"}}}]})j";
  EXPECT_EQ(json_.Succeed("TransactWriteItems", body),
            R"({"ConsumedCapacity":[{"TableName":"Things","CapacityUnits":8.0}]})");
  json_.Succeed("TransactWriteItems", body);
  EXPECT_EQ(json_.Succeed("GetItem", Named("b")),
            R"({"Item":{"n":{"N":"1"},"pk":{"S":"p"},"sk":{"S":"b"}}})");
  // Another request with the same token (ERR-08).
  EXPECT_TRUE(
      json_
          .Fail("TransactWriteItems",
                R"({"ClientRequestToken":"token","TransactItems":[{"Delete":)" + Named("z") + "}]}")
          .starts_with(
              R"({"__type":"com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException")"));
}

// TransactionCanceledException (ERR-05): its message (SEM-052) and its reasons (SEM-051), which can have the
// item (SEM-054).
TEST_F(JsonSeveralItems, ACancelledTransactionNamesItsReasons) {
  json_.Succeed("PutItem", R"({"TableName":"Things","Item":)" + Key("a") + "}");
  EXPECT_EQ(json_.Fail("TransactWriteItems", R"j({"TransactItems":[{"Delete":{"TableName":"Things","Key":)j" +
                                                 Key("z") + R"j(}},{"Put":{"TableName":"Things","Item":)j" +
                                                 Key("a") +
                                                 R"j(,"ConditionExpression":"attribute_not_exists(pk)",
                                                      "ReturnValuesOnConditionCheckFailure":"ALL_OLD"}}]})j"),
            R"({"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",)"
            R"("message":"Transaction cancelled, please refer cancellation reasons for specific reasons )"
            R"([None, ConditionalCheckFailed]","CancellationReasons":[{"Code":"None"},)"
            R"({"Code":"ConditionalCheckFailed","Message":"The conditional request failed","Item":)" +
                Key("a") + "}]}");
}

// A key that does not fit the schema cancels a transaction of either kind; an empty key is a
// ValidationException (SEM-005).
TEST_F(JsonSeveralItems, AKeyThatDoesNotFitCancelsATransaction) {
  const auto cancelled = [](const std::string& message) {
    return R"({"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",)"
           R"("message":"Transaction cancelled, please refer cancellation reasons for specific reasons )"
           R"([None, ValidationError]","CancellationReasons":[{"Code":"None"},)"
           R"({"Code":"ValidationError","Message":")" +
           message + "\"}]}";
  };
  const std::string mismatch = "The provided key element does not match the schema";
  const auto get = [&](const std::string& key) {
    return json_.Fail("TransactGetItems", R"({"TransactItems":[{"Get":)" + Named("a") +
                                              R"(},{"Get":{"TableName":"Things","Key":)" + key + "}}]}");
  };
  EXPECT_EQ(get(R"({"pk":{"S":"p"}})"), cancelled(mismatch));
  EXPECT_EQ(get(R"({"pk":{"S":"p"},"sk":{"N":"1"}})"), cancelled(mismatch));
  EXPECT_NE(get(R"({"pk":{"S":"p"},"sk":{"S":""}})").find("#ValidationException"), std::string::npos);
  const auto write = [&](const std::string& action) {
    return json_.Fail("TransactWriteItems",
                      R"({"TransactItems":[{"Delete":)" + Named("a") + "}," + action + "]}");
  };
  EXPECT_EQ(write(R"({"Delete":{"TableName":"Things","Key":{"pk":{"S":"p"},"sk":{"N":"1"}}}})"),
            cancelled(mismatch));
  EXPECT_EQ(
      write(R"({"Put":{"TableName":"Things","Item":{"pk":{"S":"p"},"sk":{"N":"1"}}}})"),
      cancelled("One or more parameter values were invalid: Type mismatch for key sk expected: S actual: N"));
  EXPECT_NE(write(R"({"Put":{"TableName":"Things","Item":{"pk":{"S":"p"},"sk":{"S":""}}}})")
                .find("#ValidationException"),
            std::string::npos);
  const auto execute = [&](const std::string& statement) {
    return json_.Fail("ExecuteTransaction", R"({"TransactStatements":[{"Statement":")" +
                                                statement.substr(0, statement.find(" WHERE")) +
                                                R"( WHERE pk = 'p' AND sk = 'a'"},{"Statement":")" +
                                                statement + "\"}]}");
  };
  const std::string other_type =
      "Key attribute's data type should match its data type in table's schema: Key sk";
  EXPECT_EQ(execute("SELECT * FROM Things WHERE pk = 'p' AND sk = 1"), cancelled(other_type));
  EXPECT_EQ(execute("DELETE FROM Things WHERE pk = 'p' AND sk = 1"), cancelled(other_type));
}

// 1 to 100 actions (SEM-047); a malformed action is a ValidationException, not a cancellation (SEM-053).
TEST_F(JsonSeveralItems, AnActionIsExactlyOne) {
  EXPECT_EQ(json_.Fail("TransactWriteItems", R"({"TransactItems":[{}]})"),
            ValidationBody("TransactItems can only contain one of Check, Put, Update or Delete",
                           "each action of a transaction must be a Put, Update, Delete or ConditionCheck"));
  EXPECT_EQ(
      json_.Fail("TransactWriteItems", R"({"TransactItems":[{"Delete":)" + Named("a") +
                                           R"(,"Put":{"TableName":"Things","Item":)" + Key("a") + "}}]}"),
      ValidationBody("TransactItems can only contain one of Check, Put, Update or Delete",
                     "TransactItems can only contain one of Check, Put, Update or Delete in each element"));
}

// TransactGetItems (OP-22, SEM-056).
TEST_F(JsonSeveralItems, ATransactionIsReadInTheOrderOfItsRequest) {
  json_.Succeed("PutItem", R"({"TableName":"Things","Item":)" + Key("a") + "}");
  EXPECT_EQ(json_.Succeed("TransactGetItems", R"({"TransactItems":[{"Get":)" + Named("z") +
                                                  R"(},{"Get":{"TableName":"Things",)"
                                                  R"("Key":)" +
                                                  Key("a") + R"(,"ProjectionExpression":"sk"}}]})"),
            R"({"Responses":[{},{"Item":{"sk":{"S":"a"}}}]})");
}

// ItemCollectionMetrics (SEM-066).
TEST_F(JsonSeveralItems, SizesOfItemCollectionsAreTold) {
  json_.Succeed("CreateTable", R"({"TableName":"Local","BillingMode":"PAY_PER_REQUEST",
    "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},
      {"AttributeName":"a","AttributeType":"S"}],
    "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
    "LocalSecondaryIndexes":[{"IndexName":"ByA","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},
      {"AttributeName":"a","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]})");
  const std::string metrics = R"({"ItemCollectionKey":{"pk":{"S":"p"}},"SizeEstimateRangeGB":[0.)";
  std::string one = json_.Succeed(
      "PutItem", R"({"TableName":"Local","ReturnItemCollectionMetrics":"SIZE","Item":)" + Key("a") + "}");
  EXPECT_TRUE(one.starts_with(R"({"ItemCollectionMetrics":)" + metrics)) << one;
  std::string batch = json_.Succeed(
      "BatchWriteItem",
      R"({"ReturnItemCollectionMetrics":"SIZE","RequestItems":{"Local":[{"PutRequest":{"Item":)" + Key("b") +
          "}}]}}");
  EXPECT_TRUE(batch.starts_with(R"({"UnprocessedItems":{},"ItemCollectionMetrics":{"Local":[)" + metrics))
      << batch;
}

}  // namespace
}  // namespace itemdb::testing
