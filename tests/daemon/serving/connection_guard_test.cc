// Connections that their owner, gRPC in the daemon, does not end.
#include "daemon/serving/connection_guard.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include "daemon/process/descriptor.h"
#include "daemon/process/listen_address.h"

namespace itemdb::daemon {
namespace {

// Both ends of a TCP connection; the daemon owns `accepted`.
struct Pair {
  Descriptor client;
  Descriptor accepted;
  std::string peer() const { return PeerOf(accepted.get()); }
};

class ConnectionGuardTest : public ::testing::Test {
 protected:
  ConnectionGuardTest() {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener_.Reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_.get(), 16), 0);
    // Large enough for what the tests send without reading.
    int bytes = 4 << 20;
    setsockopt(listener_.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
  }

  static GuardOptions Options() {
    return {.keys = true,
            .unproven_time = std::chrono::hours(1),
            .unproven_bytes = 1 << 30,
            .unproven_connection_bytes = 1 << 30,
            .log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>())};
  }

  Pair Connect() {
    sockaddr_in address = {};
    socklen_t bytes = sizeof(address);
    getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &bytes);
    Pair pair{Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), Descriptor()};
    EXPECT_EQ(connect(pair.client.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    pair.accepted.Reset(accept(listener_.get(), nullptr, nullptr));
    admitted_ = guard_.Add(pair.accepted.get());
    return pair;
  }
  static void Send(const Pair& pair, size_t bytes) {
    const std::string text(bytes, 'x');
    EXPECT_EQ(send(pair.client.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes));
  }
  static bool Ended(const Pair& pair, int patience_ms) {
    pollfd event = {.fd = pair.client.get(), .events = POLLRDHUP, .revents = 0};
    return poll(&event, 1, patience_ms) > 0;
  }
  static constexpr int kPatienceMs = 60'000;

  Descriptor listener_;
  ConnectionGuard guard_;
  // Whether the guard took the last connection.
  bool admitted_ = false;
};

