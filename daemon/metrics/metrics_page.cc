#include "daemon/metrics/metrics_page.h"

#include <dirent.h>
#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "daemon/process/machine_memory.h"

namespace itemdb::daemon {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

constexpr double kMicrosecondsPerSecond = 1e6;
constexpr size_t kMaxWatchers = 20;

double Seconds(int64_t microseconds) { return static_cast<double>(microseconds) / kMicrosecondsPerSecond; }

// Collects families. A family is named once; then its series follow.
class Families {
 public:
  Families& Counter(std::string name, std::string help) {
    return Begin(std::move(name), std::move(help), MetricType::Counter);
  }
  Families& Gauge(std::string name, std::string help) {
    return Begin(std::move(name), std::move(help), MetricType::Gauge);
  }
  Families& Histogram(std::string name, std::string help) {
    return Begin(std::move(name), std::move(help), MetricType::Histogram);
  }
  Families& Summary(std::string name, std::string help) {
    return Begin(std::move(name), std::move(help), MetricType::Summary);
  }

  template <typename Number>
  Families& Add(Labels labels, Number number) {
    ClientMetric& metric = NewSeries(std::move(labels));
    const auto value = static_cast<double>(number);
    if (families_.back().type == MetricType::Counter) {
      metric.counter.value = value;
    } else {
      metric.gauge.value = value;
    }
    return *this;
  }
  template <typename Number>
  Families& Add(Number number) {
    return Add({}, number);
  }

  // `values_per_unit`: how many of the counted values are one unit of the family.
  template <size_t kBounds>
  Families& AddCounts(Labels labels, const std::array<uint64_t, kBounds>& bounds,
                      const storage::HistogramCounts<kBounds>& counts, double values_per_unit) {
    ClientMetric::Histogram& histogram = NewSeries(std::move(labels)).histogram;
    uint64_t below = 0;
    for (size_t i = 0; i < kBounds; ++i) {
      below += counts.in_range[i];
      histogram.bucket.push_back({below, static_cast<double>(bounds[i]) / values_per_unit});
    }
    histogram.sample_count = counts.count();
    histogram.sample_sum = static_cast<double>(counts.sum) / values_per_unit;
    return *this;
  }
  Families& AddLatency(Labels labels, const storage::LatencyCounts& counts) {
    return AddCounts(std::move(labels), storage::kMicrosecondBounds, counts, kMicrosecondsPerSecond);
  }
  Families& AddSum(Labels labels, uint64_t count, double sum) {
    ClientMetric::Summary& summary = NewSeries(std::move(labels)).summary;
    summary.sample_count = count;
    summary.sample_sum = sum;
    return *this;
  }

  std::string Text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  Families& Begin(std::string name, std::string help, MetricType type) {
    families_.push_back({std::move(name), std::move(help), type, {}});
    return *this;
  }
  ClientMetric& NewSeries(Labels labels) {
    ClientMetric& metric = families_.back().metric.emplace_back();
    metric.label = std::move(labels);
    return metric;
  }

  std::vector<MetricFamily> families_;
};

int64_t OpenFiles() {
  DIR* const directory = opendir("/proc/self/fd");
  if (directory == nullptr) return 0;
  int64_t files = -3;  // "." and "..", and the directory itself.
  while (readdir(directory) != nullptr) ++files;
  closedir(directory);
  return files;
}

void AddProcess(const ProcessFacts& facts, bool ready, Families& out) {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + Seconds(time.tv_usec);
  };
  rlimit files = {};
  getrlimit(RLIMIT_NOFILE, &files);
  out.Gauge("itemdb_build_info", "Always 1; the label is the version of itemd.")
      .Add({{"version", facts.version}}, 1);
  out.Gauge("itemdb_ready", "1 while reads and writes are served, as /-/ready.").Add(ready ? 1 : 0);
  out.Gauge("process_start_time_seconds", "When the process began, in seconds since 1970.")
      .Add(facts.start_time_s);
  out.Counter("process_cpu_seconds_total", "Processor time of the process.")
      .Add(seconds(usage.ru_utime) + seconds(usage.ru_stime));
  out.Gauge("process_resident_memory_bytes", "Resident memory.").Add(ResidentMemoryBytes());
  out.Gauge("process_open_fds", "Open file descriptors.").Add(OpenFiles());
  out.Gauge("process_max_fds", "The greatest number of open file descriptors.").Add(files.rlim_cur);
}

