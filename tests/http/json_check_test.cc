// Requests whose members have a wrong JSON type or are out of bounds.

#include <vector>

#include "daemon/http/api/operations.h"
#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

struct Row {
  std::string operation;
  std::string body;
  std::string reply;
};

class JsonCheck : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    json_ = std::make_unique<JsonFixture>();
    json_->Succeed("CreateTable", kCreateThings);
  }
  static void TearDownTestSuite() { json_.reset(); }

  static void Expect(const std::vector<Row>& rows) {
    for (const Row& row : rows) EXPECT_EQ(json_->Fail(row.operation, row.body), row.reply) << row.body;
  }

  static std::unique_ptr<JsonFixture> json_;
};

std::unique_ptr<JsonFixture> JsonCheck::json_;

// The message of a request with several violations (SEM-115).
std::string Violations(const std::vector<std::string>& texts) {
  std::string message = std::to_string(texts.size()) + (texts.size() == 1 ? " validation error detected: "
                                                                          : " validation errors detected: ");
  for (size_t i = 0; i < texts.size(); ++i) message += (i > 0 ? "; " : "") + texts[i];
  return ValidationBody(message);
}

std::string Null(const std::string& place) {
  return "Value null at '" + place + "' failed to satisfy constraint: Member must not be null";
}
std::string Must(const std::string& value, const std::string& place, const std::string& constraint) {
  return "Value '" + value + "' at '" + place + "' failed to satisfy constraint: Member must " + constraint;
}

// Of the keys that BatchGetItem wants from Things.
std::string KeysMust(const std::string& constraint) {
  return "Value at 'RequestItems.Things.member.Keys' failed to satisfy constraint: Member must " + constraint;
}

