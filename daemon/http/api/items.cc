#include "daemon/http/api/items.h"

#include "daemon/http/api/legacy_conditions.h"
#include "daemon/http/api/outcomes.h"
#include "daemon/http/api/reply_parts.h"

namespace itemdb::http::json {
namespace {

// Reads the members that PutItem, UpdateItem and DeleteItem share.
absl::StatusOr<wire::WriteItemRequest> ReadWrite(const JsonObject& object, std::string_view item_member) {
  wire::WriteItemRequest request;
  request.set_table_name(std::string(TextOf(object, "TableName")));
  ITEMDB_ASSIGN_OR_RETURN(*request.mutable_key_or_item(), ItemOf(object, item_member));
  request.set_condition_expression(std::string(ExpressionOf(object, "ConditionExpression")));
  ITEMDB_RETURN_IF_ERROR(ReadPlaceholders(object, &request));
  ITEMDB_RETURN_IF_ERROR(ReadExpected(object, &request));
  request.set_return_values(EnumOf<v1::ReturnValues>(object, "ReturnValues"));
  request.set_return_values_on_condition_check_failure(
      EnumOf<v1::ReturnValuesOnConditionCheckFailure>(object, "ReturnValuesOnConditionCheckFailure"));
  request.set_return_consumed_capacity(EnumOf<v1::ReturnConsumedCapacity>(object, "ReturnConsumedCapacity"));
  request.set_return_item_collection_metrics(
      EnumOf<v1::ReturnItemCollectionMetrics>(object, "ReturnItemCollectionMetrics"));
  return request;
}

absl::StatusOr<wire::WriteItemRequest> ReadPut(const JsonObject& object) { return ReadWrite(object, "Item"); }

absl::StatusOr<wire::WriteItemRequest> ReadDelete(const JsonObject& object) {
  return ReadWrite(object, "Key");
}

absl::StatusOr<wire::WriteItemRequest> ReadUpdate(const JsonObject& object) {
  ITEMDB_ASSIGN_OR_RETURN(wire::WriteItemRequest request, ReadWrite(object, "Key"));
  if (HasMember(object, "UpdateExpression"))
    request.set_update_expression(std::string(ExpressionOf(object, "UpdateExpression")));
  ITEMDB_RETURN_IF_ERROR(ReadAttributeUpdates(object, &request));
  return request;
}

absl::StatusOr<wire::GetItemRequest> ReadGet(const JsonObject& object) {
  wire::GetItemRequest request;
  request.set_table_name(std::string(TextOf(object, "TableName")));
  ITEMDB_ASSIGN_OR_RETURN(*request.mutable_key(), ItemOf(object, "Key"));
  request.set_projection_expression(std::string(ExpressionOf(object, "ProjectionExpression")));
  ITEMDB_RETURN_IF_ERROR(ReadNames(object, &request));
  ReadAttributesToGet(object, &request);
  request.set_consistent_read(FlagOf(object, "ConsistentRead"));
  request.set_return_consumed_capacity(EnumOf<v1::ReturnConsumedCapacity>(object, "ReturnConsumedCapacity"));
  return request;
}

void AnswerWrite(JsonAnswer answer, absl::StatusOr<wire::WriteItemReply> reply) {
  if (!reply.ok()) return std::move(answer).Fail(reply.status());
  if (reply->has_condition_failed())
    return std::move(answer).Send(ConditionFailedReply(reply->condition_failed()));
  std::string body;
  storage::JsonWriter writer(&body);
  writer.BeginObject();
  if (reply->result().has_attributes()) writer.Name("Attributes").Item(reply->result().attributes());
  if (reply->has_consumed_capacity()) {
    writer.Name("ConsumedCapacity");
    WriteConsumedCapacity(reply->consumed_capacity(), &writer);
  }
  if (reply->has_item_collection_metrics()) {
    writer.Name("ItemCollectionMetrics");
    WriteItemCollectionMetrics(reply->item_collection_metrics(), &writer);
  }
  writer.EndObject();
  std::move(answer).Succeed(std::move(body));
}

void AnswerGet(JsonAnswer answer, absl::StatusOr<wire::GetItemReply> reply) {
  if (!reply.ok()) return std::move(answer).Fail(reply.status());
  std::string body;
  // JSON takes about half as much again: names of types and punctuation.
  body.reserve(reply->item().size() * 3 / 2 + 128);
  storage::JsonWriter writer(&body);
  writer.BeginObject();
  if (reply->has_item()) writer.Name("Item").Item(reply->item());
  if (reply->has_consumed_capacity()) {
    writer.Name("ConsumedCapacity");
    WriteConsumedCapacity(reply->consumed_capacity(), &writer);
  }
  writer.EndObject();
  std::move(answer).Succeed(std::move(body), reply->has_item() ? 1 : 0);
}

}  // namespace

void PutItem(JsonCall call) {
  HandleOperation<ReadPut, CallDatabase<&storage::Database::PutItem, AnswerWrite>>(std::move(call));
}
void UpdateItem(JsonCall call) {
  HandleOperation<ReadUpdate, CallDatabase<&storage::Database::UpdateItem, AnswerWrite>>(std::move(call));
}
void DeleteItem(JsonCall call) {
  HandleOperation<ReadDelete, CallDatabase<&storage::Database::DeleteItem, AnswerWrite>>(std::move(call));
}
void GetItem(JsonCall call) {
  HandleOperation<ReadGet, CallDatabase<&storage::Database::GetItem, AnswerGet>>(std::move(call));
}

}  // namespace itemdb::http::json