TEST_F(ConnectionGuardTest, EndsConnectionsWithoutAnAdmittedCall) {
  GuardOptions options = Options();
  options.unproven_time = std::chrono::milliseconds(300);
  guard_.Start(options);
  const Pair silent = Connect();
  const Pair proven = Connect();
  EXPECT_TRUE(guard_.awaits_proof());
  guard_.CallAdmitted(proven.peer());
  EXPECT_TRUE(Ended(silent, kPatienceMs));
  EXPECT_FALSE(Ended(proven, 0));
  // It is counted after its end.
  for (int i = 0; i < 1'000 && guard_.awaits_proof(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(guard_.awaits_proof());
  EXPECT_EQ(guard_.ended(), 1);
}

TEST_F(ConnectionGuardTest, EndsTheOldestOfThoseThatSendTooMuchTogether) {
  GuardOptions options = Options();
  options.unproven_bytes = 300 << 10;
  guard_.Start(options);
  const Pair oldest = Connect();
  const Pair next = Connect();
  const Pair silent = Connect();
  Send(oldest, 200 << 10);
  Send(next, 200 << 10);
  EXPECT_TRUE(Ended(oldest, kPatienceMs));
  EXPECT_FALSE(Ended(next, 100));
  EXPECT_FALSE(Ended(silent, 0));
}

TEST_F(ConnectionGuardTest, LetsOneConnectionSendALongCall) {
  GuardOptions options = Options();
  options.unproven_bytes = 100 << 10;
  options.unproven_connection_bytes = 500 << 10;
  guard_.Start(options);
  const Pair alone = Connect();
  Send(alone, 400 << 10);
  EXPECT_FALSE(Ended(alone, 100));
  Send(alone, 200 << 10);
  EXPECT_TRUE(Ended(alone, kPatienceMs));
}

TEST_F(ConnectionGuardTest, EndsUnprovenSendersWhenTheProcessIsTooLarge) {
  GuardOptions options = Options();
  options.resident_bytes = 1;
  guard_.Start(options);
  const Pair brief = Connect();
  const Pair sender = Connect();
  Send(brief, 1'000);
  Send(sender, 20'000);
  EXPECT_TRUE(Ended(sender, kPatienceMs));
  EXPECT_FALSE(Ended(brief, 100));
  // Its address gets no connection for a while.
  Connect();
  EXPECT_FALSE(admitted_);
  for (int i = 0; i < 1'000 && !admitted_; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    Connect();
  }
  EXPECT_TRUE(admitted_);
}

// gRPC's name of a peer with a link-local address has the scope, the socket's has not.
TEST_F(ConnectionGuardTest, KnowsPeersWhoseAddressesHaveAScope) {
  guard_.Start(Options());
  sockaddr_in6 address = {};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  socklen_t bytes = sizeof(address);
  const Descriptor listener(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (bind(listener.get(), reinterpret_cast<sockaddr*>(&address), bytes) != 0)
    GTEST_SKIP() << "this machine has no IPv6";
  ASSERT_EQ(listen(listener.get(), 1), 0);
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &bytes);
  const Descriptor client(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&address), bytes), 0);
  const Descriptor accepted(accept(listener.get(), nullptr, nullptr));
  ASSERT_TRUE(guard_.Add(accepted.get()));
  EXPECT_TRUE(guard_.awaits_proof());
  const std::string port = PeerOf(accepted.get()).substr(PeerOf(accepted.get()).rfind(':'));
  guard_.CallAdmitted("ipv6:%5B::1%25eth0%5D" + port);
  EXPECT_FALSE(guard_.awaits_proof());
}

// A health check of a load balancer comes and goes, and its address is that of all clients.
TEST_F(ConnectionGuardTest, ShutsOutNoAddressForBriefConnections) {
  GuardOptions options = Options();
  options.resident_bytes = 1;
  guard_.Start(options);
  for (int i = 0; i < 20; ++i) {
    Connect();
    EXPECT_TRUE(admitted_);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

TEST_F(ConnectionGuardTest, EndsConnectionsOfRefusedAndCancelledCalls) {
  GuardOptions options = Options();
  options.keys = false;
  guard_.Start(options);
  EXPECT_FALSE(guard_.awaits_proof());
  const Pair refused = Connect();
  const Pair cancelled = Connect();
  const Pair patient = Connect();
  for (int i = 0; i < 10; ++i) guard_.CallRefused(patient.peer());
  // Their deadlines pass at once.
  for (int i = 0; i < 100'000; ++i)
    guard_.CallCancelled(patient.peer(), ConnectionGuard::Clock::now() - std::chrono::seconds(1));
  // Many more than are forgiven while the loop runs.
  for (int i = 0; i < 100'000 && guard_.ended() == 0; ++i) guard_.CallRefused(refused.peer());
  for (int i = 0; i < 1'000'000 && guard_.ended() == 1; ++i)
    guard_.CallCancelled(cancelled.peer(), ConnectionGuard::Clock::now());
  EXPECT_TRUE(Ended(refused, kPatienceMs));
  EXPECT_TRUE(Ended(cancelled, kPatienceMs));
  EXPECT_FALSE(Ended(patient, 0));
}

// The number of a closed descriptor may be another connection's at once.
TEST_F(ConnectionGuardTest, NeverEndsAnotherConnectionWithTheSameDescriptor) {
  guard_.Start(Options());
  Pair closed = Connect();
  const std::string peer = closed.peer();
  const int fd = closed.accepted.get();
  const Pair other = Connect();
  ASSERT_GE(dup2(other.accepted.get(), fd), 0);
  for (int i = 0; i < 1'000; ++i) guard_.CallRefused(peer);
  EXPECT_FALSE(Ended(other, 100));
}

}  // namespace
}  // namespace itemdb::daemon
