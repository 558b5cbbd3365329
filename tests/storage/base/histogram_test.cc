#include "storage/base/histogram.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace itemdb::storage {
namespace {

using ::testing::ElementsAre;

constexpr std::array<uint64_t, 3> kTestBounds = {10, 20, 50};

TEST(Histogram, CountsAValueInTheFirstRangeWhoseBoundItDoesNotExceed) {
  Histogram<3> histogram(kTestBounds);
  for (uint64_t value : {0, 10, 11, 20, 21, 50, 51, 1'000'000}) histogram.Add(value);
  const HistogramCounts<3> counts = histogram.Copy();
  EXPECT_THAT(counts.in_range, ElementsAre(2, 2, 2, 2));
  EXPECT_EQ(counts.sum, 1'000'163u);
  EXPECT_EQ(counts.count(), 8u);
}

}  // namespace
}  // namespace itemdb::storage
