// Which calls are sent again after a failure, and which are not.
#include "client/retry.h"

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "client/access.h"
#include "client/errors_internal.h"
#include "client/transport.h"
#include "itemdb/client.h"
#include "tests/client/hang_up_daemon.h"
#include "tests/support/fake_daemon.h"

namespace itemdb {
namespace {

TEST(Backoff, DoublesUpToItsBoundAndIsShortenedByHalfAtMost) {
  const RetryOptions options{.initial_backoff = absl::Milliseconds(100),
                             .max_backoff = absl::Milliseconds(350)};
  EXPECT_EQ(Backoff(options, 1, 0.0, absl::ZeroDuration()), absl::Milliseconds(100));
  EXPECT_EQ(Backoff(options, 2, 0.0, absl::ZeroDuration()), absl::Milliseconds(200));
  EXPECT_EQ(Backoff(options, 3, 0.0, absl::ZeroDuration()), absl::Milliseconds(350));
  EXPECT_EQ(Backoff(options, 1'000'000'000, 0.0, absl::ZeroDuration()), absl::Milliseconds(350));
  EXPECT_EQ(Backoff(options, 1, 1.0, absl::ZeroDuration()), absl::Milliseconds(50));
  // The time that the daemon asks for is the minimum, whatever the options say.
  EXPECT_EQ(Backoff(options, 1, 0.0, absl::Seconds(1)), absl::Seconds(1));
  EXPECT_EQ(Backoff(options, 1, 1.0, absl::Seconds(1)), absl::Milliseconds(1'500));
}

class RetryTest : public ::testing::Test {
 protected:
  Client Open(int max_attempts = 5) {
    return *Client::Open({.endpoint = daemon_.endpoint(),
                          .retry = {.max_attempts = max_attempts, .initial_backoff = absl::Milliseconds(1)}});
  }

  // The first `failures` calls of UpdateItem fail with `status`. Keeps the tokens of all calls.
  void FailUpdates(int failures, grpc::Status status) {
    daemon_.update_item = [this, failures, status](const v1::UpdateItemRequest& request,
                                                   v1::UpdateItemReply* reply) {
      tokens_.push_back(request.client_request_token());
      if (static_cast<int>(tokens_.size()) <= failures) return status;
      reply->mutable_result();
      return grpc::Status::OK;
    };
  }

  static absl::Status Update(const Client& client, CallOptions options = {}) {
    return client.UpdateItem({.table_name = "t", .key = {{"k", 1}}}, options).status();
  }

  std::vector<std::string> tokens_;
  FakeDaemon daemon_;
};

const grpc::Status kQueueFull =
    ErrorReply(grpc::StatusCode::RESOURCE_EXHAUSTED, "QUEUE_FULL", "the queue is full", 1);
const grpc::Status kStopping = ErrorReply(grpc::StatusCode::UNAVAILABLE, "UNAVAILABLE", "stopping");
const grpc::Status kOutcomeUnknown =
    ErrorReply(grpc::StatusCode::UNKNOWN, "WRITE_OUTCOME_UNKNOWN", "the disk failed under it");
const grpc::Status kCutOff(grpc::StatusCode::UNAVAILABLE, "Socket closed");

TEST_F(RetryTest, RefusedWritesAreSentAgain) {
  for (const grpc::Status& status : {kQueueFull, kStopping}) {
    tokens_.clear();
    FailUpdates(3, status);
    const absl::Status outcome = Update(Open());
    EXPECT_TRUE(outcome.ok()) << outcome;
    EXPECT_EQ(tokens_, std::vector<std::string>(4, ""));
  }
}

TEST_F(RetryTest, StopAtTheGreatestNumberOfAttempts) {
  FailUpdates(100, kQueueFull);
  const absl::Status status = Update(Open(3));
  EXPECT_EQ(ReasonOf(status), "QUEUE_FULL");
  EXPECT_EQ(tokens_.size(), 3u);
}

TEST_F(RetryTest, OneAttemptSwitchesThemOffForAClientOrACall) {
  FailUpdates(1, kQueueFull);
  EXPECT_FALSE(Update(Open(1)).ok());
  tokens_.clear();
  EXPECT_FALSE(Update(Open(), {.retry = RetryOptions{.max_attempts = 1}}).ok());
  EXPECT_EQ(tokens_.size(), 1u);
}

TEST_F(RetryTest, OptionsOfACallAreCheckedToo) {
  FailUpdates(0, kQueueFull);
  EXPECT_EQ(Update(Open(), {.retry = RetryOptions{.max_attempts = 0}}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Update(Open(), {.retry = RetryOptions{.max_backoff = -absl::Seconds(1)}}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(tokens_.size(), 0u);
}

// The most important rule: a write without a token that may have been applied is never sent twice.
TEST_F(RetryTest, WritesOfUnknownOutcomeAreSentOnce) {
  for (const grpc::Status& status : {kOutcomeUnknown, kCutOff}) {
    tokens_.clear();
    FailUpdates(100, status);
    const absl::Status outcome = Update(Open());
    EXPECT_EQ(outcome.code(), absl::StatusCode::kUnknown);
    EXPECT_EQ(ReasonOf(outcome), kReasonWriteOutcomeUnknown);
    EXPECT_EQ(tokens_.size(), 1u);
  }
}

TEST_F(RetryTest, WritesOfUnknownOutcomeAreSentAgainUnderTheSameToken) {
  for (const CallOptions& options :
       {CallOptions{.idempotent = true}, CallOptions{.client_request_token = "mine"}}) {
    tokens_.clear();
    FailUpdates(3, kCutOff);
    const absl::Status outcome = Update(Open(), options);
    EXPECT_TRUE(outcome.ok()) << outcome;
    ASSERT_EQ(tokens_.size(), 4u);
    EXPECT_EQ(tokens_[0].size(), options.idempotent ? 32u : 4u);
    EXPECT_EQ(tokens_, std::vector<std::string>(4, tokens_[0]));
  }
}

TEST_F(RetryTest, TransactionsHaveATokenOfTheirOwn) {
  std::vector<std::string> tokens;
  daemon_.transact_write_items = [&](const v1::TransactWriteItemsRequest& request,
                                     v1::TransactWriteItemsReply* reply) {
    tokens.push_back(request.client_request_token());
    if (tokens.size() % 2 == 1) return kCutOff;
    reply->mutable_committed();
    return grpc::Status::OK;
  };
  Client client = Open();
  EXPECT_TRUE(client.TransactWriteItems({}).ok());
  EXPECT_TRUE(client.TransactWriteItems({}).ok());
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[0], tokens[1]);
  EXPECT_EQ(tokens[2], tokens[3]);
  EXPECT_NE(tokens[0], tokens[2]);
  EXPECT_EQ(tokens[0].size(), 32u);
}

// A refusal after an attempt with unknown outcome does not mean that nothing was written.
TEST_F(RetryTest, LaterRefusalDoesNotHideAnUnknownOutcome) {
  daemon_.update_item = [this](const v1::UpdateItemRequest& request, v1::UpdateItemReply*) {
    tokens_.push_back(request.client_request_token());
    return tokens_.size() == 1 ? kCutOff : kQueueFull;
  };
  const absl::Status status = Update(Open(3), {.idempotent = true});
  EXPECT_EQ(tokens_.size(), 3u);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnknown) << status;
  EXPECT_EQ(ReasonOf(status), kReasonWriteOutcomeUnknown);
}

// The same if the daemon then fails before it has looked up the token.
TEST_F(RetryTest, DaemonThatFailsAfterALostReplyKnowsNoOutcome) {
  for (const grpc::Status& failure : {ErrorReply(grpc::StatusCode::DATA_LOSS, "DATA_LOSS", "bad block"),
                                      ErrorReply(grpc::StatusCode::INTERNAL, "INTERNAL", "no thread")}) {
    tokens_.clear();
    daemon_.update_item = [this, failure](const v1::UpdateItemRequest& request, v1::UpdateItemReply*) {
      tokens_.push_back(request.client_request_token());
      return tokens_.size() == 1 ? kCutOff : failure;
    };
    const absl::Status status = Update(Open(), {.idempotent = true});
    EXPECT_EQ(tokens_.size(), 2u);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnknown) << status;
    EXPECT_EQ(ReasonOf(status), kReasonWriteOutcomeUnknown);
  }
}

// An outcome of the write itself is final, because the daemon knows the token.
TEST_F(RetryTest, FalseConditionAfterALostReplyIsTheAnswer) {
  daemon_.update_item = [this](const v1::UpdateItemRequest& request, v1::UpdateItemReply* reply) {
    tokens_.push_back(request.client_request_token());
    if (tokens_.size() == 1) return kCutOff;
    reply->mutable_condition_failed();
    return grpc::Status::OK;
  };
  EXPECT_EQ(ReasonOf(Update(Open(), {.idempotent = true})), kReasonConditionalCheckFailed);
}

TEST_F(RetryTest, ReadsAreSentAgainAfterALostReply) {
  std::atomic<int> calls = 0;
  daemon_.get_item = [&](const v1::GetItemRequest&, v1::GetItemReply*) {
    return ++calls < 4 ? kCutOff : grpc::Status::OK;
  };
  const absl::StatusOr<GetItemResult> result = Open().GetItem({.table_name = "t", .key = {}});
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(calls, 4);
}

TEST_F(RetryTest, WhatWillNotGoAwayIsNotTriedAgain) {
  struct Case {
    grpc::StatusCode code;
    std::string reason;
    int64_t retry_after_ms = 0;
  };
  for (const Case& c :
       {Case{grpc::StatusCode::INVALID_ARGUMENT, "VALIDATION"},
        Case{grpc::StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND"},
        Case{grpc::StatusCode::RESOURCE_EXHAUSTED, "DISK_FULL", 1'000},
        Case{grpc::StatusCode::RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED"},
        Case{grpc::StatusCode::ABORTED, "CONFLICT"}, Case{grpc::StatusCode::INTERNAL, "INTERNAL"},
        Case{grpc::StatusCode::DATA_LOSS, "DATA_LOSS"}}) {
    SCOPED_TRACE(c.reason);
    tokens_.clear();
    FailUpdates(100, ErrorReply(c.code, c.reason, "no", c.retry_after_ms));
    EXPECT_EQ(ReasonOf(Update(Open(), {.idempotent = true})), c.reason);
    EXPECT_EQ(tokens_.size(), 1u);
  }
}

TEST_F(RetryTest, PausesAsLongAsTheDaemonAsksAndNotBeyondTheDeadline) {
  FailUpdates(1, ErrorReply(grpc::StatusCode::RESOURCE_EXHAUSTED, "QUEUE_FULL", "the queue is full", 200));
  absl::Time start = absl::Now();
  EXPECT_TRUE(Update(Open()).ok());
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(200));

  tokens_.clear();
  FailUpdates(1, ErrorReply(grpc::StatusCode::RESOURCE_EXHAUSTED, "QUEUE_FULL", "the queue is full", 60'000));
  start = absl::Now();
  const absl::Status status = Update(Open(), {.timeout = absl::Seconds(20)});
  EXPECT_EQ(ReasonOf(status), "QUEUE_FULL");
  EXPECT_LT(absl::Now() - start, absl::Seconds(15));
}

TEST(RetryConnection, WaitsForADaemonThatStartsLate) {
  // The address is known before the daemon is started.
  const std::string endpoint = [] { return FakeDaemon().endpoint(); }();
  Client client = *Client::Open({.endpoint = endpoint, .retry = {.max_attempts = 1'000}});
  std::future<absl::StatusOr<WriteResult>> result =
      client.PutItemAsync({.table_name = "t", .item = {{"k", 1}}});
  EXPECT_EQ(client.GetStatus({}, {.retry = RetryOptions{.max_attempts = 1}}).status().code(),
            absl::StatusCode::kUnavailable);
  FakeDaemon daemon(endpoint);
  daemon.put_item = [](const v1::PutItemRequest&, v1::PutItemReply* reply) {
    reply->mutable_result();
    return grpc::Status::OK;
  };
  const absl::Status status = result.get().status();
  // UNIMPLEMENTED if the call arrives before the handler is set; that also proves that it arrived.
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kUnimplemented) << status;
}

TEST(RetryConnection, WriteLostWithItsConnectionIsNotSentAgain) {
  HangUpDaemon daemon;
  Client client = *Client::Open({.endpoint = daemon.endpoint()});
  const absl::Status status = client.PutItem({.table_name = "t", .item = {{"k", 1}}}).status();
  EXPECT_EQ(ReasonOf(status), kReasonWriteOutcomeUnknown) << status;
}

// Fails once; then ends a call on another thread before Send returns.
class HastyTransport : public Transport {
 public:
  explicit HastyTransport(const std::atomic<bool>& told) : told_(told) {}
  Cancel Send(OutgoingCall, Done done) override {
    const bool fails = calls_++ == 0;
    std::thread([&] {
      std::move(done)(
          fails ? MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "down") : absl::OkStatus(),
          "");
    }).join();
    // After the first call another thread sends it again.
    if (!fails) {
      EXPECT_FALSE(told_);
    }
    return [] {};
  }
  std::unique_ptr<MessageStream> OpenStream(const char*, size_t, const std::string&) override {
    return nullptr;
  }
  const std::string& endpoint() const override { return endpoint_; }

 private:
  const std::atomic<bool>& told_;
  int calls_ = 0;
  const std::string endpoint_ = "hasty";
};

// So the program cannot destroy the client, and end, while the timer's thread still uses it.
TEST(RetriedCall, IsToldWhenTheThreadThatSentItAgainNoLongerUsesTheClient) {
  std::atomic<bool> told = false;
  std::promise<absl::Status> status;
  auto client = ClientAccess::Make({.retry = {.initial_backoff = absl::Milliseconds(1)}}, [&](Timer&) {
    return absl::StatusOr<std::unique_ptr<Transport>>(std::make_unique<HastyTransport>(told));
  });
  ASSERT_TRUE(client.ok()) << client.status();
  client->GetItemAsync({.table_name = "t", .key = {{"k", 1}}},
                       [&](const absl::StatusOr<GetItemResult>& result) {
                         told = true;
                         status.set_value(result.status());
                       });
  EXPECT_TRUE(status.get_future().get().ok());
}

}  // namespace
}  // namespace itemdb
