// `itemctl backup create`, `list`, `describe`, `verify`, `delete` and `prune`.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "tools/cli/confirm.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

// Makes a backup of the whole database, and prints it.
absl::Status RunBackupCreate(Context& context);

absl::Status RunBackupList(Context& context);

struct BackupDescribeOptions {
  uint32_t backup_id = 0;
};

// Prints what is known about a backup, with its tables.
absl::Status RunBackupDescribe(Context& context, const BackupDescribeOptions& options);

struct BackupVerifyOptions {
  // 0: the newest.
  uint32_t backup_id = 0;
  // Restore it and check the database.
  bool restore = false;
};

// Reads all files of a backup, or restores and checks it, and prints it.
absl::Status RunBackupVerify(Context& context, const BackupVerifyOptions& options);

struct BackupDeleteOptions {
  uint32_t backup_id = 0;
  // Not 0: all but this number of the newest.
  uint32_t keep_newest = 0;
  // Not empty: all that are older, a duration such as "720h"; the newest stays.
  std::string older_than;
  ConfirmOptions confirm;
};

// Prints the numbers of the deleted backups.
absl::Status RunBackupDelete(Context& context, const BackupDeleteOptions& options);

void RegisterBackupCommands(CommandTable& table);

}  // namespace itemdb::tools
