#include "storage/expressions/placeholders.h"

#include <gtest/gtest.h>

#include "storage/base/limits.h"
#include "tests/storage/expressions/notation.h"

namespace itemdb::storage {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string MakeError(Pairs names, Pairs values) {
  absl::Status status = Placeholders::Make(std::move(names), std::move(values)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(status), kReasonValidation);
  return MessageOf(status);
}

TEST(Placeholders, FindsWhatIsDefined) {
  Placeholders placeholders = MakePlaceholders({{"#b", "beta"}, {"#a", "alpha"}, {":1", "7.0"}});
  ASSERT_NE(placeholders.UseName("#a"), nullptr);
  EXPECT_EQ(*placeholders.UseName("#a"), "alpha");
  EXPECT_EQ(*placeholders.UseName("#b"), "beta");
  EXPECT_EQ(placeholders.UseName("#c"), nullptr);
  EXPECT_EQ(placeholders.UseName("a"), nullptr);
  EXPECT_EQ(placeholders.UseName(":1"), nullptr);
  // Values are converted to canonical form.
  EXPECT_EQ(Show(ValueView(*placeholders.UseValue(":1"))), "7");
  EXPECT_EQ(placeholders.UseValue(":2"), nullptr);
  Placeholders moved = std::move(placeholders);
  EXPECT_EQ(*moved.UseName("#b"), "beta");
}

// An unused placeholder is an error (SEM-024).
TEST(Placeholders, ReportsWhatWasNotUsed) {
  Placeholders placeholders = MakePlaceholders({{"#b", "b"}, {"#a", "a"}, {":w", "1"}, {":v", "1"}});
  EXPECT_EQ(MessageOf(placeholders.CheckAllUsed()),
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a, #b}");
  placeholders.UseName("#b");
  placeholders.UseName("#a");
  placeholders.UseValue(":v");
  EXPECT_EQ(MessageOf(placeholders.CheckAllUsed()),
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}");
  placeholders.UseValue(":w");
  EXPECT_TRUE(placeholders.CheckAllUsed().ok());
}

TEST(Placeholders, ListsNoMoreThanTenUnused) {
  PlaceholderTexts texts;
  for (char c = 'a'; c < 'a' + 12; ++c) texts.emplace_back(std::string(":") + c, "1");
  EXPECT_EQ(MessageOf(MakePlaceholders(texts).CheckAllUsed()),
            "Value provided in ExpressionAttributeValues unused in expressions: keys: "
            "{:a, :b, :c, :d, :e, :f, :g, :h, :i, :j, and 2 more}");
}

TEST(Placeholders, MayBeNone) {
  EXPECT_TRUE(Placeholders().CheckAllUsed().ok());
  EXPECT_TRUE(Placeholders().empty());
}

TEST(Placeholders, RefusesMalformedTokens) {
  for (std::string token : {"a", "", "#", "#a b", "#a.b", "#-", "##a", ":a", "#\xc3\xa4"}) {
    SCOPED_TRACE(token);
    EXPECT_EQ(MakeError({{token, "a"}}, {}),
              "ExpressionAttributeNames contains invalid key: Syntax error; key: \"" + token + "\"");
  }
  for (std::string token : {"v", ":", "#v", ":v-"}) {
    SCOPED_TRACE(token);
    EXPECT_EQ(MakeError({}, {{token, Value("1")}}),
              "ExpressionAttributeValues contains invalid key: Syntax error; key: \"" + token + "\"");
  }
}

TEST(Placeholders, RefusesBadNamesAndValues) {
  EXPECT_EQ(MakeError({{"#a", ""}}, {}),
            "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a");
  EXPECT_FALSE(Placeholders::Make({{"#a", std::string(kMaxAttributeNameBytes + 1, 'x')}}, {}).ok());
  EXPECT_TRUE(Placeholders::Make({{"#a", std::string(kMaxAttributeNameBytes, 'x')}}, {}).ok());
  std::string message = MakeError({}, {{":v", "\xff\xff"}});
  EXPECT_TRUE(message.starts_with("ExpressionAttributeValues contains invalid value: ")) << message;
  EXPECT_TRUE(message.ends_with(" for key :v")) << message;
  EXPECT_EQ(MakeError({{"#a", "x"}, {"#b", "y"}, {"#a", "z"}}, {}),
            "ExpressionAttributeNames contains a duplicate key: #a");
  EXPECT_EQ(MakeError({}, {{":a", Value("1")}, {":a", Value("1")}}),
            "ExpressionAttributeValues contains a duplicate key: :a");
}

// A token has at most 255 bytes, all names and values together 2 MiB (SEM-022).
TEST(Placeholders, LimitsTokensAndTotalBytes) {
  EXPECT_TRUE(Placeholders::Make({{"#" + std::string(kMaxPlaceholderBytes - 1, 'a'), "x"}}, {}).ok());
  EXPECT_FALSE(Placeholders::Make({{"#" + std::string(kMaxPlaceholderBytes, 'a'), "x"}}, {}).ok());
  std::string value = Value("'" + std::string(kMaxPlaceholderMapBytes - 6, 'x') + "'");
  // The token has 2 bytes.
  ASSERT_EQ(value.size(), kMaxPlaceholderMapBytes - 2);
  EXPECT_TRUE(Placeholders::Make({}, {{":v", value}}).ok());
  EXPECT_FALSE(Placeholders::Make({{"#a", "b"}}, {{":v", value}}).ok());
}

}  // namespace
}  // namespace itemdb::storage
