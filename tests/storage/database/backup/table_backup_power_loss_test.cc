// Power cuts while backups of tables are made and restored: what was answered is there afterwards, and what
// was not is whole or not there (BAK-21).
#include <filesystem>
#include <memory>
#include <random>

#include "tests/storage/database/backup/table_backup_fixture.h"
#include "tests/support/power_loss_file_system.h"

namespace itemdb::testing {
namespace {

class TableBackupPowerLossTest : public TableBackupTest {
 protected:
  void SetUp() override { std::filesystem::create_directory(root_); }
  DatabaseOptions Options() const override {
    DatabaseOptions options = TestDatabase::DefaultOptions(root_ + "/data");
    options.free_space_floor_bytes = 0;
    return options;
  }

  const std::string root_ = directory_.path() + "/root";
};

TEST_F(TableBackupPowerLossTest, WhatWasAnsweredIsThere) {
  int answered = 0;
  int restored = 0;
  int begun = 0;
  for (uint32_t seed = 0; seed < 30 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    database_.reset();
    std::filesystem::remove_all(root_);
    std::filesystem::create_directory(root_);
    std::vector<std::vector<std::string>> contents;
    std::vector<std::string> arns;
    bool restore_answered = false;
    bool restore_done = false;
    {
      auto disk = std::make_shared<PowerLossFileSystem>(root_);
      DatabaseOptions options = Options();
      options.file_system = disk;
      Open(options);
      CreateIndexedTable("Things");
      for (int i = 0; i < 30; ++i) {
        ASSERT_TRUE(database_
                        ->Put("Things", {{"pk", S(std::to_string(i % 3))},
                                         {"sk", S(std::to_string(i))},
                                         {"state", S("x")},
                                         {"number", N(std::to_string(i))}})
                        .ok());
      }
      contents = Contents("Things");
      disk->CutPowerAfter(std::mt19937(seed)() % 150);
      for (int i = 0; i < 3; ++i) {
        auto backup = StartBackup("Things");
        if (backup.ok()) arns.push_back(backup->backup_arn());
      }
      if (!arns.empty()) {
        restore_answered = StartRestore("Copy", arns[0]).ok();
        // Without power the table stays CREATING, and can still be described.
        while (restore_answered && !restore_done && !disk->power_is_cut()) {
          v1::DescribeTableRequest request;
          request.set_table_name("Copy");
          const auto reply = database().DescribeTable(request);
          restore_done = reply.ok() && reply->table().table_status() == v1::TABLE_STATUS_ACTIVE;
        }
      }
      database_.reset();
      disk->DropUnsynced(seed);
    }
    Open(Options());
    answered += static_cast<int>(arns.size());
    begun += restore_answered ? 1 : 0;
    restored += restore_done ? 1 : 0;
    const auto listed = List();
    ASSERT_TRUE(listed.ok()) << listed.status();
    EXPECT_GE(listed->backups_size(), static_cast<int>(arns.size()));
    if (restore_answered) {
      const auto copy = AwaitTable("Copy");
      ASSERT_TRUE(copy.ok()) << copy.status();
      EXPECT_EQ(Contents("Copy"), contents);
    }
    int number = 0;
    for (const v1::TableBackup& backup : listed->backups()) {
      EXPECT_EQ(backup.backup_status(), v1::BACKUP_STATUS_AVAILABLE);
      const std::string name = "Restored" + std::to_string(number++);
      const auto table = RestoreTable(name, backup.backup_arn());
      ASSERT_TRUE(table.ok()) << table.status();
      EXPECT_EQ(Contents(name), contents);
    }
    database_->CheckIsClean();
  }
  std::printf("%d backups were answered before a power cut, %d restores begun, %d done\n", answered, begun,
              restored);
  EXPECT_GT(answered, 0);
  EXPECT_GT(begun, restored);
}

}  // namespace
}  // namespace itemdb::testing
