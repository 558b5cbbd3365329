// Holds of the change log: trimming waits for a reader that is away, until it releases its hold, does not
// renew it in time, or the disk is too full.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <map>
#include <thread>
#include <vector>

#include "tests/storage/database/indexes/damage.h"
#include "tests/storage/database/requests.h"
#include "tests/support/await.h"
#include "tests/support/power_loss_file_system.h"

namespace itemdb::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int64_t kMicrosOfASecond = 1'000'000;
// Long enough for many rounds of the trimmer.
constexpr std::chrono::milliseconds kRoundsOfTrimming{200};

absl::StatusOr<v1::ChangeHold> Hold(Database& database, const std::string& name, uint64_t after,
                                    int lease_seconds = 3'600, bool renews = false) {
  v1::HoldChangesRequest request;
  request.set_name(name);
  request.set_after_sequence(after);
  request.set_lease_seconds(lease_seconds);
  request.set_renews(renews);
  auto reply =
      Await<v1::HoldChangesReply>([&](auto done) { database.HoldChanges(request, std::move(done)); });
  if (!reply.ok()) return reply.status();
  return reply->hold();
}

absl::Status Release(Database& database, const std::string& name) {
  v1::ReleaseChangesRequest request;
  request.set_name(name);
  return Await<v1::ReleaseChangesReply>([&](auto done) { database.ReleaseChanges(request, std::move(done)); })
      .status();
}

// Whether too many holds were made; if so waits for as long as the error says.
bool AwaitTurn(const absl::Status& status) {
  if (ReasonOf(status) != kReasonLimitExceeded) return false;
  std::this_thread::sleep_for(std::chrono::milliseconds(RetryAfterMsOf(status)));
  return true;
}

class ChangeHolds : public ::testing::Test {
 protected:
  // Trims every change that is older than a moment, at once, if nothing holds it.
  static DatabaseOptions KeepNothing(const std::string& directory) {
    auto options = TestDatabase::DefaultOptions(directory);
    options.change_retention = std::chrono::milliseconds(1);
    options.change_trim_interval = std::chrono::milliseconds(2);
    return options;
  }

  void Start(DatabaseOptions options) {
    database_.reset();
    database_ = std::make_unique<TestDatabase>(std::move(options));
  }
  void Fill(int count) {
    for (int i = 0; i < count; ++i) {
      auto put = database_->Put("Things", {{"pk", S(std::to_string(++items_))}});
      ASSERT_TRUE(put.ok()) << put.status();
    }
  }
  uint64_t Oldest() {
    auto reply = database_->ReadChanges(UINT64_MAX);
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() ? reply->oldest_sequence() : 0;
  }
  bool AwaitOldest(uint64_t oldest) {
    return Await([&] { return Oldest() >= oldest; });
  }
  void ExpectOldestStays(uint64_t oldest) {
    EXPECT_TRUE(AwaitOldest(oldest));
    std::this_thread::sleep_for(kRoundsOfTrimming);
    EXPECT_EQ(Oldest(), oldest);
  }
  std::vector<v1::ChangeHold> Holds() {
    const v1::GetStatusReply status = (*database_)->GetStatus();
    return {status.change_holds().begin(), status.change_holds().end()};
  }
  v1::ChangeHoldState StateOf(const std::string& name) {
    for (const v1::ChangeHold& hold : Holds()) {
      if (hold.name() == name) return hold.state();
    }
    return v1::CHANGE_HOLD_STATE_UNSPECIFIED;
  }
  Database& db() { return **database_; }

  TemporaryDirectory directory_;
  const std::string data_ = directory_.path() + "/data";
  std::unique_ptr<TestDatabase> database_;
  int items_ = 0;
};

