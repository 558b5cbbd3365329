// Watch, called as a client in any language does.
#include <gmock/gmock.h>

#include <thread>

#include "tests/daemon/server_fixture.h"

namespace itemdb::daemon {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;

class Watch : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    ASSERT_TRUE(CreateTable("orders").ok());
    v1::UpdateTableRequest request;
    request.set_table_name("orders");
    request.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_IMAGE);
    v1::UpdateTableReply reply;
    grpc::ClientContext context;
    ASSERT_TRUE(tables_->UpdateTable(&context, request, &reply).ok());
  }

  void PutPadded(int i, size_t padding) {
    v1::Item item = Key("c", std::to_string(i));
    AddString(&item, "padding", std::string(padding, 'x'));
    ASSERT_TRUE(Put("orders", item).ok());
  }
  std::unique_ptr<grpc::ClientReader<v1::WatchReply>> Open(grpc::ClientContext& context, uint64_t after) {
    v1::WatchRequest request;
    request.set_after_sequence(after);
    request.set_progress_interval_ms(20);
    return changes_->Watch(&context, request);
  }
};

TEST_F(Watch, TellsOfEveryChangeAndOfNone) {  // Each change exactly once, in commit order (SEM-107).
  grpc::ClientContext context;
  auto watch = Open(context, 2);
  v1::WatchReply reply;
  ASSERT_TRUE(watch->Read(&reply));  // Only a position, no records.
  EXPECT_EQ(reply.records_size(), 0);
  EXPECT_EQ(reply.change_sequence(), 2u);
  EXPECT_EQ(reply.oldest_sequence(), 1u);
  for (int i = 0; i < 5; ++i) {
    PutPadded(i, 10);
    do {
      ASSERT_TRUE(watch->Read(&reply));
    } while (reply.records_size() == 0);
    ASSERT_EQ(reply.records_size(), 1);
    EXPECT_EQ(reply.records(0).kind(), v1::CHANGE_KIND_INSERT);
    EXPECT_EQ(reply.records(0).change_sequence(), 3u + i);
    EXPECT_EQ(reply.records(0).key().attributes(1).value().s(), std::to_string(i));
    EXPECT_EQ(reply.records(0).new_image().attributes_size(), 3);
  }
  context.TryCancel();
  while (watch->Read(&reply)) {
  }
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

// A client that does not read must not delay writers and must not fill memory. It still gets all changes when
// it reads.
TEST_F(Watch, WaitsForAClientThatDoesNotRead) {
  constexpr int kWatchers = 8;
  constexpr int kWrites = 80;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::WatchReply>>> watchers;
  for (int i = 0; i < kWatchers; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    watchers.push_back(Open(*contexts.back(), 2));
  }
  for (int i = 0; i < kWrites; ++i) PutPadded(i, 300'000);
  // A reply ends with the record that crosses 1 MiB; buffers of strings may be twice as large.
  EXPECT_LE(SettledCallBytes(0), kWatchers * 3 * kMiB);
  for (auto& watch : watchers) {
    v1::WatchReply reply;
    uint64_t expected = 3;
    while (expected < 3 + kWrites) {
      ASSERT_TRUE(watch->Read(&reply));
      for (const auto& record : reply.records()) ASSERT_EQ(record.change_sequence(), expected++);
    }
  }
  for (auto& context : contexts) context->TryCancel();
  for (auto& watch : watchers) {
    v1::WatchReply reply;
    while (watch->Read(&reply)) {
    }
    EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  ExpectNoCallBytesInTheEnd();
}

TEST_F(Watch, EndsWithTheErrorOfItsRequest) {
  v1::WatchRequest request;
  request.set_table_name("nothing");
  grpc::ClientContext missing;
  v1::WatchReply reply;
  auto watch = changes_->Watch(&missing, request);
  EXPECT_FALSE(watch->Read(&reply));
  grpc::Status status = watch->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DetailsOf(status).reason, "RESOURCE_NOT_FOUND");
  request.set_progress_interval_ms(1);
  grpc::ClientContext bad;
  watch = changes_->Watch(&bad, request);
  EXPECT_FALSE(watch->Read(&reply));
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(Watch, EndsBehindATableThatIsDeleted) {
  v1::WatchRequest request;
  request.set_table_name("orders");
  request.set_after_sequence(0);
  grpc::ClientContext context;
  auto watch = changes_->Watch(&context, request);
  v1::WatchReply reply;
  ASSERT_TRUE(watch->Read(&reply));
  v1::DeleteTableRequest table;
  table.set_table_name("orders");
  v1::DeleteTableReply deleted;
  grpc::ClientContext delete_context;
  ASSERT_TRUE(tables_->DeleteTable(&delete_context, table, &deleted).ok());
  v1::ChangeKind last = v1::CHANGE_KIND_UNSPECIFIED;
  while (watch->Read(&reply))
    if (reply.records_size() > 0) last = reply.records().rbegin()->kind();
  EXPECT_TRUE(watch->Finish().ok());
  EXPECT_EQ(last, v1::CHANGE_KIND_DELETE_TABLE);
}

TEST_F(Watch, EndsWhenTheServerStops) {
  grpc::ClientContext context;
  v1::WatchRequest request;
  request.set_after_sequence(2);
  request.set_progress_interval_ms(60'000);
  auto watch = changes_->Watch(&context, request);
  PutPadded(1, 10);
  v1::WatchReply reply;
  ASSERT_TRUE(watch->Read(&reply));
  // The watch now waits for the next change, for up to a minute.
  server_->Stop(std::chrono::hours(1));
  EXPECT_FALSE(watch->Read(&reply));
  grpc::Status status = watch->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("stopping"));
  server_.reset();
}

}  // namespace
}  // namespace itemdb::daemon
