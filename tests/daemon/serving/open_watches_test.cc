#include "daemon/serving/open_watches.h"

#include <thread>

#include "gtest/gtest.h"

namespace itemdb::daemon {
namespace {

TEST(OpenWatches, TellsOfTheSlowest) {
  OpenWatches watches;
  OpenWatches::Position slow, quick;
  watches.Add(&slow, {});
  watches.Add(&quick, {});
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

TEST(OpenWatches, ListThoseThatAreBehindLongestFirst) {
  OpenWatches watches;
  OpenWatches::Position idle, first, second;
  watches.Add(&idle, {.peer = "unix:"});
  watches.Add(&second, {.table_name = "Fish"});
  watches.Add(&first, {.table_name = "Cats", .key_id = "AKCATS", .peer = "ipv4:10.0.0.7:40312"});
  first.Behind(90);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  second.Behind(40);
  const OpenWatches::Figures figures = watches.Measure(100);
  ASSERT_EQ(figures.watches.size(), 3u);
  EXPECT_EQ(figures.watches[0].id, 3);
  EXPECT_EQ(figures.watches[0].watcher.table_name, "Cats");
  EXPECT_EQ(figures.watches[0].watcher.key_id, "AKCATS");
  EXPECT_EQ(figures.watches[0].watcher.peer, "ipv4:10.0.0.7:40312");
  EXPECT_EQ(figures.watches[0].lag_changes, 10u);
  EXPECT_EQ(figures.watches[1].id, 2);
  EXPECT_EQ(figures.watches[1].lag_changes, 60u);
  EXPECT_EQ(figures.watches[2].id, 1);
  EXPECT_EQ(figures.watches[2].lag.count(), 0);
}

}  // namespace
}  // namespace itemdb::daemon
