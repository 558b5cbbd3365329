// A database with a backup directory, and the operations on backups of tables as calls that block.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "tests/storage/database/requests.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {

// A status with this reason and text.
MATCHER_P2(FailsWith, reason, text, "fails with " + std::string(reason) + " '" + std::string(text) + "'") {
  const absl::Status& status = arg;
  *result_listener << status.ToString();
  return ReasonOf(status) == reason && MessageOf(status) == text;
}

class TableBackupTest : public ::testing::Test {
 protected:
  virtual DatabaseOptions Options() const {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory_.path() + "/data");
    options.backup_directory = backups_;
    return options;
  }
  void SetUp() override { Open(Options()); }
  void Open(const DatabaseOptions& options) {
    database_.reset();
    database_ = std::make_unique<TestDatabase>(options);
  }
  Database& database() { return **database_; }

  // A table with global indexes of all projections and two local indexes.
  void CreateIndexedTable(const std::string& name) {
    v1::CreateTableRequest table = TableRequest(name);
    AddIndex(&table, "ByState", {"state:S"}, 1, v1::PROJECTION_TYPE_ALL);
    AddIndex(&table, "ByNumber", {"number:N", "sk:S"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
    AddIndex(&table, "ByCity", {"city:S", "state:S"}, 2, v1::PROJECTION_TYPE_INCLUDE, {"text"});
    AddLocalIndex(&table, "LocalState", "state", v1::PROJECTION_TYPE_ALL);
    AddLocalIndex(&table, "LocalNumber", "number", v1::PROJECTION_TYPE_KEYS_ONLY);
    database_->CreateTable(table);
  }
  static std::vector<std::string> IndexNames() {
    return {"ByState", "ByNumber", "ByCity", "LocalState", "LocalNumber"};
  }
  // The items of a table, then the entries of each of `indexes`, in their orders.
  std::vector<std::vector<std::string>> Contents(const std::string& table,
                                                 const std::vector<std::string>& indexes = IndexNames()) {
    std::vector<std::vector<std::string>> contents = {ScanAll(*database_, ScanRequest(table))};
    for (const std::string& index : indexes) {
      wire::PageRequest scan = ScanRequest(table);
      scan.set_index_name(index);
      contents.push_back(ScanAll(*database_, scan));
    }
    return contents;
  }

  absl::StatusOr<v1::TableBackup> StartBackup(const std::string& table, const std::string& name = "backup") {
    v1::CreateBackupRequest request;
    request.set_table_name(table);
    request.set_backup_name(name);
    auto reply =
        Await<v1::CreateBackupReply>([&](auto done) { database().CreateBackup(request, std::move(done)); });
    if (!reply.ok()) return reply.status();
    return reply->backup();
  }
  // Waits until it is AVAILABLE, and returns its ARN.
  std::string BackUp(const std::string& table, const std::string& name = "backup") {
    auto backup = StartBackup(table, name);
    EXPECT_TRUE(backup.ok()) << backup.status();
    if (!backup.ok()) return "";
    EXPECT_EQ(backup->backup_status(), v1::BACKUP_STATUS_CREATING);
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (std::chrono::steady_clock::now() < until) {
      auto described = DescribeBackup(backup->backup_arn());
      EXPECT_TRUE(described.ok()) << described.status();
      if (!described.ok() || described->backup_status() == v1::BACKUP_STATUS_AVAILABLE) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return backup->backup_arn();
  }
  absl::StatusOr<v1::TableBackup> DescribeBackup(const std::string& arn) {
    v1::DescribeBackupRequest request;
    request.set_backup_arn(arn);
    auto reply = Await<v1::DescribeBackupReply>(
        [&](auto done) { database().DescribeBackup(request, std::move(done)); });
    if (!reply.ok()) return reply.status();
    return reply->backup();
  }
  absl::StatusOr<v1::ListBackupsReply> List(const v1::ListBackupsRequest& request = {}) {
    return Await<v1::ListBackupsReply>([&](auto done) { database().ListBackups(request, std::move(done)); });
  }
  std::vector<std::string> ListedNames(const v1::ListBackupsRequest& request = {}) {
    auto reply = List(request);
    EXPECT_TRUE(reply.ok()) << reply.status();
    std::vector<std::string> names;
    if (reply.ok())
      for (const v1::TableBackup& backup : reply->backups()) names.push_back(backup.backup_name());
    return names;
  }
  absl::StatusOr<v1::TableBackup> DeleteBackup(const std::string& arn) {
    v1::DeleteBackupRequest request;
    request.set_backup_arn(arn);
    auto reply =
        Await<v1::DeleteBackupReply>([&](auto done) { database().DeleteBackup(request, std::move(done)); });
    if (!reply.ok()) return reply.status();
    return reply->backup();
  }
  static v1::RestoreTableFromBackupRequest RestoreRequest(const std::string& target, const std::string& arn) {
    v1::RestoreTableFromBackupRequest request;
    request.set_target_table_name(target);
    request.set_backup_arn(arn);
    return request;
  }
  absl::StatusOr<v1::TableDescription> StartRestore(const v1::RestoreTableFromBackupRequest& request) {
    auto reply = Await<v1::RestoreTableFromBackupReply>(
        [&](auto done) { database().RestoreTableFromBackup(request, std::move(done)); });
    if (!reply.ok()) return reply.status();
    return reply->table();
  }
  absl::StatusOr<v1::TableDescription> StartRestore(const std::string& target, const std::string& arn) {
    return StartRestore(RestoreRequest(target, arn));
  }
  // Waits until the table is ACTIVE. NOT_FOUND: it was removed.
  absl::StatusOr<v1::TableDescription> AwaitTable(const std::string& table) {
    v1::DescribeTableRequest request;
    request.set_table_name(table);
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (true) {
      auto reply = database().DescribeTable(request);
      if (!reply.ok()) return reply.status();
      if (reply->table().table_status() == v1::TABLE_STATUS_ACTIVE) return reply->table();
      if (std::chrono::steady_clock::now() > until) return absl::DeadlineExceededError("CREATING");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  absl::StatusOr<v1::TableDescription> RestoreTable(const std::string& target, const std::string& arn) {
    auto begun = StartRestore(target, arn);
    if (!begun.ok()) return begun.status();
    return AwaitTable(target);
  }
  absl::StatusOr<v1::ContinuousBackupsDescription> Recovery(const std::string& table) {
    v1::DescribeContinuousBackupsRequest request;
    request.set_table_name(table);
    auto reply = database().DescribeContinuousBackups(request);
    if (!reply.ok()) return reply.status();
    return reply->continuous_backups();
  }
  absl::StatusOr<v1::ContinuousBackupsDescription> SetRecovery(const std::string& table, bool enabled,
                                                               int days = 0) {
    v1::UpdateContinuousBackupsRequest request;
    request.set_table_name(table);
    request.set_point_in_time_recovery_enabled(enabled);
    if (days != 0) request.set_recovery_period_in_days(days);
    auto reply = Await<v1::UpdateContinuousBackupsReply>(
        [&](auto done) { database().UpdateContinuousBackups(request, std::move(done)); });
    if (!reply.ok()) return reply.status();
    return reply->continuous_backups();
  }
  // The folders of backups, whole or not.
  std::vector<std::filesystem::path> Folders() const {
    std::vector<std::filesystem::path> folders;
    if (!std::filesystem::exists(backups_ + "/tables")) return folders;
    for (const auto& entry : std::filesystem::directory_iterator(backups_ + "/tables"))
      if (entry.is_directory()) folders.push_back(entry.path());
    return folders;
  }

  TemporaryDirectory directory_;
  const std::string backups_ = directory_.path() + "/backups";
  std::unique_ptr<TestDatabase> database_;
};

}  // namespace itemdb::testing
