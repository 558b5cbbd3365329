// The HTTP endpoint: addresses, threads, limits and shutdown.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "daemon/access/access_keys.h"
#include "daemon/access/tls_files.h"
#include "daemon/http/api/http_handler.h"
#include "daemon/process/listen_address.h"
#include "daemon/serving/calls.h"
#include "daemon/serving/listener.h"

namespace itemdb {

struct HttpContext;
class HttpSecrets;
struct HttpWorker;

// The defaults are those of tests; itemd's own stand in daemon/config/settings.cc.
struct HttpServerOptions {
  // HOST:PORT only; at least one.
  std::vector<ListenAddress> addresses;
  // Each serves its share of the connections; 0: as many as there are cores.
  int threads = 2;
  // Connections at once; more are closed as they come.
  size_t max_connections = 4'096;
  // How long a request may take to arrive from its first byte on, and the peer to take its reply.
  absl::Duration request_timeout = absl::Seconds(60);
  // For the handshake of TLS.
  absl::Duration handshake_timeout = absl::Seconds(10);
  // Connections without requests for this long are closed; zero: never.
  absl::Duration idle_timeout = absl::ZeroDuration();
  // Required.
  std::shared_ptr<spdlog::logger> log;
};

class HttpServer {
 public:
  // Listens on all addresses, or on none; nobody is served before Start(). `calls` is borrowed and must
  // outlive the server. UNAVAILABLE: an address cannot be listened on; the message names it and the reason.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Open(Calls& calls, HttpServerOptions options);

  // As Stop(). No call may be in flight: close the gate of `calls`, Cut(), and wait until it is empty.
  ~HttpServer();

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // One per address asked for, with the ports the kernel chose.
  const std::vector<std::string>& addresses() const { return listener_->addresses(); }

  // The keys that requests must be signed with from now on, also on connections that are open; null, as at
  // first: every well-formed signature is taken. Thread-safe.
  void SetKeys(std::shared_ptr<const AccessKeys> keys);
  // Connections that are made from now on speak TLS with these, as ReadTlsFiles examined them; those that are
  // open go on. Without it, none speaks TLS. INTERNAL: they cannot be used, and the last ones still are.
  // Thread-safe.
  absl::Status SetCertificates(const TlsContent& content);

  // Serves `handler`, which is borrowed and must outlive the server. Called once.
  void Start(HttpHandler& handler);

  // Every answer from now on ends its connection. Thread-safe.
  void BeginStop();
  // Closes connections without a call, cancels the calls of the others, and closes these soon after. Returns
  // before that is done.
  void Cut();
  // Stops listening and ends the threads. May be called again.
  void Stop();

 private:
  HttpServer(Calls& calls, HttpServerOptions options);

  Calls& calls_;
  const HttpServerOptions options_;
  const std::unique_ptr<HttpSecrets> secrets_;
  std::unique_ptr<HttpContext> context_;
  std::vector<std::unique_ptr<HttpWorker>> workers_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace itemdb
