// One connection of the HTTP endpoint: requests are read one after another, each is answered before the next
// is looked at, so that answers come in the order of requests. Everything here happens on the thread of the
// connection's worker; what the database answers elsewhere is posted there.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <unordered_set>

#include "daemon/calls.h"
#include "daemon/http/access_keys.h"
#include "daemon/http/http_handler.h"

namespace itemdb {

using HttpClock = std::chrono::steady_clock;

// What all connections share.
struct HttpContext {
  HttpHandler& handler;
  Calls& calls;
  // Null: every well-formed signature is taken.
  std::shared_ptr<const AccessKeys> keys;
  // From the first byte of a request to its last, and of a reply; max(): for ever.
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

// Serves a connected socket, which it owns. On the worker's thread.
void ServeHttp(HttpWorker& worker, boost::asio::ip::tcp::socket socket);

}  // namespace itemdb
