// The rate limit of bulk puts (BLK-11).
#include "storage/bulk_puts/write_pace.h"

#include "gtest/gtest.h"

namespace itemdb::storage {
namespace {

using std::chrono::milliseconds;
using Time = WritePace::Clock::time_point;

const Time kStart = Time() + std::chrono::hours(1);

TEST(WritePace, NoLimitMeansNoWaiting) {
  WritePace pace(0);
  EXPECT_EQ(pace.Charge(1e9, kStart), kStart);
  EXPECT_FALSE(pace.has_limit());
}

TEST(WritePace, EachChargeMovesTheNextOneByItsUnits) {
  WritePace pace(1'000);
  EXPECT_EQ(pace.Charge(500, kStart), kStart + milliseconds(500));
  EXPECT_EQ(pace.Charge(250, kStart + milliseconds(500)), kStart + milliseconds(750));
  // A commit that took longer than its units may: the time is not made up for.
  EXPECT_EQ(pace.Charge(100, kStart + milliseconds(5'000)), kStart + milliseconds(5'100));
  // One that comes too early waits for the ones before it too.
  EXPECT_EQ(pace.Charge(100, kStart + milliseconds(5'000)), kStart + milliseconds(5'200));
}

TEST(WritePace, ACommitTakesAFractionOfASecond) { EXPECT_EQ(WritePace(1'600).units_at_once(), 100); }

}  // namespace
}  // namespace itemdb::storage
