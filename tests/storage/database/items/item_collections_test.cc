// The sizes of item collections in tables with local indexes: the metrics in replies (SEM-066), and the size
// limit (SEM-092, ERR-12).

#include <array>

#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kGb = 1 << 30;

// An item of pk, sk and rate "1" has 2 + 1 + 2 + 1 + 4 + 2 bytes, if pk and sk have one character. Its entry
// in ByRank has as many. Padding counts for the item only.
constexpr int64_t kItem = 12;

DatabaseOptions Small(const std::string& directory) {
  DatabaseOptions options = TestDatabase::DefaultOptions(directory);
  options.max_item_collection_bytes = 1'000;
  return options;
}

class ItemCollections : public ::testing::Test {
 protected:
  ItemCollections() : database_(Small(directory_.path() + "/data")) {
    auto things = TableRequest("Things");
    AddLocalIndex(&things, "ByRank", "rate:N", v1::PROJECTION_TYPE_KEYS_ONLY);
    AddIndex(&things, "Global", {"rate:N"}, 1, v1::PROJECTION_TYPE_ALL);
    database_.CreateTable(things);
    database_.CreateTable(TableRequest("Plain"));
  }

  // Adds an attribute z of `padding` bytes, if not 0; its name has one more byte.
  static wire::WriteItemRequest PutRequest(const std::string& pk, const std::string& sk, size_t padding = 0) {
    auto request = WriteRequest(
        "Things", {{"pk", S(pk)}, {"sk", S(sk)}, {"rate", N("1")}, {"z", S(std::string(padding, 'z'))}});
    if (padding == 0) {
      request = WriteRequest("Things", {{"pk", S(pk)}, {"sk", S(sk)}, {"rate", N("1")}});
    }
    request.set_return_item_collection_metrics(v1::RETURN_ITEM_COLLECTION_METRICS_SIZE);
    return request;
  }
  // The metrics of a reply as "pk=p 24 24".
  static std::string Shown(const wire::ItemCollectionMetrics& metrics) {
    std::string shown = Show(metrics.item_collection_key());
    for (double gb : metrics.size_estimate_range_gb())
      shown += " " + std::to_string(static_cast<int64_t>(gb * kGb + 0.5));
    return shown;
  }
  static std::string Shown(const absl::StatusOr<wire::WriteItemReply>& reply) {
    if (!reply.ok()) return reply.status().ToString();
    if (!reply->has_item_collection_metrics()) return "none";
    return Shown(reply->item_collection_metrics());
  }
  template <typename Reply>
  static std::vector<std::string> ShownAll(const Reply& reply) {
    std::vector<std::string> shown;
    for (const auto& table : reply.item_collection_metrics()) {
      for (const auto& metrics : table.item_collection_metrics())
        shown.push_back(table.table_name() + ": " + Shown(metrics));
    }
    return shown;
  }

  TemporaryDirectory directory_;
  TestDatabase database_;
};

TEST_F(ItemCollections, AreAsLargeAsTheirItemsAndLocalEntries) {  // SEM-066
  EXPECT_EQ(Shown(PutItem(database_, PutRequest("p", "1"))), "pk=p 24 24");
  EXPECT_EQ(Shown(PutItem(database_, PutRequest("p", "2", 100))), "pk=p 149 149");
  EXPECT_EQ(Shown(PutItem(database_, PutRequest("q", "1"))), "pk=q 24 24");
  EXPECT_EQ(Shown(PutItem(database_, PutRequest("p", "2", 10))), "pk=p 59 59") << "replaced";
  EXPECT_EQ(Shown(PutItem(database_, PutRequest("p", "2", 10))), "pk=p 59 59") << "the same again";
  database_.Reopen();
  auto update = UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("2")}}, "REMOVE rate");
  update.set_return_item_collection_metrics(v1::RETURN_ITEM_COLLECTION_METRICS_SIZE);
  EXPECT_EQ(Shown(database_.Update(update)), "pk=p 41 41") << "without the entry and the attribute";
  auto remove = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("2")}});
  remove.set_return_item_collection_metrics(v1::RETURN_ITEM_COLLECTION_METRICS_SIZE);
  EXPECT_EQ(Shown(DeleteItem(database_, remove)), "pk=p 24 24");
  EXPECT_EQ(Shown(DeleteItem(database_, remove)), "pk=p 24 24") << "not there";
  auto last = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("1")}});
  last.set_return_item_collection_metrics(v1::RETURN_ITEM_COLLECTION_METRICS_SIZE);
  EXPECT_EQ(Shown(DeleteItem(database_, last)), "pk=p 0 0");
  database_.CheckIsClean();
}

