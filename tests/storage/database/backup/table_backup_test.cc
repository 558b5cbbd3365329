// Backups of single tables: making, listing and deleting them, and the setting of point-in-time recovery.
#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "spdlog/spdlog.h"
#include "tests/storage/database/backup/table_backup_fixture.h"
#include "tests/support/files.h"
#include "tests/support/live_index.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

constexpr char kUnknownBackup[] =
    "arn:aws:dynamodb:local:000000000000:table/Things/backup/01700000000000-0123abcd";

// BAK-01 to BAK-03, BAK-11, BAK-15.
TEST_F(TableBackupTest, IsDescribedAndListedAndDeleted) {
  CreateIndexedTable("Things");
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(
        database_->Put("Things", {{"pk", S("a")}, {"sk", S(std::to_string(i))}, {"state", S("x")}}).ok());
  }
  auto created = StartBackup("arn:aws:dynamodb:local:000000000000:table/Things", "my.backup");
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(created->backup_name(), "my.backup");
  EXPECT_EQ(created->backup_status(), v1::BACKUP_STATUS_CREATING);
  EXPECT_EQ(created->backup_type(), v1::BACKUP_TYPE_USER);
  EXPECT_EQ(created->expiry_time_ms(), 0);
  EXPECT_THAT(created->backup_arn(),
              MatchesRegex("arn:aws:dynamodb:local:000000000000:table/Things/backup/[0-9]{14}-[0-9a-f]{8}"));
  // The backup of a small table is done when its call is answered.
  auto described = DescribeBackup(created->backup_arn());
  ASSERT_TRUE(described.ok()) << described.status();
  EXPECT_EQ(described->backup_status(), v1::BACKUP_STATUS_AVAILABLE);
  EXPECT_EQ(described->creation_time_ms(), created->creation_time_ms());  // BAK-04.
  EXPECT_EQ(described->source_table().item_count(), 20);
  EXPECT_EQ(described->source_table().table_size_bytes(), Describe(*database_, "Things").table_size_bytes());
  EXPECT_EQ(described->source_table().table_id(), Describe(*database_, "Things").table_id());
  EXPECT_THAT(described->source_table().global_secondary_indexes(), SizeIs(3));
  EXPECT_GT(described->file_bytes(), 0);
  EXPECT_THAT(ListedNames(), ElementsAre("my.backup"));

  // A backup outlives its table, and the table that takes its name.
  ASSERT_TRUE(DeleteTable(*database_, "Things").ok());
  database_->CreateTable(TableRequest("Things"));
  database_->Reopen();
  EXPECT_THAT(ListedNames(), ElementsAre("my.backup"));
  auto deleted = DeleteBackup(created->backup_arn());
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  EXPECT_EQ(deleted->backup_status(), v1::BACKUP_STATUS_DELETED);
  EXPECT_EQ(deleted->source_table().item_count(), 20);
  EXPECT_THAT(ListedNames(), IsEmpty());
  EXPECT_THAT(Folders(), IsEmpty());
  const std::string gone = "Backup not found: " + created->backup_arn();
  EXPECT_THAT(DescribeBackup(created->backup_arn()).status(), FailsWith(kReasonBackupNotFound, gone));
  EXPECT_THAT(DeleteBackup(created->backup_arn()).status(), FailsWith(kReasonBackupNotFound, gone));
}

