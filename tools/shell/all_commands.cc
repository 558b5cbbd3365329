#include "tools/shell/all_commands.h"

#include "tools/commands/admin_commands.h"
#include "tools/commands/audit_commands.h"
#include "tools/commands/backup_commands.h"
#include "tools/commands/batch_commands.h"
#include "tools/commands/bulk_put_commands.h"
#include "tools/commands/completion_commands.h"
#include "tools/commands/contributor_commands.h"
#include "tools/commands/count_commands.h"
#include "tools/commands/damage_commands.h"
#include "tools/commands/explain_commands.h"
#include "tools/commands/export_commands.h"
#include "tools/commands/generate_commands.h"
#include "tools/commands/help_commands.h"
#include "tools/commands/hold_commands.h"
#include "tools/commands/import_commands.h"
#include "tools/commands/index_commands.h"
#include "tools/commands/item_commands.h"
#include "tools/commands/latency_commands.h"
#include "tools/commands/model_commands.h"
#include "tools/commands/move_commands.h"
#include "tools/commands/order_entry_commands.h"
#include "tools/commands/partiql_commands.h"
#include "tools/commands/pattern_commands.h"
#include "tools/commands/promote_commands.h"
#include "tools/commands/query_commands.h"
#include "tools/commands/search_commands.h"
#include "tools/commands/shard_commands.h"
#include "tools/commands/status_commands.h"
#include "tools/commands/support_commands.h"
#include "tools/commands/table_backup_commands.h"
#include "tools/commands/table_commands.h"
#include "tools/commands/table_files_commands.h"
#include "tools/commands/time_to_live_commands.h"
#include "tools/commands/top_commands.h"
#include "tools/commands/transact_commands.h"
#include "tools/commands/undo_commands.h"
#include "tools/shell/shell_commands.h"

namespace itemdb::tools {

void RegisterAllCommands(CommandTable& table) {
  RegisterTableCommands(table);
  RegisterIndexCommands(table);
  RegisterTimeToLiveCommands(table);
  RegisterItemCommands(table);
  RegisterQueryCommands(table);
  RegisterPartiqlCommands(table);
  RegisterSearchCommands(table);
  RegisterCountCommands(table);
  RegisterExplainCommands(table);
  RegisterBatchCommands(table);
  RegisterTransactCommands(table);
  RegisterModelCommands(table);
  RegisterOrderEntryCommands(table);
  RegisterStatusCommands(table);
  RegisterAdminCommands(table);
  RegisterHoldCommands(table);
  RegisterUndoCommands(table);
  RegisterMoveCommands(table);
  RegisterBackupCommands(table);
  RegisterTableBackupCommands(table);
  RegisterExportCommands(table);
  RegisterImportCommands(table);
  RegisterTableFilesCommands(table);
  RegisterBulkPutCommands(table);
  RegisterDamageCommands(table);
  RegisterPromoteCommand(table);
  RegisterAuditCommands(table);
  RegisterPatternCommands(table);
  RegisterContributorCommands(table);
  RegisterTopCommand(table);
  RegisterSupportCommands(table);
  RegisterLatencyCommands(table);
  RegisterGenerateCommands(table);
  RegisterShardCommands(table);
  RegisterShellCommands(table);
  RegisterHelpCommands(table);
  RegisterCompletionCommands(table);
}

}  // namespace itemdb::tools
