#include "tools/base/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace itemdb::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SplitWords, ReadsQuotesAsAShellDoes) {
  EXPECT_THAT(SplitWords("item get T '{\"id\": \"a b\"}'").words,
              ElementsAre("item", "get", "T", "{\"id\": \"a b\"}"));
  EXPECT_THAT(SplitWords(R"("a \"b\" \n" c\ d 'e\f' '')").words,
              ElementsAre(R"(a "b" \n)", "c d", "e\\f", ""));
  EXPECT_THAT(SplitWords("a'b'\"c\"").words, ElementsAre("abc"));
  EXPECT_THAT(SplitWords("  \t ").words, IsEmpty());
  EXPECT_THAT(SplitWords("").words, IsEmpty());
}

TEST(SplitWords, LeavesCommentsOut) {
  EXPECT_THAT(SplitWords("table list # all\nscan T").words, ElementsAre("table", "list", "scan", "T"));
  EXPECT_THAT(SplitWords("# nothing").words, IsEmpty());
  EXPECT_THAT(SplitWords("a#b '#c'").words, ElementsAre("a#b", "#c"));
}

TEST(SplitWords, SaysHowTheLineEnds) {
  EXPECT_TRUE(SplitWords("scan 'a b").unfinished);
  EXPECT_THAT(SplitWords("scan 'a b").words, ElementsAre("scan", "a b"));
  EXPECT_TRUE(SplitWords("scan \\").unfinished);
  EXPECT_FALSE(SplitWords("scan 'a'").unfinished);
  EXPECT_TRUE(SplitWords("scan").at_word);
  EXPECT_FALSE(SplitWords("scan ").at_word);
}

}  // namespace
}  // namespace itemdb::tools
