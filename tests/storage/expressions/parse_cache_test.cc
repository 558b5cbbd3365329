#include "storage/expressions/parse_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "storage/expressions/grammar.h"

namespace itemdb::storage {
namespace {

std::shared_ptr<const Tree> Parse(std::string_view text) {
  auto tree = std::make_shared<Tree>(text);
  EXPECT_TRUE(ParseConditionInto("ConditionExpression", tree.get()).ok());
  return tree;
}

TEST(ParseCache, KeepsTreesByKindAndText) {
  ParseCache cache;
  std::shared_ptr<const Tree> tree = Parse("a = b");
  EXPECT_EQ(cache.Find(ExpressionKind::kCondition, "a = b"), nullptr);
  cache.Insert(ExpressionKind::kCondition, tree);
  EXPECT_EQ(cache.Find(ExpressionKind::kCondition, "a = b"), tree);
  EXPECT_EQ(cache.Find(ExpressionKind::kCondition, "a  = b"), nullptr);
  EXPECT_EQ(cache.Find(ExpressionKind::kUpdate, "a = b"), nullptr);
  // The first inserted tree stays.
  cache.Insert(ExpressionKind::kCondition, Parse("a = b"));
  EXPECT_EQ(cache.Find(ExpressionKind::kCondition, "a = b"), tree);
  EXPECT_EQ(cache.size(), 1u);
}

TEST(ParseCache, IsBoundedAndForgetsTheLeastRecentlyUsed) {
  ParseCache cache;
  std::shared_ptr<const Tree> used = Parse("used = b");
  cache.Insert(ExpressionKind::kCondition, used);
  for (int i = 0; i < 20'000; ++i) {
    cache.Insert(ExpressionKind::kCondition, Parse("a" + std::to_string(i) + " = b"));
    ASSERT_EQ(cache.Find(ExpressionKind::kCondition, "used = b"), used);
  }
  EXPECT_EQ(cache.size(), ParseCache::kShards * ParseCache::kTreesPerShard);
  EXPECT_EQ(cache.Find(ExpressionKind::kCondition, "a0 = b"), nullptr);
  EXPECT_NE(cache.Find(ExpressionKind::kCondition, "a19999 = b"), nullptr);
}

TEST(ParseCache, DoesNotKeepLongTexts) {
  ParseCache cache;
  std::string text = "a = b";
  text.resize(ParseCache::kMaxTextBytes, ' ');
  cache.Insert(ExpressionKind::kCondition, Parse(text));
  EXPECT_EQ(cache.size(), 1u);
  text += ' ';
  cache.Insert(ExpressionKind::kCondition, Parse(text));
  EXPECT_EQ(cache.size(), 1u);
}

// For ThreadSanitizer: several threads find, insert and evict the same texts.
TEST(ParseCache, ServesThreads) {
  ParseCache cache;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache] {
      for (int i = 0; i < 3'000; ++i) {
        std::string text = "a" + std::to_string(i * 7 % 2'000) + " = b";
        std::shared_ptr<const Tree> tree = cache.Find(ExpressionKind::kCondition, text);
        if (tree == nullptr) {
          cache.Insert(ExpressionKind::kCondition, Parse(text));
        } else {
          ASSERT_EQ(tree->text, text);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.size(), ParseCache::kShards * ParseCache::kTreesPerShard);
}

// The memory bound that parse_cache.h states, for the densest texts, with several nodes per token.
TEST(ParseCache, TreesTakeFewBytesPerByteOfText) {
  for (std::string_view unit : {"a=b OR ", "(a=b)OR ", "contains(a,b)OR ", "a.b.c.d.e.f=b OR ",
                                "a[1][2][3][4]=b OR ", "a IN(b,c,d,e,f,g)OR ", "NOT a=b OR ", "#a=:b OR "}) {
    std::string text;
    while (text.size() + unit.size() + 3 <= ParseCache::kMaxTextBytes) text += unit;
    text += "a=b";
    std::shared_ptr<const Tree> tree = Parse(text);
    size_t bytes =
        sizeof(Tree) + tree->text.capacity() + tree->aliases.capacity() * sizeof(std::string_view) +
        tree->values.capacity() * sizeof(std::string_view) +
        tree->segments.capacity() * sizeof(SegmentSyntax) + tree->paths.capacity() * sizeof(PathSyntax) +
        tree->operands.capacity() * sizeof(OperandSyntax) +
        tree->conditions.capacity() * sizeof(ConditionSyntax) + tree->links.capacity() * sizeof(uint32_t) +
        tree->actions.capacity() * sizeof(ActionSyntax);
    EXPECT_LE(bytes, 30 * ParseCache::kMaxTextBytes) << unit << " " << bytes;
  }
}

}  // namespace
}  // namespace itemdb::storage
