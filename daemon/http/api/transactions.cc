#include "daemon/http/api/transactions.h"

#include "daemon/http/api/outcomes.h"
#include "daemon/http/api/reply_parts.h"
#include "storage/base/service_text.h"

namespace itemdb::http::json {
namespace {

// ---- TransactWriteItems

absl::Status ReadAction(const JsonObject& object, std::string_view item_member,
                        wire::WriteItemRequest* action) {
  action->set_table_name(std::string(TextOf(object, "TableName")));
  ITEMDB_ASSIGN_OR_RETURN(*action->mutable_key_or_item(), ItemOf(object, item_member));
  action->set_condition_expression(std::string(ExpressionOf(object, "ConditionExpression")));
  if (HasMember(object, "UpdateExpression"))
    action->set_update_expression(std::string(ExpressionOf(object, "UpdateExpression")));
  ITEMDB_RETURN_IF_ERROR(ReadPlaceholders(object, action));
  action->set_return_values_on_condition_check_failure(
      EnumOf<v1::ReturnValuesOnConditionCheckFailure>(object, "ReturnValuesOnConditionCheckFailure"));
  return absl::OkStatus();
}

absl::StatusOr<wire::TransactWriteItemsRequest> ReadTransactWrite(const JsonObject& object) {
  struct Kind {
    std::string_view member;
    std::string_view item_member;
    wire::WriteItemRequest* (wire::TransactWriteItem::*mutable_action)();
  };
  constexpr Kind kKinds[] = {
      {"Put", "Item", &wire::TransactWriteItem::mutable_put},
      {"Update", "Key", &wire::TransactWriteItem::mutable_update},
      {"Delete", "Key", &wire::TransactWriteItem::mutable_delete_},
      {"ConditionCheck", "Key", &wire::TransactWriteItem::mutable_condition_check},
  };
  wire::TransactWriteItemsRequest request;
  ITEMDB_RETURN_IF_ERROR(ForEachIn(object, "TransactItems", [&](const JsonObject& given) -> absl::Status {
    wire::TransactWriteItem* item = request.add_transact_items();
    for (const Kind& kind : kKinds) {
      std::optional<JsonElement> action = MemberOf(given, kind.member);
      if (!action.has_value()) continue;
      if (item->action_case() != wire::TransactWriteItem::ACTION_NOT_SET) {
        return storage::DetailedError("SEM-047",
                                      "TransactItems can only contain one of Check, Put, Update or Delete",
                                      " in each element");
      }
      ITEMDB_RETURN_IF_ERROR(ReadAction(AsObject(*action), kind.item_member, (item->*kind.mutable_action)()));
    }
    return absl::OkStatus();
  }));
  request.set_client_request_token(std::string(TextOf(object, "ClientRequestToken")));
  request.set_return_consumed_capacity(EnumOf<v1::ReturnConsumedCapacity>(object, "ReturnConsumedCapacity"));
  request.set_return_item_collection_metrics(
      EnumOf<v1::ReturnItemCollectionMetrics>(object, "ReturnItemCollectionMetrics"));
  return request;
}

void AnswerTransactWrite(JsonAnswer answer, absl::StatusOr<wire::TransactWriteItemsReply> reply) {
  if (!reply.ok()) return std::move(answer).Fail(reply.status());
  if (reply->has_cancelled()) return std::move(answer).Send(CancelledReply(reply->cancelled()));
  std::string body;
  storage::JsonWriter writer(&body);
  writer.BeginObject();
  WriteItemCollectionMetrics(reply->item_collection_metrics(), &writer);
  WriteConsumedCapacities(reply->consumed_capacity(), &writer);
  writer.EndObject();
  std::move(answer).Succeed(std::move(body));
}

// ---- TransactGetItems

absl::StatusOr<wire::TransactGetItemsRequest> ReadTransactGet(const JsonObject& object) {
  wire::TransactGetItemsRequest request;
  ITEMDB_RETURN_IF_ERROR(ForEachIn(object, "TransactItems", [&](const JsonObject& given) -> absl::Status {
    wire::GetItemRequest* get = request.add_transact_items();
    std::optional<JsonElement> member = MemberOf(given, "Get");
    if (!member.has_value()) return absl::OkStatus();
    const JsonObject one = AsObject(*member);
    get->set_table_name(std::string(TextOf(one, "TableName")));
    ITEMDB_ASSIGN_OR_RETURN(*get->mutable_key(), ItemOf(one, "Key"));
    get->set_projection_expression(std::string(ExpressionOf(one, "ProjectionExpression")));
    return ReadNames(one, get);
  }));
  request.set_return_consumed_capacity(EnumOf<v1::ReturnConsumedCapacity>(object, "ReturnConsumedCapacity"));
  return request;
}

void AnswerTransactGet(JsonAnswer answer, absl::StatusOr<wire::TransactGetItemsReply> reply) {
  if (!reply.ok()) return std::move(answer).Fail(reply.status());
  if (reply->has_cancelled()) return std::move(answer).Send(CancelledReply(reply->cancelled()));
  std::string body;
  storage::JsonWriter writer(&body);
  writer.BeginObject();
  const int64_t items = WriteResponses(reply->responses(), &writer);
  WriteConsumedCapacities(reply->consumed_capacity(), &writer);
  writer.EndObject();
  std::move(answer).Succeed(std::move(body), items);
}

}  // namespace

void TransactWriteItems(JsonCall call) {
  HandleOperation<ReadTransactWrite,
                  CallDatabase<&storage::Database::TransactWriteItems, AnswerTransactWrite>>(std::move(call));
}
void TransactGetItems(JsonCall call) {
  HandleOperation<ReadTransactGet, CallDatabase<&storage::Database::TransactGetItems, AnswerTransactGet>>(
      std::move(call));
}

}  // namespace itemdb::http::json
