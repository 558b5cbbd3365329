// Requests as a daemon receives them, and the results and statuses that the client returns for replies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "itemdb/client.h"
#include "tests/support/fake_daemon.h"

namespace itemdb {
namespace {

class ClientDataTest : public testing::Test {
 protected:
  FakeDaemon daemon_;
  Client client_ = *Client::Open({.endpoint = daemon_.endpoint(), .retry = {.max_attempts = 1}});
};

v1::Item TextItem(const std::string& name, const std::string& text) {
  v1::Item item;
  v1::Attribute* attribute = item.add_attributes();
  attribute->set_name(name);
  attribute->mutable_value()->set_s(text);
  return item;
}

TEST_F(ClientDataTest, PutItemSendsEveryFieldAndReturnsTheSequence) {
  v1::PutItemRequest seen;
  daemon_.put_item = [&](const v1::PutItemRequest& request, v1::PutItemReply* reply) {
    seen = request;
    reply->set_change_sequence(42);
    *reply->mutable_result()->mutable_attributes() = TextItem("old", "x");
    return grpc::Status::OK;
  };
  const absl::StatusOr<WriteResult> result = client_.PutItem(
      {.table_name = "Product",
       .item = {{"product_id", "prod_100"}},
       .condition_expression = "#a = :b",
       .expression_attribute_names = {{"#a", "status"}},
       .expression_attribute_values = {{":b", 5}},
       .return_values = ReturnValues::kAllOld,
       .return_values_on_condition_check_failure = ReturnValuesOnConditionCheckFailure::kAllOld});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->change_sequence, 42u);
  EXPECT_EQ(*result->attributes, (Item{{"old", "x"}}));
  EXPECT_EQ(seen.table_name(), "Product");
  EXPECT_EQ(seen.item().attributes(0).name(), "product_id");
  EXPECT_EQ(seen.condition_expression(), "#a = :b");
  EXPECT_EQ(seen.expression_attribute_names().at("#a"), "status");
  EXPECT_EQ(seen.expression_attribute_values().at(":b").n(), "5");
  EXPECT_EQ(seen.return_values(), v1::RETURN_VALUES_ALL_OLD);
  EXPECT_EQ(seen.return_values_on_condition_check_failure(),
            v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
}

TEST_F(ClientDataTest, UpdateAndDeleteSendKeyExpressionsAndReturnValues) {
  v1::UpdateItemRequest update;
  daemon_.update_item = [&](const v1::UpdateItemRequest& request, v1::UpdateItemReply* reply) {
    update = request;
    reply->mutable_result();
    return grpc::Status::OK;
  };
  v1::DeleteItemRequest removal;
  daemon_.delete_item = [&](const v1::DeleteItemRequest& request, v1::DeleteItemReply* reply) {
    removal = request;
    reply->mutable_result();
    return grpc::Status::OK;
  };
  ASSERT_TRUE(client_
                  .UpdateItem({.table_name = "t",
                               .key = {{"k", "1"}},
                               .update_expression = "SET a = :a",
                               .expression_attribute_values = {{":a", true}},
                               .return_values = ReturnValues::kUpdatedNew})
                  .ok());
  ASSERT_TRUE(client_.DeleteItem({.table_name = "t", .key = {{"k", "2"}}}).ok());
  EXPECT_EQ(update.update_expression(), "SET a = :a");
  EXPECT_EQ(update.return_values(), v1::RETURN_VALUES_UPDATED_NEW);
  EXPECT_TRUE(update.expression_attribute_values().at(":a").bool_());
  EXPECT_EQ(update.key().attributes(0).value().s(), "1");
  EXPECT_EQ(removal.key().attributes(0).value().s(), "2");
}

TEST_F(ClientDataTest, GetItemTellsMissingFromEmpty) {
  daemon_.get_item = [&](const v1::GetItemRequest& request, v1::GetItemReply* reply) {
    reply->set_change_sequence(7);
    if (request.key().attributes(0).value().s() == "empty") reply->mutable_item();
    return grpc::Status::OK;
  };
  const absl::StatusOr<GetItemResult> missing =
      client_.GetItem({.table_name = "t", .key = {{"k", "missing"}}});
  ASSERT_TRUE(missing.ok());
  EXPECT_FALSE(missing->item.has_value());
  EXPECT_EQ(missing->change_sequence, 7u);
  const absl::StatusOr<GetItemResult> empty = client_.GetItem({.table_name = "t", .key = {{"k", "empty"}}});
  ASSERT_TRUE(empty.ok());
  ASSERT_TRUE(empty->item.has_value());
  EXPECT_TRUE(empty->item->empty());
}

// A false condition is an outcome (ERR-04) and can return the stored item (SEM-060).
TEST_F(ClientDataTest, FalseConditionIsFailedPreconditionWithTheStoredItem) {
  daemon_.put_item = [&](const v1::PutItemRequest& request, v1::PutItemReply* reply) {
    reply->mutable_condition_failed();
    if (request.table_name() == "full")
      *reply->mutable_condition_failed()->mutable_item() = TextItem("a", "now");
    return grpc::Status::OK;
  };
  const absl::Status full = client_.PutItem({.table_name = "full", .item = {}}).status();
  EXPECT_EQ(full.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReasonOf(full), kReasonConditionalCheckFailed);
  ASSERT_TRUE(ConditionFailedItem(full).has_value());
  EXPECT_EQ(*ConditionFailedItem(full), (Item{{"a", "now"}}));
  EXPECT_TRUE(CancellationReasons(full).empty());

  const absl::Status bare = client_.PutItem({.table_name = "bare", .item = {}}).status();
  EXPECT_EQ(ReasonOf(bare), kReasonConditionalCheckFailed);
  EXPECT_FALSE(ConditionFailedItem(bare).has_value());
}

// A cancelled transaction (ERR-05) has a reason for each action (SEM-051), which can have the item (SEM-054).
TEST_F(ClientDataTest, CancelledTransactionIsFailedPreconditionWithAReasonPerAction) {
  v1::TransactWriteItemsRequest seen;
  daemon_.transact_write_items = [&](const v1::TransactWriteItemsRequest& request,
                                     v1::TransactWriteItemsReply* reply) {
    seen = request;
    reply->mutable_cancelled()->add_reasons()->set_code(v1::CANCELLATION_CODE_NONE);
    v1::CancellationReason* failed = reply->mutable_cancelled()->add_reasons();
    failed->set_code(v1::CANCELLATION_CODE_CONDITIONAL_CHECK_FAILED);
    failed->set_message("the condition was false");
    *failed->mutable_item() = TextItem("a", "now");
    v1::CancellationReason* invalid = reply->mutable_cancelled()->add_reasons();
    invalid->set_code(v1::CANCELLATION_CODE_VALIDATION_ERROR);
    invalid->set_message("too big");
    reply->mutable_cancelled()->add_reasons()->set_code(
        v1::CANCELLATION_CODE_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED);
    return grpc::Status::OK;
  };
  const absl::Status status =
      client_
          .TransactWriteItems(
              {.actions = {TransactPut{.table_name = "p", .item = {{"k", 1}}},
                           TransactUpdate{
                               .table_name = "u", .key = {{"k", 2}}, .update_expression = "REMOVE a"},
                           TransactDelete{.table_name = "d", .key = {{"k", 3}}},
                           ConditionCheck{
                               .table_name = "c", .key = {{"k", 4}}, .condition_expression = "k = k"}}})
          .status();
  ASSERT_EQ(seen.transact_items_size(), 4);
  EXPECT_EQ(seen.transact_items(0).put().table_name(), "p");
  EXPECT_EQ(seen.transact_items(1).update().update_expression(), "REMOVE a");
  EXPECT_EQ(seen.transact_items(2).delete_().key().attributes(0).value().n(), "3");
  EXPECT_EQ(seen.transact_items(3).condition_check().condition_expression(), "k = k");

  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReasonOf(status), kReasonTransactionCancelled);
  const std::vector<CancellationReason> reasons = CancellationReasons(status);
  ASSERT_EQ(reasons.size(), 4u);
  EXPECT_EQ(reasons[0].code, CancellationReason::Code::kNone);
  EXPECT_EQ(reasons[1].code, CancellationReason::Code::kConditionalCheckFailed);
  EXPECT_EQ(*reasons[1].item, (Item{{"a", "now"}}));
  EXPECT_EQ(reasons[2].code, CancellationReason::Code::kValidationError);
  EXPECT_EQ(reasons[2].message, "too big");
  EXPECT_FALSE(reasons[2].item.has_value());
  EXPECT_EQ(reasons[3].code, CancellationReason::Code::kItemCollectionSizeLimitExceeded);
  EXPECT_EQ(CodeName(reasons[3].code), "ItemCollectionSizeLimitExceeded");
}

TEST_F(ClientDataTest, CommittedTransactionReturnsItsSequence) {
  daemon_.transact_write_items = [&](const v1::TransactWriteItemsRequest&,
                                     v1::TransactWriteItemsReply* reply) {
    reply->set_change_sequence(9);
    reply->mutable_committed();
    return grpc::Status::OK;
  };
  const absl::StatusOr<TransactWriteItemsResult> result =
      client_.TransactWriteItems({.actions = {TransactDelete{.table_name = "d", .key = {{"k", 3}}}}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->change_sequence, 9u);
}

// The reply has no outcome that this client knows, so the write may have been applied.
TEST_F(ClientDataTest, WriteReplyWithoutAnOutcomeIsUnknown) {
  daemon_.put_item = [](const v1::PutItemRequest&, v1::PutItemReply*) { return grpc::Status::OK; };
  daemon_.transact_write_items = [](const v1::TransactWriteItemsRequest&, v1::TransactWriteItemsReply*) {
    return grpc::Status::OK;
  };
  for (const absl::Status& status :
       {client_.PutItem({.table_name = "t", .item = {}}).status(), client_.TransactWriteItems({}).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnknown);
    EXPECT_EQ(ReasonOf(status), kReasonWriteOutcomeUnknown);
  }
}

TEST_F(ClientDataTest, ErrorsKeepCodeReasonMessageAndRetryTime) {
  daemon_.put_item = [](const v1::PutItemRequest&, v1::PutItemReply*) {
    return ErrorReply(grpc::StatusCode::RESOURCE_EXHAUSTED, "QUEUE_FULL", "the queue is full", 250);
  };
  daemon_.get_item = [](const v1::GetItemRequest&, v1::GetItemReply*) {
    return ErrorReply(grpc::StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND", "no table t");
  };
  const absl::Status full = client_.PutItem({.table_name = "t", .item = {}}).status();
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonOf(full), "QUEUE_FULL");
  EXPECT_EQ(std::string(full.message()), "the queue is full");
  EXPECT_EQ(RetryAfterOf(full), absl::Milliseconds(250));
  const absl::Status missing = client_.GetItem({.table_name = "t", .key = {}}).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReasonOf(missing), "RESOURCE_NOT_FOUND");
  EXPECT_EQ(RetryAfterOf(missing), absl::ZeroDuration());
  EXPECT_EQ(ReasonOf(absl::OkStatus()), "");
}

// A daemon that answers UNAVAILABLE itself (because it stops) has not applied the write. After an UNAVAILABLE
// of gRPC the outcome is unknown.
TEST_F(ClientDataTest, UnavailableFromTheDaemonItselfIsNoUnknownOutcome) {
  daemon_.put_item = [](const v1::PutItemRequest& request, v1::PutItemReply*) {
    return request.table_name() == "detailed"
               ? ErrorReply(grpc::StatusCode::UNAVAILABLE, "UNAVAILABLE", "stopping")
               : grpc::Status(grpc::StatusCode::UNAVAILABLE, "something in between spoke");
  };
  EXPECT_EQ(client_.PutItem({.table_name = "detailed", .item = {}}).status().code(),
            absl::StatusCode::kUnavailable);
  const absl::Status bare = client_.PutItem({.table_name = "bare", .item = {}}).status();
  EXPECT_EQ(bare.code(), absl::StatusCode::kUnknown);
  EXPECT_EQ(ReasonOf(bare), kReasonWriteOutcomeUnknown);
}

TEST_F(ClientDataTest, MethodTheDaemonDoesNotOfferIsUnimplemented) {
  const absl::Status status = client_.PutItem({.table_name = "t", .item = {}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ReasonOf(status), "UNIMPLEMENTED");
}

TEST_F(ClientDataTest, BrokenReplyIsDataLoss) {
  daemon_.get_item = [](const v1::GetItemRequest&, v1::GetItemReply* reply) {
    reply->mutable_item()->add_attributes()->set_name("no value");
    return grpc::Status::OK;
  };
  EXPECT_EQ(client_.GetItem({.table_name = "t", .key = {}}).status().code(), absl::StatusCode::kDataLoss);
}

v1::ConsumedCapacity SomeCapacity(const std::string& table_name) {
  v1::ConsumedCapacity capacity;
  capacity.set_table_name(table_name);
  capacity.set_capacity_units(7.5);
  capacity.mutable_table()->set_capacity_units(5);
  (*capacity.mutable_global_secondary_indexes())["g"].set_capacity_units(2);
  (*capacity.mutable_local_secondary_indexes())["l"].set_capacity_units(0.5);
  return capacity;
}

void ExpectSomeCapacity(const ConsumedCapacity& capacity, const std::string& table_name) {
  EXPECT_EQ(capacity.table_name, table_name);
  EXPECT_EQ(capacity.capacity_units, 7.5);
  EXPECT_EQ(capacity.table_units, 5);
  EXPECT_EQ(capacity.global_secondary_indexes, (std::map<std::string, double>{{"g", 2}}));
  EXPECT_EQ(capacity.local_secondary_indexes, (std::map<std::string, double>{{"l", 0.5}}));
}

v1::ItemCollectionMetrics SomeMetrics() {
  v1::ItemCollectionMetrics metrics;
  *metrics.mutable_item_collection_key() = TextItem("PK", "a");
  metrics.add_size_estimate_range_gb(0.25);
  metrics.add_size_estimate_range_gb(1);
  return metrics;
}

void ExpectSomeMetrics(const ItemCollectionMetrics& metrics) {
  EXPECT_EQ(metrics.item_collection_key, (Item{{"PK", "a"}}));
  EXPECT_EQ(metrics.size_lower_bound_gb, 0.25);
  EXPECT_EQ(metrics.size_upper_bound_gb, 1);
}

// Consumed capacity (SEM-061) and item collection metrics (SEM-066) are returned.
TEST_F(ClientDataTest, SingleWritesSayWhatTheyConsumedAndHowLargeTheCollectionIs) {
  const auto answer = [](const auto& request, auto* reply) {
    EXPECT_EQ(request.return_consumed_capacity(), v1::RETURN_CONSUMED_CAPACITY_INDEXES);
    EXPECT_EQ(request.return_item_collection_metrics(), v1::RETURN_ITEM_COLLECTION_METRICS_SIZE);
    reply->mutable_result();
    *reply->mutable_consumed_capacity() = SomeCapacity("t");
    *reply->mutable_item_collection_metrics() = SomeMetrics();
    return grpc::Status::OK;
  };
  daemon_.put_item = answer;
  daemon_.update_item = answer;
  daemon_.delete_item = answer;
  const auto request = [](auto request) {
    request.return_consumed_capacity = ReturnConsumedCapacity::kIndexes;
    request.return_item_collection_metrics = ReturnItemCollectionMetrics::kSize;
    return request;
  };
  for (const absl::StatusOr<WriteResult>& result :
       {client_.PutItem(request(PutItemRequest{.table_name = "t", .item = {}})),
        client_.UpdateItem(request(UpdateItemRequest{.table_name = "t", .key = {}})),
        client_.DeleteItem(request(DeleteItemRequest{.table_name = "t", .key = {}}))}) {
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_TRUE(result->consumed_capacity.has_value());
    ExpectSomeCapacity(*result->consumed_capacity, "t");
    ASSERT_TRUE(result->item_collection_metrics.has_value());
    ExpectSomeMetrics(*result->item_collection_metrics);
  }
}

// Consumed capacity (SEM-061) and item collection metrics (SEM-066) are returned.
TEST_F(ClientDataTest, TransactionsSendEveryFieldAndReturnCapacityAndMetrics) {
  daemon_.transact_write_items = [](const v1::TransactWriteItemsRequest& request,
                                    v1::TransactWriteItemsReply* reply) {
    EXPECT_TRUE(request.large());
    EXPECT_EQ(request.return_consumed_capacity(), v1::RETURN_CONSUMED_CAPACITY_TOTAL);
    EXPECT_EQ(request.return_item_collection_metrics(), v1::RETURN_ITEM_COLLECTION_METRICS_SIZE);
    reply->mutable_committed();
    *reply->add_consumed_capacity() = SomeCapacity("t");
    *reply->add_consumed_capacity() = SomeCapacity("u");
    v1::TableItemCollectionMetrics* metrics = reply->add_item_collection_metrics();
    metrics->set_table_name("t");
    *metrics->add_item_collection_metrics() = SomeMetrics();
    return grpc::Status::OK;
  };
  const absl::StatusOr<TransactWriteItemsResult> result =
      client_.TransactWriteItems({.actions = {TransactPut{.table_name = "t", .item = {}}},
                                  .large = true,
                                  .return_consumed_capacity = ReturnConsumedCapacity::kTotal,
                                  .return_item_collection_metrics = ReturnItemCollectionMetrics::kSize});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->consumed_capacity.size(), 2u);
  ExpectSomeCapacity(result->consumed_capacity[1], "u");
  ASSERT_EQ(result->item_collection_metrics.at("t").size(), 1u);
  ExpectSomeMetrics(result->item_collection_metrics.at("t")[0]);
}

// A key that does not fit its table cancels a TransactGetItems (SEM-005).
TEST_F(ClientDataTest, CancelledTransactGetIsFailedPreconditionWithAReasonPerGet) {
  daemon_.transact_get_items = [](const v1::TransactGetItemsRequest&, v1::TransactGetItemsReply* reply) {
    reply->mutable_cancelled()->add_reasons()->set_code(v1::CANCELLATION_CODE_NONE);
    v1::CancellationReason* invalid = reply->mutable_cancelled()->add_reasons();
    invalid->set_code(v1::CANCELLATION_CODE_VALIDATION_ERROR);
    invalid->set_message("The key does not match");
    return grpc::Status::OK;
  };
  const absl::Status status = client_
                                  .TransactGetItems({.gets = {{.table_name = "t", .key = {{"k", 1}}},
                                                              {.table_name = "u", .key = {{"k", 2}}}}})
                                  .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReasonOf(status), kReasonTransactionCancelled);
  EXPECT_EQ(status.message(),
            "the transaction was cancelled; nothing was read; action 2: The key does not match");
  const std::vector<CancellationReason> reasons = CancellationReasons(status);
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].code, CancellationReason::Code::kNone);
  EXPECT_EQ(reasons[1].code, CancellationReason::Code::kValidationError);
}

