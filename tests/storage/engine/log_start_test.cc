// What is pinned is not trimmed.
#include "storage/engine/log_start.h"

#include "gtest/gtest.h"

namespace itemdb::testing {
namespace {

TEST(LogStart, MovesUpToWhatIsPinned) {  // SEM-103
  LogStart log;
  auto pin = log.Keep(10);
  ASSERT_TRUE(pin.ok());
  auto later = log.Keep(20);
  ASSERT_TRUE(later.ok());
  EXPECT_EQ(log.Reserve(50), 10u);
  pin->reset();
  EXPECT_EQ(log.Reserve(50), 20u);
  later->reset();
  EXPECT_EQ(log.Reserve(50), 50u);
  log.Advance(50);
  EXPECT_EQ(log.oldest(), 50u);
}

// Between the decision to trim and the trimming nobody may begin to need what goes.
TEST(LogStart, WhatIsReservedForTrimmingCannotBePinned) {  // SEM-103
  LogStart log;
  EXPECT_EQ(log.Reserve(5), 5u);
  EXPECT_EQ(log.oldest(), 1u);
  absl::Status refused = log.Keep(4).status();
  EXPECT_TRUE(absl::IsOutOfRange(refused)) << refused;
  EXPECT_EQ(ReasonOf(refused), kReasonChangesTrimmed);
  EXPECT_EQ(log.KeepAll()->oldest_needed(), 5u);
  EXPECT_TRUE(log.Keep(5).ok());
}

TEST(LogStart, NeverMovesBack) {  // SEM-103
  LogStart log;
  EXPECT_EQ(log.Reserve(9), 9u);
  log.Advance(9);
  EXPECT_EQ(log.Reserve(3), 9u);
  log.Advance(3);
  EXPECT_EQ(log.oldest(), 9u);
}

}  // namespace
}  // namespace itemdb::testing
