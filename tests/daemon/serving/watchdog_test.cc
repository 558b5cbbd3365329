// The watchdog: whether it tells that the process is alive.
#include "daemon/process/watchdog.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <future>

#include "gtest/gtest.h"
#include "tests/support/await.h"

namespace itemdb::testing {
namespace {

using daemon::Watchdog;
using daemon::WatchdogInterval;

TEST(WatchdogTest, IsQuietWhileAProbeHangs) {
  std::atomic<int> alive = 0, probes = 0;
  std::promise<void> answered;
  {
    Watchdog watchdog(
        absl::Milliseconds(2),
        [&] {
          if (++probes == 3) answered.get_future().wait();
        },
        [&] { ++alive; });
    ASSERT_TRUE(Await([&] { return probes == 3; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(alive, 2);
    answered.set_value();
    EXPECT_TRUE(Await([&] { return alive > 3; }));
  }
  Watchdog none(
      absl::ZeroDuration(), [] { FAIL(); }, [] { FAIL(); });
}

TEST(WatchdogTest, ReadsWhatSystemdSets) {
  unsetenv("WATCHDOG_USEC");
  unsetenv("WATCHDOG_PID");
  EXPECT_EQ(WatchdogInterval(), absl::ZeroDuration());
  for (const char* value : {"", "x", "0", "-5", "30000000x"}) {
    setenv("WATCHDOG_USEC", value, 1);
    EXPECT_EQ(WatchdogInterval(), absl::ZeroDuration()) << value;
  }
  setenv("WATCHDOG_USEC", "30000000", 1);
  EXPECT_EQ(WatchdogInterval(), absl::Seconds(30));
  setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
  EXPECT_EQ(WatchdogInterval(), absl::Seconds(30));
  setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(WatchdogInterval(), absl::ZeroDuration());
  unsetenv("WATCHDOG_USEC");
  unsetenv("WATCHDOG_PID");
}

}  // namespace
}  // namespace itemdb::testing
