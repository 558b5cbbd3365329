// Attribute values written to a real database as JSON and read back, and values that are refused.

#include <vector>

#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

class JsonValues : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    json_ = std::make_unique<JsonFixture>();
    json_->Succeed("CreateTable", kCreateThings);
  }
  static void TearDownTestSuite() { json_.reset(); }

  static std::string PutBody(const std::string& value) {
    return R"({"TableName":"Things","Item":{"pk":{"S":"p"},"sk":{"S":"s"},"v":)" + value + "}}";
  }
  // Puts `value` and returns the value read back.
  static std::string RoundTrip(const std::string& value) {
    json_->Succeed("PutItem", PutBody(value));
    std::string body =
        json_->Succeed("GetItem", R"({"TableName":"Things","Key":{"pk":{"S":"p"},"sk":{"S":"s"}}})");
    const std::string before = R"({"Item":{"pk":{"S":"p"},"sk":{"S":"s"},"v":)";
    EXPECT_TRUE(body.starts_with(before) && body.ends_with("}}")) << body;
    return body.substr(before.size(), body.size() - before.size() - 2);
  }

  static std::unique_ptr<JsonFixture> json_;
};

std::unique_ptr<JsonFixture> JsonValues::json_;

// The types (SEM-010), the range of numbers (SEM-011), empty values (SEM-016).
TEST_F(JsonValues, EveryTypeReadsBackAsItWasWritten) {
  for (const std::string value : {
           R"({"S":""})",
           R"({"S":"text"})",
           R"({"N":"0"})",
           R"({"N":"-12345678901234567890123456789012345678"})",
           R"({"N":"0.1234567890123456789012345678901234567"})",
           R"({"B":""})",
           R"({"B":"AA=="})",
           R"({"B":"AAE="})",
           R"({"B":"AAEC"})",
           R"({"B":"+/+/"})",
           R"({"SS":["","a","b"]})",
           R"({"NS":["-1","0.5","2"]})",
           R"({"BS":["","AA==","AQI="]})",
           R"({"L":[]})",
           R"({"L":[{"S":"a"},{"N":"1"},{"L":[{"BOOL":false}]}]})",
           R"({"M":{}})",
           R"({"M":{"a":{"M":{"b":{"NULL":true}}},"c":{"S":"d"}}})",
           R"({"BOOL":true})",
           R"({"BOOL":false})",
           R"({"NULL":true})",
       }) {
    EXPECT_EQ(RoundTrip(value), value);
  }
}

// Numbers read back expanded and trimmed (SEM-012); sets have no order (SEM-015).
TEST_F(JsonValues, NumbersAndSetsReadBackInTheirOwnForm) {
  EXPECT_EQ(RoundTrip(R"({"N":"25.00"})"), R"({"N":"25"})");
  EXPECT_EQ(RoundTrip(R"({"N":"-0"})"), R"({"N":"0"})");
  EXPECT_EQ(RoundTrip(R"({"N":"1e3"})"), R"({"N":"1000"})");
  EXPECT_EQ(RoundTrip(R"({"NS":["3","1e1","2"]})"), R"({"NS":["2","3","10"]})");
  EXPECT_EQ(RoundTrip(R"({"SS":["b","a"]})"), R"({"SS":["a","b"]})");
}

TEST_F(JsonValues, StringsKeepUtf8AndEscapeWhatJsonMust) {
  EXPECT_EQ(RoundTrip(R"({"S":"é € 𝄞"})"), R"({"S":"é € 𝄞"})");
  EXPECT_EQ(RoundTrip(R"({"S":"\u00e9 \ud834\udd1e"})"), R"({"S":"é 𝄞"})");
  EXPECT_EQ(RoundTrip(R"({"S":"\"\\\/\b\f\n\r\t"})"), R"({"S":"\"\\/\b\f\n\r\t"})");
  EXPECT_EQ(RoundTrip(R"({"S":"a\u0000\u0001\u001f\u007fz"})"), "{\"S\":\"a\\u0000\\u0001\\u001f\x7fz\"}");
  EXPECT_EQ(RoundTrip(R"({"M":{"a\"b\n":{"S":"x"}}})"), R"({"M":{"a\"b\n":{"S":"x"}}})");
}

