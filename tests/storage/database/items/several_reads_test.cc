// BatchGetItem and TransactGetItems (SEM-043, SEM-044, SEM-056).

#include "storage/base/limits.h"
#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SeveralReads : public ::testing::Test {
 protected:
  SeveralReads() {
    database_.CreateTable(TableRequest("Things"));
    database_.CreateTable(TableRequest("Others"));
  }
  void Put(const std::string& table, const std::string& sk, size_t bytes = 1) {
    auto put = PutItem(
        database_, WriteRequest(table, {{"pk", S("p")}, {"sk", S(sk)}, {"a", S(std::string(bytes, 'a'))}}));
    ASSERT_TRUE(put.ok()) << put.status();
  }
  static std::string Key(const std::string& sk) { return Encode({{"pk", S("p")}, {"sk", S(sk)}}); }
  absl::StatusOr<wire::BatchGetItemReply> BatchGet(const wire::BatchGetItemRequest& request) {
    return Await<wire::BatchGetItemReply>(
        [&](auto done) { database_->BatchGetItem(request, std::move(done)); });
  }
  absl::StatusOr<wire::TransactGetItemsReply> TransactGet(const wire::TransactGetItemsRequest& request) {
    return Await<wire::TransactGetItemsReply>(
        [&](auto done) { database_->TransactGetItems(request, std::move(done)); });
  }
  static std::vector<std::string> Shown(const wire::TableItems& table) {
    std::vector<std::string> items;
    for (const std::string& item : table.items()) items.push_back(Show(item));
    return items;
  }

  TestDatabase database_;
};

TEST_F(SeveralReads, BatchReturnsWhatIsThereByTable) {  // OP-19
  Put("Things", "1");
  Put("Things", "2");
  Put("Others", "1");
  wire::BatchGetItemRequest request;
  auto* things = request.add_request_items();
  things->set_table_name("Things");
  for (const char* sk : {"2", "missing", "1"}) things->add_keys(Key(sk));
  auto* others = request.add_request_items();
  others->set_table_name("Others");
  others->add_keys(Key("1"));
  others->set_projection_expression("a");
  auto reply = BatchGet(request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->change_sequence(), 5u);
  ASSERT_EQ(reply->responses_size(), 2);
  EXPECT_EQ(reply->responses(0).table_name(), "Things");
  EXPECT_THAT(Shown(reply->responses(0)), ElementsAre("a=a pk=p sk=2", "a=a pk=p sk=1"));
  EXPECT_THAT(Shown(reply->responses(1)), ElementsAre("a=a"));
  EXPECT_EQ(reply->unprocessed_keys_size(), 0);
}

