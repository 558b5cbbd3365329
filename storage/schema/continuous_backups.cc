#include "storage/schema/continuous_backups.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "spdlog/spdlog.h"
#include "storage/base/limits.h"
#include "storage/schema/restoring_tables.h"
#include "storage/schema/table_changes.h"

namespace itemdb::storage {
namespace {

constexpr int64_t kDayMs = int64_t{24} * 60 * 60 * 1'000;

int64_t NowMsOf(Engine& engine) { return engine.time_of_day().NowMicros() / 1'000; }

absl::StatusOr<std::vector<RecoveryTimes>> FindTimes(Engine& engine, const v1::TableDescription& definition,
                                                     int64_t now_ms) {
  const v1::PointInTimeRecovery& recovery = definition.point_in_time_recovery();
  const auto archived = engine.archive() == nullptr ? std::nullopt : engine.archive()->restorable_times();
  if (!archived.has_value()) {
    return MakeError(
        absl::StatusCode::kUnavailable, kReasonUnavailable,
        "which times can be restored is not known yet: the backups and the archive have not been "
        "looked through since itemd was started",
        1'000);
  }
  const int64_t begin_ms =
      std::max(recovery.enable_time_ms(), now_ms - recovery.recovery_period_in_days() * kDayMs);
  std::vector<RecoveryTimes> found;
  for (const RestorableTimes& times : *archived) {
    // Whole milliseconds.
    const RecoveryTimes rounded = {.begin_ms = std::max(begin_ms, (times.begin_us + 999) / 1'000),
                                   .end_ms = times.end_us == RestorableTimes::kNoEnd
                                                 ? std::max(recovery.enable_time_ms(), now_ms)
                                                 : (times.end_us + 1) / 1'000 - 1};
    if (rounded.begin_ms <= rounded.end_ms) found.push_back(rounded);
  }
  return found;
}

v1::ContinuousBackupsDescription Describe(Engine& engine, const v1::TableDescription& definition,
                                          int64_t now_ms) {
  v1::ContinuousBackupsDescription description;
  if (!definition.has_point_in_time_recovery()) return description;
  description.set_point_in_time_recovery_enabled(true);
  description.set_recovery_period_in_days(definition.point_in_time_recovery().recovery_period_in_days());
  const auto times = FindTimes(engine, definition, now_ms);
  if (!times.ok() || times->empty()) return description;
  description.set_earliest_restorable_time_ms(times->front().begin_ms);
  description.set_latest_restorable_time_ms(times->back().end_ms);
  return description;
}

absl::Status CheckPeriod(const v1::UpdateContinuousBackupsRequest& request) {
  if (!request.has_recovery_period_in_days()) return absl::OkStatus();
  if (!request.point_in_time_recovery_enabled()) {
    return ValidationError(
        "PIT-03",
        "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.");
  }
  const int days = request.recovery_period_in_days();
  if (days >= 1 && days <= kMaxRecoveryPeriodDays) return absl::OkStatus();
  return ValidationError("PIT-03", "RecoveryPeriodInDays must be 1 to " +
                                       std::to_string(kMaxRecoveryPeriodDays) + "; it is " +
                                       std::to_string(days));
}

absl::StatusOr<v1::UpdateContinuousBackupsReply> Update(Engine& engine,
                                                        const v1::UpdateContinuousBackupsRequest& request) {
  ITEMDB_RETURN_IF_ERROR(CheckPeriod(request));
  std::shared_ptr<const Table> table;
  v1::UpdateContinuousBackupsReply reply;
  {
    ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
    ITEMDB_ASSIGN_OR_RETURN(table, FindTableForBackups(*view, request.table_name()));
    reply.set_change_sequence(view->change_sequence());
  }
  const int64_t now_ms = NowMsOf(engine);
  v1::TableDescription definition = table->definition;
  if (request.point_in_time_recovery_enabled()) {
    v1::PointInTimeRecovery* recovery = definition.mutable_point_in_time_recovery();
    if (recovery->enable_time_ms() == 0) {
      recovery->set_enable_time_ms(now_ms);
      recovery->set_recovery_period_in_days(kMaxRecoveryPeriodDays);
    }
    if (request.has_recovery_period_in_days())
      recovery->set_recovery_period_in_days(request.recovery_period_in_days());
  } else {
    definition.clear_point_in_time_recovery();
  }
  if (definition.has_point_in_time_recovery()) ITEMDB_RETURN_IF_ERROR(engine.StartArchive());
  *reply.mutable_continuous_backups() = Describe(engine, definition, now_ms);
  // PIT-04.
  const bool changes =
      definition.has_point_in_time_recovery() != table->definition.has_point_in_time_recovery() ||
      definition.point_in_time_recovery().recovery_period_in_days() !=
          table->definition.point_in_time_recovery().recovery_period_in_days();
  if (!changes) return reply;
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t change_sequence,
                          ReplaceTable(engine, WithDefinition(*table, std::move(definition))));
  engine.options().log->info("point-in-time recovery changed table={} enabled={} change_sequence={}",
                             table->name, request.point_in_time_recovery_enabled(), change_sequence);
  reply.set_change_sequence(change_sequence);
  return reply;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Table>> FindTableForBackups(const ReadView& view,
                                                                 const std::string& name) {
  absl::StatusOr<std::shared_ptr<const Table>> table = view.catalog().Find(name);
  if (!absl::IsNotFound(table.status())) return table;
  ITEMDB_ASSIGN_OR_RETURN(const auto restoring, FindRestoringTable(view, TableNameOf(name)));
  if (restoring.has_value() && !restoring->import_id().empty()) {
    return WithRule("IMP-05",
                    MakeError(absl::StatusCode::kFailedPrecondition, kReasonContinuousBackupsUnavailable,
                              "Backups are not available while the table is being imported: " +
                                  restoring->definition().table_name()));
  }
  return TableNotFoundError(name);
}

absl::Status TableNotFoundError(const std::string& name) {
  return WithRule("BAK-06",
                  MakeError(absl::StatusCode::kNotFound, kReasonTableNotFound, "Table not found: " + name));
}

absl::Status PointInTimeRecoveryUnavailableError(const Table& table) {
  return WithRule("PIT-07",
                  MakeError(absl::StatusCode::kFailedPrecondition, kReasonPointInTimeRecoveryUnavailable,
                            "Point in time recovery is not enabled for table '" + table.name + "'"));
}

v1::ContinuousBackupsDescription DescribeRecovery(Engine& engine, const Table& table) {
  return Describe(engine, table.definition, NowMsOf(engine));
}

absl::StatusOr<std::vector<RecoveryTimes>> FindRecoveryTimes(Engine& engine, const Table& table) {
  return FindTimes(engine, table.definition, NowMsOf(engine));
}

bool IsRecoveryTime(int64_t time_ms, const std::vector<RecoveryTimes>& times) {
  return std::any_of(times.begin(), times.end(), [&](const RecoveryTimes& one) {
    return one.begin_ms <= time_ms && time_ms <= one.end_ms;
  });
}

absl::StatusOr<v1::DescribeContinuousBackupsReply> DescribeContinuousBackups(
    Engine& engine, const v1::DescribeContinuousBackupsRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  ITEMDB_ASSIGN_OR_RETURN(auto table, FindTableForBackups(*view, request.table_name()));
  v1::DescribeContinuousBackupsReply reply;
  reply.set_change_sequence(view->change_sequence());
  *reply.mutable_continuous_backups() = DescribeRecovery(engine, *table);
  return reply;
}

void UpdateContinuousBackups(Engine& engine, v1::UpdateContinuousBackupsRequest request,
                             Done<v1::UpdateContinuousBackupsReply> done) {
  RunDefinition(
      engine, [&engine, request = std::move(request)] { return Update(engine, request); }, std::move(done));
}

}  // namespace itemdb::storage
