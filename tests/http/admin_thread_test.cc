#include "daemon/http/admin_thread.h"

#include <future>
#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace itemdb {
namespace {

TEST(AdminThread, DoesWhatWasTakenOnInItsOrderAlsoWhenItEnds) {
  std::vector<int> done;
  {
    AdminThread thread;
    for (int i = 0; i < 100; ++i) {
      AdminThread::Work work = [&done, i] { done.push_back(i); };
      ASSERT_TRUE(thread.Run(work));
    }
  }
  ASSERT_EQ(done.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(done[i], i);
}

// SEM-094.
TEST(AdminThread, RefusesWhatIsTooMuchAndLeavesItToTheCaller) {
  std::promise<void> begun, go;
  int done = 0;
  {
    AdminThread thread;
    AdminThread::Work first = [&] {
      begun.set_value();
      go.get_future().wait();
    };
    ASSERT_TRUE(thread.Run(first));
    begun.get_future().wait();
    for (int i = 0; i < 500; ++i) {
      AdminThread::Work work = [&done] { ++done; };
      ASSERT_TRUE(thread.Run(work)) << i;
    }
    AdminThread::Work refused = [&done] { done += 1'000; };
    EXPECT_FALSE(thread.Run(refused));
    ASSERT_TRUE(refused);
    go.set_value();
  }
  EXPECT_EQ(done, 500);
}

}  // namespace
}  // namespace itemdb
