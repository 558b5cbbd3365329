// Known defects of the gRPC that Debian packages, each by its number, as a peer without a library meets them:
// the process goes on, its memory stays bounded, and others are served.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>

#include "daemon/process/descriptor.h"
#include "tests/e2e/e2e_fixture.h"

namespace itemdb::e2e {
namespace {

// Types and flags of HTTP/2 frames.
constexpr char kHeaders = 1;
constexpr char kReset = 3;
constexpr char kSettings = 4;
constexpr char kPing = 6;
constexpr char kContinuation = 9;
constexpr char kEndHeaders = 4;

std::string BigEndian(uint32_t number, int bytes) {
  std::string text;
  while (bytes-- > 0) text += static_cast<char>(number >> (8 * bytes));
  return text;
}

std::string Frame(char type, char flags, uint32_t stream, const std::string& payload) {
  return BigEndian(static_cast<uint32_t>(payload.size()), 3) + type + flags + BigEndian(stream, 4) + payload;
}

// A length in HPACK's form (RFC 7541, 5.1), of seven bits at first.
std::string Length(size_t length) {
  if (length < 127) return std::string(1, static_cast<char>(length));
  std::string text(1, 127);
  for (length -= 127; length >= 128; length >>= 7) text += static_cast<char>(length % 128 | 128);
  return text + static_cast<char>(length);
}

// A header as a literal; `indexed`: the peer must remember it as number 62.
std::string Literal(const std::string& name, const std::string& value, bool indexed = false) {
  return std::string(1, indexed ? '\x40' : '\0') + Length(name.size()) + name + Length(value.size()) + value;
}

// The headers of a call that needs no request, with another value for one of them.
std::string CallHeaders(const std::string& changed = "", const std::string& value = "") {
  constexpr std::array<std::pair<const char*, const char*>, 6> kUsual = {
      {{":method", "POST"},
       {":scheme", "http"},
       {":path", "/itemdb.v1.Admin/GetStatus"},
       {":authority", "localhost"},
       {"content-type", "application/grpc"},
       {"te", "trailers"}}};
  std::string headers;
  bool is_usual = changed.empty();
  for (const auto& [name, usual] : kUsual) {
    is_usual = is_usual || name == changed;
    headers += Literal(name, name == changed ? value : usual);
  }
  return is_usual ? headers : headers + Literal(changed, value);
}

// An HTTP/2 connection whose bytes the test chooses.
class Peer {
 public:
  explicit Peer(uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return;
    Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(kSettings, 0, 0, ""));
  }

