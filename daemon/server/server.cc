#include "daemon/server/server.h"

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <thread>

#include "daemon/http/api/json_handler.h"
#include "daemon/server/services.h"
#include "storage/base/limits.h"

namespace itemdb::daemon {
namespace {

constexpr std::chrono::milliseconds kHealthInterval{100};

// The names that a health check may contain, beside "" for the whole server.
constexpr const char* kServiceNames[] = {"itemdb.v1.Data",    "itemdb.v1.Tables",  "itemdb.v1.Backups",
                                         "itemdb.v1.Exports", "itemdb.v1.Imports", "itemdb.v1.BulkPuts",
                                         "itemdb.v1.Changes", "itemdb.v1.Admin",   "itemdb.v1.Replication"};

// A peer that vanished without closing its connection: gRPC pings after a minute of silence, and closes the
// connection after 20 seconds without an answer.
constexpr int kKeepaliveTimeMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;
// The shortest interval between pings of a client to which nothing is sent; gRPC disconnects a client at the
// third ping that comes sooner. Half of the shortest interval that our client accepts
// (client/grpc_transport.cc).
constexpr int kMinClientPingIntervalMs = 1'000;
constexpr size_t kMessagesAboveShare = 4;
// What gRPC reads from a connection at a time.
constexpr int kReadBytes = 32 << 10;
// The lame-duck time: how long new calls are still refused with UNAVAILABLE after the last call was answered.
// Later calls reach a gRPC server that shuts down: it cancels them, and the caller of a write cannot know
// whether it was applied. A client that calls all the time gets the refusal within a round trip and stops
// calling.
constexpr std::chrono::milliseconds kLameDuckTime(200);
// How long streams have to end with a status; then they are aborted.
constexpr std::chrono::milliseconds kStreamDrainTime(250);
// The time for sending the last replies after all calls are answered.
constexpr std::chrono::milliseconds kReplyDrainTime(500);

int Milliseconds(absl::Duration duration) {
  return static_cast<int>(
      std::min<int64_t>(absl::ToInt64Milliseconds(duration), std::numeric_limits<int>::max()));
}

void SetLimits(const ServerOptions& options, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(storage::kMaxMessageBytes);
  builder.SetMaxSendMessageSize(storage::kMaxMessageBytes);
  // gRPC inflates a compressed message before it checks its size, so a small message could take all memory.
  // Inflating is turned off, and clients are told that the server offers no compression.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, options.max_calls_per_connection);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, Milliseconds(options.handshake_timeout));
  if (options.idle_timeout > absl::ZeroDuration()) {
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, Milliseconds(options.idle_timeout));
  }
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kMinClientPingIntervalMs);
  // gRPC begins all calls that one read brings before it runs the first of them. With its default of 4 MiB a
  // connection that opens and resets streams had 40,000 calls in memory at a time.
  builder.AddChannelArgument(GRPC_ARG_TCP_READ_CHUNK_SIZE, kReadBytes);
  builder.AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kReadBytes);
  // More than its share by some messages of the greatest length, which ConnectionGuard does not let unproven
  // connections take: when gRPC's memory is used up it closes connections of everybody, and if connections
  // come and go meanwhile, gRPC 1.51 may use one that it has freed.
  grpc::ResourceQuota quota("itemd");
  quota.Resize(options.transport_bytes + kMessagesAboveShare * storage::kMaxMessageBytes);
  builder.SetResourceQuota(quota);
}

using grpc::experimental::ExternalConnectionAcceptor;

