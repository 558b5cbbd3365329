// Pinned changes are not trimmed.
#include "storage/engine/trim_horizon.h"

#include "gtest/gtest.h"

namespace itemdb::testing {
namespace {

TEST(TrimHorizon, MovesUpToWhatIsPinned) {  // SEM-103
  storage::TrimHorizon log;
  auto pin = log.Pin(10);
  ASSERT_TRUE(pin.ok());
  auto later = log.Pin(20);
  ASSERT_TRUE(later.ok());
  EXPECT_EQ(log.BeginTrim(50), 10u);
  pin->reset();
  EXPECT_EQ(log.BeginTrim(50), 20u);
  later->reset();
  EXPECT_EQ(log.BeginTrim(50), 50u);
  log.FinishTrim(50);
  EXPECT_EQ(log.oldest(), 50u);
}

// Between BeginTrim and FinishTrim no reader may pin a change that is being trimmed.
TEST(TrimHorizon, WhatIsReservedForTrimmingCannotBePinned) {  // SEM-103
  storage::TrimHorizon log;
  EXPECT_EQ(log.BeginTrim(5), 5u);
  EXPECT_EQ(log.oldest(), 1u);
  absl::Status refused = log.Pin(4).status();
  EXPECT_TRUE(absl::IsOutOfRange(refused)) << refused;
  EXPECT_EQ(storage::ReasonOf(refused), storage::kReasonChangesTrimmed);
  EXPECT_EQ(log.PinAll()->oldest_needed(), 5u);
  EXPECT_TRUE(log.Pin(5).ok());
}

// A hold was made after trimming had begun.
TEST(TrimHorizon, TrimmingThatGoesLessFarGivesBackTheRest) {  // SEM-103
  storage::TrimHorizon log;
  EXPECT_EQ(log.BeginTrim(9), 9u);
  log.LowerTrim(5);
  EXPECT_TRUE(log.Pin(5).ok());
  EXPECT_FALSE(log.Pin(4).ok());
  log.FinishTrim(5);
  EXPECT_EQ(log.oldest(), 5u);
  // Neither what is trimmed nor what is wanted moves by it.
  log.LowerTrim(3);
  EXPECT_FALSE(log.Pin(4).ok());
  log.LowerTrim(8);
  EXPECT_TRUE(log.Pin(5).ok());
  EXPECT_EQ(log.BeginTrim(7), 7u);
}

TEST(TrimHorizon, NeverMovesBack) {  // SEM-103
  storage::TrimHorizon log;
  EXPECT_EQ(log.BeginTrim(9), 9u);
  log.FinishTrim(9);
  EXPECT_EQ(log.BeginTrim(3), 9u);
  log.FinishTrim(3);
  EXPECT_EQ(log.oldest(), 9u);
}

}  // namespace
}  // namespace itemdb::testing
