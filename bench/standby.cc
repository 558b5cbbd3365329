#include "bench/standby.h"

#include <grpcpp/client_context.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/order_data.h"
#include "bench/percentiles.h"
#include "bench/seconds.h"
#include "bench/server_processes.h"
#include "itemdb/v1/admin.grpc.pb.h"
#include "itemdb/v1/data.grpc.pb.h"
#include "itemdb/v1/tables.grpc.pb.h"

namespace itemdb::bench {
namespace {

using nlohmann::ordered_json;
constexpr uint64_t kWrittenOrders = 20'000;
constexpr std::chrono::seconds kStandbyPatience(30);
constexpr std::chrono::milliseconds kLookInterval(1);

// Repeats `call` until it succeeds.
template <typename Call>
absl::Status AwaitSuccess(Session& session, Call call) {
  const Clock::time_point deadline = Clock::now() + kStandbyPatience;
  while (true) {
    ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
    absl::Status status = call();
    if (status.ok() || Clock::now() > deadline) return status;
    std::this_thread::sleep_for(kLookInterval);
  }
}

absl::StatusOr<v1::GetStatusReply> StatusOf(const ServerProcess& server) {
  grpc::ClientContext context;
  v1::GetStatusReply reply;
  ITEMDB_RETURN_IF_ERROR(
      ToStatus(v1::Admin::NewStub(server.channel)->GetStatus(&context, v1::GetStatusRequest(), &reply)));
  return reply;
}

absl::Status PutOrder(v1::Data::Stub& stub, uint64_t order) {
  v1::PutItemRequest request;
  if (!request.ParseFromString(PutOrderRequest(order)))
    return absl::InternalError("an order does not decode");
  grpc::ClientContext context;
  v1::PutItemReply reply;
  return ToStatus(stub.PutItem(&context, request, &reply));
}

// A daemon, and its standby if it has one.
struct Setting {
  std::string name;
  ServerProcess primary;
  std::optional<ServerProcess> standby = std::nullopt;
  std::vector<double> per_second = {};
  std::vector<double> p50_ms = {};
  std::vector<double> p99_ms = {};
  std::vector<double> cpu_us = {};
  // How long after the last answer the standby had everything.
  std::vector<double> behind_ms = {};
};

absl::StatusOr<Setting> MakeSetting(Session& session, const std::string& name, bool has_archive,
                                    bool has_standby, bool acknowledges) {
  session.Progress("standby: starting " + name);
  const std::string directory = session.scratch.NewPath();
  std::vector<std::string> arguments;
  if (has_archive) {
    arguments = {"--archive-directory", directory + ".archive", "--backup-directory", directory + ".backups"};
  }
  if (acknowledges) arguments.push_back("--standby-acknowledge");
  Setting setting{.name = name, .primary = {}};
  ITEMDB_ASSIGN_OR_RETURN(setting.primary, StartItemdWith(directory, arguments));
  if (has_standby) {
    ITEMDB_RETURN_IF_ERROR(AwaitSuccess(session, [&] {
      grpc::ClientContext context;
      v1::DatabaseBackup backup;
      return ToStatus(v1::Admin::NewStub(setting.primary.channel)
                          ->CreateDatabaseBackup(&context, v1::CreateDatabaseBackupRequest(), &backup));
    }));
    ITEMDB_ASSIGN_OR_RETURN(
        setting.standby, StartItemdWith(session.scratch.NewPath(), {"--standby", setting.primary.address}));
  }
  ITEMDB_RETURN_IF_ERROR(AwaitSuccess(session, [&] {
    grpc::ClientContext context;
    v1::CreateTableReply reply;
    const grpc::Status made =
        v1::Tables::NewStub(setting.primary.channel)->CreateTable(&context, OrderTableRequest(), &reply);
    return made.error_code() == grpc::StatusCode::ALREADY_EXISTS ? absl::OkStatus() : ToStatus(made);
  }));
  ITEMDB_RETURN_IF_ERROR(
      AwaitSuccess(session, [&] { return PutOrder(*v1::Data::NewStub(setting.primary.channel), 0); }));
  return setting;
}

absl::Status AwaitStandby(Session& session, const Setting& setting) {
  ITEMDB_ASSIGN_OR_RETURN(const v1::GetStatusReply primary, StatusOf(setting.primary));
  return AwaitSuccess(session, [&]() -> absl::Status {
    ITEMDB_ASSIGN_OR_RETURN(const v1::GetStatusReply standby, StatusOf(*setting.standby));
    return standby.change_sequence() >= primary.change_sequence() ? absl::OkStatus()
                                                                  : absl::UnavailableError("it is behind");
  });
}

absl::Status Measure(Session& session, const StandbyOptions& options, Setting* setting) {
  std::atomic<bool> stops = false;
  std::atomic<bool> failed = false;
  std::vector<std::vector<double>> latencies_ms(static_cast<size_t>(options.callers));
  const auto cpu = setting->primary.process->CpuTime();
  const Clock::time_point begin = Clock::now();
  std::vector<std::thread> callers;
  for (int caller = 0; caller < options.callers; ++caller) {
    callers.emplace_back([&, caller] {
      const auto stub = v1::Data::NewStub(setting->primary.channel);
      for (uint64_t i = static_cast<uint64_t>(caller); !stops; i += static_cast<uint64_t>(options.callers)) {
        const Clock::time_point start = Clock::now();
        if (!PutOrder(*stub, i % kWrittenOrders).ok()) failed = true;
        latencies_ms[static_cast<size_t>(caller)].push_back(SecondsSince(start) * 1e3);
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
  stops = true;
  for (std::thread& caller : callers) caller.join();
  const double seconds = SecondsSince(begin);
  if (failed) return absl::InternalError("a put failed (" + setting->name + ")");
  std::vector<double> all;
  for (const std::vector<double>& some : latencies_ms) all.insert(all.end(), some.begin(), some.end());
  const Percentiles percentiles = PercentilesOf(std::move(all));
  const auto puts = static_cast<double>(percentiles.count);
  setting->per_second.push_back(puts / seconds);
  setting->p50_ms.push_back(percentiles.p50);
  setting->p99_ms.push_back(percentiles.p99);
  setting->cpu_us.push_back(static_cast<double>((setting->primary.process->CpuTime() - cpu).count()) / 1e3 /
                            puts);
  if (!setting->standby.has_value()) return absl::OkStatus();
  const Clock::time_point end = Clock::now();
  ITEMDB_RETURN_IF_ERROR(AwaitStandby(session, *setting));
  setting->behind_ms.push_back(SecondsSince(end) * 1e3);
  return absl::OkStatus();
}

// From kill -9 of the primary to the first answered write of its standby.
absl::StatusOr<double> MeasurePromotion(Session& session, Setting* setting) {
  ITEMDB_RETURN_IF_ERROR(AwaitStandby(session, *setting));
  const Clock::time_point begin = Clock::now();
  setting->primary.process->Signal(SIGKILL);
  grpc::ClientContext context;
  v1::PromoteReply reply;
  ITEMDB_RETURN_IF_ERROR(ToStatus(
      v1::Admin::NewStub(setting->standby->channel)->Promote(&context, v1::PromoteRequest(), &reply)));
  ITEMDB_RETURN_IF_ERROR(PutOrder(*v1::Data::NewStub(setting->standby->channel), 1));
  return SecondsSince(begin) * 1e3;
}

}  // namespace

absl::Status RunStandby(Session& session, const StandbyOptions& options) {
  std::vector<Setting> settings;
  for (int i = 0; i < 4; ++i) {
    constexpr const char* kNames[] = {"alone", "archive", "standby", "standby acknowledges"};
    ITEMDB_ASSIGN_OR_RETURN(Setting setting, MakeSetting(session, kNames[i], i >= 1, i >= 2, i == 3));
    settings.push_back(std::move(setting));
  }
  for (int round = 0; round < options.rounds; ++round) {
    for (size_t i = 0; i < settings.size(); ++i) {
      ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
      session.Progress("standby: round " + std::to_string(round + 1));
      ITEMDB_RETURN_IF_ERROR(
          Measure(session, options, &settings[round % 2 == 0 ? i : settings.size() - 1 - i]));
    }
  }
  session.Progress("standby: promotion");
  ITEMDB_ASSIGN_OR_RETURN(const double promotion_ms, MeasurePromotion(session, &settings[2]));
  session.Progress("");

  TextTable table;
  table.title = "Durable puts of " + std::to_string(options.callers) +
                " callers through gRPC, with an archive and a standby on the same machine";
  table.columns = {
      "", "puts/s", "p50 ms", "p99 ms", "p99 of alone", "server CPU us/put", "standby behind ms"};
  std::vector<ordered_json> lines;
  for (const Setting& setting : settings) {
    std::vector<double> ratios;
    for (size_t round = 0; round < setting.p99_ms.size(); ++round)
      ratios.push_back(setting.p99_ms[round] / settings[0].p99_ms[round]);
    const bool has_standby = !setting.behind_ms.empty();
    table.rows.push_back({setting.name, Figure(SpreadOf(setting.per_second)),
                          Figure(SpreadOf(setting.p50_ms)), Figure(SpreadOf(setting.p99_ms)),
                          Figure(SpreadOf(ratios)), Figure(SpreadOf(setting.cpu_us)),
                          has_standby ? Figure(SpreadOf(setting.behind_ms)) : ""});
    lines.push_back({{"figure", "standby"},
                     {"setting", setting.name},
                     {"callers", options.callers},
                     {"puts_per_second", ToJson(SpreadOf(setting.per_second))},
                     {"p50_ms", ToJson(SpreadOf(setting.p50_ms))},
                     {"p99_ms", ToJson(SpreadOf(setting.p99_ms))},
                     {"p99_of_alone", ToJson(SpreadOf(ratios))},
                     {"server_cpu_us", ToJson(SpreadOf(setting.cpu_us))}});
    if (has_standby) lines.back()["standby_behind_ms"] = ToJson(SpreadOf(setting.behind_ms));
  }
  table.notes = {"From kill -9 of a primary to the first answered write of its promoted standby: " +
                 Figure(promotion_ms) + " ms."};
  lines.push_back({{"figure", "promotion"}, {"milliseconds", promotion_ms}});
  session.report.Add(table, lines);
  return absl::OkStatus();
}

}  // namespace itemdb::bench