// BAK-10, PIT-14.
TEST_F(TableBackupTest, LeavesOutWhatBelongsToTheTableOnly) {
  v1::CreateTableRequest table = TableRequest("Things");
  table.set_deletion_protection_enabled(true);
  table.set_table_class(v1::TABLE_CLASS_STANDARD_INFREQUENT_ACCESS);
  table.set_stream_enabled(true);
  table.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_IMAGE);
  auto* tag = table.add_tags();
  tag->set_key("k");
  tag->set_value("v");
  database_->CreateTable(table);
  ASSERT_TRUE(SetRecovery("Things", true).ok());
  v1::UpdateTimeToLiveRequest time_to_live;
  time_to_live.set_table_name("Things");
  time_to_live.mutable_time_to_live_specification()->set_enabled(true);
  time_to_live.mutable_time_to_live_specification()->set_attribute_name("expires");
  auto updated = Await<v1::UpdateTimeToLiveReply>(
      [&](auto done) { database().UpdateTimeToLive(time_to_live, std::move(done)); });
  ASSERT_TRUE(updated.ok()) << updated.status();
  v1::UpdateTableRequest fence;
  fence.set_table_name("Things");
  fence.mutable_write_fence()->set_endpoint("elsewhere");
  fence.mutable_write_fence()->set_moved(true);
  ASSERT_TRUE(
      Await<v1::UpdateTableReply>([&](auto done) { database().UpdateTable(fence, std::move(done)); }).ok());

  const std::string arn = BackUp("Things");
  auto backup = DescribeBackup(arn);
  ASSERT_TRUE(backup.ok());
  EXPECT_EQ(backup->time_to_live_attribute(), "expires");
  EXPECT_FALSE(backup->source_table().has_write_fence());
  EXPECT_TRUE(backup->source_table().stream_enabled());
  EXPECT_THAT(backup->source_table().tags(), IsEmpty());
  EXPECT_FALSE(backup->source_table().deletion_protection_enabled());
  EXPECT_FALSE(backup->source_table().has_warm_throughput());
  EXPECT_EQ(backup->source_table().table_class(), v1::TABLE_CLASS_UNSPECIFIED);
  EXPECT_FALSE(backup->source_table().has_point_in_time_recovery());

  auto restored = RestoreTable("Copy", arn);
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_FALSE(restored->stream_enabled());
  EXPECT_EQ(restored->latest_stream_label(), "");
  EXPECT_THAT(restored->tags(), IsEmpty());
  EXPECT_FALSE(restored->deletion_protection_enabled());
  EXPECT_FALSE(restored->has_write_fence());
  EXPECT_TRUE(database_->Put("Copy", {{"pk", S("p")}, {"sk", S("s")}}).ok());
  EXPECT_EQ(restored->table_class(), v1::TABLE_CLASS_STANDARD);
  EXPECT_NE(restored->table_id(), Describe(*database_, "Things").table_id());
  EXPECT_FALSE(Recovery("Copy")->point_in_time_recovery_enabled());
}

