// Vector indexes over HTTP: definitions, searches, and what is refused (VEC rows).
#include <gmock/gmock.h>

#include <regex>

#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kCreateDocs[] =
    R"({"TableName":"Docs","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"id",
    "AttributeType":"S"},{"AttributeName":"tenant","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id",
    "KeyType":"HASH"}],"VectorIndexes":[{"IndexName":"ByV","VectorAttribute":{"AttributeName":"v"},
    "Dimensions":2,"DistanceFunction":"EUCLIDEAN","Projection":{"ProjectionType":"ALL"},
    "SearchSchema":[{"AttributeName":"tenant","SearchSchemaElementType":"HASH"}]}]})";

class JsonVectors : public ::testing::Test {
 protected:
  JsonVectors() {
    json_.Succeed("CreateTable", kCreateDocs);
    Put("a", "[{\"N\":\"1\"},{\"N\":\"0\"}]");
    Put("b", "[{\"N\":\"3\"},{\"N\":\"4\"}]");
  }
  void Put(const std::string& id, const std::string& vector) {
    json_.Succeed("PutItem", R"({"TableName":"Docs","Item":{"id":{"S":")" + id +
                                 R"("},"tenant":{"S":"t"},"v":{"L":)" + vector + "}}}");
  }
  static std::string Search(const std::string& more) {
    return R"({"TableName":"Docs","IndexName":"ByV","SearchConditionExpression":"tenant = :t",
      "ExpressionAttributeValues":{":t":{"S":"t"}})" +
           more + "}";
  }

  JsonFixture json_;
};

TEST_F(JsonVectors, AreDescribed) {  // VEC-04
  const std::string table = json_.Succeed("DescribeTable", R"({"TableName":"Docs"})");
  EXPECT_THAT(
      table,
      HasSubstr(
          R"("VectorIndexes":[{"IndexName":"ByV","VectorAttribute":{"AttributeName":"v"},"Dimensions":2,)"
          R"("DistanceFunction":"EUCLIDEAN","Projection":{"ProjectionType":"ALL"},"SearchSchema":[{)"
          R"("AttributeName":"tenant","SearchSchemaElementType":"HASH"}],"IndexStatus":"ACTIVE",)"
          R"("IndexSizeBytes":38,"ItemCount":2,)"
          R"("IndexArn":"arn:aws:dynamodb:local:000000000000:table/Docs/index/ByV"}])"));
}

TEST_F(JsonVectors, AreSearched) {  // VEC-14 to VEC-16, VEC-21
  EXPECT_EQ(json_.Succeed("SearchVectors", Search(R"(,"SearchVector":[{"N":"0"},{"N":"0"}],"TopK":5)")),
            R"({"SearchResults":[{"Item":{"id":{"S":"a"},"tenant":{"S":"t"}},"Score":1.0},)"
            R"({"Item":{"id":{"S":"b"},"tenant":{"S":"t"}},"Score":5.0}]})");
  EXPECT_EQ(
      json_.Succeed("SearchVectors",
                    Search(R"(,"SearchVector":[{"N":"3.1"},{"N":"4"}],"TopK":1,"ProjectionExpression":"id, v",
                    "ReturnConsumedCapacity":"TOTAL")")),
      R"({"SearchResults":[{"Item":{"id":{"S":"b"},"v":{"L":[{"N":"3"},{"N":"4"}]}},"Score":0.099999905}],)"
      R"("ConsumedCapacity":{"VectorSearchRequestBytes":1024}})");
  EXPECT_THAT(json_.Succeed("PutItem", R"({"TableName":"Docs","ReturnConsumedCapacity":"INDEXES","Item":{
                "id":{"S":"c"},"tenant":{"S":"t"},"v":{"L":[{"N":"1"},{"N":"1"}]}}})"),
              HasSubstr(R"("VectorIndexes":{"ByV":{"VectorWriteRequestBytes":1024}})"));
}

