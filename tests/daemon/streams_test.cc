// QueryStream, ScanStream and BulkWrite, called as a client in any language does.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>
#include <vector>

#include "daemon/config/memory_budget.h"
#include "tests/daemon/server_fixture.h"

namespace itemdb::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kStreamsMiB = 1 << 20;

class Streams : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    ASSERT_TRUE(CreateTable("orders").ok());
  }

  // `count` items of the collection "c", each with `padding` bytes.
  void Fill(int count, size_t padding = 0) {
    for (int i = 0; i < count; ++i) {
      v1::Item item = Key("c", std::to_string(10'000 + i));
      AddString(&item, "padding", std::string(padding, 'x'));
      ASSERT_TRUE(Put("orders", item).ok());
    }
  }
  static v1::ScanStreamRequest ScanOf(const std::string& table, int limit = 0) {
    v1::ScanStreamRequest request;
    request.mutable_scan()->set_table_name(table);
    if (limit > 0) request.mutable_scan()->set_limit(limit);
    return request;
  }
  static v1::QueryStreamRequest QueryOf(const std::string& table) {
    v1::QueryStreamRequest request;
    request.mutable_query()->set_table_name(table);
    request.mutable_query()->set_key_condition_expression("pk = :pk");
    (*request.mutable_query()->mutable_expression_attribute_values())[":pk"].set_s("c");
    return request;
  }
  // Restarts the server with `bytes` of memory for calls.
  void StartWithCallBytes(size_t bytes) {
    server_.reset();
    ServerOptions options = OptionsFor("127.0.0.1:0");
    options.call_bytes = bytes;
    auto server = Server::Start(*database_, std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = Connect(server_->addresses()[0]);
    data_ = v1::Data::NewStub(channel_);
  }

  static v1::BulkWriteChunk Chunk(uint64_t number, const std::vector<std::string>& keys) {
    v1::BulkWriteChunk chunk;
    chunk.set_chunk_number(number);
    v1::TableWriteRequests* table = chunk.add_request_items();
    table->set_table_name("orders");
    for (const std::string& key : keys) {
      *table->add_write_requests()->mutable_put_request()->mutable_item() = Key("c", key);
    }
    return chunk;
  }
};

TEST_F(Streams, GiveAllPagesInOrder) {  // The pages of a Query or Scan, one after the other (EXT-01).
  Fill(25);
  grpc::ClientContext scan_context;
  auto scan = data_->ScanStream(&scan_context, ScanOf("orders", /*limit=*/10));
  std::vector<int> pages;
  std::vector<std::string> keys;
  v1::ScanReply page;
  while (scan->Read(&page)) {
    pages.push_back(page.items_size());
    EXPECT_EQ(page.change_sequence(), 26u);
    EXPECT_EQ(page.has_last_evaluated_key(), pages.size() < 3);
    for (const v1::Item& item : page.items()) keys.push_back(item.attributes(2).value().s());
  }
  EXPECT_TRUE(scan->Finish().ok());
  EXPECT_THAT(pages, ElementsAre(10, 10, 5));
  EXPECT_EQ(keys.size(), 25u);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));

  grpc::ClientContext query_context;
  v1::QueryStreamRequest request = QueryOf("orders");
  request.mutable_query()->set_limit(20);
  request.mutable_query()->set_select(v1::SELECT_COUNT);
  auto query = data_->QueryStream(&query_context, request);
  std::vector<int64_t> counts;
  v1::QueryReply reply;
  while (query->Read(&reply)) {
    counts.push_back(reply.count());
    EXPECT_EQ(reply.items_size(), 0);
  }
  EXPECT_TRUE(query->Finish().ok());
  EXPECT_THAT(counts, ElementsAre(20, 5));
}

