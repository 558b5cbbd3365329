#include "daemon/http/api/batches.h"

#include "daemon/http/api/reply_parts.h"
#include "storage/base/service_text.h"

namespace itemdb::http::json {
namespace {

// ---- BatchGetItem

absl::StatusOr<wire::BatchGetItemRequest> ReadBatchGet(const JsonObject& object) {
  wire::BatchGetItemRequest request;
  ITEMDB_RETURN_IF_ERROR(ForEachEntry(
      object, "RequestItems", [&](std::string_view name, const JsonElement& value) -> absl::Status {
        const JsonObject given = AsObject(value);
        wire::KeysAndAttributes* table = request.add_request_items();
        table->set_table_name(std::string(name));
        std::optional<JsonElement> keys = MemberOf(given, "Keys");
        if (keys.has_value()) {
          for (JsonElement key : AsArray(*keys)) {
            ITEMDB_ASSIGN_OR_RETURN(*table->add_keys(), storage::EncodeJsonItem(AsObject(key)));
          }
        }
        table->set_projection_expression(std::string(ExpressionOf(given, "ProjectionExpression")));
        ITEMDB_RETURN_IF_ERROR(ReadNames(given, table));
        ReadAttributesToGet(given, table);
        table->set_consistent_read(FlagOf(given, "ConsistentRead"));
        return absl::OkStatus();
      }));
  request.set_return_consumed_capacity(EnumOf<v1::ReturnConsumedCapacity>(object, "ReturnConsumedCapacity"));
  // The service's limit, 16 MB (SEM-043). The default is lower, because a gRPC message must hold the reply.
  request.set_max_reply_bytes(storage::kMaxBatchGetBytes);
  return request;
}

void WriteNames(const google::protobuf::RepeatedPtrField<wire::NamedName>& names,
                storage::JsonWriter* writer) {
  if (names.empty()) return;
  writer->Name("ExpressionAttributeNames").BeginObject();
  for (const auto& entry : names) writer->Name(entry.name()).String(entry.value());
  writer->EndObject();
}

// Writes UnprocessedKeys as a request that the client can send again (SEM-043). The keys are in the client's
// form, not canonical; each of their values has one type, because storage has refused other keys.
void WriteUnprocessedKeys(const wire::BatchGetItemReply& reply, storage::JsonWriter* writer) {
  writer->Name("UnprocessedKeys").BeginObject();
  for (const auto& table : reply.unprocessed_keys()) {
    writer->Name(table.table_name()).BeginObject().Name("Keys").BeginArray();
    for (const std::string& key : table.keys()) writer->Item(key);
    writer->EndArray();
    if (!table.projection_expression().empty())
      writer->Name("ProjectionExpression").String(table.projection_expression());
    WriteNames(table.expression_attribute_names(), writer);
    if (!table.attributes_to_get().empty()) {
      writer->Name("AttributesToGet").BeginArray();
      for (const std::string& name : table.attributes_to_get()) writer->String(name);
      writer->EndArray();
    }
    if (table.consistent_read()) writer->Name("ConsistentRead").Boolean(true);
    writer->EndObject();
  }
  writer->EndObject();
}

int64_t WriteBatchGet(const wire::BatchGetItemReply& reply, storage::JsonWriter* writer) {
  int64_t items = 0;
  writer->Name("Responses").BeginObject();
  for (const auto& table : reply.responses()) {
    items += table.items_size();
    writer->Name(table.table_name()).BeginArray();
    for (const std::string& item : table.items()) writer->Item(item);
    writer->EndArray();
  }
  writer->EndObject();
  WriteUnprocessedKeys(reply, writer);
  WriteConsumedCapacities(reply.consumed_capacity(), writer);
  return items;
}

// ---- BatchWriteItem

absl::Status ReadWriteRequest(const JsonObject& object, wire::WriteRequest* request) {
  std::optional<JsonElement> put = MemberOf(object, "PutRequest");
  std::optional<JsonElement> remove = MemberOf(object, "DeleteRequest");
  if (put.has_value() && remove.has_value()) {
    return storage::WithServiceText(
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
        "datatypes",
        storage::ValidationError(
            "SEM-045",
            "Supplied WriteRequest has more than one request set: it must contain a PutRequest or a "
            "DeleteRequest, not both"));
  }
  if (put.has_value()) {
    ITEMDB_ASSIGN_OR_RETURN(*request->mutable_put_request()->mutable_item(), ItemOf(AsObject(*put), "Item"));
  }
  if (remove.has_value()) {
    ITEMDB_ASSIGN_OR_RETURN(*request->mutable_delete_request()->mutable_key(),
                            ItemOf(AsObject(*remove), "Key"));
  }
  return absl::OkStatus();
}

absl::StatusOr<wire::BatchWriteItemRequest> ReadBatchWrite(const JsonObject& object) {
  wire::BatchWriteItemRequest request;
  ITEMDB_RETURN_IF_ERROR(ForEachEntry(
      object, "RequestItems", [&](std::string_view name, const JsonElement& value) -> absl::Status {
        wire::TableWriteRequests* table = request.add_request_items();
        table->set_table_name(std::string(name));
        for (JsonElement write : AsArray(value))
          ITEMDB_RETURN_IF_ERROR(ReadWriteRequest(AsObject(write), table->add_write_requests()));
        return absl::OkStatus();
      }));
  request.set_return_consumed_capacity(EnumOf<v1::ReturnConsumedCapacity>(object, "ReturnConsumedCapacity"));
  request.set_return_item_collection_metrics(
      EnumOf<v1::ReturnItemCollectionMetrics>(object, "ReturnItemCollectionMetrics"));
  return request;
}

void WriteBatchWrite(const wire::BatchWriteItemReply& reply, storage::JsonWriter* writer) {
  // Always empty: storage accepts a batch as a whole or refuses it (SEM-046).
  writer->Name("UnprocessedItems").BeginObject().EndObject();
  WriteItemCollectionMetrics(reply.item_collection_metrics(), writer);
  WriteConsumedCapacities(reply.consumed_capacity(), writer);
}

}  // namespace

void BatchGetItem(JsonCall call) {
  HandleOperation<ReadBatchGet, &storage::Database::BatchGetItem, WriteBatchGet>(std::move(call));
}
void BatchWriteItem(JsonCall call) {
  HandleOperation<ReadBatchWrite, &storage::Database::BatchWriteItem, WriteBatchWrite>(std::move(call));
}

}  // namespace itemdb::http::json
