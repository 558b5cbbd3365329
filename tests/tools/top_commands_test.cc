#include "tools/commands/top_commands.h"

#include <gtest/gtest.h>

namespace itemdb::tools {
namespace {

AccessPattern Pattern(const char* table, const char* operation, int64_t calls, absl::Duration p99) {
  AccessPattern pattern;
  pattern.table_name = table;
  pattern.operation = operation;
  pattern.calls = calls;
  pattern.items_scanned = 2 * calls;
  pattern.p99 = p99;
  return pattern;
}

TEST(Top, ComparesTwoSamples) {
  TopSample before{.time = absl::FromUnixSeconds(100)};
  before.patterns = {Pattern("A", "GetItem", 100, absl::Microseconds(5)),
                     Pattern("A", "Scan", 7, absl::Seconds(1))};
  before.status.writes.committed = 10;
  TopSample now{.time = absl::FromUnixSeconds(102)};
  now.patterns = {Pattern("A", "GetItem", 120, absl::Microseconds(6)),
                  Pattern("A", "Scan", 7, absl::Seconds(1)),
                  Pattern("B", "GetItem", 100, absl::Microseconds(9))};
  now.status.writes.committed = 16;
  const TopFigures figures = Compare(before, now);
  EXPECT_DOUBLE_EQ(figures.calls_per_second, 60);
  EXPECT_DOUBLE_EQ(figures.writes_per_second, 3);
  ASSERT_EQ(figures.operations.size(), 1u) << "the scan was before";
  EXPECT_EQ(figures.operations[0].name, "GetItem");
  EXPECT_DOUBLE_EQ(figures.operations[0].calls_per_second, 60);
  EXPECT_DOUBLE_EQ(figures.operations[0].items_per_second, 120);
  EXPECT_EQ(figures.operations[0].p99, absl::Microseconds(9)) << "the highest";
  ASSERT_EQ(figures.tables.size(), 2u);
  EXPECT_EQ(figures.tables[0].name, "B") << "most calls first";
  EXPECT_EQ(figures.tables[1].name, "A");
}

// The counters begin again at 0.
TEST(Top, SurvivesARestartOfTheDaemon) {
  TopSample before{.time = absl::FromUnixSeconds(100)};
  before.patterns = {Pattern("A", "GetItem", 1'000, absl::Microseconds(5))};
  before.status.writes.committed = 1'000;
  TopSample now{.time = absl::FromUnixSeconds(101)};
  now.patterns = {Pattern("A", "GetItem", 10, absl::Microseconds(5))};
  now.status.writes.committed = 3;
  const TopFigures figures = Compare(before, now);
  EXPECT_DOUBLE_EQ(figures.calls_per_second, 10);
  EXPECT_DOUBLE_EQ(figures.writes_per_second, 0);
}

}  // namespace
}  // namespace itemdb::tools
