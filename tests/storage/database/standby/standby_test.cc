// A standby follows the archive of its primary, and becomes the primary when it is promoted.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "tests/storage/database/standby/standby_fixture.h"
#include "tests/support/live_index.h"
#include "tests/support/repetitions.h"

namespace itemdb::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(StandbyTest, HasWhatThePrimaryHas) {
  CreateTable();
  Write(50, 1);
  StartStandby();
  AwaitStandby();
  ExpectEqual();
  for (int round = 0; round < Repetitions(10); ++round) {
    Write(50, static_cast<uint64_t>(10 + round));
    AwaitArchive();
    AwaitStandby();
    ExpectEqual();
  }
}

TEST_F(StandbyTest, GoesOnWhereItStopped) {
  CreateTable();
  StartStandby();
  for (int round = 0; round < 3; ++round) {
    Write(50, static_cast<uint64_t>(round));
    standby_->Close();
    Write(50, static_cast<uint64_t>(100 + round));
    AwaitArchive();
    standby_->Reopen();
    AwaitStandby();
    ExpectEqual();
  }
}

// The archive begins another segment, after the one that the standby has open.
TEST_F(StandbyTest, FollowsAPrimaryThatIsStartedAgain) {
  CreateTable();
  StartStandby();
  for (int round = 0; round < 3; ++round) {
    Write(30, static_cast<uint64_t>(round));
    primary_->Reopen();
    Write(30, static_cast<uint64_t>(100 + round));
    AwaitArchive();
    AwaitStandby();
    ExpectEqual();
  }
  EXPECT_FALSE((*standby_)->GetStatus().standby().needs_base());
}

TEST_F(StandbyTest, FollowsThroughSeveralSegmentsThatWereWrittenWhileItWasAway) {
  CreateTable();
  StartStandby();
  standby_->Close();
  for (int round = 0; round < 3; ++round) {
    Write(30, static_cast<uint64_t>(round));
    primary_->Reopen();
  }
  Write(30, 100);
  AwaitArchive();
  standby_->Reopen();
  AwaitStandby();
  ExpectEqual();
}