// All violations of shape and range are listed, at most 10 (SEM-115).
TEST_F(JsonCheck, ViolationsAreListedWithTheirPlaces) {
  Expect({
      {"PutItem", "{}", Violations({Null("item"), Null("tableName")})},
      {"GetItem", R"({"TableName":"ab","Key":{}})",
       Violations({Must("ab", "tableName", "have length greater than or equal to 3")})},
      {"GetItem", R"({"TableName":"","Key":{}})",
       Violations({Must("", "tableName", "have length greater than or equal to 1")})},
      {"GetItem", R"({"TableName":"a b c","Key":{}})",
       Violations({Must("a b c", "tableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+")})},
      // An ARN that is none of a table is a wrong name, and a new table has no ARN yet.
      {"GetItem", R"({"TableName":"arn:x","Key":{}})",
       Violations({Must("arn:x", "tableName", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+")})},
      {"Scan", R"({"TableName":"arn:aws:dynamodb:local:000000000000:table/ab"})",
       Violations({Must("arn:aws:dynamodb:local:000000000000:table/ab", "tableName",
                        "satisfy regular expression pattern: [a-zA-Z0-9_.-]+")})},
      {"CreateTable",
       R"({"TableName":"arn:aws:dynamodb:local:000000000000:table/New","AttributeDefinitions":[],)"
       R"("KeySchema":[{"AttributeName":"a","KeyType":"HASH"}]})",
       Violations({Must("arn:aws:dynamodb:local:000000000000:table/New", "tableName",
                        "satisfy regular expression pattern: [a-zA-Z0-9_.-]+")})},
      {"GetItem", R"({"TableName":"arn:)" + std::string(1'021, 'a') + R"(","Key":{}})",
       Violations(
           {Must("arn:" + std::string(1'021, 'a'), "tableName", "have length less than or equal to 1024")})},
      {"GetItem", R"({"TableName":")" + std::string(256, 'a') + R"(","Key":{}})",
       Violations({Must(std::string(256, 'a'), "tableName", "have length less than or equal to 255")})},
      {"GetItem", R"({"TableName":"Things","Key":{},"ReturnConsumedCapacity":"SOME","AttributesToGet":[]})",
       Violations(
           {Must("[]", "attributesToGet", "have length greater than or equal to 1"),
            Must("SOME", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]")})},
      {"Query", R"({"TableName":"Things","Limit":0,"IndexName":"x","Select":"count"})",
       Violations({Must("x", "indexName", "have length greater than or equal to 3"),
                   Must("0", "limit", "have value greater than or equal to 1"),
                   Must("count", "select",
                        "satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, "
                        "ALL_PROJECTED_ATTRIBUTES]")})},
      {"Scan", R"({"TableName":"Things","Segment":-1,"TotalSegments":1000001})",
       Violations({Must("-1", "segment", "have value greater than or equal to 0"),
                   Must("1000001", "totalSegments", "have value less than or equal to 1000000")})},
      {"ListTables", R"({"Limit":101})",
       Violations({Must("101", "limit", "have value less than or equal to 100")})},
      {"BatchGetItem", R"({"RequestItems":{}})",
       ValidationBody("The requestItems parameter is required for BatchGetItem")},
      {"BatchWriteItem", R"({"RequestItems":{}})",
       ValidationBody("The requestItems parameter is required for BatchWriteItem")},
      {"BatchGetItem", R"({"RequestItems":{"Things":{"Keys":[]}}})",
       Violations({KeysMust("have length greater than or equal to 1")})},
      {"BatchWriteItem", R"({"RequestItems":{"Things":[]}})",
       Violations(
           {"Value '{Things=[]}' at 'requestItems' failed to satisfy constraint: Map value must satisfy "
            "constraint: [Member must have length less than or equal to 25, Member must have length "
            "greater than or equal to 1]"})},
      {"BatchWriteItem", R"({"RequestItems":{"a,":[{"DeleteRequest":{"Key":{}}}]}})",
       Violations(
           {"Value '{a,=[WriteRequest(deleteRequest={Key={}}, putRequest=null)]}' at 'requestItems' "
            "failed to satisfy constraint: Map keys must satisfy constraint: [Member must have length "
            "less than or equal to 255, Member must have length greater than or equal to 3, Member must "
            "satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"})},
      {"BatchGetItem", R"({"RequestItems":{"arn:x":{"Keys":[{}]}}})",
       Violations(
           {"Value '{arn:x={Keys=[{}]}}' at 'requestItems' failed to satisfy constraint: Map keys must "
            "satisfy constraint: [Member must have length less than or equal to 255, Member must have length "
            "greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"})},
      {"BatchGetItem", R"({"RequestItems":{"":{"Keys":[{}]}}})",
       Violations(
           {"Value '{={Keys=[{}]}}' at 'requestItems' failed to satisfy constraint: Map keys must "
            "satisfy constraint: [Member must have length less than or equal to 1024, Member must have "
            "length greater than or equal to 1]"})},
      {"BatchWriteItem", R"({"RequestItems":{"Things":[{"PutRequest":{}},{"DeleteRequest":{}}]}})",
       Violations({Null("requestItems.Things.member.1.member.putRequest.item"),
                   Null("requestItems.Things.member.2.member.deleteRequest.key")})},
      {"TransactWriteItems", R"({"TransactItems":[{"ConditionCheck":{"TableName":"Things","Key":{}}}]})",
       Violations({Null("transactItems.1.member.conditionCheck.conditionExpression")})},
      {"TransactWriteItems", R"({"TransactItems":[],"ClientRequestToken":")" + std::string(37, 't') + "\"}",
       Violations({Must(std::string(37, 't'), "clientRequestToken", "have length less than or equal to 36"),
                   Must("[]", "transactItems", "have length greater than or equal to 1")})},
      {"CreateTable",
       R"({"TableName":"New","KeySchema":[{"AttributeName":"","KeyType":"hash"}],"SSESpecification":{"SSEType":"X"}})",
       Violations({Null("attributeDefinitions"),
                   Must("", "keySchema.1.member.attributeName", "have length greater than or equal to 1"),
                   Must("hash", "keySchema.1.member.keyType", "satisfy enum value set: [HASH, RANGE]"),
                   Must("X", "sSESpecification.sSEType", "satisfy enum value set: [AES256, KMS]")})},
      {"CreateTable",
       R"({"TableName":"New","AttributeDefinitions":[],"KeySchema":[{"AttributeName":"a","KeyType":"HASH"},)"
       R"({"AttributeName":"b","KeyType":"RANGE"},{"AttributeName":"c","KeyType":"RANGE"}]})",
       Violations({Must("[KeySchemaElement(attributeName=a, keyType=HASH), KeySchemaElement(attributeName=b, "
                        "keyType=RANGE), KeySchemaElement(attributeName=c, keyType=RANGE)]",
                        "keySchema", "have length less than or equal to 2")})},
      {"Query", R"({"TableName":"Things","KeyConditions":{"a":{"ComparisonOperator":"X"},"b":{}}})",
       Violations(
           {Must("X", "keyConditions.a.member.comparisonOperator",
                 "satisfy enum value set: [EQ, NE, IN, LE, LT, GE, GT, BETWEEN, NOT_NULL, NULL, CONTAINS, "
                 "NOT_CONTAINS, BEGINS_WITH]"),
            Null("keyConditions.b.member.comparisonOperator")})},
      {"TagResource", R"({"ResourceArn":"arn:x","Tags":[{"Key":"","Value":"v"}]})",
       Violations({Must("", "tags.1.member.key", "have length greater than or equal to 1")})},
  });
}

TEST_F(JsonCheck, AtMostTenViolationsAreListedAndLongValuesAreCut) {
  std::string keys, texts;
  std::vector<std::string> violations;
  for (int i = 1; i <= 12; ++i) {
    keys += std::string(i > 1 ? "," : "") + "{\"PutRequest\":{}}";
    if (i <= 10)
      violations.push_back(
          Null("requestItems.Things.member." + std::to_string(i) + ".member.putRequest.item"));
  }
  Expect({{"BatchWriteItem", R"({"RequestItems":{"Things":[)" + keys + "]}}", Violations(violations)},
          {"GetItem", R"({"TableName":")" + std::string(5'000, 'a') + R"(","Key":{}})",
           Violations({Must(std::string(4'096, 'a') + "...", "tableName",
                            "have length less than or equal to 255")})},
          // The text is not cut inside a character.
          {"GetItem",
           R"({"TableName":"Things","Key":{},"ReturnConsumedCapacity":"a)" +
               [] {
                 std::string text;
                 for (int i = 0; i < 2'100; ++i) text += "é";
                 return text;
               }() +
               "\"}",
           [] {
             std::string text = "a";
             for (int i = 0; i < 2'047; ++i) text += "é";
             return Violations({Must(text + "...", "returnConsumedCapacity",
                                     "satisfy enum value set: [INDEXES, TOTAL, NONE]")});
           }()}});
}

// Cases where docs/rules.md differs from the service's published model.
TEST_F(JsonCheck, RulesWinOverTheModel) {
  Expect({
      // Table names have 3 to 255 characters (SEM-008). The model allows 1 to 1,024, because it includes
      // ARNs.
      {"DescribeTable", R"({"TableName":"ab"})",
       Violations({Must("ab", "tableName", "have length greater than or equal to 3")})},
      {"DescribeTable", R"({"TableName":"arn:)" + std::string(1'021, 'a') + "\"}",
       Violations(
           {Must("arn:" + std::string(1'021, 'a'), "tableName", "have length less than or equal to 1024")})},
      // Attribute names have 1 to 65,535 bytes (SEM-009). The model counts characters and does not mention
      // empty names.
      {"PutItem", R"({"TableName":"Things","Item":{"pk":{"S":"p"},"sk":{"S":"s"},"":{"S":"x"}}})",
       ValidationBody(
           "1 validation error detected: One or more parameter values were invalid: Empty attribute name")},
      {"PutItem",
       R"({"TableName":"Things","Item":{"pk":{"S":"p"},"sk":{"S":"s"},")" + std::string(65'536, 'n') +
           R"(":{"S":"x"}}})",
       ValidationBody("1 validation error detected: Attribute name is too large, must be at most 65535 bytes",
                      "Attribute name is too large, must be at most 65535 bytes, has 65536")},
      // A key schema is required (SEM-093). The model does not require it, because a table may be made from a
      // replica.
      {"CreateTable", R"({"TableName":"New","BillingMode":"PAY_PER_REQUEST"})",
       Violations({Null("attributeDefinitions"), Null("keySchema")})},
      // The limits of a batch (SEM-045) and a transaction (SEM-047) are for all tables together.
      {"BatchWriteItem",
       [] {
         std::string a, b;
         for (int i = 0; i < 13; ++i) {
           const std::string write =
               R"({"DeleteRequest":{"Key":{"pk":{"S":"p"},"sk":{"S":")" + std::to_string(i) + "\"}}}}";
           a += (i > 0 ? "," : "") + write;
           b += (i > 0 ? "," : "") + write;
         }
         return R"({"RequestItems":{"Things":[)" + a + R"(],"Others":[)" + b + "]}}";
       }(),
       ValidationBody("Too many items requested for the BatchWriteItem call",
                      "a batch must contain 1 to 25 write requests; this one has 26")},
  });
}

// A wrong JSON type is a SerializationException (ERR-16).
TEST_F(JsonCheck, WrongJsonTypesAreRefused) {
  Expect({
      {"GetItem", R"({"TableName":1,"Key":{}})",
       SerializationBody("NUMBER_VALUE cannot be converted to String")},
      {"GetItem", R"({"TableName":["Things"],"Key":{}})",
       SerializationBody("Unrecognized collection type class java.lang.String")},
      {"GetItem", R"({"TableName":"Things","Key":[]})",
       SerializationBody("Unrecognized collection type java.util.Map<java.lang.String, "
                         "com.amazonaws.dynamodb.v20120810.AttributeValue>")},
      {"GetItem", R"({"TableName":"Things","Key":{},"ExpressionAttributeNames":[]})",
       SerializationBody("Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>")},
      {"Query", R"({"TableName":"Things","Limit":[]})",
       SerializationBody("Unrecognized collection type class java.lang.Integer")},
      {"GetItem", R"({"TableName":"Things","Key":"p"})", SerializationBody("Unexpected field type")},
      {"GetItem", R"({"TableName":"Things","Key":{},"ConsistentRead":"true"})",
       SerializationBody("Unexpected token received from parser")},
      {"GetItem", R"({"TableName":"Things","Key":{},"AttributesToGet":"a"})",
       SerializationBody("Unexpected field type")},
      {"GetItem", R"({"TableName":"Things","Key":{},"AttributesToGet":[1]})",
       SerializationBody("NUMBER_VALUE cannot be converted to String")},
      {"GetItem", R"({"TableName":"Things","Key":{},"AttributesToGet":[null]})",
       SerializationBody("A list contains null")},
      {"GetItem", R"({"TableName":"Things","Key":{},"ExpressionAttributeNames":{"#a":null}})",
       SerializationBody("The value of '#a' is null")},
      {"Query", R"({"TableName":"Things","Limit":"1"})",
       SerializationBody("STRING_VALUE cannot be converted to Integer")},
      {"Query", R"({"TableName":"Things","Limit":1.5})",
       SerializationBody("DECIMAL_VALUE cannot be converted to Integer")},
      {"Query", R"({"TableName":"Things","Limit":2147483648})",
       SerializationBody("Number 2147483648 is out of the range of Integer")},
      {"Query", R"({"TableName":"Things","Limit":18446744073709551615})",
       SerializationBody("NUMBER_VALUE cannot be converted to Integer")},
      {"GetItem", R"({"TableName":"Things","TableName":"Things","Key":{}})",
       SerializationBody("Member TableName occurs more than once")},
      {"BatchGetItem", R"({"RequestItems":{"Things":{"Keys":[null]}}})",
       SerializationBody("A list contains null")},
      {"BatchWriteItem", R"({"RequestItems":{"Things":[1]}})", SerializationBody("Unexpected field type")},
  });
}

// JSON types are checked before bounds, and bounds before all checks of storage (SEM-115).
TEST_F(JsonCheck, TypesComeBeforeBoundsAndBoundsBeforeTheRest) {
  Expect({
      {"PutItem", R"({"TableName":"ab","Item":{"pk":{"S":1}}})",
       SerializationBody("NUMBER_VALUE cannot be converted to String")},
      {"PutItem", R"({"TableName":"ab","Item":{"pk":{"SS":[null]}}})",
       Violations({Must("ab", "tableName", "have length greater than or equal to 3")})},
      {"Query",
       R"({"TableName":"Missing","Limit":0,"KeyConditionExpression":"","ExpressionAttributeNames":{}})",
       Violations({Must("0", "limit", "have value greater than or equal to 1")})},
      {"UpdateItem",
       R"({"TableName":"Things","Key":{},"ExpressionAttributeNames":{},"ExpressionAttributeValues":{":v":{"N":1}}})",
       SerializationBody("NUMBER_VALUE cannot be converted to String")},
      {"ExecuteStatement", R"({"Statement":"","Parameters":[{"S":"a"},{"L":[{"B":true}]}]})",
       SerializationBody("only base-64-encoded strings are convertible to bytes")},
      {"BatchGetItem", R"({"RequestItems":{"ab":{"Keys":[{"pk":{"S":[]}}]}}})",
       SerializationBody("Unrecognized collection type class java.lang.String")},
  });
}

// `entry` repeated `count` times, with # replaced by the number.
std::string Entries(int count, const std::string& entry) {
  std::string entries;
  for (int i = 0; i < count; ++i) {
    entries += i > 0 ? "," : "";
    for (char c : entry) entries += c == '#' ? std::to_string(i) : std::string(1, c);
  }
  return entries;
}

// Lists and maps without a bound in the service's model have the largest size that storage accepts:
// placeholders (SEM-022), legacy parameters (SEM-112).
TEST_F(JsonCheck, ListsAndMapsAreBounded) {
  struct Bounded {
    std::string operation, before, entry, after;
    std::string place;
    int max;
  };
  const std::string table = R"("TableName":"Things")";
  const std::vector<Bounded> rows = {
      {"GetItem", "{" + table + R"(,"Key":{},"AttributesToGet":[)", "\"a#\"", "]}", "attributesToGet", 1000},
      {"GetItem", "{" + table + R"(,"Key":{},"ExpressionAttributeNames":{)", R"("#":"a")", "}}",
       "expressionAttributeNames", 4096},
      {"Query", "{" + table + R"(,"ExpressionAttributeValues":{)", R"("#":{})", "}}",
       "expressionAttributeValues", 4096},
      {"Query", "{" + table + R"(,"QueryFilter":{)", R"("#":{"ComparisonOperator":"NULL"})", "}}",
       "queryFilter", 300},
      {"Scan", "{" + table + R"(,"ScanFilter":{"a":{"ComparisonOperator":"IN","AttributeValueList":[)", "{}",
       "]}}}", "scanFilter.a.member.attributeValueList", 1300},
      {"PutItem", "{" + table + R"(,"Item":{},"Expected":{)", R"("#":{})", "}}", "expected", 300},
      {"UpdateItem", "{" + table + R"(,"Key":{},"AttributeUpdates":{)", R"("#":{})", "}}", "attributeUpdates",
       1000},
      {"ExecuteStatement", R"({"Statement":"x","Parameters":[)", "{}", "]}", "parameters", 8192},
      {"UntagResource", R"({"ResourceArn":"arn:x","TagKeys":[)", "\"#\"", "]}", "tagKeys", 1000},
  };
  for (const Bounded& row : rows) {
    const std::string constraint = "' at '" + row.place +
                                   "' failed to satisfy constraint: Member must have length less than or "
                                   "equal to " +
                                   std::to_string(row.max) + "\"}";
    const std::string within =
        json_->Fail(row.operation, row.before + Entries(row.max, row.entry) + row.after);
    EXPECT_EQ(within.find("failed to satisfy"), std::string::npos) << within;
    const std::string beyond =
        json_->Fail(row.operation, row.before + Entries(row.max + 1, row.entry) + row.after);
    EXPECT_TRUE(beyond.ends_with(constraint)) << beyond;
    EXPECT_LT(beyond.size(), 5'000u);
  }
}

// A long list or map is truncated in messages like other values, and is shown as Java shows it (SEM-115).
TEST_F(JsonCheck, LongListsAndMapsAreCut) {
  const std::string value = R"({"M":{"a":{"L":[{"S":"a\n"},{"N":"1"},{"NULL":true},{"B":null},{"F":1.5}]}}})";
  std::string writes, shown;
  for (int i = 0; i < 60; ++i) {
    writes += std::string(i > 0 ? "," : "") + R"({"PutRequest":{"Item":{"a":)" + value + "}}}";
    shown += std::string(i > 0 ? ", " : "") +
             R"(WriteRequest(deleteRequest=null, putRequest={Item={a={M={a={L=[{S=a\n}, {N=1}, {NULL=true}, )"
             R"({B=null}, {F=1.5}]}}}}}))";
  }
  // The line feed is one byte of the value and two of the reply.
  const std::string begin = "{Things=[";
  std::string expected = begin + shown;
  size_t end = 0;
  for (size_t bytes = 0; bytes < 4'096; ++bytes) end += expected[end] == '\\' ? 2 : 1;
  EXPECT_EQ(
      json_->Fail("BatchWriteItem", R"({"RequestItems":{"Things":[)" + writes + "]}}"),
      Violations({"Value '" + expected.substr(0, end) +
                  "...' at 'requestItems' failed to satisfy constraint: Map value must satisfy "
                  "constraint: [Member must have length less than or equal to 25, Member must have length "
                  "greater than or equal to 1]"}));
  EXPECT_EQ(
      json_->Fail("BatchGetItem", R"({"RequestItems":{"Things":{"Keys":[)" + Entries(101, "{}") + "]}}}"),
      Violations({KeysMust("have length less than or equal to 100")}));
}

// A request out of bounds is refused before it is converted to a message (SEM-115).
TEST_F(JsonCheck, RequestsOutOfBoundsAreNotRead) {
  static int read;
  read = 0;
  const JsonOperation probe = {"Probe", daemon::Role::kRead, daemon::Scope::kNothing, &kBatchGetItemInput,
                               [](JsonCall call) {
                                 ++read;
                                 std::move(call.answer).Succeed("{}");
                               }};
  const auto ask = [&](int keys) {
    JsonReply reply;
    json_->api().Answer(probe, R"({"RequestItems":{"Things":{"Keys":[)" + Entries(keys, "{}") + "]}}}",
                        daemon::Caller(), nullptr, [&reply](JsonReply given) { reply = std::move(given); });
    return reply.http_status;
  };
  EXPECT_EQ(ask(101), 400u);
  EXPECT_EQ(read, 0);
  EXPECT_EQ(ask(100), 200u);
  EXPECT_EQ(read, 1);
}

}  // namespace
}  // namespace itemdb::testing
