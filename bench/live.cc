#include "bench/live.h"

#include <grpcpp/client_context.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "bench/order_store.h"
#include "bench/seconds.h"
#include "bench/server_processes.h"
#include "bench/writers.h"
#include "itemdb/v1/changes.grpc.pb.h"
#include "itemdb/v1/data.grpc.pb.h"
#include "itemdb/v1/tables.grpc.pb.h"
#include "storage/database.h"

namespace itemdb::bench {
namespace {

using nlohmann::ordered_json;
constexpr uint64_t kChunkWrites = 1'000;
// The goals.
constexpr double kBuildGoalItemsPerSecond = 300'000;
constexpr double kBuildGoalScans = 4;
constexpr double kWaitGoalMs = 100;

// The Order table without its indexes. TheIndex is one of these indexes.
v1::CreateTableRequest BareTable() {
  const v1::CreateTableRequest whole = OrderTableRequest();
  v1::CreateTableRequest request = whole;
  request.clear_global_secondary_indexes();
  request.clear_attribute_definitions();
  for (const v1::AttributeDefinition& attribute : whole.attribute_definitions()) {
    for (const v1::KeySchemaElement& element : request.key_schema()) {
      if (element.attribute_name() == attribute.attribute_name())
        *request.add_attribute_definitions() = attribute;
    }
  }
  return request;
}
v1::GlobalSecondaryIndex TheIndex() { return OrderTableRequest().global_secondary_indexes(0); }

absl::Status LoadOrders(storage::Database& database, uint64_t orders) {
  const std::shared_ptr<storage::BulkWrites> writes = database.BeginBulkWrite();
  for (uint64_t order = 0; order < orders;) {
    wire::BulkWriteChunk chunk;
    chunk.set_chunk_number(order / kChunkWrites + 1);
    wire::TableWriteRequests* table = chunk.add_request_items();
    table->set_table_name(kOrderTable);
    for (uint64_t i = 0; i < kChunkWrites && order < orders; ++i, ++order)
      table->add_write_requests()->mutable_put_request()->set_item(OrderItem(order));
    auto reply =
        Await<wire::BulkWriteReply>([&](auto done) { database.BulkWrite(*writes, chunk, std::move(done)); });
    ITEMDB_RETURN_IF_ERROR(reply.status());
  }
  return absl::OkStatus();
}

// Seconds to read every item, one page after another.
absl::StatusOr<double> Scan(storage::Database& database, uint64_t orders) {
  const Clock::time_point begin = Clock::now();
  wire::PageRequest request;
  request.set_table_name(kOrderTable);
  uint64_t items = 0;
  do {
    ITEMDB_ASSIGN_OR_RETURN(storage::Page page, Await<storage::Page>([&](auto done) {
                              database.Scan(request, std::move(done));
                            }));
    items += static_cast<uint64_t>(page.reply.count());
    request.set_exclusive_start_key(page.reply.last_evaluated_key());
  } while (!request.exclusive_start_key().empty());
  if (items != orders) return absl::DataLossError("the scan did not find every order");
  return SecondsSince(begin);
}

// Writers that overwrite existing orders.
Writers WriteOrders(storage::Database& database, const LiveOptions& options) {
  return Writers(database, kOrderTable, options.writers, options.orders, OrderItem);
}

// Seconds from the request until the index is ACTIVE.
absl::StatusOr<double> BuildIndex(Session& session, storage::Database& database) {
  v1::UpdateTableRequest request;
  request.set_table_name(kOrderTable);
  *request.add_global_secondary_index_creations() = TheIndex();
  *request.mutable_attribute_definitions() = OrderTableRequest().attribute_definitions();
  const Clock::time_point begin = Clock::now();
  ITEMDB_RETURN_IF_ERROR(Await<v1::UpdateTableReply>([&](auto done) {
                           database.UpdateTable(request, std::move(done));
                         }).status());
  v1::DescribeTableRequest describe;
  describe.set_table_name(kOrderTable);
  while (true) {
    ITEMDB_ASSIGN_OR_RETURN(v1::DescribeTableReply reply, database.DescribeTable(describe));
    if (reply.table().global_secondary_indexes(0).index_status() == v1::TABLE_STATUS_ACTIVE)
      return SecondsSince(begin);
    ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

absl::Status DropIndex(storage::Database& database) {
  v1::UpdateTableRequest request;
  request.set_table_name(kOrderTable);
  request.add_global_secondary_index_deletions(TheIndex().index_name());
  return Await<v1::UpdateTableReply>([&](auto done) { database.UpdateTable(request, std::move(done)); })
      .status();
}

struct CheckFigures {
  double seconds = 0;
  int64_t records = 0;
};
absl::StatusOr<CheckFigures> Check(storage::Database& database) {
  v1::CheckDatabaseRequest request;
  request.set_table_name(kOrderTable);
  request.set_index_name(TheIndex().index_name());
  const Clock::time_point begin = Clock::now();
  ITEMDB_ASSIGN_OR_RETURN(v1::CheckDatabaseReply reply, Await<v1::CheckDatabaseReply>([&](auto done) {
                            database.CheckDatabase(request, std::move(done));
                          }));
  if (reply.finding_count() != 0) return absl::DataLossError("the check found: " + reply.findings(0));
  return CheckFigures{.seconds = SecondsSince(begin),
                      .records = reply.items_checked() + reply.index_entries_checked()};
}

// Bytes per change in the files of the change log.
absl::StatusOr<double> LogBytesPerChange(const std::string& directory) {
  ITEMDB_ASSIGN_OR_RETURN(auto store, OrderStore::Open(directory));
  rocksdb::ColumnFamilyHandle* changes = store->ordering().store->changes();
  if (rocksdb::Status flushed = store->db()->Flush(rocksdb::FlushOptions(), changes); !flushed.ok())
    return absl::InternalError(flushed.ToString());
  rocksdb::ColumnFamilyMetaData files;
  store->db()->GetColumnFamilyMetaData(changes, &files);
  uint64_t entries = 0;
  for (const auto& level : files.levels) {
    for (const auto& file : level.files) entries += file.num_entries;
  }
  return static_cast<double>(files.size) / static_cast<double>(std::max<uint64_t>(entries, 1));
}

absl::Status RunIndexes(Session& session, const LiveOptions& options) {
  const std::string directory = session.scratch.NewPath();
  double scan = 0, quiet = 0, loaded = 0;
  // Latencies of the writers' puts, without and with the creation of an index.
  Percentiles alone_ms, beside_ms;
  CheckFigures check;
  {
    ITEMDB_ASSIGN_OR_RETURN(auto database, storage::Database::Open(OptionsFor(directory, /*durable=*/true)));
    ITEMDB_RETURN_IF_ERROR(Await<v1::CreateTableReply>([&](auto done) {
                             database->CreateTable(BareTable(), std::move(done));
                           }).status());
    session.Progress("live: loading " + std::to_string(options.orders) + " orders");
    ITEMDB_RETURN_IF_ERROR(LoadOrders(*database, options.orders));
    session.Progress("live: reading all of them");
    ITEMDB_RETURN_IF_ERROR(Scan(*database, options.orders).status());
    ITEMDB_ASSIGN_OR_RETURN(scan, Scan(*database, options.orders));
    session.Progress("live: an index while nothing else is done");
    ITEMDB_ASSIGN_OR_RETURN(quiet, BuildIndex(session, *database));
    session.Progress("live: checking it");
    ITEMDB_ASSIGN_OR_RETURN(check, Check(*database));
    ITEMDB_RETURN_IF_ERROR(DropIndex(*database));
    session.Progress("live: writers alone");
    {
      Writers writers = WriteOrders(*database, options);
      std::this_thread::sleep_for(std::chrono::duration<double>(quiet * 2));
      writers.Stop();
      alone_ms = writers.latencies_ms();
    }
    session.Progress("live: an index beside writers");
    {
      Writers writers = WriteOrders(*database, options);
      ITEMDB_ASSIGN_OR_RETURN(loaded, BuildIndex(session, *database));
      writers.Stop();
      if (writers.failed()) return absl::InternalError("a put failed");
      beside_ms = writers.latencies_ms();
    }
    ITEMDB_RETURN_IF_ERROR(Check(*database).status());
  }
  ITEMDB_ASSIGN_OR_RETURN(const double log_bytes, LogBytesPerChange(directory));
  RemoveAll(directory);
  session.Progress("");

  const auto orders = static_cast<double>(options.orders);
  const double writes_beside = static_cast<double>(beside_ms.count) / loaded;
  TextTable table;
  table.title = "An index of a live table of " + std::to_string(options.orders) + " orders, beside " +
                std::to_string(options.writers) + " durable writers, and its check";
  table.columns = {"", "figure", "goal"};
  const auto add = [&](const std::string& name, double value, const std::string& goal = "") {
    table.rows.push_back({name, Figure(value), goal});
  };
  add("scan of the table, s", scan);
  add("index, nothing else done, s", quiet);
  add("  items/s", orders / quiet, "at least " + Figure(kBuildGoalItemsPerSecond));
  add("  in scans", quiet / scan, "at most " + Figure(kBuildGoalScans));
  add("index, beside writers, s", loaded);
  add("  items/s", orders / loaded);
  add("  writes/s meanwhile", writes_beside);
  add("  p99 of a write, ms (writers alone " + Figure(alone_ms.p99) + ")", beside_ms.p99);
  add("  longest write, ms (writers alone " + Figure(alone_ms.max) + ")", beside_ms.max,
      "under " + Figure(kWaitGoalMs));
  add("check of the index, records/s", static_cast<double>(check.records) / check.seconds);
  add("change log, bytes in files a change", log_bytes);
  session.report.Add(
      table, {ordered_json{{"figure", "live_index"},
                           {"orders", options.orders},
                           {"writers", options.writers},
                           {"scan_seconds", scan},
                           {"quiet_seconds", quiet},
                           {"beside_writers_seconds", loaded},
                           {"writes_per_second", writes_beside},
                           {"write_p99_ms", beside_ms.p99},
                           {"write_max_ms", beside_ms.max},
                           {"write_p99_ms_alone", alone_ms.p99},
                           {"write_max_ms_alone", alone_ms.max},
                           {"check_records_per_second", static_cast<double>(check.records) / check.seconds},
                           {"log_bytes_per_change", log_bytes}}});
  return absl::OkStatus();
}

// Measures the time from the commit time of a change until a watcher receives it.
absl::Status RunWatch(Session& session, const LiveOptions& options) {
  session.Progress("live: watching changes");
  const std::string directory = session.scratch.NewPath();
  ITEMDB_ASSIGN_OR_RETURN(ServerProcess server,
                          StartItemdProcess(directory, /*durable=*/true, session.unix_socket));
  {
    grpc::ClientContext context;
    v1::CreateTableReply reply;
    ITEMDB_RETURN_IF_ERROR(
        ToStatus(v1::Tables::NewStub(server.channel)->CreateTable(&context, BareTable(), &reply)));
  }
  std::atomic<bool> stop = false;
  std::atomic<int64_t> written = 0;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < options.writers; ++writer) {
    writers.emplace_back([&, writer] {
      const auto data = v1::Data::NewStub(server.channel);
      for (auto i = static_cast<uint64_t>(writer); !stop; i += static_cast<uint64_t>(options.writers)) {
        v1::PutItemRequest request;
        request.ParseFromString(PutOrderRequest(i));
        grpc::ClientContext context;
        v1::PutItemReply reply;
        if (data->PutItem(&context, request, &reply).ok()) ++written;
      }
    });
  }
  std::vector<double> lags_ms;
  absl::Status watched;
  {
    grpc::ClientContext context;
    const auto stub = v1::Changes::NewStub(server.channel);
    const auto stream = stub->Watch(&context, v1::WatchRequest());
    const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                     std::chrono::duration<double>(options.seconds));
    v1::WatchReply reply;
    while (Clock::now() < end || lags_ms.empty()) {
      if (!stream->Read(&reply)) {
        watched = ToStatus(stream->Finish());
        break;
      }
      const int64_t now = NowMicros();
      for (const v1::ChangeRecord& record : reply.records())
        lags_ms.push_back(static_cast<double>(now - record.commit_time_us()) / 1e3);
    }
    context.TryCancel();
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  ITEMDB_RETURN_IF_ERROR(watched);
  if (lags_ms.empty()) return absl::InternalError("the watch saw no change");
  server = ServerProcess();
  RemoveAll(directory);
  session.Progress("");

  const Percentiles lag_ms = PercentilesOf(std::move(lags_ms));
  const double changes_per_second = static_cast<double>(lag_ms.count) / options.seconds;
  TextTable table;
  table.title = "A watch beside " + std::to_string(options.writers) + " callers that put durably";
  table.columns = {"", "figure"};
  table.rows = {{"changes/s", Figure(changes_per_second)},
                {"from commit time to the watcher, p50, ms", Figure(lag_ms.p50)},
                {"p99, ms", Figure(lag_ms.p99)},
                {"longest, ms", Figure(lag_ms.max)}};
  table.notes = {"The commit time is taken before the change is synced to disk, and it is sent after that."};
  session.report.Add(table, {ordered_json{{"figure", "watch"},
                                          {"writers", options.writers},
                                          {"changes_per_second", changes_per_second},
                                          {"lag_p50_ms", lag_ms.p50},
                                          {"lag_p99_ms", lag_ms.p99},
                                          {"lag_max_ms", lag_ms.max}}});
  return absl::OkStatus();
}

}  // namespace

absl::Status RunLive(Session& session, const LiveOptions& options) {
  ITEMDB_RETURN_IF_ERROR(RunWatch(session, options));
  return RunIndexes(session, options);
}

}  // namespace itemdb::bench