const char* PhaseName(v1::IndexBuild::Phase phase) {
  switch (phase) {
    case v1::IndexBuild::PHASE_SCANNING:
      return "scanning";
    case v1::IndexBuild::PHASE_WRITING:
      return "writing";
    case v1::IndexBuild::PHASE_CATCHING_UP:
      return "catching_up";
    default:
      return "waiting";
  }
}

std::string_view NameOf(Protocol protocol) { return protocol == Protocol::kGrpc ? "grpc" : "http"; }

void AddOperations(const CallMetrics& metrics, Families& out) {
  const std::vector<CallMetrics::OfOperation> operations = metrics.Operations();
  const auto labels = [](const CallMetrics::OfOperation& one) {
    return Labels{{"protocol", std::string(NameOf(one.protocol))}, {"operation", one.operation}};
  };
  out.Histogram("itemdb_request_duration_seconds",
                "Time from the arrival of a request to its answer; of a stream, of each page or chunk.");
  for (const auto& one : operations) out.AddLatency(labels(one), one.latency);
  out.Counter("itemdb_request_failures_total",
              "Requests that were answered with an error, or whose condition was false, by reason.");
  for (const auto& one : operations) {
    for (const auto& [reason, count] : one.figures.reasons) {
      Labels all = labels(one);
      all.push_back({"reason", reason});
      out.Add(std::move(all), count);
    }
  }
  out.Counter("itemdb_request_bytes_total", "Bytes of requests, without heads.");
  for (const auto& one : operations) out.Add(labels(one), one.request_bytes);
  out.Counter("itemdb_reply_bytes_total", "Bytes of replies, without heads.");
  for (const auto& one : operations) out.Add(labels(one), one.figures.reply_bytes);
  out.Counter("itemdb_returned_items_total", "Items in the replies of reads.");
  for (const auto& one : operations) {
    if (one.figures.items > 0) out.Add(labels(one), one.figures.items);
  }
}

void AddTableCalls(const CallMetrics& metrics, Families& out) {
  const std::vector<CallMetrics::OfTable> tables = metrics.Tables();
  const auto labels = [](const CallMetrics::OfTable& one) {
    return Labels{{"table", one.table}, {"operation", one.operation}};
  };
  out.Summary("itemdb_table_request_duration_seconds",
              "Number and duration of the successful requests that name this table and no other.");
  for (const auto& one : tables)
    out.AddSum(labels(one), one.figures.succeeded, Seconds(static_cast<int64_t>(one.figures.succeeded_us)));
  out.Counter("itemdb_table_request_failures_total", "As itemdb_request_failures_total, by table.");
  for (const auto& one : tables) {
    for (const auto& [reason, count] : one.figures.reasons) {
      Labels all = labels(one);
      all.push_back({"reason", reason});
      out.Add(std::move(all), count);
    }
  }
  out.Counter("itemdb_table_reply_bytes_total", "Bytes of replies, by table.");
  for (const auto& one : tables) out.Add(labels(one), one.figures.reply_bytes);
  out.Counter("itemdb_table_returned_items_total", "Items in the replies of reads, by table.");
  for (const auto& one : tables) {
    if (one.figures.items > 0) out.Add(labels(one), one.figures.items);
  }
  out.Counter("itemdb_requests_without_table_total",
              "Requests that are not counted by table because too many tables are used.")
      .Add(metrics.uncounted_by_table());
}

void AddServing(ServingContext& serving, Families& out) {
  out.Gauge("itemdb_requests_in_flight", "Requests and streams that are being served.")
      .Add(serving.gate.inside());
  out.Gauge("itemdb_open_streams", "Open gRPC streams.").Add(serving.streams.count());
  out.Counter("itemdb_refused_requests_total", "Requests that were refused because of their access key.")
      .Add({{"why", "unauthenticated"}}, serving.audit.unauthenticated())
      .Add({{"why", "permission_denied"}}, serving.audit.denied());
  if (const AuditLog* audit = serving.audit.file(); audit != nullptr) {
    out.Counter("itemdb_audit_records_total", "Records of the audit log, by what became of them.")
        .Add({{"state", "written"}}, audit->written())
        .Add({{"state", "lost"}}, audit->lost());
  }
  if (serving.tracer != nullptr) {
    out.Counter("itemdb_trace_spans_total", "Spans of traced calls, by what became of them.")
        .Add({{"state", "exported"}}, serving.tracer->exported())
        .Add({{"state", "dropped"}}, serving.tracer->dropped());
  }
}

