#include "client/end_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "client/timer.h"

namespace itemdb {
namespace {

// Destroys `timer` on its own thread. `then` runs after that, on the same thread.
void DestroyOnItsOwnThread(std::unique_ptr<Timer> timer, Timer::Function then) {
  Timer* const destroyed = timer.get();
  std::atomic<bool> is_destroyed = false;
  destroyed->RunAt(Timer::Clock::now(),
                   [timer = std::move(timer), &is_destroyed, then = std::move(then)]() mutable {
                     timer.reset();
                     is_destroyed = true;
                     std::move(then)();
                   });
  while (!is_destroyed) std::this_thread::yield();
}

// The processes that end have no threads of this one.
class EndThreadTest : public testing::Test {
 protected:
  EndThreadTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(EndThreadTest, ReturnsBeforeTheProcessEndsWhenItDestroyedItsOwner) {
  EXPECT_EXIT(
      {
        DestroyOnItsOwnThread(std::make_unique<Timer>(), [] {
          // Long enough that an exit that did not wait would be over.
          std::this_thread::sleep_for(std::chrono::milliseconds(200));
          std::fputs("returned", stderr);
        });
        std::exit(0);
      },
      testing::ExitedWithCode(0), "returned");
}

TEST_F(EndThreadTest, ReturnsBeforeExitFunctionsThatWereRegisteredEarlier) {
  EXPECT_EXIT(
      {
        std::atexit([] { std::fputs("taken away", stderr); });
        EndThreadsBeforeEarlierExitFunctions();
        DestroyOnItsOwnThread(std::make_unique<Timer>(), [] {
          std::this_thread::sleep_for(std::chrono::milliseconds(200));
          std::fputs("returned, ", stderr);
        });
        std::exit(0);
      },
      testing::ExitedWithCode(0), "returned, taken away");
}

TEST_F(EndThreadTest, MayExitTheProcessItself) {
  EXPECT_EXIT(
      {
        DestroyOnItsOwnThread(std::make_unique<Timer>(), [] { std::exit(3); });
        while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
      },
      testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace itemdb
