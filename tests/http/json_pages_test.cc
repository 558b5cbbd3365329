// Query and Scan: requests and the whole bodies of their replies.

#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

// Three items p/1, p/2, p/3 with n = 1, 2, 3; items with the attribute a are in the index ByA.
class JsonPages : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    json_ = std::make_unique<JsonFixture>();
    json_->Succeed("CreateTable", R"({"TableName":"Things","BillingMode":"PAY_PER_REQUEST",
      "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"},
        {"AttributeName":"a","AttributeType":"S"},{"AttributeName":"n","AttributeType":"N"}],
      "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
      "GlobalSecondaryIndexes":[{"IndexName":"ByA","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],
        "Projection":{"ProjectionType":"KEYS_ONLY"}}],
      "LocalSecondaryIndexes":[{"IndexName":"ByN","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},
        {"AttributeName":"n","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}]})");
    for (const std::string i : {"1", "2", "3"}) {
      json_->Succeed("PutItem", R"({"TableName":"Things","Item":{"pk":{"S":"p"},"sk":{"N":")" + i +
                                    R"("},"n":{"N":")" + i + "\"}" + (i == "2" ? R"(,"a":{"S":"x"})" : "") +
                                    "}}");
    }
  }
  static void TearDownTestSuite() { json_.reset(); }

  static std::string Query(const std::string& members, const std::string& key = "p") {
    return json_->Succeed("Query", Body(members, key));
  }
  static std::string FailQuery(const std::string& members) {
    return json_->Fail("Query", Body(members, "p"));
  }
  static std::string Scan(const std::string& members) {
    return json_->Succeed("Scan", R"({"TableName":"Things")" + members + "}");
  }
  static std::string Item(const std::string& i) {
    return std::string("{") + (i == "2" ? R"("a":{"S":"x"},)" : "") + R"("n":{"N":")" + i +
           R"("},"pk":{"S":"p"},"sk":{"N":")" + i + "\"}}";
  }

  static std::unique_ptr<JsonFixture> json_;

 private:
  static std::string Body(const std::string& members, const std::string& key) {
    return R"({"TableName":"Things","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":")" +
           key + "\"}}" + members + "}";
  }
};

std::unique_ptr<JsonFixture> JsonPages::json_;

// Query (OP-17): Limit (SEM-029), LastEvaluatedKey (SEM-030), ScanIndexForward (SEM-035).
TEST_F(JsonPages, AQueryIsAnsweredPageAfterPage) {
  EXPECT_EQ(Query(""), R"({"Items":[)" + Item("1") + "," + Item("2") + "," + Item("3") +
                           R"(],"Count":3,"ScannedCount":3})");
  EXPECT_EQ(Query("", "nobody"), R"({"Items":[],"Count":0,"ScannedCount":0})");
  EXPECT_EQ(Query(R"(,"Limit":2)"), R"({"Items":[)" + Item("1") + "," + Item("2") +
                                        R"(],"Count":2,"ScannedCount":2,)"
                                        R"("LastEvaluatedKey":{"pk":{"S":"p"},"sk":{"N":"2"}}})");
  EXPECT_EQ(Query(R"(,"ExclusiveStartKey":{"sk":{"N":"2"},"pk":{"S":"p"}})"),
            R"({"Items":[)" + Item("3") + R"(],"Count":1,"ScannedCount":1})");
  EXPECT_EQ(Query(R"(,"ScanIndexForward":false,"Limit":1)"),
            R"({"Items":[)" + Item("3") +
                R"(],"Count":1,"ScannedCount":1,"LastEvaluatedKey":{"pk":{"S":"p"},"sk":{"N":"3"}}})");
}

// Select COUNT (SEM-036) and consumed capacity (SEM-061) of an index (SEM-065).
TEST_F(JsonPages, CountsHaveNoItems) {
  EXPECT_EQ(Query(R"(,"Select":"COUNT","ReturnConsumedCapacity":"TOTAL")"),
            R"({"Count":3,"ScannedCount":3,"ConsumedCapacity":{"TableName":"Things","CapacityUnits":0.5}})");
  EXPECT_EQ(Scan(R"(,"IndexName":"ByA","Select":"COUNT","ReturnConsumedCapacity":"INDEXES")"),
            R"({"Count":1,"ScannedCount":1,"ConsumedCapacity":{"TableName":"Things","CapacityUnits":0.5,)"
            R"("Table":{"CapacityUnits":0.0},"GlobalSecondaryIndexes":{"ByA":{"CapacityUnits":0.5}}}})");
}

// SEM-062: the bytes of the items, rounded up, and at least the least, also where there is nothing.
TEST(JsonScans, OfATinyTableCostTheLeast) {
  JsonFixture json;
  json.Succeed("CreateTable", kCreateThings);
  const auto cost = [&](const std::string& members) {
    const std::string reply =
        json.Succeed("Scan", R"({"TableName":"Things","ReturnConsumedCapacity":"TOTAL")" + members + "}");
    return reply.substr(reply.find("CapacityUnits\":") + 15);
  };
  for (const bool has_item : {false, true}) {
    EXPECT_EQ(cost(""), "0.5}}");
    EXPECT_EQ(cost(R"(,"ConsistentRead":true)"), "1.0}}");
    for (const char* segment : {"0", "1", "2"})
      EXPECT_EQ(cost(R"(,"TotalSegments":3,"Segment":)" + std::string(segment)), "0.5}}");
    if (!has_item)
      json.Succeed("PutItem", R"({"TableName":"Things","Item":{"pk":{"S":"p"},"sk":{"S":"s"}}})");
  }
}

