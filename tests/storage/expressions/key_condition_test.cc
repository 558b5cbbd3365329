// Which encoded keys a key condition selects (EXP-08, EXP-21, EXP-22, SEM-006, SEM-080, SEM-081).
#include "storage/expressions/key_condition.h"

#include <gtest/gtest.h>

#include "storage/base/limits.h"
#include "storage/keys/key_codec.h"
#include "tests/storage/expressions/notation.h"

namespace itemdb::storage {
namespace {

const std::vector<KeyAttribute> kPk = {{"pk", ValueType::kS}};
const std::vector<KeyAttribute> kSk = {{"sk", ValueType::kS}};
const std::vector<KeyAttribute> kNumber = {{"sk", ValueType::kN}};
const std::vector<KeyAttribute> kBinary = {{"sk", ValueType::kB}};
const std::vector<KeyAttribute> kTwo = {{"a", ValueType::kS}, {"b", ValueType::kN}};
const std::vector<KeyAttribute> kThree = {{"x", ValueType::kS}, {"y", ValueType::kN}, {"z", ValueType::kB}};

const PlaceholderTexts kKeyPlaceholders = {
    {"#pk", "pk"},   {"#n", "x.y"},    {":p", "'p'"},  {":a", "'a'"},   {":b", "'b'"},
    {":ab", "'ab'"}, {":1", "1"},      {":2", "2.0"},  {":n1", "-1"},   {":e", "''"},
    {":be", "b''"},  {":bin", "b'x'"}, {":t", "true"}, {":l", "['a']"}, {":ffff", "b'\xff\xff'"}};

std::string Encode(std::initializer_list<std::string_view> values) {
  std::string key;
  for (std::string_view notation : values) {
    std::string value = Value(notation);
    AppendKeyValue(ValueView(value), &key);
  }
  return key;
}

absl::StatusOr<KeyConditionRange> Select(std::string_view text, Placeholders& placeholders,
                                         const std::vector<KeyAttribute>& partition,
                                         const std::vector<KeyAttribute>& sort) {
  absl::StatusOr<KeyCondition> condition = KeyCondition::Compile(text, placeholders);
  if (!condition.ok()) return condition.status();
  return condition->Select(partition, sort);
}

absl::StatusOr<KeyConditionRange> Compile(std::string_view text, const std::vector<KeyAttribute>& partition,
                                          const std::vector<KeyAttribute>& sort) {
  Placeholders placeholders = MakePlaceholders(kKeyPlaceholders);
  return Select(text, placeholders, partition, sort);
}

bool InRange(const KeyRange& range, const std::string& key) {
  return key >= range.lower && (range.upper.empty() || key < range.upper);
}

// A key of a table, or of an index with the base key after it.
using Key = std::vector<std::string_view>;

// The keys that a condition selects, from `keys` in ascending order; shown as "p a".
std::string Selected(std::string_view text, const std::vector<KeyAttribute>& partition,
                     const std::vector<KeyAttribute>& sort, const std::vector<Key>& keys) {
  absl::StatusOr<KeyConditionRange> compiled = Compile(text, partition, sort);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return "";
  std::string selected, previous;
  for (const Key& key : keys) {
    std::string encoded;
    for (std::string_view value : key) encoded += Encode({value});
    EXPECT_LT(previous, encoded) << "the test's keys are out of order";
    previous = encoded;
    for (bool index : {false, true}) {
      // An index key continues with the key attributes of the base table.
      std::string full = index ? encoded + Encode({"'base'", "1"}) : encoded;
      bool in_range = InRange(compiled->range, full);
      if (in_range) {
        EXPECT_TRUE(full.starts_with(compiled->prefix));
      }
      if (index) {
        EXPECT_EQ(in_range, InRange(compiled->range, encoded));
      } else if (in_range) {
        for (std::string_view value : key) selected += std::string(value) + " ";
        selected += "| ";
      }
    }
  }
  return selected;
}

struct KeyRow {
  std::string_view text;
  std::string_view selected;
};

TEST(KeyCondition, SelectsByStringSortKey) {
  const std::vector<Key> keys = {{"'o'", "'b'"},  {"'p'", "'A'"},   {"'p'", "'a'"}, {"'p'", "'aa'"},
                                 {"'p'", "'ab'"}, {"'p'", "'abc'"}, {"'p'", "'b'"}, {"'p'", "'ba'"},
                                 {"'p'", "'c'"},  {"'pp'", "'a'"}};
  const KeyRow rows[] = {
      {"pk = :p", "'p' 'A' | 'p' 'a' | 'p' 'aa' | 'p' 'ab' | 'p' 'abc' | 'p' 'b' | 'p' 'ba' | 'p' 'c' | "},
      {"pk = :p AND sk = :ab", "'p' 'ab' | "},
      {"pk = :p AND sk < :ab", "'p' 'A' | 'p' 'a' | 'p' 'aa' | "},
      {"pk = :p AND sk <= :ab", "'p' 'A' | 'p' 'a' | 'p' 'aa' | 'p' 'ab' | "},
      {"pk = :p AND sk > :ab", "'p' 'abc' | 'p' 'b' | 'p' 'ba' | 'p' 'c' | "},
      {"pk = :p AND sk >= :ab", "'p' 'ab' | 'p' 'abc' | 'p' 'b' | 'p' 'ba' | 'p' 'c' | "},
      {"pk = :p AND sk BETWEEN :ab AND :b", "'p' 'ab' | 'p' 'abc' | 'p' 'b' | "},
      {"pk = :p AND sk BETWEEN :ab AND :ab", "'p' 'ab' | "},
      {"pk = :p AND begins_with(sk, :ab)", "'p' 'ab' | 'p' 'abc' | "},
      {"pk = :p AND begins_with(sk, :a)", "'p' 'a' | 'p' 'aa' | 'p' 'ab' | 'p' 'abc' | "},
      // Conditions and operands in any order, parentheses, aliases (EXP-21).
      {"sk = :b AND #pk = :p", "'p' 'b' | "},
      {":p = pk AND :ab < sk", "'p' 'abc' | 'p' 'b' | 'p' 'ba' | 'p' 'c' | "},
      {":p = pk AND :ab >= sk", "'p' 'A' | 'p' 'a' | 'p' 'aa' | 'p' 'ab' | "},
      {"(pk = :p) AND (sk = :b)", "'p' 'b' | "},
      {"(pk = :p AND (sk) > (:b))", "'p' 'ba' | 'p' 'c' | "},
  };
  for (const KeyRow& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(Selected(row.text, kPk, kSk, keys), row.selected);
  }
}

TEST(KeyCondition, SelectsByNumberAndBinarySortKey) {
  const std::vector<Key> numbers = {{"'p'", "-10"}, {"'p'", "-1"}, {"'p'", "0"},
                                    {"'p'", "1"},   {"'p'", "2"},  {"'p'", "10"}};
  for (const KeyRow& row : {KeyRow{"pk = :p AND sk > :n1", "'p' 0 | 'p' 1 | 'p' 2 | 'p' 10 | "},
                            KeyRow{"pk = :p AND sk <= :2", "'p' -10 | 'p' -1 | 'p' 0 | 'p' 1 | 'p' 2 | "},
                            KeyRow{"pk = :p AND sk BETWEEN :n1 AND :1", "'p' -1 | 'p' 0 | 'p' 1 | "},
                            KeyRow{"pk = :p AND sk = :2", "'p' 2 | "}}) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(Selected(row.text, kPk, kNumber, numbers), row.selected);
  }
  const std::vector<Key> binaries = {
      {"'p'", "b'x'"}, {"'p'", "b'\xff'"}, {"'p'", "b'\xff\xff'"}, {"'p'", "b'\xff\xff\xff'"}};
  EXPECT_EQ(Selected("pk = :p AND begins_with(sk, :ffff)", kPk, kBinary, binaries),
            "'p' b'\xff\xff' | 'p' b'\xff\xff\xff' | ");
  EXPECT_EQ(Selected("pk = :p AND sk > :ffff", kPk, kBinary, binaries), "'p' b'\xff\xff\xff' | ");
}

TEST(KeyCondition, SelectsByPartitionKeyAlone) {
  EXPECT_EQ(Selected("pk = :p", kPk, {}, {{"'o'"}, {"'p'"}, {"'pa'"}}), "'p' | ");
  EXPECT_EQ(Compile("pk = :p", kPk, kSk)->prefix, Encode({"'p'"}));
}

// Equality on every partition-key attribute, then sort-key attributes without a gap (SEM-080, SEM-081).
TEST(KeyCondition, SelectsBySeveralAttributes) {
  const std::vector<Key> keys = {{"'a'", "1", "'a'", "1", "b'x'"}, {"'a'", "2", "'a'", "1", "b'w'"},
                                 {"'a'", "2", "'a'", "1", "b'x'"}, {"'a'", "2", "'a'", "1", "b'y'"},
                                 {"'a'", "2", "'a'", "2", "b'x'"}, {"'a'", "2", "'ab'", "1", "b'x'"},
                                 {"'a'", "2", "'b'", "-1", "b'x'"}};
  const KeyRow rows[] = {
      {"b = :1 AND a = :a", "'a' 1 'a' 1 b'x' | "},
      {"a = :a AND b = :2 AND x = :ab", "'a' 2 'ab' 1 b'x' | "},
      {"a = :a AND b = :2 AND x < :b AND b = :2", ""},
      {"a = :a AND b = :2 AND begins_with(x, :a)",
       "'a' 2 'a' 1 b'w' | 'a' 2 'a' 1 b'x' | 'a' 2 'a' 1 b'y' | 'a' 2 'a' 2 b'x' | 'a' 2 'ab' 1 b'x' | "},
      {"a = :a AND b = :2 AND x <= :a",
       "'a' 2 'a' 1 b'w' | 'a' 2 'a' 1 b'x' | 'a' 2 'a' 1 b'y' | 'a' 2 'a' 2 b'x' | "},
      {"a = :a AND b = :2 AND x > :a", "'a' 2 'ab' 1 b'x' | 'a' 2 'b' -1 b'x' | "},
      {"y > :1 AND a = :a AND b = :2 AND x = :a", "'a' 2 'a' 2 b'x' | "},
      {"a = :a AND b = :2 AND x = :a AND y = :1 AND z >= :bin", "'a' 2 'a' 1 b'x' | 'a' 2 'a' 1 b'y' | "},
      {"a = :a AND b = :2 AND x = :a AND y = :1 AND z = :bin", "'a' 2 'a' 1 b'x' | "},
  };
  for (const KeyRow& row : rows) {
    SCOPED_TRACE(row.text);
    if (row.selected.empty()) {
      EXPECT_FALSE(Compile(row.text, kTwo, kThree).ok());
    } else {
      EXPECT_EQ(Selected(row.text, kTwo, kThree, keys), row.selected);
    }
  }
}

struct KeyRefusal {
  std::string_view text;
  std::string_view message;
};

void ExpectRefusals(const std::vector<KeyAttribute>& partition, const std::vector<KeyAttribute>& sort,
                    std::initializer_list<KeyRefusal> refusals) {
  for (const KeyRefusal& refusal : refusals) {
    SCOPED_TRACE(refusal.text);
    absl::Status status = Compile(refusal.text, partition, sort).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(ReasonOf(status), kReasonValidation);
    EXPECT_EQ(MessageOf(status), refusal.message);
  }
}

TEST(KeyCondition, RefusesOtherOperators) {
  ExpectRefusals(
      kPk, kSk,
      {
          {"pk = :p OR sk = :a", "Invalid operator used in KeyConditionExpression: OR"},
          {"NOT pk = :p", "Invalid operator used in KeyConditionExpression: NOT"},
          {"pk <> :p", "Invalid operator used in KeyConditionExpression: <>"},
          {"pk = :p AND sk <> :a", "Invalid operator used in KeyConditionExpression: <>"},
          {"pk = :p AND sk IN (:a)", "Invalid operator used in KeyConditionExpression: IN"},
          {"pk = :p AND contains(sk, :a)", "Invalid operator used in KeyConditionExpression: contains"},
          {"attribute_exists(pk)", "Invalid operator used in KeyConditionExpression: attribute_exists"},
          {"size(pk) = :1", "KeyConditionExpressions cannot contain nested operations"},
          {"pk = :p AND sk > size(a)", "KeyConditionExpressions cannot contain nested operations"},
          {"pk = sk",
           "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
          {":p = :a", "Invalid condition in KeyConditionExpression: No key attribute specified"},
          {"pk = :p AND begins_with(:ab, sk)",
           "Invalid condition in KeyConditionExpression: No key attribute specified"},
          {"pk = :p AND :a BETWEEN sk AND :b",
           "Invalid condition in KeyConditionExpression: No key attribute specified"},
          {"pk = :p AND sk BETWEEN :a AND pk",
           "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
          {"pk.x = :p", "KeyConditionExpressions cannot have conditions on nested attributes"},
          {"pk = :p AND sk[0] = :a", "KeyConditionExpressions cannot have conditions on nested attributes"},
          {"pk = :p AND pk = :p", "KeyConditionExpressions must only contain one condition per key"},
          {"pk = :p AND sk > :a AND sk < :b",
           "KeyConditionExpressions must only contain one condition per key"},
          {"pk > :p", "Query key condition not supported: partition key attribute pk allows only ="},
          {"begins_with(pk, :p)",
           "Query key condition not supported: partition key attribute pk allows only ="},
          {"pk = :p AND extra = :a",
           "Query key condition not supported: attribute extra is not in the key schema (pk, sk)"},
          {"pk = :p AND #n = :a",
           "Query key condition not supported: attribute x.y is not in the key schema (pk, sk)"},
          {"pk = :p sk = :a",
           "Invalid KeyConditionExpression: Syntax error; token: \"sk\", near: \":p sk =\""},
          {"pk = :nope",
           "Invalid KeyConditionExpression: An expression attribute value used in expression is not defined; "
           "attribute value: :nope"},
      });
}

TEST(KeyCondition, RefusesMissingKeyAttributes) {
  ExpectRefusals(kPk, kSk, {{"sk = :a", "Query condition missed key schema element: pk"}});
  ExpectRefusals(
      kTwo, kThree,
      {{"a = :a", "HASH key attributes a, b must have equality conditions specified in the query"},
       {"x = :a", "HASH key attributes a, b must have equality conditions specified in the query"},
       {"a = :a AND b = :1 AND y = :1",
        "RANGE key attributes x must have equality conditions specified in the query because a condition is "
        "present on key attribute y"},
       {"a = :a AND b = :1 AND x > :a AND y = :1",
        "RANGE key attributes x must have equality conditions specified in the query because a condition is "
        "present on key attribute y"},
       {"a = :a AND b = :1 AND x = :a AND z = :bin",
        "RANGE key attributes y must have equality conditions specified in the query because a condition is "
        "present on key attribute z"}});
}

TEST(KeyCondition, RefusesOperandsThatDoNotFit) {
  constexpr std::string_view kWrongType =
      "One or more parameter values were invalid: Condition parameter type does not match schema type; key: ";
  ExpectRefusals(
      kPk, kSk,
      {{"pk = :1", std::string(kWrongType) + "pk, expected: S, actual: N"},
       {"pk = :p AND sk > :1", std::string(kWrongType) + "sk, expected: S, actual: N"},
       {"pk = :p AND sk = :t", std::string(kWrongType) + "sk, expected: S, actual: BOOL"},
       {"pk = :p AND sk = :l", std::string(kWrongType) + "sk, expected: S, actual: L"},
       {"pk = :p AND begins_with(sk, :bin)", std::string(kWrongType) + "sk, expected: S, actual: B"},
       {"pk = :p AND sk BETWEEN :1 AND :2", std::string(kWrongType) + "sk, expected: S, actual: N"},
       {"pk = :p AND sk BETWEEN :a AND :1",
        "Invalid KeyConditionExpression: The BETWEEN operator requires same data type for lower and upper "
        "bounds; lower bound operand: AttributeValue: {S:a}, upper bound operand: AttributeValue: {N:1}"},
       {"pk = :p AND sk BETWEEN :t AND :l",
        "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or "
        "function: "
        "BETWEEN, operand type: BOOL"},
       {"pk = :p AND sk >= :l",
        "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or "
        "function: "
        ">=, operand type: L"},
       {"pk = :p AND sk BETWEEN :b AND :a",
        "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or "
        "equal to "
        "lower bound; lower bound operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: "
        "{S:a}"},
       // Checks that need no table come first; then clauses are checked in the order of the text (EXP-22).
       {"pk = :1 AND sk BETWEEN :a AND :1",
        "Invalid KeyConditionExpression: The BETWEEN operator requires same data type for lower and upper "
        "bounds; lower bound operand: AttributeValue: {S:a}, upper bound operand: AttributeValue: {N:1}"},
       {"sk = :1 AND pk = :2", std::string(kWrongType) + "sk, expected: S, actual: N"},
       {"pk = :2 AND sk = :1", std::string(kWrongType) + "pk, expected: S, actual: N"}});
  ExpectRefusals(kPk, kNumber,
                 {{"pk = :p AND begins_with(sk, :1)",
                   "Invalid KeyConditionExpression: Incorrect operand type for operator or function; "
                   "operator or function: "
                   "begins_with, operand type: N"}});
}

// The sizes of key values have limits (SEM-006); for several attributes their sum counts (SEM-084).
TEST(KeyCondition, ChecksSizesOfKeyValues) {
  constexpr std::string_view kEmpty =
      "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
      "empty ";
  ExpectRefusals(kPk, kSk,
                 {{"pk = :e", std::string(kEmpty) + "string value. Key: pk"},
                  {"pk = :p AND sk > :e", std::string(kEmpty) + "string value. Key: sk"},
                  {"pk = :p AND sk BETWEEN :e AND :a", std::string(kEmpty) + "string value. Key: sk"},
                  {"pk = :p AND begins_with(sk, :e)", std::string(kEmpty) + "string value. Key: sk"}});
  ExpectRefusals(kPk, kBinary, {{"pk = :p AND sk = :be", std::string(kEmpty) + "binary value. Key: sk"}});

  auto sized = [](std::string_view text, size_t partition_bytes, size_t sort_bytes) {
    auto quoted = [](size_t bytes) {
      return Show(ValueView(EncodeValue(ValueType::kS, std::string(bytes, 'x'))));
    };
    Placeholders placeholders = MakePlaceholders(
        {{":p", quoted(partition_bytes)}, {":s", quoted(sort_bytes)}, {":a", "'a'"}, {":1", "1"}});
    return MessageOf(Select(text, placeholders, kPk, kSk).status());
  };
  constexpr std::string_view kText = "pk = :p AND sk = :s";
  EXPECT_EQ(sized(kText, kMaxPartitionKeyBytes, kMaxSortKeyBytes), "");
  EXPECT_EQ(sized(kText, kMaxPartitionKeyBytes + 1, 1),
            "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit "
            "of2048 bytes");
  constexpr std::string_view kSortTooLong =
      "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size "
      "limit of 1024 "
      "bytes";
  EXPECT_EQ(sized(kText, 1, kMaxSortKeyBytes + 1), kSortTooLong);
  EXPECT_EQ(sized("pk = :p AND sk BETWEEN :a AND :s", 1, kMaxSortKeyBytes + 1), kSortTooLong);
  EXPECT_EQ(sized("pk = :p AND begins_with(sk, :s)", 1, kMaxSortKeyBytes + 1), kSortTooLong);

  // The sum of several attributes counts.
  auto summed = [](size_t bytes) {
    std::string text = Show(ValueView(EncodeValue(ValueType::kS, std::string(bytes, 'x'))));
    Placeholders placeholders = MakePlaceholders({{":a", text}, {":b", "1234"}});
    return Select("a = :a AND b = :b", placeholders, kTwo, {}).ok();
  };
  EXPECT_TRUE(summed(kMaxPartitionKeyBytes - 3));
  EXPECT_FALSE(summed(kMaxPartitionKeyBytes - 2));
}

}  // namespace
}  // namespace itemdb::storage
