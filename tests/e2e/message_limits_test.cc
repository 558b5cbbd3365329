// Long requests and long replies: up to 17 MiB, and the errors for longer ones.
#include <chrono>

#include "itemdb/v1/data.pb.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/processes/raw_client.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr size_t kMaxMessageBytes = 17 << 20;
// The length of a text for an item of nearly 400 KB.
constexpr size_t kLargeText = 409'000;

class MessageLimitsTest : public E2eTest {
 protected:
  void SetUp() override {
    E2eTest::SetUp();
    ASSERT_TRUE(OpenClient()
                    .CreateTable({.table_name = "large",
                                  .attribute_definitions = {{"id", ScalarAttributeType::kString}},
                                  .key_schema = {{"id", KeyType::kHash}}})
                    .ok());
  }

  static Item LargeItem(int number) {
    return {{"id", "item-" + std::to_string(number)}, {"text", std::string(kLargeText, 'x')}};
  }

  // Writes LargeItem 0 to `count` - 1.
  void FillWithLargeItems(int count) {
    Client client = OpenClient();
    for (int i = 0; i < count;) {
      BatchWriteItemRequest batch;
      for (; i < count && batch.writes.size() < 25; ++i) {
        batch.writes.push_back(BatchPut{.table_name = "large", .item = LargeItem(i)});
      }
      absl::StatusOr<BatchWriteItemResult> written = client.BatchWriteItem(batch);
      ASSERT_TRUE(written.ok()) << written.status();
    }
  }

  // A transaction that is cancelled with `count` reasons, each with a large item.
  static TransactWriteItemsRequest Cancelled(int count) {
    TransactWriteItemsRequest request;
    for (int i = 0; i < count; ++i) {
      request.actions.push_back(ConditionCheck{
          .table_name = "large",
          .key = {{"id", "item-" + std::to_string(i)}},
          .condition_expression = "attribute_not_exists(id)",
          .return_values_on_condition_check_failure = ReturnValuesOnConditionCheckFailure::kAllOld});
    }
    return request;
  }
};

// The largest possible batch, 25 items of 400 KB, is far below the limit.
TEST_F(MessageLimitsTest, TheLargestBatchIsTaken) {
  FillWithLargeItems(25);
  Client client = OpenClient();
  absl::StatusOr<std::vector<Item>> items = client.ScanAll({.table_name = "large"}).ToVector();
  ASSERT_TRUE(items.ok()) << items.status();
  EXPECT_THAT(*items, SizeIs(25));
  ExpectCheckIsClean();
}

TEST_F(MessageLimitsTest, RequestsBeyond17MiBAreRefusedAndTheConnectionLives) {
  const uint64_t before = ChangeSequence();
  const RawClient client(daemon_.endpoint());
  v1::PutItemRequest request;
  request.set_table_name("large");
  v1::Attribute* id = request.mutable_item()->add_attributes();
  id->set_name("id");
  id->mutable_value()->set_s("too large");
  v1::Attribute* text = request.mutable_item()->add_attributes();
  text->set_name("text");
  text->mutable_value()->set_s(std::string(kMaxMessageBytes - request.ByteSizeLong() - 40, 'x'));
  text->mutable_value()->mutable_s()->append(kMaxMessageBytes - request.ByteSizeLong(), 'x');
  ASSERT_EQ(request.ByteSizeLong(), kMaxMessageBytes);

  // At the limit the daemon parses the request, and finds an item that is too large.
  RawReply reply = client.Call("itemdb.v1.Data/PutItem", request.SerializeAsString());
  EXPECT_EQ(reply.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(reply.status.error_message(), HasSubstr("409600"));

  // A request that is one byte longer is not read.
  text->mutable_value()->mutable_s()->push_back('x');
  reply = client.Call("itemdb.v1.Data/PutItem", request.SerializeAsString());
  EXPECT_EQ(reply.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(reply.status.error_message(), HasSubstr(std::to_string(kMaxMessageBytes)));

  EXPECT_TRUE(client.Call("itemdb.v1.Admin/GetStatus", "").status.ok());
  EXPECT_EQ(ChangeSequence(), before);
}

TEST_F(MessageLimitsTest, TheClientRefusesALongerRequestWithoutSendingIt) {
  TransactWriteItemsRequest request;
  for (int i = 0; i < 45; ++i)
    request.actions.push_back(TransactPut{.table_name = "large", .item = LargeItem(i)});
  const absl::Status status = OpenClient().TransactWriteItems(request).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(std::to_string(kMaxMessageBytes)));
}

// The reply to a cancelled transaction can have up to 100 items. A reply of up to 17 MiB arrives; a longer
// one becomes an error. In both cases nothing was applied.
TEST_F(MessageLimitsTest, RepliesUpTo17MiBArrive) {
  FillWithLargeItems(45);
  const uint64_t before = ChangeSequence();
  Client client = OpenClient();

  const absl::Status cancelled = client.TransactWriteItems(Cancelled(43)).status();
  EXPECT_EQ(ReasonOf(cancelled), kReasonTransactionCancelled) << cancelled;
  const std::vector<CancellationReason> reasons = CancellationReasons(cancelled);
  ASSERT_THAT(reasons, SizeIs(43));
  for (int i = 0; i < 43; ++i) EXPECT_EQ(reasons[i].item, LargeItem(i));

  const absl::Status too_long = client.TransactWriteItems(Cancelled(45)).status();
  EXPECT_TRUE(absl::IsResourceExhausted(too_long)) << too_long;
  EXPECT_THAT(std::string(too_long.message()), HasSubstr(std::to_string(kMaxMessageBytes)));
  EXPECT_EQ(ChangeSequence(), before);
}

// A page ends at 1 MiB (SEM-027), so a long answer consists of many short messages.
TEST_F(MessageLimitsTest, LongAnswersComeInPages) {
  FillWithLargeItems(25);
  Client client = OpenClient();
  absl::StatusOr<ItemPage> page = client.Scan({.table_name = "large"});
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(page->items, SizeIs(3)) << "the item that crosses the limit is part of the page";
  EXPECT_TRUE(page->last_evaluated_key.has_value());
  EXPECT_THAT(Lines({"scan", "large"}), SizeIs(25));
}

// After a long request gRPC 1.51 may wait ten seconds for its own poller when it shuts down. It used to shut
// down whenever the only client of a process was destroyed.
TEST_F(MessageLimitsTest, DroppingAClientAfterALongRequestDoesNotBlock) {
  TransactWriteItemsRequest request;
  for (int i = 0; i < 20; ++i)
    request.actions.push_back(TransactPut{.table_name = "large", .item = LargeItem(i)});
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const absl::Status status = OpenClient().TransactWriteItems(request).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
  }
}

}  // namespace
}  // namespace itemdb::e2e