TEST_F(ChangeHolds, TrimmingWaitsUntilTheyMoveOrAreReleased) {  // SEM-103
  Start(KeepNothing(data_));
  database_->CreateTable(TableRequest("Things", false));
  const auto made = Hold(db(), "mover", 1);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->after_sequence(), 1u);
  EXPECT_EQ(made->lease_seconds(), 3'600);
  EXPECT_EQ(made->state(), v1::CHANGE_HOLD_STATE_HELD);
  Fill(20);
  ExpectOldestStays(2);
  const auto kept = database_->ReadChanges(1);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_THAT(kept->records(), SizeIs(20));
  ASSERT_THAT(Holds(), SizeIs(1));
  EXPECT_GT(Holds()[0].held_bytes(), 0);

  // The later of two positions moves nothing.
  ASSERT_TRUE(Hold(db(), "other", 15).ok());
  ExpectOldestStays(2);
  const auto moved = Hold(db(), "mover", 10, 3'600, /*renews=*/true);
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_EQ(moved->creation_time_us(), made->creation_time_us());
  EXPECT_GT(moved->renewed_time_us(), made->renewed_time_us());
  ExpectOldestStays(11);
  ASSERT_TRUE(Release(db(), "mover").ok());
  ExpectOldestStays(16);
  ASSERT_TRUE(Release(db(), "other").ok());
  EXPECT_TRUE(AwaitOldest(21));
  EXPECT_THAT(Holds(), SizeIs(0));
  database_->CheckIsClean();
}

TEST_F(ChangeHolds, OutlastAReopening) {  // SEM-103
  Start(KeepNothing(data_));
  database_->CreateTable(TableRequest("Things", false));
  ASSERT_TRUE(Hold(db(), "mover", 1).ok());
  Fill(10);
  for (int i = 0; i < 3; ++i) {
    database_->Reopen();
    Fill(5);
    ExpectOldestStays(2);
  }
  EXPECT_THAT(database_->ReadChanges(1)->records(), SizeIs(25));
  ASSERT_TRUE(Hold(db(), "mover", 20, 3'600, /*renews=*/true).ok());
  EXPECT_TRUE(AwaitOldest(21));
}

// A hold that a power cut forgets protects nothing. Without syncs of its own it would be forgotten.
TEST_F(ChangeHolds, OutlastAPowerCutInRelaxedMode) {  // SEM-103
  const std::string root = directory_.path() + "/root";
  std::filesystem::create_directory(root);
  {
    auto disk = std::make_shared<PowerLossFileSystem>(root);
    auto options = KeepNothing(root + "/data");
    options.durable = false;
    options.file_system = disk;
    Start(options);
    database_->CreateTable(TableRequest("Things", false));
    ASSERT_TRUE(Hold(db(), "mover", 1).ok());
    disk->CutPowerAfter(0);
    database_.reset();
    disk->DropUnsynced(1);
  }
  Start(KeepNothing(root + "/data"));
  ASSERT_THAT(Holds(), SizeIs(1));
  EXPECT_EQ(Holds()[0].name(), "mover");
  Fill(10);
  ExpectOldestStays(2);
}

// Readers have the role `read`: their calls must not make the database write without bound.
TEST_F(ChangeHolds, ThatAreRenewedMakeNoCommits) {  // SEM-103
  auto options = TestDatabase::DefaultOptions(data_);
  options.change_trim_interval = std::chrono::hours(1);
  Start(options);
  database_->CreateTable(TableRequest("Things", false));
  Fill(20);
  const auto made = Hold(db(), "mover", 3);
  ASSERT_TRUE(made.ok()) << made.status();
  const int64_t groups = db().GetStatus().writes().commit_groups();
  for (int i = 0; i < 1'000; ++i) {
    // Also one that is moved back, but not to before its record.
    const auto renewed = Hold(db(), "mover", 3 + i % 5, 3'600 - i % 2, /*renews=*/i % 3 != 0);
    ASSERT_TRUE(renewed.ok()) << renewed.status();
    EXPECT_EQ(renewed->creation_time_us(), made->creation_time_us());
    EXPECT_EQ(renewed->after_sequence(), 3u + i % 5);
  }
  EXPECT_EQ(db().GetStatus().writes().commit_groups(), groups);
  ASSERT_THAT(Holds(), SizeIs(1));
  EXPECT_EQ(Holds()[0].after_sequence(), 7u);
  EXPECT_EQ(Holds()[0].lease_seconds(), 3'599);
  EXPECT_GT(Holds()[0].renewed_time_us(), made->renewed_time_us());
  EXPECT_EQ(Hold(db(), "mover", 1)->after_sequence(), 1u);
  EXPECT_GT(db().GetStatus().writes().commit_groups(), groups) << "it keeps changes that it did not keep";
  // What is stored keeps no less.
  database_->Reopen();
  ASSERT_THAT(Holds(), SizeIs(1));
  EXPECT_EQ(Holds()[0].after_sequence(), 1u);
  EXPECT_EQ(Holds()[0].lease_seconds(), 3'600);
}

// A longer lease is a promise of its own, also in relaxed mode.
TEST_F(ChangeHolds, AreDurableWithEachLongerLease) {  // SEM-103
  const std::string root = directory_.path() + "/root";
  std::filesystem::create_directory(root);
  {
    auto disk = std::make_shared<PowerLossFileSystem>(root);
    auto options = TestDatabase::DefaultOptions(root + "/data");
    options.durable = false;
    options.file_system = disk;
    Start(options);
    database_->CreateTable(TableRequest("Things", false));
    ASSERT_TRUE(Hold(db(), "mover", 1, 60).ok());
    ASSERT_TRUE(Hold(db(), "mover", 1, 50, /*renews=*/true).ok());
    ASSERT_TRUE(Hold(db(), "mover", 1, 7'200, /*renews=*/true).ok());
    disk->CutPowerAfter(0);
    database_.reset();
    disk->DropUnsynced(1);
  }
  Start(TestDatabase::DefaultOptions(root + "/data"));
  ASSERT_THAT(Holds(), SizeIs(1));
  EXPECT_EQ(Holds()[0].lease_seconds(), 7'200);
}

// Else a power cut takes back changes that the reader counts on, and it believes that the database was
// restored to an earlier time.
TEST_F(ChangeHolds, NoPowerCutTakesBackWhatTheyFollow) {  // SEM-103
  const std::string root = directory_.path() + "/root";
  std::filesystem::create_directory(root);
  uint64_t after = 0;
  uint64_t answered = 0;
  {
    auto disk = std::make_shared<PowerLossFileSystem>(root);
    auto options = TestDatabase::DefaultOptions(root + "/data");
    options.durable = false;
    options.file_system = disk;
    Start(options);
    database_->CreateTable(TableRequest("Things", false));
    ASSERT_TRUE(Hold(db(), "mover", 1).ok());
    Fill(10);
    after = db().GetStatus().change_sequence();
    v1::HoldChangesRequest request;
    request.set_name("mover");
    request.set_after_sequence(after);
    const auto hold = [&] {
      return Await<v1::HoldChangesReply>([&](auto done) { db().HoldChanges(request, std::move(done)); });
    };
    ASSERT_TRUE(hold().ok());
    Fill(10);
    const auto again = hold();
    ASSERT_TRUE(again.ok()) << again.status();
    answered = again->change_sequence();
    EXPECT_GE(answered, after);
    disk->CutPowerAfter(0);
    database_.reset();
    disk->DropUnsynced(1);
  }
  Start(TestDatabase::DefaultOptions(root + "/data"));
  EXPECT_GE(db().GetStatus().change_sequence(), after);
  EXPECT_GE(db().GetStatus().change_sequence(), answered);
}

TEST_F(ChangeHolds, KeepWholeTransactions) {  // SEM-107
  Start(KeepNothing(data_));
  database_->CreateTable(TableRequest("Things", false));
  wire::TransactWriteItemsRequest transaction;
  for (int i = 0; i < 5; ++i)
    *transaction.add_transact_items()->mutable_put() = WriteRequest("Things", {{"pk", S(std::to_string(i))}});
  // Changes 2 to 6, and the reader has 2 to 4.
  ASSERT_TRUE(Hold(db(), "mover", 1).ok());
  ASSERT_TRUE(database_->Transact(transaction)->has_committed());
  ASSERT_TRUE(Hold(db(), "mover", 4).ok());
  Fill(10);
  ExpectOldestStays(2);
  database_->CheckIsClean();
}

TEST_F(ChangeHolds, KeepMoreThanTheBoundInBytes) {  // SEM-103
  auto options = TestDatabase::DefaultOptions(data_);
  options.memtable_bytes = 1 << 20;
  options.max_change_log_bytes = 1;
  options.change_trim_interval = std::chrono::milliseconds(2);
  Start(options);
  auto table = TableRequest("Things", false);
  table.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_IMAGE);
  database_->CreateTable(table);
  ASSERT_TRUE(Hold(db(), "mover", 1).ok());
  const auto fill = [&] {
    const std::string number = std::to_string(++items_);
    ASSERT_TRUE(
        database_->Put("Things", {{"pk", S("p" + number)}, {"x", S(std::string(300'000, 'x'))}}).ok());
  };
  for (int i = 0; i < 30; ++i) fill();
  std::this_thread::sleep_for(kRoundsOfTrimming);
  EXPECT_LE(Oldest(), 2u);
  EXPECT_THAT(Holds()[0].held_bytes(), ::testing::Gt(0));
  ASSERT_TRUE(Release(db(), "mover").ok());
  EXPECT_TRUE(Await([&] {
    fill();
    return Oldest() > 2;
  }));
}

// ---- the end of a hold

class ChangeHoldsByClock : public ChangeHolds {
 protected:
  ChangeHoldsByClock() {
    DatabaseOptions options = TestDatabase::DefaultOptions(data_);
    options.clock_us = [this] { return wall_us_.load(); };
    options.boot_clock_us = [this] { return boot_us_.load(); };
    options.change_retention = std::chrono::seconds(10);
    options.change_trim_interval = std::chrono::milliseconds(2);
    Start(options);
    database_->CreateTable(TableRequest("Things", false));
  }
  // The trimmer's thread may use the clocks until then.
  ~ChangeHoldsByClock() override { database_.reset(); }
  void Pass(int64_t seconds) {
    wall_us_ += seconds * kMicrosOfASecond;
    boot_us_ += seconds * kMicrosOfASecond;
  }

  std::atomic<int64_t> wall_us_ = int64_t{1'760'000'000} * kMicrosOfASecond;
  std::atomic<int64_t> boot_us_ = 1'000 * kMicrosOfASecond;
};

TEST_F(ChangeHoldsByClock, EndWhenTheyAreNotRenewedInTime) {  // SEM-103
  ASSERT_TRUE(Hold(db(), "mover", 1, 100).ok());
  Fill(10);
  Pass(99);
  Fill(1);
  ExpectOldestStays(2);
  ASSERT_TRUE(Hold(db(), "mover", 1, 100, /*renews=*/true).ok());
  Pass(99);
  Fill(1);
  ExpectOldestStays(2);
  Pass(1);
  EXPECT_TRUE(AwaitOldest(12));
  EXPECT_TRUE(Await([&] { return StateOf("mover") == v1::CHANGE_HOLD_STATE_EXPIRED; }));
  EXPECT_EQ(Holds()[0].ended_time_us(), wall_us_.load());
  const absl::Status ended = Hold(db(), "mover", 12, 100, /*renews=*/true).status();
  EXPECT_EQ(ended.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReasonOf(ended), kReasonHoldEnded);
  EXPECT_THAT(MessageOf(ended), HasSubstr("hold mover of the change log ended at 2025-10-09 08:56:39 UTC"));
  EXPECT_THAT(MessageOf(ended), HasSubstr("it was not renewed for its lease of 100 s"));
  // A restart does not forget the reason.
  database_->Reopen();
  EXPECT_EQ(Hold(db(), "mover", 12, 100, /*renews=*/true).status(), ended);
  // After a day it does.
  Pass(24 * 3'600);
  EXPECT_TRUE(Await([&] { return Holds().empty(); }));
  EXPECT_THAT(MessageOf(Hold(db(), "mover", 13, 100, /*renews=*/true).status()),
              HasSubstr("it was released, or ended so long ago that it is not listed any more"));
  // It can be made anew.
  EXPECT_TRUE(Hold(db(), "mover", 13, 100).ok());
  EXPECT_EQ(StateOf("mover"), v1::CHANGE_HOLD_STATE_HELD);
}

// Nor may making them, or ever longer leases.
TEST_F(ChangeHoldsByClock, AreMadeSeldom) {  // SEM-103
  int commits = 0;
  absl::Status refused;
  for (int i = 0; i < 1'000 && refused.ok(); ++i) {
    refused = Hold(db(), "a", 1).status();
    commits += refused.ok();
    // Always allowed: an operator must be able to end what a reader makes again and again.
    if (!refused.ok()) break;
    ASSERT_TRUE(Release(db(), "a").ok());
  }
  EXPECT_EQ(commits, kHoldCommitsBurst);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
  EXPECT_EQ(ReasonOf(refused), kReasonLimitExceeded);
  EXPECT_EQ(RetryAfterMsOf(refused), 100);
  EXPECT_THAT(MessageOf(refused), HasSubstr("more than 10 times in a second"));
  Pass(1);
  ASSERT_TRUE(Hold(db(), "a", 1, 10).ok());
  for (int i = 1; i < kHoldCommitsPerSecond; ++i)
    ASSERT_TRUE(Hold(db(), "a", 1, 10 + i, /*renews=*/true).ok()) << i;
  EXPECT_EQ(ReasonOf(Hold(db(), "a", 1, 100, /*renews=*/true).status()), kReasonLimitExceeded);
  EXPECT_EQ(ReasonOf(Hold(db(), "a", 0, 10, /*renews=*/true).status()), kReasonLimitExceeded);
  EXPECT_EQ(ReasonOf(Hold(db(), "b", 1).status()), kReasonLimitExceeded);
  EXPECT_THAT(Holds(), SizeIs(1));
  // Who has a hold keeps it.
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Hold(db(), "a", 1, 10, /*renews=*/true).ok());
  Pass(3'600);
  EXPECT_TRUE(Await([&] { return StateOf("a") == v1::CHANGE_HOLD_STATE_EXPIRED; }));
  EXPECT_TRUE(Release(db(), "a").ok());
}

// When a jump of the clock is believed, the reader has a whole lease to renew its hold.
TEST_F(ChangeHoldsByClock, DoNotEndBecauseTheClockWasSet) {  // SEM-103
  ASSERT_TRUE(Hold(db(), "mover", 1, 1'000).ok());
  Fill(10);
  wall_us_ += int64_t{365} * 86'400 * kMicrosOfASecond;
  Fill(1);
  Pass(700);
  Fill(1);
  ExpectOldestStays(2);
  EXPECT_EQ(StateOf("mover"), v1::CHANGE_HOLD_STATE_HELD);
  Pass(1'000);
  EXPECT_TRUE(AwaitOldest(13));
  EXPECT_TRUE(Await([&] { return StateOf("mover") == v1::CHANGE_HOLD_STATE_EXPIRED; }));
}

// And a clock that is set back makes no lease longer than one more.
TEST_F(ChangeHoldsByClock, EndAlthoughTheClockWasSetBack) {  // SEM-103
  ASSERT_TRUE(Hold(db(), "mover", 1, 1'000).ok());
  Fill(10);
  wall_us_ -= int64_t{365} * 86'400 * kMicrosOfASecond;
  Fill(1);
  Pass(700);
  Fill(1);
  EXPECT_TRUE(Await([&] { return Holds()[0].renewed_time_us() <= wall_us_; }));
  Pass(1'001);
  EXPECT_TRUE(Await([&] { return StateOf("mover") == v1::CHANGE_HOLD_STATE_EXPIRED; }));
  // What has ended is not known for longer either.
  wall_us_ -= int64_t{365} * 86'400 * kMicrosOfASecond;
  Fill(1);
  Pass(700);
  Fill(1);
  EXPECT_TRUE(Await([&] { return Holds().empty(); }));
}

// While the daemon is down no reader can renew its hold.
TEST_F(ChangeHoldsByClock, DoNotEndBecauseTheDaemonWasDown) {  // SEM-103
  ASSERT_TRUE(Hold(db(), "mover", 1, 100).ok());
  Fill(10);
  for (int i = 0; i < 2; ++i) {
    database_->Close();
    Pass(200);
    database_->Reopen();
    Pass(99);
    Fill(1);
    ExpectOldestStays(2);
    EXPECT_EQ(StateOf("mover"), v1::CHANGE_HOLD_STATE_HELD);
  }
  ASSERT_TRUE(Hold(db(), "mover", 1, 100, /*renews=*/true).ok());
  Pass(99);
  Fill(1);
  ExpectOldestStays(2);
  Pass(1);
  EXPECT_TRUE(Await([&] { return StateOf("mover") == v1::CHANGE_HOLD_STATE_EXPIRED; }));
}

// However many readers come and go, only the last hundred that ended are listed.
TEST_F(ChangeHoldsByClock, ThatHaveEndedAreNotListedWithoutEnd) {  // SEM-103
  for (const std::string wave : {"a", "b", "c"}) {
    for (int i = 0; i < kMaxChangeHolds - 1; ++i)
      ASSERT_TRUE(Hold(db(), wave + std::to_string(i), 1, 10).ok());
    Pass(10);
    ASSERT_TRUE(Await([&] { return StateOf(wave + "0") == v1::CHANGE_HOLD_STATE_EXPIRED; }));
  }
  std::map<char, int> listed;
  for (const v1::ChangeHold& hold : Holds()) ++listed[hold.name()[0]];
  EXPECT_EQ(listed, (std::map<char, int>{{'b', 1}, {'c', kMaxChangeHolds - 1}}));
}

// The DDL thread, which ends holds, may be busy for long.
TEST_F(ChangeHoldsByClock, ThatCannotBeEndedNowStopNoTrimming) {  // SEM-103
  Fill(10);
  ASSERT_TRUE(Hold(db(), "mover", 5, 15).ok());
  std::promise<void> begun, goes_on;
  std::future<void> waits_for = goes_on.get_future();
  v1::ReleaseChangesRequest unknown;
  unknown.set_name("unknown");
  db().ReleaseChanges(unknown, [&](const absl::StatusOr<v1::ReleaseChangesReply>&) {
    begun.set_value();
    waits_for.wait();
  });
  begun.get_future().wait();
  Pass(20);
  Fill(1);
  ExpectOldestStays(6);
  EXPECT_EQ(StateOf("mover"), v1::CHANGE_HOLD_STATE_HELD);
  goes_on.set_value();
  EXPECT_TRUE(AwaitOldest(12));
  EXPECT_EQ(StateOf("mover"), v1::CHANGE_HOLD_STATE_EXPIRED);
}

class ChangeHoldsOnAFullDisk : public ChangeHolds {
 protected:
  ChangeHoldsOnAFullDisk() {
    disk_->SetFreeSpace(uint64_t{1} << 30);
    DatabaseOptions options = KeepNothing(root_ + "/data");
    options.file_system = disk_;
    options.free_space_floor_bytes = 100 << 20;
    Start(options);
    database_->CreateTable(TableRequest("Things", false));
  }
  bool IsFull() {
    return ReasonOf(database_->Put("Things", {{"pk", S("full")}}).status()) == kReasonDiskFull;
  }

  static std::string MakeFolder(const std::string& path) {
    std::filesystem::create_directory(path);
    return path;
  }

  const std::string root_ = MakeFolder(directory_.path() + "/root");
  const std::shared_ptr<PowerLossFileSystem> disk_ = std::make_shared<PowerLossFileSystem>(root_);
};

TEST_F(ChangeHoldsOnAFullDisk, EndIfTheirChangesHaveToGo) {  // SEM-103
  ASSERT_TRUE(Hold(db(), "behind", 1).ok());
  Fill(10);
  ASSERT_TRUE(Hold(db(), "up_to_date", 11).ok());
  ExpectOldestStays(2);
  disk_->SetFreeSpace(50 << 20);
  EXPECT_TRUE(Await([&] { return IsFull(); }));
  EXPECT_TRUE(AwaitOldest(11));
  EXPECT_EQ(StateOf("behind"), v1::CHANGE_HOLD_STATE_DISK_FULL);
  EXPECT_EQ(StateOf("up_to_date"), v1::CHANGE_HOLD_STATE_HELD) << "it keeps nothing that would go without it";
  const absl::Status told = Hold(db(), "behind", 11, 3'600, /*renews=*/true).status();
  EXPECT_EQ(ReasonOf(told), kReasonHoldEnded);
  EXPECT_THAT(MessageOf(told), HasSubstr("free space was below twice the floor"));
  // What is renewed takes no more space than before; what is new does.
  EXPECT_TRUE(Hold(db(), "up_to_date", 11, 3'600, /*renews=*/true).ok());
  EXPECT_EQ(ReasonOf(Hold(db(), "new", 11).status()), kReasonDiskFull);
  EXPECT_TRUE(Release(db(), "behind").ok());
  disk_->SetFreeSpace(uint64_t{1} << 30);
  EXPECT_TRUE(Await([&] { return !IsFull(); }));
  EXPECT_TRUE(Hold(db(), "new", 11).ok());
}

// Writers do not meet the floor because of a reader that is away.
TEST_F(ChangeHoldsOnAFullDisk, EndBeforeWritesAreRefused) {  // SEM-103
  ASSERT_TRUE(Hold(db(), "behind", 1).ok());
  Fill(10);
  disk_->SetFreeSpace(201 << 20);
  ExpectOldestStays(2);
  disk_->SetFreeSpace(199 << 20);
  EXPECT_TRUE(AwaitOldest(11));
  EXPECT_EQ(StateOf("behind"), v1::CHANGE_HOLD_STATE_DISK_FULL);
  EXPECT_FALSE(IsFull());
  // Another one may be made, which keeps nothing yet that would be trimmed without it.
  ASSERT_TRUE(Hold(db(), "up_to_date", db().GetStatus().change_sequence()).ok());
  std::this_thread::sleep_for(kRoundsOfTrimming);
  EXPECT_EQ(StateOf("up_to_date"), v1::CHANGE_HOLD_STATE_HELD);
}

// Nothing that was acknowledged is forgotten for a call that is refused.
TEST_F(ChangeHoldsOnAFullDisk, AreAsTheyWereAfterARefusal) {  // SEM-103
  Fill(10);
  // No round of trimming may store it meanwhile: it would have nothing to forget.
  DatabaseOptions options = KeepNothing(root_ + "/data");
  options.change_trim_interval = std::chrono::hours(1);
  options.file_system = disk_;
  options.free_space_floor_bytes = 100 << 20;
  Start(options);
  ASSERT_TRUE(Hold(db(), "mover", 5).ok());
  const auto renewed = Hold(db(), "mover", 8, 1'800, /*renews=*/true);
  ASSERT_TRUE(renewed.ok()) << renewed.status();
  disk_->SetFreeSpace(50 << 20);
  ASSERT_TRUE(Await([&] { return IsFull(); }));
  ASSERT_EQ(ReasonOf(Hold(db(), "mover", 4).status()), kReasonDiskFull);
  ASSERT_THAT(Holds(), SizeIs(1));
  EXPECT_EQ(Holds()[0].after_sequence(), 8u);
  EXPECT_EQ(Holds()[0].lease_seconds(), 1'800);
  EXPECT_EQ(Holds()[0].renewed_time_us(), renewed->renewed_time_us());
}

// As a version that knows no holds may have left it, or a standby that was below its floor.
TEST_F(ChangeHolds, EndIfTheirChangesAreTrimmedAlready) {  // SEM-103
  const DatabaseOptions keep_all = TestDatabase::DefaultOptions(data_);
  Start(keep_all);
  database_->CreateTable(TableRequest("Things", false));
  ASSERT_TRUE(Hold(db(), "mover", 1).ok());
  database_.reset();
  const std::string record = Families(data_).All("catalog", "change_hold/").at("mover");
  Start(KeepNothing(data_));
  ASSERT_TRUE(Release(db(), "mover").ok());
  Fill(9);
  ASSERT_TRUE(AwaitOldest(10));
  database_.reset();
  Families(data_).Put("catalog", "change_hold/mover", record);
  Start(KeepNothing(data_));
  EXPECT_TRUE(Await([&] { return StateOf("mover") == v1::CHANGE_HOLD_STATE_DISK_FULL; }));
  EXPECT_EQ(ReasonOf(Hold(db(), "mover", 1, 3'600, /*renews=*/true).status()), kReasonHoldEnded);
  Fill(9);
  EXPECT_TRUE(AwaitOldest(19));
}

// ---- bad input

TEST_F(ChangeHolds, WhatIsWrongIsToldByName) {  // SEM-103
  Start(KeepNothing(data_));
  database_->CreateTable(TableRequest("Things", false));
  Fill(9);
  ASSERT_TRUE(AwaitOldest(10));
  const auto expect = [&](const absl::Status& status, absl::StatusCode code, std::string_view reason,
                          const std::string& text) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_EQ(ReasonOf(status), reason) << status;
    EXPECT_THAT(MessageOf(status), HasSubstr(text));
  };
  using enum absl::StatusCode;
  for (const std::string& name : {std::string(), std::string("a b"), std::string("a/b"),
                                  std::string(256, 'a'), std::string("\xc3\xa4"), std::string("a\0b", 3)}) {
    expect(Hold(db(), name, 10).status(), kInvalidArgument, kReasonValidation, "1 to 255 of the characters");
    expect(Release(db(), name), kInvalidArgument, kReasonValidation, "1 to 255 of the characters");
  }
  EXPECT_TRUE(Hold(db(), std::string(255, 'a'), 10).ok());
  EXPECT_TRUE(Release(db(), std::string(255, 'a')).ok());
  for (int lease : {0, -1, 2'592'001})
    expect(Hold(db(), "a", 10, lease).status(), kInvalidArgument, kReasonValidation,
           "LeaseSeconds must be 1 to 2592000; it is " + std::to_string(lease));
  for (uint64_t after : {uint64_t{11}, UINT64_MAX})
    expect(Hold(db(), "a", after).status(), kInvalidArgument, kReasonValidation,
           "the last change of this database is 10");
  expect(Hold(db(), "a", 5).status(), kOutOfRange, kReasonChangesTrimmed, "change 6 is no longer");
  expect(Hold(db(), "a", 10, 60, /*renews=*/true).status(), kFailedPrecondition, kReasonHoldEnded,
         "no hold of the change log with the name a");
  expect(Release(db(), "a"), kFailedPrecondition, kReasonHoldEnded,
         "no hold of the change log with the name a");
  EXPECT_THAT(Holds(), SizeIs(0));

  for (int i = 0; i < kMaxChangeHolds; ++i) ASSERT_TRUE(Hold(db(), "h" + std::to_string(i), 10).ok());
  expect(Hold(db(), "more", 10).status(), kResourceExhausted, kReasonLimitExceeded, "there are 100 holds");
  EXPECT_TRUE(Hold(db(), "h7", 10).ok());
  ASSERT_TRUE(Release(db(), "h7").ok());
  EXPECT_TRUE(Hold(db(), "more", 10).ok());

  v1::HoldChangesRequest by_default;
  by_default.set_name("h8");
  by_default.set_after_sequence(10);
  const auto reply =
      Await<v1::HoldChangesReply>([&](auto done) { db().HoldChanges(by_default, std::move(done)); });
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->hold().lease_seconds(), 86'400);
  EXPECT_EQ(reply->change_sequence(), 10u);
}

TEST_F(ChangeHolds, ADamagedRecordStopsNoTrimming) {  // SEM-103
  Start(TestDatabase::DefaultOptions(data_));
  database_->CreateTable(TableRequest("Things", false));
  ASSERT_TRUE(Hold(db(), "mover", 1).ok());
  Fill(9);
  database_.reset();
  Families(data_).Put("catalog", "change_hold/mover", "damaged");
  Start(KeepNothing(data_));
  EXPECT_TRUE(AwaitOldest(10));
  // It is gone, and the name can be used again.
  EXPECT_TRUE(Hold(db(), "mover", 10).ok());
  ASSERT_THAT(Holds(), SizeIs(1));
}

// ---- beside trimming

// Who got a hold can read from its position on, whatever trimming does in that moment.
TEST_F(ChangeHolds, NothingIsTrimmedThatWasPromised) {  // SEM-103
  auto options = KeepNothing(data_);
  options.change_trim_interval = std::chrono::milliseconds(1);
  Start(options);
  database_->CreateTable(TableRequest("Things", false));
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      ASSERT_TRUE(
          database_->Put("Things", {{"pk", S(std::to_string(i % 50))}, {"n", N(std::to_string(i))}}).ok());
    }
  });
  std::vector<std::thread> readers;
  std::atomic<int> held = 0;
  for (int number = 0; number < 3; ++number) {
    readers.emplace_back([&, number] {
      const std::string name = "reader" + std::to_string(number);
      const auto begin = std::chrono::steady_clock::now();
      const auto passed = [&] { return std::chrono::steady_clock::now() - begin; };
      // Longer where syncs take long.
      while (passed() < std::chrono::seconds(3) || (held <= 50 && passed() < std::chrono::minutes(1))) {
        // Near the place that trimming wants to reach.
        const uint64_t last = db().GetStatus().change_sequence();
        const uint64_t after = last - std::min<uint64_t>(last, number);
        const auto hold = Hold(db(), name, after);
        if (!hold.ok()) {
          ASSERT_TRUE(ReasonOf(hold.status()) == kReasonChangesTrimmed || AwaitTurn(hold.status()))
              << hold.status();
          continue;
        }
        ++held;
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        const auto page = database_->ReadChanges(after);
        ASSERT_TRUE(page.ok()) << page.status();
        absl::Status released = Release(db(), name);
        while (AwaitTurn(released)) released = Release(db(), name);
        ASSERT_TRUE(released.ok()) << released;
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  stop = true;
  writer.join();
  EXPECT_GT(held, 50);
  EXPECT_GT(Oldest(), 100u);
  database_->CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
