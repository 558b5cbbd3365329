// Streams of pages (EXT-01) and bulk writes (EXT-03) to the real daemon through connections that break.
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "itemdb/bulk_writer.h"
#include "itemdb/client.h"
#include "tests/client/cutting_proxy.h"
#include "tests/processes/daemon_process.h"
#include "tests/support/temporary_directory.h"

namespace itemdb {
namespace {

class BrokenStreamsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status started = daemon_.Start();
    ASSERT_TRUE(started.ok()) << started;
    client_ = *Client::Open({.endpoint = daemon_.endpoint()});
    ASSERT_TRUE(client_
                    ->CreateTable({.table_name = "Things",
                                   .attribute_definitions = {{"pk", ScalarAttributeType::kString},
                                                             {"sk", ScalarAttributeType::kNumber}},
                                   .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}}})
                    .ok());
  }

  static Client Through(const CuttingProxy& proxy) {
    return *Client::Open({.endpoint = proxy.endpoint(),
                          .timeout = absl::Minutes(5),
                          .retry = {.max_attempts = 1'000,
                                    .initial_backoff = absl::Milliseconds(1),
                                    .max_backoff = absl::Milliseconds(5)}});
  }
  static Item Thing(int i) { return {{"pk", "c"}, {"sk", i}, {"padding", std::string(100, 'x')}}; }

  testing::TemporaryDirectory directory_;
  e2e::DaemonProcess daemon_{directory_.path()};
  std::optional<Client> client_;
};

TEST_F(BrokenStreamsTest, EveryChunkIsAppliedExactlyOnce) {
  constexpr int kRounds = 3'000;
  CuttingProxy proxy({.daemon_endpoint = daemon_.endpoint(), .seed = 11, .pieces_per_cut = 20});
  const uint64_t before = client_->ReadChanges({})->change_sequence;
  BulkWriter writer(Through(proxy), {.max_chunk_writes = 20});
  // A put and a delete of the same item always write change records. So a chunk applied twice or out of order
  // changes the number of records.
  for (int i = 0; i < kRounds; ++i) {
    for (const absl::Status& status : {writer.Put("Things", Thing(i)), writer.Put("Things", Thing(-1)),
                                       writer.Delete("Things", {{"pk", "c"}, {"sk", -1}})}) {
      ASSERT_TRUE(status.ok()) << status;
    }
  }
  const absl::StatusOr<BulkWriteResult> result = writer.Finish();
  ASSERT_TRUE(result.ok()) << result.status();
  std::printf("cuts: %d before and %d after a request, %d of replies\n", proxy.cuts_before_request(),
              proxy.cuts_after_request(), proxy.cuts_of_replies());
  EXPECT_EQ(result->applied, 3u * kRounds);
  EXPECT_TRUE(result->rejected.empty());
  EXPECT_EQ(client_->ReadChanges({})->change_sequence - before, 3u * kRounds);
  // The test proves nothing unless acknowledgements were lost.
  EXPECT_GT(proxy.cuts_after_request() + proxy.cuts_of_replies(), 3);

  const absl::StatusOr<std::vector<Item>> items =
      Through(proxy).ScanStream({.table_name = "Things", .limit = 10}).ToVector();
  ASSERT_TRUE(items.ok()) << items.status();
  ASSERT_EQ(items->size(), static_cast<size_t>(kRounds));
  for (int i = 0; i < kRounds; ++i) ASSERT_EQ((*items)[i], Thing(i));
}

TEST_F(BrokenStreamsTest, StreamsGoOnWithTheDaemonThatComesBack) {
  BulkWriter writer(*Client::Open({.endpoint = daemon_.endpoint(), .retry = {.max_attempts = 100}}),
                    {.max_chunk_writes = 10});
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(writer.Put("Things", Thing(i)).ok());
  // The daemon is killed with unacknowledged chunks and started again at the same address.
  daemon_.set_listen({daemon_.endpoint()});
  daemon_.Kill();
  const absl::Status started = daemon_.Start();
  ASSERT_TRUE(started.ok()) << started;
  for (int i = 200; i < 400; ++i) ASSERT_TRUE(writer.Put("Things", Thing(i)).ok());
  const absl::StatusOr<BulkWriteResult> result = writer.Finish();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->applied, 400u);
  const absl::StatusOr<std::vector<Item>> items = client_->ScanStream({.table_name = "Things"}).ToVector();
  ASSERT_TRUE(items.ok()) << items.status();
  EXPECT_EQ(items->size(), 400u);
}

// The network loses every packet of the connections, and nobody closes them. Without keepalive the client
// would wait for its timeout of five minutes.
TEST_F(BrokenStreamsTest, StreamsGoOnAfterTheirConnectionFellSilent) {
  CuttingProxy proxy({.daemon_endpoint = daemon_.endpoint(), .pieces_per_cut = 0});
  const Client client =
      *Client::Open({.endpoint = proxy.endpoint(),
                     .timeout = absl::Minutes(5),
                     .keepalive = {.interval = absl::Seconds(2), .timeout = absl::Seconds(1)}});
  ASSERT_TRUE(client_->PutItem({.table_name = "Things", .item = Thing(0)}).ok());
  // The second chunk waits for the acknowledgement of the first, so the stream is open.
  BulkWriter writer(client, {.max_chunk_writes = 1, .chunks_under_way = 1});
  for (int i = 1; i <= 2; ++i) ASSERT_TRUE(writer.Put("Things", Thing(i)).ok());
  ChangeRange changes = client.Watch({.after_sequence = 0});
  const auto next_key = [&]() -> Item {
    const absl::StatusOr<std::optional<ChangeRecord>> change = changes.Next();
    EXPECT_TRUE(change.ok()) << change.status();
    return change.ok() && change->has_value() ? (*change)->key.value_or(Item()) : Item();
  };
  EXPECT_EQ(next_key(), Item());  // The table.
  EXPECT_EQ(next_key(), (Item{{"pk", "c"}, {"sk", 0}}));

  proxy.SilenceConnections();
  const absl::Time start = absl::Now();
  ASSERT_TRUE(client_->PutItem({.table_name = "Things", .item = Thing(3)}).ok());
  bool watched = false;
  for (int i = 0; i < 3 && !watched; ++i) watched = next_key() == Item{{"pk", "c"}, {"sk", 3}};
  EXPECT_TRUE(watched);
  ASSERT_TRUE(writer.Put("Things", Thing(4)).ok());
  const absl::StatusOr<BulkWriteResult> written = writer.Finish();
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->applied, 3u);
  EXPECT_LT(absl::Now() - start, absl::Seconds(40));
}

}  // namespace
}  // namespace itemdb
