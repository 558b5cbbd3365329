// ARNs of tables and their backups. There is one region and one account.
#pragma once

#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace itemdb::storage {

inline constexpr std::string_view kRegion = "local";
inline constexpr std::string_view kAccount = "000000000000";

// "arn:aws:dynamodb:local:000000000000:table/NAME".
std::string TableArn(std::string_view table_name);

// The parts of the ARN of a backup. Borrows from the text that was parsed.
struct BackupArn {
  std::string_view region;
  std::string_view table_name;
  // 14 digits, a hyphen and 8 hexadecimal digits (BAK-03), so it can be the name of a folder.
  std::string_view backup_id;
};

// The ARN of the table and "/backup/ID".
std::string BackupArnOf(std::string_view table_name, std::string_view backup_id);

// INVALID_ARGUMENT: `arn` is not the ARN of a backup, or names a region that cannot be one.
// PERMISSION_DENIED: it is of another account (BAK-16). Any possible region is accepted.
absl::StatusOr<BackupArn> ParseBackupArn(std::string_view arn);

}  // namespace itemdb::storage
