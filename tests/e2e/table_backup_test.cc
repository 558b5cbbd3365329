// Backups of single tables of a running itemd: by itemctl and the client library, also through kill -9.
//
// ITEMDB_KILL9_CYCLES sets the number of kills of each step (default 25, and 5 of restores to a point in
// time; fewer in sanitizer builds, which are slower). ITEMDB_TEST_SEED repeats the random choices of a run,
// but not its timing.
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "itemdb/bulk_writer.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/support/kills.h"
#include "tests/support/repetitions.h"

namespace itemdb::e2e {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using ::testing::HasSubstr;

constexpr int kBackedUpItems = testing::kHasSanitizer ? 3'000 : 20'000;

class TableBackupE2e : public E2eTest {
 protected:
  void SetUp() override {
    // The same address after each start.
    daemon_.set_listen({"unix:" + directory_.path() + "/s"});
    E2eTest::SetUp();
    Client client = OpenClient();
    ASSERT_TRUE(client
                    .CreateTable({.table_name = "Things",
                                  .attribute_definitions = {{"pk", ScalarAttributeType::kString},
                                                            {"group", ScalarAttributeType::kString}},
                                  .key_schema = {{"pk", KeyType::kHash}},
                                  .global_secondary_indexes = {{.index_name = "ByGroup",
                                                                .key_schema = {{"group", KeyType::kHash}},
                                                                .projection = {.projection_type =
                                                                                   ProjectionType::kAll}}}})
                    .ok());
    BulkWriter writer(client);
    for (int i = 0; i < kBackedUpItems; ++i) {
      ASSERT_TRUE(writer
                      .Put("Things", Item{{"pk", std::to_string(i)},
                                          {"group", "g" + std::to_string(i % 10)},
                                          {"text", std::string(100, static_cast<char>('a' + i % 26))}})
                      .ok());
    }
    ASSERT_TRUE(writer.Finish().ok());
  }

