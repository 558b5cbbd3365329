#include "daemon/http/api/exports.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "itemdb/v1/exports.pb.h"

namespace itemdb::http::json {
namespace {

using storage::Database;

// ---- requests

absl::Status ReadFilter(const JsonObject& given, v1::FilterSpecification* filter) {
  filter->set_key_condition_expression(std::string(ExpressionOf(given, "KeyConditionExpression")));
  filter->set_filter_expression(std::string(ExpressionOf(given, "FilterExpression")));
  filter->set_projection_expression(std::string(ExpressionOf(given, "ProjectionExpression")));
  ITEMDB_RETURN_IF_ERROR(
      ForEachEntry(given, "ExpressionAttributeNames", [&](std::string_view name, const JsonElement& value) {
        (*filter->mutable_expression_attribute_names())[std::string(name)] = std::string(TextOf(value));
        return absl::OkStatus();
      }));
  return ForEachEntry(
      given, "ExpressionAttributeValues",
      [&](std::string_view name, const JsonElement& value) -> absl::Status {
        ITEMDB_ASSIGN_OR_RETURN(const std::string encoded, storage::EncodeJsonValue(value));
        v1::AttributeValue& one = (*filter->mutable_expression_attribute_values())[std::string(name)];
        if (one.ParseFromString(encoded)) return absl::OkStatus();
        return storage::ValidationError("the value of " + std::string(name) + " is nested too deeply");
      });
}

absl::StatusOr<v1::ExportTableToPointInTimeRequest> ReadExportTableToPointInTime(const JsonObject& object) {
  v1::ExportTableToPointInTimeRequest request;
  request.set_table_arn(std::string(TextOf(object, "TableArn")));
  request.set_s3_bucket(std::string(TextOf(object, "S3Bucket")));
  request.set_s3_prefix(std::string(TextOf(object, "S3Prefix")));
  if (const auto time = MillisecondsOf(object, "ExportTime"); time.has_value())
    request.set_export_time_ms(*time);
  request.set_export_format(EnumOf<v1::ExportFormat>(object, "ExportFormat"));
  request.set_export_type(EnumOf<v1::ExportType>(object, "ExportType"));
  if (const auto given = MemberOf(object, "IncrementalExportSpecification"); given.has_value()) {
    const JsonObject changes = AsObject(*given);
    v1::IncrementalExportSpecification* specification = request.mutable_incremental_export_specification();
    if (const auto time = MillisecondsOf(changes, "ExportFromTime"); time.has_value())
      specification->set_export_from_time_ms(*time);
    if (const auto time = MillisecondsOf(changes, "ExportToTime"); time.has_value())
      specification->set_export_to_time_ms(*time);
    specification->set_export_view_type(EnumOf<v1::ExportViewType>(changes, "ExportViewType"));
  }
  if (const auto given = MemberOf(object, "FilterSpecification"); given.has_value())
    ITEMDB_RETURN_IF_ERROR(ReadFilter(AsObject(*given), request.mutable_filter_specification()));
  request.set_client_token(std::string(TextOf(object, "ClientToken")));
  request.set_s3_bucket_owner(std::string(TextOf(object, "S3BucketOwner")));
  request.set_s3_sse_algorithm(std::string(TextOf(object, "S3SseAlgorithm")));
  request.set_s3_sse_kms_key_id(std::string(TextOf(object, "S3SseKmsKeyId")));
  return request;
}

absl::StatusOr<v1::DescribeExportRequest> ReadDescribeExport(const JsonObject& object) {
  v1::DescribeExportRequest request;
  request.set_export_arn(std::string(TextOf(object, "ExportArn")));
  return request;
}

absl::StatusOr<v1::ListExportsRequest> ReadListExports(const JsonObject& object) {
  v1::ListExportsRequest request;
  request.set_table_arn(std::string(TextOf(object, "TableArn")));
  if (const auto limit = NumberOf(object, "MaxResults"); limit.has_value())
    request.set_max_results(static_cast<int32_t>(*limit));
  request.set_next_token(std::string(TextOf(object, "NextToken")));
  return request;
}

// ---- replies

void WriteText(std::string_view name, const std::string& text, storage::JsonWriter* writer) {
  if (!text.empty()) writer->Name(name).String(text);
}

// The specification of an incremental export, filled in (XPT-08).
void WriteIncremental(const v1::ExportTableToPointInTimeRequest& request, storage::JsonWriter* writer) {
  if (!request.has_incremental_export_specification()) return;
  const v1::IncrementalExportSpecification& changes = request.incremental_export_specification();
  writer->Name("IncrementalExportSpecification").BeginObject();
  writer->Name("ExportFromTime").Time(changes.export_from_time_ms());
  writer->Name("ExportToTime").Time(changes.export_to_time_ms());
  writer->Name("ExportViewType").String(EnumText(changes.export_view_type())).EndObject();
}

// As it was sent.
void WriteFilter(const v1::ExportTableToPointInTimeRequest& request, storage::JsonWriter* writer) {
  if (!request.has_filter_specification()) return;
  const v1::FilterSpecification& filter = request.filter_specification();
  writer->Name("FilterSpecification").BeginObject();
  WriteText("KeyConditionExpression", filter.key_condition_expression(), writer);
  WriteText("FilterExpression", filter.filter_expression(), writer);
  WriteText("ProjectionExpression", filter.projection_expression(), writer);
  // Sorted, so that every answer is the same.
  const std::map<std::string, std::string> names(filter.expression_attribute_names().begin(),
                                                 filter.expression_attribute_names().end());
  if (!names.empty()) {
    writer->Name("ExpressionAttributeNames").BeginObject();
    for (const auto& [name, attribute] : names) writer->Name(name).String(attribute);
    writer->EndObject();
  }
  std::map<std::string, std::string> values;
  for (const auto& [name, value] : filter.expression_attribute_values())
    values.emplace(name, value.SerializeAsString());
  if (!values.empty()) {
    writer->Name("ExpressionAttributeValues").BeginObject();
    for (const auto& [name, encoded] : values) {
      writer->Name(name);
      storage::AppendJsonValue(storage::ValueView(encoded), writer->out());
    }
    writer->EndObject();
  }
  writer->EndObject();
}

// XPT-08, XPT-09.
template <typename Reply>
void WriteExport(const Reply& reply, storage::JsonWriter* writer) {
  const v1::ExportDescription& description = reply.description();
  const v1::ExportTableToPointInTimeRequest& request = description.request();
  writer->Name("ExportDescription").BeginObject();
  writer->Name("ExportArn").String(description.export_arn());
  writer->Name("ExportStatus").String(EnumText(description.export_status()));
  writer->Name("StartTime").Time(description.start_time_ms());
  if (description.end_time_ms() != 0) writer->Name("EndTime").Time(description.end_time_ms());
  WriteText("ExportManifest", description.export_manifest(), writer);
  writer->Name("TableArn").String(request.table_arn());
  writer->Name("TableId").String(description.table_id());
  if (description.export_time_ms() != 0) writer->Name("ExportTime").Time(description.export_time_ms());
  WriteText("ClientToken", request.client_token(), writer);
  writer->Name("DestinationType").String("S3");
  writer->Name("S3Bucket").String(request.s3_bucket());
  WriteText("S3BucketOwner", request.s3_bucket_owner(), writer);
  WriteText("S3Prefix", request.s3_prefix(), writer);
  writer->Name("S3SseAlgorithm").String(request.s3_sse_algorithm());
  WriteText("S3SseKmsKeyId", request.s3_sse_kms_key_id(), writer);
  WriteText("FailureCode", description.failure_code(), writer);
  WriteText("FailureMessage", description.failure_message(), writer);
  writer->Name("ExportFormat").String(EnumText(request.export_format()));
  if (description.export_status() == v1::EXPORT_STATUS_COMPLETED) {
    writer->Name("BilledSizeBytes").Integer(description.billed_size_bytes());
    writer->Name("ItemCount").Integer(description.item_count());
  }
  if (request.export_type() != v1::EXPORT_TYPE_UNSPECIFIED)
    writer->Name("ExportType").String(EnumText(request.export_type()));
  WriteIncremental(request, writer);
  WriteFilter(request, writer);
  writer->EndObject();
}

// XPT-14: the type is always there.
void WriteExports(const v1::ListExportsReply& reply, storage::JsonWriter* writer) {
  writer->Name("ExportSummaries").BeginArray();
  for (const v1::ExportDescription& description : reply.exports()) {
    v1::ExportType type = description.request().export_type();
    if (type == v1::EXPORT_TYPE_UNSPECIFIED) type = v1::EXPORT_TYPE_FULL_EXPORT;
    writer->BeginObject().Name("ExportArn").String(description.export_arn());
    writer->Name("ExportStatus").String(EnumText(description.export_status()));
    writer->Name("ExportType").String(EnumText(type)).EndObject();
  }
  writer->EndArray();
  WriteText("NextToken", reply.next_token(), writer);
}

// A caller with roles for some tables gets the exports of these.
void ExecuteListExports(JsonCall call, v1::ListExportsRequest request) {
  std::function<bool(std::string_view)> shows;
  if (call.caller.grants != nullptr) {
    shows = [caller = call.caller](std::string_view name) { return daemon::MaySeeTable(caller, name); };
  }
  call.database.ListExports(
      std::move(request),
      [answer = std::move(call.answer)](absl::StatusOr<v1::ListExportsReply> reply) mutable {
        AnswerObject<WriteExports>(std::move(answer), reply);
      },
      std::move(shows));
}

}  // namespace

void ExportTableToPointInTime(JsonCall call) {
  HandleOperation<ReadExportTableToPointInTime, &Database::ExportTableToPointInTime,
                  WriteExport<v1::ExportTableToPointInTimeReply>>(std::move(call));
}
void DescribeExport(JsonCall call) {
  HandleOperation<ReadDescribeExport, &Database::DescribeExport, WriteExport<v1::DescribeExportReply>>(
      std::move(call));
}
void ListExports(JsonCall call) { HandleOperation<ReadListExports, ExecuteListExports>(std::move(call)); }

}  // namespace itemdb::http::json
