// Items of two engines are compared by digests: equal items have equal ones, however they are written.
#include "tools/moving/item_digest.h"

#include <gtest/gtest.h>

namespace itemdb::tools {
namespace {

TEST(ItemDigest, NumbersHaveOneForm) {
  const struct {
    const char* text;
    const char* form;
  } rows[] = {{"0", "0"},          {"-0.00", "0"},     {"1.50", "15e-1"}, {"+1.5", "15e-1"},
              {"150e-2", "15e-1"}, {"-100", "-1e2"},   {"1E+2", "1e2"},   {".5", "5e-1"},
              {"5.", "5e0"},       {"0.0010", "1e-3"}, {"12e0", "12e0"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(CanonicalNumber(*Number::Parse(row.text)), row.form);
  }
}

TEST(ItemDigest, IsThatOfTheContents) {
  const Item item = {{"id", "a"},
                     {"price", *Number::Parse("1.50")},
                     {"tags", Value::StringSet({"b", "a"})},
                     {"sizes", Value::NumberSet({*Number::Parse("2.0"), 10})},
                     {"list", Value::List({1, "1", true, Value::Null()})}};
  const Item same = {{"list", Value::List({1, "1", true, Value::Null()})},
                     {"sizes", Value::NumberSet({10, 2})},
                     {"tags", Value::StringSet({"a", "b"})},
                     {"price", *Number::Parse("15e-1")},
                     {"id", "a"}};
  EXPECT_EQ(DigestOf(item), DigestOf(same));
  // One attribute that differs in its value, its type or its place.
  const Item others[] = {{{"id", "b"}},
                         {{"id", Value::Binary("a")}},
                         {{"id", "a"}, {"x", ""}},
                         {{"id", Value::List({"a"})}},
                         {{"id", Value::StringSet({"a"})}},
                         {{"id", 1}},
                         {{"id", "1"}},
                         {{"ida", ""}},
                         {{"id", true}},
                         {{"id", Value::Null()}},
                         {{"id", Value::Map({{"a", "a"}})}}};
  for (size_t i = 0; i < std::size(others); ++i) {
    for (size_t k = 0; k < i; ++k) EXPECT_NE(DigestOf(others[i]), DigestOf(others[k])) << i << " and " << k;
  }
}

TEST(ItemDigest, SumsDoNotDependOnTheOrder) {
  const Digest a = DigestOf({{"id", "a"}});
  const Digest b = DigestOf({{"id", "b"}});
  DigestSum forwards, backwards, twice;
  forwards.Add(a);
  forwards.Add(b);
  backwards.Add(b);
  backwards.Add(a);
  twice.Add(a);
  twice.Add(a);
  EXPECT_EQ(forwards, backwards);
  EXPECT_NE(forwards, twice);
}

}  // namespace
}  // namespace itemdb::tools