void AddTables(const v1::GetStatusReply& status, Families& out) {
  out.Gauge("itemdb_tables", "Tables.").Add(status.table_count());
  out.Gauge("itemdb_table_items", "Items of the table, exactly.");
  for (const auto& table : status.tables()) out.Add({{"table", table.table_name()}}, table.item_count());
  out.Gauge("itemdb_table_bytes", "Size of the table's items in bytes, as the service counts it.");
  for (const auto& table : status.tables()) out.Add({{"table", table.table_name()}}, table.item_bytes());
  out.Gauge("itemdb_table_indexes", "Indexes of the table.");
  for (const auto& table : status.tables()) out.Add({{"table", table.table_name()}}, table.index_count());
}

void AddTableFigures(const std::vector<storage::TableFigures>& tables, Families& out) {
  using storage::TableFigures;
  const auto add_units = [&](const std::string& kind, double TableFigures::Units::*units) {
    out.Counter(
        absl::StrCat("itemdb_table_consumed_", kind, "_units_total"),
        absl::StrCat("Capacity units that ", kind, "s of the table without its indexes have consumed."));
    for (const auto& table : tables) {
      if (table.used.*units > 0) out.Add({{"table", table.name}}, table.used.*units);
    }
    out.Counter(absl::StrCat("itemdb_index_consumed_", kind, "_units_total"),
                absl::StrCat("Capacity units that ", kind, "s of the index have consumed."));
    for (const auto& table : tables) {
      for (const auto& index : table.indexes) {
        if (index.used.*units > 0) out.Add({{"table", table.name}, {"index", index.name}}, index.used.*units);
      }
    }
  };
  add_units("read", &TableFigures::Units::read);
  add_units("write", &TableFigures::Units::write);

  out.Counter("itemdb_table_expired_items_total", "Items deleted because their time to live was over.");
  for (const auto& table : tables) {
    if (table.expired_items.has_value()) out.Add({{"table", table.name}}, *table.expired_items);
  }

  const auto add_builds = [&](const auto& value) {
    for (const auto& table : tables) {
      for (const auto& index : table.indexes) {
        if (!index.build.has_value()) continue;
        out.Add({{"table", table.name}, {"index", index.name}, {"phase", PhaseName(index.build->phase())}},
                value(*index.build));
      }
    }
  };
  out.Gauge("itemdb_index_build_records",
            "Of an index that is being created: items, entries or changes that its phase has done.");
  add_builds([](const v1::IndexBuild& build) { return build.done(); });
  out.Gauge("itemdb_index_build_estimated_records", "How many there are, estimated.");
  add_builds([](const v1::IndexBuild& build) { return build.total(); });
  out.Gauge("itemdb_index_build_failing", "1 if the last attempt at building the index failed.");
  add_builds([](const v1::IndexBuild& build) { return build.last_error().empty() ? 0 : 1; });
}

// The slowest watch of each table, access key and address, the slowest of all first: series that go on when a
// client opens its watch again.
struct Watcher {
  std::string table_name;
  std::string key_id;
  // "ipv4:10.0.0.7"
  std::string client;
  uint64_t lag_changes = 0;
  double lag_seconds = 0;
};

std::vector<Watcher> SlowestWatchers(const OpenWatches::Figures& watches) {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, Watcher> watchers;
  for (const OpenWatches::Watch& watch : watches.watches) {
    const OpenWatches::Watcher& who = watch.watcher;
    const std::string_view client = std::string_view(who.peer).substr(0, who.peer.rfind(':'));
    Watcher& watcher = watchers[{who.table_name, who.key_id, client}];
    watcher.lag_changes = std::max(watcher.lag_changes, watch.lag_changes);
    watcher.lag_seconds = std::max(watcher.lag_seconds, std::chrono::duration<double>(watch.lag).count());
  }
  std::vector<Watcher> slowest;
  slowest.reserve(watchers.size());
  for (auto& [labels, watcher] : watchers) {
    std::tie(watcher.table_name, watcher.key_id, watcher.client) = labels;
    slowest.push_back(std::move(watcher));
  }
  std::stable_sort(slowest.begin(), slowest.end(), [](const Watcher& a, const Watcher& b) {
    return std::tie(a.lag_seconds, a.lag_changes) > std::tie(b.lag_seconds, b.lag_changes);
  });
  return slowest;
}