// Strings are looked through sixteen bytes at a time, in parts of 256, so every position is tested.
TEST_F(JsonValues, WhatMustBeEscapedIsFoundAtEveryPlace) {
  std::string list;
  for (size_t place = 0; place < 262; place += place == 40 ? 200 : 1) {
    for (const std::string special :
         {R"(\")", R"(\\)", R"(\u0000)", R"(\u001f)", " ", "\x7f", "é", "\xf4\x8f\xbf\xbf"}) {
      for (size_t behind : {0, 3, 9, 17}) {
        list += std::string(list.empty() ? "" : ",") + R"({"S":")" + std::string(place, '~') + special +
                std::string(behind, '!') + "\"}";
      }
    }
  }
  EXPECT_EQ(RoundTrip(R"({"L":[)" + list + "]}"), R"({"L":[)" + list + "]}");
}

TEST_F(JsonValues, LongValuesReadBackAsTheyWereWritten) {
  // Long enough that the request gets a parser of its own.
  const std::string text(300'000, 'x');
  EXPECT_EQ(RoundTrip(R"({"L":[{"M":{"a":{"S":")" + text + R"("}}},{"S":"end"}]})"),
            R"({"L":[{"M":{"a":{"S":")" + text + R"("}}},{"S":"end"}]})");
}

std::string Wrapped(int times, std::string value) {
  for (int i = 0; i < times; ++i) value = R"({"L":[)" + value + "]}";
  return value;
}

// Values have at most 32 levels (SEM-017).
TEST_F(JsonValues, ThirtyOneWrapsAreTheDeepest) {
  const std::string deepest = Wrapped(31, R"({"S":"x"})");
  EXPECT_EQ(RoundTrip(deepest), deepest);
  for (int wraps : {32, 33, 100, 400}) {
    std::string refused = json_->Fail("PutItem", PutBody(Wrapped(wraps, R"({"S":"x"})")));
    EXPECT_NE(refused.find("1 validation error detected: Nesting Levels have exceeded supported limits"),
              std::string::npos)
        << wraps << refused.substr(0, 200);
  }
}

struct AuthError {
  std::string value;
  std::string body;
};

// Malformed values (SEM-010): violations (SEM-115) and SerializationException (ERR-16).
TEST_F(JsonValues, WhatIsNoValueIsRefusedInTheWordsOfTheService) {
  const std::string empty =
      "1 validation error detected: Supplied AttributeValue is empty, must contain exactly one of the "
      "supported datatypes";
  // What the message says beside the service's text.
  const std::string here = " (attribute \\\"v\\\")";
  const std::string several =
      "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
      "datatypes";
  const std::string base64 =
      "Invalid Base64 character in a binary value; allowed are A-Z, a-z, 0-9, '+' and '/'";
  const auto Counted = [&here](const std::string& text) {
    return ValidationBody("1 validation error detected: " + text, text + here);
  };
  const auto Invalid = [&Counted](const std::string& text) {
    return Counted("One or more parameter values were invalid: " + text);
  };
  const std::vector<AuthError> rows = {
      {R"({})", ValidationBody(empty, empty.substr(empty.find("Supplied")) + here)},
      {R"(null)", ValidationBody(empty, empty.substr(empty.find("Supplied")) + here)},
      {R"({"X":"a"})", ValidationBody(empty, empty.substr(empty.find("Supplied")) + here)},
      {R"({"S":null})", ValidationBody(empty, empty.substr(empty.find("Supplied")) + here)},
      {R"({"s":"a"})", ValidationBody(empty, empty.substr(empty.find("Supplied")) + here)},
      {R"({"S":"a","N":"1"})", ValidationBody("1 validation error detected: " + several, several + here)},
      {R"({"S":"a","S":"a"})", ValidationBody("1 validation error detected: " + several, several + here)},
      {R"({"S":"a","X":"1"})", ValidationBody("1 validation error detected: " + several)},
      {R"({"NULL":false})", Invalid("Null attribute value types must have the value of true")},
      {R"({"SS":[]})", Invalid("An string set  may not be empty")},
      {R"({"NS":[]})", Invalid("An number set  may not be empty")},
      {R"({"BS":[]})", Invalid("Binary sets should not be empty")},
      {R"({"SS":[null]})", ValidationBody("1 validation error detected: One or more parameter values were "
                                          "invalid: An string set may not have a null as a member")},
      {R"({"SS":["b","a","b"]})", Invalid("Input collection [b, a, b] contains duplicates.")},
      {R"({"BS":["AA==","AA=="]})", Invalid("Input collection [AA==, AA==]of type BS contains duplicates.")},
      {R"({"NS":["1","1.0"]})",
       ValidationBody("Input collection contains duplicates",
                      "Input collection contains duplicates: 1 is there more than once" + here)},
      {R"({"N":""})", Counted("The parameter cannot be converted to a numeric value")},
      {R"({"N":"NaN"})", Counted("The parameter cannot be converted to a numeric value: NaN")},
      {R"({"N":"123456789012345678901234567890123456789"})",
       Counted("Attempting to store more than 38 significant digits in a Number")},
      {R"({"M":{"a":{"S":"x"},"a":{"S":"y"}}})", Counted("Duplicate attribute name: \\\"a\\\"")},
      {R"("a")", SerializationBody("Unexpected value type in payload")},
      {R"(["a"])", SerializationBody("Unrecognized collection type class "
                                     "com.amazonaws.dynamodb.v20120810.AttributeValue")},
      {R"({"S":1})", SerializationBody("NUMBER_VALUE cannot be converted to String")},
      {R"({"N":1})", SerializationBody("NUMBER_VALUE cannot be converted to String")},
      {R"({"N":1.5})", SerializationBody("DECIMAL_VALUE cannot be converted to String")},
      {R"({"S":true})", SerializationBody("TRUE_VALUE cannot be converted to String")},
      {R"({"S":false})", SerializationBody("FALSE_VALUE cannot be converted to String")},
      {R"({"S":["a"]})", SerializationBody("Unrecognized collection type class java.lang.String")},
      {R"({"S":{"S":"a"}})", SerializationBody("Start of structure or map found where not expected")},
      {R"({"BOOL":"true"})", SerializationBody("Unexpected token received from parser")},
      {R"({"NULL":1})", SerializationBody("NUMBER_VALUE cannot be converted to Boolean")},
      {R"({"SS":"a"})", SerializationBody("Unexpected field type")},
      {R"({"SS":[1]})", SerializationBody("NUMBER_VALUE cannot be converted to String")},
      {R"({"NS":[1]})", SerializationBody("NUMBER_VALUE cannot be converted to String")},
      {R"({"L":{"S":"a"}})", SerializationBody("Start of structure or map found where not expected")},
      {R"({"L":["a"]})", SerializationBody("Unexpected value type in payload")},
      {R"({"M":[]})", SerializationBody("Unrecognized collection type java.util.Map<java.lang.String, "
                                        "com.amazonaws.dynamodb.v20120810.AttributeValue>")},
      {R"({"B":1})", SerializationBody("only base-64-encoded strings are convertible to bytes")},
      {R"({"B":[]})", SerializationBody("Unrecognized collection type class java.nio.ByteBuffer")},
      {R"({"B":"AAA"})",
       SerializationBody("Base64 encoded length is expected a multiple of 4 bytes but found: 3")},
      {R"({"B":"AA=A"})", SerializationBody("Invalid Base64 character: '='", base64)},
      {R"({"B":"A==="})", SerializationBody("Invalid Base64 character: '='", base64)},
      {R"({"B":"AA A"})", SerializationBody("Invalid Base64 character: ' '", base64)},
      {R"({"B":"AB=="})", SerializationBody("Invalid last non-pad Base64 character dectected",
                                            "Invalid last non-pad Base64 character in a binary value")},
      {R"({"BS":["AAA"]})",
       SerializationBody("Base64 encoded length is expected a multiple of 4 bytes but found: 3")},
  };
  for (const AuthError& row : rows)
    EXPECT_EQ(json_->Fail("PutItem", PutBody(row.value)), row.body) << row.value;
}

// Text that is not JSON is answered with a client error (ERR-16).
TEST_F(JsonValues, WhatIsNoJsonIsRefused) {
  const std::vector<std::string> bodies = {
      "",
      " ",
      "{",
      "}",
      "{}x",
      "nul",
      "{\"TableName\":\"Things\"",
      "{\"TableName\":\"Th\xff\"}",
      "{\"TableName\":\"\xed\xa0\x80\"}",
      R"({"TableName":"\ud800"})",
      R"({"TableName":"\udc00\ud800"})",
      R"({"TableName":"\x"})",
      "{\"TableName\":\"a\nb\"}",
      R"({'TableName':'a'})",
      R"({"TableName":NaN})",
      R"({"TableName":1e999})",
      R"({"TableName":01})",
      R"({"TableName":"a",})",
      "\xef\xbb\xbf{",
      std::string("\0\0", 2),
      std::string(5'000, '['),
      std::string(5'000, '{'),
      "[]",
      "1",
      "null",
      "\"PutItem\"",
  };
  for (const std::string& body : bodies) {
    EXPECT_TRUE(json_->Fail("PutItem", body)
                    .starts_with(R"({"__type":"com.amazon.coral.service#SerializationException",)"))
        << body;
  }
}

}  // namespace
}  // namespace itemdb::testing
