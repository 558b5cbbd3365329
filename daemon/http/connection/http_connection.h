// One connection of the HTTP endpoint: requests are read one after another, each is answered before the next
// is looked at, so that answers come in the order of requests. Everything here happens on the thread of the
// connection's worker; what the database answers elsewhere is posted there.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <unordered_set>

#include "daemon/http/api/http_handler.h"
#include "daemon/http/signature/signature_check.h"
#include "daemon/serving/calls.h"
#include "storage/base/mutex.h"

namespace itemdb {

using HttpClock = std::chrono::steady_clock;

// What may be replaced while connections are open: by files that were read again. Thread-safe.
class HttpSecrets {
 public:
  // Null: every well-formed signature is taken.
  std::shared_ptr<const SignatureCheck> signatures() const {
    MutexLock lock(mutex_);
    return signatures_;
  }
  // Null: connections do not speak TLS.
  std::shared_ptr<boost::asio::ssl::context> tls() const {
    MutexLock lock(mutex_);
    return tls_;
  }
  void set_signatures(std::shared_ptr<const SignatureCheck> signatures) {
    MutexLock lock(mutex_);
    signatures_ = std::move(signatures);
  }
  void set_tls(std::shared_ptr<boost::asio::ssl::context> tls) {
    MutexLock lock(mutex_);
    tls_ = std::move(tls);
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const SignatureCheck> signatures_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<boost::asio::ssl::context> tls_ ABSL_GUARDED_BY(mutex_);
};

// What all connections share.
struct HttpContext {
  HttpHandler& handler;
  Calls& calls;
  const HttpSecrets& secrets;
  HttpClock::duration handshake_timeout;
  // From the first byte of a request to its last, and of a reply; with TLS also until the first request.
  // max(): for ever.
  HttpClock::duration request_timeout;
  // Between requests.
  HttpClock::duration idle_timeout;
  // Replies end their connections.
  std::atomic<bool> stopping = false;
};

class HttpConnection;

// A thread and its connections. Everything but `io` belongs to the thread.
struct HttpWorker {
  explicit HttpWorker(HttpContext& shared) : context(shared) {}

  HttpContext& context;
  std::unordered_set<HttpConnection*> connections;
  boost::asio::io_context io{1};
  boost::asio::steady_timer ticker{io};
  std::thread thread;
};

class HttpConnection {
 public:
  virtual ~HttpConnection() = default;

  // Closes the connection when it has waited for its peer for too long.
  virtual void Tick(HttpClock::time_point now) = 0;
  // Cancels the call in flight; closes the connection unless an answer is still to come.
  virtual void Cut() = 0;
};

// Serves a connected socket, which it owns, with TLS where there are certificates. On the worker's thread.
void ServeHttp(HttpWorker& worker, boost::asio::ip::tcp::socket socket);

}  // namespace itemdb
