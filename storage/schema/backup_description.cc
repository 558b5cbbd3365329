#include "storage/schema/backup_description.h"

#include "absl/strings/str_format.h"
#include "storage/base/table_arn.h"
#include "storage/base/uuid.h"

namespace itemdb::storage {

std::string SystemBackupName(const std::string& table_name) { return table_name + "$DeletedTableBackup"; }

v1::TableBackup NewTableBackup(v1::TableDescription described, const std::string& time_to_live_attribute,
                               const std::string& backup_name, v1::BackupType type, int64_t now_ms) {
  v1::TableBackup backup;
  const bool is_system = type == v1::BACKUP_TYPE_SYSTEM;
  const std::string end = is_system ? "00000000" : NewUuid().substr(0, 8);
  backup.set_backup_arn(BackupArnOf(described.table_name(), absl::StrFormat("%014d-%s", now_ms, end)));
  backup.set_backup_name(backup_name);
  backup.set_backup_status(v1::BACKUP_STATUS_CREATING);
  backup.set_backup_type(type);
  backup.set_creation_time_ms(now_ms);
  if (is_system) backup.set_expiry_time_ms(now_ms + int64_t{kSystemBackupDays} * 24 * 60 * 60 * 1'000);
  backup.set_time_to_live_attribute(time_to_live_attribute);
  // BAK-10.
  described.set_table_status(v1::TABLE_STATUS_ACTIVE);
  described.clear_tags();
  described.clear_point_in_time_recovery();
  described.clear_time_to_live();
  described.clear_write_fence();
  described.clear_table_class();
  described.clear_deletion_protection_enabled();
  described.clear_warm_throughput();
  for (auto& index : *described.mutable_global_secondary_indexes()) {
    index.clear_warm_throughput();
    index.clear_build();
  }
  for (auto& index : *described.mutable_vector_indexes()) index.clear_build();
  *backup.mutable_source_table() = std::move(described);
  return backup;
}

std::string BackupIdOf(const v1::TableBackup& backup) {
  const std::string& arn = backup.backup_arn();
  return arn.substr(arn.rfind('/') + 1);
}

}  // namespace itemdb::storage
