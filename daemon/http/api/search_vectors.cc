#include "daemon/http/api/search_vectors.h"

namespace itemdb::http::json {
namespace {

absl::StatusOr<wire::SearchVectorsRequest> ReadSearchVectors(const JsonObject& object) {
  wire::SearchVectorsRequest request;
  request.set_table_name(std::string(TextOf(object, "TableName")));
  request.set_index_name(std::string(TextOf(object, "IndexName")));
  if (std::optional<JsonElement> vector = MemberOf(object, "SearchVector"); vector.has_value()) {
    for (JsonElement element : AsArray(*vector)) {
      ITEMDB_ASSIGN_OR_RETURN(*request.add_search_vector(), storage::EncodeJsonValue(element));
    }
  }
  request.set_top_k(static_cast<int32_t>(NumberOf(object, "TopK").value_or(0)));
  if (HasMember(object, "SearchConditionExpression")) {
    request.set_search_condition_expression(std::string(ExpressionOf(object, "SearchConditionExpression")));
  }
  request.set_projection_expression(std::string(ExpressionOf(object, "ProjectionExpression")));
  ITEMDB_RETURN_IF_ERROR(ReadPlaceholders(object, &request));
  request.set_return_consumed_capacity(EnumOf<v1::ReturnConsumedCapacity>(object, "ReturnConsumedCapacity"));
  return request;
}

int64_t WriteSearchResults(const wire::SearchVectorsReply& reply, storage::JsonWriter* writer) {
  writer->Name("SearchResults").BeginArray();
  for (const wire::SearchResult& result : reply.search_results()) {
    writer->BeginObject().Name("Item").Item(result.item());
    writer->Name("Score").Float(result.score()).EndObject();
  }
  writer->EndArray();
  if (reply.has_consumed_capacity()) {
    writer->Name("ConsumedCapacity").BeginObject().Name("VectorSearchRequestBytes");
    writer->Integer(reply.consumed_capacity().vector_search_request_bytes()).EndObject();
  }
  return reply.search_results_size();
}

}  // namespace

void SearchVectors(JsonCall call) {
  HandleOperation<ReadSearchVectors, &storage::Database::SearchVectors, WriteSearchResults>(std::move(call));
}

}  // namespace itemdb::http::json
