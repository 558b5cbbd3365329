// The time of day while the wall clock is set forward and back.
#include "storage/base/time_of_day.h"

#include "gtest/gtest.h"

namespace itemdb::storage {
namespace {

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kHour = 3'600 * kSecond;
constexpr int64_t kSettle = std::chrono::microseconds(TimeOfDay::kSettleTime).count();
constexpr int64_t kStart = 1'700'000'000 * kSecond;

class TimeOfDayTest : public ::testing::Test {
 protected:
  void Pass(int64_t us) {
    wall_us_ += us;
    boot_us_ += us;
  }
  // The time of day since kStart, in whole seconds.
  int64_t Seconds() { return (time_of_day_.NowMicros() - kStart) / kSecond; }
  int64_t SteadySeconds() const { return (time_of_day_.SteadyMicros() - kStart) / kSecond; }
  bool jumped() { return time_of_day_.Jump().count() != 0; }

  int64_t wall_us_ = kStart;
  int64_t boot_us_ = 7 * kSecond;
  TimeOfDay time_of_day_{{.wall_us = [this] { return wall_us_; }, .boot_us = [this] { return boot_us_; }}};
};

TEST_F(TimeOfDayTest, IsThatOfTheWallClock) {
  EXPECT_EQ(Seconds(), 0);
  Pass(kHour);
  EXPECT_EQ(Seconds(), 3'600);
  EXPECT_FALSE(jumped());
}

TEST_F(TimeOfDayTest, FollowsAClockThatIsCorrectedSlowly) {
  for (int i = 0; i < 100; ++i) {
    Pass(60 * kSecond);
    wall_us_ += kSecond;
    EXPECT_EQ(Seconds(), 61 * (i + 1));
    EXPECT_FALSE(jumped());
  }
  EXPECT_EQ(SteadySeconds(), 6'000);
}

TEST_F(TimeOfDayTest, GoesOnFromBeforeAJumpUntilItIsCorrected) {
  for (const int64_t jump : {kHour, -kHour}) {
    const int64_t before = Seconds();
    wall_us_ += jump;
    EXPECT_EQ(Seconds(), before);
    EXPECT_EQ(time_of_day_.Jump().count(), jump);
    Pass(kSettle - kSecond);
    EXPECT_EQ(Seconds(), before + 599);
    EXPECT_TRUE(jumped());
    wall_us_ -= jump;
    EXPECT_EQ(Seconds(), before + 599);
    EXPECT_FALSE(jumped());
  }
}

TEST_F(TimeOfDayTest, BelievesATimeThatTheClockKeeps) {
  wall_us_ += kHour;
  EXPECT_EQ(Seconds(), 0);
  Pass(kSettle);
  EXPECT_EQ(Seconds(), 3'600 + 600);
  EXPECT_FALSE(jumped());
  EXPECT_EQ(SteadySeconds(), 600);
}

TEST_F(TimeOfDayTest, TellsForHowLongItHasBeenAsBeforeAJump) {
  EXPECT_FALSE(time_of_day_.SteppedWithin(std::chrono::hours(1)));
  wall_us_ += kHour;
  Seconds();
  EXPECT_FALSE(time_of_day_.SteppedWithin(std::chrono::hours(1))) << "the jump is not believed yet";
  Pass(kSettle);
  EXPECT_TRUE(time_of_day_.SteppedWithin(std::chrono::seconds(1)));
  Pass(10 * kSecond);
  EXPECT_FALSE(time_of_day_.SteppedWithin(std::chrono::seconds(10)));
  EXPECT_TRUE(time_of_day_.SteppedWithin(std::chrono::seconds(11)));
}

TEST_F(TimeOfDayTest, DoesNotBelieveATimeThatChangesAgain) {
  wall_us_ += kHour;
  EXPECT_EQ(Seconds(), 0);
  Pass(kSettle / 2);
  wall_us_ += kHour;
  EXPECT_EQ(Seconds(), 300);
  Pass(kSettle / 2);
  EXPECT_EQ(Seconds(), 600);
  EXPECT_TRUE(jumped());
  Pass(kSettle / 2);
  EXPECT_EQ(Seconds(), 2 * 3'600 + 900);
}

TEST(SystemClocks, RunAlike) {
  TimeOfDay time_of_day;
  EXPECT_EQ(time_of_day.Jump().count(), 0);
  EXPECT_NEAR(time_of_day.NowMicros(), time_of_day.SteadyMicros(), 1e6);
  EXPECT_GT(time_of_day.NowMicros(), kStart);
}

}  // namespace
}  // namespace itemdb::storage
