#include "daemon/serving/open_watches.h"

#include <thread>

#include "gtest/gtest.h"

namespace itemdb::daemon {
namespace {

TEST(OpenWatches, TellsOfTheSlowest) {
  OpenWatches watches;
  OpenWatches::Position slow, quick;
  watches.Add(&slow);
  watches.Add(&quick);
  EXPECT_EQ(watches.Measure(100).open, 2u);
  EXPECT_EQ(watches.Measure(100).most_changes, 0u);
  EXPECT_EQ(watches.Measure(100).longest.count(), 0);

  slow.Behind(40);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  quick.Behind(90);
  slow.Behind(50);
  OpenWatches::Figures figures = watches.Measure(100);
  EXPECT_EQ(figures.most_changes, 50u);
  EXPECT_GE(figures.longest, std::chrono::milliseconds(20)) << "since it was up to date";

  slow.UpToDate();
  figures = watches.Measure(100);
  EXPECT_EQ(figures.most_changes, 10u);
  EXPECT_EQ(watches.Measure(90).longest.count(), 0) << "there is no change that it has not sent";

  watches.Remove(&quick);
  figures = watches.Measure(100);
  EXPECT_EQ(figures.open, 1u);
  EXPECT_EQ(figures.most_changes, 0u);
}

}  // namespace
}  // namespace itemdb::daemon
