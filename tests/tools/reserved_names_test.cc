#include "tools/cli/reserved_names.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

TEST(AliasReservedWords, AliasesOnlyReservedNames) {
  const struct {
    const char* expression;
    const char* aliased;
  } rows[] = {
      {"status = :status AND amount > :t", "#status = :status AND amount > :t"},
      {"NOT contains(name, :n) or Year IN (:a, :b)", "NOT contains(#name, :n) or #Year IN (:a, :b)"},
      {"SET info.status = if_not_exists(data, :d) REMOVE user[0]",
       "SET info.#status = if_not_exists(#data, :d) REMOVE #user[0]"},
      {"#status = :s", "#status = :s"},
      {"size(items) > :s AND begins_with (order_id, :p)", "size(#items) > :s AND begins_with (order_id, :p)"},
      {"", ""},
  };
  for (const auto& row : rows) {
    ExpressionAttributeNames names;
    std::string expression = row.expression;
    AliasReservedWords(expression, names);
    EXPECT_EQ(expression, row.aliased);
    for (const auto& [alias, name] : names) EXPECT_EQ(alias, "#" + name);
  }
}

TEST(AliasReservedWords, KeepsAliasesOfTheUser) {
  ExpressionAttributeNames names = {{"#status", "something else"}, {"#name", "name"}};
  std::string expression = "status = :s AND name = :n AND #status = :t";
  AliasReservedWords(expression, names);
  EXPECT_EQ(expression, "#status2 = :s AND #name = :n AND #status = :t");
  EXPECT_EQ(names, (ExpressionAttributeNames{
                       {"#name", "name"}, {"#status", "something else"}, {"#status2", "status"}}));
}

using ReservedNames = ItemctlTest;

TEST_F(ReservedNames, AreAliasedInEveryExpressionOfARequest) {
  daemon_.scan = [](const v1::ScanRequest& request, v1::ScanReply*) {
    EXPECT_EQ(request.filter_expression(), "#status = :s");
    EXPECT_EQ(request.projection_expression(), "id, #year");
    EXPECT_EQ(request.expression_attribute_names().at("#year"), "year");
    EXPECT_EQ(request.expression_attribute_names_size(), 2);
    return grpc::Status::OK;
  };
  EXPECT_EQ(
      Call({"scan", "T", "--filter", "status = :s", "--values", R"({":s": 1})", "--projection", "id, year"})
          .exit_code,
      0);
  daemon_.update_item = [](const v1::UpdateItemRequest& request, v1::UpdateItemReply* reply) {
    EXPECT_EQ(request.update_expression(), "ADD #count :n");
    EXPECT_EQ(request.condition_expression(), "attribute_exists(#name)");
    reply->mutable_result();
    return grpc::Status::OK;
  };
  EXPECT_EQ(Call({"item", "update", "T", R"({"id": "a"})", "--update", "ADD count :n", "--condition",
                  "attribute_exists(name)", "--values", R"({":n": 1})"})
                .exit_code,
            0);
}

}  // namespace
}  // namespace itemdb::tools
