#include "bench/tables.h"

#include <grpcpp/client_context.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "bench/percentiles.h"
#include "bench/seconds.h"
#include "bench/server_processes.h"
#include "itemdb/v1/admin.grpc.pb.h"
#include "itemdb/v1/data.grpc.pb.h"
#include "itemdb/v1/tables.grpc.pb.h"

namespace itemdb::bench {
namespace {

using nlohmann::ordered_json;
constexpr double kBytesPerMiB = 1 << 20;
// The goals, for 10,000 tables.
constexpr double kDefinitionGoal = 2;
constexpr double kMemoryGoalKiB = 2;
constexpr double kRestartGoalSeconds = 0.5;
constexpr double kLatencyGoal = 1.1;
constexpr double kStatusGoalUs = 5'000;
// Number of tables that are created and deleted, one after another, to measure the latencies.
constexpr int kTimedDefinitions = 100;

std::string TableName(int table) { return "table" + std::to_string(10'000 + table); }

std::string IndexAttribute(int index) { return "i" + std::to_string(index); }

v1::CreateTableRequest TableRequest(int table, int indexes) {
  v1::CreateTableRequest request;
  request.set_table_name(TableName(table));
  request.set_billing_mode(v1::BILLING_MODE_PAY_PER_REQUEST);
  const auto add_key = [](auto* schema, const std::string& name, v1::KeyType type) {
    v1::KeySchemaElement* element = schema->Add();
    element->set_attribute_name(name);
    element->set_key_type(type);
  };
  const auto add_attribute = [&request](const std::string& name) {
    v1::AttributeDefinition* attribute = request.add_attribute_definitions();
    attribute->set_attribute_name(name);
    attribute->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_S);
  };
  add_attribute("pk");
  add_attribute("sk");
  add_key(request.mutable_key_schema(), "pk", v1::KEY_TYPE_HASH);
  add_key(request.mutable_key_schema(), "sk", v1::KEY_TYPE_RANGE);
  for (int i = 0; i < indexes; ++i) {
    add_attribute(IndexAttribute(i));
    v1::GlobalSecondaryIndex* index = request.add_global_secondary_indexes();
    index->set_index_name("by_" + IndexAttribute(i));
    add_key(index->mutable_key_schema(), IndexAttribute(i), v1::KEY_TYPE_HASH);
    add_key(index->mutable_key_schema(), "sk", v1::KEY_TYPE_RANGE);
    index->mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_ALL);
  }
  return request;
}

void SetText(const std::string& name, const std::string& text, v1::Item* item) {
  v1::Attribute* attribute = item->add_attributes();
  attribute->set_name(name);
  attribute->mutable_value()->set_s(text);
}

v1::PutItemRequest PutRequest(int table, int item, int indexes) {
  v1::PutItemRequest request;
  request.set_table_name(TableName(table));
  v1::Item* values = request.mutable_item();
  SetText("pk", "pk" + std::to_string(item), values);
  SetText("sk", "sk" + std::to_string(item), values);
  for (int i = 0; i < indexes; ++i)
    SetText(IndexAttribute(i), IndexAttribute(i) + std::to_string(item), values);
  SetText("text", std::string(200, 'x'), values);
  return request;
}

v1::GetItemRequest GetRequest(int table, int item) {
  v1::GetItemRequest request;
  request.set_table_name(TableName(table));
  SetText("pk", "pk" + std::to_string(item), request.mutable_key());
  SetText("sk", "sk" + std::to_string(item), request.mutable_key());
  return request;
}

// The latencies in microseconds of `call`, which is called with each number from 0 to `calls` - 1.
absl::StatusOr<Percentiles> Time(int calls, absl::FunctionRef<absl::Status(int)> call) {
  std::vector<double> latencies;
  for (int i = 0; i < calls; ++i) {
    const Clock::time_point begin = Clock::now();
    ITEMDB_RETURN_IF_ERROR(call(i));
    latencies.push_back(SecondsSince(begin) * 1e6);
  }
  return PercentilesOf(std::move(latencies));
}

// A daemon and a connection to it. Calls are made one after another.
struct DaemonOfTables {
  int indexes = 0;
  ServerProcess server;
  std::unique_ptr<v1::Data::Stub> data;
  std::unique_ptr<v1::Tables::Stub> tables;
  std::unique_ptr<v1::Admin::Stub> admin;

