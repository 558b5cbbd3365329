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
#include "tools/base/text_table.h"
#include "tools/base/time_text.h"
#include "tools/cli/command_table.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"

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
  std::string text = absl::StrFormat("%s files, %s blocks (itemctl damage list)",
                                     WithSeparators(damage.files), WithSeparators(damage.blocks));
  if (!damage.paused_families.empty())
    absl::StrAppend(&text, "; compactions pause: ", absl::StrJoin(damage.paused_families, ", "));
  return text;
}

JsonValue TablesToJson(const std::vector<TableStatistics>& tables) {
  JsonValue array = JsonValue::Array();
  for (const TableStatistics& table : tables) {
    array.elements.push_back(JsonValue::Object()
                                 .Add("table_name", table.table_name)
                                 .Add("item_count", table.item_count)
                                 .Add("item_bytes", table.item_bytes)
                                 .Add("index_count", table.index_count));
  }
  return array;
}

JsonValue MemoryToJson(const MemoryUsage& memory) {
  return JsonValue::Object()
      .Add("limit", memory.limit)
      .Add("resident", memory.resident)
      .Add("block_cache", memory.block_cache)
      .Add("block_cache_capacity", memory.block_cache_capacity)
      .Add("memtables", memory.memtables)
      .Add("memtable_budget", memory.memtable_budget)
      .Add("table_readers", memory.table_readers)
      .Add("write_queue", memory.write_queue)
      .Add("write_queue_limit", memory.write_queue_limit)
      .Add("calls", memory.calls)
      .Add("call_limit", memory.call_limit);
}

// `Check`: BackgroundCheck or FileCheck.
template <typename Check>
void AddLastRound(const Check& check, JsonValue* object) {
  object->Add("rounds", check.rounds);
  if (check.rounds > 0) object->Add("last_end_time", TimeText(check.last_end_time));
  if (check.rounds == 0 && check.finding_count == 0) return;
  object->Add("finding_count", check.finding_count).Add("findings", check.findings);
}

// `rate`: what the check reads in a second. `found`: what to say if there are no findings.
template <typename Check>
std::string RoundsText(const std::string& rate, const Check& check, std::string found) {
  if (check.finding_count > 0)
    found = WithSeparators(check.finding_count) + (check.finding_count == 1 ? " finding" : " findings");
  if (check.rounds == 0) return rate + ", first round" + (check.finding_count > 0 ? ": " + found : "");
  return absl::StrFormat("%s, %s rounds, the last ended %s: %s", rate, WithSeparators(check.rounds),
                         TimeText(check.last_end_time), found);
}

JsonValue FileCheckToJson(const FileCheck& check) {
  JsonValue object = JsonValue::Object().Add("bytes_per_second", check.bytes_per_second);
  AddLastRound(check, &object);
  return object;
}

JsonValue BackgroundCheckToJson(const BackgroundCheck& check) {
  JsonValue object = JsonValue::Object().Add("rate", check.rate);
  AddLastRound(check, &object);
  if (!check.last_error.empty()) object.Add("last_error", check.last_error);
  return object;
}

std::string BackgroundCheckText(const BackgroundCheck& check) {
  return RoundsText(WithSeparators(check.rate) + " records a second", check,
                    check.last_error.empty() ? "clean" : "not all could be read");
}

JsonValue ScheduledBackupsToJson(const ScheduledBackups& backups) {
  JsonValue object =
      JsonValue::Object().Add("schedule", backups.schedule).Add("next_time", TimeText(backups.next_time));
  if (backups.last.has_value()) {
    object.Add("last_backup_id", backups.last->backup_id)
        .Add("last_begin_time", TimeText(backups.last->begin_time))
        .Add("last_verified_time", TimeText(backups.last_verified_time));
  }
  if (!backups.last_error.empty()) object.Add("last_error", backups.last_error);
  return object;
}

