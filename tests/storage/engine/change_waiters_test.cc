// Which changes wake which waiters.
#include "storage/commit/change_waiters.h"

#include <semaphore>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/await.h"

namespace itemdb::testing {
namespace {

using Clock = storage::ChangeWaiters::Clock;

// Does what the pipeline does with the changes of a group.
class ChangeWaitersTest : public ::testing::Test {
 protected:
  ChangeWaitersTest() { waiters_.Opened(0); }

  void Commit(std::initializer_list<uint64_t> tables) {
    storage::TableRunsOfGroup group;
    for (uint64_t table : tables) group.Add(table, ++next_);
    waiters_.RecordApplied(group);
    {
      storage::MutexLock lock(mutex_);
      durable_ = next_;
    }
    waiters_.Notify(group);
  }
  uint64_t Durable() {
    storage::MutexLock lock(mutex_);
    return durable_;
  }
  // Waits for a change and then increments `woken`.
  void Await(uint64_t table, uint64_t sequence, std::atomic<int>* woken,
             Clock::duration at_most = std::chrono::hours(1),
             storage::CancellationPtr cancellation = nullptr) {
    waiters_.Await(table, sequence, Clock::now() + at_most, std::move(cancellation),
                   [woken](uint64_t) { ++*woken; });
  }

  storage::Mutex mutex_;
  uint64_t durable_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t next_ = 0;
  storage::ChangeWaiters waiters_{[this] { return Durable(); }};
};

TEST_F(ChangeWaitersTest, WakeWhoWaitsForATableByItsChangesOnly) {
  std::atomic<int> of_five = 0;
  std::atomic<int> of_six = 0;
  std::atomic<int> of_any = 0;
  Await(5, 0, &of_five);
  Await(6, 0, &of_six);
  Await(0, 0, &of_any);
  Commit({6, 7});
  ASSERT_TRUE(testing::Await([&] { return of_six == 1 && of_any == 1; }));
  // A wrongly woken waiter would be called by the same thread, before the waiters for the next change.
  Await(0, 2, &of_any);
  Commit({6});
  ASSERT_TRUE(testing::Await([&] { return of_any == 2; }));
  EXPECT_EQ(of_five, 0);
  Commit({7, 5});
  EXPECT_TRUE(testing::Await([&] { return of_five == 1; }));
}

TEST_F(ChangeWaitersTest, WakeAtOnceWhoMissedAChangeOfItsTable) {
  Commit({5});
  Commit({6});
  std::atomic<int> woken = 0;
  Await(5, 0, &woken);
  EXPECT_EQ(woken, 1);
  Await(0, 1, &woken);
  EXPECT_EQ(woken, 2);
  Await(5, 1, &woken);
  EXPECT_EQ(woken, 2) << "the change after that is of another table";
}

TEST_F(ChangeWaitersTest, DoNotKnowWhatWasBeforeTheOpening) {
  waiters_.Opened(10);
  EXPECT_TRUE(waiters_.MayHaveChanged(5, 9));
  EXPECT_FALSE(waiters_.MayHaveChanged(5, 10));
}

TEST_F(ChangeWaitersTest, WakeWhoseTimeHasPassedOrWhoIsNotWantedAnyMore) {
  std::atomic<int> woken = 0;
  auto cancelled = std::make_shared<storage::Cancellation>();
  Await(5, 0, &woken, std::chrono::milliseconds(1));
  ASSERT_TRUE(testing::Await([&] { return woken == 1; }));
  Await(5, 0, &woken, std::chrono::hours(1), cancelled);
  cancelled->Cancel();
  EXPECT_TRUE(testing::Await([&] { return woken == 2; }));
}

// The log may be trimmed while a table has no changes; a waiter for that table has missed nothing.
TEST_F(ChangeWaitersTest, TellHowFarThereWasNothing) {
  Commit({5});
  std::atomic<uint64_t> told = 0;
  waiters_.Await(5, 1, Clock::now() + std::chrono::milliseconds(100), nullptr,
                 [&](uint64_t sequence) { told = sequence; });
  for (int i = 0; i < 10; ++i) Commit({6});
  ASSERT_TRUE(testing::Await([&] { return told != 0; }));
  EXPECT_EQ(told, 11u);
}

// A change that is not durable must not be shown, because a power cut may undo it.
TEST_F(ChangeWaitersTest, WakeNobodyBeforeAChangeIsDurable) {
  std::atomic<int> woken = 0;
  Await(5, 0, &woken);
  storage::TableRunsOfGroup group;
  group.Add(5, 1);
  waiters_.RecordApplied(group);
  waiters_.NotifyAll();
  std::atomic<int> later = 0;
  Await(6, 0, &later, std::chrono::milliseconds(60));
  ASSERT_TRUE(testing::Await([&] { return later == 1; }));
  EXPECT_EQ(woken, 0);
  {
    storage::MutexLock lock(mutex_);
    durable_ = 1;
  }
  waiters_.NotifyAll();
  EXPECT_TRUE(testing::Await([&] { return woken == 1; }));
}

// Each thread waits for the next change of its table, again and again; one missed wake-up would take an hour.
TEST_F(ChangeWaitersTest, MissNoChangeHoweverTheyMeet) {
  constexpr uint64_t kTables = 4;
  constexpr uint64_t kRounds = 20'000;
  // Every table has a change in the last group, so that no thread waits for ever.
  constexpr uint64_t kLast = (kRounds + 1) * kTables;
  std::vector<std::thread> followers;
  for (uint64_t table = 0; table <= kTables; ++table) {
    followers.emplace_back([this, table] {
      for (uint64_t seen = Durable(); seen < kLast; seen = Durable()) {
        std::binary_semaphore woken(0);
        waiters_.Await(table, seen, Clock::now() + std::chrono::hours(1), nullptr,
                       [&](uint64_t) { woken.release(); });
        woken.acquire();
      }
    });
  }
  for (uint64_t i = 0; i < kRounds; ++i) {
    for (uint64_t table = 1; table <= kTables; ++table) Commit({table});
  }
  Commit({1, 2, 3, 4});
  for (std::thread& follower : followers) follower.join();
}

}  // namespace
}  // namespace itemdb::testing
