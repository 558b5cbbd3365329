#include "daemon/rpc/raw_call.h"

#include <gtest/gtest.h>

#include <cstring>

#include "itemdb/v1/data.pb.h"
#include "storage/base/limits.h"

namespace itemdb::daemon {
namespace {

std::string Flatten(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(bytes.Dump(&slices).ok());
  std::string flat;
  for (const grpc::Slice& slice : slices)
    flat.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return flat;
}

grpc::ByteBuffer Buffer(const std::string& bytes) {
  grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

// Items encoded as storage returns them: each as field 2 of the reply.
std::string EncodeItems(const std::vector<v1::Item>& items) {
  v1::QueryReply reply;
  for (const v1::Item& item : items) *reply.add_items() = item;
  return reply.SerializeAsString();
}

TEST(RawCall, DecodesRequestsSpreadOverSlices) {
  wire::GetItemRequest request;
  request.set_table_name("orders");
  request.set_key(std::string(5'000, 'k'));
  std::string bytes = request.SerializeAsString();
  grpc::Slice slices[] = {grpc::Slice(bytes.substr(0, 3)), grpc::Slice(bytes.substr(3, 2'000)),
                          grpc::Slice(bytes.substr(2'003))};
  wire::GetItemRequest decoded;
  ASSERT_TRUE(DecodeRequest(grpc::ByteBuffer(slices, 3), decoded));
  EXPECT_EQ(decoded.key(), request.key());
}

TEST(RawCall, DecodesTheEmptyMessageFromNoBytes) {
  v1::GetStatusRequest request;
  EXPECT_TRUE(DecodeRequest(Buffer(""), request));
}

TEST(RawCall, RefusesBytesThatAreNoMessage) {
  const std::string rows[] = {
      std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11),  // A tag that never ends.
      std::string("\x0a\x05"
                  "abc",
                  5),                              // A name cut short.
      std::string("\x0a\x02\xc3\x28", 4),          // A name that is not UTF-8.
      std::string("\x07", 1),                      // A wire type that does not exist.
      std::string("\x0a\xff\xff\xff\xff\x0f", 6),  // A length beyond any message.
  };
  for (const std::string& bytes : rows) {
    wire::WriteItemRequest request;
    EXPECT_FALSE(DecodeRequest(Buffer(bytes), request));
  }
  grpc::ByteBuffer none;
  wire::WriteItemRequest request;
  EXPECT_FALSE(DecodeRequest(none, request));
}

TEST(RawCall, NamesTheMethodWhoseRequestDoesNotDecode) {
  absl::Status status = UndecodableRequest("itemdb.v1.Data/PutItem");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(storage::ReasonOf(status), storage::kReasonValidation);
  EXPECT_NE(storage::MessageOf(status).find("itemdb.v1.Data/PutItem"), std::string::npos);
}

TEST(RawCall, PagesReadAsThePublishedReplies) {
  const auto memory = std::make_shared<CallMemory>(1 << 20);
  v1::Item item;
  v1::Attribute* attribute = item.add_attributes();
  attribute->set_name("pk");
  attribute->mutable_value()->set_s("a");
  storage::Page page;
  page.reply.set_change_sequence(7);
  page.reply.set_count(2);
  page.reply.set_scanned_count(5);
  page.reply.set_last_evaluated_key(item.SerializeAsString());
  page.encoded_items = EncodeItems({item, v1::Item()});

  grpc::ByteBuffer bytes;
  ASSERT_TRUE(EncodeReply(std::move(page), memory, &bytes).status.ok());
  v1::QueryReply reply;
  ASSERT_TRUE(reply.ParseFromString(Flatten(bytes)));
  EXPECT_EQ(reply.change_sequence(), 7u);
  EXPECT_EQ(reply.count(), 2);
  EXPECT_EQ(reply.scanned_count(), 5);
  ASSERT_EQ(reply.items_size(), 2);
  EXPECT_EQ(reply.items(0).SerializeAsString(), item.SerializeAsString());
  EXPECT_EQ(reply.last_evaluated_key().SerializeAsString(), item.SerializeAsString());

  v1::ScanReply scan;
  ASSERT_TRUE(scan.ParseFromString(Flatten(bytes)));
  EXPECT_EQ(scan.items_size(), 2);
}

// A page has up to 1 MiB. Copying it would cost more than the rest of the daemon's work for the call.
TEST(RawCall, DoesNotCopyTheItemsOfAPage) {
  const auto memory = std::make_shared<CallMemory>(1 << 20);
  storage::Page page;
  page.encoded_items = std::string(100'000, 'i');
  const void* items = page.encoded_items.data();
  grpc::ByteBuffer bytes;
  ASSERT_TRUE(EncodeReply(std::move(page), memory, &bytes).status.ok());
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(bytes.Dump(&slices).ok());
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(static_cast<const void*>(slices[1].begin()), items);
}

// gRPC keeps the reply of a slow reader in memory after the call has been answered, and even after the server
// has been destroyed.
TEST(RawCall, CountsAReplyUntilGrpcLetsGoOfIt) {
  auto memory = std::make_shared<CallMemory>(1 << 20);
  storage::Page page;
  page.encoded_items = std::string(100'000, 'i');
  wire::GetItemReply reply;
  reply.set_item(std::string(50'000, 'i'));
  grpc::ByteBuffer bytes, more;
  ASSERT_TRUE(EncodeReply(std::move(page), memory, &bytes).status.ok());
  ASSERT_TRUE(EncodeReply(reply, memory, &more).status.ok());
  EXPECT_GE(memory->used_bytes(), 150'000);
  EXPECT_LT(memory->used_bytes(), 160'000);
  grpc::ByteBuffer sent = bytes;
  bytes.Clear();
  more.Clear();
  EXPECT_GE(memory->used_bytes(), 100'000);
  sent.Clear();
  EXPECT_EQ(memory->used_bytes(), 0);
}

TEST(CallMemory, LetsInWhatIsAloneOrFits) {
  CallMemory memory(100);
  EXPECT_TRUE(memory.TryReserve(1'000)) << "longer than all there is, and alone";
  EXPECT_FALSE(memory.TryReserve(1));
  memory.Release(1'000);
  EXPECT_TRUE(memory.TryReserve(60));
  EXPECT_TRUE(memory.TryReserve(40));
  EXPECT_FALSE(memory.TryReserve(1));
  memory.Release(100);
  EXPECT_EQ(memory.used_bytes(), 0);
}

TEST(RawCall, RefusesRepliesLongerThanAMessage) {
  const auto memory = std::make_shared<CallMemory>(1 << 20);
  storage::Page page;
  page.encoded_items = std::string(storage::kMaxMessageBytes + 1, 'i');
  grpc::ByteBuffer bytes;
  EXPECT_EQ(EncodeReply(std::move(page), memory, &bytes).status.error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  wire::GetItemReply reply;
  reply.set_item(std::string(storage::kMaxMessageBytes, 'i'));
  EXPECT_EQ(EncodeReply(reply, memory, &bytes).status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

}  // namespace
}  // namespace itemdb::daemon
