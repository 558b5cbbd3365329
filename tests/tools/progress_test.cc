#include "tools/cli/progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace itemdb::tools {
namespace {

TEST(ProgressLine, ShowsRateAndRemainingTimeWhenTheTotalIsKnown) {
  EXPECT_EQ(ProgressLine({.doing = "generating",
                          .unit = "items",
                          .done = 94'000,
                          .total = 200'000,
                          .elapsed = absl::Seconds(3)}),
            "generating  [=========>          ]  47%  94,000 of 200,000 items  31,333/s  3 s left");
  EXPECT_EQ(ProgressLine({.doing = "generating",
                          .unit = "items",
                          .done = 10,
                          .total = 1'000'000,
                          .elapsed = absl::Seconds(1)}),
            "generating  [>                   ]   0%  10 of 1,000,000 items  10/s  27 h 46 min left");
}

// More items than the total, because writes continue during a scan.
TEST(ProgressLine, StaysAtTheEndBeyondIt) {
  EXPECT_EQ(ProgressLine(
                {.doing = "reading", .unit = "items", .done = 12, .total = 10, .elapsed = absl::Seconds(2)}),
            "reading  [====================] 100%  12 of 10 items  6/s  0 s left");
}

TEST(ProgressLine, ShowsWhatIsKnown) {
  EXPECT_EQ(ProgressLine({.doing = "reading", .unit = "items", .done = 1'500, .elapsed = absl::Seconds(75)}),
            "reading  1,500 items  20/s  1 min 15 s");
  EXPECT_EQ(ProgressLine({.doing = "checking the database", .elapsed = absl::Seconds(12)}),
            "checking the database  12 s");
  EXPECT_EQ(ProgressLine({.doing = "reading", .unit = "items", .total = 10}),
            "reading  [>                   ]   0%  0 of 10 items  0/s");
}

TEST(Progress, IsSilentWhenTheWorkIsShort) {
  std::ostringstream terminal;
  {
    Progress progress(&terminal, {.doing = "reading", .unit = "items"});
    progress.Add(5);
  }
  EXPECT_EQ(terminal.str(), "");
  Progress nowhere(nullptr, {.doing = "reading"});
  nowhere.Set(7);
  nowhere.Finish();
}

// The line would be drawn again below itself if it were wider than the terminal.
TEST(ProgressLine, FitsAnyWidth) {
  const ProgressFigures figures{
      .doing = "generating", .unit = "items", .done = 94'000, .total = 200'000, .elapsed = absl::Seconds(3)};
  const std::string whole = ProgressLine(figures);
  EXPECT_EQ(ProgressLine(figures, whole.size()), whole);
  EXPECT_EQ(ProgressLine(figures, 60), "generating  47%  94,000 of 200,000 items  31,333/s  3 s left");
  EXPECT_EQ(ProgressLine(figures, 59), "generating  47%  94,000 of 200,000 items  31,333/s");
  EXPECT_EQ(ProgressLine(figures, 40), "generating  47%  94,000 of 200,000 items");
  EXPECT_EQ(ProgressLine(figures, 39), "generating  47%") << "no number is cut";
  EXPECT_EQ(ProgressLine(figures, 14), "generating");
  EXPECT_EQ(ProgressLine(figures, 10), "generating");
  EXPECT_EQ(
      ProgressLine({.doing = "reading", .unit = "items", .done = 94'000, .elapsed = absl::Seconds(3)}, 14),
      "reading");
  EXPECT_EQ(ProgressLine({.doing = "checking the database", .elapsed = absl::Seconds(1)}, 8), "checking");
}

TEST(WithSeparators, GroupsThousands) {
  EXPECT_EQ(WithSeparators(0), "0");
  EXPECT_EQ(WithSeparators(999), "999");
  EXPECT_EQ(WithSeparators(1'000), "1,000");
  EXPECT_EQ(WithSeparators(-1'234'567), "-1,234,567");
}

}  // namespace
}  // namespace itemdb::tools
