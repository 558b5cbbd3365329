#include "tools/json/item_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tools/base/exit_codes.h"

namespace itemdb::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// "(ok) " and the item in DynamoDB JSON, or the error's message; errors must be usage errors.
std::string Read(std::string_view text, ReadForm form = ReadForm::kDetect) {
  absl::StatusOr<Item> item = ParseItem(text, form, "the item");
  if (item.ok()) return "(ok) " + OneLine(ItemToJson(*item, ItemForm::kTyped));
  EXPECT_EQ(ExitCodeOf(item.status()), ExitCode::kUsage);
  return std::string(item.status().message());
}

std::string Plain(std::string_view text) {
  absl::StatusOr<Item> item = ParseItem(text, ReadForm::kDetect, "the item");
  return item.ok() ? OneLine(ItemToJson(*item, ItemForm::kPlain)) : std::string(item.status().message());
}

constexpr char kEveryType[] =
    R"({"b": {"B": "AP8="}, "bool": {"BOOL": false}, "bs": {"BS": ["", "AA==", "/w=="]}, )"
    R"("l": {"L": [{"N": "1"}, {"L": []}, {"M": {"S": {"S": ""}}}]}, "m": {"M": {"L": {"NULL": true}}}, )"
    R"("n": {"N": "-0.5"}, "ns": {"NS": ["-1", "2", "10"]}, "null": {"NULL": true}, "s": {"S": "\u0001\"é"}, )"
    R"("ss": {"SS": ["a", "b"]}})";

TEST(ItemJson, TypedFormKeepsEveryType) {
  const std::string read = Read(kEveryType);
  ASSERT_TRUE(read.starts_with("(ok) ")) << read;
  EXPECT_EQ(read.substr(5), std::string(kEveryType).replace(std::string(kEveryType).find("é"), 2, "é"));
}

// The documents have items as plain JSON (INC-21).
TEST(ItemJson, PlainFormReadsJsonTypes) {
  EXPECT_EQ(
      Read(R"({"s": "x", "n": 25.00, "t": true, "z": null, "l": [1, "a"], "m": {"k": {}}})"),
      R"((ok) {"l": {"L": [{"N": "1"}, {"S": "a"}]}, "m": {"M": {"k": {"M": {}}}}, "n": {"N": "25.00"}, )"
      R"("s": {"S": "x"}, "t": {"BOOL": true}, "z": {"NULL": true}})");
}

// A number keeps all 38 digits (SEM-011) when read and written, in both forms.
TEST(ItemJson, NumbersKeep38Digits) {
  const std::string digits = "1.2345678901234567890123456789012345678";
  EXPECT_EQ(Plain("{\"n\": " + digits + "}"), "{\"n\": " + digits + "}");
  EXPECT_EQ(Read("{\"n\": " + digits + "}"), "(ok) {\"n\": {\"N\": \"" + digits + "\"}}");
  EXPECT_EQ(Plain("{\"n\": {\"N\": \"" + digits + "\"}}"), "{\"n\": " + digits + "}");
  EXPECT_EQ(Plain(R"({"n": {"NS": ["12345678901234567890123456789012345678"]}})"),
            R"({"n": [12345678901234567890123456789012345678]})");
}

TEST(ItemJson, PlainFormPrintsSetsAsArraysAndBinaryAsBase64) {
  EXPECT_EQ(
      Plain(R"({"a": {"SS": ["x"]}, "b": {"B": "AP8="}, "c": {"BS": ["AA=="]}, "d": {"NS": ["1", "2"]}})"),
      R"({"a": ["x"], "b": "AP8=", "c": ["AA=="], "d": [1, 2]})");
}

// ".5" is a number in the data model, but not in JSON.
TEST(ItemJson, PlainFormStaysJsonForEveryNumber) {
  EXPECT_EQ(Plain(R"({"a": {"N": ".5"}, "b": {"N": "+5"}, "c": {"N": "007"}, "d": {"N": "-1e+5"}})"),
            R"({"a": ".5", "b": "+5", "c": "007", "d": -1e+5})");
}

