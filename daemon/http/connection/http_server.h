// The HTTP endpoint: addresses, threads, limits and shutdown.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "common/log/log.h"
#include "daemon/access/access_keys.h"
#include "daemon/access/tls_files.h"
#include "daemon/http/api/http_handler.h"
#include "daemon/process/listen_address.h"
#include "daemon/serving/listener.h"
#include "daemon/serving/serving_context.h"

namespace itemdb::http {

struct HttpContext;
class HttpSecrets;
struct HttpWorker;

// The defaults are for tests; the defaults of itemd are in daemon/config/settings.cc.
struct HttpServerOptions {
  // HOST:PORT only; at least one.
  std::vector<daemon::ListenAddress> addresses;
  // Connections are assigned to the threads in turn; 0: one thread per core.
  int threads = 2;
  // Open connections; further connections are closed at once.
  size_t max_connections = 4'096;
  // The time for a request to arrive, from its first byte on, and for the peer to read its reply.
  absl::Duration request_timeout = absl::Seconds(60);
  // The time for the TLS handshake.
  absl::Duration handshake_timeout = absl::Seconds(10);
  // Connections without requests for this long are closed; zero: never.
  absl::Duration idle_timeout = absl::ZeroDuration();
  // Required.
  common::Log log;
};

class HttpServer {
 public:
  // Listens on all addresses, or on none; accepts after Start(). `serving` is borrowed and must outlive the
  // server. UNAVAILABLE: listening on an address failed; the message names the address and the reason.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Open(daemon::ServingContext& serving,
                                                          HttpServerOptions options);

  // Calls Stop(). No call may be in flight: first close the gate of `serving`, Abort(), wait until it is
  // empty.
  ~HttpServer();

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // One for each address in the options, with the port that the kernel chose.
  const std::vector<std::string>& addresses() const { return listener_->addresses(); }

  // From now on requests must be signed with one of `keys`, on open connections too. Null, the initial value:
  // every well-formed signature is accepted. Thread-safe.
  void SetKeys(std::shared_ptr<const daemon::AccessKeys> keys);
  // From now on new connections use TLS with these certificates, which ReadTlsFiles() has checked; open
  // connections do not change. Before the first call connections do not use TLS. INTERNAL: OpenSSL refuses
  // the certificates; the previous ones stay in effect. Thread-safe.
  absl::Status SetCertificates(const daemon::TlsContent& content);

  // Serves `handler`, which is borrowed and must outlive the server. Called once.
  void Start(HttpHandler& handler);

  // From now on each connection closes after its next answer. Thread-safe.
  void BeginStop();
  // Closes connections without a call. Cancels the calls of all others; these connections close when the
  // answer is sent. Returns before that is done.
  void Abort();
  // Stops listening and ends the threads. May be called again.
  void Stop();

 private:
  HttpServer(daemon::ServingContext& serving, HttpServerOptions options);

  daemon::ServingContext& serving_;
  const HttpServerOptions options_;
  const std::unique_ptr<HttpSecrets> secrets_;
  std::unique_ptr<HttpContext> context_;
  std::vector<std::unique_ptr<HttpWorker>> workers_;
  std::unique_ptr<daemon::Listener> listener_;
};

}  // namespace itemdb::http
