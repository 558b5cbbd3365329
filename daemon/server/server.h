// The server: the gRPC services and the HTTP endpoint, with their addresses, limits and shutdown.
#pragma once

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/log/log.h"
#include "daemon/access/audit_log.h"
#include "daemon/access/file_watcher.h"
#include "daemon/access/tls_files.h"
#include "daemon/access/watched_secrets.h"
#include "daemon/http/connection/http_server.h"
#include "daemon/process/listen_address.h"
#include "daemon/rpc/grpc_certificates.h"
#include "daemon/server/regional_handler.h"
#include "daemon/serving/listener.h"
#include "daemon/serving/serving_context.h"
#include "storage/base/background_thread.h"
#include "storage/database.h"

namespace itemdb::daemon {

// The defaults are for tests; the defaults of itemd are in daemon/config/settings.cc.
struct ServerOptions {
  // At least one.
  std::vector<ListenAddress> addresses;
  // Permission bits of unix sockets.
  unsigned socket_permissions = 0660;
  // For every HOST:PORT of gRPC and HTTP; unix sockets are never encrypted.
  std::optional<TlsOptions> tls;
  // Path of the key file for both protocols; empty: callers need no key.
  std::string access_keys;
  // Null: there is no audit log. It gets refused calls and those that need the role admin, or all calls.
  std::shared_ptr<AuditLog> audit_log;
  bool audit_all_calls = false;
  // How often the files of `tls` and `access_keys` are read again.
  absl::Duration reload_interval = absl::Seconds(10);
  // Open connections, for gRPC and HTTP each; further connections are closed at once.
  size_t max_connections = 4'096;
  // Calls in flight on one gRPC connection; clients delay further calls.
  int max_calls_per_connection = 1'024;
  // A gRPC connection without TLS handshake and HTTP/2 preface after this time is closed.
  absl::Duration handshake_timeout = absl::Seconds(10);
  // Connections without calls for this long are closed; zero: never.
  absl::Duration idle_timeout = absl::ZeroDuration();
  // The value of --memory, in bytes; only returned by GetStatus.
  uint64_t memory_bytes = 0;
  // Bytes of requests and replies in flight; further calls are refused (CALLS_FULL).
  size_t call_bytes = 1 << 30;
  // Calls that take at least this long are logged; zero: none.
  absl::Duration slow_request = absl::ZeroDuration();
  // Null: calls are not traced.
  std::unique_ptr<Tracer> tracer;
  // Bytes of gRPC's buffers. When they are full gRPC makes peers wait and cancels calls.
  size_t transport_bytes = 512 << 20;
  // How long replies over HTTP show CREATING, UPDATING and ENABLING; zero: not at all.
  absl::Duration status_delay = absl::ZeroDuration();
  // Opens the database of another region than that of `database` (regional_handler.h); null: all regions have
  // the same tables.
  RegionalHandler::OpenRegion open_region;
  // The HTTP endpoint; without addresses there is none. Start() sets its max_connections, idle_timeout,
  // handshake_timeout and log from the fields of this struct.
  http::HttpServerOptions http;
  // Required.
  common::Log log;
};

class Server {
 public:
  // Serves `database` on all addresses, or on none. `database` is borrowed and must outlive the server.
  //
  // UNAVAILABLE: listening on an address failed, or a certificate or key file cannot be read.
  // INVALID_ARGUMENT: a certificate or key file is not valid. The message names the address or file and why.
  static absl::StatusOr<std::unique_ptr<Server>> Start(storage::Database& database, ServerOptions options);

  // Calls Stop() with a grace_period of zero, unless it was called before.
  ~Server();

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // One for each address in the options, with the port that the kernel chose.
  const std::vector<std::string>& addresses() const { return listener_->addresses(); }
  // The same for the HTTP endpoint.
  std::vector<std::string> http_addresses() const;

  // What its calls share, for the metrics page. Valid until the server is destroyed.
  ServingContext& serving() { return serving_; }

  // Bytes of requests and replies in flight, as counted by CallMemory.
  int64_t call_bytes() const { return serving_.memory->used_bytes(); }

  // Reads certificates and access keys again without waiting for `reload_interval`, and opens the audit log
  // again, all on other threads.
  // Thread-safe. Not called after Stop().
  void ReloadFiles();

  // Reports NOT_SERVING to health checks, refuses new calls but those of standbys, waits up to `grace_period`
  // for calls in flight, then cancels them, and answers writes that wait for a standby. Returns when the
  // database has answered the last call. Called once.
  void Stop(std::chrono::milliseconds grace_period);
  // Ends the wait of a Stop() that runs on another thread or begins later: it cancels the calls at once.
  void EndGracePeriod() { serving_.gate.EndGracePeriod(); }

 private:
  Server(storage::Database& database, ServerOptions& options);
  // Health checks are answered NOT_SERVING while the database is opened again after a write that failed, as
  // on the page /-/ready.
  void ReportHealth(const storage::Database& database);
  // Puts the certificate and key files into effect and starts `file_watcher_`. Called after `http_` is made.
  absl::Status WatchFiles(const ServerOptions& options);

  storage::Database& database_;
  // In order of construction: the listeners are destroyed first, then the server, then `serving_`.
  ServingContext serving_;
  std::vector<std::unique_ptr<grpc::Service>> services_;
  // Null without TLS.
  std::unique_ptr<GrpcCertificates> certificates_;
  std::unique_ptr<grpc::Server> server_;
  // They give accepted connections to gRPC: connections of HOST:PORT, and of unix sockets.
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> tcp_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> local_;
  std::unique_ptr<Listener> listener_;
  // Null without HTTP addresses.
  std::unique_ptr<http::HttpHandler> http_handler_;
  std::unique_ptr<http::HttpServer> http_;
  // Null without certificates and access keys.
  std::unique_ptr<FileWatcher> file_watcher_;
  storage::BackgroundThread health_;
};

}  // namespace itemdb::daemon