void AddWatches(const OpenWatches::Figures& watches, Families& out) {
  out.Gauge("itemdb_open_watches", "Open watches of changes.").Add(watches.open);
  out.Gauge("itemdb_watch_lag_changes", "Changes that the slowest watch has not sent; 0: all have sent all.")
      .Add(watches.most_changes);
  out.Gauge("itemdb_watch_lag_seconds", "How long ago the watch was up to date that was not for longest.")
      .Add(std::chrono::duration<double>(watches.longest).count());
  std::vector<Watcher> watchers = SlowestWatchers(watches);
  out.Gauge("itemdb_watchers", "Different tables, access keys and addresses of the open watches.")
      .Add(watchers.size());
  if (watchers.size() > kMaxWatchers) watchers.resize(kMaxWatchers);
  const auto labels = [](const Watcher& one) {
    return Labels{{"table", one.table_name}, {"key", one.key_id}, {"client", one.client}};
  };
  out.Gauge("itemdb_watcher_lag_changes",
            "As itemdb_watch_lag_changes, of the 20 watchers that are slowest.");
  for (const Watcher& one : watchers) out.Add(labels(one), one.lag_changes);
  out.Gauge("itemdb_watcher_lag_seconds", "As itemdb_watch_lag_seconds, of the same watchers.");
  for (const Watcher& one : watchers) out.Add(labels(one), one.lag_seconds);
}

int64_t CountHolds(const v1::GetStatusReply& status, v1::ChangeHoldState state) {
  return std::count_if(status.change_holds().begin(), status.change_holds().end(),
                       [state](const v1::ChangeHold& hold) { return hold.state() == state; });
}

void AddWrites(const storage::DatabaseFigures& figures, Families& out) {
  const v1::GetStatusReply& status = figures.status;
  out.Counter("itemdb_changes_total",
              "Sequence of the last committed change, since the database was created.")
      .Add(status.change_sequence());
  out.Counter("itemdb_durable_changes_total", "Sequence of the last change that is known to be on disk.")
      .Add(status.durable_sequence());
  out.Gauge("itemdb_change_log_first_change", "Sequence of the oldest change that can be read.")
      .Add(figures.first_change);
  out.Gauge("itemdb_change_hold_changes",
            "Changes from the first that the hold keeps for its reader to the last of the log.");
  for (const v1::ChangeHold& hold : status.change_holds()) {
    if (hold.state() == v1::CHANGE_HOLD_STATE_HELD)
      out.Add({{"hold", hold.name()}}, status.change_sequence() - hold.after_sequence());
  }
  out.Gauge("itemdb_change_hold_bytes", "About the bytes of these changes on disk.");
  for (const v1::ChangeHold& hold : status.change_holds()) {
    if (hold.state() == v1::CHANGE_HOLD_STATE_HELD) out.Add({{"hold", hold.name()}}, hold.held_bytes());
  }
  out.Gauge("itemdb_change_hold_age_seconds",
            "How long ago the reader renewed the hold; it ends when that is longer than its lease.");
  for (const v1::ChangeHold& hold : status.change_holds()) {
    if (hold.state() == v1::CHANGE_HOLD_STATE_HELD)
      out.Add({{"hold", hold.name()}},
              absl::ToDoubleSeconds(absl::Now() - absl::FromUnixMicros(hold.renewed_time_us())));
  }
  out.Gauge("itemdb_change_holds_ended", "Holds that ended within a day before their readers released them.")
      .Add({{"why", "expired"}}, CountHolds(status, v1::CHANGE_HOLD_STATE_EXPIRED))
      .Add({{"why", "disk_full"}}, CountHolds(status, v1::CHANGE_HOLD_STATE_DISK_FULL));
  out.Gauge("itemdb_commit_queue_wait_seconds",
            "For how long the group has been written that queued writes wait for; 0: none waits.")
      .Add(std::chrono::duration<double>(figures.commits.queue_wait).count());
  out.Counter("itemdb_commits_total", "Writes, batches and transactions committed.")
      .Add(status.writes().committed());
  out.Counter("itemdb_commits_refused_total", "Writes refused: the queue or the disk was full.")
      .Add(status.writes().refused());
  out.Histogram("itemdb_commit_group_commits", "Commits that were written to the log together.")
      .AddCounts({}, storage::kGroupUnitBounds, figures.commits.group_units, 1);
  out.Histogram("itemdb_commit_write_duration_seconds",
                "Time to write one group to the log and to memory, with its sync if durability is durable.")
      .AddLatency({}, figures.commits.write_us);
}

