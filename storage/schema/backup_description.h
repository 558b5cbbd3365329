// The descriptions of tables in their backups.
#pragma once

#include <string>

#include "itemdb/v1/backups.pb.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// The name of the backup that is left of a deleted table, and how long it stays (BAK-18).
std::string SystemBackupName(const std::string& table_name);
inline constexpr int kSystemBackupDays = 35;

// A new backup, CREATING, of the table that `described` describes, as DescribeTable does, at `now_ms`,
// milliseconds since the Unix epoch. Its id is new. A SYSTEM backup has no features (BAK-18).
// `time_to_live_attribute` is empty if the time to live is off.
v1::TableBackup NewTableBackup(v1::TableDescription described, const std::string& time_to_live_attribute,
                               const std::string& backup_name, v1::BackupType type, int64_t now_ms);

// The id at the end of its ARN. The ARN must be that of a backup.
std::string BackupIdOf(const v1::TableBackup& backup);

}  // namespace itemdb::storage
