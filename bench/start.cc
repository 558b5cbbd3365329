#include "bench/start.h"

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <chrono>
#include <future>
#include <thread>

#include "bench/order_data.h"
#include "bench/seconds.h"
#include "bench/server_processes.h"

namespace itemdb::bench {
namespace {

using nlohmann::ordered_json;

constexpr double kStartGoalMs = 100;
constexpr double kDevStartGoalMs = 50;
constexpr double kMemoryGoalMiB = 40;

// Makes a call and waits for the answer.
grpc::Status Ask(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                 const std::string& request) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  grpc::Slice slice(request);
  grpc::ByteBuffer request_bytes(&slice, 1), reply;
  std::promise<grpc::Status> answered;
  stub.UnaryCall(&context, method, grpc::StubOptions(), &request_bytes, &reply,
                 [&answered](grpc::Status status) { answered.set_value(std::move(status)); });
  return answered.get_future().get();
}

struct Server {
  std::string name;
  absl::StatusOr<ServerProcess> (*start)(const std::string& directory, bool unix_socket);
  // What it is asked: a method of gRPC, and the bytes of its request.
  std::string method;
  std::string request;
  std::vector<double> start_ms = {};
  e2e::ChildProcess::Memory idle = {};

  absl::Status Measure(Session& session, bool read_memory, double settle_seconds) {
    std::string directory = session.scratch.NewPath();
    Clock::time_point begin = Clock::now();
    ITEMDB_ASSIGN_OR_RETURN(ServerProcess server, start(directory, session.unix_socket));
    grpc::Status status = Ask(server.channel, method, request);
    start_ms.push_back(SecondsSince(begin) * 1e3);
    if (!status.ok()) return absl::InternalError(name + " answered: " + status.error_message());
    if (read_memory) {
      std::this_thread::sleep_for(std::chrono::duration<double>(settle_seconds));
      idle = server.process->ReadMemory();
    }
    server.process.reset();
    RemoveAll(directory);
    return absl::OkStatus();
  }
};

absl::StatusOr<ServerProcess> StartDurableItemd(const std::string& directory, bool unix_socket) {
  return StartItemdProcess(directory, /*durable=*/true, unix_socket);
}

std::string MiB(int64_t kib) { return kib < 0 ? "?" : Figure(static_cast<double>(kib) / kKiBPerMiB); }

}  // namespace

absl::Status RunStart(Session& session, const StartOptions& options) {
  // The first call in this process initialises gRPC, so a first start of the echo server is not counted.
  const std::string status = "/itemdb.v1.Admin/GetStatus";
  const Server echo{"echo", StartEchoProcess, "/itemdb.v1.Data/GetItem", GetOrderRequest(0)};
  Server warm_up = echo;
  ITEMDB_RETURN_IF_ERROR(warm_up.Measure(session, false, 0));

  Server servers[] = {
      {"itemd", StartDurableItemd, status, ""}, {"itemd dev", StartItemdDevProcess, status, ""}, echo};
  constexpr int kServers = std::size(servers);
  for (int round = 0; round < options.rounds; ++round) {
    for (int i = 0; i < kServers; ++i) {
      ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
      session.Progress("start round " + std::to_string(round + 1) + " of " + std::to_string(options.rounds));
      Server& server = servers[round % 2 == 0 ? i : kServers - 1 - i];
      ITEMDB_RETURN_IF_ERROR(server.Measure(session, round == options.rounds - 1, options.settle_seconds));
    }
  }
  session.Progress("");

  TextTable table;
  table.title = "Start on an empty directory, and memory after it";
  table.columns = {"", "first answer ms (min-max)", "idle RSS MiB", "of that anonymous", "idle PSS MiB"};
  std::vector<ordered_json> lines;
  for (const Server& server : servers) {
    Spread start = SpreadOf(server.start_ms);
    table.rows.push_back({server.name, Figure(start), MiB(server.idle.rss_kib),
                          MiB(server.idle.rss_anonymous_kib), MiB(server.idle.pss_kib)});
    lines.push_back({{"figure", "start"},
                     {"contender", server.name},
                     {"first_answer_ms", ToJson(start)},
                     {"idle_rss_kib", server.idle.rss_kib},
                     {"idle_rss_anonymous_kib", server.idle.rss_anonymous_kib},
                     {"idle_pss_kib", server.idle.pss_kib}});
  }
  table.notes.push_back("goals: first answer of itemd under " + Figure(kStartGoalMs) +
                        " ms, of itemd dev under " + Figure(kDevStartGoalMs) + " ms, idle RSS under " +
                        Figure(kMemoryGoalMiB) + " MiB");
  session.report.Add(table, lines);
  return absl::OkStatus();
}

}  // namespace itemdb::bench
