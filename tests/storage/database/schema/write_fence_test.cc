// The fence of a table that is moved to another database: writes are refused, all else goes on (OP-05).
#include <chrono>
#include <thread>

#include "common/signature/sigv4.h"
#include "tests/storage/database/items/time_to_live.h"
#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kTarget[] = "db2.example.com:7420";

class WriteFence : public ::testing::Test {
 protected:
  WriteFence() {
    database_.CreateTable(TableRequest("Things"));
    database_.CreateTable(TableRequest("Other"));
    EXPECT_TRUE(Put("a").ok());
  }
  absl::StatusOr<v1::UpdateTableReply> Fence(const std::string& endpoint, bool moved) {
    v1::UpdateTableRequest request;
    request.set_table_name("Things");
    request.mutable_write_fence()->set_endpoint(endpoint);
    request.mutable_write_fence()->set_moved(moved);
    return Await<v1::UpdateTableReply>([&](auto done) { database_->UpdateTable(request, std::move(done)); });
  }
  // Puts an item by BulkWrite with `pass`; without one into both tables.
  absl::StatusOr<wire::BulkWriteReply> BulkPut(const std::string& sk, const std::string& pass) {
    wire::BulkWriteChunk chunk;
    chunk.set_chunk_number(1);
    chunk.set_fence_pass(pass);
    for (const char* table : {"Other", "Things"}) {
      if (!pass.empty() && table == std::string_view("Other")) continue;
      auto* writes = chunk.add_request_items();
      writes->set_table_name(table);
      writes->add_write_requests()->mutable_put_request()->set_item(Encode({{"pk", S("p")}, {"sk", S(sk)}}));
    }
    const auto stream = database_->BeginBulkWrite();
    return Await<wire::BulkWriteReply>(
        [&](auto done) { database_->BulkWrite(*stream, chunk, std::move(done)); });
  }
  absl::Status FenceWithPass(const std::string& pass_sha256, const std::string& endpoint = kTarget) {
    v1::UpdateTableRequest request;
    request.set_table_name("Things");
    request.mutable_write_fence()->set_endpoint(endpoint);
    request.mutable_write_fence()->set_pass_sha256(pass_sha256);
    return Await<v1::UpdateTableReply>([&](auto done) { database_->UpdateTable(request, std::move(done)); })
        .status();
  }
  absl::Status Put(const std::string& sk, const std::string& table = "Things") {
    return database_.Put(table, {{"pk", S("p")}, {"sk", S(sk)}}).status();
  }
  // Every way to write an item of the table.
  std::vector<absl::Status> WriteInAllWays() {
    const Attributes key = {{"pk", S("p")}, {"sk", S("a")}};
    std::vector<absl::Status> refused;
    refused.push_back(Put("b"));
    refused.push_back(
        database_.Update(UpdateRequest("Things", key, "SET x = :v", {{":v", S("1")}})).status());
    refused.push_back(database_.Delete("Things", key).status());
    wire::BatchWriteItemRequest batch;
    for (const char* table : {"Other", "Things"}) {
      auto* writes = batch.add_request_items();
      writes->set_table_name(table);
      writes->add_write_requests()->mutable_put_request()->set_item(
          Encode({{"pk", S("p")}, {"sk", S("batch")}}));
    }
    refused.push_back(BatchWrite(database_, batch).status());
    wire::TransactWriteItemsRequest transaction;
    *transaction.add_transact_items()->mutable_put() =
        WriteRequest("Other", {{"pk", S("p")}, {"sk", S("transaction")}});
    *transaction.add_transact_items()->mutable_condition_check() =
        If(WriteRequest("Things", key), "attribute_exists(pk)");
    refused.push_back(database_.Transact(transaction).status());
    wire::BulkWriteChunk chunk;
    chunk.set_chunk_number(1);
    for (const char* table : {"Other", "Things"}) {
      auto* writes = chunk.add_request_items();
      writes->set_table_name(table);
      writes->add_write_requests()->mutable_put_request()->set_item(
          Encode({{"pk", S("p")}, {"sk", S("bulk")}}));
    }
    const auto stream = database_->BeginBulkWrite();
    refused.push_back(Await<wire::BulkWriteReply>([&](auto done) {
                        database_->BulkWrite(*stream, chunk, std::move(done));
                      }).status());
    return refused;
  }

