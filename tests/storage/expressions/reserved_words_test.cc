// Reserved words in any case are refused in every segment of a path, in every kind of expression (SEM-023).
#include "common/reserved_words.h"

#include "gmock/gmock.h"
#include "storage/expressions/parser.h"

namespace itemdb::storage {
namespace {

using common::IsReservedWord;
using ::testing::HasSubstr;

TEST(ReservedWords, IgnoreCaseAndMatchWhole) {
  for (const char* word : {"ABORT", "zone", "Status", "localtimestamp", "TtL", "data"})
    EXPECT_TRUE(IsReservedWord(word)) << word;
  for (const char* word : {"", "statuses", "stat", "pk", "zone_", "localtimestamps", "d\xC3\xA4ta"})
    EXPECT_FALSE(IsReservedWord(word)) << word;
}

TEST(ReservedWords, AreRefusedBareInEverySegment) {
  struct Case {
    ExpressionKind kind;
    const char* text;
    const char* word;
  };
  for (const Case& c : {Case{ExpressionKind::kCondition, "status = :v", "status"},
                        {ExpressionKind::kCondition, "a.Name = :v", "Name"},
                        {ExpressionKind::kCondition, "a[0].b.DATE < :v", "DATE"},
                        {ExpressionKind::kCondition, "begins_with(year, :v)", "year"},
                        {ExpressionKind::kUpdate, "SET a = if_not_exists(user, :v)", "user"},
                        {ExpressionKind::kUpdate, "REMOVE ttl", "ttl"},
                        {ExpressionKind::kProjection, "a, b.items", "items"}}) {
    SCOPED_TRACE(c.text);
    auto parsed = ParseExpression(c.kind, "Expression", c.text);
    ASSERT_FALSE(parsed.ok());
    EXPECT_THAT(std::string(parsed.status().message()),
                HasSubstr(std::string("Attribute name is a reserved keyword; reserved keyword: ") + c.word));
  }
}

TEST(ReservedWords, AreAllowedBehindAnAliasAndInsideLongerNames) {
  EXPECT_TRUE(
      ParseExpression(ExpressionKind::kCondition, "Expression", "#status = :status AND status_code = :v")
          .ok());
}

}  // namespace
}  // namespace itemdb::storage
