#include "bench/reclaim.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "bench/items.h"
#include "bench/order_store.h"
#include "bench/seconds.h"
#include "bench/writers.h"
#include "storage/database.h"

namespace itemdb::bench {
namespace {

using nlohmann::ordered_json;
constexpr double kBytesPerMB = 1e6;
constexpr char kGone[] = "gone";
constexpr char kKept[] = "kept";
// The goals.
constexpr double kReclaimGoalSeconds = 300;
constexpr double kPutGoalMs = 20;
// Puts are measured for at least this time.
constexpr double kMinSeconds = 1;

// Waits until RocksDB's files keep the same size for 2 s, which means that compaction has ended.
absl::Status Settle(Session& session, storage::Database& database) {
  constexpr double kQuietSeconds = 2;
  session.Progress("reclaim: waiting until nothing is compacted");
  int64_t bytes = -1;
  Clock::time_point since = Clock::now();
  while (SecondsSince(since) < kQuietSeconds) {
    ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
    const int64_t now = database.GetStatus().disk().table_files();
    if (now != bytes) since = Clock::now();
    bytes = now;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return absl::OkStatus();
}

struct Puts {
  double per_second = 0;
  Percentiles latencies_ms;
};

struct Reclaimed {
  // From the answer of DeleteTable until nothing is left to reclaim.
  double seconds = 0;
  int64_t dropped_bytes = 0;
  int64_t bytes_before = 0;
  int64_t bytes_after = 0;
  Puts puts_meanwhile;
  Puts puts_alone;
};

absl::StatusOr<Puts> PutsOf(Writers& writers, double seconds) {
  writers.Stop();
  if (writers.failed()) return absl::InternalError("a put failed");
  const Percentiles latencies_ms = writers.latencies_ms();
  return Puts{.per_second = static_cast<double>(latencies_ms.count) / seconds, .latencies_ms = latencies_ms};
}

absl::StatusOr<Reclaimed> Measure(Session& session, storage::Database& database,
                                  const ReclaimOptions& options) {
  Reclaimed measured;
  const uint64_t kept_items = std::max<uint64_t>(options.items / 5, 1);
  ITEMDB_RETURN_IF_ERROR(
      LoadItems(session, "reclaim", database, kKept, kept_items, options.collection_items));
  ITEMDB_RETURN_IF_ERROR(
      LoadItems(session, "reclaim", database, kGone, options.items, options.collection_items));
  ITEMDB_RETURN_IF_ERROR(Settle(session, database));
  measured.bytes_before = database.GetStatus().disk().table_files();
  const auto make_item = [&options](uint64_t item) { return EncodedItem(item, options.collection_items); };

  session.Progress("reclaim: the table is deleted");
  Clock::time_point begin;
  {
    Writers writers(database, kKept, options.writers, kept_items, make_item);
    v1::DeleteTableRequest request;
    request.set_table_name(kGone);
    ITEMDB_RETURN_IF_ERROR(Await<v1::DeleteTableReply>([&](auto done) {
                             database.DeleteTable(request, std::move(done));
                           }).status());
    begin = Clock::now();
    measured.dropped_bytes = database.GetStatus().disk().dropped_bytes();
    while (database.GetStatus().disk().dropped_count() > 0) {
      ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    measured.seconds = SecondsSince(begin);
    while (SecondsSince(begin) < kMinSeconds) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ITEMDB_ASSIGN_OR_RETURN(measured.puts_meanwhile, PutsOf(writers, SecondsSince(begin)));
  }
  ITEMDB_RETURN_IF_ERROR(Settle(session, database));
  measured.bytes_after = database.GetStatus().disk().table_files();

  session.Progress("reclaim: writers alone");
  const double seconds = std::max(measured.seconds, kMinSeconds);
  begin = Clock::now();
  Writers writers(database, kKept, options.writers, kept_items, make_item);
  while (SecondsSince(begin) < seconds) {
    ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ITEMDB_ASSIGN_OR_RETURN(measured.puts_alone, PutsOf(writers, SecondsSince(begin)));
  return measured;
}

}  // namespace

absl::Status RunReclaim(Session& session, const ReclaimOptions& options) {
  const std::string directory = session.scratch.NewPath();
  Reclaimed measured;
  {
    storage::DatabaseOptions database_options = OptionsFor(directory, /*durable=*/true);
    database_options.reclaim_bytes_per_second = options.bytes_per_second;
    // With the default, a small table would wait for a minute, so that several are reclaimed together.
    database_options.reclaim_interval = std::chrono::seconds(1);
    ITEMDB_ASSIGN_OR_RETURN(auto database, storage::Database::Open(std::move(database_options)));
    ITEMDB_ASSIGN_OR_RETURN(measured, Measure(session, *database, options));
  }
  RemoveAll(directory);
  session.Progress("");

  const uint64_t collections = (options.items + options.collection_items - 1) / options.collection_items;
  TextTable table;
  table.title = "A table of " + std::to_string(options.items) + " items (" + std::to_string(collections) +
                " item collections) with a global and a local index is deleted beside " +
                std::to_string(options.writers) + " durable writers of another table";
  table.columns = {"", "meanwhile", "writers alone", "goal"};
  const auto megabytes = [](int64_t bytes) { return Figure(static_cast<double>(bytes) / kBytesPerMB); };
  const auto add_once = [&](const std::string& name, const std::string& figure, const std::string& goal) {
    table.rows.push_back({name, figure, "", goal});
  };
  const auto add = [&](const std::string& name, double meanwhile, double alone, const std::string& goal) {
    table.rows.push_back({name, Figure(meanwhile), Figure(alone), goal});
  };
  add_once("space reclaimed after, s", Figure(measured.seconds), "at most " + Figure(kReclaimGoalSeconds));
  add_once("items and entries deleted, MB", megabytes(measured.dropped_bytes), "");
  add_once("table files before, MB", megabytes(measured.bytes_before), "");
  add_once("table files after, MB", megabytes(measured.bytes_after), "");
  const Percentiles &meanwhile_ms = measured.puts_meanwhile.latencies_ms,
                    &alone_ms = measured.puts_alone.latencies_ms;
  add("puts/s", measured.puts_meanwhile.per_second, measured.puts_alone.per_second, "");
  add("put p50, ms", meanwhile_ms.p50, alone_ms.p50, "");
  add("put p99, ms", meanwhile_ms.p99, alone_ms.p99, "");
  add("longest put, ms", meanwhile_ms.max, alone_ms.max, "under " + Figure(kPutGoalMs));
  table.notes = {"The writers alone are measured afterwards, for the same time.",
                 "Table files include the change log, which keeps the changes of the deleted table."};
  const auto puts = [](const Puts& one) {
    return ordered_json{{"per_second", one.per_second},
                        {"p50_ms", one.latencies_ms.p50},
                        {"p99_ms", one.latencies_ms.p99},
                        {"max_ms", one.latencies_ms.max}};
  };
  session.report.Add(table, {ordered_json{{"figure", "reclaim"},
                                          {"items", options.items},
                                          {"collections", collections},
                                          {"writers", options.writers},
                                          {"bytes_per_second", options.bytes_per_second},
                                          {"seconds", measured.seconds},
                                          {"dropped_bytes", measured.dropped_bytes},
                                          {"table_file_bytes_before", measured.bytes_before},
                                          {"table_file_bytes_after", measured.bytes_after},
                                          {"puts_meanwhile", puts(measured.puts_meanwhile)},
                                          {"puts_alone", puts(measured.puts_alone)}}});
  return absl::OkStatus();
}

}  // namespace itemdb::bench
