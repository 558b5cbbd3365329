#include "itemdb/value.h"

#include <vector>

#include <gtest/gtest.h>

#include "client/convert.h"
#include "itemdb/errors.h"

namespace itemdb {
namespace {

Number N(const char* text) { return Number::Parse(text).value(); }

// An item with one value of each type, including nested ones.
Item AllTypes() {
  return {{"s", "text"},
          {"empty", ""},
          {"n", N("12345678901234567890123456789012345678")},
          {"b", Value::Binary(std::string("\0\xff", 2))},
          {"ss", Value::StringSet({"b", "a"})},
          {"ns", Value::NumberSet({10, 9, N("-1.5")})},
          {"bs", Value::BinarySet({"y", std::string("\0", 1)})},
          {"l", Value::List({1, "two", Value::List({}), Value::Map({{"three", true}})})},
          {"m", Value::Map({{"z", 1}, {"a", Value::Null()}})},
          {"t", true},
          {"f", false},
          {"null", Value::Null()}};
}

TEST(ClientValue, ConvertsTextNumbersAndBoolsToTheirTypes) {
  const std::vector<std::pair<Value, std::string>> cases = {{Value("x"), "S"},
                                                            {Value(std::string("x")), "S"},
                                                            {Value(std::string_view("x")), "S"},
                                                            {Value(1), "N"},
                                                            {Value(uint8_t{1}), "N"},
                                                            {Value(N("0.5")), "N"},
                                                            {Value(true), "BOOL"},
                                                            {Value(), "NULL"},
                                                            {Value::Binary("x"), "B"},
                                                            {Value::List({}), "L"},
                                                            {Value::Map({}), "M"},
                                                            {Value::StringSet({"x"}), "SS"},
                                                            {Value::NumberSet({1}), "NS"},
                                                            {Value::BinarySet({"x"}), "BS"}};
  for (const auto& [value, type] : cases) EXPECT_EQ(TypeName(value.type()), type);
}

TEST(ClientValue, ShowsItsContentUnderItsTypeOnly) {
  const Value text("x");
  ASSERT_NE(text.string_or_null(), nullptr);
  EXPECT_EQ(*text.string_or_null(), "x");
  EXPECT_EQ(text.binary_or_null(), nullptr);
  EXPECT_EQ(text.number_or_null(), nullptr);
  EXPECT_EQ(text.list_or_null(), nullptr);
  EXPECT_EQ(text.map_or_null(), nullptr);
  EXPECT_EQ(text.bool_or_null(), nullptr);
  EXPECT_FALSE(text.is_null());
  EXPECT_EQ(*Value::Binary("x").binary_or_null(), "x");
  EXPECT_NE(Value("x"), Value::Binary("x"));
}

// Sets are equal in any order (SEM-015). Lists are equal in the same order only, and numbers by value
// (EXP-14).
TEST(ClientValue, ComparesSetsWithoutOrderAndNumbersByValue) {
  EXPECT_EQ(Value::StringSet({"a", "b"}), Value::StringSet({"b", "a"}));
  EXPECT_EQ(Value::NumberSet({1, 10, 9}), Value::NumberSet({N("1e1"), N("9.0"), 1}));
  EXPECT_NE(Value::List({1, 2}), Value::List({2, 1}));
  EXPECT_EQ(Value::List({N("25.00")}), Value::List({25}));
  EXPECT_NE(Value::StringSet({"a"}), Value::BinarySet({"a"}));
}

TEST(ClientItem, KeepsNamesSortedAndTheLastOfEqualOnes) {
  Item item{{"b", 1}, {"a", 2}, {"b", 3}};
  item.Set("c", 4);
  item.Set("a", 5);
  std::vector<std::string> names;
  for (const Attribute& attribute : item) names.push_back(attribute.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(item, (Item{{"c", 4}, {"b", 3}, {"a", 5}}));

  EXPECT_TRUE(item.Remove("b"));
  EXPECT_FALSE(item.Remove("b"));
  EXPECT_FALSE(item.contains("b"));
  EXPECT_EQ(item.find_or_null("b"), nullptr);
  EXPECT_EQ(item.size(), 2u);
}

TEST(ClientConversion, BringsEveryTypeThereAndBack) {
  v1::Item message;
  ASSERT_TRUE(ToProto(AllTypes(), &message).ok());
  v1::Item received;
  ASSERT_TRUE(received.ParseFromString(message.SerializeAsString()));
  const absl::StatusOr<Item> item = FromProto(received);
  ASSERT_TRUE(item.ok()) << item.status();
  EXPECT_EQ(*item, AllTypes());
  EXPECT_EQ(item->find_or_null("n")->number_or_null()->text(), "12345678901234567890123456789012345678");
}

TEST(ClientConversion, SendsEmptySetsAsSetsSoThatTheDaemonCanRefuseThem) {
  v1::AttributeValue message;
  ASSERT_TRUE(ToProto(Value::StringSet({}), &message).ok());
  EXPECT_TRUE(message.has_ss());
}

Value Nested(int levels) {
  Value value("core");
  for (int i = 0; i < levels; ++i) value = i % 2 == 0 ? Value::List({value}) : Value::Map({{"m", value}});
  return value;
}

// 31 nested lists or maps are legal, and the daemon refuses 32 (SEM-017); the client refuses deeper values.
TEST(ClientConversion, RefusesNestingThatCouldNotBeParsed) {
  v1::AttributeValue message;
  EXPECT_TRUE(ToProto(Nested(kMaxNesting), &message).ok());
  v1::AttributeValue deep;
  const absl::Status status = ToProto(Nested(kMaxNesting + 1), &deep);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(status), kReasonValidation);
}

// The deepest legal item is within protobuf's own nesting limit in every reply with items.
TEST(ClientConversion, DeepestLegalItemParsesInsideACancellation) {
  Value maps("core");
  for (int i = 0; i < 31; ++i) maps = Value::Map({{"m", maps}});
  v1::TransactWriteItemsReply reply;
  ASSERT_TRUE(ToProto(Item{{"a", maps}}, reply.mutable_cancelled()->add_reasons()->mutable_item()).ok());
  v1::TransactWriteItemsReply received;
  EXPECT_TRUE(received.ParseFromString(reply.SerializeAsString()));
}

TEST(ClientConversion, AnswersDataLossForAReplyThatBreaksTheContract) {
  v1::Item no_value;
  no_value.add_attributes()->set_name("a");
  EXPECT_EQ(FromProto(no_value).status().code(), absl::StatusCode::kDataLoss);

  v1::AttributeValue no_number;
  no_number.mutable_l()->add_values()->set_n("twelve");
  EXPECT_EQ(FromProto(no_number).status().code(), absl::StatusCode::kDataLoss);

  v1::AttributeValue no_number_in_set;
  no_number_in_set.mutable_ns()->add_values("");
  EXPECT_EQ(FromProto(no_number_in_set).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace itemdb