TEST_F(JsonVectors, AreCreatedOnLiveTablesAndDeleted) {  // VEC-05
  const std::string other = R"({"IndexName":"Other","VectorAttribute":{"AttributeName":"v"},"Dimensions":2,
    "DistanceFunction":"COSINE","Projection":{"ProjectionType":"KEYS_ONLY"}})";
  EXPECT_THAT(
      json_.Succeed("UpdateTable", R"({"TableName":"Docs","VectorIndexUpdates":[{"Create":)" + other + "}]}"),
      AllOf(HasSubstr(R"("TableStatus":"UPDATING")"), HasSubstr(R"("IndexStatus":"CREATING")"),
            HasSubstr(R"("Backfilling":true)")));
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (json_.Succeed("DescribeTable", R"({"TableName":"Docs"})").find("CREATING") != std::string::npos) {
    ASSERT_LT(std::chrono::steady_clock::now(), until);
  }
  EXPECT_EQ(json_.Succeed("SearchVectors", R"({"TableName":"Docs","IndexName":"Other","TopK":1,
              "SearchVector":[{"N":"6"},{"N":"8"}]})"),
            R"({"SearchResults":[{"Item":{"id":{"S":"b"}},"Score":0.0}]})");
  EXPECT_THAT(json_.Succeed("UpdateTable", R"({"TableName":"Docs","VectorIndexUpdates":[
                {"Delete":{"IndexName":"Other"}}]})"),
              HasSubstr(R"("IndexStatus":"DELETING")"));
  EXPECT_THAT(json_.Fail("UpdateTable", R"({"TableName":"Docs","VectorIndexUpdates":[
                {"Delete":{"IndexName":"Other"}}]})"),
              AllOf(HasSubstr("ResourceNotFoundException"),
                    HasSubstr("Requested resource not found: Index Other for table Docs")));
}

