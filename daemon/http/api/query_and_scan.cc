#include "daemon/http/api/query_and_scan.h"

#include "daemon/http/api/legacy_conditions.h"
#include "daemon/http/api/reply_parts.h"

namespace itemdb::http::json {
namespace {

// Reads the members that Query and Scan share.
absl::StatusOr<wire::PageRequest> ReadPage(const JsonObject& object) {
  wire::PageRequest request;
  request.set_table_name(std::string(TextOf(object, "TableName")));
  request.set_index_name(std::string(TextOf(object, "IndexName")));
  request.set_filter_expression(std::string(ExpressionOf(object, "FilterExpression")));
  request.set_projection_expression(std::string(ExpressionOf(object, "ProjectionExpression")));
  ITEMDB_RETURN_IF_ERROR(ReadPlaceholders(object, &request));
  ReadAttributesToGet(object, &request);
  request.set_conditional_operator(EnumOf<v1::ConditionalOperator>(object, "ConditionalOperator"));
  if (std::optional<int64_t> limit = NumberOf(object, "Limit"); limit.has_value())
    request.set_limit(static_cast<int32_t>(*limit));
  if (HasMember(object, "ExclusiveStartKey")) {
    ITEMDB_ASSIGN_OR_RETURN(*request.mutable_exclusive_start_key(), ItemOf(object, "ExclusiveStartKey"));
  }
  request.set_select(EnumOf<v1::Select>(object, "Select"));
  request.set_consistent_read(FlagOf(object, "ConsistentRead"));
  request.set_return_consumed_capacity(EnumOf<v1::ReturnConsumedCapacity>(object, "ReturnConsumedCapacity"));
  return request;
}

absl::StatusOr<wire::PageRequest> ReadQuery(const JsonObject& object) {
  ITEMDB_ASSIGN_OR_RETURN(wire::PageRequest request, ReadPage(object));
  request.set_key_condition_expression(std::string(ExpressionOf(object, "KeyConditionExpression")));
  ITEMDB_RETURN_IF_ERROR(ReadConditions(object, "KeyConditions", request.mutable_key_conditions()));
  ITEMDB_RETURN_IF_ERROR(ReadConditions(object, "QueryFilter", request.mutable_legacy_filter()));
  if (HasMember(object, "ScanIndexForward"))
    request.set_scan_index_forward(FlagOf(object, "ScanIndexForward"));
  return request;
}

absl::StatusOr<wire::PageRequest> ReadScan(const JsonObject& object) {
  ITEMDB_ASSIGN_OR_RETURN(wire::PageRequest request, ReadPage(object));
  ITEMDB_RETURN_IF_ERROR(ReadConditions(object, "ScanFilter", request.mutable_legacy_filter()));
  if (std::optional<int64_t> segment = NumberOf(object, "Segment"); segment.has_value())
    request.set_segment(static_cast<int32_t>(*segment));
  if (std::optional<int64_t> total = NumberOf(object, "TotalSegments"); total.has_value())
    request.set_total_segments(static_cast<int32_t>(*total));
  return request;
}

void AnswerPage(JsonAnswer answer, bool count_only, absl::StatusOr<storage::Page> page) {
  if (!page.ok()) return std::move(answer).Fail(page.status());
  std::string body;
  // JSON takes about half as much again: names of types and punctuation.
  body.reserve(page->encoded_items.size() * 3 / 2 + 256);
  storage::JsonWriter writer(&body);
  writer.BeginObject();
  if (!count_only) {
    WriteItems(page->encoded_items, &writer);
  }
  writer.Name("Count").Integer(page->reply.count());
  writer.Name("ScannedCount").Integer(page->reply.scanned_count());
  if (page->reply.has_last_evaluated_key())
    writer.Name("LastEvaluatedKey").Item(page->reply.last_evaluated_key());
  if (page->reply.has_consumed_capacity()) {
    writer.Name("ConsumedCapacity");
    WriteConsumedCapacity(page->reply.consumed_capacity(), &writer);
  }
  writer.EndObject();
  std::move(answer).Succeed(std::move(body), page->reply.count());
}

using PageOperation = void (storage::Database::*)(const wire::PageRequest&, storage::Done<storage::Page>,
                                                  storage::CancellationPtr);

template <PageOperation kOperation>
void ExecutePage(JsonCall call, wire::PageRequest request) {
  // With Select COUNT the reply has no member Items, not even an empty one (SEM-036).
  const bool count_only = request.select() == v1::SELECT_COUNT;
  (call.database.*kOperation)(
      request,
      [answer = std::move(call.answer), count_only](absl::StatusOr<storage::Page> page) mutable {
        AnswerPage(std::move(answer), count_only, std::move(page));
      },
      std::move(call.cancellation));
}

}  // namespace

void Query(JsonCall call) {
  HandleOperation<ReadQuery, ExecutePage<&storage::Database::ServiceQuery>>(std::move(call));
}
void Scan(JsonCall call) {
  HandleOperation<ReadScan, ExecutePage<&storage::Database::ServiceScan>>(std::move(call));
}

}  // namespace itemdb::http::json
