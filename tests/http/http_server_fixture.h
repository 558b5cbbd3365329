// HttpServerTest: a server in this process on ports that the kernel chooses, without a database. Its
// operations are:
//
//   Echo        answers with the request's body at once
//   EchoLater   the same from another thread
//   Hold        waits until the test releases it, or until the caller closes the connection
//   Long        answers with as many bytes as the request's body says
//   Block       waits like Hold, but on the thread that calls it
#pragma once

#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "daemon/http/connection/http_server.h"
#include "storage/base/mutex.h"
#include "tests/http/raw_http_client.h"

namespace itemdb::http {

class FakeHandler : public HttpHandler {
 public:
  ~FakeHandler() override { Join(); }

  std::optional<HttpOperation> Find(std::string_view target) const override {
    constexpr std::string_view kPrefix = "DynamoDB_20120810.";
    if (!target.starts_with(kPrefix)) return std::nullopt;
    target.remove_prefix(kPrefix.size());
    for (const HttpOperation& operation : kOperations) {
      if (operation.name == target) return operation;
    }
    return std::nullopt;
  }

  void Answer(const HttpOperation& operation, std::string body, daemon::Caller,
              storage::CancellationPtr cancellation, absl::AnyInvocable<void(JsonReply) &&> done) override {
    EXPECT_GE(body.capacity(), body.size() + kJsonPadding);
    if (operation.name == "Block") {
      {
        storage::MutexLock lock(mutex_);
        ++held_;
        changed_.NotifyAll();
        while (!released_) changed_.Wait(mutex_);
        --held_;
      }
      return std::move(done)(Reply(std::to_string(body.size())));
    }
    if (operation.name == "Echo") return std::move(done)(Reply(std::move(body)));
    if (operation.name == "Long") return std::move(done)(Reply(std::string(std::stoul(body), 'x')));
    if (operation.name == "EchoLater") {
      return Run([body = std::move(body), done = std::move(done)]() mutable {
        std::move(done)(Reply(std::move(body)));
      });
    }
    Run([this, body = std::move(body), cancellation = std::move(cancellation),
         done = std::move(done)]() mutable {
      {
        storage::MutexLock lock(mutex_);
        ++held_;
        changed_.NotifyAll();
        while (!released_ && cancellation->Check().ok())
          changed_.WaitFor(mutex_, std::chrono::milliseconds(1));
        --held_;
        cancelled_ += cancellation->Check().ok() ? 0 : 1;
        changed_.NotifyAll();
      }
      std::move(done)(Reply(std::move(body)));
    });
  }

  void Release() {
    storage::MutexLock lock(mutex_);
    released_ = true;
    changed_.NotifyAll();
  }
  void WaitUntilHeld(int calls) {
    storage::MutexLock lock(mutex_);
    while (held_ != calls) changed_.Wait(mutex_);
  }
  void WaitUntilCancelled(int calls) {
    storage::MutexLock lock(mutex_);
    while (cancelled_ != calls) changed_.Wait(mutex_);
  }
  void Join() {
    std::vector<std::thread> threads;
    {
      storage::MutexLock lock(mutex_);
      threads.swap(threads_);
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  static constexpr HttpOperation kOperations[] = {
      {.name = "Echo", .role = daemon::Role::kRead},
      {.name = "EchoLater", .role = daemon::Role::kRead},
      {.name = "Hold", .role = daemon::Role::kWrite},
      {.name = "Block", .role = daemon::Role::kWrite},
      {.name = "Long", .role = daemon::Role::kAdmin, .large_replies = true}};

  static JsonReply Reply(std::string body) {
    JsonReply reply;
    reply.body = std::move(body);
    return reply;
  }

  void Run(absl::AnyInvocable<void() &&> work) {
    storage::MutexLock lock(mutex_);
    threads_.emplace_back([work = std::move(work)]() mutable { std::move(work)(); });
  }

  storage::Mutex mutex_;
  storage::CondVar changed_;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
  bool released_ ABSL_GUARDED_BY(mutex_) = false;
  int held_ ABSL_GUARDED_BY(mutex_) = 0;
  int cancelled_ ABSL_GUARDED_BY(mutex_) = 0;
};

class HttpServerTest : public ::testing::Test {
 protected:
  explicit HttpServerTest(size_t call_bytes = 256 << 20) : call_bytes_(call_bytes) {
    options_.addresses = {*daemon::ParseListenAddress("127.0.0.1:0")};
    options_.log = log_;
  }
  ~HttpServerTest() override { StopServer(); }

  // Starts the server with the current `options_`.
  void StartServer() {
    auto server = HttpServer::Open(serving_, options_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    server_->Start(handler_);
  }

  // Stops the server as itemd does.
  void StopServer(std::chrono::milliseconds grace_period = std::chrono::milliseconds(0)) {
    if (server_ == nullptr) return;
    server_->BeginStop();
    serving_.gate.Close();
    serving_.gate.WaitUntilEmpty(grace_period);
    server_->Abort();
    serving_.gate.WaitUntilEmpty();
    server_.reset();
    EXPECT_EQ(serving_.memory->used_bytes(), 0);
  }

  RawHttpClient Connect() { return RawHttpClient(server_->addresses()[0]); }

  // Sends one request on a new connection and returns the reply.
  RawReply Ask(std::string_view request) {
    RawHttpClient client = Connect();
    client.Send(request);
    return client.ReadReply(request.starts_with("HEAD")).value_or(RawReply());
  }

  std::shared_ptr<spdlog::logger> log_ =
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
  FakeHandler handler_;
  const size_t call_bytes_;
  daemon::ServingContext serving_{call_bytes_, absl::ZeroDuration(), log_};
  HttpServerOptions options_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace itemdb::http