TEST_F(JsonPages, FiltersAndProjectionsAreApplied) {
  EXPECT_EQ(json_->Succeed(
                "Query", R"({"TableName":"Things","KeyConditionExpression":"pk = :p AND sk BETWEEN :1 AND :2",
              "FilterExpression":"#n > :1","ProjectionExpression":"#n","ExpressionAttributeNames":{"#n":"n"},
              "ExpressionAttributeValues":{":p":{"S":"p"},":1":{"N":"1"},":2":{"N":"2"}}})"),
            R"({"Items":[{"n":{"N":"2"}}],"Count":1,"ScannedCount":2})");
}

// Scan (OP-18) of tables, segments (SEM-033) and indexes (SEM-076).
TEST_F(JsonPages, AScanReadsTablesIndexesAndSegments) {
  EXPECT_EQ(Scan(""), R"({"Items":[)" + Item("1") + "," + Item("2") + "," + Item("3") +
                          R"(],"Count":3,"ScannedCount":3})");
  EXPECT_EQ(Scan(R"(,"IndexName":"ByA")"),
            R"({"Items":[{"a":{"S":"x"},"pk":{"S":"p"},"sk":{"N":"2"}}],"Count":1,"ScannedCount":1})");
  EXPECT_EQ(Scan(R"(,"Segment":0,"TotalSegments":1,"Select":"COUNT")"), R"({"Count":3,"ScannedCount":3})");
}

// Legacy parameters (SEM-112).
TEST_F(JsonPages, LegacyParametersWork) {
  EXPECT_EQ(json_->Succeed("Query", R"({"TableName":"Things","AttributesToGet":["sk"],
              "KeyConditions":{"pk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"p"}]},
                               "sk":{"ComparisonOperator":"GE","AttributeValueList":[{"N":"2"}]}},
              "QueryFilter":{"a":{"ComparisonOperator":"NULL"}}})"),
            R"({"Items":[{"sk":{"N":"3"}}],"Count":1,"ScannedCount":2})");
  // KeyConditions beside expressions (SEM-026).
  EXPECT_EQ(json_->Succeed("Query", R"j({"TableName":"Things","ProjectionExpression":"sk",
              "FilterExpression":"attribute_exists(a)",
              "KeyConditions":{"pk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"p"}]}}})j"),
            R"({"Items":[{"sk":{"N":"2"}}],"Count":1,"ScannedCount":3})");
  EXPECT_EQ(
      Scan(
          R"(,"ConditionalOperator":"OR","ScanFilter":{"n":{"ComparisonOperator":"IN","AttributeValueList":[{"N":"1"}]},
              "a":{"ComparisonOperator":"NOT_NULL"}},"Select":"COUNT")"),
      R"({"Count":2,"ScannedCount":3})");
}

// ConsistentRead is refused for a global index and allowed for a local index (SEM-038).
TEST_F(JsonPages, ConsistentReadsOfGlobalIndexesAreRefused) {
  const std::string refused =
      ValidationBody("Consistent reads are not supported on global secondary indexes");
  EXPECT_EQ(json_->Fail("Scan", R"({"TableName":"Things","IndexName":"ByA","ConsistentRead":true})"),
            refused);
  EXPECT_EQ(FailQuery(R"(,"IndexName":"ByA","ConsistentRead":true)"), refused);
  // Expressions are checked before the table exists, the table before its indexes (SEM-115).
  EXPECT_EQ(
      json_->Fail("Scan",
                  R"({"TableName":"Things","IndexName":"ByA","ConsistentRead":true,"FilterExpression":""})"),
      ValidationBody("Invalid FilterExpression: The expression can not be empty;"));
  EXPECT_NE(json_->Fail("Scan", R"({"TableName":"Gone","IndexName":"ByA","ConsistentRead":true})")
                .find("ResourceNotFoundException"),
            std::string::npos);
  EXPECT_EQ(Query(R"(,"IndexName":"ByN","ConsistentRead":true,"Select":"COUNT")"),
            R"({"Count":3,"ScannedCount":3})");
  EXPECT_EQ(Scan(R"(,"ConsistentRead":true,"Select":"COUNT")"), R"({"Count":3,"ScannedCount":3})");
}

TEST_F(JsonPages, WhatStorageRefusesIsRefused) {
  EXPECT_EQ(FailQuery(R"(,"IndexName":"Missing")"),
            ValidationBody("The table does not have the specified index: Missing",
                           "The table does not have the specified index: Missing (table Things)"));
  EXPECT_EQ(FailQuery(R"(,"FilterExpression":"")"),
            ValidationBody("Invalid FilterExpression: The expression can not be empty;"));
  EXPECT_EQ(
      json_->Fail("Query", R"({"TableName":"Things"})"),
      ValidationBody("Either the KeyConditions or KeyConditionExpression parameter must be specified in the "
                     "request."));
}

}  // namespace
}  // namespace itemdb::testing
