// Too many and too large requests at once are refused with a reason, in bounded memory, and do not disturb
// other calls. The default sizes take seconds; with ITEMDB_FULL_PRESSURE set the test uses 10,000 streams and
// 1,000 requests of 16 MB.
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "itemdb/bulk_writer.h"
#include "itemdb/v1/data.pb.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/processes/raw_client.h"
#include "tests/support/error_details.h"

namespace itemdb::e2e {
namespace {

constexpr int kStreamsPerConnection = 1'000;

bool Full() { return std::getenv("ITEMDB_FULL_PRESSURE") != nullptr; }

// A stream of pages that is opened and never read from.
class StalledStream : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  StalledStream(grpc::GenericStub& stub, const std::string& request, std::atomic<int>& open) : open_(open) {
    const grpc::Slice slice(request);
    request_ = grpc::ByteBuffer(&slice, 1);
    ++open_;
    stub.PrepareBidiStreamingCall(&context_, "/itemdb.v1.Data/ScanStream", grpc::StubOptions(), this);
    StartWriteLast(&request_, grpc::WriteOptions());
    StartCall();
  }

  void Cancel() { context_.TryCancel(); }
  void OnDone(const grpc::Status& status) override {
    status_ = status;
    --open_;
  }
  // Valid when no stream is open any more.
  const grpc::Status& status() const { return status_; }

