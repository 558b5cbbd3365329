// BatchWriteItem: how writes are split into batches, and that the outcome of every write is reported.
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "itemdb/client.h"
#include "tests/support/fake_daemon.h"

namespace itemdb {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr BatchWriteOutcome kApplied = BatchWriteOutcome::kApplied;
constexpr BatchWriteOutcome kNotApplied = BatchWriteOutcome::kNotApplied;
constexpr BatchWriteOutcome kUnknown = BatchWriteOutcome::kUnknown;

std::vector<BatchWrite> Puts(int count) {
  std::vector<BatchWrite> writes;
  for (int i = 0; i < count; ++i) writes.push_back(BatchPut{.table_name = "t", .item = {{"k", i}}});
  return writes;
}

class BatchTest : public ::testing::Test {
 protected:
  using Reply = v1::BatchWriteItemReply;

  // Keeps the requests and answers each with `answer`; `number` counts requests from 1.
  void AnswerWith(std::function<grpc::Status(int number, const v1::BatchWriteItemRequest&, Reply*)> answer) {
    daemon_.batch_write_item = [this, answer](const v1::BatchWriteItemRequest& request, Reply* reply) {
      seen_.push_back(request);
      reply->set_change_sequence(seen_.size());
      return answer(static_cast<int>(seen_.size()), request, reply);
    };
  }

  // The number of writes in each batch that arrived.
  std::vector<int> Sizes() const {
    std::vector<int> sizes;
    for (const v1::BatchWriteItemRequest& request : seen_) {
      int writes = 0;
      for (const v1::TableWriteRequests& table : request.request_items())
        writes += table.write_requests_size();
      sizes.push_back(writes);
    }
    return sizes;
  }

  static std::string KeyOf(const v1::WriteRequest& write) {
    return write.put_request().item().attributes(0).value().n();
  }

