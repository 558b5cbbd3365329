// Operations whose caller no longer waits: the work stops, and a write that has not begun is not applied.

#include "storage/base/cancellation.h"

#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

MATCHER(IsCancelled, "") {
  const absl::Status& status = arg;
  *result_listener << status.ToString();
  return absl::IsCancelled(status) && ReasonOf(status) == kReasonCancelled;
}
MATCHER(IsTooLate, "") {
  const absl::Status& status = arg;
  *result_listener << status.ToString();
  return absl::IsDeadlineExceeded(status) && ReasonOf(status) == kReasonDeadlineExceeded;
}

CancellationPtr Cancelled() {
  auto cancellation = std::make_shared<Cancellation>();
  cancellation->Cancel();
  return cancellation;
}
CancellationPtr DeadlineIn(std::chrono::microseconds time) {
  return std::make_shared<Cancellation>(Cancellation::Clock::now() + time);
}

class CancellationTest : public ::testing::Test {
 protected:
  CancellationTest() { database_.CreateTable(TableRequest("Things")); }

  absl::StatusOr<wire::WriteItemReply> Put(const std::string& sk, CancellationPtr cancellation) {
    auto request = WriteRequest("Things", {{"pk", S("p")}, {"sk", S(sk)}});
    return Await<wire::WriteItemReply>(
        [&](auto done) { database_->PutItem(request, std::move(done), std::move(cancellation)); });
  }
  // Puts `count` items of 100 bytes, in batches of 25.
  void Fill(int count) {
    for (int i = 0; i < count;) {
      wire::BatchWriteItemRequest batch;
      auto* table = batch.add_request_items();
      table->set_table_name("Things");
      for (int in_batch = 0; in_batch < 25; ++in_batch, ++i) {
        table->add_write_requests()->mutable_put_request()->set_item(
            Encode({{"pk", S("p")}, {"sk", S(std::to_string(i))}, {"text", S(std::string(80, 'x'))}}));
      }
      ASSERT_TRUE(BatchWrite(database_, batch).ok());
    }
  }

  TestDatabase database_;
};

TEST_F(CancellationTest, AWriteWhoseTurnComesTooLateIsNotApplied) {
  EXPECT_THAT(Put("cancelled", Cancelled()).status(), IsCancelled());
  EXPECT_THAT(Put("late", DeadlineIn(std::chrono::microseconds(-1))).status(), IsTooLate());
  EXPECT_TRUE(Put("wanted", std::make_shared<Cancellation>()).ok());
  EXPECT_TRUE(Put("in time", DeadlineIn(std::chrono::hours(1))).ok());
  EXPECT_THAT(ScanAll(database_, ScanRequest("Things")),
              ::testing::ElementsAre("pk=p sk=in time", "pk=p sk=wanted"));
}

TEST_F(CancellationTest, ATransactionOrBatchIsCancelledAsAWhole) {
  wire::TransactWriteItemsRequest transaction;
  *transaction.add_transact_items()->mutable_put() = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("t")}});
  EXPECT_THAT(Await<wire::TransactWriteItemsReply>([&](auto done) {
                database_->TransactWriteItems(transaction, std::move(done), Cancelled());
              }).status(),
              IsCancelled());
  wire::BatchWriteItemRequest batch;
  auto* table = batch.add_request_items();
  table->set_table_name("Things");
  table->add_write_requests()->mutable_put_request()->set_item(Encode({{"pk", S("p")}, {"sk", S("b")}}));
  EXPECT_THAT(Await<wire::BatchWriteItemReply>([&](auto done) {
                database_->BatchWriteItem(batch, std::move(done), Cancelled());
              }).status(),
              IsCancelled());
  EXPECT_TRUE(ScanAll(database_, ScanRequest("Things")).empty());
}

TEST_F(CancellationTest, APageNobodyWaitsForIsNotRead) {
  Fill(25);
  EXPECT_THAT(Await<Page>([&](auto done) {
                database_->Scan(ScanRequest("Things"), std::move(done), Cancelled());
              }).status(),
              IsCancelled());
  EXPECT_THAT(Await<Page>([&](auto done) {
                database_->Query(QueryRequest("Things", "pk = :p", {{":p", S("p")}}), std::move(done),
                                 DeadlineIn(std::chrono::microseconds(-1)));
              }).status(),
              IsTooLate());
}

// A check of 20,000 items takes tens of milliseconds; one that tested the deadline only once would finish.
TEST_F(CancellationTest, LongWorkStopsInTheMiddle) {
  Fill(20'000);
  EXPECT_THAT(Await<v1::CheckDatabaseReply>([&](auto done) {
                database_->CheckDatabase({}, std::move(done), DeadlineIn(std::chrono::milliseconds(2)));
              }).status(),
              IsTooLate());
  // 150 operands for each of the 8,000 items of a page.
  auto scan = ScanRequest("Things");
  std::string filter;
  for (int i = 0; i < 150; ++i) filter += (i == 0 ? "" : " OR ") + std::string("contains(#t, :v)");
  scan.set_filter_expression(filter);
  auto* name = scan.add_expression_attribute_names();
  name->set_name("#t");
  name->set_value("text");
  auto* value = scan.add_expression_attribute_values();
  value->set_name(":v");
  value->set_value(S("absent").SerializeAsString());
  EXPECT_THAT(Await<Page>([&](auto done) {
                database_->Scan(scan, std::move(done), DeadlineIn(std::chrono::milliseconds(2)));
              }).status(),
              IsTooLate());
}

}  // namespace
}  // namespace itemdb::testing