  TestClock clock_;
  TemporaryDirectory directory_;
  TestDatabase database_{clock_.With(TestDatabase::DefaultOptions(directory_.path() + "/data"))};
};

TEST_F(WriteFence, RefusesEveryWriteAndNothingElse) {
  ASSERT_TRUE(Fence(kTarget, /*moved=*/false).ok());
  for (const absl::Status& status : WriteInAllWays()) {
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_EQ(ReasonOf(status), kReasonTableMoving);
    EXPECT_GT(RetryAfterMsOf(status), 0);
    EXPECT_THAT(MessageOf(status), HasSubstr(kTarget));
  }
  ASSERT_TRUE(Fence(kTarget, /*moved=*/true).ok());
  for (const absl::Status& status : WriteInAllWays()) {
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_EQ(ReasonOf(status), kReasonTableMoved);
    EXPECT_THAT(MessageOf(status), HasSubstr(kTarget));
  }
  // A unit that has a write of the table is refused whole.
  EXPECT_THAT(ScanAll(database_, ScanRequest("Other")), IsEmpty());
  EXPECT_THAT(ScanAll(database_, ScanRequest("Things")), ElementsAre("pk=p sk=a"));
  EXPECT_TRUE(Put("a", "Other").ok());
  const v1::TableDescription described = Describe(database_, "Things");
  EXPECT_EQ(described.write_fence().endpoint(), kTarget);
  EXPECT_TRUE(described.write_fence().moved());

  ASSERT_TRUE(Fence("", false).ok());
  for (const absl::Status& status : WriteInAllWays()) EXPECT_TRUE(status.ok()) << status;
  EXPECT_FALSE(Describe(database_, "Things").has_write_fence());
  database_.CheckIsClean();
}

TEST_F(WriteFence, SurvivesARestart) {
  ASSERT_TRUE(Fence(kTarget, /*moved=*/true).ok());
  database_.Reopen();
  EXPECT_EQ(ReasonOf(Put("b")), kReasonTableMoved);
}

// A write that was prepared before the fence may be applied after it: the order of commits decides.
TEST_F(WriteFence, NoWriteIsCommittedAfterIt) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; !stop; ++i) Put(std::to_string(writer) + "/" + std::to_string(i)).IgnoreError();
    });
  }
  for (int round = 0; round < 20; ++round) {
    const auto fenced = Fence(kTarget, /*moved=*/false);
    ASSERT_TRUE(fenced.ok()) << fenced.status();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_THAT(database_.ReadChanges(fenced->change_sequence())->records(), IsEmpty());
    ASSERT_TRUE(Fence("", false).ok());
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
}

TEST_F(WriteFence, KeepsExpiredItemsUntilItIsLifted) {
  ASSERT_TRUE(SetTimeToLive(*database_, "Things", true).ok());
  ASSERT_TRUE(AwaitEnabled(*database_, "Things"));
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("old")}, {"ttl", At(10)}}).ok());
  ASSERT_TRUE(SetTimeToLive(*database_, "Other", true).ok());
  ASSERT_TRUE(AwaitEnabled(*database_, "Other"));
  ASSERT_TRUE(database_.Put("Other", {{"pk", S("p")}, {"sk", S("old")}, {"ttl", At(10)}}).ok());
  ASSERT_TRUE(Fence(kTarget, /*moved=*/false).ok());
  clock_.Set(TestClock::kStart + 20);
  // The sweeper has passed both tables when the other's item is gone.
  ASSERT_TRUE(AwaitExpired(*database_, "Other", 1));
  EXPECT_NE(database_.Get("Things", {{"pk", S("p")}, {"sk", S("old")}}), "");
  ASSERT_TRUE(Fence("", false).ok());
  EXPECT_TRUE(AwaitExpired(*database_, "Things", 1));
}