 private:
  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  std::atomic<int>& open_;
  grpc::Status status_;
};

class PressureTest : public E2eTest {
 protected:
  void SetUp() override {
    const absl::Status started = daemon_.Start({"--memory", std::to_string(kSmallMemoryMib) + "MiB"});
    ASSERT_TRUE(started.ok()) << started;
    Client client = OpenClient();
    ASSERT_TRUE(client
                    .CreateTable({.table_name = "Things",
                                  .attribute_definitions = {{"pk", ScalarAttributeType::kString}},
                                  .key_schema = {{"pk", KeyType::kHash}}})
                    .ok());
    BulkWriter writer(client);
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(writer.Put("Things", {{"pk", std::to_string(i)}, {"a", std::string(100'000, 'x')}}).ok());
    }
    ASSERT_TRUE(writer.Finish().ok());
  }
};

TEST_F(PressureTest, StreamsThatNobodyReadsAreBoundedAndOthersAreServed) {  // Streams of pages (EXT-01).
  const int streams = Full() ? 10'000 : 2'000;
  v1::ScanStreamRequest request;
  request.mutable_scan()->set_table_name("Things");
  const std::string bytes = request.SerializeAsString();
  std::atomic<int> open = 0;
  std::vector<std::unique_ptr<RawClient>> clients;
  std::vector<std::unique_ptr<grpc::GenericStub>> stubs;
  std::vector<std::unique_ptr<StalledStream>> stalled;
  for (int i = 0; i < streams; ++i) {
    if (i % kStreamsPerConnection == 0) {
      clients.push_back(std::make_unique<RawClient>(daemon_.endpoint()));
      stubs.push_back(std::make_unique<grpc::GenericStub>(clients.back()->channel()));
    }
    stalled.push_back(std::make_unique<StalledStream>(*stubs.back(), bytes, open));
  }
  // The first streams hold their page; when there is no memory for more, the others are refused.
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (open > streams / 2 && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_LE(open, streams / 2);
  // Half of the memory for calls is reserved for other calls.
  Client client = OpenClient();
  EXPECT_TRUE(client.PutItem({.table_name = "Things", .item = {{"pk", "new"}}}).ok());
  EXPECT_TRUE(client.GetItem({.table_name = "Things", .key = {{"pk", "7"}}}).ok());

  for (auto& stream : stalled) stream->Cancel();
  while (open > 0 && std::chrono::steady_clock::now() < give_up)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (open > 0) {
    std::fprintf(stderr, "%d streams do not end\n", open.load());
    std::abort();  // The streams would outlive objects that they refer to.
  }
  int refused = 0;
  for (auto& stream : stalled) {
    if (stream->status().error_code() == grpc::StatusCode::CANCELLED) continue;
    ++refused;
    EXPECT_EQ(DetailsOf(stream->status()).reason, "CALLS_FULL") << stream->status().error_message();
  }
  EXPECT_GT(refused, streams / 2);
  std::printf("%d streams, %d refused; highest RSS %d MiB with --memory %dMiB\n", streams, refused,
              HighestRssMib(), kSmallMemoryMib);
  EXPECT_LT(HighestRssMib(), kMaxRssMib);
  EXPECT_EQ(client.ScanStream({.table_name = "Things"}).ToVector()->size(), 201u);
}

TEST_F(PressureTest, LongRequestsAreRefusedInBoundedMemory) {  // A request has at most 16 MiB (SEM-018).
  const int requests = Full() ? 1'000 : 60;
  constexpr int kThreads = 20;
  v1::PutItemRequest request;
  request.set_table_name("Things");
  v1::Attribute* attribute = request.mutable_item()->add_attributes();
  attribute->set_name("pk");
  attribute->mutable_value()->set_s(std::string(16'000'000, 'x'));
  const std::string bytes = request.SerializeAsString();
  std::atomic<int> next = 0;
  std::atomic<int> too_large = 0;
  std::atomic<int> full = 0;
  std::mutex mutex;
  std::vector<std::string> others;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const RawClient client(daemon_.endpoint());
      while (next++ < requests) {
        const RawReply reply = client.Call("itemdb.v1.Data/PutItem", bytes);
        if (reply.reason == "VALIDATION") {
          ++too_large;
        } else if (reply.status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED ||
                   reply.status.error_code() == grpc::StatusCode::UNAVAILABLE) {
          // CALLS_FULL, or gRPC had no buffers left and closed the connection.
          ++full;
        } else {
          std::lock_guard<std::mutex> lock(mutex);
          others.push_back(std::to_string(reply.status.error_code()) + " " + reply.status.error_message());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(others, ::testing::IsEmpty());
  std::printf(
      "%d requests of 16 MB: %d too large, %d found no memory; highest RSS %d MiB with --memory %dMiB\n",
      requests, too_large.load(), full.load(), HighestRssMib(), kSmallMemoryMib);
  EXPECT_LT(HighestRssMib(), kMaxRssMib);
  EXPECT_TRUE(OpenClient().PutItem({.table_name = "Things", .item = {{"pk", "new"}}}).ok());
}

// Values have at most 32 levels (SEM-017), also in a BulkWrite (EXT-03).
TEST_F(PressureTest, AbsurdNestingEndsNoStreamButItsOwn) {
  const auto field = [](int number, const std::string& content) {
    std::string text(1, static_cast<char>(number << 3 | 2));
    size_t length = content.size();
    for (; length >= 0x80; length >>= 7) text.push_back(static_cast<char>((length & 0x7f) | 0x80));
    text.push_back(static_cast<char>(length));
    return text + content;
  };
  // Lists nested 10,000 levels deep, which no library would encode.
  std::string value;
  for (int i = 0; i < 10'000; ++i) value = field(v1::AttributeValue::kLFieldNumber, field(1, value));
  const std::string item = field(1, field(1, "pk") + field(2, value));
  const std::string put = field(1, field(1, item));
  const std::string chunk = std::string("\x08\x01") + field(2, field(1, "Things") + field(2, put));
  const RawReply reply = RawClient(daemon_.endpoint()).Exchange("itemdb.v1.Data/BulkWrite", chunk);
  EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  v1::BulkWriteReply acknowledged;
  ASSERT_TRUE(acknowledged.ParseFromString(reply.bytes));
  ASSERT_EQ(acknowledged.rejected_size(), 1);
  EXPECT_EQ(acknowledged.rejected(0).reason(), "VALIDATION");
}

}  // namespace
}  // namespace itemdb::e2e
