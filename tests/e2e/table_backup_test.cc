// Backups of single tables of a running itemd: by itemctl and the client library, also through kill -9.
//
// ITEMDB_KILL9_CYCLES sets the number of kills (default 50; 6 in sanitizer builds, which are slower).
// ITEMDB_TEST_SEED repeats the random choices of a run, but not its timing.
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "itemdb/bulk_writer.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/support/kills.h"
#include "tests/support/repetitions.h"

namespace itemdb::e2e {
namespace {

namespace fs = std::filesystem;
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
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  ASSERT_TRUE(
      client.RestoreTableFromBackup({.target_table_name = "Whole", .backup_arn = first->backup_arn}).ok());
  ASSERT_TRUE(AwaitTable(client, "Whole").has_value());
  const int64_t whole_us =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();

  int interrupted_backups = 0;
  int whole_backups = 0;
  int interrupted_restores = 0;
  std::set<std::string> arns = {first->backup_arn};
  for (int cycle = 0; cycle < Kills(); ++cycle) {
    SCOPED_TRACE("cycle " + std::to_string(cycle));
    const bool restores = cycle % 2 == 0;
    const std::string name = "Copy" + std::to_string(cycle);
    absl::StatusOr<TableDescription> begun = absl::UnknownError("not asked for");
    std::thread call([&] {
      Client other = OpenClient();
      if (restores) {
        begun = other.RestoreTableFromBackup({.target_table_name = name, .backup_arn = first->backup_arn},
                                             OneAttempt());
      } else {
        (void)other.CreateBackup("Things", name, OneAttempt());
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
      if (arns.insert(backup.backup_arn).second) ++whole_backups;
    }
    if (!restores) {
      ++interrupted_backups;
      continue;
    }
    const auto described = client.DescribeTable(name);
    if (described.ok() && described->table.table_status == TableStatus::kCreating) ++interrupted_restores;
    const std::optional<TableDescription> table = AwaitTable(client, name);
    EXPECT_TRUE(table.has_value() || !begun.ok()) << "a restore that was answered is lost";
    if (!table.has_value()) continue;
    EXPECT_EQ(table->item_count, kBackedUpItems);
    EXPECT_EQ(table->indexes[0].item_count, kBackedUpItems);
    if (cycle % 10 == 0) ExpectCheckIsClean();
    ASSERT_TRUE(client.DeleteTable(name).ok());
  }
  ExpectCheckIsClean();
  // Each backup that survived is one.
  for (const std::string& arn : arns) {
    ASSERT_TRUE(client.RestoreTableFromBackup({.target_table_name = "Last", .backup_arn = arn}).ok());
    ASSERT_TRUE(AwaitTable(client, "Last").has_value()) << arn;
    ASSERT_TRUE(client.DeleteTable("Last").ok());
  }
  std::printf("%d kills while a backup was made left %d backups; %d restores were interrupted\n",
              interrupted_backups, whole_backups, interrupted_restores);
  EXPECT_TRUE(Kills() < 20 || interrupted_restores > 0) << "no kill hit a restore, so this tested little";
}

}  // namespace
}  // namespace itemdb::e2e
