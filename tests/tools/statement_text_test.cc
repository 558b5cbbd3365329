#include "tools/base/statement_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace itemdb::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(IsStatementText, KnowsTheFirstWords) {
  for (const char* text : {"SELECT * FROM T", "  select 1", "INSERT INTO T VALUE {}", "update T",
                           "Delete\nFROM T", "EXISTS(SELECT * FROM T WHERE a = 1)", "SELECT"}) {
    EXPECT_TRUE(IsStatementText(text)) << text;
  }
  for (const char* text :
       {"", "  ", "scan T", "selected", "select-all", "updates T", "\\d", "table delete T"})
    EXPECT_FALSE(IsStatementText(text)) << text;
}

TEST(SplitStatements, SplitsAtSemicolonsOutsideQuotes) {
  const StatementTexts texts =
      SplitStatements("SELECT 'a;b' FROM T; ;\n UPDATE \"x;y\" SET a = 'it''s;'; rest ");
  EXPECT_THAT(texts.ended, ElementsAre("SELECT 'a;b' FROM T", "UPDATE \"x;y\" SET a = 'it''s;'"));
  EXPECT_EQ(texts.rest, "rest");
  EXPECT_THAT(SplitStatements("SELECT 'unfinished;").ended, IsEmpty());
  EXPECT_EQ(SplitStatements("SELECT 'unfinished;").rest, "SELECT 'unfinished;");
}

TEST(SplitStatements, LeavesCommentsOut) {
  const StatementTexts texts = SplitStatements("SELECT a -- ; no end here\nFROM T;-- the end");
  EXPECT_THAT(texts.ended, ElementsAre("SELECT a \nFROM T"));
  EXPECT_EQ(texts.rest, "");
}

TEST(WithQuotedTable, QuotesTheTableOnly) {
  const struct {
    const char* text;
    const char* quoted;
  } rows[] = {
      {"SELECT * FROM Order", "SELECT * FROM \"Order\""},
      {"select a from Order.ByDate where b = 'FROM x'", "select a from \"Order\".ByDate where b = 'FROM x'"},
      {"SELECT * FROM \"Order\".\"ByDate\"", "SELECT * FROM \"Order\".\"ByDate\""},
      {"INSERT INTO Order VALUE {'from': 'into x'}", "INSERT INTO \"Order\" VALUE {'from': 'into x'}"},
      {"UPDATE Order SET a = 1", "UPDATE \"Order\" SET a = 1"},
      {"DELETE FROM Order WHERE a = 1", "DELETE FROM \"Order\" WHERE a = 1"},
      {"EXISTS(SELECT * FROM Order WHERE a = 1)", "EXISTS(SELECT * FROM \"Order\" WHERE a = 1)"},
      {"SELECT * FROM", "SELECT * FROM"},
      {"", ""},
  };
  for (const auto& row : rows) EXPECT_EQ(WithQuotedTable(row.text), row.quoted);
}

TEST(TargetOfSelect, FindsTableIndexAndAttributes) {
  SelectTarget target = TargetOfSelect("SELECT id, \"order\" , n FROM \"T\".\"I\" WHERE a = 1");
  EXPECT_EQ(target.table_name, "T");
  EXPECT_EQ(target.index_name, "I");
  EXPECT_THAT(target.attributes, ElementsAre("id", "order", "n"));
  target = TargetOfSelect("select * from T");
  EXPECT_EQ(target.table_name, "T");
  EXPECT_EQ(target.index_name, "");
  EXPECT_THAT(target.attributes, IsEmpty());
  EXPECT_THAT(TargetOfSelect("SELECT m.a, b FROM T").attributes, IsEmpty()) << "a path";
  EXPECT_EQ(TargetOfSelect("UPDATE T SET a = 1").table_name, "");
  EXPECT_EQ(TargetOfSelect("SELECT *").table_name, "");
  EXPECT_EQ(TargetOfSelect("").table_name, "");
}

}  // namespace
}  // namespace itemdb::tools