TEST(ItemJson, TellsTheFormsApart) {
  struct Row {
    const char* text;
    bool typed;
  };
  const Row rows[] = {
      {R"({"a": {"S": "x"}})", true},
      {R"({"a": {"S": "x"}, "b": {"N": "1"}})", true},
      {R"({"a": {"S": "x"}, "b": 1})", false},                  // one attribute is no object
      {R"({"a": {"S": 1}})", false},                            // content does not fit
      {R"({"a": {"N": 1}})", false},                            //
      {R"({"a": {"S": "x", "N": "1"}})", false},                // two members
      {R"({"a": {}})", false},                                  // none
      {R"({"a": {"s": "x"}})", false},                          // names are exact
      {R"({"a": {"L": [{"S": "x"}, {"NULL": true}]}})", true},  //
      {R"({"a": {"L": ["x"]}})", false},                        // elements must fit too
      {R"({"a": {"L": []}})", true},                            //
      {R"({"a": {"M": {"k": {"BOOL": true}}}})", true},         //
      {R"({"a": {"M": {"k": true}}})", false},                  //
      {R"({"a": {"SS": ["x", 1]}})", false},                    //
      {R"({"a": {"BS": ["AA=="]}})", true},                     //
      {R"({"a": {"NULL": null}})", false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    const std::string read = Read(row.text);
    ASSERT_TRUE(read.starts_with("(ok) ")) << read;
    EXPECT_EQ(read.find("\"M\": {\"S\"") == std::string::npos && read.substr(5) == row.text, row.typed)
        << read;
  }
}

TEST(ItemJson, PlainAndTypedForceTheForm) {
  EXPECT_EQ(Read(R"({"a": {"S": "x"}})", ReadForm::kPlain), R"((ok) {"a": {"M": {"S": {"S": "x"}}}})");
  EXPECT_THAT(Read(R"({"a": "x"})", ReadForm::kTyped),
              AllOf(HasSubstr("the item: a:"), HasSubstr("S, N, B, SS, NS, BS, L, M, BOOL or NULL")));
}

TEST(ItemJson, ErrorsNameThePlace) {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {R"([1])", "the item must be a JSON object, not an array"},
      {R"({"a": )", "the item: malformed JSON at line 1"},
      {R"({"a": {"N": "1O"}})", "the item: a: "},
      {R"({"a": {"B": "AA="}})", "a: \"AA=\" is not base64"},
      {R"({"a": {"B": "A A="}})", "is not base64"},
      {R"({"a": {"B": "AB=="}})", "is not base64"},  // left-over bits
      {R"({"a": {"NULL": false}})", "a: NULL must be true"},
      {R"({"a": {"L": [{"N": "1"}, {"N": "x"}]}})", "a[1]: "},
      {R"({"a": {"M": {"k": {"NS": ["1", "y"]}}}})", "a.k[1]: "},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_THAT(Read(row.text), HasSubstr(row.message));
  }
  EXPECT_THAT(Read(R"({"a": {"X": "1"}})", ReadForm::kTyped),
              HasSubstr("a: unknown type \"X\"; allowed are S, N"));
  EXPECT_THAT(Read(R"({"a": {"N": 1}})", ReadForm::kTyped),
              HasSubstr("a: N needs a number in a string, not a number"));
  EXPECT_THAT(Read(R"({"a": {"L": "x"}})", ReadForm::kTyped), HasSubstr("a: L needs an array, not a string"));
}

// An item has up to 32 levels (SEM-017); each needs two levels in DynamoDB JSON.
TEST(ItemJson, ReadsAsDeepAsItemsMayBe) {
  std::string text = "{\"S\": \"x\"}";
  for (int level = 0; level < 32; ++level) text = "{\"M\": {\"m\": " + text + "}}";
  EXPECT_THAT(Read("{\"a\": " + text + "}"), HasSubstr("(ok)"));
}

TEST(ItemJson, ReadsPlaceholders) {
  absl::StatusOr<ExpressionAttributeNames> names = ParseNames(R"({"#n": "name"})", "--names");
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_EQ(*names, (ExpressionAttributeNames{{"#n", "name"}}));
  EXPECT_TRUE(ParseNames("", "--names")->empty());
  EXPECT_THAT(std::string(ParseNames(R"({"#n": 1})", "--names").status().message()),
              HasSubstr("--names: #n must be an attribute name in a string, not a number"));

  // The document has placeholder values as DynamoDB JSON (SEED-057); plain JSON is accepted too.
  for (const char* text : {R"({":pk": {"S": "CUSTOMER#12345"}})", R"({":pk": "CUSTOMER#12345"})"}) {
    SCOPED_TRACE(text);
    absl::StatusOr<ExpressionAttributeValues> values = ParseValues(text, ReadForm::kDetect, "--values");
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ(*values, (ExpressionAttributeValues{{":pk", "CUSTOMER#12345"}}));
  }
}

}  // namespace
}  // namespace itemdb::tools
