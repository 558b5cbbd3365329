// Access to what is inside of items, numbers from double and from literals, JSON and printing.
#include <limits>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "itemdb/errors.h"
#include "itemdb/json.h"
#include "itemdb/number_literal.h"
#include "itemdb/value.h"

namespace itemdb {
namespace {

using ::testing::HasSubstr;
using namespace itemdb::literals;  // NOLINT: as a program does

// ---- numbers ----

TEST(NumberFromDouble, HasTheFewestDigitsThatRoundTrip) {
  EXPECT_EQ(Number::FromDouble(0.1)->text(), "0.1");
  EXPECT_EQ(Number::FromDouble(-12.5)->text(), "-12.5");
  EXPECT_EQ(Number::FromDouble(0.1f)->text(), "0.1") << "of a float";
  EXPECT_EQ(*Number::FromDouble(1e21), *Number::Parse("1000000000000000000000"));
  EXPECT_EQ(*Number::FromDouble(-0.0), Number(0));
  for (const double value : {1.0 / 3, 5e-324, std::numeric_limits<double>::max(), 123456789.123456789}) {
    EXPECT_EQ(Number::FromDouble(value)->ToDouble(), value);
  }
}

TEST(NumberFromDouble, RefusesWhatIsNoNumber) {
  for (const double value :
       {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(ReasonOf(Number::FromDouble(value).status()), kReasonValidation) << value;
  }
}

TEST(NumberLiteral, KeepsAllDigits) {
  EXPECT_EQ((12.50_n).text(), "12.50");
  EXPECT_EQ((1'000'000_n).text(), "1000000");
  EXPECT_EQ((0.1_n).text(), "0.1");
  EXPECT_EQ(0_n, Number(0));
  EXPECT_EQ(1e-3_n, *Number::Parse("0.001"));
  EXPECT_EQ((12345678901234567890123456789012345678_n).text(), "12345678901234567890123456789012345678");
  const Item item = {{"price", 9.99_n}};
  EXPECT_EQ(item["price"].number_or_null()->text(), "9.99");
  static_assert(!internal::IsDecimalLiteral("0x1F") && !internal::IsDecimalLiteral("0b1") &&
                !internal::IsDecimalLiteral("017") && !internal::IsDecimalLiteral("1e1000"));
}

// ---- nested access ----

Item Order() {
  return {{"id", "o1"},
          {"address", Value::Map({{"city", "Bonn"}, {"zip", "53111"}})},
          {"lines", Value::List({Value::Map({{"product", "saw"}, {"quantity", 2}}), "gift"})}};
}

TEST(NestedAccess, ReadsMapsAndLists) {
  const Item order = Order();
  EXPECT_EQ(order["address"]["city"], "Bonn");
  EXPECT_EQ(order["lines"][0]["quantity"], 2);
  EXPECT_EQ(order["lines"][1], "gift");
  EXPECT_TRUE(order["nothing"]["below"][7].is_null());
  EXPECT_TRUE(order["id"]["below"].is_null()) << "a text has no members";
  EXPECT_TRUE(order["lines"][2].is_null());
  EXPECT_EQ(order["address"].member_or_null("street"), nullptr);
}

TEST(NestedAccess, ReadingAddsNothing) {
  Item order = Order();
  EXPECT_TRUE(order["note"].get().is_null());
  EXPECT_FALSE(order["note"].exists());
  EXPECT_FALSE(order["address"]["street"]["number"].exists());
  EXPECT_EQ(order["address"]["city"]->string_or_null()->size(), 4u);
  EXPECT_TRUE(order["lines"][0]["quantity"] == Value(2));
  const Value& copied = order["lines"];
  EXPECT_EQ(copied.list_or_null()->size(), 2u);
  EXPECT_EQ(order, Order());
}

TEST(NestedAccess, WritesMakeWhatIsMissing) {
  Item order = Order();
  order["address"]["city"] = "Ulm";
  order["address"]["geo"]["lat"] = 48.4_n;
  order["lines"][0]["quantity"] = 3;
  order["lines"][99] = "appended";
  order["tags"][0] = "new";
  order["id"]["no"] = 7;
  order["copy"] = order["lines"][0];
  EXPECT_EQ(
      order,
      (Item{{"id", Value::Map({{"no", 7}})},
            {"address",
             Value::Map({{"city", "Ulm"}, {"zip", "53111"}, {"geo", Value::Map({{"lat", 48.4_n}})}})},
            {"lines", Value::List({Value::Map({{"product", "saw"}, {"quantity", 3}}), "gift", "appended"})},
            {"tags", Value::List({"new"})},
            {"copy", Value::Map({{"product", "saw"}, {"quantity", 3}})}}));
}

TEST(NestedAccess, PathsAreThoseOfExpressions) {
  Item order = Order();
  EXPECT_EQ(*FindPath(order, "lines[0].quantity"), 2);
  EXPECT_EQ(*FindPath(order, "id"), "o1");
  for (const char* path : {"lines[2]", "lines[0].price", "address.city.name", "no", "", ".", "a..b", "lines[",
                           "lines[x]", "lines[-1]", "lines[0", "[0]", "lines[0]x", "lines]0["}) {
    EXPECT_EQ(FindPath(order, path), nullptr) << path;
  }
  *AtPath(order, "lines[0].price") = 5;
  EXPECT_EQ(*FindPath(order, "lines[0].price"), 5);
  for (const char* path : {"", ".", "a..b", "a.", "lines[", "lines[x]", "lines[0", "[0]", "lines[0]x"}) {
    EXPECT_EQ(ReasonOf(AtPath(order, path).status()), kReasonValidation) << path;
  }
}

// ---- JSON ----

Item EveryType() {
  return {{"b", Value::Binary(std::string("\0\xff", 2))},
          {"bool", true},
          {"bs", Value::BinarySet({"x"})},
          {"l", Value::List({1, Value::Null(), Value::List({})})},
          {"m", Value::Map({{"n", *Number::Parse("-1.50")}})},
          {"ns", Value::NumberSet({2, 1})},
          {"null", Value::Null()},
          {"s", "a \"quoted\" \\ line\n\x01 \xc3\xa4"},
          {"ss", Value::StringSet({"q", "p"})}};
}

TEST(Json, OfDynamoDbKeepsEveryType) {
  const std::string json = ToJson(EveryType(), JsonForm::kDynamoDb);
  EXPECT_THAT(json, HasSubstr(R"("b": {"B": "AP8="})"));
  EXPECT_THAT(json, HasSubstr(R"("ns": {"NS": ["1", "2"]})"));
  EXPECT_THAT(json, HasSubstr(R"("m": {"M": {"n": {"N": "-1.50"}}})"));
  EXPECT_THAT(json, HasSubstr(R"("null": {"NULL": true})"));
  absl::StatusOr<Item> item = ItemFromJson(json, JsonForm::kDynamoDb);
  ASSERT_TRUE(item.ok()) << item.status();
  EXPECT_EQ(*item, EveryType());
}

TEST(Json, OfJsonsOwnTypesIsForPeople) {
  EXPECT_EQ(
      ToJson(EveryType()),
      R"({"b": "AP8=", "bool": true, "bs": ["eA=="], "l": [1, null, []], "m": {"n": -1.50}, "ns": [1, 2], )"
      R"("null": null, "s": "a \"quoted\" \\ line\n\u0001 ä", "ss": ["p", "q"]})");
  absl::StatusOr<Item> item = ItemFromJson(
      R"( {"a" : [1, -2.5e3, true, false, null], "o": {"x": "A\u00e4\ud83d\ude00\t\/"}, "e": {}} )");
  ASSERT_TRUE(item.ok()) << item.status();
  EXPECT_EQ(*item, (Item{{"a", Value::List({1, -2500, true, false, Value::Null()})},
                         {"o", Value::Map({{"x", "A\xc3\xa4\xf0\x9f\x98\x80\t/"}})},
                         {"e", Value::Map({})}}));
  // What JSON cannot write of Number's own grammar.
  for (const auto& [text, json] : {std::pair("+5", "5e0"),
                                   {".5", "5e-1"},
                                   {"5.", "5e0"},
                                   {"-007", "-7e0"},
                                   {"1E5", "1E5"},
                                   {"-.0", "0"}}) {
    EXPECT_EQ(ToJson(Value(*Number::Parse(text))), json);
    EXPECT_EQ(*ValueFromJson(json), *Number::Parse(text)) << json;
  }
}

TEST(Json, ErrorsSayWhatIsWrong) {
  struct Row {
    const char* json;
    const char* says;
  };
  for (const Row& row :
       {Row{"", "a value is expected, at byte 0"}, Row{"[1]", "must be a JSON object"},
        Row{"{} x", "more behind"}, Row{R"({"a": 1, "a": 2})", "\"a\" is there twice"},
        Row{R"({"a" 1})", "a colon"}, Row{R"({"a": 1)", "a comma or }"},
        Row{R"({"a": [1 2]})", "a comma or ]"}, Row{R"({a: 1})", "a name in quotes"},
        Row{R"({"a": "x)", "has no end"}, Row{R"({"a": "\x"})", "begins no escape"},
        Row{R"({"a": "\ud800"})", "begins no escape"}, Row{R"({"a": "\u12"})", "begins no escape"},
        Row{"{\"a\": \"\n\"}", "a control character"}, Row{R"({"a": 01})", "a value is expected"},
        Row{R"({"a": nul})", "a value is expected"}, Row{R"({"a": 1e9999999})", "the exponent has at most 6"},
        Row{R"({"a": +1})", "a value is expected"}}) {
    SCOPED_TRACE(row.json);
    const absl::Status status = ItemFromJson(row.json).status();
    EXPECT_EQ(ReasonOf(status), kReasonValidation);
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.says));
  }
  for (const Row& row :
       {Row{R"({"a": 1})", "one member, its type"}, Row{R"({"a": {"S": "x", "N": "1"}})", "one member"},
        Row{R"({"a": {"X": "x"}})", "\"X\" is not a type"}, Row{R"({"a": {"S": 1}})", "type S has the wrong"},
        Row{R"({"a": {"N": "x"}})", "is not a decimal number"}, Row{R"({"a": {"B": "*"}})", "type B has"},
        Row{R"({"a": {"SS": [1]}})", "type SS has"}, Row{R"({"a": {"M": []}})", "must be a JSON object"},
        Row{R"({"a": {"NULL": false}})", "type NULL has"}, Row{R"({"a": {"L": {}}})", "type L has"}}) {
    SCOPED_TRACE(row.json);
    const absl::Status status = ItemFromJson(row.json, JsonForm::kDynamoDb).status();
    EXPECT_EQ(ReasonOf(status), kReasonValidation);
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.says));
  }
  EXPECT_FALSE(ValueFromJson(std::string(100'000, '[')).ok()) << "the stack is bounded";
}

TEST(Printing, IsJson) {
  std::ostringstream out;
  out << Item{{"id", "hammer"}, {"stock", 5}} << " " << Value("x") << " " << *Number::Parse("1.50");
  EXPECT_EQ(out.str(), R"({"id": "hammer", "stock": 5} "x" 1.50)");
  struct Sink {
    void Append(std::string_view more) { text += more; }
    std::string text;
  } sink;
  AbslStringify(sink, Item{{"a", 1}});
  AbslStringify(sink, Value(true));
  AbslStringify(sink, Number(7));
  EXPECT_EQ(sink.text, R"({"a": 1}true7)");
}

}  // namespace
}  // namespace itemdb
