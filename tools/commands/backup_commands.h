// `itemctl backup create`, `list`, `verify`, `delete` and `prune`.
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

struct BackupVerifyOptions {
  // 0: the newest.
  uint32_t backup_id = 0;
};

// Reads all files of a backup, and prints it.
absl::Status RunBackupVerify(Context& context, const BackupVerifyOptions& options);

struct BackupDeleteOptions {
  uint32_t backup_id = 0;
  // Not 0: all but this number of the newest.
  uint32_t keep_newest = 0;
  ConfirmOptions confirm;
};

// Prints the numbers of the deleted backups.
absl::Status RunBackupDelete(Context& context, const BackupDeleteOptions& options);

void RegisterBackupCommands(CommandTable& table);

}  // namespace itemdb::tools
