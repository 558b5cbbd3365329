#include "bench/watches.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/contender.h"
#include "bench/order_data.h"
#include "bench/order_store.h"
#include "bench/seconds.h"
#include "bench/writers.h"
#include "storage/database.h"

namespace itemdb::bench {
namespace {

using nlohmann::ordered_json;
constexpr int kWatchedTables = 100;
constexpr uint64_t kWrittenItems = 10'000;
constexpr int kProgressIntervalMs = 60'000;

std::string WatchedTable(int table) { return "watched" + std::to_string(table); }

absl::Status MakeTables(storage::Database& database) {
  const auto make = [&database](const v1::CreateTableRequest& request) {
    return Await<v1::CreateTableReply>([&](auto done) { database.CreateTable(request, std::move(done)); })
        .status();
  };
  v1::CreateTableRequest request = OrderTableRequest();
  ITEMDB_RETURN_IF_ERROR(make(request));
  for (int table = 0; table < kWatchedTables; ++table) {
    request.set_table_name(WatchedTable(table));
    ITEMDB_RETURN_IF_ERROR(make(request));
  }
  return absl::OkStatus();
}

// Watches that wait until they are cancelled.
class IdleWatches {
 public:
  IdleWatches(storage::Database& database, int watches) : database_(database) {
    for (int watch = 0; watch < watches; ++watch) {
      v1::WatchRequest request;
      request.set_table_name(WatchedTable(watch % kWatchedTables));
      request.set_progress_interval_ms(kProgressIntervalMs);
      Watch(request);
    }
  }
  ~IdleWatches() {
    cancellation_->Cancel();
    while (waiting_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  IdleWatches(const IdleWatches&) = delete;
  IdleWatches& operator=(const IdleWatches&) = delete;

  // Whether a watch ended without having been cancelled.
  bool failed() const { return failed_; }

 private:
  // The first request has no after_sequence, so its reply comes at once, with the sequence to continue from.
  void Watch(const v1::WatchRequest& request) {
    ++waiting_;
    database_.WatchChanges(
        request,
        [this, request](absl::StatusOr<storage::WatchPage> page) {
          if (page.ok() && !page->last) {
            v1::WatchRequest next = request;
            next.set_after_sequence(page->reply.change_sequence());
            next.set_table_storage_id(page->reply.table_storage_id());
            Watch(next);
          } else if (cancellation_->Check().ok()) {
            failed_ = true;
          }
          --waiting_;
        },
        cancellation_);
  }

  storage::Database& database_;
  const std::shared_ptr<storage::Cancellation> cancellation_ = std::make_shared<storage::Cancellation>();
  std::atomic<int> waiting_ = 0;
  std::atomic<bool> failed_ = false;
};

struct PutFigures {
  std::vector<double> per_second;
  // CPU time of the process per put, including that of the watches.
  std::vector<double> cpu_us;
  std::vector<double> p99_ms;
};

absl::Status Measure(storage::Database& database, const WatchesOptions& options, PutFigures* figures) {
  const nanoseconds cpu = OwnCpu();
  const Clock::time_point begin = Clock::now();
  Writers writers(database, kOrderTable, options.writers, kWrittenItems, OrderItem);
  std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
  writers.Stop();
  const double seconds = SecondsSince(begin);
  if (writers.failed()) return absl::InternalError("a put failed");
  const Percentiles latencies_ms = writers.latencies_ms();
  const auto puts = static_cast<double>(latencies_ms.count);
  figures->per_second.push_back(puts / seconds);
  figures->cpu_us.push_back(static_cast<double>((OwnCpu() - cpu).count()) / 1e3 / puts);
  figures->p99_ms.push_back(latencies_ms.p99);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunWatches(Session& session, const WatchesOptions& options) {
  const std::string directory = session.scratch.NewPath();
  PutFigures alone, beside;
  {
    ITEMDB_ASSIGN_OR_RETURN(auto database, storage::Database::Open(OptionsFor(directory, /*durable=*/true)));
    ITEMDB_RETURN_IF_ERROR(MakeTables(*database));
    PutFigures warm_up;
    ITEMDB_RETURN_IF_ERROR(Measure(*database, options, &warm_up));
    for (int round = 0; round < options.rounds; ++round) {
      ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
      session.Progress("watches: round " + std::to_string(round + 1));
      ITEMDB_RETURN_IF_ERROR(Measure(*database, options, &alone));
      IdleWatches watches(*database, options.watches);
      ITEMDB_RETURN_IF_ERROR(Measure(*database, options, &beside));
      if (watches.failed()) return absl::InternalError("a watch ended");
    }
  }
  RemoveAll(directory);
  session.Progress("");

  TextTable table;
  table.title = std::to_string(options.watches) + " idle watches of " + std::to_string(kWatchedTables) +
                " tables beside " + std::to_string(options.writers) + " durable writers of another table";
  table.columns = {"", "without", "with"};
  const auto add = [&](const std::string& name, const std::vector<double>& without,
                       const std::vector<double>& with) {
    table.rows.push_back({name, Figure(SpreadOf(without)), Figure(SpreadOf(with))});
  };
  add("puts/s", alone.per_second, beside.per_second);
  add("CPU time of a put, us", alone.cpu_us, beside.cpu_us);
  add("put p99, ms", alone.p99_ms, beside.p99_ms);
  const auto line = [](const PutFigures& figures) {
    return ordered_json{{"puts_per_second", SpreadOf(figures.per_second).median},
                        {"cpu_us", SpreadOf(figures.cpu_us).median},
                        {"p99_ms", SpreadOf(figures.p99_ms).median}};
  };
  session.report.Add(table, {ordered_json{{"figure", "watches"},
                                          {"watches", options.watches},
                                          {"writers", options.writers},
                                          {"without", line(alone)},
                                          {"with", line(beside)}}});
  return absl::OkStatus();
}

}  // namespace itemdb::bench
