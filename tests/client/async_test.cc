// The asynchronous form: callbacks, futures, cancellation, and clients that are destroyed meanwhile.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "itemdb/client.h"
#include "tests/support/fake_daemon.h"

namespace itemdb {
namespace {

// A bound that is long enough for a machine that is five times slower.
constexpr absl::Duration kLong = absl::Seconds(60);

// The number of threads of this process.
int ThreadCount() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

class AsyncTest : public ::testing::Test {
 protected:
  AsyncTest() {
    daemon_.put_item = [](const v1::PutItemRequest& request, v1::PutItemReply* reply) {
      reply->set_change_sequence(std::stoull(request.item().attributes(0).value().n()));
      reply->mutable_result();
      return grpc::Status::OK;
    };
  }

  static PutItemRequest Put(int k) { return {.table_name = "t", .item = {{"k", k}}}; }

  absl::Notification release_;  // Outlives the daemon's handlers, which may wait for it.
  FakeDaemon daemon_;
  std::optional<Client> client_ = *Client::Open({.endpoint = daemon_.endpoint()});
};

TEST_F(AsyncTest, CallbackGetsTheResultOnAThreadOfTheLibrary) {
  absl::Notification done;
  const std::thread::id caller = std::this_thread::get_id();
  client_->PutItemAsync(Put(7), [&](absl::StatusOr<WriteResult> result) {
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->change_sequence, 7u);
    EXPECT_NE(std::this_thread::get_id(), caller);
    done.Notify();
  });
  ASSERT_TRUE(done.WaitForNotificationWithTimeout(kLong));
}

TEST_F(AsyncTest, EveryDataOperationHasAFuture) {
  daemon_.update_item = [](const v1::UpdateItemRequest&, v1::UpdateItemReply* reply) {
    reply->mutable_result();
    return grpc::Status::OK;
  };
  daemon_.delete_item = [](const v1::DeleteItemRequest&, v1::DeleteItemReply* reply) {
    reply->mutable_result();
    return grpc::Status::OK;
  };
  daemon_.get_item = [](const v1::GetItemRequest&, v1::GetItemReply*) { return grpc::Status::OK; };
  daemon_.batch_write_item = [](const v1::BatchWriteItemRequest&, v1::BatchWriteItemReply*) {
    return grpc::Status::OK;
  };
  daemon_.transact_write_items = [](const v1::TransactWriteItemsRequest&,
                                    v1::TransactWriteItemsReply* reply) {
    reply->mutable_committed();
    return grpc::Status::OK;
  };
  daemon_.query = [](const v1::QueryRequest&, v1::QueryReply*) { return grpc::Status::OK; };
  daemon_.scan = [](const v1::ScanRequest&, v1::ScanReply*) { return grpc::Status::OK; };
  daemon_.batch_get_item = [](const v1::BatchGetItemRequest&, v1::BatchGetItemReply*) {
    return grpc::Status::OK;
  };
  daemon_.transact_get_items = [](const v1::TransactGetItemsRequest&, v1::TransactGetItemsReply*) {
    return grpc::Status::OK;
  };
  auto put = client_->PutItemAsync(Put(1));
  auto update = client_->UpdateItemAsync({.table_name = "t", .key = {}});
  auto removal = client_->DeleteItemAsync({.table_name = "t", .key = {}});
  auto get = client_->GetItemAsync({.table_name = "t", .key = {}});
  auto batch = client_->BatchWriteItemAsync({});
  auto batch_get = client_->BatchGetItemAsync({});
  auto transact_get = client_->TransactGetItemsAsync({});
  auto transaction = client_->TransactWriteItemsAsync({});
  auto query = client_->QueryAsync({.table_name = "t", .key_condition_expression = "k = :k"});
  auto scan = client_->ScanAsync({.table_name = "t"});
  EXPECT_TRUE(put.get().ok());
  EXPECT_TRUE(update.get().ok());
  EXPECT_TRUE(removal.get().ok());
  EXPECT_TRUE(get.get().ok());
  EXPECT_TRUE(batch.get().ok());
  EXPECT_TRUE(batch_get.get().ok());
  EXPECT_TRUE(transact_get.get().ok());
  EXPECT_TRUE(transaction.get().ok());
  EXPECT_TRUE(query.get().ok());
  EXPECT_TRUE(scan.get().ok());
}

// The calls go to a socket that never answers, because a daemon in this process would have threads of its
// own.
TEST_F(AsyncTest, CallsInFlightNeedNoThreadEach) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  socklen_t length = sizeof(address);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  Client client = *Client::Open({.endpoint = "127.0.0.1:" + std::to_string(ntohs(address.sin_port))});
  const CancelToken token;
  std::vector<std::future<absl::StatusOr<WriteResult>>> results;
  results.push_back(client.PutItemAsync(Put(0), {.cancel = token}));
  const int before = ThreadCount();
  for (int i = 1; i < 1'000; ++i) results.push_back(client.PutItemAsync(Put(i), {.cancel = token}));
  EXPECT_LE(ThreadCount(), before + 4);
  token.Cancel();
  for (auto& result : results) EXPECT_EQ(ReasonOf(result.get().status()), kReasonCancelled);
  close(listener);
}

TEST_F(AsyncTest, RequestThatCannotBeEncodedEndsInTheCallbackAndNotInTheCall) {
  Value nested = 1;
  for (int i = 0; i < 40; ++i) nested = Value::List({nested});
  absl::Notification done;
  const std::thread::id caller = std::this_thread::get_id();
  client_->PutItemAsync(
      {.table_name = "t", .item = {{"k", nested}}}, [&](absl::StatusOr<WriteResult> result) {
        EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
        EXPECT_NE(std::this_thread::get_id(), caller);
        EXPECT_EQ(client_->PutItem(Put(1)).status().code(), absl::StatusCode::kFailedPrecondition);
        done.Notify();
      });
  ASSERT_TRUE(done.WaitForNotificationWithTimeout(kLong));
}

TEST_F(AsyncTest, BlockingInsideACallbackIsRefusedAndStartingAnotherCallIsNot) {
  std::promise<absl::Status> blocking;
  std::promise<absl::Status> chained;
  client_->PutItemAsync(Put(1), [&, client = *client_](absl::StatusOr<WriteResult>) {
    blocking.set_value(client.PutItem(Put(2)).status());
    client.PutItemAsync(Put(3),
                        [&](absl::StatusOr<WriteResult> result) { chained.set_value(result.status()); });
  });
  EXPECT_EQ(blocking.get_future().get().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(chained.get_future().get().ok());
}

// A call owns everything that it needs; a callback may even destroy the last client.
TEST_F(AsyncTest, LastClientMayGoWhileCallsAreInFlight) {
  absl::Notification release;
  daemon_.put_item = [&](const v1::PutItemRequest&, v1::PutItemReply* reply) {
    release.WaitForNotification();
    reply->mutable_result();
    return grpc::Status::OK;
  };
  std::vector<std::future<absl::StatusOr<WriteResult>>> results;
  for (int i = 0; i < 4; ++i) results.push_back(client_->PutItemAsync(Put(i)));
  client_.reset();
  release.Notify();
  for (auto& result : results) EXPECT_TRUE(result.get().ok());
}

TEST_F(AsyncTest, CallbackMayDropTheLastClient) {
  for (int round = 0; round < 20; ++round) {
    auto client = std::make_unique<Client>(*Client::Open({.endpoint = daemon_.endpoint()}));
    Client* borrowed = client.get();
    absl::Notification done;
    borrowed->PutItemAsync(Put(1),
                           [&done, client = std::move(client)](absl::StatusOr<WriteResult> result) mutable {
                             EXPECT_TRUE(result.ok());
                             client.reset();
                             done.Notify();
                           });
    ASSERT_TRUE(done.WaitForNotificationWithTimeout(kLong));
  }
  // The same on the timer's thread, with a call that waits for its second attempt.
  daemon_.put_item = [](const v1::PutItemRequest&, v1::PutItemReply*) {
    return ErrorReply(grpc::StatusCode::RESOURCE_EXHAUSTED, "QUEUE_FULL", "full", 10);
  };
  auto client = std::make_unique<Client>(*Client::Open({.endpoint = daemon_.endpoint()}));
  Client* borrowed = client.get();
  const CancelToken token;
  absl::Notification done;
  borrowed->PutItemAsync(Put(1),
                         [&done, client = std::move(client)](absl::StatusOr<WriteResult> result) mutable {
                           client.reset();
                           done.Notify();
                         },
                         {.retry = RetryOptions{.max_attempts = 1'000}, .cancel = token});
  token.Cancel();
  ASSERT_TRUE(done.WaitForNotificationWithTimeout(kLong));
}

// ---- cancellation --------------------------------------------------------------------------------

TEST_F(AsyncTest, CancelledWriteThatWasSentIsAnUnknownOutcomeAndAReadIsNot) {
  absl::Notification arrived;
  daemon_.put_item = [&](const v1::PutItemRequest&, v1::PutItemReply*) {
    arrived.Notify();
    release_.WaitForNotification();
    return grpc::Status::OK;
  };
  absl::Notification read_arrived;
  daemon_.get_item = [&](const v1::GetItemRequest&, v1::GetItemReply*) {
    read_arrived.Notify();
    release_.WaitForNotification();
    return grpc::Status::OK;
  };
  const CancelToken token;
  auto write = client_->PutItemAsync(Put(1), {.cancel = token});
  auto read = client_->GetItemAsync({.table_name = "t", .key = {}}, {.cancel = token});
  ASSERT_TRUE(arrived.WaitForNotificationWithTimeout(kLong));
  ASSERT_TRUE(read_arrived.WaitForNotificationWithTimeout(kLong));
  token.Cancel();
  const absl::Status write_status = write.get().status();
  EXPECT_EQ(write_status.code(), absl::StatusCode::kCancelled) << write_status;
  EXPECT_EQ(ReasonOf(write_status), kReasonWriteOutcomeUnknown);
  const absl::Status read_status = read.get().status();
  EXPECT_EQ(read_status.code(), absl::StatusCode::kCancelled) << read_status;
  EXPECT_EQ(ReasonOf(read_status), kReasonCancelled);
  release_.Notify();
}

TEST_F(AsyncTest, CancelledTokenEndsLaterCallsUnsent) {
  std::atomic<int> calls = 0;
  daemon_.put_item = [&](const v1::PutItemRequest&, v1::PutItemReply*) {
    ++calls;
    return grpc::Status::OK;
  };
  const CancelToken token;
  token.Cancel();
  EXPECT_TRUE(token.cancelled());
  const absl::Status status = client_->PutItem(Put(1), {.cancel = token}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(ReasonOf(status), kReasonCancelled);
  EXPECT_EQ(calls, 0);
}

TEST_F(AsyncTest, CancelEndsThePauseBetweenAttempts) {
  absl::Notification refused;
  daemon_.put_item = [&](const v1::PutItemRequest&, v1::PutItemReply*) {
    refused.Notify();
    return ErrorReply(grpc::StatusCode::RESOURCE_EXHAUSTED, "QUEUE_FULL", "full", 25'000);
  };
  const CancelToken token;
  const absl::Time start = absl::Now();
  auto result = client_->PutItemAsync(Put(1), {.timeout = absl::Minutes(10), .cancel = token});
  ASSERT_TRUE(refused.WaitForNotificationWithTimeout(kLong));
  token.Cancel();
  const absl::Status status = result.get().status();
  // Whichever comes first, the refusal or the cancellation: the call does not wait for the 25 s.
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
}

TEST_F(AsyncTest, CancelBesideARefusalThatAsksForAnotherAttemptIsCancelled) {
  daemon_.put_item = [&](const v1::PutItemRequest&, v1::PutItemReply*) {
    return ErrorReply(grpc::StatusCode::RESOURCE_EXHAUSTED, "QUEUE_FULL", "full", 25'000);
  };
  for (int round = 0; round < 500; ++round) {
    const CancelToken token;
    auto result = client_->PutItemAsync(Put(1), {.timeout = absl::Minutes(10), .cancel = token});
    absl::SleepFor(absl::Microseconds(round));
    token.Cancel();
    const absl::Status status = result.get().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << "round " << round << ": " << status;
  }
}

TEST_F(AsyncTest, CancelFromManyThreadsWhileCallsEndIsSafe) {
  for (int round = 0; round < 50; ++round) {
    const CancelToken token;
    std::vector<std::future<absl::StatusOr<WriteResult>>> results;
    for (int i = 0; i < 8; ++i) results.push_back(client_->PutItemAsync(Put(i), {.cancel = token}));
    std::thread other([token] { token.Cancel(); });
    token.Cancel();
    for (auto& result : results) {
      const absl::Status status = result.get().status();
      EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kCancelled) << status;
    }
    other.join();
  }
}

}  // namespace
}  // namespace itemdb
