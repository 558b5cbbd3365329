#include "daemon/http/api/backups.h"

#include "daemon/http/api/table_definitions.h"

namespace itemdb::http::json {
namespace {

using storage::Database;

// ---- requests

absl::StatusOr<v1::CreateBackupRequest> ReadCreateBackup(const JsonObject& object) {
  v1::CreateBackupRequest request;
  request.set_table_name(std::string(TextOf(object, "TableName")));
  request.set_backup_name(std::string(TextOf(object, "BackupName")));
  return request;
}

template <typename Request>
absl::StatusOr<Request> ReadBackupArn(const JsonObject& object) {
  Request request;
  request.set_backup_arn(std::string(TextOf(object, "BackupArn")));
  return request;
}

absl::StatusOr<v1::ListBackupsRequest> ReadListBackups(const JsonObject& object) {
  v1::ListBackupsRequest request;
  request.set_table_name(std::string(TextOf(object, "TableName")));
  if (const auto limit = NumberOf(object, "Limit"); limit.has_value())
    request.set_limit(static_cast<int32_t>(*limit));
  if (const auto bound = MillisecondsOf(object, "TimeRangeLowerBound"); bound.has_value())
    request.set_time_range_lower_bound_ms(*bound);
  if (const auto bound = MillisecondsOf(object, "TimeRangeUpperBound"); bound.has_value())
    request.set_time_range_upper_bound_ms(*bound);
  request.set_exclusive_start_backup_arn(std::string(TextOf(object, "ExclusiveStartBackupArn")));
  request.set_backup_type(EnumOf<v1::BackupTypeFilter>(object, "BackupType"));
  return request;
}

absl::StatusOr<v1::RestoreTableFromBackupRequest> ReadRestoreTableFromBackup(const JsonObject& object) {
  v1::RestoreTableFromBackupRequest request;
  request.set_target_table_name(std::string(TextOf(object, "TargetTableName")));
  request.set_backup_arn(std::string(TextOf(object, "BackupArn")));
  ReadRestoreOverrides(object, request.mutable_overrides());
  return request;
}

absl::StatusOr<v1::RestoreTableToPointInTimeRequest> ReadRestoreTableToPointInTime(const JsonObject& object) {
  v1::RestoreTableToPointInTimeRequest request;
  request.set_source_table_name(std::string(TextOf(object, "SourceTableName")));
  request.set_source_table_arn(std::string(TextOf(object, "SourceTableArn")));
  request.set_target_table_name(std::string(TextOf(object, "TargetTableName")));
  if (const auto time = MillisecondsOf(object, "RestoreDateTime"); time.has_value())
    request.set_restore_time_ms(*time);
  request.set_use_latest_restorable_time(FlagOf(object, "UseLatestRestorableTime"));
  ReadRestoreOverrides(object, request.mutable_overrides());
  return request;
}

absl::StatusOr<v1::DescribeContinuousBackupsRequest> ReadDescribeContinuousBackups(const JsonObject& object) {
  v1::DescribeContinuousBackupsRequest request;
  request.set_table_name(std::string(TextOf(object, "TableName")));
  return request;
}

absl::StatusOr<v1::UpdateContinuousBackupsRequest> ReadUpdateContinuousBackups(const JsonObject& object) {
  v1::UpdateContinuousBackupsRequest request;
  request.set_table_name(std::string(TextOf(object, "TableName")));
  const JsonObject specification = AsObject(*MemberOf(object, "PointInTimeRecoverySpecification"));
  request.set_point_in_time_recovery_enabled(FlagOf(specification, "PointInTimeRecoveryEnabled"));
  if (const auto days = NumberOf(specification, "RecoveryPeriodInDays"); days.has_value())
    request.set_recovery_period_in_days(static_cast<int32_t>(*days));
  return request;
}

// ---- replies

// Writes the members that BackupDetails and BackupSummary share.
void WriteDetails(const v1::TableBackup& backup, storage::JsonWriter* writer) {
  writer->Name("BackupArn").String(backup.backup_arn());
  writer->Name("BackupName").String(backup.backup_name());
  writer->Name("BackupSizeBytes").Integer(backup.source_table().table_size_bytes());
  writer->Name("BackupStatus").String(EnumText(backup.backup_status()));
  writer->Name("BackupType").String(EnumText(backup.backup_type()));
  writer->Name("BackupCreationDateTime").Time(backup.creation_time_ms());
  if (backup.expiry_time_ms() != 0) writer->Name("BackupExpiryDateTime").Time(backup.expiry_time_ms());
}

void WriteBackupDetails(const v1::TableBackup& backup, storage::JsonWriter* writer) {
  writer->Name("BackupDetails").BeginObject();
  WriteDetails(backup, writer);
  writer->EndObject();
}

// BAK-08.
void WriteSourceTable(const v1::TableDescription& table, storage::JsonWriter* writer) {
  writer->Name("SourceTableDetails").BeginObject();
  writer->Name("TableName").String(table.table_name());
  writer->Name("TableId").String(table.table_id());
  writer->Name("TableArn").String(TableArn(table.table_name()));
  writer->Name("TableSizeBytes").Integer(table.table_size_bytes());
  WriteKeySchema(table.key_schema(), writer);
  writer->Name("TableCreationDateTime").Time(table.creation_time_ms());
  WriteUnits(table.provisioned_throughput(), writer);
  WriteOnDemandThroughput(table, writer);
  writer->Name("ItemCount").Integer(table.item_count());
  writer->Name("BillingMode").String(EnumText(table.billing_mode()));
  writer->EndObject();
}

// BAK-09: only what was on. A SYSTEM backup has none (BAK-18).
void WriteSourceFeatures(const v1::TableBackup& backup, storage::JsonWriter* writer) {
  writer->Name("SourceTableFeatureDetails").BeginObject();
  if (backup.backup_type() == v1::BACKUP_TYPE_USER) {
    const v1::TableDescription& table = backup.source_table();
    const auto write_index = [&](const auto& index) {
      writer->Name("IndexName").String(index.index_name());
      WriteKeySchema(index.key_schema(), writer);
      WriteProjection(index.projection(), writer);
    };
    if (!table.local_secondary_indexes().empty()) {
      writer->Name("LocalSecondaryIndexes").BeginArray();
      for (const auto& index : table.local_secondary_indexes()) {
        writer->BeginObject();
        write_index(index);
        writer->EndObject();
      }
      writer->EndArray();
    }
    if (!table.global_secondary_indexes().empty()) {
      writer->Name("GlobalSecondaryIndexes").BeginArray();
      for (const auto& index : table.global_secondary_indexes()) {
        writer->BeginObject();
        write_index(index);
        WriteUnits(index.provisioned_throughput(), writer);
        WriteOnDemandThroughput(index, writer);
        writer->EndObject();
      }
      writer->EndArray();
    }
    if (!table.vector_indexes().empty()) {
      writer->Name("VectorIndexes").BeginArray();
      for (const auto& index : table.vector_indexes()) {
        writer->BeginObject();
        WriteVectorIndex(index, writer);
        writer->EndObject();
      }
      writer->EndArray();
    }
    WriteStreamSpecification(table, "StreamDescription", writer);
    if (!backup.time_to_live_attribute().empty()) {
      writer->Name("TimeToLiveDescription").BeginObject().Name("TimeToLiveStatus").String("ENABLED");
      writer->Name("AttributeName").String(backup.time_to_live_attribute()).EndObject();
    }
    WriteEncryption(table, writer);
  }
  writer->EndObject();
}

void WriteCreated(const v1::CreateBackupReply& reply, storage::JsonWriter* writer) {
  WriteBackupDetails(reply.backup(), writer);
}

// DescribeBackup and DeleteBackup answer alike (BAK-07, BAK-15).
template <typename Reply>
void WriteBackup(const Reply& reply, storage::JsonWriter* writer) {
  writer->Name("BackupDescription").BeginObject();
  WriteBackupDetails(reply.backup(), writer);
  WriteSourceTable(reply.backup().source_table(), writer);
  WriteSourceFeatures(reply.backup(), writer);
  writer->EndObject();
}

void WriteBackups(const v1::ListBackupsReply& reply, storage::JsonWriter* writer) {
  writer->Name("BackupSummaries").BeginArray();
  for (const v1::TableBackup& backup : reply.backups()) {
    writer->BeginObject().Name("TableName").String(backup.source_table().table_name());
    writer->Name("TableId").String(backup.source_table().table_id());
    writer->Name("TableArn").String(TableArn(backup.source_table().table_name()));
    WriteDetails(backup, writer);
    writer->EndObject();
  }
  writer->EndArray();
  if (!reply.last_evaluated_backup_arn().empty())
    writer->Name("LastEvaluatedBackupArn").String(reply.last_evaluated_backup_arn());
}

template <typename Reply>
void WriteRestored(const Reply& reply, storage::JsonWriter* writer) {
  writer->Name("TableDescription");
  WriteTableDescription(reply.table(), writer);
}

// Continuous backups are always on; their point-in-time recovery may be off (PIT-02).
template <typename Reply>
void WriteContinuousBackups(const Reply& reply, storage::JsonWriter* writer) {
  const v1::ContinuousBackupsDescription& backups = reply.continuous_backups();
  writer->Name("ContinuousBackupsDescription").BeginObject();
  writer->Name("ContinuousBackupsStatus").String("ENABLED");
  writer->Name("PointInTimeRecoveryDescription").BeginObject();
  writer->Name("PointInTimeRecoveryStatus")
      .String(backups.point_in_time_recovery_enabled() ? "ENABLED" : "DISABLED");
  if (backups.point_in_time_recovery_enabled()) {
    writer->Name("RecoveryPeriodInDays").Integer(backups.recovery_period_in_days());
    if (backups.latest_restorable_time_ms() != 0) {
      writer->Name("EarliestRestorableDateTime").Time(backups.earliest_restorable_time_ms());
      writer->Name("LatestRestorableDateTime").Time(backups.latest_restorable_time_ms());
    }
  }
  writer->EndObject().EndObject();
}

// A caller with roles for some tables gets the backups of these.
void ExecuteListBackups(JsonCall call, v1::ListBackupsRequest request) {
  std::function<bool(std::string_view)> shows;
  if (call.caller.grants != nullptr) {
    shows = [caller = call.caller](std::string_view name) { return daemon::MaySeeTable(caller, name); };
  }
  call.database.ListBackups(
      std::move(request),
      [answer = std::move(call.answer)](absl::StatusOr<v1::ListBackupsReply> reply) mutable {
        AnswerObject<WriteBackups>(std::move(answer), reply);
      },
      std::move(shows));
}

}  // namespace

void CreateBackup(JsonCall call) {
  HandleOperation<ReadCreateBackup, &Database::CreateBackup, WriteCreated>(std::move(call));
}
void DescribeBackup(JsonCall call) {
  HandleOperation<ReadBackupArn<v1::DescribeBackupRequest>, &Database::DescribeBackup,
                  WriteBackup<v1::DescribeBackupReply>>(std::move(call));
}
void ListBackups(JsonCall call) { HandleOperation<ReadListBackups, ExecuteListBackups>(std::move(call)); }
void DeleteBackup(JsonCall call) {
  HandleOperation<ReadBackupArn<v1::DeleteBackupRequest>, &Database::DeleteBackup,
                  WriteBackup<v1::DeleteBackupReply>>(std::move(call));
}
void RestoreTableFromBackup(JsonCall call) {
  HandleOperation<ReadRestoreTableFromBackup, &Database::RestoreTableFromBackup,
                  WriteRestored<v1::RestoreTableFromBackupReply>>(std::move(call));
}
void RestoreTableToPointInTime(JsonCall call) {
  HandleOperation<ReadRestoreTableToPointInTime, &Database::RestoreTableToPointInTime,
                  WriteRestored<v1::RestoreTableToPointInTimeReply>>(std::move(call));
}
void DescribeContinuousBackups(JsonCall call) {
  HandleOperation<ReadDescribeContinuousBackups, &Database::DescribeContinuousBackups,
                  WriteContinuousBackups<v1::DescribeContinuousBackupsReply>>(std::move(call));
}
void UpdateContinuousBackups(JsonCall call) {
  HandleOperation<ReadUpdateContinuousBackups, &Database::UpdateContinuousBackups,
                  WriteContinuousBackups<v1::UpdateContinuousBackupsReply>>(std::move(call));
}

}  // namespace itemdb::http::json
