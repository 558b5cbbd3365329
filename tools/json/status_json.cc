#include "tools/json/status_json.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tools/base/time_text.h"

namespace itemdb::tools {
namespace {

// A query that reads more than this many items for each returned item gets advice.
constexpr int64_t kReadsWorthAnIndex = 2;

bool KnowsStartTime(const DaemonStatus& status) { return status.start_time > absl::UnixEpoch(); }
// A daemon that sends its memory statistics sends at least one value above 0.
bool KnowsMemory(const DaemonStatus& status) { return status.memory.resident > 0 || status.memory.limit > 0; }
bool KnowsDisk(const DaemonStatus& status) { return status.disk.free > 0; }

bool MetDamage(const DaemonStatus& status) {
  return status.damage.files > 0 || !status.damage.paused_families.empty();
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

JsonValue StandbyToJson(const StandbyStatus& standby) {
  JsonValue object = JsonValue::Object()
                         .Add("archive_directory", standby.archive_directory)
                         .Add("lag_ms", absl::ToInt64Milliseconds(standby.lag));
  if (standby.commit_time != absl::UnixEpoch()) object.Add("commit_time", TimeText(standby.commit_time));
  object.Add("needs_base", standby.needs_base);
  if (!standby.error.empty()) object.Add("error", standby.error);
  return object;
}

}  // namespace

JsonValue StatusToJson(const DaemonStatus& status, const std::string& endpoint) {
  JsonValue object = JsonValue::Object()
                         .Add("version", status.version)
                         .Add("database_id", status.database_id)
                         .Add("endpoint", endpoint)
                         .Add("durable", status.durable)
                         .Add("change_sequence", status.change_sequence)
                         .Add("durable_sequence", status.durable_sequence);
  if (KnowsStartTime(status)) {
    object.Add("start_time", TimeText(status.start_time));
    object.Add("uptime_seconds", absl::ToInt64Seconds(absl::Now() - status.start_time));
  }
  if (KnowsDisk(status)) {
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
  if (KnowsMemory(status)) object.Add("memory_bytes", MemoryToJson(status.memory));
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
  if (MetDamage(status)) {
    object.Add("damage", JsonValue::Object()
                             .Add("files", status.damage.files)
                             .Add("blocks", status.damage.blocks)
                             .Add("paused_families", status.damage.paused_families));
  }
  object.Add("table_count", status.table_count);
  object.Add("tables", TablesToJson(status.tables));
  return object;
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

JsonValue PlacesToJson(const BackupPlaces& places) {
  JsonValue object = JsonValue::Object()
                         .Add("backup_directory", places.backup_directory)
                         .Add("backups_share_disk", places.backups_share_disk);
  if (places.archive_directory.empty()) return object;
  return object.Add("archive_directory", places.archive_directory)
      .Add("archive_shares_disk", places.archive_shares_disk);
}

std::string ChangeHoldStateName(ChangeHoldState state) {
  switch (state) {
    case ChangeHoldState::kExpired:
      return "expired";
    case ChangeHoldState::kDiskFull:
      return "disk_full";
    case ChangeHoldState::kHeld:
      break;
  }
  return "held";
}

JsonValue HoldToJson(const ChangeHold& hold) {
  JsonValue object = JsonValue::Object()
                         .Add("name", hold.name)
                         .Add("after_sequence", hold.after_sequence)
                         .Add("state", ChangeHoldStateName(hold.state))
                         .Add("lease_seconds", absl::ToInt64Seconds(hold.lease))
                         .Add("creation_time", TimeText(hold.creation_time))
                         .Add("renewed_time", TimeText(hold.renewed_time));
  if (hold.state != ChangeHoldState::kHeld) return object.Add("ended_time", TimeText(hold.ended_time));
  return object;
}

JsonValue HoldsToJson(const std::vector<ChangeHold>& holds) {
  JsonValue array = JsonValue::Array();
  for (const ChangeHold& hold : holds) {
    JsonValue object = HoldToJson(hold);
    if (hold.state == ChangeHoldState::kHeld) object.Add("held_bytes", hold.held_bytes);
    array.elements.push_back(std::move(object));
  }
  return array;
}

std::string AdviceFor(const AccessPattern& pattern) {
  if (pattern.operation == "Scan") {
    return absl::StrCat("reads all of ", pattern.index_name.empty() ? "the table" : "the index");
  }
  if (pattern.operation == "Query" && pattern.items_scanned > kReadsWorthAnIndex * pattern.items_returned) {
    return absl::StrFormat("the filter discards %d of 100 items read",
                           100 * (pattern.items_scanned - pattern.items_returned) / pattern.items_scanned);
  }
  return "";
}

JsonValue PatternToJson(const AccessPattern& pattern) {
  JsonValue object = JsonValue::Object().Add("table_name", pattern.table_name);
  if (!pattern.index_name.empty()) object.Add("index_name", pattern.index_name);
  object.Add("operation", pattern.operation);
  if (!pattern.key_condition.empty()) object.Add("key_condition", pattern.key_condition);
  if (!pattern.filter.empty()) object.Add("filter", pattern.filter);
  if (pattern.descending) object.Add("descending", true);
  object.Add("calls", pattern.calls)
      .Add("errors", pattern.errors)
      .Add("items_scanned", pattern.items_scanned)
      .Add("items_returned", pattern.items_returned)
      .Add("p50_us", absl::ToInt64Microseconds(pattern.p50))
      .Add("p99_us", absl::ToInt64Microseconds(pattern.p99));
  const std::string advice = AdviceFor(pattern);
  if (!advice.empty()) object.Add("advice", advice);
  return object;
}

JsonValue PatternsToJson(const AccessPatternsResult& result) {
  JsonValue patterns = JsonValue::Array();
  for (const AccessPattern& pattern : result.patterns) patterns.elements.push_back(PatternToJson(pattern));
  return JsonValue::Object()
      .Add("start_time", TimeText(result.start_time))
      .Add("other_calls", result.other_calls)
      .Add("patterns", std::move(patterns));
}

}  // namespace itemdb::tools