// BAK-12, BAK-13, BAK-14.
TEST_F(TableBackupTest, ListsPages) {
  database_->CreateTable(TableRequest("First"));
  database_->CreateTable(TableRequest("Second"));
  std::vector<std::string> arns;
  std::vector<int64_t> times;
  for (int i = 0; i < 5; ++i) {
    arns.push_back(BackUp(i % 2 == 0 ? "First" : "Second", "number" + std::to_string(i)));
    times.push_back(DescribeBackup(arns.back())->creation_time_ms());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_THAT(ListedNames(), ElementsAre("number0", "number1", "number2", "number3", "number4"));
  v1::ListBackupsRequest of_table;
  of_table.set_table_name("Second");
  EXPECT_THAT(ListedNames(of_table), ElementsAre("number1", "number3"));
  of_table.set_table_name("Nothing");
  EXPECT_THAT(ListedNames(of_table), IsEmpty());

  v1::ListBackupsRequest page;
  page.set_limit(2);
  auto reply = List(page);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->last_evaluated_backup_arn(), arns[1]);
  // The backup to start after may be gone.
  ASSERT_TRUE(DeleteBackup(arns[1]).ok());
  page.set_exclusive_start_backup_arn(arns[1]);
  EXPECT_THAT(ListedNames(page), ElementsAre("number2", "number3"));
  page.set_exclusive_start_backup_arn(arns[2]);
  reply = List(page);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->backups_size(), 2);
  EXPECT_EQ(reply->last_evaluated_backup_arn(), "") << "the page ends exactly at the end";

  v1::ListBackupsRequest range;
  range.set_time_range_lower_bound_ms(times[2]);
  range.set_time_range_upper_bound_ms(times[4]);
  EXPECT_THAT(ListedNames(range), ElementsAre("number2", "number3"));
  range.set_time_range_upper_bound_ms(times[2]);
  EXPECT_THAT(ListedNames(range), IsEmpty());
  range.set_time_range_upper_bound_ms(times[2] - 1);
  EXPECT_THAT(
      List(range).status(),
      FailsWith(kReasonValidation, "Time range lower bound must be less than or equal to upper bound"));
  v1::ListBackupsRequest type;
  type.set_backup_type(v1::BACKUP_TYPE_FILTER_SYSTEM);
  EXPECT_THAT(ListedNames(type), IsEmpty());
  type.set_backup_type(v1::BACKUP_TYPE_FILTER_AWS_BACKUP);
  EXPECT_THAT(ListedNames(type), IsEmpty());
  type.set_backup_type(v1::BACKUP_TYPE_FILTER_ALL);
  EXPECT_THAT(ListedNames(type), SizeIs(4));
  v1::ListBackupsRequest bad;
  bad.set_limit(101);
  EXPECT_THAT(List(bad).status(), IsInvalid("Limit must be 1 to 100"));
  bad.Clear();
  bad.set_exclusive_start_backup_arn(
      "arn:aws:dynamodb:eu-west-1:000000000000:table/Things/backup/01700000000000-0123abcd");
  EXPECT_THAT(List(bad).status(), IsInvalid("does not match the region"));
}

// BAK-06, BAK-16.
TEST_F(TableBackupTest, RefusesBadNamesAndArns) {
  database_->CreateTable(TableRequest("Things"));
  EXPECT_THAT(StartBackup("Nothing").status(), FailsWith(kReasonTableNotFound, "Table not found: Nothing"));
  EXPECT_THAT(StartBackup("Things", "no").status(), IsInvalid("BackupName"));
  EXPECT_THAT(StartBackup("Things", "with space").status(), IsInvalid("BackupName"));
  EXPECT_THAT(StartBackup("Things", std::string(256, 'x')).status(), IsInvalid("BackupName"));
  EXPECT_THAT(Folders(), IsEmpty());

  struct Case {
    std::string arn;
    std::string_view reason;
    std::string text;
  };
  const std::string id = "/backup/01700000000000-0123abcd";
  for (const Case& one : {
           Case{"", kReasonValidation, "Invalid Backup ARN"},
           Case{"Things", kReasonValidation, "Invalid Backup ARN"},
           Case{"arn:aws:dynamodb:local:000000000000:table/Things", kReasonValidation, "Invalid Backup ARN"},
           Case{"arn:aws:dynamodb:local:000000000000:table/Things/stream/x", kReasonValidation,
                "Invalid Backup ARN"},
           Case{"arn:aws:dynamodb:local:000000000000:table/Things/backup/../../x", kReasonValidation,
                "Invalid Backup ARN"},
           Case{"arn:aws:dynamodb:local:000000000000:table/../Things" + id, kReasonValidation,
                "Invalid Backup ARN"},
           Case{"arn:aws-cn:dynamodb:local:000000000000:table/Things" + id, kReasonValidation,
                "BackupArn is not valid"},
           Case{"arn:aws:s3:local:000000000000:table/Things" + id, kReasonValidation,
                "BackupArn is not valid"},
           Case{"arn:aws:dynamodb:nowhere:000000000000:table/Things" + id, kReasonValidation,
                "BackupArn is not valid"},
           Case{"arn:aws:dynamodb:local:123456789012:table/Things" + id, kReasonAccessDenied,
                "Access is denied"},
           Case{kUnknownBackup, kReasonBackupNotFound, std::string("Backup not found: ") + kUnknownBackup},
       }) {
    SCOPED_TRACE(one.arn);
    EXPECT_THAT(DescribeBackup(one.arn).status(), FailsWith(one.reason, one.text));
    EXPECT_THAT(DeleteBackup(one.arn).status(), FailsWith(one.reason, one.text));
    EXPECT_THAT(StartRestore("Target", one.arn).status(), FailsWith(one.reason, one.text));
  }
  EXPECT_FALSE(std::filesystem::exists(backups_)) << "looking for backups made the directory";
}