std::unique_ptr<ExternalConnectionAcceptor> AddAcceptor(
    grpc::ServerBuilder& builder, std::shared_ptr<grpc::ServerCredentials> credentials) {
  return builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, std::move(credentials));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(storage::Database& database, ServerOptions options) {
  std::unique_ptr<Server> server(new Server(database, options));
  ITEMDB_ASSIGN_OR_RETURN(server->listener_, Listener::Open(options.addresses, options.socket_permissions));
  if (!options.http.addresses.empty()) {
    options.http.max_connections = options.max_connections;
    options.http.idle_timeout = options.idle_timeout;
    options.http.handshake_timeout = options.handshake_timeout;
    options.http.log = options.log;
    ITEMDB_ASSIGN_OR_RETURN(server->http_, http::HttpServer::Open(server->serving_, options.http));
    const auto handler_of = [memory = server->serving_.memory.get(), address = server->http_->addresses()[0],
                             delay = options.status_delay](storage::Database& of) {
      return std::make_unique<http::JsonHandler>(of, *memory, address, absl::ToChronoMilliseconds(delay));
    };
    server->http_handler_ = handler_of(database);
    if (options.open_region != nullptr) {
      server->http_handler_ = std::make_unique<RegionalHandler>(std::move(server->http_handler_),
                                                                options.open_region, handler_of);
    }
  }
  std::shared_ptr<grpc::ServerCredentials> tcp_credentials = grpc::InsecureServerCredentials();
  ITEMDB_RETURN_IF_ERROR(server->WatchFiles(options));
  if (server->certificates_ != nullptr) tcp_credentials = server->certificates_->credentials();

  grpc::EnableDefaultHealthCheckService(true);
  server->services_.push_back(MakeDataService(database, server->serving_));
  server->services_.push_back(MakeTablesService(database, server->serving_));
  server->services_.push_back(MakeBackupsService(database, server->serving_));
  server->services_.push_back(MakeExportsService(database, server->serving_));
  server->services_.push_back(MakeImportsService(database, server->serving_));
  server->services_.push_back(MakeReplicationService(database, server->serving_));
  server->services_.push_back(MakeBulkPutsService(database, server->serving_));
  server->services_.push_back(MakeChangesService(database, server->serving_));
  server->services_.push_back(MakeAdminService(database, server->serving_,
                                               {.start_time_us = absl::ToUnixMicros(absl::Now()),
                                                .memory_bytes = static_cast<int64_t>(options.memory_bytes)}));
  std::vector<std::string> names(std::begin(kServiceNames), std::end(kServiceNames));
  names.emplace_back("grpc.health.v1.Health");
  for (auto& service : MakeReflectionServices(server->serving_, std::move(names)))
    server->services_.push_back(std::move(service));

  grpc::ServerBuilder builder;
  SetLimits(options, builder);
  for (const auto& service : server->services_) builder.RegisterService(service.get());
  server->tcp_ = AddAcceptor(builder, std::move(tcp_credentials));
  server->local_ = AddAcceptor(builder, grpc::InsecureServerCredentials());
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr) return absl::InternalError("gRPC did not start and gave no reason");
  for (const char* name : kServiceNames) {
    server->server_->GetHealthCheckService()->SetServingStatus(name, true);
  }
  server->ReportHealth(database);
  server->serving_.guard.Start(
      {.keys = !options.access_keys.empty(),
       .unproven_time = options.handshake_timeout > absl::ZeroDuration()
                            ? absl::ToChronoNanoseconds(options.handshake_timeout)
                            : ConnectionGuard::Clock::duration::max(),
       .unproven_bytes = static_cast<int64_t>(options.transport_bytes / 4),
       .unproven_connection_bytes = storage::kMaxMessageBytes + (1 << 20),
       .resident_bytes = options.memory_bytes > 0 ? static_cast<int64_t>(options.memory_bytes) : INT64_MAX,
       .log = options.log});
  server->listener_->Start(
      options.max_connections,
      [server = server.get()](int fd, int listener_fd, bool tcp) {
        if (tcp && !server->serving_.guard.Add(fd)) {
          close(fd);
          return;
        }
        ExternalConnectionAcceptor::NewConnectionParameters connection;
        connection.fd = fd;
        connection.listener_fd = listener_fd;
        (tcp ? server->tcp_ : server->local_)->HandleNewConnection(&connection);
      },
      options.log);
  if (server->http_ != nullptr) server->http_->Start(*server->http_handler_);
  return server;
}