  static absl::StatusOr<DaemonOfTables> Start(const std::string& directory, int indexes) {
    // Remove the address file of the previous daemon, so that it is not read as that of the new one.
    std::filesystem::remove(directory + ".address");
    DaemonOfTables daemon;
    daemon.indexes = indexes;
    ITEMDB_ASSIGN_OR_RETURN(daemon.server,
                            StartItemdProcess(directory, /*durable=*/true, /*unix_socket=*/false));
    daemon.data = v1::Data::NewStub(daemon.server.channel);
    daemon.tables = v1::Tables::NewStub(daemon.server.channel);
    daemon.admin = v1::Admin::NewStub(daemon.server.channel);
    return daemon;
  }

  absl::Status Create(int table) {
    grpc::ClientContext context;
    v1::CreateTableReply reply;
    return ToStatus(tables->CreateTable(&context, TableRequest(table, indexes), &reply));
  }

  absl::Status Delete(int table) {
    grpc::ClientContext context;
    v1::DeleteTableRequest request;
    request.set_table_name(TableName(table));
    v1::DeleteTableReply reply;
    return ToStatus(tables->DeleteTable(&context, request, &reply));
  }

  absl::Status Put(int table, int item) {
    grpc::ClientContext context;
    v1::PutItemReply reply;
    return ToStatus(data->PutItem(&context, PutRequest(table, item, indexes), &reply));
  }

  absl::Status Get(int table, int item) {
    grpc::ClientContext context;
    v1::GetItemReply reply;
    return ToStatus(data->GetItem(&context, GetRequest(table, item), &reply));
  }

  absl::Status GetStatus() {
    grpc::ClientContext context;
    v1::GetStatusReply reply;
    return ToStatus(admin->GetStatus(&context, v1::GetStatusRequest(), &reply));
  }
};

// Latencies with a certain number of tables, in microseconds. Puts and gets go to all tables in turn.
struct Latencies {
  Percentiles create, drop, put, get, status;
};

absl::StatusOr<Latencies> TimeAll(DaemonOfTables& daemon, int tables, int calls) {
  Latencies latencies;
  ITEMDB_ASSIGN_OR_RETURN(latencies.put,
                          Time(calls, [&](int i) { return daemon.Put(i % tables, i / tables); }));
  ITEMDB_ASSIGN_OR_RETURN(latencies.get,
                          Time(calls, [&](int i) { return daemon.Get(i % tables, i / tables); }));
  ITEMDB_ASSIGN_OR_RETURN(latencies.create,
                          Time(kTimedDefinitions, [&](int i) { return daemon.Create(tables + i); }));
  ITEMDB_ASSIGN_OR_RETURN(latencies.drop,
                          Time(kTimedDefinitions, [&](int i) { return daemon.Delete(tables + i); }));
  ITEMDB_ASSIGN_OR_RETURN(latencies.status, Time(kTimedDefinitions, [&](int) { return daemon.GetStatus(); }));
  return latencies;
}

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
  session.Progress("tables: one");
  ITEMDB_ASSIGN_OR_RETURN(DaemonOfTables daemon, DaemonOfTables::Start(directory, options.indexes));
  ITEMDB_RETURN_IF_ERROR(daemon.Create(0));
  ITEMDB_RETURN_IF_ERROR(TimeAll(daemon, 1, options.puts / 10 + 1).status());
  ITEMDB_ASSIGN_OR_RETURN(Latencies one, TimeAll(daemon, 1, options.puts));
  const int64_t rss_kib_of_one = daemon.server.process->ReadMemory().rss_kib;

