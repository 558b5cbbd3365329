// Backups of tables and point-in-time recovery: each field of requests and replies.
#include <gtest/gtest.h>

#include "itemdb/client.h"
#include "tests/support/fake_daemon.h"

namespace itemdb {
namespace {

constexpr char kArn[] = "arn:aws:dynamodb:local:000000000000:table/Order/backup/01760000000000-0123abcd";

class ClientBackupsTest : public ::testing::Test {
 protected:
  static v1::TableBackup SomeBackup() {
    v1::TableBackup backup;
    backup.set_backup_arn(kArn);
    backup.set_backup_name("nightly");
    backup.set_backup_status(v1::BACKUP_STATUS_AVAILABLE);
    backup.set_backup_type(v1::BACKUP_TYPE_SYSTEM);
    backup.set_creation_time_ms(1'760'000'000'123);
    backup.set_expiry_time_ms(1'770'000'000'000);
    backup.mutable_source_table()->set_table_name("Order");
    backup.mutable_source_table()->set_item_count(7);
    backup.set_time_to_live_attribute("expires");
    backup.set_change_sequence(42);
    backup.set_file_bytes(1'000);
    return backup;
  }
  static void ExpectSomeBackup(const TableBackup& backup) {
    EXPECT_EQ(backup.backup_arn, kArn);
    EXPECT_EQ(backup.backup_name, "nightly");
    EXPECT_EQ(backup.backup_status, BackupStatus::kAvailable);
    EXPECT_EQ(backup.backup_type, BackupType::kSystem);
    EXPECT_EQ(backup.creation_time, absl::FromUnixMillis(1'760'000'000'123));
    EXPECT_EQ(backup.expiry_time, absl::FromUnixMillis(1'770'000'000'000));
    EXPECT_EQ(backup.source_table.definition.table_name, "Order");
    EXPECT_EQ(backup.source_table.item_count, 7);
    EXPECT_EQ(backup.time_to_live_attribute, "expires");
    EXPECT_EQ(backup.change_sequence, 42u);
    EXPECT_EQ(backup.file_bytes, 1'000);
  }

  FakeDaemon daemon_;
  Client client_ = *Client::Open({.endpoint = daemon_.endpoint()});
};

TEST_F(ClientBackupsTest, BackupsReturnAllFigures) {
  daemon_.create_backup = [](const v1::CreateBackupRequest& request, v1::CreateBackupReply* reply) {
    EXPECT_EQ(request.table_name(), "Order");
    EXPECT_EQ(request.backup_name(), "nightly");
    *reply->mutable_backup() = SomeBackup();
    return grpc::Status::OK;
  };
  daemon_.describe_backup = [](const v1::DescribeBackupRequest& request, v1::DescribeBackupReply* reply) {
    EXPECT_EQ(request.backup_arn(), kArn);
    *reply->mutable_backup() = SomeBackup();
    return grpc::Status::OK;
  };
  daemon_.delete_backup = [](const v1::DeleteBackupRequest& request, v1::DeleteBackupReply* reply) {
    EXPECT_EQ(request.backup_arn(), kArn);
    *reply->mutable_backup() = SomeBackup();
    return grpc::Status::OK;
  };
  daemon_.list_backups = [](const v1::ListBackupsRequest& request, v1::ListBackupsReply* reply) {
    EXPECT_EQ(request.table_name(), "Order");
    EXPECT_EQ(request.limit(), 3);
    EXPECT_EQ(request.time_range_lower_bound_ms(), 1'000);
    EXPECT_EQ(request.time_range_upper_bound_ms(), 2'000);
    EXPECT_EQ(request.exclusive_start_backup_arn(), "start");
    EXPECT_EQ(request.backup_type(), v1::BACKUP_TYPE_FILTER_ALL);
    *reply->add_backups() = SomeBackup();
    reply->set_last_evaluated_backup_arn("last");
    return grpc::Status::OK;
  };
  ExpectSomeBackup(*client_.CreateBackup("Order", "nightly"));
  ExpectSomeBackup(*client_.DescribeBackup(kArn));
  ExpectSomeBackup(*client_.DeleteBackup(kArn));
  const absl::StatusOr<ListBackupsResult> listed =
      client_.ListBackups({.table_name = "Order",
                           .limit = 3,
                           .time_range_lower_bound = absl::FromUnixMillis(1'000),
                           .time_range_upper_bound = absl::FromUnixMillis(2'000),
                           .exclusive_start_backup_arn = "start",
                           .backup_type = BackupTypeFilter::kAll});
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->backups.size(), 1u);
  ExpectSomeBackup(listed->backups[0]);
  EXPECT_EQ(listed->last_evaluated_backup_arn, "last");
}

TEST_F(ClientBackupsTest, RestoreSendsItsOverrides) {
  v1::RestoreTableFromBackupRequest sent;
  daemon_.restore_table_from_backup = [&](const v1::RestoreTableFromBackupRequest& request,
                                          v1::RestoreTableFromBackupReply* reply) {
    sent = request;
    v1::TableDescription* table = reply->mutable_table();
    table->set_table_name(request.target_table_name());
    table->set_table_status(v1::TABLE_STATUS_CREATING);
    table->mutable_restore_summary()->set_source_backup_arn(kArn);
    table->mutable_restore_summary()->set_restore_time_ms(5);
    table->mutable_restore_summary()->set_items_restored(3);
    table->mutable_restore_summary()->set_items_total(9);
    return grpc::Status::OK;
  };
  const auto plain = client_.RestoreTableFromBackup({.target_table_name = "Copy", .backup_arn = kArn});
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(sent.backup_arn(), kArn);
  EXPECT_EQ(sent.overrides().ByteSizeLong(), 0u);
  EXPECT_EQ(plain->table_status, TableStatus::kCreating);
  ASSERT_TRUE(plain->restore.has_value());
  EXPECT_EQ(plain->restore->source_backup_arn, kArn);
  EXPECT_EQ(plain->restore->restore_time, absl::FromUnixMillis(5));
  EXPECT_EQ(plain->restore->items_restored, 3);
  EXPECT_EQ(plain->restore->items_total, 9);

  ASSERT_TRUE(client_
                  .RestoreTableFromBackup(
                      {.target_table_name = "Copy",
                       .backup_arn = kArn,
                       .overrides = {.billing_mode = BillingMode::kProvisioned,
                                     .provisioned_throughput = ProvisionedThroughput{5, 6},
                                     .on_demand_throughput = OnDemandThroughput{.max_read_request_units = 7},
                                     .sse_specification = SseSpecification{.enabled = true},
                                     .global_secondary_indexes =
                                         std::vector<GlobalSecondaryIndex>{{.index_name = "g"}},
                                     .local_secondary_indexes = std::vector<LocalSecondaryIndex>{}}})
                  .ok());
  const v1::RestoreOverrides& overrides = sent.overrides();
  EXPECT_EQ(overrides.billing_mode(), v1::BILLING_MODE_PROVISIONED);
  EXPECT_EQ(overrides.provisioned_throughput().write_capacity_units(), 6);
  EXPECT_EQ(overrides.on_demand_throughput().max_read_request_units(), 7);
  EXPECT_TRUE(overrides.sse_specification().enabled());
  EXPECT_EQ(overrides.global_secondary_indexes().indexes(0).index_name(), "g");
  EXPECT_TRUE(overrides.has_local_secondary_indexes());
  EXPECT_EQ(overrides.local_secondary_indexes().indexes_size(), 0);
}

TEST_F(ClientBackupsTest, ContinuousBackupsReturnAllFigures) {
  const auto fill = [](auto* reply) {
    reply->set_change_sequence(11);
    v1::ContinuousBackupsDescription* backups = reply->mutable_continuous_backups();
    backups->set_point_in_time_recovery_enabled(true);
    backups->set_recovery_period_in_days(7);
    backups->set_earliest_restorable_time_ms(1'000);
    backups->set_latest_restorable_time_ms(2'000);
    return grpc::Status::OK;
  };
  daemon_.describe_continuous_backups = [&](const v1::DescribeContinuousBackupsRequest& request,
                                            v1::DescribeContinuousBackupsReply* reply) {
    EXPECT_EQ(request.table_name(), "Order");
    return fill(reply);
  };
  daemon_.update_continuous_backups = [&](const v1::UpdateContinuousBackupsRequest& request,
                                          v1::UpdateContinuousBackupsReply* reply) {
    EXPECT_TRUE(request.point_in_time_recovery_enabled());
    EXPECT_EQ(request.recovery_period_in_days(), 7);
    return fill(reply);
  };
  const auto updated = client_.UpdateContinuousBackups(
      {.table_name = "Order", .point_in_time_recovery_enabled = true, .recovery_period_in_days = 7});
  for (const auto& result : {client_.DescribeContinuousBackups("Order"), updated}) {
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->change_sequence, 11u);
    EXPECT_TRUE(result->point_in_time_recovery_enabled);
    EXPECT_EQ(result->recovery_period_in_days, 7);
    EXPECT_EQ(result->earliest_restorable_time, absl::FromUnixMillis(1'000));
    EXPECT_EQ(result->latest_restorable_time, absl::FromUnixMillis(2'000));
  }
}

}  // namespace
}  // namespace itemdb
