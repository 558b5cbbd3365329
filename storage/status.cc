#include "storage/status.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "storage/changes/change_holds.h"
#include "storage/indexes/index_builds.h"
#include "storage/items/expiry_sweeper.h"
#include "storage/store/dropped_keyspace.h"
#include "storage/store/table_sizes.h"

namespace itemdb::storage {
namespace {

void AddUsage(const Store& store, v1::GetStatusReply* reply) {
  Store::Usage usage = store.MeasureUsage();
  v1::DiskUsage* disk = reply->mutable_disk();
  disk->set_table_files(static_cast<int64_t>(usage.table_files));
  disk->set_write_ahead_log(static_cast<int64_t>(usage.write_ahead_log));
  v1::MemoryUsage* memory = reply->mutable_memory();
  memory->set_block_cache(static_cast<int64_t>(usage.block_cache));
  memory->set_block_cache_capacity(static_cast<int64_t>(usage.block_cache_capacity));
  memory->set_memtables(static_cast<int64_t>(usage.memtables));
  memory->set_memtable_budget(static_cast<int64_t>(usage.memtable_budget));
  memory->set_table_readers(static_cast<int64_t>(usage.table_readers));
}

void AddDamage(const Store& store, v1::DamageStatus* damage) {
  for (const DamagedFile& file : store.ListDamage()) {
    damage->set_files(damage->files() + 1);
    damage->set_blocks(damage->blocks() + static_cast<int64_t>(file.blocks.size()));
  }
  for (std::string& family : store.PausedFamilies()) damage->add_paused_families(std::move(family));
}

void AddDropped(const Store& store, v1::DiskUsage* disk) {
  const auto dropped = ReadDropped(store);
  if (!dropped.ok()) return;  // The reclaimer logs it.
  disk->set_dropped_count(static_cast<int64_t>(dropped->size()));
  for (const DroppedKeyspace& one : *dropped) {
    disk->set_dropped_bytes(disk->dropped_bytes() + one.bytes);
    if (disk->dropped_since_us() == 0 || one.time_us < disk->dropped_since_us())
      disk->set_dropped_since_us(one.time_us);
  }
}

void AddPatterns(const Table& table, v1::GetAccessPatternsReply* reply) {
  for (const auto& pattern : table.patterns->All()) {
    v1::AccessPattern described = pattern->Describe();
    // The pattern's first call is not answered yet.
    if (described.calls() == 0) continue;
    described.set_table_name(table.name);
    *reply->add_patterns() = std::move(described);
  }
  reply->set_other_calls(reply->other_calls() + table.patterns->other_calls());
}

void AddActivity(const Table& table, v1::Activity* activity) {
  std::map<std::string_view, PatternCounts> by_operation;
  for (const auto& pattern : table.patterns->All())
    by_operation[OperationName(pattern->key().operation)] += pattern->Counts();
  for (const auto& [operation, counts] : by_operation) {
    // The first call is not answered yet.
    if (counts.calls == 0) continue;
    v1::OperationActivity* added = activity->add_operations();
    added->set_table_name(table.name);
    added->set_operation(std::string(operation));
    added->set_errors(counts.errors);
    added->set_items_scanned(counts.scanned);
    added->set_items_returned(counts.returned);
    for (size_t bucket = 0; bucket < kLatencyBuckets; ++bucket) {
      if (counts.latencies[bucket] == 0) continue;
      v1::LatencyCount* latency = added->add_latencies();
      latency->set_latency_us(LatencyOfBucket(bucket));
      latency->set_calls(counts.latencies[bucket]);
    }
  }
}

}  // namespace

v1::GetStatusReply GetStatus(const Engine& engine, const v1::GetStatusRequest& request) {
  v1::GetStatusReply reply;
  reply.set_database_id(engine.database_id());
  reply.set_durable(engine.options().durable);
  if (const absl::Status refused = engine.WriteRefusal(); !refused.ok()) {
    reply.set_writes_refused(MessageOf(refused));
    // The file knows better than the refusal how far the standby came in the end.
    if (ReasonOf(refused) == kReasonFenced && engine.archive() != nullptr &&
        engine.archive()->CheckAnswers().ok()) {
      const auto promotion = ReadPromotion(engine.env(), engine.archive()->directory());
      if (promotion.ok() && promotion->has_value()) *reply.mutable_fenced_by() = ToMessage(**promotion);
    }
  }
  reply.set_durable_sequence(engine.durable_sequence());
  if (request.with_activity())
    reply.mutable_activity()->set_start_time_us(absl::ToUnixMicros(engine.opened_at()));
  if (auto view = engine.View(); view.ok()) {
    reply.set_change_sequence((*view)->change_sequence());
    reply.set_table_count(static_cast<int64_t>((*view)->catalog().size()));
    if (request.with_tables()) {
      for (v1::TableStatistics& table : DescribeTableSizes(**view, engine.size_statistics()))
        *reply.add_tables() = std::move(table);
    }
    if (request.with_activity()) {
      for (const auto& table : (*view)->catalog()) AddActivity(*table, reply.mutable_activity());
    }
    AddUsage(*(*view)->store(), &reply);
    AddDropped(*(*view)->store(), reply.mutable_disk());
    AddDamage(*(*view)->store(), reply.mutable_damage());
    for (v1::ChangeHold& hold : DescribeChangeHolds(engine, **view))
      *reply.add_change_holds() = std::move(hold);
  }
  reply.mutable_disk()->set_free(static_cast<int64_t>(engine.disk_space().FreeBytes()));
  reply.mutable_disk()->set_free_floor(static_cast<int64_t>(engine.options().free_space_floor_bytes));

  if (engine.is_checking()) {
    const int64_t total = engine.check_progress().total;
    reply.mutable_check()->set_total(total);
    // If the size statistics are wrong (a finding of the check), `done` can exceed the total.
    reply.mutable_check()->set_done(std::min<int64_t>(engine.check_progress().done, total));
  }
  PipelineStatistics figures = engine.pipeline_statistics();
  reply.mutable_memory()->set_write_queue(static_cast<int64_t>(figures.queued_bytes));
  reply.mutable_memory()->set_write_queue_limit(static_cast<int64_t>(engine.options().max_queue_bytes));
  v1::WriteStatistics* writes = reply.mutable_writes();
  const auto groups = static_cast<int64_t>(figures.commits.write_us.count());
  writes->set_committed(static_cast<int64_t>(figures.commits.group_units.sum));
  writes->set_commit_groups(groups);
  writes->set_refused(figures.refused_units + engine.disk_space().refused());
  if (groups > 0) writes->set_mean_commit_us(static_cast<int64_t>(figures.commits.write_us.sum) / groups);
  return reply;
}

std::vector<TableFigures> MeasureTables(const ReadView& view, const IndexBuilds& builds,
                                        const ExpirySweeper* sweeper) {
  const auto units = [](const UsedUnits& used) { return TableFigures::Units{used.read(), used.write()}; };
  std::vector<TableFigures> all;
  all.reserve(view.catalog().size());
  for (const auto& table : view.catalog()) {
    TableFigures& figures = all.emplace_back();
    figures.name = table->name;
    figures.used = units(*table->used);
    for (const Index& index : table->indexes) {
      if (index.time_to_live) figures.expired_items = 0;
      const bool is_built = index.state == IndexState::kActive;
      if (index.time_to_live && is_built) continue;
      TableFigures::Index& of_index = figures.indexes.emplace_back();
      of_index.name = index.name;
      of_index.used = units(*index.used);
      if (!is_built) of_index.build = builds.Describe(index.storage_id);
    }
    if (figures.expired_items.has_value() && sweeper != nullptr)
      figures.expired_items = sweeper->Expired(table->storage_id);
  }
  return all;
}

int64_t CountRecords(const ReadView& view, const CurrentStatistics& current) {
  int64_t records = 0;
  const auto add = [&](uint64_t storage_id) {
    records += FindStatistics(current, view, storage_id).value_or(SizeStatistics()).items;
  };
  for (const auto& table : view.catalog()) {
    add(table->storage_id);
    for (const Index& index : table->indexes) {
      if (index.state == IndexState::kActive) add(index.storage_id);
    }
  }
  return records;
}

absl::StatusOr<v1::GetAccessPatternsReply> GetAccessPatterns(const Engine& engine,
                                                             const v1::GetAccessPatternsRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  v1::GetAccessPatternsReply reply;
  reply.set_start_time_us(absl::ToUnixMicros(engine.opened_at()));
  if (!request.table_name().empty()) {
    ITEMDB_ASSIGN_OR_RETURN(auto table, view->catalog().Find(request.table_name()));
    AddPatterns(*table, &reply);
  } else {
    for (const auto& table : view->catalog()) AddPatterns(*table, &reply);
  }
  const auto rank = [](const v1::AccessPattern& pattern) {
    return std::make_tuple(-pattern.calls(), std::string_view(pattern.table_name()),
                           std::string_view(pattern.index_name()), std::string_view(pattern.operation()),
                           std::string_view(pattern.key_condition()), std::string_view(pattern.filter()),
                           pattern.descending());
  };
  std::sort(reply.mutable_patterns()->begin(), reply.mutable_patterns()->end(),
            [&rank](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return reply;
}

}  // namespace itemdb::storage