// TransactGetItems answers in request order, without an item for a missing key (SEM-056).
TEST_F(ClientDataTest, TransactGetSendsEveryFieldAndTellsMissingItems) {
  v1::TransactGetItemsRequest seen;
  daemon_.transact_get_items = [&](const v1::TransactGetItemsRequest& request,
                                   v1::TransactGetItemsReply* reply) {
    seen = request;
    reply->set_change_sequence(9);
    *reply->add_responses()->mutable_item() = TextItem("a", "x");
    reply->add_responses();
    *reply->add_consumed_capacity() = SomeCapacity("t");
    return grpc::Status::OK;
  };
  const absl::StatusOr<TransactGetItemsResult> result =
      client_.TransactGetItems({.gets = {{.table_name = "t",
                                          .key = {{"k", 1}},
                                          .projection_expression = "#a",
                                          .expression_attribute_names = {{"#a", "a"}}},
                                         {.table_name = "u", .key = {{"k", 2}}}},
                                .large = true,
                                .return_consumed_capacity = ReturnConsumedCapacity::kTotal});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(seen.large());
  EXPECT_EQ(seen.return_consumed_capacity(), v1::RETURN_CONSUMED_CAPACITY_TOTAL);
  ASSERT_EQ(seen.transact_items_size(), 2);
  EXPECT_EQ(seen.transact_items(0).projection_expression(), "#a");
  EXPECT_EQ(seen.transact_items(0).expression_attribute_names().at("#a"), "a");
  EXPECT_EQ(seen.transact_items(1).table_name(), "u");
  EXPECT_EQ(seen.transact_items(1).key().attributes(0).value().n(), "2");
  EXPECT_EQ(result->change_sequence, 9u);
  EXPECT_THAT(result->items, testing::ElementsAre(Item{{"a", "x"}}, std::nullopt));
  ASSERT_EQ(result->consumed_capacity.size(), 1u);
  ExpectSomeCapacity(result->consumed_capacity[0], "t");
}

}  // namespace
}  // namespace itemdb