TEST_F(StandbyTest, HasTablesAndIndexesThatComeAndGo) {
  CreateTable();
  CreateTable("Other");
  StartStandby();
  Write(100, 1);
  ASSERT_TRUE(UpdateTable(**primary_, CreateIndexRequest("Things", "Built", {"number:S"}, 1)).ok());
  AwaitIndexes(**primary_, "Things");
  Write(20, 2);
  ASSERT_TRUE(DeleteTable(*primary_, "Other").ok());
  CreateTable("New");
  AwaitArchive();
  AwaitStandby();
  ExpectEqual({"ByState", "ByNumber", "Built"});
  EXPECT_TRUE(absl::IsNotFound(standby_->Scan(ScanRequest("Other")).status()));
  EXPECT_THAT(ScanAll(*standby_, ScanRequest("New")), IsEmpty());
  // What was deleted leaves the disk here too.
  for (int i = 0; i < 3000 && (*standby_)->GetStatus().disk().dropped_count() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ((*standby_)->GetStatus().disk().dropped_count(), 0);
}

// The items are in no commit group: the archive has a gap there.
TEST_F(StandbyTest, HasATableThatWasRestoredFromABackup) {
  CreateTable();
  Write(50, 1);
  StartStandby();
  AwaitStandby();
  const std::string id = (*standby_)->GetStatus().database_id();
  v1::CreateBackupRequest backup;
  backup.set_table_name("Things");
  backup.set_backup_name("one");
  const auto made =
      Await<v1::CreateBackupReply>([&](auto done) { (*primary_)->CreateBackup(backup, std::move(done)); });
  ASSERT_TRUE(made.ok()) << made.status();
  v1::RestoreTableFromBackupRequest request;
  request.set_target_table_name("Loaded");
  request.set_backup_arn(made->backup().backup_arn());
  ASSERT_TRUE(Await<v1::RestoreTableFromBackupReply>([&](auto done) {
                (*primary_)->RestoreTableFromBackup(request, std::move(done));
              }).ok());
  AwaitIndexes(**primary_, "Loaded");
  Write(20, 2);
  AwaitArchive();
  AwaitStandby();
  ExpectEqual();
  EXPECT_EQ(ScanAll(*standby_, ScanRequest("Loaded")), ScanAll(*primary_, ScanRequest("Loaded")));
  EXPECT_EQ((*standby_)->GetStatus().database_id(), id) << "the same database for its clients";
  Write(20, 3);
  AwaitArchive();
  AwaitStandby();
  ExpectEqual();
  standby_->Reopen();
  AwaitStandby();
  ExpectEqual();
}

TEST_F(StandbyTest, TakesNoWritesUntilItIsPromoted) {
  CreateTable();
  StartStandby();
  AwaitStandby();
  const absl::Status refused = Put(*standby_, "a", 1).status();
  EXPECT_EQ(ReasonOf(refused), kReasonStandby);
  EXPECT_THAT(MessageOf(refused), HasSubstr("'itemctl promote'"));
  EXPECT_EQ(ReasonOf(itemdb::testing::CreateTable(*standby_, TableRequest("More")).status()), kReasonStandby);
  EXPECT_EQ(ReasonOf(DeleteTable(*standby_, "Things").status()), kReasonStandby);
  v1::CreateBackupRequest backup;
  backup.set_table_name("Things");
  backup.set_backup_name("one");
  EXPECT_EQ(ReasonOf(Await<v1::CreateBackupReply>([&](auto done) {
                       (*standby_)->CreateBackup(backup, std::move(done));
                     }).status()),
            kReasonStandby);
  EXPECT_THAT((*standby_)->GetStatus().writes_refused(), HasSubstr(archive_));
  ASSERT_TRUE(Promote().ok());
  EXPECT_TRUE(Put(*standby_, "a", 1).ok());
  EXPECT_TRUE(itemdb::testing::CreateTable(*standby_, TableRequest("More")).ok());
  EXPECT_EQ((*standby_)->GetStatus().writes_refused(), "");
  EXPECT_FALSE((*standby_)->GetStatus().has_standby());
}

// A reader goes on with the standby after its promotion.
TEST_F(StandbyTest, AStandbyKeepsWhatItsPrimaryHolds) {  // SEM-103
  CreateTable();
  const uint64_t after = (*primary_)->GetStatus().change_sequence();
  v1::HoldChangesRequest hold;
  hold.set_name("mover");
  hold.set_after_sequence(after);
  const auto hold_at = [&](TestDatabase& database) {
    return Await<v1::HoldChangesReply>([&](auto done) { database->HoldChanges(hold, std::move(done)); });
  };
  ASSERT_TRUE(hold_at(*primary_).ok());
  AwaitArchive();
  DatabaseOptions options = StandbyOptions();
  options.change_retention = std::chrono::milliseconds(1);
  options.change_trim_interval = std::chrono::milliseconds(5);
  // Its clock is wrong. Whether a hold has ended, its primary says.
  options.clock_us = [] { return absl::ToUnixMicros(absl::Now() + absl::Hours(24 * 365)); };
  standby_ = std::make_unique<TestDatabase>(options);
  Write(100, 1);
  AwaitStandby();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(standby_->ReadChanges(after).ok()) << standby_->ReadChanges(after).status();
  EXPECT_EQ(ReasonOf(hold_at(*standby_).status()), kReasonStandby);
  // Also where it would be another error on a primary.
  hold.set_name("unknown");
  hold.set_renews(true);
  EXPECT_EQ(ReasonOf(hold_at(*standby_).status()), kReasonStandby);
  hold.set_name("mover");
  hold.set_renews(false);
  v1::ReleaseChangesRequest of_unknown;
  of_unknown.set_name("unknown");
  EXPECT_EQ(ReasonOf(Await<v1::ReleaseChangesReply>([&](auto done) {
                       (*standby_)->ReleaseChanges(of_unknown, std::move(done));
                     }).status()),
            kReasonStandby);
  EXPECT_EQ((*standby_)->GetStatus().change_holds_size(), 1);
  primary_.reset();
  ASSERT_TRUE(Promote().ok());
  hold.set_renews(true);
  EXPECT_TRUE(hold_at(*standby_).ok());
  EXPECT_TRUE(standby_->ReadChanges(after).ok());
  v1::ReleaseChangesRequest release;
  release.set_name("mover");
  ASSERT_TRUE(Await<v1::ReleaseChangesReply>([&](auto done) {
                (*standby_)->ReleaseChanges(release, std::move(done));
              }).ok());
  for (int i = 0; i < 3000 && standby_->ReadChanges(after).ok(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(ReasonOf(standby_->ReadChanges(after).status()), kReasonChangesTrimmed);
}

// Writers that a primary sends to another database are sent there by its standby too.
TEST_F(StandbyTest, HasTheFenceOfAMovedTableAfterAPromotion) {
  CreateTable();
  StartStandby();
  v1::UpdateTableRequest fence;
  fence.set_table_name("Things");
  fence.mutable_write_fence()->set_endpoint("elsewhere");
  fence.mutable_write_fence()->set_moved(true);
  ASSERT_TRUE(UpdateTable(**primary_, fence).ok());
  AwaitArchive();
  AwaitStandby();
  primary_->Close();
  ASSERT_TRUE(Promote(/*force=*/true).ok());
  EXPECT_EQ(ReasonOf(Put(*standby_, "p", 1).status()), kReasonTableMoved);
}

// BLK-11: a standby begins no bulk put, and goes on with none: the files are the primary's.
TEST_F(StandbyTest, ABulkPutOfThePrimaryEndsWithThePromotion) {
  CreateTable();
  const std::string bucket = directory_.path() + "/primary/exports/bucket";
  fs::create_directories(bucket);
  std::ofstream file(bucket + "/data");
  for (int i = 0; i < 100'000; ++i) file << R"({"Item":{"pk":{"S":"a"},"sk":{"S":")" << i << "\"}}}\n";
  file.close();
  v1::StartBulkPutItemsRequest request;
  request.set_table_name("Things");
  request.mutable_input()->set_s3_bucket("bucket");
  request.mutable_input()->set_input_format(v1::INPUT_FORMAT_DYNAMODB_JSON);
  request.mutable_output()->add_output_type(v1::BULK_OUTPUT_TYPE_ERROR);
  request.set_max_write_request_units(1'024);
  const auto start = [&](TestDatabase& database) {
    return Await<v1::StartBulkPutItemsReply>(
        [&](auto done) { database->StartBulkPutItems(request, std::move(done)); });
  };
  const auto begun = start(*primary_);
  ASSERT_TRUE(begun.ok()) << begun.status();
  v1::DescribeBulkOperationRequest describe;
  describe.set_bulk_operation_arn(begun->description().bulk_operation_arn());
  for (int i = 0; i < 3000; ++i) {
    if ((*primary_)->DescribeBulkOperation(describe)->description().written_item_count() > 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  StartStandby();
  EXPECT_EQ(ReasonOf(start(*standby_).status()), kReasonStandby);
  v1::CancelBulkOperationRequest cancel;
  cancel.set_bulk_operation_arn(describe.bulk_operation_arn());
  EXPECT_EQ(ReasonOf(Await<v1::CancelBulkOperationReply>([&](auto done) {
                       (*standby_)->CancelBulkOperation(cancel, std::move(done));
                     }).status()),
            kReasonStandby);
  primary_->Close();
  const auto promoted = Promote();
  ASSERT_TRUE(promoted.ok()) << promoted.status();
  v1::BulkOperationDescription ended;
  for (int i = 0; i < 3000; ++i) {
    ended = (*standby_)->DescribeBulkOperation(describe)->description();
    if (ended.bulk_operation_status() != v1::BULK_OPERATION_STATUS_IN_PROGRESS) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_FAILED);
  EXPECT_THAT(ended.failure_message(), HasSubstr("promoted"));
  EXPECT_GT(ended.written_item_count(), 0);
  EXPECT_THAT(ScanAll(*standby_, ScanRequest("Things")), SizeIs(ended.written_item_count()));
  standby_->CheckIsClean();
}

TEST_F(StandbyTest, APromotionLosesNothingOfARunningPrimaryWhichThenTakesNoWrites) {
  CreateTable();
  StartStandby();
  std::atomic<bool> done = false;
  std::atomic<int> answered = 0;
  std::thread writer([&] {
    for (int i = 0; !done; ++i) {
      const absl::Status put = Put(*primary_, "a", i).status();
      if (put.ok()) {
        answered = i + 1;
      } else {
        EXPECT_EQ(ReasonOf(put), kReasonFenced);
        return;
      }
    }
  });
  while (answered < 100) std::this_thread::yield();
  const auto promoted = Promote();
  ASSERT_TRUE(promoted.ok()) << promoted.status();
  done = true;
  writer.join();
  EXPECT_EQ(ReasonOf(Put(*primary_, "b", 1).status()), kReasonFenced);
  EXPECT_THAT(ScanAll(*standby_, ScanRequest("Things")), SizeIs(answered.load()));
  EXPECT_EQ(promoted->change_sequence(), (*primary_)->GetStatus().change_sequence());
  ExpectEqual();
  EXPECT_TRUE(Put(*standby_, "b", 1).ok());
  standby_->CheckIsClean();
  // The old primary reads on, and takes no writes after a start either.
  primary_->Reopen();
  EXPECT_EQ(ReasonOf(Put(*primary_, "b", 1).status()), kReasonFenced);
  EXPECT_THAT(ScanAll(*primary_, ScanRequest("Things")), SizeIs(answered.load()));
}

TEST_F(StandbyTest, IsItsOwnDatabaseAfterThePromotion) {
  CreateTable();
  Write(50, 1);
  DatabaseOptions options = StandbyOptions();
  options.archive_directory = directory_.path() + "/own-archive";
  options.backup_directory = directory_.path() + "/own-backups";
  options.archive_interval = std::chrono::milliseconds(5);
  AwaitArchive();
  standby_ = std::make_unique<TestDatabase>(options);
  AwaitStandby();
  primary_->Close();
  ASSERT_TRUE(Promote().ok());
  EXPECT_EQ(ReasonOf(Promote().status()), kReasonValidation);
  ASSERT_TRUE(Put(*standby_, "own", 1).ok());
  // Started as before, with the options of a standby.
  standby_->Reopen();
  ASSERT_TRUE(Put(*standby_, "own", 2).ok());
  // Its own archive and backups lead to a standby of it.
  for (int i = 0; i < 3000; ++i) {
    const v1::ArchiveStatus status = (*standby_)->GetStatus().archive();
    if (status.change_sequence() == (*standby_)->GetStatus().change_sequence() && !status.needs_backup() &&
        status.oldest_time_us() != 0)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  DatabaseOptions second = StandbyOptions("second");
  second.standby_archive = options.archive_directory;
  second.standby_backups = options.backup_directory;
  TestDatabase other(second);
  for (int i = 0;
       i < 3000 && other->GetStatus().change_sequence() != (*standby_)->GetStatus().change_sequence(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(ScanAll(other, ScanRequest("Things")), ScanAll(*standby_, ScanRequest("Things")));
  other.CheckIsClean();
}

TEST_F(StandbyTest, OnlyOneOfTwoIsPromoted) {
  CreateTable();
  StartStandby();
  TestDatabase second(StandbyOptions("second"));
  ASSERT_TRUE(Promote().ok());
  standby_ = nullptr;
  const absl::Status refused =
      Await<v1::PromoteReply>([&](auto done) { second->Promote({}, std::move(done)); }).status();
  EXPECT_EQ(ReasonOf(refused), kReasonFenced);
  EXPECT_THAT(MessageOf(refused), HasSubstr("another standby"));
  EXPECT_EQ(ReasonOf(Put(second, "a", 1).status()), kReasonStandby) << "it is a standby still";
}

TEST_F(StandbyTest, AnArchiveThatIsGoneNeedsForce) {
  CreateTable();
  Write(30, 1);
  StartStandby();
  AwaitStandby();
  const std::vector<std::string> items = ScanAll(*primary_, ScanRequest("Things"));
  primary_->Close();
  fs::remove_all(archive_);
  EXPECT_FALSE(Promote().ok());
  EXPECT_EQ(ReasonOf(Put(*standby_, "a", 1).status()), kReasonStandby);
  ASSERT_TRUE(Promote(/*force=*/true).ok());
  EXPECT_EQ(ScanAll(*standby_, ScanRequest("Things")), items);
  EXPECT_TRUE(Put(*standby_, "a", 1).ok());
  // It needs nothing of the old archive any more.
  standby_->Reopen();
  EXPECT_TRUE(Put(*standby_, "a", 2).ok());
}

TEST_F(StandbyTest, DirectoriesOfOthersAreRefused) {
  CreateTable();
  StartStandby();
  standby_->Close();
  DatabaseOptions plain = TestDatabase::DefaultOptions(directory_.path() + "/standby");
  const absl::Status without = Database::Open(plain).status();
  EXPECT_EQ(ReasonOf(without), kReasonStandby);
  EXPECT_THAT(MessageOf(without), HasSubstr("is a standby. Start itemd with --standby"));
  { TestDatabase other(TestDatabase::DefaultOptions(directory_.path() + "/other")); }
  const absl::Status foreign = Database::Open(StandbyOptions("other")).status();
  EXPECT_EQ(ReasonOf(foreign), kReasonDataDirectoryForeign);
  DatabaseOptions nothing = StandbyOptions("empty");
  nothing.standby_archive = directory_.path() + "/nothing";
  EXPECT_FALSE(Database::Open(nothing).ok());
}

// A token that the primary has stored is known after the promotion: the request is not applied again.
TEST_F(StandbyTest, KnowsTheRequestTokensOfThePrimary) {
  CreateTable();
  StartStandby();
  wire::TransactWriteItemsRequest transaction;
  *transaction.add_transact_items()->mutable_update() =
      UpdateRequest("Things", {{"pk", S("a")}, {"sk", S("1")}}, "ADD visits :one", {{":one", N("1")}});
  transaction.set_client_request_token("once");
  ASSERT_TRUE(primary_->Transact(transaction).ok());
  ASSERT_TRUE(Promote().ok());
  ASSERT_TRUE(standby_->Transact(transaction).ok());
  EXPECT_THAT(ScanAll(*standby_, ScanRequest("Things")), ElementsAre(HasSubstr("visits=1")));
  standby_->CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
