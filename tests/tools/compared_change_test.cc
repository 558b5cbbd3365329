// The change of an itemd that tells whether it was restored to an earlier time, when it cannot be read:
// trimmed, or damaged. That tells nothing, and whoever follows the log goes on.
#include <gtest/gtest.h>

#include <atomic>

#include "tests/support/fake_daemon.h"
#include "tools/moving/change_log_feed.h"

namespace itemdb::tools {
namespace {

constexpr uint64_t kComparedChange = 40;
constexpr int64_t kComparedTimeUs = 1'700'000'000'000'000;

class ComparedChangeTest : public ::testing::TestWithParam<std::pair<grpc::StatusCode, const char*>> {
 protected:
  void SetUp() override {
    daemon_.read_changes = [this](const v1::ReadChangesRequest& request, v1::ReadChangesReply* reply) {
      const auto& [code, reason] = GetParam();
      if (request.after_sequence() == kComparedChange - 1) {
        ++comparisons_;
        return ErrorReply(code, reason, "change 40 cannot be read");
      }
      reply->set_change_sequence(kComparedChange + 1);
      v1::ChangeRecord* record = reply->add_records();
      record->set_change_sequence(kComparedChange + 1);
      record->set_commit_time_us(kComparedTimeUs + 1);
      return grpc::Status::OK;
    };
  }

  FakeDaemon daemon_;
  std::atomic<int> comparisons_ = 0;
};

TEST_P(ComparedChangeTest, ThatCannotBeReadTellsNothing) {
  const auto client = Client::Open({.endpoint = daemon_.endpoint()});
  ASSERT_TRUE(client.ok()) << client.status();
  const Side side(*client, "the source", Patience(absl::Seconds(10), {}), nullptr);
  const auto is_rolled_back = IsRolledBack(*client, kComparedChange, kComparedTimeUs, side.call());
  ASSERT_TRUE(is_rolled_back.ok()) << is_rolled_back.status();
  EXPECT_FALSE(*is_rolled_back);
  const auto time = CommitTimeOf(side, kComparedChange);
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(*time, 0);
  EXPECT_EQ(comparisons_, 2);
  ChangeLogFeed feed(side,
                     {.tables = {}, .after_sequence = kComparedChange, .after_time_us = kComparedTimeUs});
  const auto batch = feed.Read(/*checks=*/true);
  ASSERT_TRUE(batch.ok()) << batch.status();
  EXPECT_EQ(comparisons_, 3);
  EXPECT_EQ(feed.place(), kComparedChange + 1);
}

INSTANTIATE_TEST_SUITE_P(Errors, ComparedChangeTest,
                         ::testing::Values(std::pair(grpc::StatusCode::DATA_LOSS, "DATA_LOSS"),
                                           std::pair(grpc::StatusCode::OUT_OF_RANGE, "CHANGES_TRIMMED")),
                         [](const auto& row) { return std::string(row.param.second); });

}  // namespace
}  // namespace itemdb::tools
