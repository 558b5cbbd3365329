// HTTP over TLS: which clients can connect, replaced certificates, how connections begin and end.
#include <gmock/gmock.h>

#include "tests/http/http_server_fixture.h"
#include "tests/support/test_certificates.h"

namespace itemdb::http {
namespace {

using ::testing::HasSubstr;

class HttpTlsTest : public HttpServerTest {
 protected:
  void StartTlsServer(bool clients_known = false) {
    auto server = HttpServer::Open(serving_, options_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    SetCertificates(authority_, clients_known);
    server_->Start(handler_);
  }
  void SetCertificates(const TestAuthority& authority, bool clients_known = false) {
    const TestCertificate identity = authority.Sign();
    const absl::Status set =
        server_->SetCertificates({.certificate = identity.certificate,
                                  .key = identity.key,
                                  .client_ca = clients_known ? authority.certificate() : ""});
    ASSERT_TRUE(set.ok()) << set;
  }
  static RawTls Trusting(const TestAuthority& authority, const TestCertificate& identity = {}) {
    return {.authority = authority.certificate(), .certificate = identity.certificate, .key = identity.key};
  }
  // The body of the answer to a request on `client`; "" if there is no answer.
  static std::string AskEcho(RawHttpClient& client, std::string_view body = "{}") {
    client.Send(PostRequest("Echo", body));
    return client.ReadReply().value_or(RawReply()).body;
  }

  TestAuthority authority_{"the right authority"};
  TestAuthority other_{"the wrong authority"};
};

TEST_F(HttpTlsTest, RequestsAreAnsweredOneAfterAnother) {
  StartTlsServer();
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    RawHttpClient client = Connect();
    RawTls tls = Trusting(authority_);
    tls.max_version = version;
    ASSERT_TRUE(client.StartTls(tls)) << version;
    const std::string large(3 << 20, 'x');
    for (std::string_view body : {std::string_view("{}"), std::string_view(large), std::string_view("")}) {
      EXPECT_EQ(AskEcho(client, body), body) << version;
    }
    client.Send(PostRequest("EchoLater", "1") + PostRequest("EchoLater", "2"));
    EXPECT_EQ(client.ReadReply().value_or(RawReply()).body, "1");
    EXPECT_EQ(client.ReadReply().value_or(RawReply()).body, "2");
  }
}

TEST_F(HttpTlsTest, AConnectionThatEndsSaysSo) {
  StartTlsServer();
  RawHttpClient client = Connect();
  ASSERT_TRUE(client.StartTls(Trusting(authority_)));
  client.Send(PostRequest("Echo", "{}", "Connection: close\r\n"));
  EXPECT_EQ(client.ReadReply().value_or(RawReply()).body, "{}");
  EXPECT_TRUE(client.IsClosed());
  EXPECT_TRUE(client.saw_close_notify());
}

TEST_F(HttpTlsTest, AnIdleConnectionThatEndsSaysSo) {
  options_.idle_timeout = absl::Milliseconds(100);
  StartTlsServer();
  RawHttpClient client = Connect();
  ASSERT_TRUE(client.StartTls(Trusting(authority_)));
  EXPECT_TRUE(client.IsClosed());
  EXPECT_TRUE(client.saw_close_notify());
}

TEST_F(HttpTlsTest, AConnectionThatNeverAsksIsNotKeptAsAnIdleOne) {
  options_.request_timeout = absl::Milliseconds(100);
  StartTlsServer();
  RawHttpClient client = Connect();
  ASSERT_TRUE(client.StartTls(Trusting(authority_)));
  EXPECT_TRUE(client.IsClosed());
}

// The request is answered before its body has arrived.
TEST_F(HttpTlsTest, ARequestThatIsRefusedByItsHeadHearsWhy) {
  StartTlsServer();
  RawHttpClient client = Connect();
  ASSERT_TRUE(client.StartTls(Trusting(authority_)));
  std::string request = PostRequest("Nothing", std::string(1 << 20, 'x'));
  client.Send(std::string_view(request).substr(0, 10'000));
  const RawReply reply = client.ReadReply().value_or(RawReply());
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.body, HasSubstr("UnknownOperationException"));
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(HttpTlsTest, AClientThatTrustsAnotherAuthorityDoesNotConnect) {
  StartTlsServer();
  RawHttpClient client = Connect();
  EXPECT_FALSE(client.StartTls(Trusting(other_)));
  RawHttpClient next = Connect();
  EXPECT_TRUE(next.StartTls(Trusting(authority_))) << "the server goes on";
}

TEST_F(HttpTlsTest, VersionsBefore12AreRefused) {
  StartTlsServer();
  for (int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    RawHttpClient client = Connect();
    RawTls tls = Trusting(authority_);
    tls.max_version = version;
    EXPECT_FALSE(client.StartTls(tls)) << version;
  }
}

TEST_F(HttpTlsTest, ARequestWithoutTlsHearsThatItMustHaveIt) {
  StartTlsServer();
  for (const std::string& request :
       {PostRequest("Echo", "{}"), std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n")}) {
    const RawReply reply = Ask(request);
    EXPECT_EQ(reply.status, 400);
    EXPECT_THAT(reply.body, HasSubstr("only HTTP over TLS is served here"));
    EXPECT_EQ(reply.headers.count("content-length"), 1u);
  }
}

TEST_F(HttpTlsTest, BytesThatAreNoHandshakeEndTheConnection) {
  StartTlsServer();
  for (std::string_view bytes : {std::string_view("hello, is this itemd?\r\n\r\n"),
                                 std::string_view("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", 10)}) {
    RawHttpClient client = Connect();
    client.Send(bytes);
    // The server may send an alert first.
    client.Read(1'000);
    EXPECT_TRUE(client.IsClosed());
  }
}

TEST_F(HttpTlsTest, AHandshakeThatTakesTooLongIsCutOff) {
  options_.handshake_timeout = absl::Milliseconds(200);
  StartTlsServer();
  RawHttpClient silent = Connect();
  RawHttpClient slow = Connect();
  slow.Send(std::string_view("\x16\x03\x01", 3));
  EXPECT_TRUE(silent.IsClosed());
  EXPECT_TRUE(slow.IsClosed());
}

TEST_F(HttpTlsTest, ClientsMustShowACertificateOfTheAuthority) {
  StartTlsServer(/*clients_known=*/true);
  const auto answer = [&](const TestCertificate& identity) {
    RawHttpClient client = Connect();
    // In TLS 1.3 the client may complete its handshake before it learns that it is refused.
    return client.StartTls(Trusting(authority_, identity)) ? AskEcho(client) : "";
  };
  EXPECT_EQ(answer({}), "") << "none";
  EXPECT_EQ(answer(other_.Sign({.name = "client"})), "") << "of another authority";
  EXPECT_EQ(answer(authority_.Sign({.name = "client", .valid_for = -absl::Hours(1)})), "") << "expired";
  EXPECT_EQ(answer(authority_.Sign({.name = "client"})), "{}");
}

TEST_F(HttpTlsTest, NewCertificatesAreForNewConnections) {
  StartTlsServer();
  RawHttpClient kept = Connect();
  ASSERT_TRUE(kept.StartTls(Trusting(authority_)));
  EXPECT_EQ(AskEcho(kept), "{}");
  SetCertificates(other_);
  EXPECT_EQ(AskEcho(kept), "{}") << "an open connection goes on";
  RawHttpClient renewed = Connect();
  ASSERT_TRUE(renewed.StartTls(Trusting(other_)));
  EXPECT_EQ(AskEcho(renewed), "{}");
  RawHttpClient outdated = Connect();
  EXPECT_FALSE(outdated.StartTls(Trusting(authority_)));
  // Certificates that cannot be used change nothing.
  EXPECT_FALSE(server_->SetCertificates({.certificate = "x", .key = "y", .client_ca = ""}).ok());
  RawHttpClient again = Connect();
  EXPECT_TRUE(again.StartTls(Trusting(other_)));
  EXPECT_EQ(AskEcho(kept), "{}");
}

TEST_F(HttpTlsTest, TheCallOfAClientThatLeavesIsCancelled) {
  StartTlsServer();
  RawHttpClient client = Connect();
  ASSERT_TRUE(client.StartTls(Trusting(authority_)));
  client.Send(PostRequest("Hold", "{}"));
  handler_.WaitUntilHeld(1);
  client.Reset();
  handler_.WaitUntilCancelled(1);
}

TEST_F(HttpTlsTest, AServerThatStopsAnswersCallsInFlightAndWaitsForNobody) {
  StartTlsServer();
  RawHttpClient idle = Connect(), silent = Connect(), calling = Connect();
  ASSERT_TRUE(idle.StartTls(Trusting(authority_)));
  ASSERT_TRUE(calling.StartTls(Trusting(authority_)));
  calling.Send(PostRequest("Hold", "{}"));
  handler_.WaitUntilHeld(1);
  server_->BeginStop();
  handler_.Release();
  EXPECT_EQ(calling.ReadReply().value_or(RawReply()).body, "{}");
  StopServer();
  EXPECT_TRUE(idle.IsClosed());
  EXPECT_TRUE(silent.IsClosed());
}

}  // namespace
}  // namespace itemdb::http
