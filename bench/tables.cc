#include "bench/tables.h"

#include <grpcpp/client_context.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/seconds.h"
#include "bench/server_processes.h"
#include "itemdb/v1/data.grpc.pb.h"
#include "itemdb/v1/tables.grpc.pb.h"

namespace itemdb::bench {
namespace {

using nlohmann::ordered_json;
constexpr double kBytesPerMiB = 1 << 20;
// The goals for 300 tables.
constexpr double kCreateGoalSeconds = 60;
constexpr double kRestartGoalSeconds = 5;
constexpr double kWalGoalMiB = 1024;
constexpr double kLatencyGoal = 2;

std::string TableName(int table) { return "table" + std::to_string(10'000 + table); }

v1::CreateTableRequest TableRequest(int table) {
  v1::CreateTableRequest request;
  request.set_table_name(TableName(table));
  request.set_billing_mode(v1::BILLING_MODE_PAY_PER_REQUEST);
  const auto add_key = [](auto* schema, const char* name, v1::KeyType type) {
    v1::KeySchemaElement* element = schema->Add();
    element->set_attribute_name(name);
    element->set_key_type(type);
  };
  for (const char* name : {"pk", "sk", "a", "b"}) {
    v1::AttributeDefinition* attribute = request.add_attribute_definitions();
    attribute->set_attribute_name(name);
    attribute->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_S);
  }
  add_key(request.mutable_key_schema(), "pk", v1::KEY_TYPE_HASH);
  add_key(request.mutable_key_schema(), "sk", v1::KEY_TYPE_RANGE);
  for (const char* name : {"a", "b"}) {
    v1::GlobalSecondaryIndex* index = request.add_global_secondary_indexes();
    index->set_index_name(std::string("by_") + name);
    add_key(index->mutable_key_schema(), name, v1::KEY_TYPE_HASH);
    add_key(index->mutable_key_schema(), "sk", v1::KEY_TYPE_RANGE);
    index->mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_ALL);
  }
  return request;
}

v1::PutItemRequest PutRequest(int table, int item) {
  v1::PutItemRequest request;
  request.set_table_name(TableName(table));
  for (const char* name : {"pk", "sk", "a", "b"}) {
    v1::Attribute* attribute = request.mutable_item()->add_attributes();
    attribute->set_name(name);
    attribute->mutable_value()->set_s(name + std::to_string(item));
  }
  v1::Attribute* text = request.mutable_item()->add_attributes();
  text->set_name("text");
  text->mutable_value()->set_s(std::string(200, 'x'));
  return request;
}

struct Latency {
  double p50_us = 0;
  double p99_us = 0;
};

// A daemon with a connection to it.
struct DaemonOfTables {
  ServerProcess server;
  std::unique_ptr<v1::Data::Stub> data;
  std::unique_ptr<v1::Tables::Stub> tables;

  static absl::StatusOr<DaemonOfTables> Start(const std::string& directory) {
    // What the last one wrote must not be read as this one's.
    std::filesystem::remove(directory + ".address");
    DaemonOfTables daemon;
    ITEMDB_ASSIGN_OR_RETURN(daemon.server,
                            StartItemdProcess(directory, /*durable=*/true, /*unix_socket=*/false));
    daemon.data = v1::Data::NewStub(daemon.server.channel);
    daemon.tables = v1::Tables::NewStub(daemon.server.channel);
    return daemon;
  }

  absl::Status Create(int table) {
    grpc::ClientContext context;
    v1::CreateTableReply reply;
    return ToStatus(tables->CreateTable(&context, TableRequest(table), &reply));
  }

  absl::Status Put(int table, int item) {
    grpc::ClientContext context;
    v1::PutItemReply reply;
    return ToStatus(data->PutItem(&context, PutRequest(table, item), &reply));
  }

