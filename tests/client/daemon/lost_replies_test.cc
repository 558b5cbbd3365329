// Connections that break between request and reply: unknown outcomes (ERR-19) and idempotent retries with a
// token (SEM-050). A counter in the real daemon shows how often each write was applied.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "itemdb/client.h"
#include "tests/client/cutting_proxy.h"
#include "tests/processes/daemon_process.h"
#include "tests/support/temporary_directory.h"

namespace itemdb {
namespace {

constexpr int kInFlight = 32;

// The outcomes that the callers received.
struct Tally {
  int acknowledged = 0;
  int unknown = 0;
  // Errors that say that nothing was applied.
  int refused = 0;
  absl::Status first_error;
};

class LostRepliesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status started = daemon_.Start();
    ASSERT_TRUE(started.ok()) << started;
    client_ = *Client::Open({.endpoint = daemon_.endpoint()});
    ASSERT_TRUE(client_
                    ->CreateTable({.table_name = "Counter",
                                   .attribute_definitions = {{"id", ScalarAttributeType::kString}},
                                   .key_schema = {{"id", KeyType::kHash}}})
                    .ok());
  }

  static UpdateItemRequest Increment() {
    return {.table_name = "Counter",
            .key = {{"id", "n"}},
            .update_expression = "ADD n :one",
            .expression_attribute_values = {{":one", 1}}};
  }

  // Makes `count` increments through the proxy, kInFlight at a time. `start(client, callback)` starts one
  // increment.
  template <typename Start>
  Tally Count(const Client& client, int count, Start start) {
    std::mutex mutex;
    std::condition_variable changed;
    int in_flight = 0;
    Tally tally;
    for (int i = 0; i < count; ++i) {
      {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return in_flight < kInFlight; });
        ++in_flight;
      }
      start(client, [&](const absl::Status& status) {
        std::lock_guard<std::mutex> lock(mutex);
        --in_flight;
        if (status.ok()) {
          ++tally.acknowledged;
        } else {
          ++(ReasonOf(status) == kReasonWriteOutcomeUnknown ? tally.unknown : tally.refused);
          if (tally.first_error.ok()) tally.first_error = status;
        }
        changed.notify_one();
      });
    }
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return in_flight == 0; });
    return tally;
  }

  // Read from the daemon without the proxy.
  int64_t Total() {
    const absl::StatusOr<GetItemResult> got =
        client_->GetItem({.table_name = "Counter", .key = {{"id", "n"}}});
    EXPECT_TRUE(got.ok() && got->item.has_value()) << got.status();
    return got->item->find_or_null("n")->number_or_null()->ToInt64().value_or(-1);
  }

  static void Report(const CuttingProxy& proxy, const Tally& tally, int64_t total) {
    std::printf(
        "acknowledged %d, unknown %d, refused %d, total %lld; cuts: %d before and %d after a request, %d of "
        "replies\n",
        tally.acknowledged, tally.unknown, tally.refused, static_cast<long long>(total),
        proxy.cuts_before_request(), proxy.cuts_after_request(), proxy.cuts_of_replies());
  }

  testing::TemporaryDirectory directory_;
  e2e::DaemonProcess daemon_{directory_.path()};
  std::optional<Client> client_;
};

TEST_F(LostRepliesTest, IdempotentIncrementsAreAppliedExactlyOnce) {
  constexpr int kIncrements = 10'000;
  CuttingProxy proxy({.daemon_endpoint = daemon_.endpoint(), .seed = 7, .pieces_per_cut = 30});
  const Client client =
      *Client::Open({.endpoint = proxy.endpoint(),
                     .timeout = absl::Minutes(5),
                     .retry = {.max_attempts = 100, .initial_backoff = absl::Milliseconds(1)}});
  const Tally tally = Count(client, kIncrements, [](const Client& client, auto done) {
    client.UpdateItemAsync(Increment(), [done](absl::StatusOr<WriteResult> result) { done(result.status()); },
                           {.idempotent = true});
  });
  const int64_t total = Total();
  Report(proxy, tally, total);
  EXPECT_EQ(tally.acknowledged, kIncrements) << tally.first_error;
  EXPECT_EQ(total, kIncrements);
  // The test proves nothing unless replies were lost.
  EXPECT_GT(proxy.cuts_after_request() + proxy.cuts_of_replies(), 10);
}

TEST_F(LostRepliesTest, TransactionsAreAppliedExactlyOnceWithoutAsking) {
  constexpr int kTransactions = 2'000;
  CuttingProxy proxy({.daemon_endpoint = daemon_.endpoint(), .seed = 8, .pieces_per_cut = 30});
  const Client client =
      *Client::Open({.endpoint = proxy.endpoint(),
                     .timeout = absl::Minutes(5),
                     .retry = {.max_attempts = 100, .initial_backoff = absl::Milliseconds(1)}});
  const Tally tally = Count(client, kTransactions, [](const Client& client, auto done) {
    client.TransactWriteItemsAsync(
        {.actions = {TransactUpdate{.table_name = "Counter",
                                    .key = {{"id", "n"}},
                                    .update_expression = "ADD n :one",
                                    .expression_attribute_values = {{":one", 1}}}}},
        [done](absl::StatusOr<TransactWriteItemsResult> result) { done(result.status()); });
  });
  const int64_t total = Total();
  Report(proxy, tally, total);
  EXPECT_EQ(tally.acknowledged, kTransactions) << tally.first_error;
  EXPECT_EQ(total, kTransactions);
  EXPECT_GT(proxy.cuts_after_request() + proxy.cuts_of_replies(), 1);
}

TEST_F(LostRepliesTest, WithoutTokensTheTotalLiesBetweenAcknowledgedAndUnknown) {
  constexpr int kIncrements = 10'000;
  CuttingProxy proxy({.daemon_endpoint = daemon_.endpoint(), .seed = 9, .pieces_per_cut = 30});
  const Client client =
      *Client::Open({.endpoint = proxy.endpoint(),
                     .timeout = absl::Minutes(5),
                     .retry = {.max_attempts = 100, .initial_backoff = absl::Milliseconds(1)}});
  const Tally tally = Count(client, kIncrements, [](const Client& client, auto done) {
    client.UpdateItemAsync(Increment(),
                           [done](absl::StatusOr<WriteResult> result) { done(result.status()); });
  });
  const int64_t total = Total();
  Report(proxy, tally, total);
  EXPECT_EQ(tally.acknowledged + tally.unknown + tally.refused, kIncrements);
  EXPECT_EQ(tally.refused, 0) << tally.first_error;
  EXPECT_GE(total, tally.acknowledged);
  EXPECT_LE(total, tally.acknowledged + tally.unknown);
  EXPECT_GT(tally.unknown, 10);
}

}  // namespace
}  // namespace itemdb
