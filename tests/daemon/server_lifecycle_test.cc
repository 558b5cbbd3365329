// Addresses, health, callers that cancel, and the stop of the server.
#include <gmock/gmock.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <vector>

#include "tests/daemon/server_fixture.h"
#include "tests/support/power_loss_file_system.h"

namespace itemdb::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using ServerLifecycle = ServerTest;

// The database completes a write whose caller has cancelled; the call must still exist at that time.
TEST_F(ServerLifecycle, OutlivesCallersThatCancel) {
  ASSERT_TRUE(CreateTable("orders").ok());
  constexpr int kCalls = 200;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts(kCalls);
  std::vector<v1::PutItemRequest> requests(kCalls);
  std::vector<v1::PutItemReply> replies(kCalls);
  std::vector<std::promise<grpc::StatusCode>> done(kCalls);
  for (int i = 0; i < kCalls; ++i) {
    contexts[i] = std::make_unique<grpc::ClientContext>();
    requests[i].set_table_name("orders");
    *requests[i].mutable_item() = Key("a", std::to_string(i));
    data_->async()->PutItem(contexts[i].get(), &requests[i], &replies[i],
                            [&done, i](grpc::Status status) { done[i].set_value(status.error_code()); });
    contexts[i]->TryCancel();
  }
  for (int i = 0; i < kCalls; ++i) {
    EXPECT_THAT(done[i].get_future().get(),
                ::testing::AnyOf(grpc::StatusCode::CANCELLED, grpc::StatusCode::OK));
  }
  EXPECT_TRUE(Put("orders", Key("b", "after")).ok());
}

TEST_F(ServerLifecycle, ServesUnixSockets) {
  server_.reset();
  std::string address = "unix:" + directory_.path() + "/s";
  Start(address);
  EXPECT_THAT(server_->addresses(), ElementsAre(address));
  EXPECT_TRUE(CreateTable("orders").ok());
}

// If two daemons shared a port, half of the calls would reach the other daemon.
TEST_F(ServerLifecycle, RefusesAPortThatIsTaken) {
  auto second = Server::Start(*database_, OptionsFor(server_->addresses()[0]));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(storage::MessageOf(second.status()),
            "cannot listen on " + server_->addresses()[0] + ": another process uses this address");
  EXPECT_TRUE(CreateTable("orders").ok()) << "the first one goes on";
}

TEST_F(ServerLifecycle, RefusesASocketThatIsServed) {
  server_.reset();
  std::string address = "unix:" + directory_.path() + "/s";
  Start(address);
  auto second = Server::Start(*database_, OptionsFor(address));
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(storage::MessageOf(second.status()), HasSubstr("another process listens there"));
  EXPECT_TRUE(CreateTable("orders").ok());
}

// Field numbers of grpc.health.v1: request {string service = 1}, reply {status = 1; 1 = SERVING, 2 =
// NOT_SERVING}.
constexpr char kServing[] = "\x08\x01";
constexpr char kNotServing[] = "\x08\x02";

// The reply of grpc.health.v1.Health/Check.
std::string CheckHealth(const std::shared_ptr<grpc::Channel>& channel, const std::string& service) {
  grpc::GenericStub stub(channel);
  std::string request;
  if (!service.empty()) request = std::string("\x0a") + static_cast<char>(service.size()) + service;
  grpc::ClientContext context;
  grpc::Slice slice(request);
  grpc::ByteBuffer bytes(&slice, 1);
  grpc::ByteBuffer reply;
  std::promise<grpc::Status> done;
  stub.UnaryCall(&context, "/grpc.health.v1.Health/Check", {}, &bytes, &reply,
                 [&](grpc::Status status) { done.set_value(status); });
  const grpc::Status status = done.get_future().get();
  EXPECT_TRUE(status.ok()) << status.error_message();
  grpc::Slice flat;
  if (!status.ok() || !reply.DumpToSingleSlice(&flat).ok()) return "";
  return {flat.begin(), flat.end()};
}

TEST_F(ServerLifecycle, ReportsHealth) {
  for (const std::string service : {"", "itemdb.v1.Data"})
    EXPECT_EQ(CheckHealth(channel_, service), kServing);
}

