// The results of conditions on items, one table per rule.
#include "storage/expressions/condition.h"

#include <gtest/gtest.h>

#include "tests/storage/expressions/notation.h"

namespace itemdb::storage {
namespace {

const PlaceholderTexts kConditionPlaceholders = {{"#dot", "d.t"},
                                                 {"#deep", "deep"},
                                                 {":0", "0"},
                                                 {":1", "1"},
                                                 {":2", "2"},
                                                 {":5", "5"},
                                                 {":10", "10"},
                                                 {":n3", "-3"},
                                                 {":a", "'a'"},
                                                 {":b", "'b'"},
                                                 {":ab", "'ab'"},
                                                 {":empty", "''"},
                                                 {":x", "'x'"},
                                                 {":bin", "b'ab'"},
                                                 {":true", "true"},
                                                 {":null", "null"},
                                                 {":list", "[1,2]"},
                                                 {":tsil", "[2,1]"},
                                                 {":set", "<'b', 'a'>"},
                                                 {":nums", "<2.0, 1>"},
                                                 {":map", "{y: [true], x: 1.0}"},
                                                 {":S", "'S'"},
                                                 {":N", "'N'"},
                                                 {":L", "'L'"},
                                                 {":big", "1e20"}};

bool Holds(std::string_view text, std::string_view item) {
  Placeholders placeholders = MakePlaceholders(kConditionPlaceholders);
  absl::StatusOr<Condition> condition = Condition::Compile("ConditionExpression", text, placeholders);
  EXPECT_TRUE(condition.ok()) << condition.status();
  std::string encoded = Item(item);
  return condition.ok() && condition->Evaluate(ItemView(encoded));
}

struct Row {
  std::string_view text;
  bool holds;
};

void ExpectRows(std::string_view item, std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(Holds(row.text, item), row.holds);
  }
}

constexpr std::string_view kItem =
    "{n: 5, s: 'ab', bin: b'abc', t: true, z: null, l: [1, 'x', [2, 3], {k: 'v'}], m: {x: 1, y: [true]}, "
    "ss: <'a', 'b'>, ns: <1, 2>, bs: <b'ab', b'c'>, e: '', d.t: 1, deep: {d.t: [{q: 7}]}, d: {t: 2}}";

// A dot behind an alias is part of the name; names and indexes select elements (EXP-02).
TEST(Condition, FollowsPaths) {
  ExpectRows(kItem, {{"l[0] = :1", true},
                     {"l[2][1] > :2", true},
                     {"l[3].k = :b", false},
                     {"l[9] = :1", false},
                     {"m.x = :1", true},
                     {"m.y[0] = :true", true},
                     {"d.t = :2", true},
                     {"#dot = :1", true},
                     {"#deep.#dot[0].q > :5", true},
                     // A step that does not fit the value finds nothing.
                     {"attribute_exists(l.k)", false},
                     {"attribute_exists(m[0])", false},
                     {"attribute_exists(n.x)", false},
                     {"attribute_exists(s[0])", false},
                     {"attribute_exists(ss[0])", false}});
}

// Values of different types are never equal and have no order; numbers compare by value (EXP-03, EXP-13,
// EXP-14, SEM-013, SEM-014).
TEST(Condition, ComparesByTypeAndValue) {
  ExpectRows(kItem, {{"n = :5", true},
                     {"n <> :5", false},
                     {"n < :10", true},
                     {"n <= :5", true},
                     {"n > :5", false},
                     {"n >= :5", true},
                     {"n > :n3", true},
                     {":n3 < n", true},
                     {"n < :big", true},
                     {"s < :b", true},
                     {"s > :a", true},
                     {"s >= :ab", true},
                     {"bin > :bin", true},
                     // Values of other types are not equal and have no order.
                     {"n = :a", false},
                     {"n <> :a", true},
                     {"n < :a", false},
                     {"n >= :a", false},
                     {"s = :bin", false},
                     {"t = :true", true},
                     {"z = :null", true},
                     {"l[0] < m.x", false},
                     {"l > m", false},
                     {"t >= z", false}});
}

// Lists are equal in the same order, sets and maps in any order, numbers by value (EXP-14).
TEST(Condition, ComparesDeeply) {
  ExpectRows("{l: [1.0, 2], s: <'a', 'b'>, n: <1, 2>, m: {x: 1, y: [true]}}", {{"l = :list", true},
                                                                               {"l = :tsil", false},
                                                                               {"l <> :tsil", true},
                                                                               {"s = :set", true},
                                                                               {"n = :nums", true},
                                                                               {"m = :map", true},
                                                                               {"m = :list", false}});
}

// A missing attribute equals nothing, not even another missing attribute (EXP-12).
TEST(Condition, TreatsMissingAttributes) {
  ExpectRows(kItem, {{"gone = :1", false},
                     {"gone <> :1", true},
                     {"gone = lost", false},
                     {"gone <> lost", true},
                     {"gone < :1", false},
                     {"gone >= :1", false},
                     {":1 < gone", false},
                     {"gone BETWEEN :1 AND :2", false},
                     {"n BETWEEN gone AND :10", false},
                     {"n BETWEEN :1 AND gone", false},
                     {"gone IN (:1)", false},
                     {"n IN (gone, lost)", false},
                     {"begins_with(gone, :a)", false},
                     {"begins_with(s, gone)", false},
                     {"contains(gone, :a)", false},
                     {"contains(s, gone)", false},
                     {"attribute_type(gone, :S)", false},
                     {"attribute_exists(gone)", false},
                     {"attribute_not_exists(gone)", true},
                     {"NOT gone = :1", true}});
}

// A missing item has no attributes (EXP-20).
TEST(Condition, HoldsForNoItemOnlyIfNothingIsNeeded) {
  ExpectRows("{}", {{"attribute_not_exists(pk)", true},
                    {"attribute_exists(pk)", false},
                    {"attribute_not_exists(pk) OR n < :5", true},
                    {"n < :5", false},
                    {":1 = :1", true}});
}

// BETWEEN includes both bounds (EXP-03, EXP-19).
TEST(Condition, BetweenIsInclusive) {
  ExpectRows(kItem, {{"n BETWEEN :5 AND :10", true},
                     {"n BETWEEN :1 AND :5", true},
                     {"n BETWEEN :1 AND :2", false},
                     {"s BETWEEN :a AND :b", true},
                     {"s BETWEEN :b AND :x", false},
                     {":5 BETWEEN l[0] AND n", true},
                     // Bounds from the item may be in any order and of any type.
                     {":2 BETWEEN n AND l[0]", false},
                     {"n BETWEEN s AND :10", false}});
}

TEST(Condition, InTestsEquality) {
  ExpectRows(kItem, {{"n IN (:1, :5)", true},
                     {"n IN (:1, :2)", false},
                     {"l[0] IN (n, m.x)", true},
                     {"t IN (:a, :true)", true},
                     {"ss IN (:nums, :set)", true},
                     {":5 IN (n)", true},
                     {"NOT n IN (:1)", true}});
}

// attribute_type takes the name of a type (EXP-15).
TEST(Condition, AttributeTypeNamesTheType) {
  Placeholders placeholders;
  const std::pair<std::string, std::string> types[] = {
      {"s", "S"},   {"n", "N"}, {"bin", "B"}, {"ss", "SS"},  {"ns", "NS"},
      {"bs", "BS"}, {"l", "L"}, {"m", "M"},   {"t", "BOOL"}, {"z", "NULL"}};
  std::string item = Item(kItem);
  for (const auto& [attribute, unused] : types) {
    for (const auto& [owner, type] : types) {
      SCOPED_TRACE(attribute + " " + type);
      placeholders = MakePlaceholders({{":t", Show(ValueView(EncodeValue(ValueType::kS, type)))}});
      auto condition =
          Condition::Compile("ConditionExpression", "attribute_type(" + attribute + ", :t)", placeholders);
      ASSERT_TRUE(condition.ok()) << condition.status();
      EXPECT_EQ(condition->Evaluate(ItemView(item)), attribute == owner);
    }
  }
  // The first operand may be a value.
  ExpectRows(kItem, {{"attribute_type(:a, :S)", true}, {"attribute_type(:1, :S)", false}});
}

// begins_with compares the beginning of an S or B (EXP-16).
TEST(Condition, BeginsWithComparesTheStart) {
  ExpectRows(kItem, {{"begins_with(s, :a)", true},
                     {"begins_with(s, :ab)", true},
                     {"begins_with(s, :b)", false},
                     {"begins_with(s, :empty)", true},
                     {"begins_with(e, :a)", false},
                     {"begins_with(bin, :bin)", true},
                     {"begins_with(:ab, s)", true},
                     {"begins_with(:a, s)", false},
                     // An attribute of another type gives false, not an error.
                     {"begins_with(n, :a)", false},
                     {"begins_with(s, :bin)", false},
                     {"begins_with(ss, :a)", false}});
}

// contains finds a part of a text and an element of a set or list (EXP-17).
TEST(Condition, ContainsLooksIntoStringsSetsAndLists) {
  ExpectRows(kItem,
             {{"contains(s, :b)", true},      {"contains(s, :empty)", true}, {"contains(s, :x)", false},
              {"contains(e, :empty)", true},  {"contains(s, :1)", false},    {"contains(bin, :bin)", true},
              {"contains(bin, :b)", false},   {"contains(ss, :a)", true},    {"contains(ss, :ab)", false},
              {"contains(ns, :2)", true},     {"contains(ns, :a)", false},   {"contains(bs, :bin)", true},
              {"contains(l, :1)", true},      {"contains(l, :x)", true},     {"contains(l, :5)", false},
              {"contains(m.y, :true)", true}, {"contains(n, :5)", false},    {"contains(m, :x)", false},
              {"contains(:set, s)", false},   {"contains(:ab, s)", true},    {"contains(:5, n)", false}});
}

// A comparison with the size of a value that has no size is false (EXP-18).
TEST(Condition, SizeCountsByType) {
  ExpectRows(kItem, {{"size(s) = :2", true},
                     {"size(e) = :0", true},
                     {"size(bin) > :2", true},
                     {"size(ss) = :2", true},
                     {"size(ns) = :2", true},
                     {"size(bs) = :2", true},
                     {"size(l) BETWEEN :2 AND :5", true},
                     {"size(m) IN (:1, :2)", true},
                     {"size(:ab) = size(s)", true},
                     {"size(l) > size(m)", true},
                     {"size(s) = :a", false},
                     {"size(s) <> :a", true},
                     {"size(n) = :1", false},
                     {"size(n) <> :1", false},
                     {"size(t) < :10", false},
                     {"size(z) >= :0", false},
                     {"size(gone) <> :1", false},
                     {"size(gone) >= :0", false},
                     {"NOT size(gone) = :1", true}});
  // U+00E4 is one UTF-16 code unit, U+20AC one, U+1F600 two.
  ExpectRows("{s: '\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80x'}", {{"size(s) = :5", true}});
}

// The order of precedence is NOT, AND, OR (EXP-07).
TEST(Condition, BindsNotBeforeAndBeforeOr) {
  ExpectRows(kItem, {{"n = :5 OR n = :1 AND n = :2", true},
                     {"(n = :5 OR n = :1) AND n = :2", false},
                     {"NOT n = :1 AND n = :5", true},
                     {"NOT (n = :1 OR n = :5)", false},
                     {"NOT n = :5 OR n = :5", true},
                     {"NOT NOT n = :5", true},
                     {"NOT (NOT (NOT (n = :5)))", false},
                     {"n = :1 AND n = :2 OR n = :5 AND s = :ab", true},
                     {"n = :1 OR n = :2 OR n = :5", true},
                     {"n = :5 AND s = :ab AND t = :true", true},
                     {"n = :5 AND s = :ab AND t = :null", false}});
}

TEST(Condition, ListsTopLevelAttributesOnce) {
  Placeholders placeholders = MakePlaceholders({{"#z", "z"}, {":v", "1"}});
  auto condition =
      Condition::Compile("FilterExpression", "m.q = :v AND (#z.a[0] < b OR contains(m.x, z))", placeholders);
  ASSERT_TRUE(condition.ok()) << condition.status();
  EXPECT_EQ(condition->TopLevelAttributes(), (std::vector<std::string>{"b", "m", "z"}));
}

// Requests share the parsed tree; each has its own names and values.
TEST(Condition, BindsEachRequestAnew) {
  std::string item = Item("{a: 1, b: 2}");
  for (int round = 0; round < 3; ++round) {
    Placeholders first = MakePlaceholders({{"#n", "a"}, {":v", "1"}});
    Placeholders second = MakePlaceholders({{"#n", "b"}, {":v", "1"}});
    auto a = Condition::Compile("ConditionExpression", "#n = :v", first);
    auto b = Condition::Compile("FilterExpression", "#n = :v", second);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_TRUE(a->Evaluate(ItemView(item)));
    EXPECT_FALSE(b->Evaluate(ItemView(item)));
  }
}

// A condition owns everything that it needs.
TEST(Condition, OutlivesItsTextAndPlaceholders) {
  absl::StatusOr<Condition> condition = absl::UnknownError("not compiled");
  {
    std::string text = "#name_of_more_than_sixteen_bytes = :v";
    Placeholders placeholders =
        MakePlaceholders({{"#name_of_more_than_sixteen_bytes", "attribute_of_more_than_sixteen_bytes"},
                          {":v", "'a long value, not inline'"}});
    condition = Condition::Compile("ConditionExpression", text, placeholders);
    text.assign(text.size(), '!');
  }
  ASSERT_TRUE(condition.ok());
  Condition copy = *condition;
  std::string item = Item("{attribute_of_more_than_sixteen_bytes: 'a long value, not inline'}");
  EXPECT_TRUE(copy.Evaluate(ItemView(item)));
}

}  // namespace
}  // namespace itemdb::storage
