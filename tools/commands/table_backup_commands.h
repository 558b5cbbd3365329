// `itemctl table-backup`: backups of single tables. `itemctl pitr`: point-in-time recovery of tables.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/confirm.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct TableBackupCreateOptions {
  std::string table_name;
  std::string backup_name;
};

// Makes a backup, waits until it is AVAILABLE, and prints it.
absl::Status RunTableBackupCreate(Context& context, const TableBackupCreateOptions& options);

struct TableBackupListOptions {
  // Empty: of all tables.
  std::string table_name;
};

absl::Status RunTableBackupList(Context& context, const TableBackupListOptions& options);

struct TableBackupOptions {
  // An ARN, or a name: the newest backup of this name.
  std::string backup;
  ConfirmOptions confirm;
};

absl::Status RunTableBackupDescribe(Context& context, const TableBackupOptions& options);
absl::Status RunTableBackupDelete(Context& context, const TableBackupOptions& options);

struct TableBackupRestoreOptions {
  // As above.
  std::string backup;
  std::string target_table_name;
  bool without_indexes = false;
  // Wait until the table is ACTIVE.
  bool wait = false;
};

// Prints the new table.
absl::Status RunTableBackupRestore(Context& context, const TableBackupRestoreOptions& options);

struct RecoveryOptions {
  std::string table_name;
  // 0: as it is, or 35.
  int32_t days = 0;
};

struct RecoveryRestoreOptions {
  std::string source_table_name;
  std::string target_table_name;
  // "latest", the number of a change, or a time.
  std::string to = "latest";
  bool without_indexes = false;
  // Wait until the table is ACTIVE.
  bool wait = false;
};

// Prints the new table.
absl::Status RunRecoveryRestore(Context& context, const RecoveryRestoreOptions& options);

// Each prints whether point-in-time recovery is on.
absl::Status RunRecoveryEnable(Context& context, const RecoveryOptions& options);
absl::Status RunRecoveryDisable(Context& context, const RecoveryOptions& options);
absl::Status RunRecoveryStatus(Context& context, const RecoveryOptions& options);

void RegisterTableBackupCommands(CommandTable& table);

}  // namespace itemdb::tools
