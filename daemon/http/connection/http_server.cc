#include "daemon/http/connection/http_server.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "daemon/http/connection/http_connection.h"
#include "daemon/http/connection/http_tls.h"
#include "daemon/process/descriptor.h"

namespace itemdb::http {
namespace {

namespace net = boost::asio;
using boost::system::error_code;

// Deadlines are checked so often that a timeout is late by at most an eighth of itself.
constexpr int kTicksPerTimeout = 8;
constexpr std::chrono::milliseconds kMinTick(10);
constexpr std::chrono::milliseconds kMaxTick(250);

HttpClock::duration TimeLimit(absl::Duration configured) {
  return configured > absl::ZeroDuration() ? absl::ToChronoNanoseconds(configured)
                                           : HttpClock::duration::max();
}

HttpClock::duration TickInterval(const HttpContext& context) {
  HttpClock::duration shortest =
      std::min({context.handshake_timeout, context.request_timeout, context.idle_timeout});
  return std::clamp<HttpClock::duration>(shortest / kTicksPerTimeout, kMinTick, kMaxTick);
}

// `visit` may remove its own connection from the set.
template <typename Visit>
void ForEachConnection(HttpWorker& worker, Visit visit) {
  for (auto connection = worker.connections.begin(); connection != worker.connections.end();) {
    visit(**connection++);
  }
}

void Tick(HttpWorker& worker) {
  worker.ticker.expires_after(TickInterval(worker.context));
  worker.ticker.async_wait([&worker](error_code error) {
    if (error) return;
    ForEachConnection(worker, [now = HttpClock::now()](HttpConnection& connection) { connection.Tick(now); });
    Tick(worker);
  });
}

}  // namespace

HttpServer::HttpServer(daemon::ServingContext& serving, HttpServerOptions options)
    : serving_(serving), options_(std::move(options)), secrets_(std::make_unique<HttpSecrets>()) {}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Open(daemon::ServingContext& serving,
                                                             HttpServerOptions options) {
  std::unique_ptr<HttpServer> server(new HttpServer(serving, std::move(options)));
  constexpr unsigned kNoSocketFiles = 0;
  ITEMDB_ASSIGN_OR_RETURN(server->listener_,
                          daemon::Listener::Open(server->options_.addresses, kNoSocketFiles));
  return server;
}

void HttpServer::SetKeys(std::shared_ptr<const daemon::AccessKeys> keys) {
  secrets_->set_signatures(keys == nullptr ? nullptr : std::make_shared<SignatureCheck>(std::move(keys)));
}

absl::Status HttpServer::SetCertificates(const daemon::TlsContent& content) {
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<net::ssl::context> tls, MakeTlsContext(content));
  secrets_->set_tls(std::move(tls));
  return absl::OkStatus();
}

void HttpServer::Start(HttpHandler& handler) {
  std::vector<std::string> hosts;
  for (const std::string& address : addresses()) hosts.push_back(address.substr(0, address.rfind(':')));
  unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  // NOLINTNEXTLINE(modernize-make-unique): it cannot name fields.
  context_.reset(new HttpContext{.handler = handler,
                                 .serving = serving_,
                                 .secrets = *secrets_,
                                 .local_hosts = std::move(hosts),
                                 .handshake_timeout = TimeLimit(options_.handshake_timeout),
                                 .request_timeout = TimeLimit(options_.request_timeout),
                                 .idle_timeout = TimeLimit(options_.idle_timeout)});
  context_->large_bodies.emplace(std::max(1u, cores / 2));
  unsigned threads = options_.threads > 0 ? static_cast<unsigned>(options_.threads) : cores;
  for (unsigned i = 0; i < threads; ++i) workers_.push_back(std::make_unique<HttpWorker>(*context_));
  for (const auto& worker : workers_) {
    Tick(*worker);
    worker->thread = std::thread([&io = worker->io] { io.run(); });
  }
  listener_->Start(
      options_.max_connections,
      [this, next = size_t{0}](int fd, int, bool) mutable {
        HttpWorker& worker = *workers_[next++ % workers_.size()];
        net::post(worker.io, [&worker, descriptor = daemon::Descriptor(fd)]() mutable {
          net::ip::tcp::socket socket(worker.io);
          error_code error;
          // asio requires a protocol; v4() works for IPv6 sockets too, because only assign() uses it.
          socket.assign(net::ip::tcp::v4(), descriptor.get(), error);
          if (error) return;
          descriptor.Release();
          ServeHttp(worker, std::move(socket));
        });
      },
      options_.log);
}

void HttpServer::BeginStop() {
  if (context_ != nullptr) context_->stopping.store(true, std::memory_order_relaxed);
}

void HttpServer::Abort() {
  for (const auto& worker : workers_) {
    net::post(worker->io, [&worker = *worker] {
      ForEachConnection(worker, [](HttpConnection& connection) { connection.Abort(); });
    });
  }
}

void HttpServer::Stop() {
  if (listener_ != nullptr) listener_->Stop();
  for (const auto& worker : workers_) worker->io.stop();
  for (const auto& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.join();
  }
  // Nothing gives it work any more. Requests that it has checked get into the queue of their network thread,
  // and are destroyed with it.
  if (context_ != nullptr && context_->large_bodies.has_value()) context_->large_bodies->join();
}

HttpServer::~HttpServer() { Stop(); }

}  // namespace itemdb::http