// Another region is ignored and echoed (BAK-16); another table with the same id is another backup.
TEST_F(TableBackupTest, FindsABackupByTableAndId) {
  database_->CreateTable(TableRequest("Things"));
  const std::string arn = BackUp("Things");
  std::string elsewhere = arn;
  elsewhere.replace(elsewhere.find("local"), 5, "eu-west-1");
  auto described = DescribeBackup(elsewhere);
  ASSERT_TRUE(described.ok()) << described.status();
  EXPECT_EQ(described->backup_arn(), elsewhere);
  std::string of_other = arn;
  of_other.replace(of_other.find("Things"), 6, "Others");
  EXPECT_THAT(DescribeBackup(of_other).status(),
              FailsWith(kReasonBackupNotFound, "Backup not found: " + of_other));
  // PIT-18.
  EXPECT_THAT(
      StartRestore("Copy", elsewhere).status(),
      FailsWith(kReasonValidation,
                "Invalid Request: sseSpecificationOverride must be provided for cross-region restores"));
  v1::RestoreTableFromBackupRequest request = RestoreRequest("Copy", elsewhere);
  request.mutable_overrides()->mutable_sse_specification();
  ASSERT_TRUE(StartRestore(request).ok());
  EXPECT_TRUE(AwaitTable("Copy").ok());
}

// BAK-05.
TEST_F(TableBackupTest, MakesManyAtOnce) {
  database_->CreateTable(TableRequest("Things"));
  ASSERT_TRUE(database_->Put("Things", {{"pk", S("a")}, {"sk", S("b")}}).ok());
  std::vector<std::thread> threads;
  std::atomic<int> made = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 4; ++j) made += StartBackup("Things", "same").ok() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 32);
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  int available = 0;
  while (available < 32 && std::chrono::steady_clock::now() < until) {
    available = 0;
    const auto listed = List();
    for (const v1::TableBackup& backup : listed->backups())
      available += backup.backup_status() == v1::BACKUP_STATUS_AVAILABLE ? 1 : 0;
  }
  EXPECT_EQ(available, 32);
}