  // False: the connection has ended, or the peer took nothing for five seconds.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      pollfd ready = {.fd = socket_.get(), .events = POLLIN | POLLOUT, .revents = 0};
      if (poll(&ready, 1, 5'000) <= 0) return false;
      char received[65'536];
      // Otherwise the peer's replies could fill its side, and it would read nothing more.
      if ((ready.revents & POLLIN) != 0 && recv(socket_.get(), received, sizeof(received), MSG_DONTWAIT) == 0)
        return false;
      if ((ready.revents & POLLOUT) == 0) continue;
      const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno != EAGAIN) return false;
      if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  // Sends a block of headers in frames of at most 16 KiB.
  bool SendHeaders(uint32_t stream, std::string_view block) {
    char type = kHeaders;
    do {
      const std::string part(block.substr(0, 16'000));
      block.remove_prefix(part.size());
      if (!Send(Frame(type, block.empty() ? kEndHeaders : '\0', stream, part))) return false;
      type = kContinuation;
    } while (!block.empty());
    return true;
  }
  // Reads until the connection ends or nothing comes for a while.
  void Drain(int quiet_ms) {
    char received[65'536];
    pollfd ready = {.fd = socket_.get(), .events = POLLIN, .revents = 0};
    while (poll(&ready, 1, quiet_ms) > 0 && recv(socket_.get(), received, sizeof(received), 0) > 0) {
    }
  }

 private:
  daemon::Descriptor socket_;
};

class KnownDefects : public E2eTest {
 protected:
  void SetUp() override {
    const absl::Status started = daemon_.Start({"--memory", std::to_string(kSmallMemoryMib) + "MiB"});
    ASSERT_TRUE(started.ok()) << started;
    const std::string endpoint = daemon_.endpoint();
    port_ = static_cast<uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
  }
  void TearDown() override {
    // An address that attacked is shut out for a second; a client tries again.
    EXPECT_TRUE(OpenClient().GetStatus().ok()) << "others are served";
    EXPECT_LT(HighestRssMib(), kMaxRssMib);
    E2eTest::TearDown();
  }

  uint16_t port_ = 0;
};

// abort() on a wrong header if more headers than 8 KiB follow it.
TEST_F(KnownDefects, Cve2023_1428_WrongHeadersEndNoProcess) {
  constexpr std::pair<const char*, const char*> kWrong[] = {{":scheme", "gopher"},
                                                            {"te", "x"},
                                                            {"grpclb_client_stats", "x"},
                                                            {"content-type", "x"},
                                                            {":method", "X"},
                                                            {"grpc-timeout", "x"},
                                                            {"trace-bin", "!!!!"},
                                                            {"grpc-status", "x"},
                                                            {"grpc-encoding", "zz"},
                                                            {"grpc-previous-rpc-attempts", "x"},
                                                            {":status", "x"}};
  for (const auto& [name, value] : kWrong) {
    for (const size_t more : {100, 9'000, 20'000, 70'000}) {
      Peer peer(port_);
      peer.SendHeaders(1, CallHeaders(name, value) + Literal("pad", std::string(more, 'p')));
      peer.Drain(20);
      ASSERT_EQ(kill(daemon_.pid(), 0), 0) << name << " " << more;
    }
  }
}

// Streams that are reset at once do not count as open, but hold memory until they have been served.
TEST_F(KnownDefects, Cve2023_44487_ResetStreamsAreBoundedInMemory) {
  constexpr int kConnections = 4;
  constexpr uint32_t kStreams = 50'000;
  for (int i = 0; i < kConnections; ++i) {
    Peer peer(port_);
    const std::string headers = CallHeaders();
    bool open = true;
    for (uint32_t stream = 1; open && stream < 2 * kStreams;) {
      std::string bytes;
      for (int j = 0; j < 100; ++j, stream += 2) {
        bytes += Frame(kHeaders, kEndHeaders, stream, headers);
        bytes += Frame(kReset, 0, stream, BigEndian(8, 4));
      }
      open = peer.Send(bytes);
    }
  }
}

// Headers of a few bytes that stand for many (an HPACK bomb).
TEST_F(KnownDefects, Cve2023_33953_HeadersThatExpandAreBoundedInMemory) {
  Peer peer(port_);
  const std::string remembered = CallHeaders() + Literal("bomb", std::string(4'000, 'z'), /*indexed=*/true);
  bool open = peer.SendHeaders(1, remembered);
  for (uint32_t stream = 3; open && stream < 400; stream += 2)
    open = peer.SendHeaders(stream, CallHeaders() + std::string(100'000, '\xbe'));
}

// Lengths without an end, and headers without an end. gRPC reads such a length from its beginning with each
// frame, so the CPU time grows with the square of what is sent: docs/reliability.md.
TEST_F(KnownDefects, Cve2023_33953_EndlessHeadersAreBoundedInMemory) {
  constexpr size_t kBytes = 4 << 20;
  const std::string length = Frame(kContinuation, 0, 1, std::string(16'000, '\x80'));
  const std::string header = Frame(kContinuation, 0, 1, Literal("key", std::string(15'000, 'v')));
  for (const std::string& part : {length, header}) {
    Peer peer(port_);
    bool open = peer.Send(Frame(kHeaders, 0, 1, part == length ? "\x0f" : CallHeaders()));
    for (size_t sent = 0; open && sent < kBytes; sent += part.size()) open = peer.Send(part);
  }
}

// Each wants an answer that the peer may not read.
TEST_F(KnownDefects, Cve2019_9515_PingsAndSettingsAreBoundedInMemory) {
  Peer peer(port_);
  std::string both;
  for (int i = 0; i < 1'000; ++i)
    both += Frame(kSettings, 0, 0, "") + Frame(kPing, 0, 0, std::string(8, 'p'));
  bool open = true;
  for (int i = 0; open && i < 1'000; ++i) open = peer.Send(both);
  EXPECT_FALSE(open) << "the connection is ended";
}

}  // namespace
}  // namespace itemdb::e2e