  session.Progress("tables: making " + std::to_string(options.tables));
  Clock::time_point begin = Clock::now();
  for (int table = 1; table < options.tables; ++table) {
    ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
    ITEMDB_RETURN_IF_ERROR(daemon.Create(table));
  }
  const double create_seconds = SecondsSince(begin);
  for (int table = 0; table < options.tables; ++table) ITEMDB_RETURN_IF_ERROR(daemon.Put(table, 0));
  const int64_t rss_kib = daemon.server.process->ReadMemory().rss_kib;
  session.Progress("tables: all of them");
  ITEMDB_ASSIGN_OR_RETURN(Latencies all, TimeAll(daemon, options.tables, options.puts));
  const double wal_mib = WalMiB(directory);
  daemon.server.process->Signal(SIGKILL);
  daemon = DaemonOfTables();

  session.Progress("tables: starting again after SIGKILL");
  begin = Clock::now();
  ITEMDB_ASSIGN_OR_RETURN(daemon, DaemonOfTables::Start(directory, options.indexes));
  ITEMDB_RETURN_IF_ERROR(daemon.Put(options.tables - 1, 0));
  const double restart_seconds = SecondsSince(begin);
  daemon = DaemonOfTables();
  session.Progress("");
  RemoveAll(directory);

  const double memory_kib =
      static_cast<double>(rss_kib - rss_kib_of_one) / ((options.tables - 1) * (1.0 + options.indexes));
  TextTable table;
  table.title = std::to_string(options.tables) + " tables with " + std::to_string(options.indexes) +
                " indexes each, each written to";
  table.columns = {"", "one table", "all tables", "goal"};
  const auto add = [&](const std::string& name, double figure_of_one, double figure,
                       const std::string& goal) {
    table.rows.push_back({name, Figure(figure_of_one), Figure(figure), goal});
  };
  const std::string definition_goal = "at most that of " + Figure(kDefinitionGoal) + " puts";
  const std::string latency_goal = "at most " + Figure(kLatencyGoal) + " times that of one";
  add("CreateTable p50, us", one.create.p50, all.create.p50, definition_goal);
  add("CreateTable p99, us", one.create.p99, all.create.p99, "");
  add("DeleteTable p50, us", one.drop.p50, all.drop.p50, definition_goal);
  add("DeleteTable p99, us", one.drop.p99, all.drop.p99, "");
  add("PutItem p50, us", one.put.p50, all.put.p50, latency_goal);
  add("PutItem p99, us", one.put.p99, all.put.p99, "");
  add("GetItem p50, us", one.get.p50, all.get.p50, latency_goal);
  add("GetItem p99, us", one.get.p99, all.get.p99, "");
  add("GetStatus p50, us", one.status.p50, all.status.p50, "at most " + Figure(kStatusGoalUs));
  const auto add_once = [&](const std::string& name, double figure, const std::string& goal) {
    table.rows.push_back({name, "", Figure(figure), goal});
  };
  add_once("making them, s", create_seconds, "");
  add_once("RSS a table or index more, KiB", memory_kib, "at most " + Figure(kMemoryGoalKiB));
  add_once("WAL, MiB", wal_mib, "");
  add_once("first put after SIGKILL and start, s", restart_seconds, "at most " + Figure(kRestartGoalSeconds));
  const auto microseconds = [](const Latencies& latencies) {
    return ordered_json{{"create_p50_us", latencies.create.p50}, {"create_p99_us", latencies.create.p99},
                        {"delete_p50_us", latencies.drop.p50},   {"delete_p99_us", latencies.drop.p99},
                        {"put_p50_us", latencies.put.p50},       {"put_p99_us", latencies.put.p99},
                        {"get_p50_us", latencies.get.p50},       {"get_p99_us", latencies.get.p99},
                        {"status_p50_us", latencies.status.p50}};
  };
  session.report.Add(table, {ordered_json{{"figure", "tables"},
                                          {"tables", options.tables},
                                          {"indexes", options.indexes},
                                          {"one", microseconds(one)},
                                          {"all", microseconds(all)},
                                          {"create_seconds", create_seconds},
                                          {"rss_kib", rss_kib},
                                          {"rss_kib_of_each", memory_kib},
                                          {"wal_mib", wal_mib},
                                          {"restart_seconds", restart_seconds}}});
  return absl::OkStatus();
}

}  // namespace itemdb::bench
