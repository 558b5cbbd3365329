// Start and stop of itemd as clients see it: health checks, the service manager, calls in flight.
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <thread>

#include "tests/e2e/e2e_fixture.h"
#include "tests/http/raw_http_client.h"
#include "tests/processes/raw_client.h"

namespace itemdb::e2e {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class ShutdownTest : public E2eTest {
 protected:
  // Creates a table whose check takes long.
  void FillWithLargeItems() {
    Client client = OpenClient();
    ASSERT_TRUE(client
                    .CreateTable({.table_name = "large",
                                  .attribute_definitions = {{"id", ScalarAttributeType::kString}},
                                  .key_schema = {{"id", KeyType::kHash}}})
                    .ok());
    for (int batch = 0; batch < 16; ++batch) {
      BatchWriteItemRequest request;
      for (int i = 0; i < 25; ++i) {
        request.writes.push_back(
            BatchPut{.table_name = "large",
                     .item = {{"id", std::to_string(batch * 25 + i)}, {"text", std::string(400'000, 'x')}}});
      }
      ASSERT_TRUE(client.BatchWriteItem(request).ok());
    }
  }

  // Starts a check of the database that has arrived at the daemon when this returns.
  std::future<absl::StatusOr<CheckDatabaseResult>> CheckInFlight() {
    Client client = OpenClient();
    EXPECT_TRUE(client.GetStatus().ok());
    auto check = std::async(std::launch::async, [client]() mutable { return client.CheckDatabase(); });
    EXPECT_TRUE(client.GetStatus().ok());
    return check;
  }
};

// Calls that are still running after --shutdown-timeout are cancelled, and the daemon ends cleanly.
TEST_F(ShutdownTest, CancelsWhatTakesLongerThanTheShutdownTimeout) {
  FillWithLargeItems();
  ASSERT_EQ(daemon_.Terminate(), 0);
  bool cancelled = false;
  for (int attempt = 0; attempt < 20 && !cancelled; ++attempt) {
    ASSERT_TRUE(daemon_.Start({"--shutdown-timeout", "0s"}).ok());
    auto check = CheckInFlight();
    EXPECT_EQ(daemon_.Terminate(), 0);
    cancelled = !check.get().ok();
  }
  EXPECT_TRUE(cancelled);
  ASSERT_TRUE(daemon_.Start().ok());
  ExpectCheckIsClean();
}

TEST_F(ShutdownTest, ASecondSignalEndsFasterAndJustAsCleanly) {
  FillWithLargeItems();
  ASSERT_EQ(daemon_.Terminate(), 0);
  bool cancelled = false;
  for (int attempt = 0; attempt < 20 && !cancelled; ++attempt) {
    ASSERT_TRUE(daemon_.Start({"--shutdown-timeout", "10m"}).ok());
    auto check = CheckInFlight();
    daemon_.Signal(SIGTERM);
    daemon_.Signal(SIGINT);
    EXPECT_EQ(daemon_.Wait(), 0);
    cancelled = !check.get().ok();
  }
  EXPECT_TRUE(cancelled);
  EXPECT_THAT(daemon_.log(), HasSubstr("stopping at once"));
  EXPECT_THAT(daemon_.log(), HasSubstr("stopped change_sequence=401"));
  ASSERT_TRUE(daemon_.Start().ok());
  ExpectCheckIsClean();
}

// Bytes of the write-ahead log, which a start replays.
uintmax_t LogBytes(const std::string& data_directory) {
  uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(data_directory + "/rocksdb"))
    if (file.path().extension() == ".log") bytes += file.file_size();
  return bytes;
}

TEST_F(ShutdownTest, LeavesNoLogToReplayUnlikeAKill) {
  const auto put = [this](const std::string& id) {
    Client client = OpenClient();
    return client.PutItem({.table_name = "large", .item = {{"id", id}, {"text", std::string(100'000, 'x')}}})
        .ok();
  };
  FillWithLargeItems();
  daemon_.Kill();
  EXPECT_GT(LogBytes(daemon_.data_directory()), 1'000'000u);
  ASSERT_TRUE(daemon_.Start().ok());
  ASSERT_TRUE(put("more"));
  ASSERT_EQ(daemon_.Terminate(), 0);
  EXPECT_LT(LogBytes(daemon_.data_directory()), 10'000u);
  ASSERT_TRUE(daemon_.Start().ok());
  ExpectCheckIsClean();
}

// A load balancer must see NOT_SERVING before calls are refused. The health watch is a stream; its second
// message is NOT_SERVING ("\x08\x02"). The check in flight is answered after that.
TEST_F(ShutdownTest, HealthTurnsNotServingFirst) {
  FillWithLargeItems();
  bool seen = false;
  for (int attempt = 0; attempt < 10 && !seen; ++attempt) {
    if (!daemon_.running()) {
      ASSERT_TRUE(daemon_.Start().ok());
    }
    auto check = CheckInFlight();
    daemon_.Signal(SIGTERM);
    const RawClient client(daemon_.endpoint());
    while (check.wait_for(std::chrono::seconds(0)) == std::future_status::timeout && !seen) {
      const RawReply health = client.Call("grpc.health.v1.Health/Check", "");
      seen = health.status.ok() && health.bytes == "\x08\x02";
    }
    EXPECT_THAT(check.get().status().code(), AnyOf(absl::StatusCode::kOk, absl::StatusCode::kUnavailable));
    EXPECT_EQ(daemon_.Wait(), 0);
  }
  EXPECT_TRUE(seen);
}

// Calls of both protocols are in flight when the signal comes: over HTTP a call whose reply is longer than
// the connection's buffers and is not read yet, over gRPC a check. Both are answered, new calls are refused
// over both protocols, and the daemon ends when all calls are answered.
TEST_F(ShutdownTest, AnswersWhatIsInFlightOverBothProtocols) {
  FillWithLargeItems();
  ASSERT_EQ(daemon_.Terminate(), 0);
  ASSERT_TRUE(daemon_
                  .Start({"--http-listen", "127.0.0.1:0", "--http-request-timeout", "10m",
                          "--shutdown-timeout", "10m"})
                  .ok());
  http::RawHttpClient busy(daemon_.http_endpoint()), waiting(daemon_.http_endpoint());
  std::string keys;
  for (int i = 0; i < 40; ++i)
    keys += std::string(i > 0 ? "," : "") + R"({"id":{"S":")" + std::to_string(i) + "\"}}";
  ASSERT_TRUE(
      busy.Send(http::PostRequest("BatchGetItem", R"({"RequestItems":{"large":{"Keys":[)" + keys + "]}}}")));
  const std::string beginning = busy.Read(15);
  EXPECT_EQ(beginning, "HTTP/1.1 200 OK");
  ASSERT_TRUE(waiting.Send(http::PostRequest("ListTables", "{}")));
  ASSERT_TRUE(waiting.ReadReply().has_value());
  auto check = CheckInFlight();
  const RawClient grpc(daemon_.endpoint());
  daemon_.Signal(SIGTERM);
  // Calls are refused as soon as the daemon has handled the signal.
  RawReply refused;
  do {
    refused = grpc.Call("itemdb.v1.Tables/ListTables", "");
  } while (refused.status.ok());
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  ASSERT_TRUE(waiting.Send(http::PostRequest("ListTables", "{}")));
  const auto refused_http = waiting.ReadReply().value_or(http::RawReply());
  EXPECT_EQ(refused_http.status, 503);
  EXPECT_THAT(refused_http.body, HasSubstr("itemd is stopping"));
  EXPECT_TRUE(waiting.IsClosed());

  const absl::StatusOr<CheckDatabaseResult> checked = check.get();
  // The check may have arrived just after the signal.
  EXPECT_THAT(checked.status().code(), AnyOf(absl::StatusCode::kOk, absl::StatusCode::kUnavailable))
      << checked.status();
  busy.Unread(beginning);
  const auto answered = busy.ReadReply().value_or(http::RawReply());
  EXPECT_GT(answered.body.size(), 15'000'000u);
  EXPECT_TRUE(answered.body.ends_with("}"));
  EXPECT_TRUE(busy.IsClosed());
  EXPECT_EQ(daemon_.Wait(), 0);
}

// The protocol of systemd for Type=notify: datagrams to the socket in NOTIFY_SOCKET.
TEST_F(ShutdownTest, TellsTheServiceManagerWhenItServesAndWhenItStops) {
  ASSERT_EQ(daemon_.Terminate(), 0);
  const std::string path = directory_.path() + "/notify";
  daemon::Descriptor manager(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(manager.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  setenv("NOTIFY_SOCKET", path.c_str(), 1);
  absl::Status started = daemon_.Start();
  unsetenv("NOTIFY_SOCKET");
  ASSERT_TRUE(started.ok()) << started;
  char text[64] = {};
  ASSERT_GT(recv(manager.get(), text, sizeof(text) - 1, 0), 0);
  EXPECT_STREQ(text, "READY=1");
  EXPECT_EQ(daemon_.Terminate(), 0);
  char last[64] = {};
  ASSERT_GT(recv(manager.get(), last, sizeof(last) - 1, MSG_DONTWAIT), 0);
  EXPECT_STREQ(last, "STOPPING=1");
}

}  // namespace
}  // namespace itemdb::e2e
