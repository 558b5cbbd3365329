// Endpoints of other programs than itemd: for each kind one clear sentence and exit code 5.
#include "tools/cli/endpoint_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

using ::testing::HasSubstr;

// Accepts connections on a loopback port and answers each first message with `answer`; if it is empty, sends
// nothing.
class FakeServer {
 public:
  enum class Behavior { kAnswer, kClose, kSilent };

  explicit FakeServer(Behavior behavior, std::string answer = "")
      : behavior_(behavior), answer_(std::move(answer)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_, 16), 0);
    socklen_t size = sizeof(address);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    endpoint_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    // A silent server need not accept connections.
    if (behavior_ != Behavior::kSilent) server_ = std::thread([this] { Serve(); });
  }

  ~FakeServer() {
    shutdown(listener_, SHUT_RDWR);
    if (server_.joinable()) server_.join();
    close(listener_);
  }

  const std::string& endpoint() const { return endpoint_; }

 private:
  void Serve() {
    while (true) {
      const int connection = accept(listener_, nullptr, nullptr);
      if (connection < 0) return;
      char bytes[1024];
      if (recv(connection, bytes, sizeof(bytes), 0) > 0 && behavior_ == Behavior::kAnswer) {
        send(connection, answer_.data(), answer_.size(), MSG_NOSIGNAL);
      }
      close(connection);
    }
  }

  const Behavior behavior_;
  const std::string answer_;
  int listener_ = -1;
  std::string endpoint_;
  std::thread server_;
};

constexpr char kHttpAnswer[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
const std::string kTlsAlert("\x15\x03\x01\x00\x02\x02\x46", 7);

TEST(EndpointProbe, TellsOtherServersApart) {
  std::string nobody;
  { nobody = FakeServer(FakeServer::Behavior::kSilent).endpoint(); }
  EXPECT_EQ(ProbeEndpoint(nobody), Listener::kNone) << "it has gone";
  const FakeServer http(FakeServer::Behavior::kAnswer, kHttpAnswer);
  EXPECT_EQ(ProbeEndpoint(http.endpoint()), Listener::kHttp1);
  const FakeServer tls(FakeServer::Behavior::kAnswer, kTlsAlert);
  EXPECT_EQ(ProbeEndpoint(tls.endpoint()), Listener::kTls);
  const FakeServer closing(FakeServer::Behavior::kClose);
  EXPECT_EQ(ProbeEndpoint(closing.endpoint()), Listener::kOther);
  const FakeServer other(FakeServer::Behavior::kAnswer, "220 mail.example ESMTP\r\n");
  EXPECT_EQ(ProbeEndpoint(other.endpoint()), Listener::kOther);
  const FakeServer silent(FakeServer::Behavior::kSilent);
  EXPECT_EQ(ProbeEndpoint(silent.endpoint()), Listener::kSilent);
  FakeDaemon daemon;
  EXPECT_EQ(ProbeEndpoint(daemon.endpoint()), Listener::kHttp2);
  EXPECT_EQ(ProbeEndpoint("no.such.host.invalid:1"), Listener::kNone);
  EXPECT_EQ(ProbeEndpoint("unix:/nonexistent"), Listener::kNone);
  EXPECT_EQ(ProbeEndpoint("unix:/" + std::string(200, 'x')), Listener::kNone);
}

TEST(EndpointProbe, SaysWhatListensThere) {
  const FakeServer http(FakeServer::Behavior::kAnswer, kHttpAnswer);
  const FakeServer tls(FakeServer::Behavior::kAnswer, kTlsAlert);
  const FakeServer closing(FakeServer::Behavior::kClose);
  const FakeServer silent(FakeServer::Behavior::kSilent);
  struct Row {
    const FakeServer& server;
    std::string says;
  };
  const Row rows[] = {{http, "the server there is an HTTP/1.1 server"},
                      {tls, "the server there expects TLS: name its certificate authority with --tls-ca"},
                      {closing, "closed the connection or speaks another protocol"},
                      {silent, "accepted the connection and sent nothing"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.says);
    const Outcome outcome = RunTool({"--endpoint", row.server.endpoint(), "--timeout", "2", "status"});
    EXPECT_EQ(outcome.exit_code, 5);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "itemctl: no itemd answers at " + row.server.endpoint() + ": " +
                               outcome.err.substr(outcome.err.find("the server there")));
    EXPECT_THAT(outcome.err, HasSubstr(row.says));
  }
}

TEST(EndpointProbe, SaysWhatListensAtAUrl) {
  FakeDaemon daemon;
  const FakeServer http(FakeServer::Behavior::kAnswer, kHttpAnswer);
  const FakeServer tls(FakeServer::Behavior::kAnswer, kTlsAlert);
  struct Row {
    std::string url;
    std::string says;
  };
  const Row rows[] = {
      {"http://" + daemon.endpoint(),
       "speaks gRPC, as itemd does at --listen; write " + daemon.endpoint() + "\n"},
      {"https://" + daemon.endpoint(),
       "speaks gRPC, as itemd does at --listen; write " + daemon.endpoint() + "\n"},
      {"https://" + http.endpoint(), "the server there does not use TLS: begin with http://\n"},
      {"http://" + tls.endpoint() + "/",
       "expects TLS: begin with https://; or, if it is an itemd's address of --listen, write " +
           tls.endpoint() + " and"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.url);
    const Outcome outcome = RunTool({"--endpoint", row.url, "--timeout", "5", "table", "list"});
    EXPECT_EQ(outcome.exit_code, 5);
    EXPECT_THAT(outcome.err, HasSubstr(row.says));
  }
}

TEST(EndpointProbe, SaysWhenTlsIsTooMuch) {
  FakeDaemon daemon;
  const Outcome outcome = RunTool({"--endpoint", daemon.endpoint(), "--tls", "--timeout", "5", "status"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("does not use TLS: remove the --tls options"));
}

TEST(TlsOptions, FilesThatAreNoneAreNamed) {
  for (const char* option : {"--tls-ca", "--tls-cert", "--tls-key"}) {
    SCOPED_TRACE(option);
    const Outcome outcome = RunTool({"--endpoint", "127.0.0.1:1", option, "/nonexistent/file", "status"});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("/nonexistent/"));
  }
}

}  // namespace
}  // namespace itemdb::tools
