#include "client/convert.h"
#include "client/enum_table.h"
#include "common/status_macros.h"

namespace itemdb {
namespace {

constexpr std::pair<ChangeHoldState, v1::ChangeHoldState> kChangeHoldStates[] = {
    {ChangeHoldState::kHeld, v1::CHANGE_HOLD_STATE_HELD},
    {ChangeHoldState::kExpired, v1::CHANGE_HOLD_STATE_EXPIRED},
    {ChangeHoldState::kDiskFull, v1::CHANGE_HOLD_STATE_DISK_FULL},
};

TableStatistics StatisticsOf(const v1::TableStatistics& message) {
  return {.table_name = message.table_name(),
          .item_count = message.item_count(),
          .item_bytes = message.item_bytes(),
          .index_count = message.index_count()};
}

}  // namespace

DaemonStatus FromProto(const v1::GetStatusReply& message) {
  DaemonStatus status{.change_sequence = message.change_sequence(),
                      .version = message.version(),
                      .database_id = message.database_id(),
                      .durable = message.durable(),
                      .table_count = message.table_count()};
  status.tables.reserve(message.tables_size());
  for (const v1::TableStatistics& table : message.tables()) status.tables.push_back(StatisticsOf(table));
  status.disk = {.table_files = message.disk().table_files(),
                 .write_ahead_log = message.disk().write_ahead_log(),
                 .free = message.disk().free(),
                 .free_floor = message.disk().free_floor(),
                 .dropped_count = message.disk().dropped_count(),
                 .dropped_bytes = message.disk().dropped_bytes(),
                 .dropped_since = absl::FromUnixMicros(message.disk().dropped_since_us())};
  const v1::MemoryUsage& memory = message.memory();
  status.memory = {.limit = memory.limit(),
                   .resident = memory.resident(),
                   .block_cache = memory.block_cache(),
                   .block_cache_capacity = memory.block_cache_capacity(),
                   .memtables = memory.memtables(),
                   .memtable_budget = memory.memtable_budget(),
                   .table_readers = memory.table_readers(),
                   .write_queue = memory.write_queue(),
                   .write_queue_limit = memory.write_queue_limit(),
                   .calls = memory.calls(),
                   .call_limit = memory.call_limit()};
  status.start_time = absl::FromUnixMicros(message.start_time_us());
  status.durable_sequence = message.durable_sequence();
  status.writes = {.committed = message.writes().committed(),
                   .commit_groups = message.writes().commit_groups(),
                   .refused = message.writes().refused(),
                   .mean_commit_time = absl::Microseconds(message.writes().mean_commit_us())};
  if (message.has_check())
    status.check = CheckProgress{.done = message.check().done(), .total = message.check().total()};
  if (message.has_background_check()) {
    const v1::BackgroundCheck& check = message.background_check();
    status.background_check = BackgroundCheck{.rate = check.rate(),
                                              .rounds = check.rounds(),
                                              .last_end_time = absl::FromUnixMicros(check.last_end_time_us()),
                                              .findings = {check.findings().begin(), check.findings().end()},
                                              .finding_count = check.finding_count(),
                                              .last_error = check.last_error()};
  }
  if (message.has_file_check()) {
    const v1::FileCheck& check = message.file_check();
    status.file_check = FileCheck{.bytes_per_second = check.bytes_per_second(),
                                  .rounds = check.rounds(),
                                  .last_end_time = absl::FromUnixMicros(check.last_end_time_us()),
                                  .findings = {check.findings().begin(), check.findings().end()},
                                  .finding_count = check.finding_count()};
  }
  if (message.has_scheduled_backups()) {
    const v1::ScheduledBackups& backups = message.scheduled_backups();
    status.scheduled_backups =
        ScheduledBackups{.schedule = backups.schedule(),
                         .next_time = absl::FromUnixMicros(backups.next_time_us()),
                         .last_verified_time = absl::FromUnixMicros(backups.last_verified_time_us()),
                         .last_error = backups.last_error()};
    if (backups.last_error().empty()) status.scheduled_backups->last_error = backups.last_proof_error();
    if (backups.has_last()) status.scheduled_backups->last = FromProto(backups.last());
  }
  if (message.has_archive()) {
    const v1::ArchiveStatus& archive = message.archive();
    status.archive = ArchiveStatus{.directory = archive.directory(),
                                   .change_sequence = archive.change_sequence(),
                                   .commit_time = absl::FromUnixMicros(archive.commit_time_us()),
                                   .lag = absl::Milliseconds(archive.lag_ms()),
                                   .gaps = archive.gaps(),
                                   .oldest_time = absl::FromUnixMicros(archive.oldest_time_us()),
                                   .needs_backup = archive.needs_backup(),
                                   .error = archive.error()};
  }
  status.writes_refused = message.writes_refused();
  if (message.has_fenced_by()) status.fenced_after_change = message.fenced_by().change_sequence();
  if (message.has_standby()) {
    const v1::StandbyStatus& standby = message.standby();
    status.standby = StandbyStatus{.archive_directory = standby.archive_directory(),
                                   .commit_time = absl::FromUnixMicros(standby.commit_time_us()),
                                   .lag = absl::Milliseconds(standby.lag_ms()),
                                   .needs_base = standby.needs_base(),
                                   .error = standby.error()};
  }
  if (message.has_proven_backup()) {
    const v1::ProvenBackup& proven = message.proven_backup();
    status.proven_backup = ProvenBackup{.backup_id = proven.backup_id(),
                                        .begin_time = absl::FromUnixMicros(proven.begin_time_us()),
                                        .proven_time = absl::FromUnixMicros(proven.proven_time_us())};
  }
  status.refused_calls = {.unauthenticated = message.refused_calls().unauthenticated(),
                          .permission_denied = message.refused_calls().permission_denied()};
  if (message.has_audit_log())
    status.audit_log =
        AuditLogStatus{.written = message.audit_log().written(), .lost = message.audit_log().lost()};
  status.damage = {.files = message.damage().files(),
                   .blocks = message.damage().blocks(),
                   .paused_families = {message.damage().paused_families().begin(),
                                       message.damage().paused_families().end()}};
  return status;
}

absl::StatusOr<DamageList> FromProto(const v1::ListDamageReply& message) {
  DamageList list;
  for (const v1::DamagedFile& file : message.files()) {
    DamagedFile& added = list.files.emplace_back();
    added = {.name = file.name(),
             .family = file.family(),
             .level = file.level(),
             .size_bytes = file.size_bytes(),
             .owner = file.owner(),
             .met_by = file.met_by(),
             .first_met_time = absl::FromUnixMicros(file.first_met_time_us()),
             .error = file.error()};
    for (const v1::DamagedRange& range : file.ranges()) {
      DamagedRange& converted = added.ranges.emplace_back();
      converted.table_name = range.table_name();
      converted.index_name = range.index_name();
      converted.after_sequence = range.after_sequence();
      converted.before_sequence = range.before_sequence();
      if (range.has_after_key()) {
        ITEMDB_ASSIGN_OR_RETURN(converted.after_key, FromProto(range.after_key()));
      }
      if (range.has_before_key()) {
        ITEMDB_ASSIGN_OR_RETURN(converted.before_key, FromProto(range.before_key()));
      }
    }
  }
  list.paused_families.assign(message.paused_families().begin(), message.paused_families().end());
  return list;
}

DatabaseBackup FromProto(const v1::DatabaseBackup& message) {
  return {.backup_id = message.backup_id(),
          .database_id = message.database_id(),
          .change_sequence = message.change_sequence(),
          .begin_time = absl::FromUnixMicros(message.begin_time_us()),
          .table_count = message.table_count(),
          .size_bytes = message.size_bytes(),
          .file_count = message.file_count(),
          .for_archive = message.for_archive()};
}

DatabaseBackupDetails FromProto(const v1::DatabaseBackup& backup, const v1::DatabaseBackupDetails& details) {
  DatabaseBackupDetails result = {.backup = FromProto(backup),
                                  .end_time = absl::FromUnixMicros(details.end_time_us()),
                                  .shared_bytes = details.shared_bytes(),
                                  .shared_file_count = details.shared_file_count(),
                                  .encrypted = details.encrypted(),
                                  .verified_time = absl::FromUnixMicros(details.verified_time_us()),
                                  .proven_time = absl::FromUnixMicros(details.proven_time_us())};
  if (!details.knows_tables()) return result;
  result.tables.emplace();
  for (const v1::TableStatistics& table : details.tables()) result.tables->push_back(StatisticsOf(table));
  return result;
}

BackupPlaces BackupPlacesOf(const v1::GetStatusReply& message) {
  return {.backup_directory = message.backup_places().backup_directory(),
          .backups_share_disk = message.backup_places().shares_disk(),
          .archive_directory = message.archive().directory(),
          .archive_shares_disk = message.archive().shares_disk()};
}

AccessPatternsResult FromProto(const v1::GetAccessPatternsReply& message) {
  AccessPatternsResult result;
  result.patterns.reserve(message.patterns_size());
  for (const v1::AccessPattern& pattern : message.patterns()) {
    result.patterns.push_back({.table_name = pattern.table_name(),
                               .index_name = pattern.index_name(),
                               .operation = pattern.operation(),
                               .key_condition = pattern.key_condition(),
                               .filter = pattern.filter(),
                               .descending = pattern.descending(),
                               .calls = pattern.calls(),
                               .errors = pattern.errors(),
                               .items_scanned = pattern.items_scanned(),
                               .items_returned = pattern.items_returned(),
                               .p50 = absl::Microseconds(pattern.p50_us()),
                               .p99 = absl::Microseconds(pattern.p99_us())});
  }
  result.other_calls = message.other_calls();
  result.start_time = absl::FromUnixMicros(message.start_time_us());
  return result;
}

ChangeHold FromProto(const v1::ChangeHold& message) {
  return {.name = message.name(),
          .after_sequence = message.after_sequence(),
          // A later version may know more ways to end.
          .state = ValueOf(kChangeHoldStates, message.state(), ChangeHoldState::kExpired),
          .lease = absl::Seconds(message.lease_seconds()),
          .creation_time = absl::FromUnixMicros(message.creation_time_us()),
          .renewed_time = absl::FromUnixMicros(message.renewed_time_us()),
          .ended_time = absl::FromUnixMicros(message.ended_time_us()),
          .held_bytes = message.held_bytes()};
}

DaemonActivity FromProto(const v1::Activity& message) {
  DaemonActivity activity;
  activity.operations.reserve(message.operations_size());
  for (const v1::OperationActivity& operation : message.operations()) {
    OperationActivity& added = activity.operations.emplace_back();
    added = {.table_name = operation.table_name(),
             .operation = operation.operation(),
             .errors = operation.errors(),
             .items_scanned = operation.items_scanned(),
             .items_returned = operation.items_returned()};
    added.latencies.reserve(operation.latencies_size());
    for (const v1::LatencyCount& latency : operation.latencies()) {
      added.latencies.push_back(
          {.latency = absl::Microseconds(latency.latency_us()), .calls = latency.calls()});
    }
  }
  activity.watches.reserve(message.watches_size());
  for (const v1::WatchActivity& watch : message.watches()) {
    activity.watches.push_back({.watch_id = watch.watch_id(),
                                .table_name = watch.table_name(),
                                .key_id = watch.key_id(),
                                .peer = watch.peer(),
                                .lag_changes = watch.lag_changes(),
                                .lag = absl::Microseconds(watch.lag_us())});
  }
  activity.open_watches = message.open_watches();
  activity.start_time = absl::FromUnixMicros(message.start_time_us());
  return activity;
}

absl::StatusOr<TopKeysResult> FromProto(const v1::GetTopKeysReply& message) {
  TopKeysResult result;
  result.start_time = absl::FromUnixMicros(message.start_time_us());
  result.throttled_keys_only = message.throttled_keys_only();
  const auto add = [](const auto& keys, std::vector<TopKey>* to) -> absl::Status {
    for (const v1::TopKey& key : keys) {
      TopKey& added = to->emplace_back();
      ITEMDB_ASSIGN_OR_RETURN(added.key, FromProto(key.key()));
      added.count = key.count();
      added.error = key.error();
    }
    return absl::OkStatus();
  };
  ITEMDB_RETURN_IF_ERROR(add(message.partition_keys(), &result.partition_keys));
  ITEMDB_RETURN_IF_ERROR(add(message.keys(), &result.keys));
  ITEMDB_RETURN_IF_ERROR(add(message.throttled_partition_keys(), &result.throttled_partition_keys));
  ITEMDB_RETURN_IF_ERROR(add(message.throttled_keys(), &result.throttled_keys));
  return result;
}

}  // namespace itemdb