TEST_F(ItemCollections, AreOnlyToldWhenAskedForAndThereAreLocalIndexes) {  // SEM-066
  auto put = PutRequest("p", "1");
  put.set_return_item_collection_metrics(v1::RETURN_ITEM_COLLECTION_METRICS_NONE);
  EXPECT_EQ(Shown(PutItem(database_, put)), "none");
  auto plain = WriteRequest("Plain", {{"pk", S("p")}, {"sk", S("1")}});
  plain.set_return_item_collection_metrics(v1::RETURN_ITEM_COLLECTION_METRICS_SIZE);
  EXPECT_EQ(Shown(PutItem(database_, plain)), "none");
  auto refused = If(PutRequest("p", "1"), "attribute_not_exists(pk)");
  auto reply = PutItem(database_, refused);
  EXPECT_TRUE(reply->has_condition_failed());
  EXPECT_EQ(Shown(reply), "none");
  put.set_return_item_collection_metrics(static_cast<v1::ReturnItemCollectionMetrics>(9));
  EXPECT_THAT(PutItem(database_, put).status(), IsInvalid("ReturnItemCollectionMetrics 9 is unknown"));
}

TEST_F(ItemCollections, OfABatchAndATransactionAreToldOnceEach) {  // SEM-066
  wire::BatchWriteItemRequest batch;
  auto* table = batch.add_request_items();
  table->set_table_name("Things");
  for (const char* sk : {"1", "2"})
    table->add_write_requests()->mutable_put_request()->set_item(PutRequest("p", sk).key_or_item());
  table->add_write_requests()->mutable_put_request()->set_item(PutRequest("q", "1").key_or_item());
  batch.set_return_item_collection_metrics(v1::RETURN_ITEM_COLLECTION_METRICS_SIZE);
  auto written = BatchWrite(database_, batch);
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_THAT(ShownAll(*written), ElementsAre("Things: pk=p 48 48", "Things: pk=q 24 24"));

  wire::TransactWriteItemsRequest transaction;
  *transaction.add_transact_items()->mutable_put() = PutRequest("p", "3");
  *transaction.add_transact_items()->mutable_delete_() =
      WriteRequest("Things", {{"pk", S("p")}, {"sk", S("1")}});
  *transaction.add_transact_items()->mutable_delete_() =
      WriteRequest("Things", {{"pk", S("p")}, {"sk", S("2")}});
  transaction.set_client_request_token("token");
  transaction.set_return_item_collection_metrics(v1::RETURN_ITEM_COLLECTION_METRICS_SIZE);
  auto committed = database_.Transact(transaction);
  ASSERT_TRUE(committed.ok()) << committed.status();
  EXPECT_THAT(ShownAll(*committed), ElementsAre("Things: pk=p 24 24"));
  ASSERT_TRUE(PutItem(database_, PutRequest("p", "4")).ok());
  committed = database_.Transact(transaction);
  ASSERT_TRUE(committed.ok()) << committed.status();
  EXPECT_THAT(ShownAll(*committed), ElementsAre("Things: pk=p 48 48")) << "applied before: as it is now";
  transaction.clear_return_item_collection_metrics();
  transaction.set_client_request_token("another");
  EXPECT_THAT(ShownAll(*database_.Transact(transaction)), IsEmpty());
  database_.CheckIsClean();
}