absl::Status Server::WatchFiles(const ServerOptions& options) {
  std::vector<WatchedFiles> watched;
  if (options.tls.has_value()) {
    auto publish = [this](const TlsContent& content) -> absl::Status {
      // gRPC's go first because that can fail for lack of file descriptors: then nothing has changed.
      if (certificates_ == nullptr) {
        ITEMDB_ASSIGN_OR_RETURN(certificates_, GrpcCertificates::Make(content));
      } else {
        ITEMDB_RETURN_IF_ERROR(certificates_->Set(content));
      }
      return http_ == nullptr ? absl::OkStatus() : http_->SetCertificates(content);
    };
    ITEMDB_ASSIGN_OR_RETURN(watched.emplace_back(), WatchTlsFiles(*options.tls, publish));
  }
  if (!options.access_keys.empty()) {
    auto publish = [this](const std::shared_ptr<const AccessKeys>& keys) {
      serving_.authorizer.SetKeys(keys);
      if (http_ != nullptr) http_->SetKeys(keys);
    };
    ITEMDB_ASSIGN_OR_RETURN(watched.emplace_back(), WatchAccessKeys(options.access_keys, publish));
  }
  if (!watched.empty()) {
    file_watcher_ = std::make_unique<FileWatcher>(std::move(watched), options.reload_interval, options.log);
  }
  return absl::OkStatus();
}

Server::Server(storage::Database& database, ServerOptions& options)
    : database_(database), serving_(options.call_bytes, options.slow_request, options.log) {
  if (options.audit_log != nullptr)
    serving_.audit.SetFile(std::move(options.audit_log), options.audit_all_calls);
  serving_.tracer = std::move(options.tracer);
}

void Server::ReportHealth(const storage::Database& database) {
  health_.Start([this, &database] {
    for (bool serving = true; health_.WaitFor(kHealthInterval);) {
      if (database.IsWritable() == serving) continue;
      serving = !serving;
      server_->GetHealthCheckService()->SetServingStatus(serving);
    }
  });
}

std::vector<std::string> Server::http_addresses() const {
  return http_ == nullptr ? std::vector<std::string>() : http_->addresses();
}

Server::~Server() {
  if (server_ != nullptr) Stop(std::chrono::milliseconds(0));
}

void Server::ReloadFiles() {
  if (file_watcher_ != nullptr) file_watcher_->PollSoon();
  serving_.audit.Reopen();
}

void Server::Stop(std::chrono::milliseconds grace_period) {
  health_.Stop();
  server_->GetHealthCheckService()->Shutdown();
  if (http_ != nullptr) http_->BeginStop();
  serving_.gate.Close();
  serving_.streams.Stop();
  bool drained = serving_.gate.WaitUntilEmpty(std::min(grace_period, kStreamDrainTime));
  if (!drained) {
    serving_.streams.Abort();
    drained = serving_.gate.WaitUntilEmpty(grace_period - std::min(grace_period, kStreamDrainTime));
  }
  serving_.gate.CloseForStandbys();
  database_.EndStandbyWaits();
  if (drained) std::this_thread::sleep_for(std::min(grace_period, kLameDuckTime));
  // The listener stops before Shutdown(): gRPC does not close a connection that it is given afterwards.
  listener_->Stop();
  if (http_ != nullptr) http_->Abort();
  // Only replies being sent and gRPC's own streams (health watches) are left now.
  server_->Shutdown(std::chrono::system_clock::now() +
                    (drained ? kReplyDrainTime : std::chrono::milliseconds(0)));
  serving_.gate.WaitUntilEmpty();
  file_watcher_.reset();
  http_.reset();
  server_.reset();
}

}  // namespace itemdb::daemon
