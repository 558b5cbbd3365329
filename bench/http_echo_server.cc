#include "bench/http_echo_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "daemon/process/address_file.h"

namespace itemdb::bench {
namespace {

namespace net = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using net::ip::tcp;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, size_t reply_bytes) : socket_(std::move(socket)) {
    reply_.set(http::field::content_type, "application/x-amz-json-1.0");
    reply_.body().assign(reply_bytes, 'x');
    reply_.prepare_payload();
  }

  void Read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_, [self = shared_from_this()](error_code error, size_t) {
      if (!error) self->Write();
    });
  }

 private:
  void Write() {
    http::async_write(socket_, reply_, [self = shared_from_this()](error_code error, size_t) {
      if (!error) self->Read();
    });
  }

  tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> reply_;
};

// Accepts connections on the first io_context and assigns them to all io_contexts in turn.
class Acceptor {
 public:
  Acceptor(std::vector<std::unique_ptr<net::io_context>>& workers, size_t reply_bytes)
      : workers_(workers),
        acceptor_(*workers[0], tcp::endpoint(net::ip::address_v4::loopback(), 0)),
        reply_bytes_(reply_bytes) {}

  int port() const { return acceptor_.local_endpoint().port(); }

  void Accept() {
    net::io_context& worker = *workers_[next_++ % workers_.size()];
    acceptor_.async_accept(worker, [this, &worker](error_code error, tcp::socket socket) {
      if (!error) {
        error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        auto connection = std::make_shared<Connection>(std::move(socket), reply_bytes_);
        net::post(worker, [connection] { connection->Read(); });
      }
      Accept();
    });
  }

 private:
  std::vector<std::unique_ptr<net::io_context>>& workers_;
  tcp::acceptor acceptor_;
  const size_t reply_bytes_;
  size_t next_ = 0;
};

}  // namespace

absl::Status RunHttpEchoServer(const std::string& address_file, size_t reply_bytes) {
  std::vector<std::unique_ptr<net::io_context>> workers;
  std::vector<net::executor_work_guard<net::io_context::executor_type>> guards;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
    workers.push_back(std::make_unique<net::io_context>(1));
    guards.push_back(net::make_work_guard(*workers.back()));
  }
  Acceptor acceptor(workers, reply_bytes);
  acceptor.Accept();
  daemon::AddressFile file(address_file, 0600);
  ITEMDB_RETURN_IF_ERROR(file.Write({}, {"127.0.0.1:" + std::to_string(acceptor.port())}));
  std::vector<std::thread> threads;
  for (const auto& worker : workers) threads.emplace_back([&worker] { worker->run(); });
  for (std::thread& thread : threads) thread.join();
  return absl::InternalError("the echo server ran out of work");
}

}  // namespace itemdb::bench