void AddStore(const storage::DatabaseFigures& figures, Families& out) {
  const storage::StoreFigures& store = figures.store;
  out.Gauge("itemdb_store_level0_files", "Table files that no compaction has merged yet, by column family.");
  for (const auto& family : store.families) out.Add({{"family", family.name}}, family.level0_files);
  out.Gauge("itemdb_store_pending_compaction_bytes", "Bytes that compactions must rewrite, estimated.");
  for (const auto& family : store.families)
    out.Add({{"family", family.name}}, family.pending_compaction_bytes);
  out.Gauge("itemdb_store_level_bytes", "Bytes of the table files of each level.");
  for (size_t level = 0; level < store.level_bytes.size(); ++level)
    out.Add({{"level", std::to_string(level)}}, store.level_bytes[level]);
  out.Gauge("itemdb_store_running_jobs", "Flushes and compactions that run.")
      .Add({{"job", "flush"}}, store.running_flushes)
      .Add({{"job", "compaction"}}, store.running_compactions);
  out.Gauge("itemdb_store_writes_stopped", "1 while RocksDB accepts no writes until compactions catch up.")
      .Add(store.writes_stopped ? 1 : 0);
  out.Gauge("itemdb_store_delayed_write_rate_bytes",
            "Bytes a second to which RocksDB slows writes down; 0: it does not.")
      .Add(store.delayed_write_rate);
  out.Gauge("itemdb_store_oldest_snapshot_timestamp_seconds",
            "When the oldest snapshot was made; 0: there is none.")
      .Add(store.oldest_snapshot_time_s);
  const storage::StoreTotals& totals = figures.store_totals;
  const std::pair<const char*, storage::StoreTotals::Lookups> lookups[] = {
      {"data", totals.data_blocks}, {"index", totals.index_blocks}, {"filter", totals.filter_blocks}};
  out.Counter("itemdb_store_block_cache_hits_total", "Blocks that were found in the block cache, by kind.");
  for (const auto& [block, counts] : lookups) out.Add({{"block", block}}, counts.hits);
  out.Counter("itemdb_store_block_cache_misses_total", "Lookups of blocks that were not there.");
  for (const auto& [block, counts] : lookups) out.Add({{"block", block}}, counts.misses);
  out.Counter("itemdb_store_compaction_bytes_total", "Bytes that compactions have read and written.")
      .Add({{"direction", "read"}}, totals.compaction_read_bytes)
      .Add({{"direction", "written"}}, totals.compaction_written_bytes);
  out.Counter("itemdb_store_flush_bytes_total", "Bytes of table files that were written from memory.")
      .Add(totals.flushed_bytes);
  out.Counter("itemdb_store_write_stall_seconds_total",
              "How long RocksDB has held writes back until compactions had caught up.")
      .Add(static_cast<double>(totals.stall_us) / kMicrosecondsPerSecond);
}

