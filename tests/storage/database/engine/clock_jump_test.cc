// A wall clock that jumps while a database is open: what depends on the age of data waits, and goes on later.
#include <atomic>
#include <chrono>
#include <thread>

#include "storage/base/time_of_day.h"
#include "tests/storage/database/items/time_to_live.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

constexpr int64_t kMicrosASecond = 1'000'000;
constexpr int64_t kOneHour = 3'600;
constexpr int64_t kOneYear = 365 * 24 * kOneHour;
constexpr int64_t kSettle = std::chrono::seconds(storage::TimeOfDay::kSettleTime).count();
// Long enough for many rounds of the expiry sweeper and the trimmer.
constexpr std::chrono::milliseconds kManyRounds{500};

class ClockJump : public ::testing::Test {
 protected:
  ClockJump() { database_.CreateTable(TableRequest("Things")); }

  DatabaseOptions Options() {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory_.path() + "/data");
    options.clock_us = [this] { return wall_us_.load(); };
    options.boot_clock_us = [this] { return boot_us_.load(); };
    options.change_retention = std::chrono::hours(1);
    options.change_trim_interval = std::chrono::milliseconds(5);
    return options;
  }
  void Pass(int64_t seconds) {
    wall_us_ += seconds * kMicrosASecond;
    boot_us_ += seconds * kMicrosASecond;
  }
  void Jump(int64_t seconds) {
    wall_us_ += seconds * kMicrosASecond;
    Put("noticed");  // Each write looks at the clock.
  }
  // The item expires `expires` seconds after the clock's start.
  void Put(const std::string& sk, int64_t expires = 100 * kOneYear) {
    auto put = database_.Put("Things", {{"pk", S("p")}, {"sk", S(sk)}, {"ttl", At(expires)}});
    ASSERT_TRUE(put.ok()) << put.status();
  }
  bool Has(const std::string& sk) { return database_.Get("Things", {{"pk", S("p")}, {"sk", S(sk)}}) != ""; }
  std::string AddOne(const std::string& token) {
    auto request =
        UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("counter")}}, "ADD n :n", {{":n", N("1")}});
    request.set_client_request_token(token);
    auto reply =
        Await<wire::WriteItemReply>([&](auto done) { database_->UpdateItem(request, std::move(done)); });
    EXPECT_TRUE(reply.ok()) << reply.status();
    return database_.Get("Things", {{"pk", S("p")}, {"sk", S("counter")}});
  }
  uint64_t Oldest() {
    auto reply = database_.ReadChanges(UINT64_MAX);
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() ? reply->oldest_sequence() : 0;
  }
  uint64_t Last() { return database_->GetStatus().change_sequence(); }

  std::atomic<int64_t> wall_us_ = TestClock::kStart * kMicrosASecond;
  std::atomic<int64_t> boot_us_ = 1'000 * kMicrosASecond;
  TemporaryDirectory directory_;
  TestDatabase database_{Options()};
};

TEST_F(ClockJump, DoesNotApplyATokenedRequestTwice) {  // SEM-050
  const std::string once = AddOne("token");
  for (const int64_t jump : {kOneHour, -2 * kOneHour, kOneHour}) {
    Jump(jump);
    EXPECT_EQ(AddOne("token"), once);
    Pass(60);
    EXPECT_EQ(AddOne("token"), once);
  }
  Jump(kOneHour);
  Pass(400);  // Ten minutes are not over.
  EXPECT_EQ(AddOne("token"), once);
  Pass(200);  // The jump is believed, and the time goes forward by an hour.
  EXPECT_EQ(AddOne("token"), once);
  Pass(600);
  EXPECT_NE(AddOne("token"), once);
}

// A process that starts with a wrong clock, which is corrected while it runs, and ends.
TEST_F(ClockJump, OfAProcessThatEndsForgetsNoToken) {  // SEM-050
  for (const int64_t jump : {kOneHour, -kOneHour}) {
    Jump(jump);
    Pass(kSettle);
    Put("believed");
    Pass(kSettle);
    const std::string token = "after " + std::to_string(jump);
    const std::string once = AddOne(token);
    Pass(60);
    database_.Reopen();
    EXPECT_EQ(AddOne(token), once);
  }
}

TEST_F(ClockJump, ExpiresNoItemUntilTheNewTimeIsBelieved) {  // SEM-109
  ASSERT_TRUE(SetTimeToLive(*database_, "Things", true).ok());
  ASSERT_TRUE(AwaitEnabled(*database_, "Things"));
  Put("soon", 10);
  Put("later", 2 * kOneHour);
  Jump(3 * kOneHour);
  std::this_thread::sleep_for(kManyRounds);
  EXPECT_TRUE(Has("soon"));
  EXPECT_TRUE(Has("later"));
  Jump(-3 * kOneHour);
  Pass(20);
  EXPECT_TRUE(Await([&] { return !Has("soon"); }));
  EXPECT_TRUE(Has("later"));
  Jump(3 * kOneHour);
  Pass(kSettle);
  EXPECT_TRUE(Await([&] { return !Has("later"); }));
}

TEST_F(ClockJump, TrimsNoChangeUntilTheNewTimeIsBelieved) {  // SEM-103
  Put("a");
  Jump(kOneYear);
  std::this_thread::sleep_for(kManyRounds);
  EXPECT_EQ(Oldest(), 1u);
  Jump(-kOneYear);
  Put("b");
  Pass(kOneHour + 60);
  EXPECT_TRUE(Await([&] { return Oldest() == Last(); })) << Oldest() << " of " << Last();
}

// Commit times never decrease, so after a wrong time that was believed all of them are in the future.
TEST_F(ClockJump, TrimsChangesThatWereCommittedInTheFuture) {  // SEM-103
  for (const int64_t jump : {kOneYear, -kOneYear}) {
    Jump(jump);
    Pass(kSettle);
    Put("after a jump");
  }
  Put("last");
  for (int minutes = 0; minutes < 70; minutes += 10) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    Pass(600);
  }
  EXPECT_TRUE(Await([&] { return Oldest() == Last(); })) << Oldest() << " of " << Last();
}

}  // namespace
}  // namespace itemdb::testing
