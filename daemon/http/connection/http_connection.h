// One connection of the HTTP endpoint. It answers each request before it parses the next one, so answers are
// sent in the order of the requests. A connection runs only on the thread of its worker; the database's
// answer from another thread is posted to that thread.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "daemon/http/api/http_handler.h"
#include "daemon/http/signature/signature_check.h"
#include "daemon/serving/serving_context.h"
#include "storage/base/mutex.h"

namespace itemdb::http {

using HttpClock = std::chrono::steady_clock;

// The access keys and certificates, which are replaced when their files change. Thread-safe.
class HttpSecrets {
 public:
  // Null: there are no keys, and every well-formed signature is accepted.
  std::shared_ptr<const SignatureCheck> signatures() const {
    storage::MutexLock lock(mutex_);
    return signatures_;
  }
  // Null: connections do not speak TLS.
  std::shared_ptr<boost::asio::ssl::context> tls() const {
    storage::MutexLock lock(mutex_);
    return tls_;
  }
  void set_signatures(std::shared_ptr<const SignatureCheck> signatures) {
    storage::MutexLock lock(mutex_);
    signatures_ = std::move(signatures);
  }
  void set_tls(std::shared_ptr<boost::asio::ssl::context> tls) {
    storage::MutexLock lock(mutex_);
    tls_ = std::move(tls);
  }

 private:
  mutable storage::Mutex mutex_;
  std::shared_ptr<const SignatureCheck> signatures_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<boost::asio::ssl::context> tls_ ABSL_GUARDED_BY(mutex_);
};

// The state that all connections share.
struct HttpContext {
  HttpHandler& handler;
  daemon::ServingContext& serving;
  const HttpSecrets& secrets;
  // Checks and parses large bodies, so that the other connections of a network thread need not wait. nullopt:
  // the network thread does it, as in the fuzzer.
  std::optional<boost::asio::thread_pool> large_bodies = std::nullopt;
  // The hosts of the addresses, as in a header Host: "127.0.0.2", "[::1]".
  const std::vector<std::string> local_hosts;
  // The time for the TLS handshake, for the head of a request, and until the first request begins; also
  // between two requests until one has been admitted. max(): no limit.
  HttpClock::duration handshake_timeout;
  // The time from the first byte of a request to its last, and for sending a reply. A peer that takes none of
  // its reply is cut off earlier while memory is short (CallMemory::ReplyPatience). max(): no limit.
  HttpClock::duration request_timeout;
  // The time between two requests once one has been admitted; max(): no limit.
  HttpClock::duration idle_timeout;
  // True: a connection closes after its next reply.
  std::atomic<bool> stopping = false;
};

// Who sends the requests of a connection.
struct HttpPeer {
  // As of PeerOf(): "ipv4:127.0.0.1:4711".
  std::string name;
  // The key of the last request that was admitted. Empty: no request was, or no keys are asked for.
  std::string key_id;
  // Of that key at the peer's address. Requests of this connection are counted here until their key is known.
  std::shared_ptr<daemon::CallMemory> memory;
};

class HttpConnection;

// A thread and its connections. Other threads may use only `io` and `context`.
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

  // Ends the connection or its request if the peer has exceeded a time limit.
  virtual void Tick(HttpClock::time_point now) = 0;
  // Cancels the call in flight, whose answer is still sent. Closes the connection at once if there is none.
  virtual void Abort() = 0;
};

// Serves a connected socket, with TLS if there are certificates. The connection owns the socket and itself.
// Called on the worker's thread.
void ServeHttp(HttpWorker& worker, boost::asio::ip::tcp::socket socket);

}  // namespace itemdb::http