TEST_F(ItemCollections, MayNotGrowBeyondTheLimit) {  // SEM-092, ERR-12
  ASSERT_TRUE(PutItem(database_, PutRequest("p", "1", 1'000 - 2 * kItem - 1)).ok()) << "exactly as allowed";
  auto status = PutItem(database_, PutRequest("p", "2")).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(ReasonOf(status), kReasonItemCollectionSizeLimitExceeded);
  EXPECT_THAT(MessageOf(status), HasSubstr("would have 1024 bytes; at most 1000 are allowed"));
  EXPECT_EQ(database_.Get("Things", {{"pk", S("p")}, {"sk", S("2")}}), "");
  EXPECT_TRUE(PutItem(database_, PutRequest("q", "1", 800)).ok()) << "another collection";
  EXPECT_TRUE(
      database_.Put("Plain", {{"pk", S("p")}, {"sk", S("1")}, {"z", S(std::string(5'000, 'z'))}}).ok());

  // A batch is checked as a whole, and refused as a whole.
  wire::BatchWriteItemRequest batch;
  auto* table = batch.add_request_items();
  table->set_table_name("Things");
  for (const char* sk : {"1", "2"})
    table->add_write_requests()->mutable_put_request()->set_item(PutRequest("r", sk, 500).key_or_item());
  EXPECT_EQ(ReasonOf(BatchWrite(database_, batch).status()), kReasonItemCollectionSizeLimitExceeded);
  EXPECT_EQ(database_.Get("Things", {{"pk", S("r")}, {"sk", S("1")}}), "");

  // A delete in the same transaction makes room.
  wire::TransactWriteItemsRequest transaction;
  *transaction.add_transact_items()->mutable_put() = PutRequest("p", "2", 100);
  auto cancelled = database_.Transact(transaction);
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  ASSERT_TRUE(cancelled->has_cancelled());
  EXPECT_EQ(cancelled->cancelled().reasons(0).code(),
            v1::CANCELLATION_CODE_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED);
  EXPECT_THAT(cancelled->cancelled().reasons(0).message(), HasSubstr("at most 1000 are allowed"));
  *transaction.add_transact_items()->mutable_delete_() =
      WriteRequest("Things", {{"pk", S("p")}, {"sk", S("1")}});
  auto committed = database_.Transact(transaction);
  ASSERT_TRUE(committed.ok()) << committed.status();
  EXPECT_TRUE(committed->has_committed()) << committed->ShortDebugString();
  database_.CheckIsClean();
}

// The database is opened with a smaller limit: a collection above the limit may shrink, but not grow.
TEST_F(ItemCollections, ThatAreTooLargeMayShrink) {  // SEM-092
  ASSERT_TRUE(PutItem(database_, PutRequest("p", "1", 900)).ok());
  ASSERT_TRUE(PutItem(database_, PutRequest("p", "2")).ok());
  DatabaseOptions options = database_.options();
  database_.Close();
  options.max_item_collection_bytes = 100;
  TestDatabase smaller(options);
  EXPECT_EQ(Shown(PutItem(smaller, PutRequest("p", "1", 800))), "pk=p 849 849");
  EXPECT_EQ(ReasonOf(PutItem(smaller, PutRequest("p", "1", 801)).status()),
            kReasonItemCollectionSizeLimitExceeded);
  // A transaction is checked as a whole.
  wire::TransactWriteItemsRequest transaction;
  *transaction.add_transact_items()->mutable_put() = PutRequest("p", "1", 700);
  *transaction.add_transact_items()->mutable_put() = PutRequest("p", "2", 90);
  auto committed = smaller.Transact(transaction);
  ASSERT_TRUE(committed.ok()) << committed.status();
  EXPECT_TRUE(committed->has_committed()) << committed->ShortDebugString();
}

// The records of collections are next to other size statistics, which must all be found after a restart.
TEST_F(ItemCollections, LeaveTheCountOfRequestTokensAlone) {
  for (const char* token : {"first", "second"}) {
    auto put = PutRequest("p", token);
    put.set_client_request_token(token);
    ASSERT_TRUE(PutItem(database_, put).ok());
    database_.Reopen();
    database_.CheckIsClean();
  }
}

// A new table with the same name starts with no collections; other tables keep theirs.
TEST_F(ItemCollections, GoWithTheirTable) {
  auto other = TableRequest("Other");
  AddLocalIndex(&other, "ByRank", "rate:N", v1::PROJECTION_TYPE_KEYS_ONLY);
  database_.CreateTable(other);
  auto put = PutRequest("p", "1");
  put.set_table_name("Other");
  ASSERT_TRUE(PutItem(database_, put).ok());
  ASSERT_TRUE(PutItem(database_, PutRequest("p", "1", 100)).ok());
  ASSERT_TRUE(DeleteTable(database_, "Things").ok());
  auto things = TableRequest("Things");
  AddLocalIndex(&things, "ByRank", "rate:N", v1::PROJECTION_TYPE_KEYS_ONLY);
  database_.CreateTable(things);
  EXPECT_EQ(Shown(PutItem(database_, PutRequest("p", "1"))), "pk=p 24 24");
  database_.Reopen();
  put.set_key_or_item(PutRequest("p", "2").key_or_item());
  EXPECT_EQ(Shown(PutItem(database_, put)), "pk=p 48 48");
  database_.CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
