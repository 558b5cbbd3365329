// Expressions built in C++: their text and their placeholders. testing/fake_database_test.cc tests that the
// daemon understands them.
#include "itemdb/expression.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace itemdb {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// The text of `expression` with every placeholder replaced by the name in <> or by the text of the value.
std::string Readable(const ExpressionText& expression) {
  ExpressionAttributeNames names;
  ExpressionAttributeValues values;
  std::string text = expression.Write(names, &values);
  const auto replace = [&text](const std::string& what, const std::string& with) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what)) {
      text.replace(at, what.size(), with);
    }
  };
  for (const auto& [placeholder, name] : names) replace(placeholder, "<" + name + ">");
  for (const auto& [placeholder, value] : values) {
    replace(placeholder, value.number_or_null() != nullptr   ? value.number_or_null()->text()
                         : value.string_or_null() != nullptr ? "'" + *value.string_or_null() + "'"
                                                             : "?");
  }
  return text;
}

TEST(Expression, ConditionsReadAsTheyAreWritten) {
  struct Case {
    Condition condition;
    std::string expected;
  };
  const Case cases[] = {
      {Attr("a") == 1, "<a> = 1"},
      {Attr("a") != "x", "<a> <> 'x'"},
      {Attr("a") < 1, "<a> < 1"},
      {Attr("a") <= Number(1), "<a> <= 1"},
      {Attr("a") > Attr("b"), "<a> > <b>"},
      {Attr("a") >= std::string("x"), "<a> >= 'x'"},
      {Attr("a") == Attr("b"), "<a> = <b>"},
      {SizeOf(Attr("a")) > 3, "size(<a>) > 3"},
      {Attr("a.b")["c d"][2] == true, "<a.b>.<c d>[2] = ?"},
      {Attr("a").Exists(), "attribute_exists(<a>)"},
      {Attr("a").NotExists(), "attribute_not_exists(<a>)"},
      {Attr("a").HasType(ValueType::kNumberSet), "attribute_type(<a>, 'NS')"},
      {Attr("a").BeginsWith("x"), "begins_with(<a>, 'x')"},
      {Attr("a").Contains("x"), "contains(<a>, 'x')"},
      {Attr("a").Between(1, 2), "<a> BETWEEN 1 AND 2"},
      {Attr("a").In({1, "x"}), "<a> IN (1, 'x')"},
      {(Attr("a") == 1 || Attr("b") == 2) && !Attr("c").Exists(),
       "((<a> = 1) OR (<b> = 2)) AND (NOT (attribute_exists(<c>)))"},
  };
  for (const Case& c : cases) EXPECT_EQ(Readable(c.condition.text()), c.expected);
}

TEST(Expression, UpdatesGatherTheirClauses) {
  const Update update = Update()
                            .Add(Attr("visits"), 1)
                            .Set(Attr("a"), "x")
                            .Remove(Attr("b")[0])
                            .Set(Attr("n"), Attr("n") - 2)
                            .Set(Attr("m"), Plus(IfNotExists(Attr("m"), 0), 5))
                            .Set(Attr("l"), ListAppend(Attr("l"), Value::List({1})))
                            .Delete(Attr("s"), Value::StringSet({"x"}))
                            .Remove(Attr("c"));
  EXPECT_EQ(Readable(update.text()),
            "SET <a> = 'x', <n> = <n> - 2, <m> = if_not_exists(<m>, 0) + 5, <l> = list_append(<l>, ?) "
            "REMOVE <b>[0], <c> ADD <visits> 1 DELETE <s> ?");
  EXPECT_EQ(Readable(Update().text()), "");
}

TEST(Expression, KeyConditionsOfferWhatKeysAllow) {
  EXPECT_EQ(Readable((Key("p") == "x" && Key("s").Between(1, 2)).text()),
            "<p> = 'x' AND <s> BETWEEN 1 AND 2");
  EXPECT_EQ(Readable((Key("p") == 1 && Key("q") == 2 && Key("s").BeginsWith("x")).text()),
            "<p> = 1 AND <q> = 2 AND begins_with(<s>, 'x')");
  EXPECT_EQ(Readable((Key("s") <= 1).text()), "<s> <= 1");
}

TEST(Expression, ComposeFillsEveryFieldOfARequest) {
  const QueryRequest request =
      Compose(QueryRequest{.table_name = "t", .key_condition_expression = "replaced"}, Where(Key("p") == "x"),
              Filter(Attr("p") != "y"), Project({Attr("p"), Attr("q")}));
  EXPECT_EQ(request.key_condition_expression, "#n0 = :v0");
  EXPECT_EQ(request.filter_expression, "#n0 <> :v1");
  EXPECT_EQ(request.projection_expression, "#n0, #n1");
  EXPECT_THAT(request.expression_attribute_names, ElementsAre(Pair("#n0", "p"), Pair("#n1", "q")));
  EXPECT_THAT(request.expression_attribute_values,
              ElementsAre(Pair(":v0", Value("x")), Pair(":v1", Value("y"))));
}

TEST(Expression, PlaceholdersWrittenByHandAreKept) {
  const UpdateItemRequest request = Compose(UpdateItemRequest{.table_name = "t",
                                                              .key = {{"k", 1}},
                                                              .update_expression = "SET #n1 = :v1",
                                                              .expression_attribute_names = {{"#n1", "a"}},
                                                              .expression_attribute_values = {{":v1", 5}}},
                                            If(Attr("b") == 6));
  EXPECT_EQ(request.update_expression, "SET #n1 = :v1");
  EXPECT_EQ(request.condition_expression, "#n2 = :v2");
  EXPECT_EQ(request.expression_attribute_names.at("#n1"), "a");
  EXPECT_EQ(request.expression_attribute_names.at("#n2"), "b");
}

TEST(Expression, ComposesWithEveryRequestThatHasTheField) {
  EXPECT_EQ(Compose(PutItemRequest{}, If(Attr("k").NotExists())).condition_expression,
            "attribute_not_exists(#n0)");
  EXPECT_EQ(Compose(DeleteItemRequest{}, If(Attr("k") == 1)).condition_expression, "#n0 = :v0");
  EXPECT_EQ(Compose(GetItemRequest{}, Project({Attr("a")["b"]})).projection_expression, "#n0.#n1");
  EXPECT_EQ(Compose(ScanRequest{}, Filter(Attr("a") == 1)).filter_expression, "#n0 = :v0");
  EXPECT_EQ(Compose(TransactPut{}, If(Attr("a") == 1)).condition_expression, "#n0 = :v0");
  EXPECT_EQ(Compose(TransactUpdate{}, Update().Remove(Attr("a"))).update_expression, "REMOVE #n0");
  EXPECT_EQ(Compose(TransactDelete{}, If(Attr("a") == 1)).condition_expression, "#n0 = :v0");
  EXPECT_EQ(Compose(ConditionCheck{}, If(Attr("a") == 1)).condition_expression, "#n0 = :v0");
}

// A function of the name of a type would hide it.
TEST(Expression, HidesNoTypeOfRequests) {
  const Select select = Select::kCount;
  const ScanRequest request = {.table_name = "t", .select = select};
  EXPECT_EQ(request.select, Select::kCount);
}

}  // namespace
}  // namespace itemdb
