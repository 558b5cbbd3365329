#include "tools/model/read_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace itemdb::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(FixedAttributes, AreThoseThatEqualOneValueInEveryItemOfTheAnswer) {
  const ExpressionAttributeNames names = {{"#s", "status"}};
  using Names = std::set<std::string>;
  EXPECT_EQ(FixedAttributes("a = :a", names), Names{"a"});
  EXPECT_EQ(FixedAttributes("(:a=a) AND (#s = :s and b > :b)", names), (Names{"a", "status"}));
  EXPECT_EQ(FixedAttributes("a BETWEEN :b AND :c AND d = :d", names), Names{"d"});
  EXPECT_EQ(FixedAttributes("a = :a AND (b = :b OR c = :c) AND NOT d = :d", names), Names{"a"});
  EXPECT_EQ(FixedAttributes("((a = :a) AND (b BETWEEN :b AND :c)) AND ((d = :d))", names), (Names{"a", "d"}));
  for (const char* nothing :
       {"", "a = :a OR b = :b", "NOT a = :a", "a <> :a", "a >= :a", "a <= :a", "a = b", "m.a = :a",
        "l[0] = :a", "size(a) = :a", "contains(a, :a)", "= = (", "attribute_exists(a)"}) {
    EXPECT_EQ(FixedAttributes(nothing, names), Names()) << nothing;
  }
}

TableDefinition Orders() {
  return {.table_name = "Order",
          .key_schema = {{"customer", KeyType::kHash}, {"number", KeyType::kRange}},
          .global_secondary_indexes = {{.index_name = "ByShardDay",
                                        .key_schema = {{"shard", KeyType::kHash},
                                                       {"day", KeyType::kHash},
                                                       {"number", KeyType::kRange}}}},
          .local_secondary_indexes = {
              {.index_name = "ByStatus",
               .key_schema = {{"customer", KeyType::kHash}, {"status", KeyType::kRange}}}}};
}

TEST(ReadAdvice, AScanThatCouldBeAQueryIsTold) {
  EXPECT_THAT(
      AdviceFor({.filter_expression = "customer = :c AND total > :t", .scanned_count = 10, .count = 5},
                Orders()),
      ElementsAre(
          "the filter fixes customer, the partition key of the table; a query reads only that: itemctl query "
          "Order --key-condition 'customer = :c' --filter 'total > :t'"));
  EXPECT_THAT(
      AdviceFor({.filter_expression = "day = :d AND shard = :s", .scanned_count = 10, .count = 5}, Orders()),
      ElementsAre(
          "the filter fixes shard, day, the partition key of the index ByShardDay; a query reads only that: "
          "itemctl query Order --index ByShardDay --key-condition 'day = :d AND shard = :s'"));
  EXPECT_THAT(AdviceFor({.filter_expression = "day = :d", .scanned_count = 10, .count = 5}, Orders()),
              IsEmpty())
      << "half a partition key is none";
}

// What is pasted must run: with the values, with quotes for the shell, and with the rest of the filter.
TEST(ReadAdvice, TheCommandHasTheValuesAndTheRestOfTheFilter) {
  EXPECT_THAT(
      AdviceFor({.filter_expression =
                     "#c=:c AND number BETWEEN :a AND :b AND (total>=:t) AND begins_with(note, :n)",
                 .expression_attribute_names = {{"#c", "customer"}, {"#unused", "x"}},
                 .expression_attribute_values = {{":c", "O'Neil"},
                                                 {":a", 1},
                                                 {":b", 9},
                                                 {":t", 2},
                                                 {":n", Value::Binary("x")},
                                                 {":unused", 1}},
                 .scanned_count = 10,
                 .count = 5},
                Orders()),
      ElementsAre(HasSubstr(
          R"(itemctl query Order --key-condition '#c = :c AND number BETWEEN :a AND :b' )"
          R"(--filter 'total >= :t AND begins_with(note, :n)' --names '{"#c": "customer"}' )"
          R"(--values '{":a": {"N": "1"}, ":b": {"N": "9"}, ":c": {"S": "O'\''Neil"}, ":n": {"B": "eA=="}, ":t": {"N": "2"}}')")));
}

TEST(ReadAdvice, AnIndexThatWouldAnswerAQueryIsTold) {
  EXPECT_THAT(AdviceFor({.is_query = true,
                         .filter_expression = "#s = :s",
                         .expression_attribute_names = {{"#s", "status"}},
                         .scanned_count = 10,
                         .count = 5},
                        Orders()),
              ElementsAre("the filter fixes status, the sort key of the local index ByStatus: with --index "
                          "ByStatus it can be part of the key condition"));
  EXPECT_THAT(AdviceFor({.is_query = true,
                         .index_name = "ByShardDay",
                         .filter_expression = "customer = :c",
                         .scanned_count = 10,
                         .count = 5},
                        Orders()),
              ElementsAre(HasSubstr("the partition key of the table")));
  EXPECT_THAT(AdviceFor({.is_query = true, .scanned_count = 10, .count = 10}, Orders()), IsEmpty());
}

TEST(ReadAdvice, AFilterThatThrowsMostAwayIsTold) {
  EXPECT_THAT(AdviceFor({.filter_expression = "color = :c", .scanned_count = 100, .count = 49}, Orders()),
              ElementsAre("the filter discarded 51 of 100 items read; a query of an "
                          "index with the partition key color would read only the others"));
  EXPECT_THAT(AdviceFor({.filter_expression = "color > :c", .scanned_count = 100, .count = 1}, Orders()),
              ElementsAre("the filter discarded 99 of 100 items read"));
  EXPECT_THAT(AdviceFor({.filter_expression = "color = :c", .scanned_count = 100, .count = 50}, Orders()),
              IsEmpty());
}

TEST(ReadAdvice, ItemsFetchedFromTheTableAreTold) {
  EXPECT_THAT(
      AdviceFor(
          {.is_query = true, .index_name = "ByStatus", .scanned_count = 7, .count = 7, .base_items_read = 7},
          Orders()),
      ElementsAre(HasSubstr("7 items were read from the table")));
}

}  // namespace
}  // namespace itemdb::tools
