#include "tools/commands/backup_commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/base/number_text.h"
#include "tools/base/text_table.h"
#include "tools/cli/command_table.h"
#include "tools/cli/option_validators.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/json/status_json.h"

namespace itemdb::tools {
namespace {

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

JsonValue ToJson(const DatabaseBackup& backup) {
  return JsonValue::Object()
      .Add("backup_id", backup.backup_id)
      .Add("database_id", backup.database_id)
      .Add("begin_time", TimeText(backup.begin_time))
      .Add("change_sequence", backup.change_sequence)
      .Add("table_count", backup.table_count)
      .Add("size_bytes", backup.size_bytes)
      .Add("file_count", backup.file_count)
      .Add("for_archive", backup.for_archive);
}

TextTable ToTable(const std::vector<DatabaseBackup>& backups) {
  TextTable table({NumberColumn("backup"),
                   {"begun"},
                   NumberColumn("change"),
                   NumberColumn("tables"),
                   NumberColumn("files"),
                   NumberColumn("size"),
                   {"made for"}});
  for (const DatabaseBackup& backup : backups) {
    table.AddRow({absl::StrCat(backup.backup_id), TimeText(backup.begin_time),
                  WithSeparators(static_cast<int64_t>(backup.change_sequence)),
                  WithSeparators(static_cast<int64_t>(backup.table_count)),
                  WithSeparators(static_cast<int64_t>(backup.file_count)),
                  BytesText(static_cast<int64_t>(backup.size_bytes)),
                  backup.for_archive ? "the archive" : ""});
  }
  return table;
}

// "2026-11-25T14:30:00Z", or `otherwise` for 1970.
std::string TimeOr(absl::Time time, std::string_view otherwise) {
  return time == absl::UnixEpoch() ? std::string(otherwise) : TimeText(time);
}

JsonValue DetailsToJson(const DatabaseBackupDetails& details) {
  JsonValue object = ToJson(details.backup);
  if (details.end_time != absl::UnixEpoch()) object.Add("end_time", TimeText(details.end_time));
  object.Add("shared_bytes", details.shared_bytes)
      .Add("shared_file_count", details.shared_file_count)
      .Add("encrypted", details.encrypted);
  if (details.verified_time != absl::UnixEpoch())
    object.Add("verified_time", TimeText(details.verified_time));
  if (details.proven_time != absl::UnixEpoch()) object.Add("proven_time", TimeText(details.proven_time));
  if (details.tables.has_value()) object.Add("tables", TablesToJson(*details.tables));
  return object;
}

void PrintDetails(Context& context, const DatabaseBackupDetails& details) {
  const DatabaseBackup& backup = details.backup;
  TextTable about({"figure", "value"});
  about.AddRow({"backup", absl::StrCat(backup.backup_id)});
  about.AddRow({"database", backup.database_id});
  about.AddRow({"begun", TimeText(backup.begin_time)});
  about.AddRow({"ended", TimeOr(details.end_time, "not known")});
  about.AddRow({"change", WithSeparators(static_cast<int64_t>(backup.change_sequence))});
  about.AddRow({"made for", backup.for_archive ? "the archive" : "a call or the schedule"});
  about.AddRow(
      {"files", absl::StrFormat("%s, %s of them in other backups too", WithSeparators(backup.file_count),
                                WithSeparators(details.shared_file_count))});
  about.AddRow({"size", absl::StrFormat("%s, %s of it in other backups too", BytesText(backup.size_bytes),
                                        BytesText(details.shared_bytes))});
  about.AddRow({"encrypted", details.encrypted ? "yes" : "no"});
  // Notes beside the backup have these times; without notes the end is not known either.
  const std::string_view otherwise = details.end_time == absl::UnixEpoch() ? "not known" : "never";
  about.AddRow({"verified", TimeOr(details.verified_time, otherwise)});
  about.AddRow({"proven", TimeOr(details.proven_time, otherwise)});
  about.AddRow({"tables", WithSeparators(backup.table_count)});
  context.Print(about);
  if (!details.tables.has_value() || details.tables->empty()) return;
  TextTable tables({"table", NumberColumn("items"), NumberColumn("size"), NumberColumn("indexes")});
  for (const TableStatistics& table : *details.tables) {
    tables.AddRow({table.table_name, WithSeparators(table.item_count), BytesText(table.item_bytes),
                   absl::StrCat(table.index_count)});
  }
  context.out() << '\n';
  context.Print(tables);
}

absl::Status PrintOne(Context& context, const absl::StatusOr<DatabaseBackup>& backup) {
  if (!backup.ok()) return backup.status();
  if (context.format() == OutputFormat::kTable) {
    context.Print(ToTable({*backup}));
  } else {
    context.Print(ToJson(*backup));
  }
  return absl::OkStatus();
}

// What the options of `backup delete` and `backup prune` delete.
std::vector<std::string> ToBeDeleted(DatabaseBackups found, const BackupDeleteOptions& options,
                                     absl::Time begun_before) {
  std::vector<DatabaseBackup>& backups = found.backups;
  if (options.backup_id == 0)
    std::erase_if(backups, [](const DatabaseBackup& one) { return one.for_archive; });
  const size_t kept = std::min<size_t>(std::max(options.keep_newest, 1u), backups.size());
  std::vector<std::string> ids;
  for (size_t i = 0; i < backups.size(); ++i) {
    const bool goes = options.backup_id != 0
                          ? backups[i].backup_id == options.backup_id
                          : i + kept < backups.size() && backups[i].begin_time < begun_before;
    if (goes) ids.push_back(absl::StrCat(backups[i].backup_id));
  }
  return ids;
}

// Deletes what the options say. Returns the numbers of the deleted backups.
absl::StatusOr<std::vector<uint32_t>> Delete(Context& context, Client& client,
                                             const BackupDeleteOptions& options, absl::Time begun_before) {
  if (options.backup_id != 0) return client.DeleteDatabaseBackup(options.backup_id, context.Call());
  if (options.keep_newest > 0) return client.DeleteOldDatabaseBackups(options.keep_newest, context.Call());
  return client.DeleteDatabaseBackupsBefore(begun_before, context.Call());
}

}  // namespace

absl::Status RunBackupCreate(Context& context) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  Progress progress(ProgressStream(context), {.doing = "making a backup"});
  const absl::StatusOr<DatabaseBackup> backup = client.CreateDatabaseBackup(context.ExplicitTimeout());
  progress.Finish();
  return PrintOne(context, backup);
}

