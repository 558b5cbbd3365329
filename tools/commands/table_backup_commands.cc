#include "tools/commands/table_backup_commands.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/base/number_text.h"
#include "tools/base/text_table.h"
#include "tools/cli/command_table.h"
#include "tools/cli/option_validators.h"
#include "tools/cli/progress.h"
#include "tools/commands/table_commands.h"
#include "tools/json/table_json.h"

namespace itemdb::tools {
namespace {

// The time between two polls of a backup or a table.
constexpr absl::Duration kBackupPollInterval = absl::Milliseconds(100);

std::string BackupTimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

std::string_view BackupStatusName(BackupStatus status) {
  switch (status) {
    case BackupStatus::kCreating:
      return "CREATING";
    case BackupStatus::kAvailable:
      return "AVAILABLE";
    case BackupStatus::kDeleted:
      return "DELETED";
    case BackupStatus::kUnknown:
      return "UNKNOWN";
  }
  return "UNKNOWN";
}

std::string_view BackupTypeName(BackupType type) {
  switch (type) {
    case BackupType::kUser:
      return "USER";
    case BackupType::kSystem:
      return "SYSTEM";
    case BackupType::kUnknown:
      return "UNKNOWN";
  }
  return "UNKNOWN";
}

JsonValue BackupToJson(const TableBackup& backup) {
  JsonValue object = JsonValue::Object()
                         .Add("BackupArn", backup.backup_arn)
                         .Add("BackupName", backup.backup_name)
                         .Add("BackupStatus", BackupStatusName(backup.backup_status))
                         .Add("BackupType", BackupTypeName(backup.backup_type))
                         .Add("BackupCreationDateTime", BackupTimeText(backup.creation_time));
  if (backup.expiry_time.has_value()) object.Add("BackupExpiryDateTime", BackupTimeText(*backup.expiry_time));
  return std::move(object)
      .Add("TableName", backup.source_table.definition.table_name)
      .Add("TableId", backup.source_table.table_id)
      .Add("ItemCount", backup.source_table.item_count)
      .Add("BackupSizeBytes", backup.source_table.table_size_bytes)
      .Add("FileBytes", backup.file_bytes)
      .Add("ChangeSequence", backup.change_sequence);
}

TextTable BackupsToTable(const std::vector<TableBackup>& backups) {
  TextTable table({{"created"},
                   {"table"},
                   {"name"},
                   {"status"},
                   NumberColumn("items"),
                   NumberColumn("size"),
                   WholeColumn("ARN")});
  for (const TableBackup& backup : backups) {
    table.AddRow({BackupTimeText(backup.creation_time), backup.source_table.definition.table_name,
                  backup.backup_name, std::string(BackupStatusName(backup.backup_status)),
                  WithSeparators(static_cast<int64_t>(backup.source_table.item_count)),
                  BytesText(static_cast<int64_t>(backup.source_table.table_size_bytes)), backup.backup_arn});
  }
  return table;
}

void PrintBackup(Context& context, const TableBackup& backup) {
  if (context.format() == OutputFormat::kTable) {
    context.Print(BackupsToTable({backup}));
  } else {
    context.Print(BackupToJson(backup));
  }
}

absl::StatusOr<std::vector<TableBackup>> AllBackups(Context& context, const Client& client,
                                                    const std::string& table_name) {
  std::vector<TableBackup> backups;
  ListBackupsRequest request{.table_name = table_name, .backup_type = BackupTypeFilter::kAll};
  do {
    ITEMDB_ASSIGN_OR_RETURN(ListBackupsResult page, client.ListBackups(request, context.Call()));
    for (TableBackup& backup : page.backups) backups.push_back(std::move(backup));
    request.exclusive_start_backup_arn = page.last_evaluated_backup_arn;
  } while (!request.exclusive_start_backup_arn.empty());
  return backups;
}

// The ARN of the backup that `text` names.
absl::StatusOr<std::string> ArnOf(Context& context, const Client& client, const std::string& text) {
  if (text.starts_with("arn:")) return text;
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<TableBackup> backups, AllBackups(context, client, ""));
  std::string arn;
  for (const TableBackup& backup : backups)
    if (backup.backup_name == text) arn = backup.backup_arn;
  if (arn.empty())
    return ToolError(ExitCode::kRefused, "there is no backup of a table with the name " + text);
  return arn;
}

void PrintRecovery(Context& context, const std::string& table_name, const ContinuousBackupsResult& result) {
  const bool on = result.point_in_time_recovery_enabled;
  // Otherwise the first backup is still being made.
  const bool has_times = on && result.latest_restorable_time != absl::UnixEpoch();
  const std::string status = on ? "ENABLED" : "DISABLED";
  if (context.format() == OutputFormat::kTable) {
    TextTable text({{"table"}, {"status"}, NumberColumn("days"), {"earliest"}, {"latest"}});
    text.AddRow({table_name, status, on ? absl::StrCat(result.recovery_period_in_days) : "",
                 has_times ? BackupTimeText(result.earliest_restorable_time) : "",
                 has_times ? BackupTimeText(result.latest_restorable_time) : ""});
    context.Print(text);
    return;
  }
  JsonValue object =
      JsonValue::Object().Add("TableName", table_name).Add("PointInTimeRecoveryStatus", status);
  if (on) object.Add("RecoveryPeriodInDays", result.recovery_period_in_days);
  if (has_times) {
    object.Add("EarliestRestorableDateTime", BackupTimeText(result.earliest_restorable_time))
        .Add("LatestRestorableDateTime", BackupTimeText(result.latest_restorable_time));
  }
  context.Print(object);
}

absl::Status UpdateRecovery(Context& context, const UpdateContinuousBackupsRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const ContinuousBackupsResult result,
                          client.UpdateContinuousBackups(request, context.Call()));
  PrintRecovery(context, request.table_name, result);
  return absl::OkStatus();
}

