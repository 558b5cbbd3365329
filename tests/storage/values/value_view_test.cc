#include "storage/values/value_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "itemdb/v1/item.pb.h"

namespace itemdb::storage {
namespace {

using ::testing::ElementsAre;

TEST(ValueView, TypesAreTheMessageFields) {
  EXPECT_EQ(static_cast<int>(ValueType::kS), v1::AttributeValue::kSFieldNumber);
  EXPECT_EQ(static_cast<int>(ValueType::kN), v1::AttributeValue::kNFieldNumber);
  EXPECT_EQ(static_cast<int>(ValueType::kB), v1::AttributeValue::kBFieldNumber);
  EXPECT_EQ(static_cast<int>(ValueType::kSS), v1::AttributeValue::kSsFieldNumber);
  EXPECT_EQ(static_cast<int>(ValueType::kNS), v1::AttributeValue::kNsFieldNumber);
  EXPECT_EQ(static_cast<int>(ValueType::kBS), v1::AttributeValue::kBsFieldNumber);
  EXPECT_EQ(static_cast<int>(ValueType::kL), v1::AttributeValue::kLFieldNumber);
  EXPECT_EQ(static_cast<int>(ValueType::kM), v1::AttributeValue::kMFieldNumber);
  EXPECT_EQ(static_cast<int>(ValueType::kBool), v1::AttributeValue::kBoolFieldNumber);
  EXPECT_EQ(static_cast<int>(ValueType::kNull), v1::AttributeValue::kNullFieldNumber);
}

TEST(ValueView, ReadsWhatEncodeWrote) {
  // A text whose length takes more than one byte.
  const std::string text(300, 'x');
  const std::string encoded = EncodeValue(ValueType::kS, text);
  EXPECT_EQ(ValueView(encoded).type(), ValueType::kS);
  EXPECT_EQ(ValueView(encoded).payload(), text);
  EXPECT_EQ(ValueView(EncodeValue(ValueType::kB, "")).payload(), "");
  EXPECT_TRUE(ValueView(EncodeBool(true)).boolean());
  EXPECT_FALSE(ValueView(EncodeBool(false)).boolean());
  EXPECT_EQ(ValueView(EncodeNull()).type(), ValueType::kNull);
  EXPECT_EQ(ValueTypeName(ValueView(EncodeBool(false)).type()), "BOOL");
}

TEST(ValueView, WalksListsAndSets) {
  std::string list, set;
  AppendListElement(EncodeNull(), &list);
  AppendListElement(EncodeValue(ValueType::kN, "1"), &list);
  AppendSetElement("", &set);
  AppendSetElement("b", &set);
  std::vector<ValueType> types;
  for (ValueView element : ListView(list)) types.push_back(element.type());
  EXPECT_THAT(types, ElementsAre(ValueType::kNull, ValueType::kN));
  std::vector<std::string> elements;
  for (std::string_view element : SetView(set)) elements.emplace_back(element);
  EXPECT_THAT(elements, ElementsAre("", "b"));
  EXPECT_EQ(ListView(list).Count(), 2u);
  EXPECT_EQ(SetView().Count(), 0u);
  EXPECT_EQ(SetView().begin(), SetView().end());
}

TEST(ItemView, FindsByNameOnly) {
  std::string item;
  for (std::string name : {"a", "b", "bb", "d"})
    AppendAttribute(name, EncodeValue(ValueType::kS, name), &item);
  for (std::string name : {"a", "b", "bb", "d"}) EXPECT_EQ(ItemView(item).Find(name)->payload(), name);
  for (std::string name : {"", "A", "aa", "c", "e"})
    EXPECT_FALSE(ItemView(item).Find(name).has_value()) << name;
}

}  // namespace

}  // namespace itemdb::storage
