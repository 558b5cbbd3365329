// An input is the bytes that a connection of the HTTP endpoint receives; the first byte says where they are
// split into two pieces. For any input the connection sends well-formed replies, none of them 5xx, and
// releases everything at the end.
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"
#include "daemon/http/connection/http_connection.h"
#include "daemon/process/descriptor.h"
#include "storage/base/check.h"

namespace itemdb::fuzz {
namespace {

// Answers every operation with the length of its body.
class LengthHandler : public http::HttpHandler {
 public:
  std::optional<http::HttpOperation> Find(std::string_view target) const override {
    if (!target.starts_with("DynamoDB_20120810.")) return std::nullopt;
    return http::HttpOperation{.name = "Length", .role = daemon::Role::kRead};
  }
  void Answer(const http::HttpOperation&, std::string body, daemon::Caller, storage::CancellationPtr,
              absl::AnyInvocable<void(http::JsonReply) &&> done) override {
    http::JsonReply reply;
    reply.body = std::to_string(body.size());
    std::move(done)(std::move(reply));
  }
};

std::string ReadAll(int fd) {
  std::string read;
  char buffer[65'536];
  ssize_t bytes;
  while ((bytes = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0)
    read.append(buffer, static_cast<size_t>(bytes));
  return read;
}

// Checks the replies one after another. A reply may be truncated if the socket was full.
void CheckReplies(std::string_view bytes) {
  while (!bytes.empty()) {
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    if (bytes.starts_with(kContinue)) {
      bytes.remove_prefix(kContinue.size());
      continue;
    }
    ITEMDB_CHECK(bytes.starts_with("HTTP/1.1 2") || bytes.starts_with("HTTP/1.1 4"));
    size_t end = bytes.find("\r\n\r\n");
    if (end == std::string_view::npos) return;
    constexpr std::string_view kLength = "\r\nContent-Length: ";
    size_t length = bytes.find(kLength);
    ITEMDB_CHECK(length < end);
    length += kLength.size();
    size_t body_bytes = 0;
    ITEMDB_CHECK(absl::SimpleAtoi(absl::string_view(bytes.data() + length, bytes.find('\r', length) - length),
                                  &body_bytes));
    bytes.remove_prefix(end + 4);
    // The reply to HEAD has the header Content-Length, but no body.
    if (bytes.substr(0, body_bytes).starts_with("HTTP/1.1 ")) continue;
    bytes.remove_prefix(std::min(body_bytes, bytes.size()));
  }
}

void Run(std::string_view first, std::string_view second) {
  static LengthHandler handler;
  static const http::HttpSecrets secrets;
  static daemon::ServingContext serving(
      64 << 20, absl::ZeroDuration(),
      std::make_shared<spdlog::logger>("fuzz", std::make_shared<spdlog::sinks::null_sink_mt>()));
  int pair[2];
  ITEMDB_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
  daemon::Descriptor client(pair[0]);
  {
    http::HttpContext context{.handler = handler,
                              .serving = serving,
                              .secrets = secrets,
                              .large_bodies = std::nullopt,
                              .local_hosts = {},
                              .handshake_timeout = http::HttpClock::duration::max(),
                              .request_timeout = http::HttpClock::duration::max(),
                              .idle_timeout = http::HttpClock::duration::max()};
    http::HttpWorker worker(context);
    boost::asio::ip::tcp::socket socket(worker.io);
    socket.assign(boost::asio::ip::tcp::v4(), pair[1]);
    http::ServeHttp(worker, std::move(socket));
    std::string replies;
    for (std::string_view piece : {first, second}) {
      // libFuzzer makes no input that is longer than the socket's buffer.
      send(client.get(), piece.data(), piece.size(), MSG_NOSIGNAL);
      worker.io.restart();
      worker.io.poll();
      replies += ReadAll(client.get());
    }
    CheckReplies(replies);
    client.Reset();
    worker.io.restart();
    worker.io.poll();
    ITEMDB_CHECK(worker.connections.empty());
  }
  ITEMDB_CHECK(serving.memory->used_bytes() == 0);
}

}  // namespace
}  // namespace itemdb::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  size_t split = bytes.size() * data[0] / 256;
  itemdb::fuzz::Run(bytes.substr(0, split), bytes.substr(split));
  return 0;
}
