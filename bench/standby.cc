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

// While puts are measured.
enum class Backups {
  kNone,
  // One, which copies at most kBoundOfBackups.
  kOne,
  kOneAfterAnother,
};
constexpr char kBoundOfBackups[] = "8MiB";

// A daemon, and its standby if it has one.
struct Setting {
  std::string name;
  ServerProcess primary;
  std::optional<ServerProcess> standby = std::nullopt;
  Backups makes_backups = Backups::kNone;
  int64_t backups = 0;
  std::vector<double> per_second = {};
  std::vector<double> p50_ms = {};
  std::vector<double> p99_ms = {};
  std::vector<double> cpu_us = {};
  // How long after the last answer the standby had everything.
  std::vector<double> behind_ms = {};
};

absl::Status MakeBackup(const ServerProcess& server) {
  grpc::ClientContext context;
  v1::DatabaseBackup backup;
  return ToStatus(v1::Admin::NewStub(server.channel)
                      ->CreateDatabaseBackup(&context, v1::CreateDatabaseBackupRequest(), &backup));
}

struct SettingParts {
  const char* name = nullptr;
  bool archive = false;
  Backups backups = Backups::kNone;
  bool standby = false;
  bool acknowledges = false;
};
constexpr SettingParts kSettings[] = {
    {.name = "alone"},
    {.name = "archive", .archive = true},
    {.name = "archive, backups", .archive = true, .backups = Backups::kOneAfterAnother},
    {.name = "archive, a backup, standby", .archive = true, .backups = Backups::kOne, .standby = true},
    {.name = "standby", .archive = true, .standby = true},
    {.name = "standby acknowledges", .archive = true, .standby = true, .acknowledges = true},
};
constexpr size_t kPromoted = 4;

absl::StatusOr<Setting> MakeSetting(Session& session, const SettingParts& parts) {
  const std::string name = parts.name;
  session.Progress("standby: starting " + name);
  const std::string directory = session.scratch.NewPath();
  std::vector<std::string> arguments;
  if (parts.archive) {
    arguments = {"--archive-directory", directory + ".archive", "--backup-directory", directory + ".backups"};
  }
  if (parts.backups == Backups::kOne) {
    arguments.push_back("--backup-bytes-per-second");
    arguments.push_back(kBoundOfBackups);
  }
  if (parts.acknowledges) arguments.push_back("--standby-acknowledge");
  Setting setting{.name = name, .primary = {}, .makes_backups = parts.backups};
  ITEMDB_ASSIGN_OR_RETURN(setting.primary, StartItemdWith(directory, arguments));
  if (parts.standby) {
    ITEMDB_RETURN_IF_ERROR(AwaitSuccess(session, [&] { return MakeBackup(setting.primary); }));
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
        Clock::time_point start = Clock::now();
        if (options.puts_per_second > 0) {
          start = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                              static_cast<double>(i) / options.puts_per_second));
          std::this_thread::sleep_until(start);
          if (stops) return;
        }
        if (!PutOrder(*stub, i % kWrittenOrders).ok()) failed = true;
        latencies_ms[static_cast<size_t>(caller)].push_back(SecondsSince(start) * 1e3);
      }
    });
  }
  if (setting->makes_backups != Backups::kNone) {
    callers.emplace_back([&] {
      do {
        if (!MakeBackup(setting->primary).ok()) failed = true;
        ++setting->backups;
      } while (!stops && setting->makes_backups == Backups::kOneAfterAnother);
    });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
  stops = true;
  for (std::thread& caller : callers) caller.join();
  const double seconds = SecondsSince(begin);
  if (failed) return absl::InternalError("a put or a backup failed (" + setting->name + ")");
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
  for (const SettingParts& parts : kSettings) {
    ITEMDB_ASSIGN_OR_RETURN(Setting setting, MakeSetting(session, parts));
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
  ITEMDB_ASSIGN_OR_RETURN(const double promotion_ms, MeasurePromotion(session, &settings[kPromoted]));
  session.Progress("");

  TextTable table;
  const std::string rate =
      options.puts_per_second == 0 ? "" : ", " + Figure(options.puts_per_second) + " a second,";
  table.title = "Durable puts of " + std::to_string(options.callers) + " callers" + rate +
                " through gRPC, with an archive, backups and a standby on the same machine";
  table.columns = {
      "", "puts/s", "p50 ms", "p99 ms", "p99 of alone", "server CPU us/put", "standby behind ms"};
  std::vector<ordered_json> lines;
  std::string backups;
  for (const Setting& setting : settings) {
    if (setting.backups > 0)
      backups += (backups.empty() ? "" : ", ") + std::to_string(setting.backups) + " (" + setting.name + ")";
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
                     {"put_rate", options.puts_per_second},
                     {"puts_per_second", ToJson(SpreadOf(setting.per_second))},
                     {"p50_ms", ToJson(SpreadOf(setting.p50_ms))},
                     {"p99_ms", ToJson(SpreadOf(setting.p99_ms))},
                     {"p99_of_alone", ToJson(SpreadOf(ratios))},
                     {"server_cpu_us", ToJson(SpreadOf(setting.cpu_us))}});
    if (has_standby) lines.back()["standby_behind_ms"] = ToJson(SpreadOf(setting.behind_ms));
  }
  table.notes = {"From kill -9 of a primary to the first answered write of its promoted standby: " +
                     Figure(promotion_ms) + " ms.",
                 "Backups made meanwhile: " + backups + "."};
  lines.push_back({{"figure", "promotion"}, {"milliseconds", promotion_ms}});
  session.report.Add(table, lines);
  return absl::OkStatus();
}

}  // namespace itemdb::bench