void AddVectors(const storage::VectorFigures& vectors, Families& out) {
  out.Gauge("itemdb_vector_copies", "Vector indexes that are in memory.").Add(vectors.copies);
  out.Gauge("itemdb_vector_copy_entries", "Entries of these indexes.").Add(vectors.entries);
  out.Gauge("itemdb_vector_graph_entries", "Entries that are in graphs.").Add(vectors.graph_entries);
  out.Gauge("itemdb_vector_loading_copies", "Vector indexes that are being read into memory.")
      .Add(vectors.loading);
  out.Gauge("itemdb_vector_loading_entries", "Entries of these that have been read.")
      .Add(vectors.loaded_entries);
  out.Gauge("itemdb_vector_loading_estimated_entries", "Entries that these have.")
      .Add(vectors.entries_to_load);
  out.Gauge("itemdb_vector_copy_bytes", "Memory of these indexes, taken from the block cache.")
      .Add(vectors.bytes);
  out.Counter("itemdb_vector_copies_made_total", "Vector indexes that were read into memory.")
      .Add(vectors.copies_made);
  out.Counter("itemdb_vector_searches_of_store_total",
              "Searches that read an index on disk, because it does not fit into memory.")
      .Add(vectors.searches_of_store);
  out.Counter("itemdb_vector_graph_entries_restored_total",
              "Entries whose place in a graph was read from a file after a start.")
      .Add(vectors.restored_graph_entries);
}

void AddSpace(const v1::GetStatusReply& status, Families& out) {
  out.Gauge("itemdb_disk_used_bytes", "Bytes on disk; those of deleted tables are in the table files too.")
      .Add({{"part", "table_files"}}, status.disk().table_files())
      .Add({{"part", "log"}}, status.disk().write_ahead_log())
      .Add({{"part", "deleted"}}, status.disk().dropped_bytes());
  out.Gauge("itemdb_disk_free_bytes", "Free bytes on the disk of the data directory.")
      .Add(status.disk().free());
  out.Gauge("itemdb_disk_free_floor_bytes", "Writes are refused when less is free.")
      .Add(status.disk().free_floor());
  const v1::MemoryUsage& memory = status.memory();
  out.Gauge("itemdb_memory_used_bytes", "Memory by part.")
      .Add({{"part", "block_cache"}}, memory.block_cache())
      .Add({{"part", "memtables"}}, memory.memtables())
      .Add({{"part", "table_readers"}}, memory.table_readers())
      .Add({{"part", "write_queue"}}, memory.write_queue())
      .Add({{"part", "requests"}}, memory.calls());
  out.Gauge("itemdb_memory_limit_bytes", "The bound of the part; \"all\" is --memory.")
      .Add({{"part", "block_cache"}}, memory.block_cache_capacity())
      .Add({{"part", "memtables"}}, memory.memtable_budget())
      .Add({{"part", "write_queue"}}, memory.write_queue_limit())
      .Add({{"part", "requests"}}, memory.call_limit())
      .Add({{"part", "all"}}, memory.limit());
}