// Every key comes back as an item or as unprocessed, and requesting those again comes to an end.
TEST_F(SeveralReads, BatchReturnsWhatDoesNotFitAsUnprocessedKeys) {
  for (int i = 0; i < 10; ++i) Put("Things", std::to_string(i), 1'000);
  Put("Others", "1", 1'000);
  wire::BatchGetItemRequest request;
  request.set_max_reply_bytes(3'000);
  auto* things = request.add_request_items();
  things->set_table_name("Things");
  things->set_projection_expression("#s");
  auto* name = things->add_expression_attribute_names();
  name->set_name("#s");
  name->set_value("sk");
  for (int i = 0; i < 10; ++i) things->add_keys(Key(std::to_string(i)));
  auto* others = request.add_request_items();
  others->set_table_name("Others");
  others->add_keys(Key("1"));
  others->set_consistent_read(true);

  auto projected = BatchGet(request);
  ASSERT_TRUE(projected.ok()) << projected.status();
  EXPECT_EQ(projected->responses(0).items_size(), 10) << "what counts is what the reply carries";

  request.mutable_request_items(0)->clear_projection_expression();
  request.mutable_request_items(0)->clear_expression_attribute_names();
  int items = 0;
  int rounds = 0;
  while (request.request_items_size() > 0) {
    ASSERT_LT(++rounds, 6);
    auto reply = BatchGet(request);
    ASSERT_TRUE(reply.ok()) << reply.status();
    for (const auto& table : reply->responses()) items += table.items_size();
    ASSERT_EQ(reply->unprocessed_keys_size() > 0, items < 11);
    if (rounds == 1) {
      EXPECT_EQ(items, 3);
      EXPECT_TRUE(reply->unprocessed_keys(1).consistent_read());
    }
    *request.mutable_request_items() = reply->unprocessed_keys();
  }
  EXPECT_EQ(items, 11);
}

TEST_F(SeveralReads, BatchIsCheckedAsAWhole) {
  wire::BatchGetItemRequest request;
  EXPECT_THAT(BatchGet(request).status(), IsInvalid("1 to 100"));
  auto* things = request.add_request_items();
  things->set_table_name("Things");
  EXPECT_THAT(BatchGet(request).status(), IsInvalid("is empty"));
  things->add_keys(Key("1"));
  things->add_keys(Key("1"));
  EXPECT_THAT(BatchGet(request).status(), IsInvalid("Provided list of item keys contains duplicates"));
  things->clear_keys();
  for (int i = 0; i < kMaxBatchGets; ++i) things->add_keys(Key(std::to_string(i)));
  EXPECT_TRUE(BatchGet(request).ok());
  things->add_keys(Key("one more"));
  EXPECT_THAT(BatchGet(request).status(), IsInvalid("this one has 101"));
  things->clear_keys();
  things->add_keys(Key("1"));
  *request.add_request_items() = *things;
  EXPECT_THAT(BatchGet(request).status(), IsInvalid("named twice"));
  request.mutable_request_items(1)->set_table_name("Missing");
  EXPECT_THAT(BatchGet(request).status(), IsTableNotFound());
  request.mutable_request_items()->RemoveLast();
  request.set_max_reply_bytes(0);
  EXPECT_THAT(BatchGet(request).status(), IsInvalid("max_reply_bytes must be 1 to 16777216"));
  request.clear_max_reply_bytes();
  things = request.mutable_request_items(0);
  things->set_keys(0, Encode({{"pk", S("p")}}));
  EXPECT_THAT(BatchGet(request).status(), IsInvalid("key"));
}

TEST_F(SeveralReads, TransactionReturnsOneResponseARequestInOrder) {  // OP-22
  Put("Things", "1");
  Put("Others", "2");
  wire::TransactGetItemsRequest request;
  for (const auto& [table, sk] : {std::pair{"Others", "2"}, {"Things", "missing"}, {"Things", "1"}}) {
    auto* get = request.add_transact_items();
    get->set_table_name(table);
    get->set_key(Key(sk));
  }
  request.mutable_transact_items(2)->set_projection_expression("sk");
  auto reply = TransactGet(request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  ASSERT_EQ(reply->responses_size(), 3);
  EXPECT_EQ(Show(reply->responses(0).item()), "a=a pk=p sk=2");
  EXPECT_FALSE(reply->responses(1).has_item());
  EXPECT_EQ(Show(reply->responses(2).item()), "sk=1");
  EXPECT_EQ(reply->change_sequence(), 4u);
}

// A key that does not fit its table cancels the transaction (SEM-005); an empty key is an error of the
// request.
TEST_F(SeveralReads, TransactionIsCancelledByAKeyThatDoesNotFit) {
  Put("Things", "1");
  const v1::AttributeValue p = S("p");
  for (const std::string& key :
       {Encode({{"pk", p}}), Encode({{"pk", N("1")}, {"sk", S("1")}}), Encode({{"pk", p}, {"sk", N("1")}}),
        Encode({{"pk", p}, {"sk", S("1")}, {"a", S("a")}}), Encode({{"pk", p}, {"other", S("1")}})}) {
    SCOPED_TRACE(Show(key));
    wire::TransactGetItemsRequest request;
    for (const std::string& each : {Key("1"), key, key, Key("2")}) {
      auto* get = request.add_transact_items();
      get->set_table_name("Things");
      get->set_key(each);
    }
    request.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_TOTAL);
    auto reply = TransactGet(request);
    ASSERT_TRUE(reply.ok()) << reply.status();
    ASSERT_TRUE(reply->has_cancelled());
    EXPECT_EQ(reply->change_sequence(), 3u);
    EXPECT_TRUE(reply->responses().empty());
    ASSERT_EQ(reply->cancelled().reasons_size(), 4);
    for (int i = 0; i < 4; ++i) {
      const auto& reason = reply->cancelled().reasons(i);
      EXPECT_EQ(reason.code(), i == 1 ? v1::CANCELLATION_CODE_VALIDATION_ERROR : v1::CANCELLATION_CODE_NONE);
      EXPECT_EQ(reason.message(), i == 1 ? "The provided key element does not match the schema" : "");
    }
    request.mutable_transact_items(3)->set_table_name("Nothing");
    EXPECT_THAT(TransactGet(request).status(), IsTableNotFound());
    request.mutable_transact_items(3)->set_table_name("Things");
    request.mutable_transact_items(3)->set_key(Encode({{"pk", p}, {"sk", S("")}}));
    EXPECT_THAT(TransactGet(request).status(), IsInvalid("empty string value. Key: sk"));
  }
  wire::TransactGetItemsRequest too_long;
  too_long.add_transact_items()->set_table_name("Things");
  too_long.mutable_transact_items(0)->set_key(Encode({{"pk", p}, {"sk", S(std::string(1'025, 'x'))}}));
  auto reply = TransactGet(too_long);
  ASSERT_TRUE(reply.ok()) << reply.status();
  ASSERT_EQ(reply->cancelled().reasons_size(), 1);
  EXPECT_EQ(reply->cancelled().reasons(0).code(), v1::CANCELLATION_CODE_VALIDATION_ERROR);
}

// The limit of 4 MiB is exact, and `large` lifts it (SEM-056).
TEST_F(SeveralReads, TransactionReadsFourMebibytesAndNotAByteMore) {
  // The size without the padding: the names pk, sk and a, the value p, and a sort key of one byte.
  constexpr size_t kOverhead = 2 + 1 + 2 + 1 + 1;
  constexpr size_t kWhole = 409'600 - kOverhead;
  wire::TransactGetItemsRequest request;
  for (int i = 0; i < 10; ++i) {
    Put("Things", std::to_string(i), kWhole);
    auto* get = request.add_transact_items();
    get->set_table_name("Things");
    get->set_key(Key(std::to_string(i)));
  }
  auto* last = request.add_transact_items();
  last->set_table_name("Things");
  last->set_key(Key("z"));
  const size_t room = (4 << 20) - 10 * (kWhole + kOverhead);
  Put("Things", "z", room - kOverhead);
  EXPECT_TRUE(TransactGet(request).ok());
  Put("Things", "z", room - kOverhead + 1);
  const absl::Status status = TransactGet(request).status();
  EXPECT_EQ(MessageOf(status), "the items of the transaction are together more than 4194304 bytes");
  EXPECT_EQ(RuleOf(status), "SEM-056");
  request.set_large(true);
  EXPECT_TRUE(TransactGet(request).ok());
}

// Numbers have a small item size (SEM-003) and a long text; the reply must still fit into a message.
TEST_F(SeveralReads, TransactionIsBoundedAsEncoded) {
  v1::AttributeValue numbers;
  for (int i = 0; i < 2'000; ++i) *numbers.mutable_l()->add_values() = N("1e125");
  wire::TransactGetItemsRequest request;
  for (int i = 0; i < 100; ++i) {
    const std::string sk = std::to_string(i);
    ASSERT_TRUE(
        PutItem(database_, WriteRequest("Things", {{"pk", S("p")}, {"sk", S(sk)}, {"a", numbers}})).ok());
    auto* get = request.add_transact_items();
    get->set_table_name("Things");
    get->set_key(Key(sk));
  }
  const absl::Status status = TransactGet(request).status();
  EXPECT_EQ(
      MessageOf(status),
      "the items of the transaction are together more than 16777216 bytes long as encoded, with all their "
      "numbers written out");
  EXPECT_EQ(RuleOf(status), "SEM-056");
  request.mutable_transact_items()->DeleteSubrange(50, 50);
  EXPECT_TRUE(TransactGet(request).ok());
}

TEST_F(SeveralReads, TransactionIsBoundedInNumberAndBytes) {
  wire::TransactGetItemsRequest request;
  EXPECT_THAT(TransactGet(request).status(), IsInvalid("1 to 100 gets"));
  for (int i = 0; i < 11; ++i) {
    Put("Things", std::to_string(i), 400'000);
    auto* get = request.add_transact_items();
    get->set_table_name("Things");
    get->set_key(Key(std::to_string(i)));
  }
  EXPECT_THAT(TransactGet(request).status(), IsInvalid("4194304 bytes"));
  request.mutable_transact_items()->RemoveLast();
  EXPECT_TRUE(TransactGet(request).ok());
  *request.add_transact_items() = request.transact_items(0);
  EXPECT_THAT(TransactGet(request).status(), IsInvalid("multiple operations on one item"));
  request.mutable_transact_items(10)->set_table_name("Missing");
  EXPECT_THAT(TransactGet(request).status(), IsTableNotFound());
}

}  // namespace
}  // namespace itemdb::testing