// Prints the new table, at once or when it is ACTIVE.
absl::Status PrintRestored(Context& context, Client& client, TableDescription table, const std::string& name,
                           bool wait) {
  if (wait) {
    Progress progress(ProgressStream(context),
                      {.doing = "restoring " + name,
                       .unit = "items",
                       .total = table.restore.value_or(RestoreSummary{}).items_total});
    while (table.table_status == TableStatus::kCreating) {
      if (table.restore.has_value()) progress.Set(table.restore->items_restored);
      if (context.session().interrupted())
        return absl::CancelledError("interrupted; the daemon continues to restore the table");
      absl::SleepFor(kBackupPollInterval);
      ITEMDB_ASSIGN_OR_RETURN(TableResult result, client.DescribeTable(name, context.Call()));
      table = std::move(result.table);
    }
  }
  PrintTable(table, context);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunTableBackupCreate(Context& context, const TableBackupCreateOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  Progress progress(ProgressStream(context), {.doing = "making a backup of " + options.table_name});
  ITEMDB_ASSIGN_OR_RETURN(TableBackup backup,
                          client.CreateBackup(options.table_name, options.backup_name, context.Call()));
  while (true) {
    ITEMDB_ASSIGN_OR_RETURN(backup, client.DescribeBackup(backup.backup_arn, context.Call()));
    if (backup.backup_status != BackupStatus::kCreating) break;
    if (context.session().interrupted())
      return absl::CancelledError("interrupted; the daemon continues to make the backup");
    absl::SleepFor(kBackupPollInterval);
  }
  progress.Finish();
  PrintBackup(context, backup);
  return absl::OkStatus();
}

absl::Status RunTableBackupList(Context& context, const TableBackupListOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<TableBackup> backups,
                          AllBackups(context, client, options.table_name));
  if (context.format() != OutputFormat::kTable) {
    std::vector<JsonValue> elements;
    for (const TableBackup& backup : backups) elements.push_back(BackupToJson(backup));
    context.Print(JsonValue::Object().Add("Backups", JsonValue::Array(std::move(elements))));
  } else if (backups.empty()) {
    context.out() << "no backups\n";
  } else {
    context.Print(BackupsToTable(backups));
  }
  return absl::OkStatus();
}

absl::Status RunTableBackupDescribe(Context& context, const TableBackupOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const std::string arn, ArnOf(context, client, options.backup));
  ITEMDB_ASSIGN_OR_RETURN(const TableBackup backup, client.DescribeBackup(arn, context.Call()));
  if (context.format() == OutputFormat::kTable) {
    context.Print(BackupsToTable({backup}));
    PrintTable(backup.source_table, context);
    return absl::OkStatus();
  }
  context.Print(BackupToJson(backup).Add("SourceTable", TableToJson(backup.source_table)));
  return absl::OkStatus();
}

absl::Status RunTableBackupDelete(Context& context, const TableBackupOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const std::string arn, ArnOf(context, client, options.backup));
  ITEMDB_ASSIGN_OR_RETURN(bool go_on,
                          Confirm(context, options.confirm, "delete the backup " + arn, Unattended::kRefuse));
  if (!go_on) return absl::OkStatus();
  ITEMDB_ASSIGN_OR_RETURN(const TableBackup deleted, client.DeleteBackup(arn, context.Call()));
  PrintBackup(context, deleted);
  return absl::OkStatus();
}

