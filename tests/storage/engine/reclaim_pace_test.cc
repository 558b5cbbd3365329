// The rate of reclaiming space: Request waits, but not for long while another thread waits for the reclaimer.
#include "storage/store/reclaim_pace.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace itemdb::storage {
namespace {

using PaceClock = std::chrono::steady_clock;

constexpr auto kNoBypass = [] { return false; };

TEST(ReclaimPace, IsItsRate) {
  constexpr int64_t kPiece = 64 << 10;
  constexpr int64_t kPieces = 32;
  ReclaimPace pace(4 << 20);
  const auto begin = PaceClock::now();
  for (int64_t i = 0; i < kPieces; ++i) pace.Request(kPiece, kNoBypass);
  const std::chrono::duration<double> taken = PaceClock::now() - begin;
  // The work takes half a second; ReclaimPace may catch up a tenth of a second.
  EXPECT_GE(taken.count(), 0.35);
}

TEST(ReclaimPace, DoesNotMakeUpForTimeWithoutWork) {
  ReclaimPace pace(1 << 20);
  pace.Request(256 << 10, kNoBypass);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  const auto begin = PaceClock::now();
  pace.Request(256 << 10, kNoBypass);
  const std::chrono::duration<double> taken = PaceClock::now() - begin;
  EXPECT_GE(taken.count(), 0.1);
}

TEST(ReclaimPace, DoesNotWaitWhenOthersWaitForIt) {
  ReclaimPace pace(/*bytes_per_second=*/1);
  pace.Request(1 << 30, [] { return true; });
  pace.Request(1 << 30, [] { return true; });
}

TEST(ReclaimPace, WaitsNoLongerOnceItIsInterrupted) {
  ReclaimPace pace(/*bytes_per_second=*/1);
  std::thread worker([&pace] {
    pace.Request(1 << 30, kNoBypass);
    pace.Request(1 << 30, kNoBypass);
  });
  pace.Interrupt();
  worker.join();
  EXPECT_TRUE(pace.is_interrupted());
  pace.Resume();
  EXPECT_FALSE(pace.is_interrupted());
}

}  // namespace
}  // namespace itemdb::storage