TEST_F(JsonVectors, BadRequestsAreRefused) {  // VEC-03, VEC-17
  const auto create = [&](const std::string& from, const std::string& to) {
    std::string body = std::regex_replace(std::string(kCreateDocs), std::regex("\"Docs\""), "\"More\"");
    const size_t at = body.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return json_.Fail("CreateTable", body.replace(at, from.size(), to));
  };
  EXPECT_THAT(create("\"Dimensions\":2", "\"Dimensions\":4097"),
              HasSubstr("Number of dimensions must be between 1 and 4096 inclusive."));
  EXPECT_THAT(create("\"Dimensions\":2", "\"Dimensions\":0"), HasSubstr("greater than or equal to 1"));
  EXPECT_THAT(create("\"Dimensions\":2,", ""), HasSubstr("dimensions"));
  EXPECT_THAT(create("EUCLIDEAN", "MANHATTAN"), HasSubstr("[COSINE, EUCLIDEAN, DOT_PRODUCT]"));
  EXPECT_THAT(create("\"SearchSchemaElementType\":\"HASH\"", "\"SearchSchemaElementType\":\"RANGE\""),
              HasSubstr("[HASH, INLINE_FILTER]"));
  EXPECT_THAT(create("\"PAY_PER_REQUEST\"", R"("PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":1,
              "WriteCapacityUnits":1})"),
              HasSubstr("Vector indexes are only supported for PAY_PER_REQUEST tables"));

  const auto search = [&](const std::string& more) { return json_.Fail("SearchVectors", Search(more)); };
  const std::string vector = R"(,"SearchVector":[{"N":"0"},{"N":"0"}])";
  for (const char* top_k : {"0", "101", "-1"}) {
    EXPECT_THAT(search(vector + ",\"TopK\":" + top_k),
                HasSubstr("Provided TopK value '" + std::string(top_k) + "' is out of valid range."));
  }
  EXPECT_THAT(search(vector), HasSubstr("topK"));
  EXPECT_THAT(search(",\"TopK\":1"), HasSubstr("searchVector"));
  EXPECT_THAT(search(R"(,"TopK":1,"SearchVector":[{"N":"1"}])"),
              HasSubstr("Input search vector dimension 1 does not match vector index dimension 2"));
  for (const char* element : {R"({"S":"1"})", R"({"N":"1e39"})", R"({"L":[]})"}) {
    EXPECT_THAT(search(R"(,"TopK":1,"SearchVector":[{"N":"1"},)" + std::string(element) + "]"),
                HasSubstr("Search vector contains invalid values."))
        << element;
  }
  for (const char* element : {"1", "NaN", "\"1\"", R"({"N":1})", "[1]"}) {
    EXPECT_THAT(search(R"(,"TopK":1,"SearchVector":[)" + std::string(element) + "]"),
                HasSubstr("SerializationException"))
        << element;
  }
  EXPECT_THAT(search(R"(,"TopK":1,"SearchVector":{"L":[]})"), HasSubstr("SerializationException"));
  EXPECT_EQ(json_.Fail("SearchVectors", R"({"TableName":"Gone","IndexName":"ByV","TopK":1,
                "SearchVector":[{"N":"1"}]})"),
            R"({"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",)"
            R"("message":"Requested resource not found",)"
            R"("Detail":"Requested resource not found: Table: Gone not found"})");
  EXPECT_THAT(json_.Fail("PutItem", R"({"TableName":"Docs","Item":{"id":{"S":"x"},"v":{"L":[{"N":"1"}]}}})"),
              AllOf(HasSubstr("ValidationException"),
                    HasSubstr("One or more parameter values were invalid. Invalid size for parameter v, "
                              "Expected: 2, Actual: 1 IndexName: ByV")));
  EXPECT_THAT(json_.Fail("Query", R"({"TableName":"Docs","IndexName":"ByV","KeyConditionExpression":"id = :i",
                "ExpressionAttributeValues":{":i":{"S":"a"}}})"),
              HasSubstr("Query operation not supported on this index type."));
  EXPECT_THAT(json_.Fail("ExecuteStatement", R"({"Statement":"SELECT * FROM \"Docs\".\"ByV\""})"),
              HasSubstr("Scan operation not supported on this index type"));
}

// Members that are null, and TableName that is missing, with their place in the body (VEC-18).
TEST_F(JsonVectors, BodiesWithoutAMemberAreRefusedWithTheirPlace) {
  const auto search = [&](const std::string& body) { return json_.Fail("SearchVectors", body); };
  const std::string null = "invalid type: null, expected ";
  EXPECT_EQ(search(R"({"TableName":null})"), SerializationBody(null + "a string at line 1 column 17"));
  EXPECT_EQ(search(R"({"IndexName" : null , "TableName":null})"),
            SerializationBody(null + "a string at line 1 column 19"));
  EXPECT_EQ(search("{\"TableName\":\"Docs\",\n \"TopK\":null}"),
            SerializationBody(null + "i32 at line 2 column 12"));
  EXPECT_EQ(search(R"({"SearchVector":null,"TopK":"x"})"),
            SerializationBody(null + "a sequence at line 1 column 20"));
  // Not at the top, and not a member.
  EXPECT_EQ(search(R"({"a":{"TopK":null},"b":["TopK",null],"c":"\"TopK\":null"})"),
            ValidationBody("missing field `TableName` at line 1 column 57"));
  EXPECT_EQ(search("{}"), ValidationBody("missing field `TableName` at line 1 column 2"));
  EXPECT_EQ(search("{\"TopK\":1\n}\n"), ValidationBody("missing field `TableName` at line 2 column 1"));
  // Optional members may be null.
  EXPECT_THAT(search(R"({"TableName":"Docs","ProjectionExpression":null})"),
              HasSubstr("3 validation errors detected: "));
}

}  // namespace
}  // namespace itemdb::testing
