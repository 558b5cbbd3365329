// The metrics address: the console at /, /metrics for Prometheus, /-/healthy and /-/ready for programs that
// start and stop daemons. It serves from before the database is opened until the process ends.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/log/log.h"
#include "daemon/access/audit_log.h"
#include "daemon/access/file_watcher.h"
#include "daemon/http/connection/http_server.h"
#include "daemon/metrics/metrics_page.h"

namespace itemdb::daemon {

struct MetricsServerOptions {
  // HOST:PORT; at least one.
  std::vector<ListenAddress> addresses;
  std::optional<TlsOptions> tls;
  // Path of the key file; empty: /metrics needs no key.
  std::string access_keys;
  // Whether gRPC or HTTP is served at a HOST:PORT (ConsoleOptions::data_is_open).
  bool data_is_open = true;
  // How often the files of `tls` and `access_keys` are read again.
  absl::Duration reload_interval = absl::Seconds(10);
  ProcessFacts facts;
  // Null: there is none. `audit_all_calls` as of CallAudit::SetFile().
  std::shared_ptr<AuditLog> audit_log;
  bool audit_all_calls = false;
  // Required.
  common::Log log;
};

class MetricsHandler;

// Thread-safe.
class MetricsServer {
 public:
  // UNAVAILABLE: listening on an address failed, or a certificate or key file cannot be read.
  // INVALID_ARGUMENT: a certificate or key file is not valid. The message names the address or file and why.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(MetricsServerOptions options);
  ~MetricsServer();

  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // One for each address in the options, with the port that the kernel chose.
  const std::vector<std::string>& addresses() const { return http_->addresses(); }

  // The database is open and served, over gRPC and HTTP at these addresses. Database and `serving` are
  // borrowed until Detach().
  void Attach(storage::Database& database, ServingContext& serving,
              const std::vector<std::string>& grpc_addresses, const std::vector<std::string>& http_addresses);
  // From now on /-/ready says no: the daemon is stopping.
  void BeginStop();
  // Cancels the console's calls. Returns when no page and no call uses the database any more.
  void Detach();

  // Reads certificates and keys again.
  void ReloadFiles();

 private:
  explicit MetricsServer(const MetricsServerOptions& options);
  absl::Status WatchFiles(const MetricsServerOptions& options);

  // Only for connections of this address.
  ServingContext serving_;
  const std::unique_ptr<MetricsHandler> handler_;
  std::unique_ptr<http::HttpServer> http_;
  std::unique_ptr<FileWatcher> file_watcher_;
};

}  // namespace itemdb::daemon
