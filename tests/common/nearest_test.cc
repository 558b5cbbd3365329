#include "common/nearest.h"

#include <gtest/gtest.h>

namespace itemdb::common {
namespace {

TEST(Nearest, FindsMistypedNames) {
  struct Row {
    std::string text;
    std::vector<std::string> candidates;
    std::string nearest;
  };
  const Row rows[] = {
      {"tabel", {"item", "table"}, "table"},    // Two swapped letters are one difference.
      {"ordr", {"Order", "Product"}, "Order"},  // Case is ignored.
      {"describ", {"delete", "describe"}, "describe"},
      {"desc", {"delete", "describe"}, "describe"},  // A prefix of the candidate.
      {"--limti", {"--limit", "--index"}, "--limit"},
      {"zebra", {"table", "item"}, ""},
      {"x", {"y"}, ""},
      {"", {"y"}, ""},
      {"jsn", {"json", "jsonl"}, "json"},
      {"log_level", {"log-format", "log-level"}, "log-level"},
      {"cert", {"memory", "tls-cert"}, "tls-cert"},  // The end of the candidate.
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(Nearest(row.text, row.candidates), row.nearest);
  }
  EXPECT_EQ(Nearest(std::string(100'000, 'a'), {std::string(100'000, 'b')}), "");
}

TEST(Nearest, IsPutAfterAMessage) {
  EXPECT_EQ(DidYouMean("tabel", {"table"}), "; did you mean \"table\"?");
  EXPECT_EQ(DidYouMean("zebra", {"table"}), "");
}

}  // namespace
}  // namespace itemdb::common