absl::Status RunTableBackupRestore(Context& context, const TableBackupRestoreOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const std::string arn, ArnOf(context, client, options.backup));
  RestoreTableFromBackupRequest request{.target_table_name = options.target_table_name, .backup_arn = arn};
  if (options.without_indexes) {
    request.overrides.global_secondary_indexes.emplace();
    request.overrides.local_secondary_indexes.emplace();
  }
  ITEMDB_ASSIGN_OR_RETURN(TableDescription table, client.RestoreTableFromBackup(request, context.Call()));
  return PrintRestored(context, client, std::move(table), options.target_table_name, options.wait);
}

absl::Status RunRecoveryRestore(Context& context, const RecoveryRestoreOptions& options) {
  RestoreTableToPointInTimeRequest request{.source_table_name = options.source_table_name,
                                           .target_table_name = options.target_table_name};
  absl::Time time;
  std::string error;
  // SimpleAtoi leaves the year of a time in it.
  uint64_t change = 0;
  if (options.to == "latest") {
    request.use_latest_restorable_time = true;
  } else if (absl::SimpleAtoi(options.to, &change) && change > 0) {
    request.change_sequence = change;
  } else if (absl::ParseTime(absl::RFC3339_full, options.to, &time, &error)) {
    request.restore_time = time;
  } else {
    return UsageError(
        "--to must be latest, the number of a change, or a time with its offset such as "
        "2026-11-25T14:30:00Z; it is \"" +
        options.to + "\"");
  }
  if (options.without_indexes) {
    request.overrides.global_secondary_indexes.emplace();
    request.overrides.local_secondary_indexes.emplace();
  }
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(TableDescription table, client.RestoreTableToPointInTime(request, context.Call()));
  return PrintRestored(context, client, std::move(table), options.target_table_name, options.wait);
}

absl::Status RunRecoveryEnable(Context& context, const RecoveryOptions& options) {
  return UpdateRecovery(
      context,
      {.table_name = options.table_name,
       .point_in_time_recovery_enabled = true,
       .recovery_period_in_days = options.days == 0 ? std::nullopt : std::optional<int32_t>(options.days)});
}

absl::Status RunRecoveryDisable(Context& context, const RecoveryOptions& options) {
  return UpdateRecovery(context, {.table_name = options.table_name});
}

absl::Status RunRecoveryStatus(Context& context, const RecoveryOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const ContinuousBackupsResult result,
                          client.DescribeContinuousBackups(options.table_name, context.Call()));
  PrintRecovery(context, options.table_name, result);
  return absl::OkStatus();
}