// A backup of a kilobyte a second, which the end of the process interrupts: nothing is left of it (BAK-21).
TEST_F(TableBackupTest, TheEndOfTheProcessInterruptsABackup) {
  DatabaseOptions options = Options();
  options.backup_bytes_per_second = 1'000;
  Open(options);
  database_->CreateTable(TableRequest("Things"));
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(
        database_
            ->Put("Things",
                  {{"pk", S("a")}, {"sk", S(std::to_string(i))}, {"text", S(std::string(1'000, 'x'))}})
            .ok());
  }
  v1::CreateBackupRequest request;
  request.set_table_name("Things");
  request.set_backup_name("backup");
  std::promise<absl::Status> promise;
  database().CreateBackup(request, [&promise](auto reply) { promise.set_value(reply.status()); });
  while (Folders().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const absl::StatusOr<v1::ListBackupsReply> listed = List();
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->backups_size(), 1);
  const std::string arn = listed->backups(0).backup_arn();
  EXPECT_EQ(listed->backups(0).backup_status(), v1::BACKUP_STATUS_CREATING);
  EXPECT_EQ(DescribeBackup(arn)->backup_status(), v1::BACKUP_STATUS_CREATING);
  EXPECT_THAT(DeleteBackup(arn).status(), FailsWith(kReasonBackupInUse, "Backup is being created: " + arn));
  EXPECT_THAT(StartRestore("Copy", arn).status(),
              FailsWith(kReasonBackupInUse, "Backup is being created: " + arn));
  // Writes go on meanwhile.
  EXPECT_TRUE(database_->Put("Things", {{"pk", S("b")}, {"sk", S("1")}}).ok());
  const auto begin = std::chrono::steady_clock::now();
  database_->Close();
  const absl::Status status = promise.get_future().get();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_THAT(Folders(), IsEmpty());
  database_->Reopen();
  EXPECT_THAT(ListedNames(), IsEmpty());
}

// What an interrupted backup has left goes when the directory is used again.
TEST_F(TableBackupTest, RemovesWhatInterruptedBackupsHaveLeft) {
  database_->CreateTable(TableRequest("Things"));
  const std::string arn = BackUp("Things");
  database_->Close();
  const std::string left = backups_ + "/tables/01700000000000-0123abcd.0123456789abcdef";
  std::filesystem::create_directories(left);
  WriteFile(left + "/1.sst", "half");
  WriteFile(left + "/BACKUP.next", "half");
  database_->Reopen();
  EXPECT_THAT(ListedNames(), SizeIs(1));
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_THAT(Folders(), SizeIs(1));
  EXPECT_TRUE(DescribeBackup(arn).ok());
}

TEST_F(TableBackupTest, IsRefusedOnAFullDisk) {
  database_->CreateTable(TableRequest("Things"));
  const std::string arn = BackUp("Things");
  DatabaseOptions options = Options();
  options.free_space_floor_bytes = uint64_t{1} << 60;
  Open(options);
  EXPECT_EQ(ReasonOf(StartBackup("Things").status()), kReasonDiskFull);
  EXPECT_EQ(ReasonOf(StartRestore("Copy", arn).status()), kReasonDiskFull);
  EXPECT_THAT(Folders(), SizeIs(1));
  EXPECT_TRUE(DeleteBackup(arn).ok()) << "deleting gives space back";
}

TEST_F(TableBackupTest, DamagedDescriptionIsToldAndCanBeDeleted) {
  database_->CreateTable(TableRequest("Things"));
  const std::string arn = BackUp("Things", "damaged");
  BackUp("Things", "whole");
  std::string bytes;
  for (const auto& folder : Folders()) {
    if (folder.string().find(arn.substr(arn.rfind('/') + 1)) == std::string::npos) continue;
    bytes = ReadFile(folder / "BACKUP");
    bytes[bytes.size() / 2] ^= 1;
    WriteFile(folder / "BACKUP", bytes);
  }
  EXPECT_TRUE(absl::IsDataLoss(DescribeBackup(arn).status()));
  EXPECT_TRUE(absl::IsDataLoss(StartRestore("Copy", arn).status()));
  EXPECT_THAT(ListedNames(), ElementsAre("whole"));
  EXPECT_TRUE(DeleteBackup(arn).ok());
  EXPECT_EQ(ReasonOf(DescribeBackup(arn).status()), kReasonBackupNotFound);
}

TEST_F(TableBackupTest, ADirectoryIsUsedByOneDatabase) {
  database_->CreateTable(TableRequest("Things"));
  BackUp("Things");
  DatabaseOptions options = Options();
  options.data_directory = directory_.path() + "/other";
  TestDatabase other(options);
  other.CreateTable(TableRequest("Things"));
  v1::CreateBackupRequest request;
  request.set_table_name("Things");
  request.set_backup_name("backup");
  auto reply =
      Await<v1::CreateBackupReply>([&](auto done) { other->CreateBackup(request, std::move(done)); });
  EXPECT_EQ(ReasonOf(reply.status()), kReasonDataDirectoryInUse);
}

// ---- point-in-time recovery

// PIT-01..06.
TEST_F(TableBackupTest, PointInTimeRecoveryIsASettingOfTheTable) {
  database_->CreateTable(TableRequest("Things"));
  EXPECT_FALSE(Recovery("Things")->point_in_time_recovery_enabled());
  EXPECT_THAT(Recovery("Nothing").status(), FailsWith(kReasonTableNotFound, "Table not found: Nothing"));
  EXPECT_THAT(SetRecovery("Nothing", true).status(),
              FailsWith(kReasonTableNotFound, "Table not found: Nothing"));
  EXPECT_THAT(SetRecovery("Things", false, 7).status(),
              FailsWith(kReasonValidation,
                        "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling "
                        "point-in-time recovery."));
  EXPECT_THAT(SetRecovery("Things", true, 36).status(), IsInvalid("must be 1 to 35"));

  const auto on = SetRecovery("Things", true);
  ASSERT_TRUE(on.ok()) << on.status();
  EXPECT_TRUE(on->point_in_time_recovery_enabled());
  EXPECT_EQ(on->recovery_period_in_days(), 35);
  EXPECT_GE(on->latest_restorable_time_ms(), on->earliest_restorable_time_ms());
  // From the first backup on, which is made soon.
  const auto settled = [&] {
    for (int i = 0; i < 3000; ++i) {
      const v1::ArchiveStatus archive = (*database_)->GetStatus().archive();
      if (!archive.needs_backup() && archive.oldest_time_us() != 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return Recovery("Things")->earliest_restorable_time_ms();
  };
  const int64_t earliest = settled();
  EXPECT_GE(earliest, on->earliest_restorable_time_ms());
  // The same again changes nothing.
  const size_t changes = Changes(*database_).size();
  EXPECT_EQ(SetRecovery("Things", true)->earliest_restorable_time_ms(), earliest);
  EXPECT_THAT(Changes(*database_), SizeIs(changes));
  // A shorter period keeps the time of enabling.
  EXPECT_EQ(SetRecovery("Things", true, 7)->recovery_period_in_days(), 7);
  database_->Reopen();
  EXPECT_EQ(Recovery("Things")->recovery_period_in_days(), 7);
  EXPECT_EQ(settled(), earliest);
  EXPECT_EQ(SetRecovery("Things", true)->recovery_period_in_days(), 7);
  // DescribeTable does not show it.
  EXPECT_FALSE(Describe(*database_, "Things").has_point_in_time_recovery());

  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_FALSE(SetRecovery("Things", false)->point_in_time_recovery_enabled());
  const auto again = SetRecovery("Things", true);
  EXPECT_EQ(again->recovery_period_in_days(), 35);
  EXPECT_GT(again->earliest_restorable_time_ms(), on->earliest_restorable_time_ms());
}

TEST_F(TableBackupTest, ADeletedTableWithRecoveryLeavesABackup) {
  CreateIndexedTable("Things");
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(database_
                    ->Put("Things", {{"pk", S(std::to_string(i % 7))},
                                     {"sk", S(std::to_string(i))},
                                     {"state", S("x")},
                                     {"number", N(std::to_string(i))}})
                    .ok());
  }
  ASSERT_TRUE(SetRecovery("Things", true).ok());
  const auto contents = Contents("Things");
  ASSERT_TRUE(DeleteTable(*database_, "Things").ok());
  // The name is free at once.
  database_->CreateTable(TableRequest("Things"));
  v1::ListBackupsRequest request;
  request.set_backup_type(v1::BACKUP_TYPE_FILTER_SYSTEM);
  EXPECT_THAT(ListedNames(), IsEmpty());
  EXPECT_THAT(ListedNames(request), ElementsAre("Things$DeletedTableBackup"));
  const v1::TableBackup backup = List(request)->backups(0);
  EXPECT_THAT(backup.backup_arn(), MatchesRegex(".*/backup/[0-9]{14}-00000000"));
  EXPECT_EQ(backup.expiry_time_ms() - backup.creation_time_ms(), int64_t{35} * 24 * 60 * 60 * 1'000);
  EXPECT_EQ(backup.source_table().item_count(), 500);
  EXPECT_THAT(MessageOf(DeleteBackup(backup.backup_arn()).status()),
              HasSubstr("User is not allowed to delete the system backup with arn " + backup.backup_arn() +
                        ". It will automatically expire on "));
  while (DescribeBackup(backup.backup_arn())->backup_status() != v1::BACKUP_STATUS_AVAILABLE) {
  }
  auto restored = RestoreTable("Copy", backup.backup_arn());
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(Contents("Copy"), contents);
  database_->CheckIsClean();
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/data/restores"));
}

// The process ends before the backup of the deleted table is made: a backup directory that cannot be opened
// stands for that.
TEST_F(TableBackupTest, ADeletedTableIsKeptUntilItsBackupIsMade) {
  database_->CreateTable(TableRequest("Things"));
  ASSERT_TRUE(database_->Put("Things", {{"pk", S("a")}, {"sk", S("b")}}).ok());
  ASSERT_TRUE(SetRecovery("Things", true).ok());
  // The first backup of the archive is there already.
  std::filesystem::remove_all(backups_);
  WriteFile(backups_, "no directory");
  ASSERT_TRUE(DeleteTable(*database_, "Things").ok());
  EXPECT_THAT(DeleteTable(*database_, "Things").status(), IsTableNotFound());
  database_->Close();
  std::filesystem::remove(backups_);
  database_->Reopen();
  v1::ListBackupsRequest request;
  request.set_backup_type(v1::BACKUP_TYPE_FILTER_ALL);
  auto listed = List(request);
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->backups_size(), 1);
  while (DescribeBackup(listed->backups(0).backup_arn())->backup_status() != v1::BACKUP_STATUS_AVAILABLE) {
  }
  ASSERT_TRUE(RestoreTable("Copy", listed->backups(0).backup_arn()).ok());
  EXPECT_THAT(ScanAll(*database_, ScanRequest("Copy")), SizeIs(1));
  database_->CheckIsClean();
}

TEST_F(TableBackupTest, ATableWithoutRecoveryLeavesNone) {
  database_->CreateTable(TableRequest("Things"));
  ASSERT_TRUE(SetRecovery("Things", true).ok());
  ASSERT_TRUE(SetRecovery("Things", false).ok());
  ASSERT_TRUE(DeleteTable(*database_, "Things").ok());
  v1::ListBackupsRequest request;
  request.set_backup_type(v1::BACKUP_TYPE_FILTER_ALL);
  EXPECT_THAT(ListedNames(request), IsEmpty());
}

// A SYSTEM backup goes after 35 days.
TEST_F(TableBackupTest, ABackupOfADeletedTableExpires) {
  std::atomic<int64_t> days_later = 0;
  DatabaseOptions options = Options();
  options.clock_us = [&] { return (int64_t{20'000} + days_later) * 24 * 60 * 60 * 1'000'000; };
  Open(options);
  database_->CreateTable(TableRequest("Things"));
  ASSERT_TRUE(SetRecovery("Things", true).ok());
  ASSERT_TRUE(DeleteTable(*database_, "Things").ok());
  v1::ListBackupsRequest request;
  request.set_backup_type(v1::BACKUP_TYPE_FILTER_ALL);
  while (List(request)->backups(0).backup_status() != v1::BACKUP_STATUS_AVAILABLE) {
  }
  for (const int64_t days : {34, 36}) {
    days_later = days;
    database_->Reopen();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(days == 34 ? 1 : 60);
    while (ListedNames(request).size() == 1 && std::chrono::steady_clock::now() < until) {
    }
    EXPECT_THAT(ListedNames(request), SizeIs(days == 34 ? 1 : 0));
  }
}

}  // namespace
}  // namespace itemdb::testing