absl::Status RunBackupList(Context& context) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const DatabaseBackups found, client.ListDatabaseBackups(context.Call()));
  if (context.format() != OutputFormat::kTable) {
    std::vector<JsonValue> backups;
    for (const DatabaseBackup& backup : found.backups) backups.push_back(ToJson(backup));
    std::vector<JsonValue> damaged;
    for (const uint32_t id : found.damaged_backup_ids) damaged.push_back(JsonValue::Number(id));
    context.Print(JsonValue::Object()
                      .Add("directory", found.directory)
                      .Add("backups", JsonValue::Array(std::move(backups)))
                      .Add("damaged_backup_ids", JsonValue::Array(std::move(damaged))));
    return absl::OkStatus();
  }
  if (found.backups.empty()) {
    context.out() << "no backups in " << found.directory << '\n';
  } else {
    context.Print(ToTable(found.backups));
  }
  if (!found.damaged_backup_ids.empty())
    context.out() << "damaged: " << absl::StrJoin(found.damaged_backup_ids, ", ") << '\n';
  return absl::OkStatus();
}

absl::Status RunBackupDescribe(Context& context, const BackupDescribeOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const DatabaseBackupDetails details,
                          client.DescribeDatabaseBackup(options.backup_id, context.Call()));
  if (context.format() == OutputFormat::kTable) {
    PrintDetails(context, details);
  } else {
    context.Print(DetailsToJson(details));
  }
  return absl::OkStatus();
}

absl::Status RunBackupVerify(Context& context, const BackupVerifyOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  Progress progress(ProgressStream(context), {.doing = options.restore ? "restoring and checking the backup"
                                                                       : "reading the files of the backup"});
  const absl::StatusOr<DatabaseBackup> backup =
      options.restore ? client.ProveDatabaseBackup(options.backup_id, context.ExplicitTimeout())
                      : client.VerifyDatabaseBackup(options.backup_id, context.ExplicitTimeout());
  progress.Finish();
  return PrintOne(context, backup);
}

absl::Status RunBackupDelete(Context& context, const BackupDeleteOptions& options) {
  absl::Time begun_before = absl::InfiniteFuture();
  absl::Duration age;
  if (options.backup_id == 0 && options.keep_newest == 0) {
    if (!absl::ParseDuration(options.older_than, &age) || age <= absl::ZeroDuration()) {
      return UsageError(options.older_than.empty()
                            ? "backup prune needs --keep NUMBER or --older-than DURATION"
                            : "--older-than must be a duration such as 720h; it is \"" + options.older_than +
                                  "\"");
    }
    begun_before = absl::Now() - age;
  }
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const DatabaseBackups found, client.ListDatabaseBackups(context.Call()));
  const std::vector<std::string> goes = ToBeDeleted(found, options, begun_before);
  std::vector<uint32_t> deleted;
  // A backup that does not exist is refused by the daemon.
  if (!goes.empty() || options.backup_id != 0) {
    const std::string action =
        absl::StrFormat("delete the backup%s %s", goes.size() > 1 ? "s" : "",
                        goes.empty() ? absl::StrCat(options.backup_id) : absl::StrJoin(goes, ", "));
    ITEMDB_ASSIGN_OR_RETURN(bool go_on, Confirm(context, options.confirm, action, Unattended::kRefuse));
    if (!go_on) return absl::OkStatus();
    ITEMDB_ASSIGN_OR_RETURN(deleted, Delete(context, client, options, begun_before));
  }
  if (context.format() == OutputFormat::kTable) {
    context.out() << (deleted.empty() ? "nothing to delete" : "deleted: " + absl::StrJoin(deleted, ", "))
                  << '\n';
    return absl::OkStatus();
  }
  std::vector<JsonValue> ids;
  for (const uint32_t id : deleted) ids.push_back(JsonValue::Number(id));
  context.Print(JsonValue::Object().Add("deleted_backup_ids", JsonValue::Array(std::move(ids))));
  return absl::OkStatus();
}