// Without `one_state` each page is read from a new snapshot (EXT-01); a later snapshot does not have the
// table, which is an error. With `one_state` all pages are read from one pinned snapshot (EXT-02).
TEST_F(Streams, GiveEveryItemOfATableThatIsDeletedMeanwhileOrAnError) {
  for (bool one_state : {false, true}) {
    SCOPED_TRACE(one_state);
    if (one_state) {
      ASSERT_TRUE(CreateTable("orders").ok());
    }
    // More bytes than gRPC buffers, so that later pages are read after the deletion.
    Fill(60, 300'000);
    grpc::ClientContext context;
    v1::ScanStreamRequest request = ScanOf("orders");
    request.set_one_state(one_state);
    auto scan = data_->ScanStream(&context, request);
    v1::ScanReply page;
    ASSERT_TRUE(scan->Read(&page));
    int items = page.items_size();
    v1::DeleteTableRequest deletion;
    deletion.set_table_name("orders");
    v1::DeleteTableReply deleted;
    grpc::ClientContext delete_context;
    ASSERT_TRUE(tables_->DeleteTable(&delete_context, deletion, &deleted).ok());
    while (scan->Read(&page)) items += page.items_size();
    const grpc::Status status = scan->Finish();
    if (one_state) {
      EXPECT_TRUE(status.ok()) << status.error_message();
      EXPECT_EQ(items, 60);
    } else {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
      EXPECT_EQ(DetailsOf(status).reason, "RESOURCE_NOT_FOUND");
      EXPECT_LT(items, 60);
    }
  }
}

TEST_F(Streams, EndWithTheErrorOfTheirRequest) {  // A stream of pages (EXT-01).
  grpc::ClientContext missing;
  v1::ScanReply page;
  auto scan = data_->ScanStream(&missing, ScanOf("nothing"));
  EXPECT_FALSE(scan->Read(&page));
  grpc::Status status = scan->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DetailsOf(status).reason, "RESOURCE_NOT_FOUND");

  grpc::ClientContext bad;
  auto query = data_->QueryStream(&bad, v1::QueryStreamRequest());
  v1::QueryReply reply;
  EXPECT_FALSE(query->Read(&reply));
  EXPECT_EQ(query->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

// Pages read from new snapshots (EXT-01), or with `one_state` from one pinned snapshot (EXT-02).
TEST_F(Streams, ReadEachPageFromTheStateOfItsMomentUnlessOneIsAskedFor) {
  // More bytes than gRPC buffers, so that later pages are read after the write below.
  Fill(60, 300'000);
  for (bool one_state : {false, true}) {
    SCOPED_TRACE(one_state);
    grpc::ClientContext context;
    v1::ScanStreamRequest request = ScanOf("orders");
    request.set_one_state(one_state);
    auto scan = data_->ScanStream(&context, request);
    v1::ScanReply page;
    ASSERT_TRUE(scan->Read(&page));
    const uint64_t first = page.change_sequence();
    ASSERT_TRUE(Put("orders", Key("c", one_state ? "9998" : "9999")).ok());
    uint64_t last = first;
    int items = page.items_size();
    while (scan->Read(&page)) {
      last = page.change_sequence();
      items += page.items_size();
    }
    EXPECT_TRUE(scan->Finish().ok());
    EXPECT_EQ(last > first, !one_state);
    EXPECT_EQ(items, 61);
  }
}

// The next page is read after the previous one was accepted (EXT-01).
TEST_F(Streams, CostOnePageWhenTheirClientDoesNotRead) {
  Fill(80, 300'000);
  StartWithCallBytes(64 * kStreamsMiB);
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::ScanReply>>> streams;
  for (int i = 0; i < 8; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    streams.push_back(data_->ScanStream(contexts.back().get(), ScanOf("orders")));
  }
  // A page ends with the item that crosses 1 MiB; buffers of strings may be twice as large.
  int64_t bytes = SettledCallBytes(8 * kStreamsMiB);
  EXPECT_GT(bytes, 8 * kStreamsMiB);
  EXPECT_LE(bytes, 8 * 3 * kStreamsMiB);
  // The streams continue when the client reads, and hold no bytes at the end.
  for (auto& stream : streams) {
    v1::ScanReply page;
    int items = 0;
    while (stream->Read(&page)) items += page.items_size();
    EXPECT_EQ(items, 80);
    EXPECT_TRUE(stream->Finish().ok());
  }
  ExpectNoCallBytesInTheEnd();
}

TEST_F(Streams, LeaveHalfOfTheMemoryToOtherCalls) {  // A stream of pages (EXT-01).
  Fill(80, 300'000);
  StartWithCallBytes(10 * kStreamsMiB);
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::ScanReply>>> streams;
  int refused = 0;
  for (int i = 0; i < 20; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    streams.push_back(data_->ScanStream(contexts.back().get(), ScanOf("orders")));
  }
  EXPECT_LE(SettledCallBytes(0), 10 * kStreamsMiB);
  EXPECT_TRUE(Put("orders", Key("c", "0")).ok());
  for (auto& stream : streams) {
    v1::ScanReply page;
    while (stream->Read(&page)) {
    }
    grpc::Status status = stream->Finish();
    if (status.ok()) continue;
    ++refused;
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(DetailsOf(status).reason, "CALLS_FULL");
    EXPECT_GT(DetailsOf(status).retry_after_ms, 0);
  }
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 20);
}

TEST_F(Streams, EndWhenTheClientCancelsOrTheDeadlinePasses) {  // A stream of pages (EXT-01).
  Fill(80, 300'000);
  {
    grpc::ClientContext context;
    auto scan = data_->ScanStream(&context, ScanOf("orders"));
    EXPECT_GT(SettledCallBytes(0), 0);
    context.TryCancel();
    EXPECT_EQ(scan->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  ExpectNoCallBytesInTheEnd();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(300));
  auto scan = data_->ScanStream(&context, ScanOf("orders"));
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  v1::ScanReply page;
  while (scan->Read(&page)) {
  }
  EXPECT_EQ(scan->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  ExpectNoCallBytesInTheEnd();
}

TEST_F(Streams, EndWhenTheServerStops) {  // Streams of pages (EXT-01) and of chunks (EXT-03).
  Fill(80, 300'000);
  grpc::ClientContext stalled_context;
  auto stalled = data_->ScanStream(&stalled_context, ScanOf("orders"));
  EXPECT_GT(SettledCallBytes(0), 0);
  grpc::ClientContext idle_context;
  auto idle = data_->BulkWrite(&idle_context);
  ASSERT_TRUE(idle->Write(Chunk(1, {"a"})));
  v1::BulkWriteReply acknowledged;
  ASSERT_TRUE(idle->Read(&acknowledged));
  // The grace period of an hour is for single calls; streams end at once.
  server_->Stop(std::chrono::hours(1));
  EXPECT_FALSE(idle->Read(&acknowledged));
  grpc::Status status = idle->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("stopping"));
  v1::ScanReply page;
  while (stalled->Read(&page)) {
  }
  EXPECT_FALSE(stalled->Finish().ok());
  server_.reset();
}

TEST_F(Streams, OfChunksAreAcknowledgedInOrder) {  // Chunks are applied and acknowledged in order (EXT-03).
  grpc::ClientContext context;
  auto bulk = data_->BulkWrite(&context);
  std::thread writer([&] {
    for (int i = 1; i <= 100; ++i) bulk->Write(Chunk(i, {std::to_string(i), "same"}));
    bulk->WritesDone();
  });
  v1::BulkWriteReply reply;
  uint64_t number = 0;
  uint64_t sequence = 0;
  while (bulk->Read(&reply)) {
    EXPECT_EQ(reply.chunk_number(), ++number);
    EXPECT_GE(reply.change_sequence(), sequence);
    sequence = reply.change_sequence();
    EXPECT_EQ(reply.rejected_size(), 0);
  }
  writer.join();
  EXPECT_TRUE(bulk->Finish().ok());
  EXPECT_EQ(number, 100u);
}

TEST_F(Streams, OfChunksHoldABoundedNumberOfThem) {  // Several chunks may be unacknowledged (EXT-03).
  StartWithCallBytes(64 * kStreamsMiB);
  grpc::ClientContext context;
  auto bulk = data_->BulkWrite(&context);
  // Chunks of 4 MB; the client reads no acknowledgements, so the server stops reading chunks.
  std::thread writer([&] {
    for (int i = 1; i <= 40; ++i) {
      v1::BulkWriteChunk chunk = Chunk(i, {});
      for (int j = 0; j < 10; ++j) {
        v1::Item item = Key("c", std::to_string(i * 100 + j));
        AddString(&item, "padding", std::string(390'000, 'x'));
        *chunk.mutable_request_items(0)->add_write_requests()->mutable_put_request()->mutable_item() = item;
      }
      if (!bulk->Write(chunk)) break;
    }
    bulk->WritesDone();
  });
  int64_t highest = 0;
  v1::BulkWriteReply reply;
  int acknowledged = 0;
  while (bulk->Read(&reply)) {
    ++acknowledged;
    highest = std::max(highest, server_->call_bytes());
  }
  writer.join();
  EXPECT_TRUE(bulk->Finish().ok());
  EXPECT_EQ(acknowledged, 40);
  EXPECT_LE(highest, 32 * kStreamsMiB);
  ExpectNoCallBytesInTheEnd();
}

// With the least --memory a share of the memory for streams is as long as two copies of the longest chunk,
// and the streams themselves count too.
TEST_F(Streams, OfTheLongestChunksGoOnWithTheLeastMemory) {
  StartWithCallBytes(SplitMemory(kMinMemoryBytes).calls);
  grpc::ClientContext idle_context;
  auto idle = data_->BulkWrite(&idle_context);
  EXPECT_GT(SettledCallBytes(0), 0);
  grpc::ClientContext context;
  auto bulk = data_->BulkWrite(&context);
  v1::BulkWriteReply reply;
  constexpr int kChunks = 3;
  for (int i = 1; i <= kChunks; ++i) {
    v1::BulkWriteChunk chunk = Chunk(i, {});
    for (int j = 0; j < 11; ++j) {
      v1::Item item = Key("c", std::to_string(i * 100 + j));
      AddString(&item, "padding", std::string(381'000, 'x'));
      *chunk.mutable_request_items(0)->add_write_requests()->mutable_put_request()->mutable_item() = item;
    }
    ASSERT_LE(chunk.ByteSizeLong(), storage::kMaxBulkChunkBytes);
    ASSERT_GT(chunk.ByteSizeLong(), storage::kMaxBulkChunkBytes - 5'000);
    ASSERT_TRUE(bulk->Write(chunk));
  }
  bulk->WritesDone();
  int acknowledged = 0;
  while (bulk->Read(&reply)) ++acknowledged;
  const grpc::Status status = bulk->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(acknowledged, kChunks);
  idle->WritesDone();
  EXPECT_TRUE(idle->Finish().ok());
  ExpectNoCallBytesInTheEnd();
}

// A chunk out of order, too long or empty ends the stream (EXT-03).
TEST_F(Streams, OfChunksEndWithTheFirstThatFails) {
  grpc::ClientContext context;
  auto bulk = data_->BulkWrite(&context);
  bulk->Write(Chunk(1, {"a"}));
  bulk->Write(Chunk(3, {"b"}));
  bulk->Write(Chunk(2, {"c"}));
  v1::BulkWriteReply reply;
  ASSERT_TRUE(bulk->Read(&reply));
  EXPECT_EQ(reply.chunk_number(), 1u);
  EXPECT_FALSE(bulk->Read(&reply));
  grpc::Status status = bulk->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("chunk 3 came where chunk 2 belongs"));
  EXPECT_EQ(DetailsOf(status).reason, "VALIDATION");
}

// Writes that can never be applied are rejected by position (EXT-03).
TEST_F(Streams, OfChunksNameTheWritesTheyReject) {
  grpc::ClientContext context;
  auto bulk = data_->BulkWrite(&context);
  v1::BulkWriteChunk chunk = Chunk(1, {"a", "b"});
  chunk.mutable_request_items(0)->mutable_write_requests(0)->mutable_put_request()->mutable_item()->Clear();
  bulk->Write(chunk);
  bulk->WritesDone();
  v1::BulkWriteReply reply;
  ASSERT_TRUE(bulk->Read(&reply));
  ASSERT_EQ(reply.rejected_size(), 1);
  EXPECT_EQ(reply.rejected(0).index(), 0);
  EXPECT_EQ(reply.rejected(0).reason(), "VALIDATION");
  EXPECT_FALSE(bulk->Read(&reply));
  EXPECT_TRUE(bulk->Finish().ok());
}

}  // namespace
}  // namespace itemdb::daemon
