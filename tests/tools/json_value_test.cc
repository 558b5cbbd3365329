#include "tools/json/json_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;

std::string ParseErrorOf(std::string_view text) {
  absl::StatusOr<JsonValue> parsed = ParseJson(text);
  return parsed.ok() ? "(parsed)" : std::string(parsed.status().message());
}

// A double would keep 17 of these digits.
TEST(JsonValue, KeepsEveryDigitOfNumbers) {
  for (const char* number : {"0", "-1", "25.00", "1e-130", "9.9999999999999999999999999999999999999E+125",
                             "12345678901234567890123456789012345678", "18446744073709551615",
                             "-9223372036854775808", "0.00000000000000000000000000000000000001"}) {
    SCOPED_TRACE(number);
    absl::StatusOr<JsonValue> parsed = ParseJson(number);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->kind, JsonValue::Kind::kNumber);
    EXPECT_EQ(OneLine(*parsed), number);
  }
}

// A terminal takes U+009B for the beginning of a command. Other characters begin with the byte c2 too.
TEST(JsonValue, EscapesAllControlCharacters) {
  EXPECT_EQ(JsonString("a\x1b\x7f\xc2\x80-\xc2\x9b-\xc2\x9f\xc2\xa0\xc2\xa9\xc4\x9b\n"),
            "\"a\\u001b\\u007f\\u0080-\\u009b-\\u009f\xc2\xa0\xc2\xa9\xc4\x9b\\n\"");
  EXPECT_EQ(JsonString("\xc2"), "\"\xc2\"");
}

TEST(JsonValue, KeepsMembersInOrder) {
  absl::StatusOr<JsonValue> parsed =
      ParseJson(R"( {"b": [1, {"x": null}, []], "a": {"t": true, "f": false}} )");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(OneLine(*parsed), R"({"b": [1, {"x": null}, []], "a": {"t": true, "f": false}})");
}

TEST(JsonValue, IndentsWhatIsNotShort) {
  absl::StatusOr<JsonValue> parsed = ParseJson(R"({"a": {"S": "x"}, "l": [{"n": 1}, {"n": [2]}], "e": []})");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(Indented(*parsed), R"({
  "a": {"S": "x"},
  "l": [
    {"n": 1},
    {
      "n": [2]
    }
  ],
  "e": []
})");
}

TEST(JsonValue, NamesLineAndColumnOfMalformedText) {
  EXPECT_THAT(ParseErrorOf("{\"a\": 1,\n  \"b\": }"), HasSubstr("line 2, column 8"));
  EXPECT_THAT(ParseErrorOf("[1, 2"), HasSubstr("malformed JSON at line 1, column "));
  EXPECT_THAT(ParseErrorOf("x"), HasSubstr("line 1, column 1"));
}

TEST(JsonValue, RefusesWhatIsNotOneDocument) {
  for (const char* text : {"", "  \n", "{} {}", "{\"a\": 1,}", "{'a': 1}", "[1", "nul", "\"\xff\"", "01",
                           "1e400", "// comment\n1", "{\"a\"", "\"\n\""}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(ParseErrorOf(text), HasSubstr("malformed JSON"));
  }
}

TEST(JsonValue, RefusesAMemberNameUsedTwice) {
  EXPECT_THAT(ParseErrorOf(R"({"o": {"k": 1, "x": 2, "k": 3}})"), HasSubstr("\"k\" occurs twice"));
}

// The stack does not grow with the depth of the text.
TEST(JsonValue, RefusesDeepNesting) {
  std::string deep(100'000, '[');
  EXPECT_THAT(ParseErrorOf(deep), HasSubstr("deeper than the 100 levels"));
  EXPECT_TRUE(ParseJson(std::string(100, '[') + std::string(100, ']')).ok());
  EXPECT_FALSE(ParseJson(std::string(101, '[') + std::string(101, ']')).ok());
}

TEST(JsonValue, EscapesStringsOntoOneLine) {
  EXPECT_EQ(JsonString("a\"b\\c\n\r\t\x01\x1f\x7f\xc3\xa9"),
            "\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u001f\\u007f\xc3\xa9\"");
  std::string all;
  for (char c = 0; c < 0x7f; ++c) all.push_back(c);
  absl::StatusOr<JsonValue> parsed = ParseJson(JsonString(all));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->text, all);
}

}  // namespace
}  // namespace itemdb::tools