void AddChecks(const storage::DatabaseFigures& figures, Families& out) {
  const v1::GetStatusReply& status = figures.status;
  out.Gauge("itemdb_damaged_blocks", "Blocks of table files that were met and cannot be read.")
      .Add(status.damage().blocks());
  out.Gauge("itemdb_damaged_files", "Table files with such blocks.").Add(status.damage().files());
  out.Gauge("itemdb_paused_families", "Column families whose compactions wait because of damage.")
      .Add(status.damage().paused_families_size());
  Labels records{{"check", "records"}}, files{{"check", "files"}};
  const bool checks_records = status.has_background_check(), checks_files = status.has_file_check();
  out.Counter("itemdb_check_rounds_total", "Finished rounds of the checks in the background.");
  if (checks_records) out.Add(records, status.background_check().rounds());
  if (checks_files) out.Add(files, status.file_check().rounds());
  out.Gauge("itemdb_check_findings", "What these checks have found. Anything but 0 needs somebody to look.");
  if (checks_records) out.Add(records, status.background_check().finding_count());
  if (checks_files) out.Add(files, status.file_check().finding_count());
  out.Gauge("itemdb_check_last_end_timestamp_seconds", "When the last round ended; 0: none has.");
  if (checks_records) out.Add(records, Seconds(status.background_check().last_end_time_us()));
  if (checks_files) out.Add(files, Seconds(status.file_check().last_end_time_us()));
  const Labels requested{{"check", "requested"}};
  out.Gauge("itemdb_check_records",
            "Records that the check under way has read, since it or its round began.");
  if (checks_records) out.Add(records, figures.check_round.compared);
  if (status.has_check()) out.Add(requested, status.check().done());
  out.Gauge("itemdb_check_estimated_records", "Records that it has to read.");
  if (checks_records) out.Add(records, figures.check_round.records);
  if (status.has_check()) out.Add(requested, status.check().total());
  if (status.has_scheduled_backups()) {
    const v1::ScheduledBackups& backups = status.scheduled_backups();
    out.Gauge("itemdb_backup_last_verified_timestamp_seconds",
              "When a backup was last verified, as of the start or by the schedule; 0: none was.")
        .Add(Seconds(backups.last_verified_time_us()));
    out.Gauge("itemdb_backup_failing",
              "1 if the last attempt of a scheduled backup failed, or its proof found damage.")
        .Add(backups.last_error().empty() ? 0 : 1);
    if (backups.proof_max_age_ms() > 0) {
      out.Gauge("itemdb_backup_proof_max_age_seconds",
                "How old the last proven backup becomes at most, if no backup and no proof fails.")
          .Add(static_cast<double>(backups.proof_max_age_ms()) / 1e3);
    }
  }
  if (status.has_proven_backup() || status.scheduled_backups().proof_max_age_ms() > 0) {
    out.Gauge("itemdb_backup_last_proven_timestamp_seconds",
              "When a backup was last restored and checked; 0: none was.")
        .Add(Seconds(status.proven_backup().proven_time_us()));
  }
  if (status.has_standby()) {
    const v1::StandbyStatus& standby = status.standby();
    out.Gauge("itemdb_standby_lag_seconds",
              "How old the last commit that was followed is, if more are known to be there.")
        .Add(static_cast<double>(standby.lag_ms()) / 1e3);
    out.Gauge("itemdb_standby_failing",
              "1 if the standby cannot follow its primary, or waits for a new base.")
        .Add(standby.error().empty() ? 0 : 1);
  }
  if (status.has_encryption()) {
    out.Gauge("itemdb_encryption_old_files", "Files that need another encryption key than the first one.")
        .Add(static_cast<double>(status.encryption().old_files()));
  }
  out.Gauge("itemdb_writes_refused", "1 if the database is a standby, or one of it was promoted.")
      .Add(status.writes_refused().empty() ? 0 : 1);
  if (status.has_archive()) {
    const v1::ArchiveStatus& archive = status.archive();
    out.Gauge("itemdb_archive_lag_seconds",
              "How long the oldest commit that is not durable in the archive has waited.")
        .Add(static_cast<double>(archive.lag_ms()) / 1e3);
    out.Gauge("itemdb_archive_failing", "1 if the archive or its backups cannot be written.")
        .Add(archive.error().empty() ? 0 : 1);
    out.Counter("itemdb_archive_gaps_total",
                "How often commits could not be archived; they cannot be restored.")
        .Add(static_cast<double>(archive.gaps()));
    out.Gauge("itemdb_archive_oldest_timestamp_seconds",
              "The oldest backup that commits can be replayed on; 0: there is none.")
        .Add(Seconds(archive.oldest_time_us()));
  }
}

}  // namespace

std::string MetricsPage(const ProcessFacts& facts, bool ready, storage::Database* database,
                        ServingContext* serving) {
  Families out;
  AddProcess(facts, ready, out);
  if (database == nullptr || serving == nullptr) return out.Text();
  storage::DatabaseFigures figures = database->MeasureFigures();
  v1::MemoryUsage& memory = *figures.status.mutable_memory();
  memory.set_limit(static_cast<int64_t>(facts.memory_bytes));
  memory.set_calls(serving->memory->used_bytes());
  memory.set_call_limit(serving->memory->limit_bytes());
  if (figures.has_store) {
    std::unordered_set<std::string_view> tables;
    for (const auto& table : figures.status.tables()) tables.insert(table.table_name());
    serving->metrics.ForgetTables([&tables](std::string_view name) { return tables.contains(name); });
  }
  AddOperations(serving->metrics, out);
  AddTableCalls(serving->metrics, out);
  AddServing(*serving, out);
  AddTables(figures.status, out);
  AddTableFigures(figures.tables, out);
  AddWatches(serving->watches.Measure(figures.status.durable_sequence()), out);
  AddWrites(figures, out);
  AddStore(figures, out);
  AddVectors(figures.vectors, out);
  AddSpace(figures.status, out);
  AddChecks(figures, out);
  return out.Text();
}

}  // namespace itemdb::daemon
