// Backups of tables and point-in-time recovery.
#include <utility>

#include "client/call.h"
#include "client/convert.h"
#include "client/enum_table.h"
#include "itemdb/client.h"
#include "itemdb/v1/backups.pb.h"

namespace itemdb {
namespace {

constexpr std::pair<BackupStatus, v1::BackupStatus> kBackupStatuses[] = {
    {BackupStatus::kCreating, v1::BACKUP_STATUS_CREATING},
    {BackupStatus::kAvailable, v1::BACKUP_STATUS_AVAILABLE},
    {BackupStatus::kDeleted, v1::BACKUP_STATUS_DELETED}};
constexpr std::pair<BackupType, v1::BackupType> kBackupTypes[] = {
    {BackupType::kUser, v1::BACKUP_TYPE_USER}, {BackupType::kSystem, v1::BACKUP_TYPE_SYSTEM}};
constexpr std::pair<BackupTypeFilter, v1::BackupTypeFilter> kBackupTypeFilters[] = {
    {BackupTypeFilter::kUser, v1::BACKUP_TYPE_FILTER_USER},
    {BackupTypeFilter::kSystem, v1::BACKUP_TYPE_FILTER_SYSTEM},
    {BackupTypeFilter::kAll, v1::BACKUP_TYPE_FILTER_ALL}};

TableBackup BackupFromProto(const v1::TableBackup& message) {
  TableBackup backup;
  backup.backup_arn = message.backup_arn();
  backup.backup_name = message.backup_name();
  backup.backup_status = ValueOf(kBackupStatuses, message.backup_status(), BackupStatus::kUnknown);
  backup.backup_type = ValueOf(kBackupTypes, message.backup_type(), BackupType::kUnknown);
  backup.creation_time = absl::FromUnixMillis(message.creation_time_ms());
  if (message.expiry_time_ms() != 0) backup.expiry_time = absl::FromUnixMillis(message.expiry_time_ms());
  backup.source_table = FromProto(message.source_table());
  backup.time_to_live_attribute = message.time_to_live_attribute();
  backup.change_sequence = message.change_sequence();
  backup.file_bytes = message.file_bytes();
  return backup;
}

template <typename Reply>
TableBackup ReplyToBackup(const Reply& reply) {
  return BackupFromProto(reply.backup());
}

template <typename Reply>
ContinuousBackupsResult ReplyToContinuousBackups(const Reply& reply) {
  const v1::ContinuousBackupsDescription& backups = reply.continuous_backups();
  ContinuousBackupsResult result;
  result.change_sequence = reply.change_sequence();
  result.point_in_time_recovery_enabled = backups.point_in_time_recovery_enabled();
  result.recovery_period_in_days = backups.recovery_period_in_days();
  result.earliest_restorable_time = absl::FromUnixMillis(backups.earliest_restorable_time_ms());
  result.latest_restorable_time = absl::FromUnixMillis(backups.latest_restorable_time_ms());
  return result;
}

}  // namespace

absl::StatusOr<TableBackup> Client::CreateBackup(const std::string& table_name,
                                                 const std::string& backup_name, CallOptions options) const {
  v1::CreateBackupRequest message;
  message.set_table_name(table_name);
  message.set_backup_name(backup_name);
  return Call<v1::CreateBackupReply, TableBackup>(core_, "/itemdb.v1.Backups/CreateBackup", CallKind::kWrite,
                                                  message, options, &ReplyToBackup<v1::CreateBackupReply>);
}

absl::StatusOr<TableBackup> Client::DescribeBackup(const std::string& backup_arn, CallOptions options) const {
  v1::DescribeBackupRequest message;
  message.set_backup_arn(backup_arn);
  return Call<v1::DescribeBackupReply, TableBackup>(core_, "/itemdb.v1.Backups/DescribeBackup",
                                                    CallKind::kRead, message, options,
                                                    &ReplyToBackup<v1::DescribeBackupReply>);
}

absl::StatusOr<ListBackupsResult> Client::ListBackups(const ListBackupsRequest& request,
                                                      CallOptions options) const {
  v1::ListBackupsRequest message;
  message.set_table_name(request.table_name);
  if (request.limit.has_value()) message.set_limit(*request.limit);
  if (request.time_range_lower_bound.has_value())
    message.set_time_range_lower_bound_ms(absl::ToUnixMillis(*request.time_range_lower_bound));
  if (request.time_range_upper_bound.has_value())
    message.set_time_range_upper_bound_ms(absl::ToUnixMillis(*request.time_range_upper_bound));
  message.set_exclusive_start_backup_arn(request.exclusive_start_backup_arn);
  message.set_backup_type(ProtoOf(kBackupTypeFilters, request.backup_type));
  return Call<v1::ListBackupsReply, ListBackupsResult>(
      core_, "/itemdb.v1.Backups/ListBackups", CallKind::kRead, message, options,
      [](const v1::ListBackupsReply& reply) {
        ListBackupsResult result;
        for (const v1::TableBackup& backup : reply.backups())
          result.backups.push_back(BackupFromProto(backup));
        result.last_evaluated_backup_arn = reply.last_evaluated_backup_arn();
        return result;
      });
}

absl::StatusOr<TableBackup> Client::DeleteBackup(const std::string& backup_arn, CallOptions options) const {
  v1::DeleteBackupRequest message;
  message.set_backup_arn(backup_arn);
  return Call<v1::DeleteBackupReply, TableBackup>(core_, "/itemdb.v1.Backups/DeleteBackup", CallKind::kWrite,
                                                  message, options, &ReplyToBackup<v1::DeleteBackupReply>);
}

absl::StatusOr<TableDescription> Client::RestoreTableFromBackup(const RestoreTableFromBackupRequest& request,
                                                                CallOptions options) const {
  v1::RestoreTableFromBackupRequest message;
  message.set_target_table_name(request.target_table_name);
  message.set_backup_arn(request.backup_arn);
  *message.mutable_overrides() = ToProto(request.overrides);
  return Call<v1::RestoreTableFromBackupReply, TableDescription>(
      core_, "/itemdb.v1.Backups/RestoreTableFromBackup", CallKind::kWrite, message, options,
      [](const v1::RestoreTableFromBackupReply& reply) { return FromProto(reply.table()); });
}

absl::StatusOr<TableDescription> Client::RestoreTableToPointInTime(
    const RestoreTableToPointInTimeRequest& request, CallOptions options) const {
  v1::RestoreTableToPointInTimeRequest message;
  const bool is_arn = request.source_table_name.starts_with("arn:");
  (is_arn ? message.mutable_source_table_arn() : message.mutable_source_table_name())
      ->assign(request.source_table_name);
  message.set_target_table_name(request.target_table_name);
  if (request.restore_time.has_value())
    message.set_restore_time_ms(absl::ToUnixMillis(*request.restore_time));
  message.set_use_latest_restorable_time(request.use_latest_restorable_time);
  message.set_change_sequence(request.change_sequence);
  *message.mutable_overrides() = ToProto(request.overrides);
  return Call<v1::RestoreTableToPointInTimeReply, TableDescription>(
      core_, "/itemdb.v1.Backups/RestoreTableToPointInTime", CallKind::kWrite, message, options,
      [](const v1::RestoreTableToPointInTimeReply& reply) { return FromProto(reply.table()); });
}

absl::StatusOr<ContinuousBackupsResult> Client::DescribeContinuousBackups(const std::string& table_name,
                                                                          CallOptions options) const {
  v1::DescribeContinuousBackupsRequest message;
  message.set_table_name(table_name);
  return Call<v1::DescribeContinuousBackupsReply, ContinuousBackupsResult>(
      core_, "/itemdb.v1.Backups/DescribeContinuousBackups", CallKind::kRead, message, options,
      &ReplyToContinuousBackups<v1::DescribeContinuousBackupsReply>);
}

absl::StatusOr<ContinuousBackupsResult> Client::UpdateContinuousBackups(
    const UpdateContinuousBackupsRequest& request, CallOptions options) const {
  v1::UpdateContinuousBackupsRequest message;
  message.set_table_name(request.table_name);
  message.set_point_in_time_recovery_enabled(request.point_in_time_recovery_enabled);
  if (request.recovery_period_in_days.has_value())
    message.set_recovery_period_in_days(*request.recovery_period_in_days);
  return Call<v1::UpdateContinuousBackupsReply, ContinuousBackupsResult>(
      core_, "/itemdb.v1.Backups/UpdateContinuousBackups", CallKind::kWrite, message, options,
      &ReplyToContinuousBackups<v1::UpdateContinuousBackupsReply>);
}

}  // namespace itemdb