  // The end of the call may be lost in the kill.
  std::optional<TableDescription> AwaitTable(Client& client, const std::string& name) {
    for (int i = 0; i < 60'000; ++i) {
      const absl::StatusOr<TableResult> described = client.DescribeTable(name);
      if (absl::IsNotFound(described.status())) return std::nullopt;
      EXPECT_TRUE(described.ok()) << described.status();
      if (!described.ok()) return std::nullopt;
      if (described->table.table_status == TableStatus::kActive) return described->table;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ADD_FAILURE() << name << " stays CREATING";
    return std::nullopt;
  }
  // After the restore of the table `name` was killed, whose call has said `answer`: the table is whole or
  // there is none. It is deleted.
  void AwaitRestore(Client& client, const std::string& name, const absl::Status& answer, bool checks,
                    KilledRounds::Round* round) {
    const auto described = client.DescribeTable(name);
    round->was_interrupted = described.ok() && described->table.table_status == TableStatus::kCreating;
    const std::optional<TableDescription> table = AwaitTable(client, name);
    round->is_whole = table.has_value();
    EXPECT_TRUE(table.has_value() || !answer.ok()) << "a restore that was answered is lost";
    if (!table.has_value()) return;
    EXPECT_EQ(table->item_count, kBackedUpItems);
    EXPECT_EQ(table->indexes[0].item_count, kBackedUpItems);
    if (checks) ExpectCheckIsClean();
    ASSERT_TRUE(client.DeleteTable(name).ok());
  }
  void Restart() {
    daemon_.Kill();
    const absl::Status started = daemon_.Start();
    ASSERT_TRUE(started.ok()) << started;
  }
  int Folders() const {
    int folders = 0;
    for (const auto& entry : fs::directory_iterator(daemon_.data_directory() + "/backups/tables"))
      folders += entry.is_directory() ? 1 : 0;
    return folders;
  }
};

TEST_F(TableBackupE2e, ItemctlMakesAndRestoresBackups) {
  const Json created = Document({"-o", "jsonl", "table-backup", "create", "Things", "nightly"});
  EXPECT_EQ(created["BackupStatus"], "AVAILABLE");
  EXPECT_EQ(created["ItemCount"], kBackedUpItems);
  EXPECT_EQ(created["ChangeSequence"], ChangeSequence());
  const std::string items = Itemctl({"-o", "jsonl", "scan", "Things"}).out;
  const std::string entries = Itemctl({"-o", "jsonl", "scan", "Things", "--index", "ByGroup"}).out;
  ASSERT_EQ(Itemctl({"table", "delete", "Things", "--yes"}).exit_code, 0);
  EXPECT_EQ(Document({"-o", "jsonl", "table-backup", "list"})["Backups"].size(), 1u);

  const Json restored = Document({"-o", "jsonl", "table-backup", "restore", "nightly", "Things", "--wait"});
  EXPECT_EQ(restored["TableStatus"], "ACTIVE");
  EXPECT_EQ(Itemctl({"-o", "jsonl", "scan", "Things"}).out, items);
  EXPECT_EQ(Itemctl({"-o", "jsonl", "scan", "Things", "--index", "ByGroup"}).out, entries);
  ExpectCheckIsClean();

  const std::string arn = created["BackupArn"];
  EXPECT_EQ(Itemctl({"table-backup", "delete", arn, "--yes"}).exit_code, 0);
  const CommandResult gone = Itemctl({"table-backup", "describe", arn});
  EXPECT_NE(gone.exit_code, 0);
  EXPECT_THAT(gone.err, HasSubstr("Backup not found: " + arn));
}

// The times that itemctl takes.
TEST_F(TableBackupE2e, ItemctlRestoresToATimeAndToAChange) {
  ASSERT_EQ(Itemctl({"pitr", "enable", "Things"}).exit_code, 0);
  Client client = OpenClient();
  ASSERT_TRUE(client.PutItem({.table_name = "Things", .item = {{"pk", "late"}}}).ok());
  const uint64_t change = ChangeSequence();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const std::string time = absl::FormatTime(absl::RFC3339_full, absl::Now(), absl::UTCTimeZone());
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_TRUE(client.DeleteItem({.table_name = "Things", .key = {{"pk", "late"}}}).ok());
  for (const auto& [name, to] :
       {std::pair<std::string, std::string>{"ToTime", time}, {"ToChange", std::to_string(change)}}) {
    const CommandResult restored = Itemctl({"pitr", "restore", "Things", name, "--to", to, "--wait"});
    ASSERT_EQ(restored.exit_code, 0) << restored.err;
    EXPECT_EQ(Document({"-o", "jsonl", "table", "describe", name})["ItemCount"], kBackedUpItems + 1) << name;
  }
  const CommandResult refused =
      Itemctl({"pitr", "restore", "Things", "Other", "--to", "1999-01-01T00:00:00Z"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(
      refused.err,
      HasSubstr("RestoreDateTime '1999-01-01T00:00:00.000Z' must be within EarliestRestorableDateTime"));
}

// The one override that itemctl offers (PIT-16).
TEST_F(TableBackupE2e, ItemctlRestoresWithoutIndexes) {
  ASSERT_EQ(Itemctl({"pitr", "enable", "Things"}).exit_code, 0);
  ASSERT_EQ(Itemctl({"table-backup", "create", "Things", "nightly"}).exit_code, 0);
  const std::string items = Itemctl({"-o", "jsonl", "scan", "Things"}).out;
  const std::vector<std::pair<std::string, std::vector<std::string>>> restores = {
      {"FromBackup", {"table-backup", "restore", "nightly", "FromBackup"}},
      {"FromTime", {"pitr", "restore", "Things", "FromTime"}}};
  for (const auto& [name, command] : restores) {
    SCOPED_TRACE(name);
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--without-indexes", "--wait"});
    const CommandResult restored = Itemctl(arguments);
    ASSERT_EQ(restored.exit_code, 0) << restored.err;
    const Json table = Document({"-o", "jsonl", "table", "describe", name});
    EXPECT_FALSE(table.contains("GlobalSecondaryIndexes") && !table["GlobalSecondaryIndexes"].empty())
        << table;
    EXPECT_EQ(table["ItemCount"], kBackedUpItems);
    EXPECT_TRUE(Itemctl({"-o", "jsonl", "scan", name}).out == items);
    EXPECT_NE(Itemctl({"scan", name, "--index", "ByGroup"}).exit_code, 0);
  }
  ExpectCheckIsClean();
}

TEST_F(TableBackupE2e, ADeletedTableWithRecoveryComesBack) {
  EXPECT_EQ(Document({"-o", "jsonl", "pitr", "enable", "Things", "--days", "7"})["RecoveryPeriodInDays"], 7);
  KillAndRestart();
  EXPECT_EQ(Document({"-o", "jsonl", "pitr", "status", "Things"})["PointInTimeRecoveryStatus"], "ENABLED");
  ASSERT_EQ(Itemctl({"table", "delete", "Things", "--yes"}).exit_code, 0);
  KillAndRestart();
  Json backups;
  do {
    backups = Document({"-o", "jsonl", "table-backup", "list"})["Backups"];
    ASSERT_EQ(backups.size(), 1u);
  } while (backups[0]["BackupStatus"] != "AVAILABLE");
  EXPECT_EQ(backups[0]["BackupType"], "SYSTEM");
  ASSERT_EQ(Itemctl({"table-backup", "restore", "Things$DeletedTableBackup", "Things", "--wait"}).exit_code,
            0);
  EXPECT_EQ(Document({"-o", "jsonl", "table", "describe", "Things"})["ItemCount"], kBackedUpItems);
  ExpectCheckIsClean();
}

// BAK-21: at any moment of making a backup and of restoring it. Afterwards each backup is whole and has a
// folder, nothing else has one, and a table that was being restored is whole or does not exist.
TEST_F(TableBackupE2e, Kill9LeavesWholeBackupsAndTables) {
  const uint64_t seed = KillSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  Random random(seed);
  Client client = OpenClient();
  const auto first = client.CreateBackup("Things", "first");
  ASSERT_TRUE(first.ok()) << first.status();
  const Clock::time_point begin = Clock::now();
  ASSERT_TRUE(
      client.RestoreTableFromBackup({.target_table_name = "Whole", .backup_arn = first->backup_arn}).ok());
  ASSERT_TRUE(AwaitTable(client, "Whole").has_value());
  const int64_t whole_us =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();

  std::set<std::string> arns = {first->backup_arn};
  KilledRounds backup_rounds("a backup of a table");
  KilledRounds restore_rounds("restoring a table");
  for (int cycle = 0; cycle < 2 * Kills(kDefaultKills / 2); ++cycle) {
    SCOPED_TRACE("cycle " + std::to_string(cycle));
    const bool restores = cycle % 2 == 0;
    const std::string name = "Copy" + std::to_string(cycle);
    absl::Status answer;
    std::thread call([&] {
      Client other = OpenClient();
      if (restores) {
        answer = other
                     .RestoreTableFromBackup({.target_table_name = name, .backup_arn = first->backup_arn},
                                             OneAttempt())
                     .status();
      } else {
        answer = other.CreateBackup("Things", name, OneAttempt()).status();
      }
    });
    // Making a backup takes less time than restoring it.
    std::this_thread::sleep_for(
        std::chrono::microseconds(Pick(random, 0, restores ? whole_us : whole_us * 3 / 4)));
    daemon_.Kill();
    call.join();
    const absl::Status started = daemon_.Start();
    ASSERT_TRUE(started.ok()) << started;

    const auto listed = client.ListBackups();
    ASSERT_TRUE(listed.ok()) << listed.status();
    EXPECT_EQ(static_cast<int>(listed->backups.size()), Folders());
    for (const TableBackup& backup : listed->backups) {
      EXPECT_EQ(backup.backup_status, BackupStatus::kAvailable);
      EXPECT_EQ(backup.source_table.item_count, kBackedUpItems);
    }
    if (!restores) {
      const size_t before = arns.size();
      for (const TableBackup& backup : listed->backups) arns.insert(backup.backup_arn);
      const bool is_whole = arns.size() > before;
      EXPECT_TRUE(is_whole || !answer.ok()) << "a backup that was answered is lost";
      backup_rounds.Add({.was_interrupted = !answer.ok(), .is_whole = is_whole});
      continue;
    }
    KilledRounds::Round round;
    ASSERT_NO_FATAL_FAILURE(AwaitRestore(client, name, answer, cycle % 10 == 0, &round));
    restore_rounds.Add(round);
  }
  ExpectCheckIsClean();
  // Each backup that survived is one.
  for (const std::string& arn : arns) {
    ASSERT_TRUE(client.RestoreTableFromBackup({.target_table_name = "Last", .backup_arn = arn}).ok());
    ASSERT_TRUE(AwaitTable(client, "Last").has_value()) << arn;
    ASSERT_TRUE(client.DeleteTable("Last").ok());
  }
}

// The same of a restore to a point in time, which makes the whole database as it was then on its way.
TEST_F(TableBackupE2e, Kill9LeavesWholeTablesOfAPointInTime) {
  Random random(KillSeed());
  Client client = OpenClient();
  ASSERT_EQ(Itemctl({"pitr", "enable", "Things"}).exit_code, 0);
  // Behind the first backup, so that the archive is needed too.
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(client
                    .UpdateItem({.table_name = "Things",
                                 .key = {{"pk", std::to_string(i)}},
                                 .update_expression = "SET later = :yes",
                                 .expression_attribute_values = {{":yes", true}}})
                    .ok());
  }
  const uint64_t then = ChangeSequence();
  ASSERT_TRUE(client.DeleteItem({.table_name = "Things", .key = {{"pk", "0"}}}).ok());
  const auto restore = [&](Client& caller, const std::string& name) {
    return caller
        .RestoreTableToPointInTime(
            {.source_table_name = "Things", .target_table_name = name, .change_sequence = then}, OneAttempt())
        .status();
  };
  // Once the archive has the change.
  absl::Status begun = absl::UnknownError("not asked for");
  Clock::time_point begin;
  for (int i = 0; i < 3'000 && !begun.ok(); ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    begin = Clock::now();
    begun = restore(client, "Whole");
  }
  ASSERT_TRUE(begun.ok()) << begun;
  ASSERT_TRUE(AwaitTable(client, "Whole").has_value());
  const int64_t whole_us =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();

  const std::string folder = daemon_.data_directory() + "/point-in-time";
  KilledRounds rounds("restoring a table to a point in time");
  for (int cycle = 0; cycle < Kills(kDefaultKillsOfLongSteps); ++cycle) {
    const std::string name = "Copy" + std::to_string(cycle);
    SCOPED_TRACE(name);
    absl::Status answer;
    std::thread call([&] {
      Client other = OpenClient();
      answer = restore(other, name);
    });
    std::this_thread::sleep_for(std::chrono::microseconds(Pick(random, 0, whole_us)));
    daemon_.Kill();
    call.join();
    const absl::Status started = daemon_.Start();
    ASSERT_TRUE(started.ok()) << started;
    KilledRounds::Round round;
    ASSERT_NO_FATAL_FAILURE(AwaitRestore(client, name, answer, cycle % 10 == 0, &round));
    // It is deleted a moment after the table is there.
    for (int i = 0; i < 3'000 && fs::exists(folder); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(fs::exists(folder));
    rounds.Add(round);
  }
  ExpectCheckIsClean();
}

}  // namespace
}  // namespace itemdb::e2e
