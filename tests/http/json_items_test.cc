// Operations on items: requests and the whole bodies of their replies.

#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

class JsonItems : public ::testing::Test {
 protected:
  JsonItems() { json_.Succeed("CreateTable", kCreateThings); }

  std::string Succeed(const std::string& operation, const std::string& members) {
    return json_.Succeed(operation, R"({"TableName":"Things",)" + members + "}");
  }
  std::string Fail(const std::string& operation, const std::string& members) {
    return json_.Fail(operation, R"({"TableName":"Things",)" + members + "}");
  }
  static std::string Key(const std::string& sk = "s") {
    return R"("Key":{"pk":{"S":"p"},"sk":{"S":")" + sk + "\"}}";
  }
  static std::string Item(const std::string& more) {
    return R"("Item":{"pk":{"S":"p"},"sk":{"S":"s"},)" + more + "}";
  }

  JsonFixture json_;
};

// PutItem (OP-13), GetItem (OP-14), also without an item (SEM-042), DeleteItem (OP-16).
TEST_F(JsonItems, AnItemIsWrittenReadAndDeleted) {
  EXPECT_EQ(Succeed("PutItem", Item(R"("n":{"N":"1"})")), "{}");
  EXPECT_EQ(Succeed("GetItem", Key()), R"({"Item":{"n":{"N":"1"},"pk":{"S":"p"},"sk":{"S":"s"}}})");
  EXPECT_EQ(Succeed("DeleteItem", Key()), "{}");
  EXPECT_EQ(Succeed("GetItem", Key()), "{}");
  EXPECT_EQ(Succeed("DeleteItem", Key()), "{}");
}

// ReturnValues (SEM-058, SEM-059) of UpdateItem (OP-15).
TEST_F(JsonItems, ReturnValuesShowTheItemBeforeOrAfter) {
  EXPECT_EQ(Succeed("PutItem", Item(R"("n":{"N":"1"})") + R"(,"ReturnValues":"ALL_OLD")"), "{}");
  EXPECT_EQ(Succeed("PutItem", Item(R"("n":{"N":"2"})") + R"(,"ReturnValues":"ALL_OLD")"),
            R"({"Attributes":{"n":{"N":"1"},"pk":{"S":"p"},"sk":{"S":"s"}}})");
  const std::string add = Key() +
                          R"(,"UpdateExpression":"ADD #n :one","ExpressionAttributeNames":{"#n":"n"},)"
                          R"("ExpressionAttributeValues":{":one":{"N":"1"}},"ReturnValues":)";
  EXPECT_EQ(Succeed("UpdateItem", add + "\"UPDATED_NEW\""), R"({"Attributes":{"n":{"N":"3"}}})");
  EXPECT_EQ(Succeed("UpdateItem", add + "\"UPDATED_OLD\""), R"({"Attributes":{"n":{"N":"3"}}})");
  EXPECT_EQ(Succeed("UpdateItem", add + "\"ALL_NEW\""),
            R"({"Attributes":{"n":{"N":"5"},"pk":{"S":"p"},"sk":{"S":"s"}}})");
  EXPECT_EQ(Succeed("UpdateItem", add + "\"NONE\""), "{}");
  EXPECT_EQ(Succeed("DeleteItem", Key() + R"(,"ReturnValues":"ALL_OLD")"),
            R"({"Attributes":{"n":{"N":"6"},"pk":{"S":"p"},"sk":{"S":"s"}}})");
  EXPECT_EQ(Fail("DeleteItem", Key() + R"(,"ReturnValues":"ALL_NEW")"),
            ValidationBody("ReturnValues can only be ALL_OLD or NONE",
                           "Return values set to invalid value: only NONE and ALL_OLD are allowed here"));
}

// ConditionalCheckFailedException (ERR-04) can have the stored item (SEM-060).
TEST_F(JsonItems, AFalseConditionIsAnExceptionWithTheItemWhenAskedFor) {
  Succeed("PutItem", Item(R"("n":{"N":"1"})"));
  const std::string members =
      Item(R"("n":{"N":"2"})") + R"j(,"ConditionExpression":"attribute_not_exists(pk)")j";
  EXPECT_EQ(Fail("PutItem", members),
            R"({"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",)"
            R"("message":"The conditional request failed"})");
  EXPECT_EQ(Fail("PutItem", members + R"(,"ReturnValuesOnConditionCheckFailure":"ALL_OLD")"),
            R"({"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",)"
            R"("message":"The conditional request failed",)"
            R"("Item":{"n":{"N":"1"},"pk":{"S":"p"},"sk":{"S":"s"}}})");
}

