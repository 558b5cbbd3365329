#include "storage/values/canonical.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "google/protobuf/text_format.h"
#include "itemdb/v1/item.pb.h"
#include "storage/base/limits.h"

namespace itemdb::storage {
namespace {

using ::testing::HasSubstr;
using ::testing::Lt;

// The serialised item with one attribute "a" that has this value, given in protobuf's text format.
std::string Item(const std::string& value_text) {
  v1::Item item;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "attributes { name: 'a' value { " + value_text + " } }", &item))
      << value_text;
  return item.SerializeAsString();
}

// The canonical form in protobuf's text format, or the error.
std::string Canonical(const std::string& encoded) {
  absl::StatusOr<std::string> canonical = CanonicalizeItem(encoded);
  if (!canonical.ok()) {
    EXPECT_EQ(ReasonOf(canonical.status()), kReasonValidation);
    return "error: " + MessageOf(canonical.status());
  }
  v1::Item item;
  EXPECT_TRUE(item.ParseFromString(*canonical));
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(item, &text);
  if (!text.empty()) text.pop_back();
  return text;
}

// `value` inside `depth` containers, alternately lists and maps.
std::string Wrapped(std::string value, int depth) {
  for (int i = 0; i < depth; ++i) {
    std::string container;
    if (i % 2 == 0) {
      AppendListElement(value, &container);
      value = EncodeValue(ValueType::kL, container);
    } else {
      AppendAttribute("m", value, &container);
      value = EncodeValue(ValueType::kM, container);
    }
  }
  return value;
}

std::string WithAttribute(std::string_view name, std::string_view value) {
  std::string item;
  AppendAttribute(name, value, &item);
  return item;
}