  // One after another, over the first `count` tables in turn.
  absl::StatusOr<Latency> Puts(int tables_written, int puts) {
    std::vector<double> latencies;
    for (int i = 0; i < puts; ++i) {
      const Clock::time_point begin = Clock::now();
      ITEMDB_RETURN_IF_ERROR(Put(i % tables_written, i));
      latencies.push_back(SecondsSince(begin) * 1e6);
    }
    std::sort(latencies.begin(), latencies.end());
    return Latency{.p50_us = latencies[latencies.size() / 2],
                   .p99_us = latencies[latencies.size() * 99 / 100]};
  }
};

double WalMiB(const std::string& directory) {
  uintmax_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, error)) {
    if (entry.path().extension() == ".log") bytes += entry.file_size(error);
  }
  return static_cast<double>(bytes) / kBytesPerMiB;
}

}  // namespace

absl::Status RunTables(Session& session, const TablesOptions& options) {
  const std::string directory = session.scratch.NewPath();
  session.Progress("tables: puts into one table");
  ITEMDB_ASSIGN_OR_RETURN(DaemonOfTables daemon, DaemonOfTables::Start(directory));
  ITEMDB_RETURN_IF_ERROR(daemon.Create(0));
  ITEMDB_RETURN_IF_ERROR(daemon.Puts(1, options.puts / 10 + 1).status());
  ITEMDB_ASSIGN_OR_RETURN(Latency one, daemon.Puts(1, options.puts));

  session.Progress("tables: making " + std::to_string(options.tables));
  Clock::time_point begin = Clock::now();
  for (int table = 1; table < options.tables; ++table) {
    ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
    ITEMDB_RETURN_IF_ERROR(daemon.Create(table));
  }
  const double create_seconds = SecondsSince(begin);
  for (int table = 0; table < options.tables; ++table)
    ITEMDB_RETURN_IF_ERROR(daemon.Put(table, options.puts));
  ITEMDB_ASSIGN_OR_RETURN(ChildProcess::Memory memory, daemon.server.process->ReadMemory());
  session.Progress("tables: puts into all of them");
  ITEMDB_ASSIGN_OR_RETURN(Latency all, daemon.Puts(options.tables, options.puts));
  const double wal_mib = WalMiB(directory);
  daemon.server.process->Kill();
  daemon = DaemonOfTables();

  session.Progress("tables: starting again after SIGKILL");
  begin = Clock::now();
  ITEMDB_ASSIGN_OR_RETURN(daemon, DaemonOfTables::Start(directory));
  ITEMDB_RETURN_IF_ERROR(daemon.Put(options.tables - 1, 0));
  const double restart_seconds = SecondsSince(begin);
  daemon = DaemonOfTables();
  session.Progress("");
  RemoveAll(directory);

  TextTable table;
  table.title = std::to_string(options.tables) + " tables with 2 indexes each, each written to";
  table.columns = {"", "figure", "goal"};
  const auto add = [&](const std::string& name, double value, const std::string& goal) {
    table.rows.push_back({name, Figure(value), goal});
  };
  add("making them, s", create_seconds, "under " + Figure(kCreateGoalSeconds));
  add("RSS with all written once, MiB", static_cast<double>(memory.rss_kib) / kKiBPerMiB, "--memory + 200");
  add("WAL, MiB", wal_mib, "under " + Figure(kWalGoalMiB));
  add("first put after SIGKILL and start, s", restart_seconds, "under " + Figure(kRestartGoalSeconds));
  add("put p50, one table, us", one.p50_us, "");
  add("put p50, all tables, us", all.p50_us, "");
  add("put p99, one table, us", one.p99_us, "");
  add("put p99, all tables, us", all.p99_us, "at most " + Figure(kLatencyGoal) + " times that of one");
  session.report.Add(table, {ordered_json{{"figure", "tables"},
                                          {"tables", options.tables},
                                          {"create_seconds", create_seconds},
                                          {"rss_kib", memory.rss_kib},
                                          {"wal_mib", wal_mib},
                                          {"restart_seconds", restart_seconds},
                                          {"p50_us_one", one.p50_us},
                                          {"p50_us_all", all.p50_us},
                                          {"p99_us_one", one.p99_us},
                                          {"p99_us_all", all.p99_us}}});
  return absl::OkStatus();
}

}  // namespace itemdb::bench
