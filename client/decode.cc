#include "client/decode.h"

#include <google/protobuf/arena.h>

#include <climits>
#include <utility>

#include "client/convert.h"
#include "client/errors_internal.h"
#include "common/status_macros.h"
#include "itemdb/v1/data.pb.h"

namespace itemdb {
namespace {

// The error for a write whose reply does not parse or names no known outcome.
absl::Status NoOutcome(const std::string& endpoint) {
  return MakeError(absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown,
                   "the reply from " + endpoint +
                       " names no outcome this client knows: the write may or may not have been applied");
}

absl::Status ToStatus(const v1::ConditionFailed& failed) {
  absl::Status status = MakeError(absl::StatusCode::kFailedPrecondition, kReasonConditionalCheckFailed,
                                  "the condition was false; nothing was written");
  status.SetPayload(kConditionFailedUrl, absl::Cord(failed.SerializeAsString()));
  return status;
}

// `done` is what the transaction would have done: "written".
absl::Status ToStatus(const v1::TransactionCancelled& cancelled, const std::string& done) {
  std::string message = "the transaction was cancelled; nothing was " + done;
  for (int i = 0; i < cancelled.reasons_size(); ++i) {
    if (cancelled.reasons(i).code() == v1::CANCELLATION_CODE_NONE) continue;
    message += "; action " + std::to_string(i + 1) + ": " + cancelled.reasons(i).message();
  }
  absl::Status status =
      MakeError(absl::StatusCode::kFailedPrecondition, kReasonTransactionCancelled, message);
  status.SetPayload(kTransactionCancelledUrl, absl::Cord(cancelled.SerializeAsString()));
  return status;
}

template <typename Reply>
absl::StatusOr<WriteResult> ToWriteResult(const Reply& reply, const std::string& endpoint) {
  switch (reply.outcome_case()) {
    case Reply::kConditionFailed:
      return ToStatus(reply.condition_failed());
    case Reply::kResult:
      break;
    case Reply::OUTCOME_NOT_SET:
      return NoOutcome(endpoint);
  }
  WriteResult result{.change_sequence = reply.change_sequence(), .attributes = std::nullopt};
  if (reply.result().has_attributes()) {
    ITEMDB_ASSIGN_OR_RETURN(Item attributes, FromProto(reply.result().attributes()));
    result.attributes = std::move(attributes);
  }
  if (reply.has_consumed_capacity()) result.consumed_capacity = FromProto(reply.consumed_capacity());
  if (reply.has_item_collection_metrics()) {
    ITEMDB_ASSIGN_OR_RETURN(ItemCollectionMetrics metrics, FromProto(reply.item_collection_metrics()));
    result.item_collection_metrics = std::move(metrics);
  }
  return result;
}

ReadPlan ToReadPlan(const v1::ReadPlan& message) {
  return {.index_name = message.index_name(),
          .key_range = message.key_range(),
          .lower_bound = message.lower_bound(),
          .upper_bound = message.upper_bound(),
          .forward = message.forward(),
          .bytes_read = message.bytes_read(),
          .base_items_read = message.base_items_read()};
}

template <typename Reply>
absl::StatusOr<ItemPage> ToItemPage(const Reply& reply) {
  ItemPage page;
  page.change_sequence = reply.change_sequence();
  page.count = reply.count();
  page.scanned_count = reply.scanned_count();
  page.items.reserve(reply.items_size());
  for (const v1::Item& message : reply.items()) {
    ITEMDB_ASSIGN_OR_RETURN(Item item, FromProto(message));
    page.items.push_back(std::move(item));
  }
  if (reply.has_last_evaluated_key()) {
    ITEMDB_ASSIGN_OR_RETURN(Item key, FromProto(reply.last_evaluated_key()));
    page.last_evaluated_key = std::move(key);
  }
  if (reply.has_consumed_capacity()) page.consumed_capacity = FromProto(reply.consumed_capacity());
  if (reply.has_plan()) page.plan = ToReadPlan(reply.plan());
  for (const v1::SkippedDamage& message : reply.skipped_damage()) {
    SkippedDamage& skipped = page.skipped_damage.emplace_back();
    if (message.has_after_key()) {
      ITEMDB_ASSIGN_OR_RETURN(skipped.after_key, FromProto(message.after_key()));
    }
    if (message.has_before_key()) {
      ITEMDB_ASSIGN_OR_RETURN(skipped.before_key, FromProto(message.before_key()));
    }
  }
  return page;
}

absl::Status NoReply(const std::string& endpoint) {
  return MakeError(absl::StatusCode::kDataLoss, "DATA_LOSS",
                   "the reply from " + endpoint + " does not decode");
}

bool Parse(std::string_view bytes, google::protobuf::MessageLite* message) {
  return bytes.size() <= INT_MAX && message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

template <typename Reply>
absl::StatusOr<WriteResult> DecodeWriteReply(std::string_view bytes, const std::string& endpoint) {
  Reply reply;
  if (!Parse(bytes, &reply)) return NoOutcome(endpoint);
  return ToWriteResult(reply, endpoint);
}

template <typename Reply>
absl::StatusOr<ItemPage> DecodePageReply(std::string_view bytes, const std::string& endpoint) {
  // A page may hold thousands of values: an arena frees them at once.
  google::protobuf::Arena arena;
  auto* reply = google::protobuf::Arena::CreateMessage<Reply>(&arena);
  if (!Parse(bytes, reply)) return NoReply(endpoint);
  return ToItemPage(*reply);
}

}  // namespace

absl::StatusOr<WriteResult> DecodePutItem(std::string_view reply, const std::string& endpoint) {
  return DecodeWriteReply<v1::PutItemReply>(reply, endpoint);
}

absl::StatusOr<WriteResult> DecodeUpdateItem(std::string_view reply, const std::string& endpoint) {
  return DecodeWriteReply<v1::UpdateItemReply>(reply, endpoint);
}

absl::StatusOr<WriteResult> DecodeDeleteItem(std::string_view reply, const std::string& endpoint) {
  return DecodeWriteReply<v1::DeleteItemReply>(reply, endpoint);
}

absl::StatusOr<GetItemResult> DecodeGetItem(std::string_view bytes, const std::string& endpoint) {
  v1::GetItemReply reply;
  if (!Parse(bytes, &reply)) return NoReply(endpoint);
  GetItemResult result{.change_sequence = reply.change_sequence(), .item = std::nullopt};
  if (reply.has_item()) {
    ITEMDB_ASSIGN_OR_RETURN(Item item, FromProto(reply.item()));
    result.item = std::move(item);
  }
  if (reply.has_consumed_capacity()) result.consumed_capacity = FromProto(reply.consumed_capacity());
  return result;
}

namespace {

// The items that a transaction has read, in the order of its actions. Nothing: there is no item.
absl::Status AddResponses(const google::protobuf::RepeatedPtrField<v1::ItemResponse>& responses,
                          std::vector<std::optional<Item>>* items) {
  items->reserve(static_cast<size_t>(responses.size()));
  for (const v1::ItemResponse& response : responses) {
    std::optional<Item>& added = items->emplace_back();
    if (!response.has_item()) continue;
    ITEMDB_ASSIGN_OR_RETURN(Item item, FromProto(response.item()));
    added = std::move(item);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TransactGetItemsResult> DecodeTransactGetItems(std::string_view bytes,
                                                              const std::string& endpoint) {
  v1::TransactGetItemsReply reply;
  if (!Parse(bytes, &reply)) return NoReply(endpoint);
  if (reply.has_cancelled()) return ToStatus(reply.cancelled(), "read");
  TransactGetItemsResult result;
  result.change_sequence = reply.change_sequence();
  ITEMDB_RETURN_IF_ERROR(AddResponses(reply.responses(), &result.items));
  AddCapacity(reply.consumed_capacity(), &result.consumed_capacity);
  return result;
}

absl::StatusOr<TransactWriteItemsResult> DecodeTransactWriteItems(std::string_view bytes,
                                                                  const std::string& endpoint) {
  v1::TransactWriteItemsReply reply;
  if (!Parse(bytes, &reply)) return NoOutcome(endpoint);
  switch (reply.outcome_case()) {
    case v1::TransactWriteItemsReply::kCommitted:
      break;
    case v1::TransactWriteItemsReply::kCancelled:
      return ToStatus(reply.cancelled(), "written");
    case v1::TransactWriteItemsReply::OUTCOME_NOT_SET:
      return NoOutcome(endpoint);
  }
  TransactWriteItemsResult result{.change_sequence = reply.change_sequence()};
  AddCapacity(reply.consumed_capacity(), &result.consumed_capacity);
  ITEMDB_RETURN_IF_ERROR(AddMetrics(reply.item_collection_metrics(), &result.item_collection_metrics));
  return result;
}

absl::StatusOr<ItemPage> DecodeQuery(std::string_view reply, const std::string& endpoint) {
  return DecodePageReply<v1::QueryReply>(reply, endpoint);
}

absl::StatusOr<ItemPage> DecodeScan(std::string_view reply, const std::string& endpoint) {
  return DecodePageReply<v1::ScanReply>(reply, endpoint);
}

namespace {

absl::StatusOr<ExecuteStatementResult> ToStatementResult(const v1::ExecuteStatementReply& reply) {
  if (reply.has_condition_failed()) return ToStatus(reply.condition_failed());
  ExecuteStatementResult result{
      .change_sequence = reply.change_sequence(), .items = {}, .next_token = std::nullopt};
  result.items.reserve(reply.items_size());
  for (const v1::Item& message : reply.items()) {
    ITEMDB_ASSIGN_OR_RETURN(Item item, FromProto(message));
    result.items.push_back(std::move(item));
  }
  if (!reply.next_token().empty()) result.next_token = reply.next_token();
  if (reply.has_consumed_capacity()) result.consumed_capacity = FromProto(reply.consumed_capacity());
  return result;
}

}  // namespace

absl::StatusOr<ExecuteStatementResult> DecodeSelectStatement(std::string_view bytes,
                                                             const std::string& endpoint) {
  v1::ExecuteStatementReply reply;
  if (!Parse(bytes, &reply)) return NoReply(endpoint);
  return ToStatementResult(reply);
}

absl::StatusOr<ExecuteStatementResult> DecodeWriteStatement(std::string_view bytes,
                                                            const std::string& endpoint) {
  v1::ExecuteStatementReply reply;
  if (!Parse(bytes, &reply)) return NoOutcome(endpoint);
  return ToStatementResult(reply);
}

namespace {

// The codes that errors of whole calls have. A reason that a newer daemon made has none of its own.
absl::StatusCode CodeOf(Reason reason) {
  switch (reason) {
    case Reason::kValidation:
      return absl::StatusCode::kInvalidArgument;
    case Reason::kResourceNotFound:
      return absl::StatusCode::kNotFound;
    case Reason::kResourceInUse:
    case Reason::kDuplicateItem:
      return absl::StatusCode::kAlreadyExists;
    case Reason::kConditionalCheckFailed:
    case Reason::kStandby:
    case Reason::kFenced:
    case Reason::kTableMoved:
    case Reason::kHoldEnded:
      return absl::StatusCode::kFailedPrecondition;
    case Reason::kLimitExceeded:
    case Reason::kItemCollectionSizeLimitExceeded:
    case Reason::kQueueFull:
    case Reason::kCallsFull:
    case Reason::kDiskFull:
    case Reason::kThrottled:
    case Reason::kTransactionConflict:
      return absl::StatusCode::kResourceExhausted;
    case Reason::kUnavailable:
    case Reason::kTableMoving:
      return absl::StatusCode::kUnavailable;
    case Reason::kAccessDenied:
      return absl::StatusCode::kPermissionDenied;
    case Reason::kDataLoss:
      return absl::StatusCode::kDataLoss;
    case Reason::kInternal:
      return absl::StatusCode::kInternal;
    case Reason::kCancelled:
      return absl::StatusCode::kCancelled;
    case Reason::kDeadlineExceeded:
      return absl::StatusCode::kDeadlineExceeded;
    default:
      return absl::StatusCode::kUnknown;
  }
}

absl::Status ToStatus(const v1::StatementError& error) {
  const Reason reason = ReasonNamed(error.reason());
  absl::Status status = MakeError(CodeOf(reason), error.reason(), error.message());
  if (reason != Reason::kConditionalCheckFailed) return status;
  v1::ConditionFailed failed;
  if (error.has_item()) *failed.mutable_item() = error.item();
  status.SetPayload(kConditionFailedUrl, absl::Cord(failed.SerializeAsString()));
  return status;
}

absl::StatusOr<BatchExecuteStatementResult> ToBatchResult(const v1::BatchExecuteStatementReply& reply) {
  BatchExecuteStatementResult result{.change_sequence = reply.change_sequence()};
  result.responses.reserve(static_cast<size_t>(reply.responses_size()));
  for (const v1::BatchStatementResponse& message : reply.responses()) {
    BatchStatementResponse& response = result.responses.emplace_back();
    response.table_name = message.table_name();
    if (message.has_error()) response.status = ToStatus(message.error());
    if (!message.has_item()) continue;
    ITEMDB_ASSIGN_OR_RETURN(Item item, FromProto(message.item()));
    response.item = std::move(item);
  }
  AddCapacity(reply.consumed_capacity(), &result.consumed_capacity);
  return result;
}

}  // namespace

absl::StatusOr<BatchExecuteStatementResult> DecodeReadStatements(std::string_view bytes,
                                                                 const std::string& endpoint) {
  v1::BatchExecuteStatementReply reply;
  if (!Parse(bytes, &reply)) return NoReply(endpoint);
  return ToBatchResult(reply);
}

absl::StatusOr<BatchExecuteStatementResult> DecodeWriteStatements(std::string_view bytes,
                                                                  const std::string& endpoint) {
  v1::BatchExecuteStatementReply reply;
  if (!Parse(bytes, &reply)) return NoOutcome(endpoint);
  return ToBatchResult(reply);
}

absl::StatusOr<ExecuteTransactionResult> DecodeExecuteTransaction(std::string_view bytes,
                                                                  const std::string& endpoint) {
  v1::ExecuteTransactionReply reply;
  if (!Parse(bytes, &reply)) return NoOutcome(endpoint);
  if (reply.has_cancelled()) return ToStatus(reply.cancelled(), "read or written");
  ExecuteTransactionResult result;
  result.change_sequence = reply.change_sequence();
  ITEMDB_RETURN_IF_ERROR(AddResponses(reply.responses(), &result.items));
  AddCapacity(reply.consumed_capacity(), &result.consumed_capacity);
  return result;
}

absl::StatusOr<SearchVectorsResult> DecodeSearchVectors(std::string_view bytes, const std::string& endpoint) {
  v1::SearchVectorsReply reply;
  if (!Parse(bytes, &reply)) return NoReply(endpoint);
  SearchVectorsResult result{.change_sequence = reply.change_sequence(), .search_results = {}};
  result.search_results.reserve(reply.search_results_size());
  for (const v1::SearchResult& found : reply.search_results()) {
    ITEMDB_ASSIGN_OR_RETURN(Item item, FromProto(found.item()));
    result.search_results.push_back({.item = std::move(item), .score = found.score()});
  }
  if (reply.has_consumed_capacity())
    result.vector_search_request_bytes = reply.consumed_capacity().vector_search_request_bytes();
  return result;
}

}  // namespace itemdb