void RegisterBackupCommands(CommandTable& table) {
  CLI::App* group = table.AddGroup({.name = "backup", .summary = "Backups of the whole database"});
  table.Add(
      group,
      {.name = "create",
       .summary = "Make a backup of the whole database while it serves",
       .details = "Copies the table files that are in no backup yet into the directory of itemd "
                  "--backup-directory. Ctrl-C ends it without a backup. The default timeout is one hour. "
                  "\"itemd restore\" makes a database of a backup.",
       .examples = {{"itemctl backup create", "make a backup"},
                    {"itemctl backup create && itemctl backup verify",
                     "make a backup, then read it again and compare its checksums"}}},
      [](Context& context) { return RunBackupCreate(context); });
  table.Add(group,
            {.name = "list",
             .summary = "List the backups, the oldest first",
             .details = "Table files that several backups have in common are stored once, and counted in the "
                        "bytes of each.",
             .examples = {{"itemctl backup list", "as a table"},
                          {"itemctl backup list -o json", "as JSON, with the directory"}}},
            [](Context& context) { return RunBackupList(context); });
  auto describe = std::make_shared<BackupDescribeOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "describe",
       .summary = "Show what is in a backup",
       .details =
           "Shows its time, its last change, its tables with their sizes when it was begun, how much of "
           "it other backups have too, whether it is encrypted, and when it was last verified and "
           "proven.",
       .examples = {{"itemctl backup create && itemctl backup describe 1", "as tables"},
                    {"itemctl backup create && itemctl backup describe 1 -o json", "for programs"}}},
      [describe](Context& context) { return RunBackupDescribe(context, *describe); });
  command->add_option("NUMBER", describe->backup_id, "Number of the backup")
      ->required()
      ->check(WholeNumberFrom(1));

  auto verify = std::make_shared<BackupVerifyOptions>();
  command = table.Add(
      group,
      {.name = "verify",
       .summary = "Read all files of a backup and compare their checksums, or restore it",
       .details = "With --restore itemd restores the backup into a folder of its data directory, which needs "
                  "the space of the backup, checks that database as \"itemctl check\" does, and deletes it; "
                  "\"itemctl status\" shows the last backup that was proven so. The default timeout is one "
                  "hour.",
       .examples = {{"itemctl backup create && itemctl backup verify", "the newest backup"},
                    {"itemctl backup create && itemctl backup verify --restore",
                     "prove that the newest backup can be restored"}}},
      [verify](Context& context) { return RunBackupVerify(context, *verify); });
  command->add_option("NUMBER", verify->backup_id, "Number of the backup. Default: the newest")
      ->check(WholeNumberFrom(1));
  command->add_flag("--restore", verify->restore, "Restore the backup and check the database");

  auto remove = std::make_shared<BackupDeleteOptions>();
  command = table.Add(
      group,
      {.name = "delete",
       .summary = "Delete a backup",
       .details =
           "Table files that other backups need stay. Asks first; without a terminal, --yes is needed.",
       .examples = {{"itemctl backup create && itemctl backup delete 1 --dry-run",
                     "show what would be deleted"},
                    {"itemctl backup create && itemctl backup delete 1 --yes",
                     "delete it without being asked"}}},
      [remove](Context& context) { return RunBackupDelete(context, *remove); });
  command->add_option("NUMBER", remove->backup_id, "Number of the backup")
      ->required()
      ->check(WholeNumberFrom(1));
  AddConfirmOptions(command, remove->confirm);

  auto prune = std::make_shared<BackupDeleteOptions>();
  command =
      table.Add(group,
                {.name = "prune",
                 .summary = "Delete all backups but the newest, or old ones",
                 .details = "Asks first; without a terminal, --yes is needed. Backups that were made for "
                            "the archive are not counted, and stay.",
                 .examples = {{"itemctl backup prune --older-than 720h --yes",
                               "delete those that are older than 30 days, but never the newest"},
                              {"itemctl backup create && itemctl backup prune --keep 30 --yes",
                               "for cron: make a backup, and keep a month of daily ones"}}},
                [prune](Context& context) { return RunBackupDelete(context, *prune); });
  CLI::Option* keep =
      command
          ->add_option("--keep", prune->keep_newest,
                       "How many of the newest stay, 1 or more. Default: --older-than decides")
          ->check(WholeNumberFrom(1))
          ->type_name("NUMBER");
  command
      ->add_option("--older-than", prune->older_than,
                   "Only backups that are older, and not the newest. Default: --keep decides")
      ->type_name("DURATION")
      ->excludes(keep);
  AddConfirmOptions(command, prune->confirm);
}

}  // namespace itemdb::tools