// ReturnConsumedCapacity (SEM-061), in read units (SEM-062) and write units (SEM-063).
TEST_F(JsonItems, ConsumedCapacityIsShownWhenAskedFor) {
  EXPECT_EQ(Succeed("PutItem", Item(R"("n":{"N":"1"})") + R"(,"ReturnConsumedCapacity":"TOTAL")"),
            R"({"ConsumedCapacity":{"TableName":"Things","CapacityUnits":1.0}})");
  EXPECT_EQ(
      Succeed("GetItem", Key("gone") + R"(,"ReturnConsumedCapacity":"INDEXES")"),
      R"({"ConsumedCapacity":{"TableName":"Things","CapacityUnits":0.5,"Table":{"CapacityUnits":0.5}}})");
  EXPECT_EQ(Succeed("GetItem", Key("gone") + R"(,"ReturnConsumedCapacity":"TOTAL","ConsistentRead":true)"),
            R"({"ConsumedCapacity":{"TableName":"Things","CapacityUnits":1.0}})");
  EXPECT_EQ(Succeed("GetItem", Key("gone") + R"(,"ReturnConsumedCapacity":"NONE")"), "{}");
}

// ProjectionExpression (EXP-34) and AttributesToGet (SEM-112).
TEST_F(JsonItems, GetItemProjects) {
  Succeed("PutItem", Item(R"("n":{"N":"1"},"m":{"M":{"a":{"S":"x"},"b":{"S":"y"}}})"));
  EXPECT_EQ(Succeed("GetItem",
                    Key() + R"(,"ProjectionExpression":"m.a, #n","ExpressionAttributeNames":{"#n":"n"})"),
            R"({"Item":{"m":{"M":{"a":{"S":"x"}}},"n":{"N":"1"}}})");
  EXPECT_EQ(Succeed("GetItem", Key() + R"(,"ProjectionExpression":"gone")"), R"({"Item":{}})");
  EXPECT_EQ(Succeed("GetItem", Key() + R"(,"AttributesToGet":["n","sk"])"),
            R"({"Item":{"n":{"N":"1"},"sk":{"S":"s"}}})");
}

// Legacy parameters (SEM-112).
TEST_F(JsonItems, LegacyParametersWork) {
  EXPECT_EQ(Succeed("UpdateItem", Key() + R"(,"AttributeUpdates":{"n":{"Action":"ADD","Value":{"N":"1"}},)"
                                          R"("a":{"Value":{"S":"x"}}},"ReturnValues":"ALL_NEW")"),
            R"({"Attributes":{"a":{"S":"x"},"n":{"N":"1"},"pk":{"S":"p"},"sk":{"S":"s"}}})");
  EXPECT_EQ(Succeed("UpdateItem",
                    Key() + R"(,"AttributeUpdates":{"a":{"Action":"DELETE"}},"ReturnValues":"ALL_NEW")"),
            R"({"Attributes":{"n":{"N":"1"},"pk":{"S":"p"},"sk":{"S":"s"}}})");
  const std::string expected = Item(R"("n":{"N":"2"})") + R"(,"Expected":)";
  EXPECT_NE(Fail("PutItem", expected + R"({"n":{"Exists":false}})").find("ConditionalCheckFailedException"),
            std::string::npos);
  EXPECT_NE(
      Fail("PutItem", expected + R"({"n":{"Value":{"N":"7"}}})").find("ConditionalCheckFailedException"),
      std::string::npos);
  EXPECT_EQ(Succeed("PutItem", expected + R"({"n":{"ComparisonOperator":"BETWEEN","AttributeValueList":)"
                                          R"([{"N":"0"},{"N":"1"}]},"x":{"ComparisonOperator":"NOT_NULL"}},)"
                                          R"("ConditionalOperator":"OR")"),
            "{}");
  EXPECT_EQ(
      Fail("PutItem", expected + R"j({"n":{"Exists":false}},"ConditionExpression":"attribute_exists(pk)")j"),
      ValidationBody("Can not use both expression and non-expression parameters in the same request: "
                     "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}"));
}

// Empty expressions (SEM-019) and placeholders without an expression (SEM-026).
TEST_F(JsonItems, WhatIsEmptyIsRefused) {
  EXPECT_EQ(Fail("DeleteItem", Key() + R"(,"ConditionExpression":"")"),
            ValidationBody("Invalid ConditionExpression: The expression can not be empty;"));
  EXPECT_EQ(Fail("UpdateItem", Key() + R"(,"UpdateExpression":"")"),
            ValidationBody("Invalid UpdateExpression: The expression can not be empty;"));
  EXPECT_EQ(Fail("GetItem", Key() + R"(,"ProjectionExpression":"")"),
            ValidationBody("Invalid ProjectionExpression: The expression can not be empty;"));
  EXPECT_EQ(Fail("DeleteItem",
                 Key() + R"j(,"ConditionExpression":"attribute_exists(pk)","ExpressionAttributeValues":{})j"),
            ValidationBody("ExpressionAttributeValues must not be empty"));
  EXPECT_EQ(Fail("GetItem", Key() + R"(,"ProjectionExpression":"pk","ExpressionAttributeNames":{})"),
            ValidationBody("ExpressionAttributeNames must not be empty"));
  // After mixed kinds of parameters, and after maps without an expression (SEM-115).
  EXPECT_EQ(Fail("GetItem", Key() + R"(,"ExpressionAttributeNames":{})"),
            ValidationBody("ExpressionAttributeNames can only be specified when using expressions"));
  EXPECT_EQ(Fail("DeleteItem", Key() + R"(,"ExpressionAttributeValues":{})"),
            ValidationBody("ExpressionAttributeValues can only be specified when using expressions: "
                           "ConditionExpression is null"));
  EXPECT_EQ(
      Fail("DeleteItem",
           Key() + R"j(,"ConditionExpression":"attribute_exists(pk)","ExpressionAttributeNames":{},
              "Expected":{"n":{"Exists":false}})j"),
      ValidationBody("Can not use both expression and non-expression parameters in the same request: "
                     "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}"));
}

// A table may be named by its ARN, of which only the name counts (SEM-008).
TEST_F(JsonItems, ATableMayBeNamedByItsArn) {
  EXPECT_EQ(json_.Succeed("GetItem", R"({"TableName":"arn:aws:dynamodb:local:000000000000:table/Things",)" +
                                         Key() + "}"),
            "{}");
}

// A missing table is ResourceNotFoundException (ERR-02, SEM-039).
TEST_F(JsonItems, AMissingTableIsResourceNotFound) {
  EXPECT_EQ(json_.Fail("GetItem", R"({"TableName":"Missing",)" + Key() + "}"),
            R"({"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",)"
            R"("message":"Requested resource not found",)"
            R"("Detail":"Requested resource not found: Table: Missing not found"})");
}

// A null member counts as missing; unknown members are ignored, as the service does.
TEST_F(JsonItems, NullAndUnknownMembersAreIgnored) {
  EXPECT_EQ(
      Succeed("GetItem", Key() + R"(,"ProjectionExpression":null,"ConsistentRead":null,"Unknown":[1,{}])"),
      "{}");
}

// Calls over HTTP are counted too (SEED-049); legacy parameters have the same shape as expressions.
TEST(JsonAccessPatterns, AreSeenOverHttp) {
  JsonFixture json;
  json.Succeed("CreateTable", kCreateThings);
  json.Succeed("Query",
               R"({"TableName":"Things","KeyConditionExpression":"#p = :p","ExpressionAttributeNames":
    {"#p":"pk"},"ExpressionAttributeValues":{":p":{"S":"a"}}})");
  json.Succeed("Query", R"({"TableName":"Things","KeyConditions":{"pk":{"ComparisonOperator":"EQ",
    "AttributeValueList":[{"S":"b"}]}}})");
  auto patterns = json.database().GetAccessPatterns({});
  ASSERT_TRUE(patterns.ok()) << patterns.status();
  ASSERT_EQ(patterns->patterns_size(), 1);
  EXPECT_EQ(patterns->patterns(0).operation(), "Query");
  EXPECT_EQ(patterns->patterns(0).key_condition(), "pk = ?");
  EXPECT_EQ(patterns->patterns(0).calls(), 2);
}

}  // namespace
}  // namespace itemdb::testing