TEST(CanonicalizeItem, SortsAttributesMapsAndSets_SEM_015) {
  const struct {
    std::string name, value, expected;
  } rows[] = {
      {"map", "m { attributes { name: 'b' value { s: 'x' } } attributes { name: 'B' value { null: true } } }",
       "m { attributes { name: \"B\" value { null: true } } attributes { name: \"b\" value { s: \"x\" } } }"},
      {"list keeps its order", "l { values { s: 'b' } values { s: 'a' } }",
       "l { values { s: \"b\" } values { s: \"a\" } }"},
      {"strings by bytes, not by length", "ss { values: ['b', 'aa', '', 'B'] }",
       "ss { values: \"\" values: \"B\" values: \"aa\" values: \"b\" }"},
      {"bytes unsigned", "bs { values: ['\\xff', '\\x7f', '\\x80', ''] }",
       "bs { values: \"\" values: \"\\177\" values: \"\\200\" values: \"\\377\" }"},
      {"numbers by value", "ns { values: ['10', '9', '-1e1', '0.50'] }",
       "ns { values: \"-10\" values: \"0.5\" values: \"9\" values: \"10\" }"},
      {"set in a list", "l { values { ns { values: ['2', '1'] } } }",
       "l { values { ns { values: \"1\" values: \"2\" } } }"},
      {"longer numbers move what follows", "l { values { n: '1e3' } values { s: 'x' } }",
       "l { values { n: \"1000\" } values { s: \"x\" } }"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(Canonical(Item(row.value)), "attributes { name: \"a\" value { " + row.expected + " } }");
  }
}

TEST(CanonicalizeItem, WritesNumbersInPlainForm_SEM_012) {
  EXPECT_EQ(Canonical(Item("n: '25.00'")), "attributes { name: \"a\" value { n: \"25\" } }");
  EXPECT_EQ(Canonical(Item("n: '-0'")), "attributes { name: \"a\" value { n: \"0\" } }");
  EXPECT_EQ(Canonical(Item("n: '1e125'")),
            "attributes { name: \"a\" value { n: \"1" + std::string(125, '0') + "\" } }");
  EXPECT_EQ(Canonical(Item("ns { values: '1.0' }")),
            "attributes { name: \"a\" value { ns { values: \"1\" } } }");
}

// Texts that nearly take the fast path for numbers that are canonical already.
TEST(CanonicalizeItem, WritesEveryTextOfANumberAlike_SEM_013) {
  for (std::string text : {"0", "00", "0.0", "-0", "-0.0", ".0", "0.", "+0", "0e0"}) {
    EXPECT_EQ(Canonical(Item("n: '" + text + "'")), Canonical(Item("n: '0'"))) << text;
  }
  for (std::string text : {"-0.5", "-.5", "-00.5", "-0.50", "-5e-1"}) {
    EXPECT_EQ(Canonical(Item("n: '" + text + "'")), Canonical(Item("n: '-0.5'"))) << text;
  }
  for (std::string text : {"10", "010", "10.", "10.0", "1e1", "+10"}) {
    EXPECT_EQ(Canonical(Item("n: '" + text + "'")), Canonical(Item("n: '10'"))) << text;
  }
  for (std::string text : {"-", "--1", "1-", "1.2.3", "-.", "0x1", "1 "}) {
    EXPECT_THAT(Canonical(Item("n: '" + text + "'")), HasSubstr("cannot be converted to a numeric value"))
        << text;
  }
}

TEST(CanonicalizeItem, AcceptsEmptyContents_SEM_016) {
  for (std::string value : {"s: ''", "b: ''", "l { }", "m { }", "ss { values: '' }", "bs { values: '' }"}) {
    EXPECT_THAT(Canonical(Item(value)), testing::StartsWith("attributes {")) << value;
  }
  EXPECT_EQ(Canonical(""), "");
}

TEST(CanonicalizeItem, NamesTheRuleAndTheAttributeItRefuses) {
  const struct {
    std::string row_id, value, error;
  } rows[] = {
      {"SEM-010", "",
       "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes (attr"},
      {"SEM-010", "null: false", "Null attribute value types must have the value of true (attribute \"a\")"},
      {"SEM-011", "n: '1e126'", "Number overflow. Attempting to store a number with magnitude larger than"},
      {"SEM-011", "n: '1e-131'",
       "Number underflow. Attempting to store a number with magnitude smaller than"},
      {"SEM-011", "n: '" + std::string(39, '7') + "'", "Attempting to store more than 38 significant digits"},
      {"SEM-011", "n: 'x'", "The parameter cannot be converted to a numeric value: x (attribute \"a\")"},
      {"SEM-011", "n: ''", "The parameter cannot be converted to a numeric value (attribute \"a\")"},
      {"SEM-011", "ns { values: ['1', 'x'] }", "The parameter cannot be converted to a numeric value: x"},
      {"SEM-015", "ss { values: ['a', 'b', 'a'] }", "Input collection [a, b, a] contains duplicates."},
      {"SEM-015", "ss { values: ['a', 'a'] }", "Input collection [a, a] contains duplicates."},
      {"SEM-015", "bs { values: ['x', 'x'] }",
       "Input collection [eA==, eA==]of type BS contains duplicates."},
      {"SEM-015", "ns { values: ['1', '2', '1.0'] }",
       "Input collection contains duplicates: 1 is there more than once"},
      {"SEM-015", "l { values { ss { values: ['a', 'a'] } } }", "contains duplicates. (attribute \"a[0]\")"},
      {"SEM-016", "ss { }", "One or more parameter values were invalid: An string set  may not be empty"},
      {"SEM-016", "ns { }", "An number set  may not be empty"},
      {"SEM-016", "bs { }", "Binary sets should not be empty"},
      {"SEM-009", "m { attributes { value { s: 'x' } } }", "Empty attribute name (attribute \"a\")"},
      {"EqualItemsEqualBytes",
       "m { attributes { name: 'k' value { s: 'x' } } attributes { name: 'k' value { s: 'x' } } }",
       "Duplicate attribute name: \"k\" (attribute \"a\")"},
      {"path",
       "m { attributes { name: 'k' value { l { values { s: '' } values { m { attributes { name: 'z' } } } } "
       "} } }",
       "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes "
       "(attribute \"a.k[1].z\")"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.row_id + ": " + row.value);
    EXPECT_THAT(Canonical(Item(row.value)),
                testing::AllOf(testing::StartsWith("error: "), HasSubstr(row.error)));
  }
}

TEST(CanonicalizeItem, ChecksNames_SEM_009) {
  const std::string value = EncodeNull();
  EXPECT_THAT(Canonical(WithAttribute("", value)), HasSubstr("Empty attribute name"));
  EXPECT_TRUE(CanonicalizeItem(WithAttribute(std::string(65'535, 'n'), value)).ok());
  EXPECT_THAT(Canonical(WithAttribute(std::string(65'536, 'n'), value)),
              HasSubstr("at most 65535 bytes, has 65536"));
  EXPECT_THAT(Canonical(WithAttribute("\xff", value)), HasSubstr("Attribute name is not valid UTF-8: \\xff"));
  EXPECT_THAT(Canonical(WithAttribute("x", value) + WithAttribute("x", value)),
              HasSubstr("Duplicate attribute name"));
}

TEST(CanonicalizeItem, ChecksUtf8_SEM_014) {
  EXPECT_THAT(Canonical(WithAttribute("a", EncodeValue(ValueType::kS, "\xC0\x80"))),
              HasSubstr("not valid UTF-8"));
  std::string set;
  AppendSetElement("\xED\xA0\x80", &set);
  EXPECT_THAT(Canonical(WithAttribute("a", EncodeValue(ValueType::kSS, set))), HasSubstr("not valid UTF-8"));
  EXPECT_TRUE(CanonicalizeItem(WithAttribute("a", EncodeValue(ValueType::kBS, set))).ok());
  EXPECT_TRUE(CanonicalizeItem(WithAttribute("a", EncodeValue(ValueType::kB, "\xC0\x80"))).ok());
}

// The path in an error must be shortened: with the longest names it would be too long for a gRPC header.
TEST(CanonicalizeItem, KeepsErrorsShort) {
  std::string value = EncodeValue(ValueType::kN, std::string(100'000, 'x'));
  for (int i = 0; i < 31; ++i)
    value = EncodeValue(ValueType::kM, WithAttribute(std::string(65'000, 'n'), value));
  EXPECT_THAT(Canonical(WithAttribute("a", value)).size(), Lt(1'000u));
  std::string set;
  for (int i = 0; i < 2; ++i) AppendSetElement(std::string(100'000, 'x'), &set);
  EXPECT_THAT(Canonical(WithAttribute("a", EncodeValue(ValueType::kSS, set))).size(), Lt(1'000u));
}

TEST(CanonicalizeItem, AcceptsDepth32AndRefuses33_SEM_017) {
  for (const std::string& innermost :
       {EncodeValue(ValueType::kS, "x"), EncodeValue(ValueType::kL, ""), EncodeValue(ValueType::kM, "")}) {
    EXPECT_TRUE(CanonicalizeItem(WithAttribute("a", Wrapped(innermost, 31))).ok());
    EXPECT_TRUE(CanonicalizeValue(Wrapped(innermost, 31)).ok());
    EXPECT_THAT(Canonical(WithAttribute("a", Wrapped(innermost, 32))),
                HasSubstr("Nesting Levels have exceeded supported limits"));
    EXPECT_FALSE(CanonicalizeValue(Wrapped(innermost, 32)).ok());
  }
  // Recursion is bounded for any depth of the input.
  EXPECT_FALSE(CanonicalizeItem(WithAttribute("a", Wrapped(EncodeNull(), 5'000))).ok());
}

TEST(CanonicalizeItem, RefusesWhatTheMessagesDoNotHave_SEM_010) {
  const std::string s = EncodeValue(ValueType::kS, "x"), n = EncodeValue(ValueType::kN, "1");
  std::string unknown, varint_s, fixed32 = "\x0D\x01\x02\x03\x04";
  wire::AppendBytesField(11, "x", &unknown);
  wire::AppendVarintField(1, 7, &varint_s);
  std::string name, value;
  wire::AppendBytesField(1, "a", &name);
  wire::AppendBytesField(2, s, &value);
  auto attribute = [](std::string contents) {
    std::string item;
    wire::AppendBytesField(1, contents, &item);
    return item;
  };
  const struct {
    std::string name, item, error;
  } rows[] = {
      {"two members", WithAttribute("a", s + n), "more than one datatypes set"},
      {"one member twice", WithAttribute("a", s + s), "more than one datatypes set"},
      {"member and unknown field", WithAttribute("a", s + unknown), "more than one datatypes set"},
      {"unknown member", WithAttribute("a", unknown), "AttributeValue has no field 11"},
      {"member of another wire type", WithAttribute("a", varint_s),
       "AttributeValue has no field 1 of wire type 0"},
      {"fixed32", WithAttribute("a", fixed32), "not a well-formed encoding"},
      {"unknown field of the item", WithAttribute("a", s) + unknown, "Item has no field 11"},
      {"unknown field of an attribute", attribute(name + value + unknown), "Attribute has no field 11"},
      {"name twice", attribute(name + name + value), "more than once"},
      {"value twice", attribute(name + value + value), "more than once"},
      {"no value", attribute(name), "Supplied AttributeValue is empty"},
      {"no name", attribute(value), "Empty attribute name"},
      {"unknown field of a map", WithAttribute("a", EncodeValue(ValueType::kM, unknown)),
       "Map has no field 11"},
      {"unknown field of a list", WithAttribute("a", EncodeValue(ValueType::kL, unknown)),
       "List has no field 11"},
      {"unknown field of a set", WithAttribute("a", EncodeValue(ValueType::kNS, unknown)),
       "NumberSet has no field"},
      {"garbage", "\xff\xff\xff", "not a well-formed encoding"},
      {"field number 0", std::string("\x02\x00", 2), "not a well-formed encoding"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_THAT(Canonical(row.item), testing::AllOf(testing::StartsWith("error: "), HasSubstr(row.error)));
  }
}

// A number may grow from 40 bytes in the request to 126 digits; that growth must be bounded.
TEST(CanonicalizeItem, BoundsWhatNumbersGrowTo) {
  std::string list;
  const std::string big = EncodeValue(ValueType::kN, "1e125");
  for (int i = 0; i < 50'000; ++i) AppendListElement(big, &list);
  EXPECT_TRUE(CanonicalizeValue(EncodeValue(ValueType::kL, list)).ok());
  for (int i = 0; i < 50'000; ++i) AppendListElement(big, &list);
  EXPECT_FALSE(CanonicalizeValue(EncodeValue(ValueType::kL, list)).ok());
}

TEST(ItemSize, CountsByTheDataModel_SEM_002) {
  const struct {
    std::string value;
    size_t expected;  // Without the attribute's name.
  } rows[] = {
      {"s: ''", 0},
      {"s: 'h\\303\\251'", 3},
      {"b: '123'", 3},
      {"bool: true", 1},
      {"bool: false", 1},
      {"null: true", 1},
      {"n: '0'", 1},
      {"n: '123456'", 4},
      {"n: '-123456'", 5},
      {"l { }", 3},
      {"m { }", 3},
      {"l { values { s: 'abc' } values { null: true } }", 3 + (1 + 3) + (1 + 1)},
      {"m { attributes { name: 'key' value { n: '100.5' } } }", 3 + 1 + 3 + 4},
      {"l { values { l { values { m { } } } } }", 3 + 1 + 3 + 1 + 3},
      {"ss { values: ['a', 'bc', ''] }", 3},
      {"bs { values: ['a', 'bc'] }", 3},
      {"ns { values: ['0', '1', '-1'] }", 1 + 2 + 3},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.value);
    absl::StatusOr<std::string> item = CanonicalizeItem(Item(row.value));
    ASSERT_TRUE(item.ok()) << item.status();
    EXPECT_EQ(ItemSizeBytes(ItemView(*item)), row.expected + 1);
    EXPECT_EQ(ValueSizeBytes(ItemView(*item).begin()->value), row.expected);
  }
  EXPECT_EQ(ItemSizeBytes(ItemView()), 0u);
}

}  // namespace
}  // namespace itemdb::storage
