// Calls when there is no daemon, or when it ends during a call.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "itemdb/client.h"
#include "tests/client/hang_up_daemon.h"
#include "tests/support/error_details.h"
#include "tests/support/fake_daemon.h"

namespace itemdb {
namespace {

using ::testing::HasSubstr;

// A client that makes one attempt; retry_test.cc tests retries.
Client OpenClient(const std::string& endpoint) {
  absl::StatusOr<Client> client = Client::Open({.endpoint = endpoint, .retry = {.max_attempts = 1}});
  EXPECT_TRUE(client.ok()) << client.status();
  return *client;
}

// A bound port on which no socket listens.
class RefusingPort {
 public:
  RefusingPort() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    socklen_t length = sizeof(address);
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length);
    endpoint_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~RefusingPort() { close(socket_); }
  const std::string& endpoint() const { return endpoint_; }

 private:
  const int socket_;
  std::string endpoint_;
};

TEST(ClientConnection, RefusesEndpointsItCannotUse) {
  for (const std::string endpoint : {"localhost", "127.0.0.1:", ":7420", "127.0.0.1:0", "127.0.0.1:65536",
                                     "127.0.0.1:7420x", "unix:relative", "unix:"}) {
    SCOPED_TRACE(endpoint);
    const absl::StatusOr<Client> client = Client::Open({.endpoint = endpoint});
    ASSERT_FALSE(client.ok());
    EXPECT_EQ(client.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(client.status().message(), HasSubstr(endpoint));
  }
  EXPECT_FALSE(Client::Open({.endpoint = "127.0.0.1:7420", .timeout = absl::ZeroDuration()}).ok());
  EXPECT_FALSE(Client::Open({.endpoint = "127.0.0.1:7420", .retry = {.max_attempts = 0}}).ok());
  EXPECT_FALSE(
      Client::Open({.endpoint = "127.0.0.1:7420", .retry = {.initial_backoff = absl::ZeroDuration()}}).ok());
  EXPECT_EQ(OpenClient("unix:/run/itemdb/x.sock").endpoint(), "unix:/run/itemdb/x.sock");
  EXPECT_FALSE(DefaultEndpoint().empty());
}

// This program is not linked with client/http.
TEST(ClientConnection, SaysWhatIsMissingForAUrl) {
  const absl::Status status = Client::Open({.endpoint = "http://127.0.0.1:8000"}).status();
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("http://127.0.0.1:8000"));
  EXPECT_THAT(status.message(), HasSubstr("link itemdb_client_http"));
}

TEST(ClientConnection, RefusedConnectionIsUnavailableAndNamesTheEndpoint) {
  const RefusingPort port;
  const absl::Time start = absl::Now();
  for (const std::string& endpoint :
       {port.endpoint(), std::string("unix:/nonexistent-directory/itemd.sock")}) {
    SCOPED_TRACE(endpoint);
    Client client = OpenClient(endpoint);
    for (int i = 0; i < 2; ++i) {
      const absl::Status read = client.GetStatus().status();
      EXPECT_EQ(read.code(), absl::StatusCode::kUnavailable);
      EXPECT_EQ(ReasonOf(read), kReasonUnavailable);
      EXPECT_THAT(read.message(), HasSubstr(endpoint)) << read;
    }
    // Nothing was sent, so the outcome of a write is as certain as that of a read.
    const absl::Status write = client.PutItem({.table_name = "t", .item = {}}).status();
    EXPECT_EQ(write.code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(ReasonOf(write), kReasonUnavailable);
  }
  // A refused connection is reported at once, not at the deadline of 30 s.
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
}

// A write whose reply is lost has an unknown outcome (ERR-19).
TEST(ClientConnection, LostConnectionAfterSendingAWriteIsAnUnknownOutcome) {
  HangUpDaemon daemon;
  Client client = OpenClient(daemon.endpoint());
  const absl::Status status = client.PutItem({.table_name = "Product", .item = {{"a", 1}}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnknown) << status;
  EXPECT_EQ(ReasonOf(status), kReasonWriteOutcomeUnknown);
  EXPECT_THAT(status.message(), HasSubstr(daemon.endpoint()));
}

// The outcome of a write that is reset is unknown (ERR-19). gRPC maps HTTP/2 error codes to many gRPC codes,
// for example ENHANCE_YOUR_CALM to RESOURCE_EXHAUSTED.
TEST(ClientConnection, WriteThatIsResetIsAnUnknownOutcomeWhateverTheCode) {
  for (uint8_t http2_code = 0; http2_code <= 13; ++http2_code) {
    SCOPED_TRACE(static_cast<int>(http2_code));
    // Not tested: INADEQUATE_SECURITY becomes PERMISSION_DENIED, and gRPC itself retries after
    // REFUSED_STREAM.
    if (http2_code == 7 || http2_code == 12) continue;
    HangUpDaemon daemon(http2_code);
    Client client = OpenClient(daemon.endpoint());
    const absl::Status status = client.PutItem({.table_name = "Product", .item = {{"a", 1}}}).status();
    EXPECT_EQ(ReasonOf(status), kReasonWriteOutcomeUnknown) << status;
    EXPECT_TRUE(daemon.hung_up());
  }
}

// A status without details does not tell whether a write was applied (ERR-19).
TEST(ClientConnection, StatusWithoutDetailsLeavesAWriteUnknownUnlessItWasTurnedAway) {
  grpc::Status answer;
  FakeDaemon daemon;
  daemon.put_item = [&](const v1::PutItemRequest&, v1::PutItemReply*) { return answer; };
  daemon.get_item = [&](const v1::GetItemRequest&, v1::GetItemReply*) { return answer; };
  Client client = OpenClient(daemon.endpoint());
  for (const grpc::StatusCode code :
       {grpc::StatusCode::RESOURCE_EXHAUSTED, grpc::StatusCode::NOT_FOUND, grpc::StatusCode::OUT_OF_RANGE,
        grpc::StatusCode::FAILED_PRECONDITION, grpc::StatusCode::ALREADY_EXISTS}) {
    SCOPED_TRACE(code);
    answer = grpc::Status(code, "from somewhere");
    const absl::Status write = client.PutItem({.table_name = "t", .item = {}}).status();
    EXPECT_EQ(write.code(), absl::StatusCode::kUnknown) << write;
    EXPECT_EQ(ReasonOf(write), kReasonWriteOutcomeUnknown);
    EXPECT_THAT(write.message(), HasSubstr("from somewhere"));
    const absl::Status read = client.GetItem({.table_name = "t", .key = {}}).status();
    EXPECT_EQ(static_cast<int>(read.code()), static_cast<int>(code)) << read;
  }
  for (const grpc::StatusCode code :
       {grpc::StatusCode::UNIMPLEMENTED, grpc::StatusCode::UNAUTHENTICATED,
        grpc::StatusCode::PERMISSION_DENIED, grpc::StatusCode::INVALID_ARGUMENT}) {
    SCOPED_TRACE(code);
    answer = grpc::Status(code, "at the door");
    const absl::Status write = client.PutItem({.table_name = "t", .item = {}}).status();
    EXPECT_EQ(static_cast<int>(write.code()), static_cast<int>(code)) << write;
  }
}

// Only the daemon's own word says that a write was not applied; a proxy may send details too (ERR-19).
TEST(ClientConnection, DetailsOfAnotherDomainLeaveAWriteUnknown) {
  FakeDaemon daemon;
  std::string domain;
  daemon.put_item = [&](const v1::PutItemRequest&, v1::PutItemReply*) {
    const grpc::StatusCode code = grpc::StatusCode::RESOURCE_EXHAUSTED;
    return grpc::Status(code, "busy",
                        EncodeErrorDetails(code, "busy", {"SOME_REASON", domain, "SEM-001", 40}));
  };
  Client client = OpenClient(daemon.endpoint());
  for (domain = ""; domain != "itemdb"; domain = domain.empty() ? "example.com" : "itemdb") {
    const absl::Status status = client.PutItem({.table_name = "t", .item = {}}).status();
    EXPECT_EQ(ReasonOf(status), kReasonWriteOutcomeUnknown) << status;
  }
  const absl::Status status = client.PutItem({.table_name = "t", .item = {}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(ReasonOf(status), "SOME_REASON");
  EXPECT_EQ(RuleOf(status), "SEM-001");
  EXPECT_EQ(RetryAfterOf(status), absl::Milliseconds(40));
}

// A request that is too long for the daemon's gRPC is not applied. A write whose reply is too long is
// applied.
TEST(ClientConnection, TellsATooLongRequestFromATooLongReply) {
  v1::Data::Service never_reached;
  int port = 0;
  const std::unique_ptr<grpc::Server> strict =
      grpc::ServerBuilder()
          .SetMaxReceiveMessageSize(1'000)
          .AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port)
          .RegisterService(&never_reached)
          .BuildAndStart();
  const absl::Status refused = OpenClient("127.0.0.1:" + std::to_string(port))
                                   .PutItem({.table_name = "t", .item = {{"a", std::string(1'000, 'x')}}})
                                   .status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("larger than max"));

  FakeDaemon daemon;
  daemon.put_item = [](const v1::PutItemRequest&, v1::PutItemReply* reply) {
    v1::Attribute* attribute = reply->mutable_result()->mutable_attributes()->add_attributes();
    attribute->set_name(std::string(18 << 20, 'x'));
    return grpc::Status::OK;
  };
  const absl::Status applied =
      OpenClient(daemon.endpoint()).PutItem({.table_name = "t", .item = {{"a", 1}}}).status();
  EXPECT_EQ(ReasonOf(applied), kReasonWriteOutcomeUnknown) << applied;
}

TEST(ClientConnection, LostConnectionOnAReadIsUnavailable) {
  HangUpDaemon daemon;
  Client client = OpenClient(daemon.endpoint());
  const absl::Status status = client.GetItem({.table_name = "Product", .key = {{"a", 1}}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_EQ(ReasonOf(status), kReasonUnavailable);
}

TEST(ClientConnection, DeadlineOnAWriteIsAnUnknownOutcomeAndOnAReadIsNot) {
  absl::Notification release;
  FakeDaemon daemon;
  daemon.put_item = [&](const v1::PutItemRequest&, v1::PutItemReply*) {
    release.WaitForNotification();
    return grpc::Status::OK;
  };
  daemon.get_item = [&](const v1::GetItemRequest&, v1::GetItemReply*) {
    release.WaitForNotification();
    return grpc::Status::OK;
  };
  Client client = OpenClient(daemon.endpoint());
  const CallOptions soon{.timeout = absl::Milliseconds(200)};
  const absl::Status write = client.PutItem({.table_name = "t", .item = {}}, soon).status();
  EXPECT_EQ(write.code(), absl::StatusCode::kDeadlineExceeded) << write;
  EXPECT_EQ(ReasonOf(write), kReasonWriteOutcomeUnknown);
  const absl::Status read = client.GetItem({.table_name = "t", .key = {}}, soon).status();
  EXPECT_EQ(read.code(), absl::StatusCode::kDeadlineExceeded) << read;
  EXPECT_EQ(ReasonOf(read), kReasonDeadlineExceeded);
  release.Notify();
}

TEST(ClientConnection, WaitsForADaemonThatIsNotThereYet) {
  char directory[] = "/tmp/itemdb-client-test-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string endpoint = std::string("unix:") + directory + "/socket";
  Client client = OpenClient(endpoint);
  const absl::Status missing = client.WaitForReady(absl::Milliseconds(200));
  EXPECT_EQ(missing.code(), absl::StatusCode::kUnavailable) << missing;

  std::atomic<int> calls = 0;
  std::unique_ptr<FakeDaemon> daemon;
  std::thread starter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    daemon = std::make_unique<FakeDaemon>(endpoint);
    daemon->list_tables = [&](const v1::ListTablesRequest&, v1::ListTablesReply*) {
      // It recovers at first.
      return ++calls < 3
                 ? ErrorReply(grpc::StatusCode::UNAVAILABLE, "UNAVAILABLE", "the database is not open yet")
                 : grpc::Status::OK;
    };
  });
  const absl::Status ready = client.WaitForReady(absl::Seconds(60));
  EXPECT_TRUE(ready.ok()) << ready;
  EXPECT_GE(calls, 3);
  starter.join();
  daemon->list_tables = nullptr;
  EXPECT_EQ(client.WaitForReady(absl::Seconds(60)).code(), absl::StatusCode::kUnimplemented)
      << "what waiting does not help";
  daemon.reset();
  std::filesystem::remove_all(directory);
}

// The names are those that itemctl takes.
TEST(ClientConnection, OptionsComeFromTheEnvironment) {
  const std::vector<const char*> names = {"ITEMDB_ENDPOINT",          "ITEMDB_TLS_CA",
                                          "ITEMDB_TLS_CERT",          "ITEMDB_TLS_KEY",
                                          "ITEMDB_TLS_SERVER_NAME",   "ITEMDB_ACCESS_KEY_ID",
                                          "ITEMDB_SECRET_ACCESS_KEY", "ITEMDB_SECRET_ACCESS_KEY_FILE"};
  const auto clear = [&] {
    for (const char* name : names) unsetenv(name);
  };
  clear();
  absl::StatusOr<ClientOptions> options = OptionsFromEnvironment();
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->endpoint, "");
  EXPECT_FALSE(options->tls.has_value());

  setenv("ITEMDB_ENDPOINT", "db:1", 1);
  setenv("ITEMDB_TLS_SERVER_NAME", "db.example.com", 1);
  setenv("ITEMDB_ACCESS_KEY_ID", "AKX", 1);
  setenv("ITEMDB_SECRET_ACCESS_KEY", "secret", 1);
  options = OptionsFromEnvironment({.timeout = absl::Seconds(3)});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->endpoint, "db:1");
  ASSERT_TRUE(options->tls.has_value());
  EXPECT_EQ(options->tls->server_name, "db.example.com");
  EXPECT_EQ(options->access_key_id, "AKX");
  EXPECT_EQ(options->secret_access_key, "secret");
  EXPECT_EQ(options->timeout, absl::Seconds(3));
  // What the program says counts first.
  options = OptionsFromEnvironment({.endpoint = "own:2", .access_key_id = "OWN", .secret_access_key = "own"});
  EXPECT_EQ(options->endpoint, "own:2");
  EXPECT_EQ(options->secret_access_key, "own");

  char file[] = "/tmp/itemdb-client-secret-XXXXXX";
  const int descriptor = mkstemp(file);
  ASSERT_GE(descriptor, 0);
  setenv("ITEMDB_SECRET_ACCESS_KEY_FILE", file, 1);
  EXPECT_THAT(std::string(OptionsFromEnvironment().status().message()),
              ::testing::HasSubstr("holds no secret"));
  ASSERT_EQ(write(descriptor, "from the file\n", 14), 14);
  close(descriptor);
  EXPECT_EQ(OptionsFromEnvironment()->secret_access_key, "from the file");
  unlink(file);
  const absl::Status missing = OptionsFromEnvironment().status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(missing.message()), ::testing::HasSubstr(file));
  clear();
}

TEST(ClientConnection, OneClientServesManyThreads) {
  FakeDaemon daemon;
  daemon.get_status = [](const v1::GetStatusRequest&, v1::GetStatusReply* reply) {
    reply->set_version("1");
    return grpc::Status::OK;
  };
  Client client = OpenClient(daemon.endpoint());
  std::vector<std::thread> threads;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([client, &answered]() mutable {
      for (int call = 0; call < 25; ++call) answered += client.GetStatus().ok() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, 100);
}

TEST(ClientConnection, ReconnectsToADaemonThatWasRestarted) {
  char directory[] = "/tmp/itemdb-client-test-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string address = std::string("unix:") + directory + "/itemd.sock";
  const auto start = [&] {
    auto daemon = std::make_unique<FakeDaemon>(address);
    daemon->get_status = [](const v1::GetStatusRequest&, v1::GetStatusReply*) { return grpc::Status::OK; };
    return daemon;
  };
  std::unique_ptr<FakeDaemon> daemon = start();
  Client client = *Client::Open({.endpoint = daemon->endpoint(), .retry = {.max_attempts = 100}});
  EXPECT_TRUE(client.GetStatus().ok());
  daemon.reset();
  daemon = start();
  const absl::Status status = client.GetStatus().status();
  EXPECT_TRUE(status.ok()) << status;
  daemon.reset();
  std::filesystem::remove_all(directory);
}

TEST(ClientConnection, RefusesARequestTooLongForTheDaemonBeforeSendingIt) {
  FakeDaemon daemon;
  std::atomic<int> calls = 0;
  daemon.put_item = [&](const v1::PutItemRequest&, v1::PutItemReply* reply) {
    ++calls;
    reply->mutable_result();
    return grpc::Status::OK;
  };
  Client client = OpenClient(daemon.endpoint());
  EXPECT_TRUE(client.PutItem({.table_name = "t", .item = {{"a", std::string(16 << 20, 'x')}}}).ok());
  const absl::Status status =
      client.PutItem({.table_name = "t", .item = {{"a", std::string(17 << 20, 'x')}}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(ReasonOf(status), kReasonValidation);
  EXPECT_EQ(calls, 1);
}

TEST(ClientConnection, TakesAReplyOf16MiB) {
  FakeDaemon daemon;
  daemon.get_item = [&](const v1::GetItemRequest&, v1::GetItemReply* reply) {
    v1::Attribute* attribute = reply->mutable_item()->add_attributes();
    attribute->set_name("a");
    attribute->mutable_value()->set_s(std::string(16 << 20, 'x'));
    return grpc::Status::OK;
  };
  Client client = OpenClient(daemon.endpoint());
  const absl::StatusOr<GetItemResult> result = client.GetItem({.table_name = "t", .key = {}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->item->find_or_null("a")->string_or_null()->size(), size_t{16} << 20);
}

}  // namespace
}  // namespace itemdb