void RegisterTableBackupCommands(CommandTable& table) {
  constexpr char kBackup[] = "BACKUP";
  constexpr char kBackupHelp[] = "ARN of the backup, or its name: the newest backup of this name";
  CLI::App* group = table.AddGroup({.name = "table-backup", .summary = "Backups of single tables"});
  auto create = std::make_shared<TableBackupCreateOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "create",
       .summary = "Make a backup of a table while it is written to",
       .details =
           "The backup has the items of one moment, and the table's definition. It is in the directory "
           "of itemd --backup-directory, and outlives the table. Waits until it is done.",
       .examples = {{"itemctl table-backup create music nightly", "make a backup with the name nightly"},
                    {"itemctl table-backup create music before-import -o json", "for programs"}}},
      [create](Context& context) { return RunTableBackupCreate(context, *create); });
  command->add_option(std::string(kTableName), create->table_name, "The table's name")->required();
  command->add_option("NAME", create->backup_name, "Name of the backup; need not be unique")->required();

  auto list = std::make_shared<TableBackupListOptions>();
  command = table.Add(group,
                      {.name = "list",
                       .summary = "List the backups of tables, the oldest first",
                       .examples = {{"itemctl table-backup list", "of all tables, deleted ones too"},
                                    {"itemctl table-backup list music -o json", "of one table, as JSON"}}},
                      [list](Context& context) { return RunTableBackupList(context, *list); });
  command->add_option(std::string(kTableName), list->table_name, "Only backups of this table");

  auto describe = std::make_shared<TableBackupOptions>();
  command = table.Add(
      group,
      {.name = "describe",
       .summary = "Show a backup and the table as it was then",
       .examples =
           {{"itemctl table-backup create music nightly && itemctl table-backup describe nightly",
             "the newest backup with the name nightly"},
            {"itemctl table-backup create music nightly && itemctl table-backup describe nightly -o json",
             "for programs"}}},
      [describe](Context& context) { return RunTableBackupDescribe(context, *describe); });
  command->add_option(kBackup, describe->backup, kBackupHelp)->required();

  auto remove = std::make_shared<TableBackupOptions>();
  command = table.Add(
      group,
      {.name = "delete",
       .summary = "Delete a backup of a table",
       .details = "Asks first; without a terminal, --yes is needed.",
       .examples =
           {{"itemctl table-backup create music nightly && itemctl table-backup delete nightly --dry-run",
             "show what would be deleted"},
            {"itemctl table-backup create music nightly && itemctl table-backup delete nightly --yes",
             "delete it without being asked"}}},
      [remove](Context& context) { return RunTableBackupDelete(context, *remove); });
  command->add_option(kBackup, remove->backup, kBackupHelp)->required();
  AddConfirmOptions(command, remove->confirm);

  auto restore = std::make_shared<TableBackupRestoreOptions>();
  command = table.Add(
      group,
      {.name = "restore",
       .summary = "Make a new table of a backup",
       .details = "The table is CREATING until it has all items and index entries. Its stream, time to live, "
                  "tags, deletion protection and point-in-time recovery are those of a new table.",
       .examples = {{"itemctl table-backup create music nightly && "
                     "itemctl table-backup restore nightly music-restored --wait",
                     "with the indexes of the backup"},
                    {"itemctl table-backup create music nightly && "
                     "itemctl table-backup restore nightly music-plain --without-indexes --wait",
                     "with items only"}}},
      [restore](Context& context) { return RunTableBackupRestore(context, *restore); });
  command->add_option(kBackup, restore->backup, kBackupHelp)->required();
  command->add_option(std::string(kTableName), restore->target_table_name, "Name of the new table")
      ->required();
  command->add_flag("--without-indexes", restore->without_indexes, "Restore no secondary index");
  command->add_flag("--wait", restore->wait, "Wait until the table is ACTIVE");

  group = table.AddGroup({.name = "pitr", .summary = "Point-in-time recovery of tables"});
  auto enable = std::make_shared<RecoveryOptions>();
  command = table.Add(group,
                      {.name = "enable",
                       .summary = "Turn a table's point-in-time recovery on",
                       .details = "When such a table is deleted, a backup of it is left for 35 days.",
                       .examples = {{"itemctl pitr enable music", "for 35 days"},
                                    {"itemctl pitr enable music --days 7", "for a week"}}},
                      [enable](Context& context) { return RunRecoveryEnable(context, *enable); });
  command->add_option(std::string(kTableName), enable->table_name, "The table's name")->required();
  command->add_option("--days", enable->days, "How far back, 1 to 35 days. Default: as it is, or 35")
      ->check(WholeNumberFrom(1))
      ->type_name("NUMBER");

  auto disable = std::make_shared<RecoveryOptions>();
  command =
      table.Add(group,
                {.name = "disable",
                 .summary = "Turn a table's point-in-time recovery off",
                 .examples = {{"itemctl pitr enable music && itemctl pitr disable music", "on, and off"},
                              {"itemctl pitr disable music -o json", "for programs"}}},
                [disable](Context& context) { return RunRecoveryDisable(context, *disable); });
  command->add_option(std::string(kTableName), disable->table_name, "The table's name")->required();

  auto point = std::make_shared<RecoveryRestoreOptions>();
  command = table.Add(
      group,
      {.name = "restore",
       .summary = "Make a new table of another as it was after an earlier commit",
       .details = "The table must have point-in-time recovery. itemd makes the database as it was then in a "
                  "folder of its data directory, which needs its space.",
       .examples =
           {{"itemctl pitr enable music && itemctl pitr restore music music-now --wait", "as it is now"},
            {"itemctl pitr enable music && itemctl pitr restore music music-before --to latest -o json",
             "for programs"}}},
      [point](Context& context) { return RunRecoveryRestore(context, *point); });
  command->add_option(std::string(kTableName), point->source_table_name, "The table's name")->required();
  command->add_option("TARGET", point->target_table_name, "The new table's name")->required();
  command
      ->add_option(
          "--to", point->to,
          "latest; the number of a change; or a time such as 2026-11-25T14:30:00Z: the last commit that "
          "is not later. Default: latest")
      ->type_name("WHEN");
  command->add_flag("--without-indexes", point->without_indexes, "Make the table without its indexes");
  command->add_flag("--wait", point->wait, "Wait until the table is ACTIVE");

  auto status = std::make_shared<RecoveryOptions>();
  command = table.Add(group,
                      {.name = "status",
                       .summary = "Show whether a table's point-in-time recovery is on",
                       .examples = {{"itemctl pitr status music", "with the period"},
                                    {"itemctl pitr status music -o json", "for programs"}}},
                      [status](Context& context) { return RunRecoveryStatus(context, *status); });
  command->add_option(std::string(kTableName), status->table_name, "The table's name")->required();
}

}  // namespace itemdb::tools