  // Written by the daemon's threads, one call after another.
  std::vector<v1::BatchWriteItemRequest> seen_;
  FakeDaemon daemon_;
  Client client_ =
      *Client::Open({.endpoint = daemon_.endpoint(), .retry = {.initial_backoff = absl::Milliseconds(1)}});
};

TEST_F(BatchTest, GroupsWritesByTableInTheirOrder) {
  AnswerWith([](int, const auto&, Reply*) { return grpc::Status::OK; });
  const absl::StatusOr<BatchWriteItemResult> result =
      client_.BatchWriteItem({.writes = {BatchPut{.table_name = "b", .item = {{"k", 1}}},
                                         BatchPut{.table_name = "a", .item = {{"k", 2}}},
                                         BatchDelete{.table_name = "b", .key = {{"k", 3}}}}});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(seen_.size(), 1u);
  ASSERT_EQ(seen_[0].request_items_size(), 2);
  EXPECT_EQ(seen_[0].request_items(0).table_name(), "b");
  EXPECT_EQ(seen_[0].request_items(0).write_requests_size(), 2);
  EXPECT_TRUE(seen_[0].request_items(0).write_requests(1).has_delete_request());
  EXPECT_EQ(seen_[0].request_items(1).table_name(), "a");
  EXPECT_EQ(result->change_sequence, 1u);
}

// The daemon accepts at most 25 writes in a batch (SEM-045).
TEST_F(BatchTest, SplitsMoreThan25WritesInOrder) {
  AnswerWith([](int, const auto&, Reply*) { return grpc::Status::OK; });
  const absl::StatusOr<BatchWriteItemResult> result = client_.BatchWriteItem({.writes = Puts(60)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(Sizes(), ElementsAre(25, 25, 10));
  EXPECT_EQ(KeyOf(seen_[1].request_items(0).write_requests(0)), "25");
  EXPECT_EQ(result->change_sequence, 3u);
}

// A message has at most 16 MiB (SEM-018).
TEST_F(BatchTest, SplitsByTheSizeOfAMessage) {
  AnswerWith([](int, const v1::BatchWriteItemRequest& request, Reply*) {
    EXPECT_LE(request.ByteSizeLong(), size_t{16} << 20);
    return grpc::Status::OK;
  });
  std::vector<BatchWrite> writes;
  for (int i = 0; i < 5; ++i) {
    writes.push_back(
        BatchPut{.table_name = "t", .item = {{"k", i}, {"v", std::string((size_t{16} << 20) / 3, 'x')}}});
  }
  const absl::StatusOr<BatchWriteItemResult> result = client_.BatchWriteItem({.writes = writes});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(Sizes(), ElementsAre(2, 2, 1));
}

TEST_F(BatchTest, EmptyRequestIsTheDaemonsToJudge) {
  AnswerWith([](int, const auto&, Reply*) {
    return ErrorReply(grpc::StatusCode::INVALID_ARGUMENT, "VALIDATION", "no writes");
  });
  EXPECT_EQ(client_.BatchWriteItem({}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(seen_, SizeIs(1));
}

TEST_F(BatchTest, SendsUnprocessedWritesAgainUntilAllAreApplied) {
  // The daemon processes only the first write of each batch except the last. It returns numbers in another
  // notation than the request's.
  AnswerWith([](int number, const v1::BatchWriteItemRequest& request, Reply* reply) {
    const v1::TableWriteRequests& table = request.request_items(0);
    for (int i = 1; i < table.write_requests_size(); ++i) {
      v1::TableWriteRequests* left = reply->add_unprocessed_items();
      left->set_table_name("t");
      *left->add_write_requests() = table.write_requests(i);
      left->mutable_write_requests(0)
          ->mutable_put_request()
          ->mutable_item()
          ->mutable_attributes(0)
          ->mutable_value()
          ->set_n(KeyOf(table.write_requests(i)) + ".0");
    }
    return grpc::Status::OK;
  });
  const absl::StatusOr<BatchWriteItemResult> result = client_.BatchWriteItem({.writes = Puts(4)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(Sizes(), ElementsAre(4, 3, 2, 1));
}

TEST_F(BatchTest, SaysWhatWasNotAppliedWhenTheDeadlineEndsResending) {
  AnswerWith([](int, const v1::BatchWriteItemRequest& request, Reply* reply) {
    v1::TableWriteRequests* left = reply->add_unprocessed_items();
    left->set_table_name("t");
    // Never processes the last write.
    *left->add_write_requests() =
        request.request_items(0).write_requests(request.request_items(0).write_requests_size() - 1);
    return grpc::Status::OK;
  });
  const absl::Status status =
      client_.BatchWriteItem({.writes = Puts(3)}, {.timeout = absl::Milliseconds(300)}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(BatchWriteOutcomes(status), ElementsAre(kApplied, kApplied, kNotApplied));
  EXPECT_GT(seen_.size(), 2u);
}

TEST_F(BatchTest, StopsAtTheFirstFailureAndTellsEveryOutcome) {
  AnswerWith([](int number, const auto&, Reply*) {
    return number < 3 ? grpc::Status::OK
                      : ErrorReply(grpc::StatusCode::INVALID_ARGUMENT, "VALIDATION", "duplicate item");
  });
  const absl::Status status = client_.BatchWriteItem({.writes = Puts(100)}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(status), kReasonValidation);
  EXPECT_NE(std::string(status.message()).find("of 100 writes 50 were applied"), std::string::npos) << status;
  const std::vector<BatchWriteOutcome> outcomes = BatchWriteOutcomes(status);
  ASSERT_EQ(outcomes.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(outcomes[i], i < 50 ? kApplied : kNotApplied) << i;
  EXPECT_THAT(seen_, SizeIs(3));
}

TEST_F(BatchTest, LostReplyMakesOneBatchUnknownAndOnlyThat) {
  AnswerWith([](int number, const auto&, Reply*) {
    return number == 1 ? grpc::Status::OK : grpc::Status(grpc::StatusCode::UNAVAILABLE, "cut off");
  });
  const absl::Status status = client_.BatchWriteItem({.writes = Puts(60)}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnknown);
  EXPECT_EQ(ReasonOf(status), kReasonWriteOutcomeUnknown);
  const std::vector<BatchWriteOutcome> outcomes = BatchWriteOutcomes(status);
  ASSERT_EQ(outcomes.size(), 60u);
  for (int i = 0; i < 60; ++i)
    EXPECT_EQ(outcomes[i], i < 25 ? kApplied : i < 50 ? kUnknown : kNotApplied) << i;
}

// A repeated batch has the same token; every batch has its own.
TEST_F(BatchTest, IdempotentBatchesAreSentAgainUnderTheirToken) {
  AnswerWith([](int number, const auto&, Reply*) {
    return number % 2 == 0 ? grpc::Status::OK : grpc::Status(grpc::StatusCode::UNAVAILABLE, "cut off");
  });
  const absl::StatusOr<BatchWriteItemResult> result =
      client_.BatchWriteItem({.writes = Puts(30)}, {.idempotent = true});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_THAT(Sizes(), ElementsAre(25, 25, 5, 5));
  EXPECT_EQ(seen_[0].client_request_token(), seen_[1].client_request_token());
  EXPECT_NE(seen_[1].client_request_token(), seen_[2].client_request_token());
  EXPECT_THAT(seen_[0].client_request_token(), SizeIs(32));
}

TEST_F(BatchTest, TokenOfTheCallersOwnIsForOneBatch) {
  AnswerWith([](int, const auto&, Reply*) { return grpc::Status::OK; });
  EXPECT_EQ(client_.BatchWriteItem({.writes = Puts(26)}, {.client_request_token = "mine"}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(seen_, SizeIs(0));
  EXPECT_TRUE(client_.BatchWriteItem({.writes = Puts(25)}, {.client_request_token = "mine"}).ok());
  EXPECT_EQ(seen_[0].client_request_token(), "mine");
}

TEST_F(BatchTest, ReplyThatNamesAWriteThatWasNotSentIsAnUnknownOutcome) {
  AnswerWith([](int, const auto&, Reply* reply) {
    v1::TableWriteRequests* left = reply->add_unprocessed_items();
    left->set_table_name("t");
    left->add_write_requests()->mutable_delete_request()->mutable_key();
    return grpc::Status::OK;
  });
  const absl::Status status = client_.BatchWriteItem({.writes = Puts(2)}).status();
  EXPECT_EQ(ReasonOf(status), kReasonWriteOutcomeUnknown);
  EXPECT_THAT(BatchWriteOutcomes(status), AllOf(SizeIs(2), Each(kUnknown)));
}

TEST_F(BatchTest, CancelledBetweenTwoRoundsEndsAtOnce) {
  const CancelToken token;
  Client client =
      *Client::Open({.endpoint = daemon_.endpoint(),
                     .retry = {.initial_backoff = absl::Seconds(25), .max_backoff = absl::Seconds(25)}});
  absl::Notification answered;
  AnswerWith([&](int, const v1::BatchWriteItemRequest& request, Reply* reply) {
    *reply->mutable_unprocessed_items() = request.request_items();
    answered.Notify();
    return grpc::Status::OK;
  });
  const absl::Time start = absl::Now();
  std::future<absl::StatusOr<BatchWriteItemResult>> result =
      client.BatchWriteItemAsync({.writes = Puts(2)}, {.cancel = token});
  ASSERT_TRUE(answered.WaitForNotificationWithTimeout(absl::Seconds(60)));
  token.Cancel();
  const absl::Status status = result.get().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(BatchWriteOutcomes(status).size(), 2u);
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
}

}  // namespace
}  // namespace itemdb
