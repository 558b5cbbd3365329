// The server: gRPC's services and the HTTP endpoint, addresses, limits and shutdown.
#pragma once

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/access/file_follower.h"
#include "daemon/access/tls_files.h"
#include "daemon/http/connection/http_server.h"
#include "daemon/process/listen_address.h"
#include "daemon/rpc/grpc_certificates.h"
#include "daemon/serving/calls.h"
#include "daemon/serving/listener.h"
#include "storage/database.h"

namespace itemdb {

// The defaults are those of tests; itemd's own stand in daemon/config/settings.cc.
struct ServerOptions {
  // At least one.
  std::vector<ListenAddress> addresses;
  // Permission bits of unix sockets.
  unsigned socket_permissions = 0660;
  // For every HOST:PORT, also of HTTP; unix sockets are never encrypted.
  std::optional<TlsOptions> tls;
  // Path of the key file that both protocols ask for keys of; empty: neither does.
  std::string access_keys;
  // How often the files of the two above are looked at for changes.
  absl::Duration reload_interval = absl::Seconds(10);
  // Connections at once; more are closed as they come.
  size_t max_connections = 4'096;
  // Calls in flight on one connection; peers hold back what is beyond.
  int max_calls_per_connection = 1'024;
  // Peers that have not begun to speak HTTP/2 after this long are cut off.
  absl::Duration handshake_timeout = absl::Seconds(10);
  // Connections without calls for this long are closed; zero: never.
  absl::Duration idle_timeout = absl::ZeroDuration();
  // What the daemon was given in all, in bytes; only told.
  uint64_t memory_bytes = 0;
  // Bytes of requests and replies in flight; beyond it calls are refused (CALLS_FULL).
  size_t call_bytes = 1 << 30;
  // Calls that take at least this long are logged; zero: none.
  absl::Duration slow_request = absl::ZeroDuration();
  // Bytes of gRPC's buffers. Beyond it gRPC makes peers wait and cancels calls.
  size_t transport_bytes = 512 << 20;
  // Of the HTTP endpoint; no addresses: there is none. What it has in common with the above is taken from
  // there.
  HttpServerOptions http;
  // Required.
  std::shared_ptr<spdlog::logger> log;
};

class Server {
 public:
  // Serves `database`, which is borrowed and must outlive the server, on all addresses, or on none.
  //
  // UNAVAILABLE: one of them cannot be listened on, or a certificate or key file cannot be read;
  // INVALID_ARGUMENT: one is not fit for use. The message names it and the reason.
  static absl::StatusOr<std::unique_ptr<Server>> Start(Database& database, ServerOptions options);

  // As Stop() with no patience.
  ~Server();

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Where the server can be reached, one per address asked for, with the ports the kernel chose.
  const std::vector<std::string>& addresses() const { return listener_->addresses(); }
  // The same of the HTTP endpoint.
  std::vector<std::string> http_addresses() const;

  // What requests and replies in flight take now, as counted.
  int64_t call_bytes() const { return calls_.memory->used_bytes(); }

  // Reports NOT_SERVING to health checks, takes no new calls, waits up to `patience` for those in flight,
  // then cancels them. Returns when the database has answered the last one. Called once.
  void Stop(std::chrono::milliseconds patience);
  // Ends the patience of a Stop() that runs on another thread, or of one to come.
  void HurryUp() { calls_.gate.Hurry(); }

 private:
  explicit Server(const ServerOptions& options);
  // Puts the files into effect, and keeps doing so. HTTP is open by then.
  absl::Status FollowFiles(const ServerOptions& options);

  // In order of construction: the listeners go first, then the server, the calls last.
  Calls calls_;
  std::vector<std::unique_ptr<grpc::Service>> services_;
  // Null without TLS.
  std::unique_ptr<GrpcCertificates> certificates_;
  std::unique_ptr<grpc::Server> server_;
  // Where gRPC takes connections: of HOST:PORT, and of unix sockets.
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> tcp_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> local_;
  std::unique_ptr<Listener> listener_;
  // Null without HTTP addresses.
  std::unique_ptr<HttpHandler> http_handler_;
  std::unique_ptr<HttpServer> http_;
  // Null when there are no files to follow.
  std::unique_ptr<FileFollower> files_;
};

}  // namespace itemdb
