#include "storage/expressions/compare.h"

#include <gtest/gtest.h>

#include "storage/expressions/set_algebra.h"
#include "storage/values/number.h"
#include "tests/storage/expressions/notation.h"
#include "tests/storage/values/test_seed.h"

namespace itemdb::storage {
namespace {

std::string RandomNumberText(std::mt19937_64& random) {
  std::string text = Pick(random, 0, 1) ? "-" : "";
  // Few different digits and exponents, so that numbers often have a long common prefix.
  for (int64_t digits = Pick(random, 1, 6); digits > 0; --digits)
    text += static_cast<char>('0' + Pick(random, 0, 2));
  return Number::Parse(text + "e" + std::to_string(Pick(random, -6, 4)))->ToString();
}

// Comparing canonical texts must give the order of the numbers.
TEST(Compare, NumberTextsOrderAsNumbers) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  int equal = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string a = RandomNumberText(random), b = RandomNumberText(random);
    std::strong_ordering expected = *Number::Parse(a) <=> *Number::Parse(b);
    equal += expected == 0;
    ASSERT_EQ(CompareNumberTexts(a, b) < 0, expected < 0) << a << " and " << b;
    ASSERT_EQ(CompareNumberTexts(a, b) == 0, expected == 0) << a << " and " << b;
  }
  EXPECT_GT(equal, 100);
}

TEST(Compare, SizesCountUtf16) {
  auto size = [](std::string_view notation) {
    std::string value = Value(notation);
    return SizeOf(ValueView(value));
  };
  EXPECT_EQ(size("''"), 0u);
  EXPECT_EQ(size("'abc'"), 3u);
  EXPECT_EQ(size("'\xc3\xa9\xe4\xb8\xad'"), 2u);
  EXPECT_EQ(size("'\xf0\x9f\x98\x80'"), 2u);
  EXPECT_EQ(size("b'\xf0\x9f\x98\x80'"), 4u);
  EXPECT_EQ(size("1"), std::nullopt);
}

TEST(Compare, DepthCountsLevels) {
  auto depth = [](std::string_view notation) {
    std::string value = Value(notation);
    return DepthOf(ValueView(value));
  };
  EXPECT_EQ(depth("1"), 1);
  EXPECT_EQ(depth("<1>"), 1);
  EXPECT_EQ(depth("[]"), 1);
  EXPECT_EQ(depth("[1]"), 2);
  EXPECT_EQ(depth("{a: 1, b: [[2]], c: {}}"), 4);
}

// A search that restarts at every byte would take minutes for these texts.
TEST(Compare, SubstringSearchIsLinear) {
  std::string text = EncodeValue(ValueType::kS, std::string(400'000, 'a'));
  std::string part = EncodeValue(ValueType::kS, std::string(200'000, 'a') + "b");
  EXPECT_FALSE(Contains(ValueView(text), ValueView(part)));
}

TEST(SetAlgebra, MergesInKeyOrder) {
  auto merge = [](std::string_view a, std::string_view b, auto operation) {
    std::string first = Value(a), second = Value(b);
    ValueType type = ValueView(first).type();
    std::string members =
        operation(type, SetView(ValueView(first).payload()), SetView(ValueView(second).payload()));
    std::string set = EncodeValue(type, members);
    return Show(ValueView(set));
  };
  EXPECT_EQ(merge("<'a', 'c'>", "<'b', 'c', 'd'>", SetUnion), "<'a', 'b', 'c', 'd'>");
  EXPECT_EQ(merge("<10, 9, -1>", "<9.0, 95, -2>", SetUnion), "<-2, -1, 9, 10, 95>");
  EXPECT_EQ(merge("<b'', b'\xff'>", "<b'\x01'>", SetUnion), "<b'', b'\x01', b'\xff'>");
  EXPECT_EQ(merge("<10, 9, -1>", "<9.0, 95, -2>", SetDifference), "<-1, 10>");
  EXPECT_EQ(merge("<'a', 'b'>", "<'b', 'a', 'z'>", SetDifference), "<>");
}

}  // namespace
}  // namespace itemdb::storage
