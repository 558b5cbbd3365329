// A waiting thread ends soon after Stop, and misses no wake-up.
#include "storage/base/background_thread.h"

#include <atomic>

#include "gtest/gtest.h"

namespace itemdb::testing {
namespace {

TEST(BackgroundThread, EndsInTheMidstOfAWait) {
  std::atomic<int> rounds = 0;
  storage::BackgroundThread thread;
  thread.Start([&] {
    while (thread.WaitFor(std::chrono::hours(1))) ++rounds;
  });
  thread.Stop();
  EXPECT_EQ(rounds, 0);
}

TEST(BackgroundThread, IsWokenByACallThatCameBeforeTheWait) {
  storage::BackgroundThread thread;
  std::atomic<bool> woken = false;
  thread.Wake();
  thread.Start([&] { woken = thread.WaitUntil(storage::BackgroundThread::Clock::time_point::max()); });
  while (!woken) std::this_thread::yield();
  thread.Stop();
}

TEST(BackgroundThread, SeesThatItStopsBeforeItIsJoined) {
  storage::BackgroundThread thread;
  std::atomic<bool> seen = false;
  thread.Start([&] {
    while (!thread.stopping()) std::this_thread::yield();
    seen = true;
  });
  thread.BeginStop();
  while (!seen) std::this_thread::yield();
  thread.Stop();
}

}  // namespace
}  // namespace itemdb::testing