std::string ScheduledBackupsText(const ScheduledBackups& backups) {
  std::string text = "next " + TimeText(backups.next_time);
  if (backups.last.has_value()) {
    text = absl::StrFormat("number %d begun %s, verified; %s", backups.last->backup_id,
                           TimeText(backups.last->begin_time), text);
  }
  return backups.last_error.empty() ? text : "FAILED; " + text;
}

JsonValue ArchiveToJson(const ArchiveStatus& archive) {
  JsonValue object = JsonValue::Object()
                         .Add("directory", archive.directory)
                         .Add("change_sequence", archive.change_sequence)
                         .Add("commit_time", TimeText(archive.commit_time))
                         .Add("lag_ms", absl::ToInt64Milliseconds(archive.lag))
                         .Add("gaps", archive.gaps);
  if (archive.oldest_time != absl::UnixEpoch()) object.Add("oldest_time", TimeText(archive.oldest_time));
  object.Add("needs_backup", archive.needs_backup);
  if (!archive.error.empty()) object.Add("error", archive.error);
  return object;
}

std::string ArchiveText(const ArchiveStatus& archive) {
  std::string text = absl::StrFormat("change %s, %.1f s behind", WithSeparators(archive.change_sequence),
                                     absl::ToDoubleSeconds(archive.lag));
  text += archive.oldest_time == absl::UnixEpoch()
              ? "; no backup yet"
              : "; restores from " + TimeText(archive.oldest_time) + " on";
  if (archive.needs_backup && archive.oldest_time != absl::UnixEpoch()) text += "; needs a new backup";
  return archive.error.empty() ? text : "FAILED; " + text;
}

