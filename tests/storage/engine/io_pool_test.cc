#include "storage/engine/io_pool.h"

#include <algorithm>
#include <future>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace itemdb::storage {
namespace {

using ::testing::ElementsAre;

// A pool of one thread that is busy until Go.
class IoPoolTest : public ::testing::Test {
 protected:
  IoPoolTest() {
    std::promise<void> busy;
    IoPool::Task wait = [this, &busy] {
      busy.set_value();
      go_.get_future().wait();
    };
    EXPECT_TRUE(pool_.Submit(wait, IoPriority::kLong));
    busy.get_future().wait();
  }

  void Go() { go_.set_value(); }
  bool Submit(const std::string& name, IoPriority priority) {
    IoPool::Task task = [this, name] { ran_.push_back(name); };
    return pool_.Submit(task, priority);
  }

  std::promise<void> go_;
  // Used by the pool's thread, and after Stop by the test.
  std::vector<std::string> ran_;
  IoPool pool_{1, 10};
};

TEST_F(IoPoolTest, RunsPointsBeforeLongReads) {
  EXPECT_TRUE(Submit("long", IoPriority::kLong));
  EXPECT_TRUE(Submit("first point", IoPriority::kPoint));
  EXPECT_TRUE(Submit("second point", IoPriority::kPoint));
  Go();
  pool_.Stop();
  EXPECT_THAT(ran_, ElementsAre("first point", "second point", "long"));
}

TEST_F(IoPoolTest, RunsLongReadsHoweverManyPointsWait) {
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Submit("point", IoPriority::kPoint));
  EXPECT_TRUE(Submit("long", IoPriority::kLong));
  Go();
  pool_.Stop();
  const auto found = std::find(ran_.begin(), ran_.end(), "long");
  EXPECT_EQ(found - ran_.begin(), 8);
}

TEST_F(IoPoolTest, RefusesWhatIsTooManyOfOnePriority) {
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Submit("long", IoPriority::kLong));
  EXPECT_FALSE(Submit("one too many", IoPriority::kLong));
  EXPECT_TRUE(Submit("point", IoPriority::kPoint));
  Go();
}

// While the database closes, a page continues in another task, as pages do.
TEST_F(IoPoolTest, RunsWhatItsTasksSubmitWhileItStops) {
  IoPool::Task task = [this] {
    IoPool::Task next = [this] { EXPECT_TRUE(Submit("the rest", IoPriority::kLong)); };
    EXPECT_TRUE(pool_.Submit(next, IoPriority::kLong));
  };
  EXPECT_TRUE(pool_.Submit(task, IoPriority::kLong));
  auto stopped = std::async(std::launch::async, [this] { pool_.Stop(); });
  Go();
  stopped.wait();
  EXPECT_THAT(ran_, ElementsAre("the rest"));
  EXPECT_FALSE(Submit("too late", IoPriority::kPoint));
}

}  // namespace
}  // namespace itemdb::storage
