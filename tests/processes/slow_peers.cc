#include "tests/processes/slow_peers.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "storage/base/check.h"

namespace itemdb::e2e {
namespace {

std::string Frame(char type, char flags, char stream, const std::string& payload) {
  const size_t bytes = payload.size();
  std::string frame = {static_cast<char>(bytes >> 16), static_cast<char>(bytes >> 8),
                       static_cast<char>(bytes)};
  frame += {type, flags, 0, 0, 0, stream};
  return frame + payload;
}

// A header as a literal without indexing (RFC 7541, 6.2.2).
std::string Literal(const std::string& name, const std::string& value) {
  std::string header(1, '\0');
  header += static_cast<char>(name.size());
  header += name;
  header += static_cast<char>(value.size());
  return header + value;
}

// The client's connection preface and an empty SETTINGS frame.
std::string Greeting() { return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(4, 0, 0, ""); }

// The beginning of a PutItem request of 1,000 bytes.
std::string BegunRequest() {
  const std::string headers = Literal(":method", "POST") + Literal(":scheme", "http") +
                              Literal(":path", "/itemdb.v1.Data/PutItem") +
                              Literal(":authority", "localhost") +
                              Literal("content-type", "application/grpc") + Literal("te", "trailers");
  return Frame(1, 4, 1, headers) + Frame(0, 0, 1, std::string("\0\0\0\x03\xe8", 5));
}

void Send(const daemon::Descriptor& socket, const std::string& bytes) {
  // Errors are ignored here: WasClosed finds closed connections.
  (void)send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Reads the received bytes and returns whether the server closed the connection.
bool WasClosed(const daemon::Descriptor& socket) {
  char bytes[4096];
  const ssize_t got = recv(socket.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN);
}

}  // namespace

SlowPeers::SlowPeers(uint16_t port, int count) : port_(port) {
  constexpr Kind kKinds[] = {Kind::kSilent, Kind::kIdle, Kind::kTrickling};
  for (int i = 0; i < count; ++i) peers_.push_back({kKinds[i % 3], daemon::Descriptor()});
  for (Peer& peer : peers_) Connect(peer);
  thread_ = std::thread([this] { Run(); });
}

SlowPeers::~SlowPeers() {
  stop_ = true;
  thread_.join();
}

void SlowPeers::Connect(Peer& peer) {
  peer.socket = daemon::Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ITEMDB_CHECK(connect(peer.socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  if (peer.kind != Kind::kSilent) Send(peer.socket, Greeting());
  if (peer.kind == Kind::kTrickling) Send(peer.socket, BegunRequest());
}

void SlowPeers::Run() {
  // Every connection sends at its own time within a second, as a thousand machines would.
  constexpr int kSlices = 100;
  constexpr std::chrono::milliseconds kSlice(10);
  std::chrono::steady_clock::time_point next_slice = std::chrono::steady_clock::now();
  for (size_t slice = 0; !stop_; slice = (slice + 1) % kSlices) {
    next_slice += kSlice;
    for (size_t i = slice; i < peers_.size(); i += kSlices) {
      if (peers_[i].kind == Kind::kTrickling) Send(peers_[i].socket, Frame(0, 0, 1, "x"));
      if (WasClosed(peers_[i].socket)) {
        ++closed_by_server_;
        Connect(peers_[i]);
      }
    }
    std::this_thread::sleep_until(next_slice);
  }
}

}  // namespace itemdb::e2e