TEST_F(ServerLifecycle, ReportsThatItDoesNotServeWhileItsLogCannotBeWritten) {
  server_.reset();
  database_.reset();
  const std::string root = directory_.path() + "/disk";
  std::filesystem::create_directory(root);
  const auto disk = std::make_shared<testing::PowerLossFileSystem>(root);
  disk->SetFreeSpace(200 << 20);
  storage::DatabaseOptions options;
  options.data_directory = root + "/data";
  options.free_space_floor_bytes = 0;
  options.file_system = disk;
  options.log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
  auto database = storage::Database::Open(std::move(options));
  ASSERT_TRUE(database.ok()) << database.status();
  database_ = *std::move(database);
  Start("127.0.0.1:0");
  ASSERT_TRUE(CreateTable("orders").ok());
  const auto await = [this](const char* health) {
    for (int i = 0; i < 3'000 && CheckHealth(channel_, "itemdb.v1.Data") != health; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(CheckHealth(channel_, "itemdb.v1.Data"), health);
    EXPECT_EQ(CheckHealth(channel_, ""), health);
  };
  // It cannot be opened again either.
  for (const auto operation :
       {testing::InjectedFault::Operation::kAppend, testing::InjectedFault::Operation::kCreateFile})
    disk->Inject({.operation = operation, .matches = nullptr, .times = 1'000'000});
  EXPECT_FALSE(CreateTable("more").ok());
  await(kNotServing);
  disk->ClearFaults();
  await(kServing);
}

TEST_F(ServerLifecycle, AnswersCallsInFlightWhenItStops) {
  ASSERT_TRUE(CreateTable("orders").ok());
  constexpr int kCalls = 200;
  std::vector<grpc::ClientContext> contexts(kCalls);
  std::vector<v1::PutItemRequest> requests(kCalls);
  std::vector<v1::PutItemReply> replies(kCalls);
  std::vector<std::promise<grpc::StatusCode>> done(kCalls);
  std::promise<void> first_answer;
  std::atomic<bool> answered = false;
  for (int i = 0; i < kCalls; ++i) {
    requests[i].set_table_name("orders");
    *requests[i].mutable_item() = Key("a", std::to_string(i));
    data_->async()->PutItem(&contexts[i], &requests[i], &replies[i], [&, i](grpc::Status status) {
      if (!answered.exchange(true)) first_answer.set_value();
      done[i].set_value(status.error_code());
    });
  }
  first_answer.get_future().wait();
  server_->Stop(std::chrono::seconds(60));
  int ok = 0;
  for (int i = 0; i < kCalls; ++i) {
    grpc::StatusCode code = done[i].get_future().get();
    // A call is either accepted and answered, or refused; while it shuts down, gRPC itself answers CANCELLED.
    EXPECT_THAT(code, ::testing::AnyOf(grpc::StatusCode::OK, grpc::StatusCode::UNAVAILABLE,
                                       grpc::StatusCode::CANCELLED));
    ok += code == grpc::StatusCode::OK;
  }
  EXPECT_GT(ok, 0);
  Start("127.0.0.1:0");
  grpc::ClientContext context;
  v1::ScanRequest scan;
  scan.set_table_name("orders");
  v1::ScanReply all;
  ASSERT_TRUE(data_->Scan(&context, scan, &all).ok());
  EXPECT_EQ(all.count(), ok) << "a write was done and its caller not told, or the reverse";
}

// A connection on which the client sends nothing is closed after the handshake timeout.
TEST_F(ServerLifecycle, ClosesConnectionsThatNeverSpeak) {
  server_.reset();
  ServerOptions options = OptionsFor("127.0.0.1:0");
  options.handshake_timeout = absl::Milliseconds(200);
  auto server = Server::Start(*database_, std::move(options));
  ASSERT_TRUE(server.ok()) << server.status();
  const SocketAddress target = ToSocketAddress(*ParseListenAddress((*server)->addresses()[0]));
  Descriptor silent(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(connect(silent.get(), target.get(), target.bytes), 0);
  // The server sends its SETTINGS frame and then closes the connection.
  pollfd event = {.fd = silent.get(), .events = POLLIN, .revents = 0};
  char bytes[1024];
  ssize_t got = 1;
  while (got > 0 && poll(&event, 1, 60'000) == 1) got = read(silent.get(), bytes, sizeof(bytes));
  EXPECT_LE(got, 0);
}

TEST_F(ServerLifecycle, ClosesConnectionsBeyondTheLimit) {
  server_.reset();
  ServerOptions options = OptionsFor("127.0.0.1:0");
  options.max_connections = 1;
  auto server = Server::Start(*database_, std::move(options));
  ASSERT_TRUE(server.ok()) << server.status();
  const auto call = [](const std::shared_ptr<grpc::Channel>& channel, bool wait) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    context.set_wait_for_ready(wait);
    v1::GetStatusReply reply;
    return v1::Admin::NewStub(channel)->GetStatus(&context, {}, &reply).error_code();
  };
  auto first = Connect((*server)->addresses()[0]);
  EXPECT_EQ(call(first, true), grpc::StatusCode::OK);
  auto second = Connect((*server)->addresses()[0]);
  EXPECT_EQ(call(second, false), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(call(first, true), grpc::StatusCode::OK);
  // After the first connection has ended, the second client, which retries, is accepted.
  first.reset();
  EXPECT_EQ(call(second, true), grpc::StatusCode::OK);
}

// Reads a server stream of raw messages until it ends.
class Watcher : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit Watcher(std::shared_ptr<grpc::Channel> channel) : stub_(std::move(channel)) {
    grpc::Slice nothing("");
    request_ = grpc::ByteBuffer(&nothing, 1);
    stub_.PrepareBidiStreamingCall(&context_, "/grpc.health.v1.Health/Watch", {}, this);
    StartWriteLast(&request_, grpc::WriteOptions());
    StartRead(&reply_);
    StartCall();
  }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    if (messages_++ == 0) first_message_.set_value();
    StartRead(&reply_);
  }
  void OnDone(const grpc::Status&) override { ended_.set_value(); }

  void WaitForFirstMessage() { first_message_.get_future().wait(); }
  void WaitForEnd() { ended_.get_future().wait(); }

 private:
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer reply_;
  int messages_ = 0;
  std::promise<void> first_message_;
  std::promise<void> ended_;
};

// A health watch does not end by itself, and must not delay the stop.
TEST_F(ServerLifecycle, StopsUnderAHealthWatch) {
  Watcher watcher(channel_);
  watcher.WaitForFirstMessage();
  auto start = std::chrono::steady_clock::now();
  server_->Stop(std::chrono::seconds(60));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  watcher.WaitForEnd();
}

}  // namespace
}  // namespace itemdb::daemon
