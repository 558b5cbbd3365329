#include "tools/commands/status_commands.h"

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "tools/base/number_text.h"
#include "tools/base/text_table.h"
#include "tools/base/time_text.h"
#include "tools/cli/command_table.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/json/status_json.h"

namespace itemdb::tools {
namespace {

std::string OfLimit(int64_t used, int64_t limit) {
  return limit > 0 ? BytesText(used) + " of " + BytesText(limit) : BytesText(used);
}

// "3 d 4 h", "4 h 12 min", "12 min 5 s", "5 s".
std::string UptimeText(absl::Duration uptime) {
  const int64_t seconds = absl::ToInt64Seconds(uptime);
  if (seconds >= 86'400) return absl::StrFormat("%d d %d h", seconds / 86'400, seconds % 86'400 / 3'600);
  if (seconds >= 3'600) return absl::StrFormat("%d h %d min", seconds / 3'600, seconds % 3'600 / 60);
  if (seconds >= 60) return absl::StrFormat("%d min %d s", seconds / 60, seconds % 60);
  return absl::StrFormat("%d s", seconds);
}

bool HasStartTime(const DaemonStatus& status) { return status.start_time > absl::UnixEpoch(); }
// A daemon that sends its memory statistics sends at least one value above 0.
bool HasMemory(const DaemonStatus& status) { return status.memory.resident > 0 || status.memory.limit > 0; }
bool HasDisk(const DaemonStatus& status) { return status.disk.free > 0; }

bool HasDamage(const DaemonStatus& status) {
  return status.damage.files > 0 || !status.damage.paused_families.empty();
}

std::string DamageText(const DamageStatus& damage) {
  std::string text = absl::StrFormat("%s, %s (itemctl damage list)",
                                     NumberOf(damage.files, {.one = "file", .many = "files"}),
                                     NumberOf(damage.blocks, {.one = "block", .many = "blocks"}));
  if (!damage.paused_families.empty())
    absl::StrAppend(&text, "; compactions pause: ", absl::StrJoin(damage.paused_families, ", "));
  return text;
}

// `rate`: what the check reads in a second. `found`: what to say if there are no findings.
template <typename Check>
std::string RoundsText(const std::string& rate, const Check& check, std::string found) {
  if (check.finding_count > 0)
    found = WithSeparators(check.finding_count) + (check.finding_count == 1 ? " finding" : " findings");
  if (check.rounds == 0) return rate + ", first round" + (check.finding_count > 0 ? ": " + found : "");
  return absl::StrFormat("%s, %s, the last ended %s: %s", rate,
                         NumberOf(check.rounds, {.one = "round", .many = "rounds"}),
                         TimeText(check.last_end_time), found);
}

std::string BackgroundCheckText(const BackgroundCheck& check) {
  return RoundsText(WithSeparators(check.rate) + " records a second", check,
                    check.last_error.empty() ? "clean" : "not all could be read");
}

std::string ScheduledBackupsText(const ScheduledBackups& backups) {
  std::string text = "next " + TimeText(backups.next_time);
  if (backups.last.has_value()) {
    text = absl::StrFormat("number %d begun %s, verified; %s", backups.last->backup_id,
                           TimeText(backups.last->begin_time), text);
  }
  return backups.last_error.empty() ? text : "FAILED; " + text;
}

constexpr char kOnTheDiskOfTheData[] = "; on the disk of the data, and lost with it";

std::string ArchiveText(const ArchiveStatus& archive, bool shares_disk) {
  std::string text = absl::StrFormat("change %s, %.1f s behind", WithSeparators(archive.change_sequence),
                                     absl::ToDoubleSeconds(archive.lag));
  text += archive.oldest_time == absl::UnixEpoch()
              ? "; no backup yet"
              : "; restores from " + TimeText(archive.oldest_time) + " on";
  if (archive.needs_backup && archive.oldest_time != absl::UnixEpoch()) text += "; needs a new backup";
  if (shares_disk) text += kOnTheDiskOfTheData;
  return archive.error.empty() ? text : "FAILED; " + text;
}

std::string BackupsText(const BackupPlaces& places) {
  return places.backup_directory + (places.backups_share_disk ? kOnTheDiskOfTheData : "");
}

std::string StandbyText(const StandbyStatus& standby) {
  std::string text = "follows " + standby.archive_directory;
  if (standby.needs_base) {
    text += "; waits for a new backup";
  } else if (standby.lag > absl::ZeroDuration()) {
    text += absl::StrFormat("; %.1f s behind", absl::ToDoubleSeconds(standby.lag));
  }
  return standby.error.empty() ? text : "FAILED; " + text;
}

std::string HoldText(const ChangeHold& hold) {
  const std::string text =
      hold.name + " has the changes up to " + WithSeparators(static_cast<int64_t>(hold.after_sequence));
  if (hold.state != ChangeHoldState::kHeld)
    return absl::StrCat("ENDED, ", ChangeHoldStateName(hold.state), "; ", text);
  return absl::StrFormat("%s; %s on disk; renewed %s", text, BytesText(hold.held_bytes),
                         TimeText(hold.renewed_time));
}

// The statistics with one value each, in the order of the table form.
std::vector<std::pair<std::string, std::string>> Figures(const DaemonStatus& status,
                                                         const BackupPlaces& places,
                                                         const std::string& endpoint) {
  std::vector<std::pair<std::string, std::string>> figures = {
      {"version", status.version}, {"database", status.database_id}, {"endpoint", endpoint}};
  if (HasStartTime(status)) figures.emplace_back("uptime", UptimeText(absl::Now() - status.start_time));
  figures.emplace_back("durability", status.durable ? "durable" : "relaxed");
  figures.emplace_back("change sequence", WithSeparators(static_cast<int64_t>(status.change_sequence)));
  figures.emplace_back("durable sequence", WithSeparators(static_cast<int64_t>(status.durable_sequence)));
  if (HasDisk(status)) {
    figures.emplace_back("disk: table files", BytesText(status.disk.table_files));
    figures.emplace_back("disk: write-ahead log", BytesText(status.disk.write_ahead_log));
    figures.emplace_back("disk: free", absl::StrFormat("%s (writes need %s)", BytesText(status.disk.free),
                                                       BytesText(status.disk.free_floor)));
    if (status.disk.dropped_count > 0) {
      figures.emplace_back("disk: to be reclaimed",
                           absl::StrFormat("%s of %d deleted tables and indexes, since %s",
                                           BytesText(status.disk.dropped_bytes), status.disk.dropped_count,
                                           TimeText(status.disk.dropped_since)));
    }
  }
  if (HasMemory(status)) {
    const MemoryUsage& memory = status.memory;
    figures.emplace_back("memory: resident", OfLimit(memory.resident, memory.limit));
    figures.emplace_back("memory: block cache", OfLimit(memory.block_cache, memory.block_cache_capacity));
    figures.emplace_back("memory: memtables", OfLimit(memory.memtables, memory.memtable_budget));
    figures.emplace_back("memory: table readers", BytesText(memory.table_readers));
    figures.emplace_back("memory: write queue", OfLimit(memory.write_queue, memory.write_queue_limit));
    figures.emplace_back("memory: calls", OfLimit(memory.calls, memory.call_limit));
  }
  figures.emplace_back(
      "writes",
      absl::StrFormat("%s in %s, %s refused", WithSeparators(status.writes.committed),
                      NumberOf(status.writes.commit_groups, {.one = "commit group", .many = "commit groups"}),
                      WithSeparators(status.writes.refused)));
  if (status.writes.mean_commit_time > absl::ZeroDuration()) {
    figures.emplace_back("mean commit", LatencyText(status.writes.mean_commit_time));
  }
  const RefusedCalls& refused = status.refused_calls;
  if (refused.unauthenticated + refused.permission_denied > 0) {
    figures.emplace_back("calls refused", absl::StrFormat("%s without a valid key, %s without permission",
                                                          WithSeparators(refused.unauthenticated),
                                                          WithSeparators(refused.permission_denied)));
  }
  if (status.audit_log.has_value()) {
    figures.emplace_back("audit log", absl::StrFormat("%s, %s lost",
                                                      NumberOf(status.audit_log->written,
                                                               {.one = "record", .many = "records"}),
                                                      WithSeparators(status.audit_log->lost)));
  }
  if (status.background_check.has_value())
    figures.emplace_back("background check", BackgroundCheckText(*status.background_check));
  if (status.file_check.has_value()) {
    figures.emplace_back("file check",
                         RoundsText(BytesText(status.file_check->bytes_per_second) + " a second",
                                    *status.file_check, "clean"));
  }
  if (status.scheduled_backups.has_value())
    figures.emplace_back("scheduled backups", ScheduledBackupsText(*status.scheduled_backups));
  if (!places.backup_directory.empty()) figures.emplace_back("backups", BackupsText(places));
  if (status.archive.has_value())
    figures.emplace_back("archive", ArchiveText(*status.archive, places.archive_shares_disk));
  if (status.standby.has_value()) figures.emplace_back("standby", StandbyText(*status.standby));
  if (status.proven_backup.has_value()) {
    figures.emplace_back("proven backup", absl::StrFormat("number %d begun %s, restored and checked %s",
                                                          status.proven_backup->backup_id,
                                                          TimeText(status.proven_backup->begin_time),
                                                          TimeText(status.proven_backup->proven_time)));
  } else if (status.scheduled_backups.has_value()) {
    figures.emplace_back("proven backup", "none yet");
  }
  if (HasDamage(status)) figures.emplace_back("damage", DamageText(status.damage));
  figures.emplace_back("tables", WithSeparators(status.table_count));
  return figures;
}

}  // namespace

absl::Status RunStatus(Context& context) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(DaemonStatus status, client.GetStatus({.with_tables = true}, context.Call()));
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<ChangeHold> holds, client.ListChangeHolds(context.Call()));
  absl::StatusOr<BackupPlaces> places = client.GetBackupPlaces(context.Call());
  // An older daemon does not tell.
  if (absl::IsUnimplemented(places.status())) places = BackupPlaces();
  ITEMDB_RETURN_IF_ERROR(places.status());
  if (context.format() != OutputFormat::kTable) {
    JsonValue json = StatusToJson(status, client.endpoint());
    if (!places->backup_directory.empty()) json.Add("backup_places", PlacesToJson(*places));
    if (!holds.empty()) json.Add("change_holds", HoldsToJson(holds));
    context.Print(json);
    return absl::OkStatus();
  }
  TextTable figures({"figure", "value"});
  for (const auto& [name, value] : Figures(status, *places, client.endpoint())) figures.AddRow({name, value});
  for (const ChangeHold& hold : holds) figures.AddRow({"held changes", HoldText(hold)});
  figures.Print(context.out(), {.max_width = context.layout().max_width});
  if (status.background_check.has_value()) {
    for (const std::string& finding : status.background_check->findings) context.out() << finding << '\n';
    if (!status.background_check->last_error.empty())
      context.out() << "not read: " << status.background_check->last_error << '\n';
  }
  if (status.file_check.has_value()) {
    for (const std::string& finding : status.file_check->findings) context.out() << finding << '\n';
  }
  if (status.scheduled_backups.has_value() && !status.scheduled_backups->last_error.empty())
    context.out() << "backup: " << status.scheduled_backups->last_error << '\n';
  if (status.archive.has_value() && !status.archive->error.empty())
    context.out() << "archive: " << status.archive->error << '\n';
  if (status.standby.has_value() && !status.standby->error.empty())
    context.out() << "standby: " << status.standby->error << '\n';
  if (!status.writes_refused.empty()) context.out() << "writes: " << status.writes_refused << '\n';
  if (status.tables.empty()) return absl::OkStatus();
  TextTable tables({"table", NumberColumn("items"), NumberColumn("size"), NumberColumn("indexes")});
  for (const TableStatistics& table : status.tables) {
    tables.AddRow({table.table_name, WithSeparators(table.item_count), BytesText(table.item_bytes),
                   absl::StrCat(table.index_count)});
  }
  context.out() << '\n';
  context.Print(tables);
  return absl::OkStatus();
}

void RegisterStatusCommands(CommandTable& table) {
  table.Add(&table.root(),
            {.name = "status",
             .summary = "Show the daemon's version, changes, disk, memory, writes and tables",
             .examples = {{"itemctl status", "all values as a table"},
                          {"itemctl status -o json", "the same for programs; all sizes in bytes"}},
             .pages = true},
            RunStatus);
}

}  // namespace itemdb::tools
