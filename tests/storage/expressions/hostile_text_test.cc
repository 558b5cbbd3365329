// Malformed expressions: each is refused or accepted, none crashes. Run these tests under AddressSanitizer
// and UndefinedBehaviorSanitizer too.
#include <gtest/gtest.h>

#include "storage/base/limits.h"
#include "storage/expressions/condition.h"
#include "storage/expressions/key_condition.h"
#include "storage/expressions/projection.h"
#include "storage/expressions/update.h"
#include "storage/values/canonical.h"
#include "tests/storage/expressions/notation.h"
#include "tests/storage/values/test_seed.h"

namespace itemdb::storage {
namespace {

const PlaceholderTexts kHostilePlaceholders = {{"#a", "a"},   {"#b", "b.c"},  {":a", "'x'"},
                                               {":b", "1"},   {":c", "[1]"},  {":d", "<'x'>"},
                                               {":e", "<1>"}, {":f", "true"}, {":g", "'S'"}};
constexpr std::string_view kHostileItem =
    "{a: 1, b: {c: [1, {d: 'x'}]}, c: [[1], 2], d: <'x', 'y'>, e: 'xyz', f: {}}";

struct Outcomes {
  int accepted = 0;
  int refused = 0;
  void Count(const absl::Status& status) {
    ++(status.ok() ? accepted : refused);
    if (status.ok()) return;
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_EQ(ReasonOf(status), kReasonValidation);
  }
};

// Compiles `text` as every kind of expression and evaluates it where it is accepted.
void Try(std::string_view text, Outcomes* outcomes) {
  static const std::string item = Item(kHostileItem);
  static const std::vector<KeyAttribute> partition = {{"a", ValueType::kS}}, sort = {{"b", ValueType::kN}};
  // One set of placeholders for all: the expressions of a request share it anyway.
  static Placeholders placeholders = MakePlaceholders(kHostilePlaceholders);
  auto condition = Condition::Compile("ConditionExpression", text, placeholders);
  outcomes->Count(condition.status());
  if (condition.ok()) condition->Evaluate(ItemView(item));
  auto update = UpdateExpression::Compile(text, placeholders);
  outcomes->Count(update.status());
  if (update.ok()) {
    absl::StatusOr<std::string> after = update->Apply(ItemView(item));
    if (after.ok()) {
      EXPECT_EQ(*after, *CanonicalizeItem(*after)) << text;
    }
    update->TouchedPart(ItemView(item));
  }
  auto projection = Projection::Compile(text, placeholders);
  outcomes->Count(projection.status());
  if (projection.ok()) {
    std::string part;
    projection->Apply(ItemView(item), &part);
    EXPECT_EQ(part, *CanonicalizeItem(part)) << text;
  }
  auto key_condition = KeyCondition::Compile(text, placeholders);
  outcomes->Count(key_condition.ok() ? key_condition->Select(partition, sort).status()
                                     : key_condition.status());
}

constexpr std::string_view kValid[] = {
    "NOT (a.b[0] = :b OR size(#b.c) BETWEEN :b AND c) AND #a IN (:a, :b, :c) AND contains(d, :a)",
    "attribute_exists(a) AND attribute_not_exists(z) AND attribute_type(e, :g) AND begins_with(e, :a) OR a "
    "<> :f",
    "SET a = a + :b, z = if_not_exists(#b, :b) - :b, c = list_append(c, :c), b.c[1].d = :a REMOVE e ADD d :d "
    "DELETE x :e",
    "a, b.c[1].d, c[0], #b",
    "a = :a AND b BETWEEN :b AND :b",
};

TEST(HostileText, EveryTruncationIsAnswered) {
  Outcomes outcomes;
  for (std::string_view text : kValid) {
    for (size_t length = 0; length <= text.size(); ++length) {
      Try(text.substr(0, length), &outcomes);
      Try(text.substr(text.size() - length), &outcomes);
      // The text without one byte in the middle.
      if (length < text.size()) Try(std::string(text).erase(length, 1), &outcomes);
    }
  }
  EXPECT_GT(outcomes.accepted, 20);
  EXPECT_GT(outcomes.refused, 1'000);
}

TEST(HostileText, TokenSoupIsAnswered) {
  constexpr std::string_view kTokens[] = {"a",
                                          "b",
                                          "#a",
                                          "#b",
                                          ":a",
                                          ":b",
                                          ":c",
                                          ":d",
                                          "[0]",
                                          "[1]",
                                          ".",
                                          "(",
                                          ")",
                                          ",",
                                          "=",
                                          "<>",
                                          "<",
                                          ">=",
                                          "+",
                                          "-",
                                          "AND",
                                          "OR",
                                          "NOT",
                                          "IN",
                                          "BETWEEN",
                                          "SET",
                                          "REMOVE",
                                          "ADD",
                                          "DELETE",
                                          "size(",
                                          "contains(",
                                          "begins_with(",
                                          "attribute_exists(",
                                          "if_not_exists(",
                                          "list_append(",
                                          "7",
                                          "[",
                                          "]",
                                          "!"};
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  Outcomes outcomes;
  for (int i = 0; i < 30'000; ++i) {
    std::string text;
    if (Pick(random, 0, 3) == 0) text = "SET ";
    for (int64_t tokens = Pick(random, 1, 9); tokens > 0; --tokens) {
      text += kTokens[Pick(random, 0, std::size(kTokens) - 1)];
      if (Pick(random, 0, 1)) text += ' ';
    }
    Try(text, &outcomes);
  }
  EXPECT_GT(outcomes.accepted, 100);
}

TEST(HostileText, AnyBytesAreAnswered) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  Outcomes outcomes;
  for (int i = 0; i < 10'000; ++i) {
    std::string text(kValid[Pick(random, 0, std::size(kValid) - 1)]);
    for (int64_t changes = Pick(random, 1, 3); changes > 0; --changes) {
      text[Pick(random, 0, text.size() - 1)] = static_cast<char>(Pick(random, 0, 255));
    }
    Try(text, &outcomes);
  }
  EXPECT_GT(outcomes.refused, 5'000);
}

// Recursion and memory stay bounded for any text of 4,096 bytes.
TEST(HostileText, FullLengthRepetitionsAreAnswered) {
  Outcomes outcomes;
  for (std::string_view start : {"", "SET a = ", "REMOVE "}) {
    for (std::string_view unit : {"(",
                                  ")",
                                  "NOT ",
                                  "NOT(",
                                  "a=b AND ",
                                  "(a=b OR ",
                                  "a.",
                                  "a[0]",
                                  "a,",
                                  "#a",
                                  ":a",
                                  "size(",
                                  "contains(",
                                  "if_not_exists(a,",
                                  "list_append(c,",
                                  "list_append(",
                                  "if_not_exists(a,list_append(c,",
                                  "a IN (",
                                  "a IN (b,",
                                  "a BETWEEN b AND ",
                                  "a+",
                                  "-",
                                  "[",
                                  "SET a=b ",
                                  "\xff",
                                  "z,",
                                  ","}) {
      std::string text(start);
      while (text.size() + unit.size() <= kMaxExpressionBytes) text += unit;
      Try(text, &outcomes);
    }
  }
  EXPECT_GT(outcomes.refused, 100);
}

}  // namespace
}  // namespace itemdb::storage
