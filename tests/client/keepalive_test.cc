// Connections that die without a word: the network loses every packet, and nobody closes anything.
#include <atomic>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "itemdb/client.h"
#include "tests/client/cutting_proxy.h"
#include "tests/support/fake_daemon.h"

namespace itemdb {
namespace {

using ::testing::HasSubstr;

// The shortest that the client accepts.
constexpr KeepaliveOptions kSoon{.interval = absl::Seconds(2), .timeout = absl::Seconds(1)};
// A dead connection is noticed after interval and timeout; the rest is for a busy machine. Without keepalive
// the tests would end with the deadlines of calls, which are a minute away.
constexpr absl::Duration kNoticed = absl::Seconds(20);

class KeepaliveTest : public ::testing::Test {
 protected:
  KeepaliveTest() {
    daemon_.get_status = [](const v1::GetStatusRequest&, v1::GetStatusReply*) { return grpc::Status::OK; };
    daemon_.put_item = [this](const v1::PutItemRequest& request, v1::PutItemReply* reply) {
      if (++puts_ == 1) lost_.SilenceConnections();
      reply->mutable_result();
      return grpc::Status::OK;
    };
  }

  Client Open(int max_attempts) {
    return *Client::Open({.endpoint = lost_.endpoint(),
                          .timeout = absl::Minutes(1),
                          .retry = {.max_attempts = max_attempts},
                          .keepalive = kSoon});
  }

  FakeDaemon daemon_;
  CuttingProxy lost_{{.daemon_endpoint = daemon_.endpoint(), .pieces_per_cut = 0}};
  std::atomic<int> puts_ = 0;
};

TEST_F(KeepaliveTest, ACallEndsSoonAfterItsConnectionFellSilent) {
  Client client = Open(/*max_attempts=*/1);
  ASSERT_TRUE(client.GetStatus().ok());
  lost_.SilenceConnections();
  const absl::Time start = absl::Now();
  const absl::Status read = client.GetStatus().status();
  EXPECT_EQ(read.code(), absl::StatusCode::kUnavailable) << read;
  EXPECT_EQ(ReasonOf(read), kReasonUnavailable);
  EXPECT_LT(absl::Now() - start, kNoticed);
  // Another connection works; the first attempt may still meet the channel before it has noticed.
  const absl::Status next = client.GetStatus({}, {.retry = RetryOptions{}}).status();
  EXPECT_TRUE(next.ok()) << next;
}

TEST_F(KeepaliveTest, AReadIsSentAgain) {
  Client client = Open(/*max_attempts=*/5);
  ASSERT_TRUE(client.GetStatus().ok());
  lost_.SilenceConnections();
  const absl::Time start = absl::Now();
  const absl::Status read = client.GetStatus().status();
  EXPECT_TRUE(read.ok()) << read;
  EXPECT_LT(absl::Now() - start, kNoticed);
}

// The daemon has applied the write and the reply is lost (ERR-19).
TEST_F(KeepaliveTest, AWriteHasAnUnknownOutcomeUnlessItHasAToken) {
  Client client = Open(/*max_attempts=*/5);
  const absl::Time start = absl::Now();
  const absl::Status write = client.PutItem({.table_name = "t", .item = {{"a", 1}}}).status();
  EXPECT_EQ(write.code(), absl::StatusCode::kUnknown) << write;
  EXPECT_EQ(ReasonOf(write), kReasonWriteOutcomeUnknown);
  puts_ = 0;
  const absl::Status repeated =
      client.PutItem({.table_name = "t", .item = {{"a", 1}}}, {.idempotent = true}).status();
  EXPECT_TRUE(repeated.ok()) << repeated;
  EXPECT_EQ(puts_, 2);
  EXPECT_LT(absl::Now() - start, 2 * kNoticed);
}

TEST_F(KeepaliveTest, RefusesTimesThatTheDaemonWouldNotTolerate) {
  for (const KeepaliveOptions& options :
       {KeepaliveOptions{.interval = absl::Milliseconds(1'999)},
        KeepaliveOptions{.interval = absl::ZeroDuration()},
        KeepaliveOptions{.interval = absl::Seconds(10), .timeout = absl::ZeroDuration()}}) {
    const absl::Status status = Client::Open({.endpoint = "127.0.0.1:7420", .keepalive = options}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(status.message(), HasSubstr("keepalive"));
  }
  EXPECT_TRUE(
      Client::Open({.endpoint = "127.0.0.1:7420", .keepalive = {.interval = absl::InfiniteDuration()}}).ok());
}

}  // namespace
}  // namespace itemdb