JsonValue StandbyToJson(const StandbyStatus& standby) {
  JsonValue object = JsonValue::Object()
                         .Add("archive_directory", standby.archive_directory)
                         .Add("lag_ms", absl::ToInt64Milliseconds(standby.lag));
  if (standby.commit_time != absl::UnixEpoch()) object.Add("commit_time", TimeText(standby.commit_time));
  object.Add("needs_base", standby.needs_base);
  if (!standby.error.empty()) object.Add("error", standby.error);
  return object;
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

JsonValue StatusToJson(const DaemonStatus& status, const std::string& endpoint) {
  JsonValue object = JsonValue::Object()
                         .Add("version", status.version)
                         .Add("database_id", status.database_id)
                         .Add("endpoint", endpoint)
                         .Add("durable", status.durable)
                         .Add("change_sequence", status.change_sequence)
                         .Add("durable_sequence", status.durable_sequence);
  if (HasStartTime(status)) {
    object.Add("start_time", TimeText(status.start_time));
    object.Add("uptime_seconds", absl::ToInt64Seconds(absl::Now() - status.start_time));
  }
  if (HasDisk(status)) {
    object.Add("disk_bytes", JsonValue::Object()
                                 .Add("table_files", status.disk.table_files)
                                 .Add("write_ahead_log", status.disk.write_ahead_log)
                                 .Add("free", status.disk.free)
                                 .Add("free_floor", status.disk.free_floor));
    if (status.disk.dropped_count > 0) {
      object.Add("dropped", JsonValue::Object()
                                .Add("count", status.disk.dropped_count)
                                .Add("bytes", status.disk.dropped_bytes)
                                .Add("since", TimeText(status.disk.dropped_since)));
    }
  }
  if (HasMemory(status)) object.Add("memory_bytes", MemoryToJson(status.memory));
  object.Add("writes", JsonValue::Object()
                           .Add("committed", status.writes.committed)
                           .Add("commit_groups", status.writes.commit_groups)
                           .Add("refused", status.writes.refused)
                           .Add("mean_commit_us", absl::ToInt64Microseconds(status.writes.mean_commit_time)));
  object.Add("refused_calls", JsonValue::Object()
                                  .Add("unauthenticated", status.refused_calls.unauthenticated)
                                  .Add("permission_denied", status.refused_calls.permission_denied));
  if (status.audit_log.has_value()) {
    object.Add(
        "audit_log",
        JsonValue::Object().Add("written", status.audit_log->written).Add("lost", status.audit_log->lost));
  }
  if (status.background_check.has_value())
    object.Add("background_check", BackgroundCheckToJson(*status.background_check));
  if (status.file_check.has_value()) object.Add("file_check", FileCheckToJson(*status.file_check));
  if (status.scheduled_backups.has_value())
    object.Add("scheduled_backups", ScheduledBackupsToJson(*status.scheduled_backups));
  if (status.archive.has_value()) object.Add("archive", ArchiveToJson(*status.archive));
  if (status.standby.has_value()) object.Add("standby", StandbyToJson(*status.standby));
  if (!status.writes_refused.empty()) object.Add("writes_refused", status.writes_refused);
  if (status.fenced_after_change.has_value()) object.Add("fenced_after_change", *status.fenced_after_change);
  if (status.proven_backup.has_value()) {
    object.Add("proven_backup", JsonValue::Object()
                                    .Add("backup_id", status.proven_backup->backup_id)
                                    .Add("begin_time", TimeText(status.proven_backup->begin_time))
                                    .Add("proven_time", TimeText(status.proven_backup->proven_time)));
  }
  if (HasDamage(status)) {
    object.Add("damage", JsonValue::Object()
                             .Add("files", status.damage.files)
                             .Add("blocks", status.damage.blocks)
                             .Add("paused_families", status.damage.paused_families));
  }
  object.Add("table_count", status.table_count);
  object.Add("tables", TablesToJson(status.tables));
  return object;
}

// The statistics with one value each, in the order of the table form.
std::vector<std::pair<std::string, std::string>> Figures(const DaemonStatus& status,
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
      absl::StrFormat("%s in %s commit groups, %s refused", WithSeparators(status.writes.committed),
                      WithSeparators(status.writes.commit_groups), WithSeparators(status.writes.refused)));
  if (status.writes.mean_commit_time > absl::ZeroDuration()) {
    figures.emplace_back("mean commit",
                         absl::StrFormat("%d us", absl::ToInt64Microseconds(status.writes.mean_commit_time)));
  }
  const RefusedCalls& refused = status.refused_calls;
  if (refused.unauthenticated + refused.permission_denied > 0) {
    figures.emplace_back("calls refused", absl::StrFormat("%s without a valid key, %s without permission",
                                                          WithSeparators(refused.unauthenticated),
                                                          WithSeparators(refused.permission_denied)));
  }
  if (status.audit_log.has_value()) {
    figures.emplace_back("audit log",
                         absl::StrFormat("%s records, %s lost", WithSeparators(status.audit_log->written),
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
  if (status.archive.has_value()) figures.emplace_back("archive", ArchiveText(*status.archive));
  if (status.standby.has_value()) figures.emplace_back("standby", StandbyText(*status.standby));
  if (status.proven_backup.has_value()) {
    figures.emplace_back("proven backup", absl::StrFormat("number %d begun %s, restored and checked %s",
                                                          status.proven_backup->backup_id,
                                                          TimeText(status.proven_backup->begin_time),
                                                          TimeText(status.proven_backup->proven_time)));
  }
  if (HasDamage(status)) figures.emplace_back("damage", DamageText(status.damage));
  figures.emplace_back("tables", WithSeparators(status.table_count));
  return figures;
}

}  // namespace

absl::Status RunStatus(Context& context) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(DaemonStatus status, client.GetStatus({.with_tables = true}, context.Call()));
  if (context.format() != OutputFormat::kTable) {
    context.Print(StatusToJson(status, client.endpoint()));
    return absl::OkStatus();
  }
  TextTable figures({"figure", "value"});
  for (const auto& [name, value] : Figures(status, client.endpoint())) figures.AddRow({name, value});
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
  TextTable tables({"table", NumberColumn("items"), NumberColumn("bytes"), NumberColumn("indexes")});
  for (const TableStatistics& table : status.tables) {
    tables.AddRow({table.table_name, WithSeparators(table.item_count), WithSeparators(table.item_bytes),
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