TEST_F(WriteFence, LetsBulkWritesWithItsPassThrough) {
  const std::string sha256 = common::Hex(common::HashOf("open sesame"));
  ASSERT_TRUE(FenceWithPass(sha256).ok());
  // Writers without it, with a wrong one, and with what everybody can read in the table's definition.
  for (const absl::Status& status : WriteInAllWays()) EXPECT_EQ(ReasonOf(status), kReasonTableMoving);
  for (const std::string& pass :
       {std::string("another"), Describe(database_, "Things").write_fence().pass_sha256()})
    EXPECT_EQ(ReasonOf(BulkPut("b", pass).status()), kReasonTableMoving);
  EXPECT_THAT(ScanAll(database_, ScanRequest("Things")), ElementsAre("pk=p sk=a"));
  const auto written = BulkPut("b", "open sesame");
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(written->rejected_size(), 0);
  EXPECT_THAT(ScanAll(database_, ScanRequest("Things")), ElementsAre("pk=p sk=a", "pk=p sk=b"));
  database_.Reopen();
  EXPECT_TRUE(BulkPut("c", "open sesame").ok());
  EXPECT_EQ(ReasonOf(Put("d")), kReasonTableMoving);

  // Another fence has another pass; one without a pass lets nobody through.
  ASSERT_TRUE(FenceWithPass(common::Hex(common::HashOf("another"))).ok());
  EXPECT_EQ(ReasonOf(BulkPut("e", "open sesame").status()), kReasonTableMoving);
  ASSERT_TRUE(FenceWithPass("").ok());
  for (const char* pass : {"open sesame", "another", ""})
    EXPECT_EQ(ReasonOf(BulkPut("f", pass).status()), kReasonTableMoving);
  // Without the fence, its writer must not write any more.
  ASSERT_TRUE(Fence("", false).ok());
  EXPECT_THAT(BulkPut("g", "another").status(), IsInvalid("table Things has no fence"));
  EXPECT_TRUE(Put("h").ok());
  database_.CheckIsClean();
}

TEST_F(WriteFence, IsChangedOnlyByWhoKnowsIt) {
  v1::UpdateTableRequest request;
  request.set_table_name("Things");
  const auto change = [&](const std::string& from, const std::string& to) {
    request.mutable_expected_write_fence()->set_endpoint(from);
    request.mutable_write_fence()->set_endpoint(to);
    return Await<v1::UpdateTableReply>([&](auto done) { database_->UpdateTable(request, std::move(done)); })
        .status();
  };
  EXPECT_THAT(change("one", kTarget).message(),
              HasSubstr("has no fence of writes, which is not the expected"));
  EXPECT_TRUE(Put("b").ok());
  EXPECT_TRUE(change("", kTarget).ok());
  EXPECT_TRUE(change("", kTarget).ok()) << "the second attempt of a call whose answer was lost";
  const absl::Status other = change("", "two");
  EXPECT_EQ(ReasonOf(other), kReasonConditionalCheckFailed);
  EXPECT_THAT(other.message(), HasSubstr(std::string("a fence of writes to ") + kTarget));
  request.mutable_expected_write_fence()->set_pass_sha256(std::string(64, 'a'));
  EXPECT_EQ(ReasonOf(change(kTarget, "two")), kReasonConditionalCheckFailed) << "with another pass";
  request.mutable_expected_write_fence()->clear_pass_sha256();
  request.mutable_expected_write_fence()->set_moved(true);
  EXPECT_EQ(ReasonOf(change(kTarget, "two")), kReasonConditionalCheckFailed) << "not moved yet";
  EXPECT_EQ(ReasonOf(Put("c")), kReasonTableMoving);
  request.mutable_expected_write_fence()->set_moved(false);
  EXPECT_TRUE(change(kTarget, "").ok());
  EXPECT_TRUE(Put("c").ok());
}

TEST_F(WriteFence, SaysWhatIsWrongWithARequest) {
  EXPECT_THAT(FenceWithPass(std::string(64, 'a'), ""),
              IsInvalid("has a pass_sha256; it must name the endpoint"));
  for (const std::string& pass : {std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'A')})
    EXPECT_THAT(FenceWithPass(pass), IsInvalid("must be 64 hexadecimal digits in lower case"));
  EXPECT_THAT(Fence("", /*moved=*/true).status(), IsInvalid("it must name the endpoint"));
  EXPECT_THAT(Fence(std::string(1'025, 'x'), false).status(), IsInvalid("at most 1024 bytes; it has 1025"));
  EXPECT_THAT(Fence("\xFF", false).status(), IsInvalid("must be UTF-8"));
  EXPECT_TRUE(Fence(std::string(1'024, 'x'), false).ok());
}

}  // namespace
}  // namespace itemdb::testing
