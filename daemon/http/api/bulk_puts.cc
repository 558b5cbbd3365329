#include "daemon/http/api/bulk_puts.h"

#include "daemon/http/api/table_definitions.h"
#include "itemdb/v1/bulk_puts.pb.h"

namespace itemdb::http::json {
namespace {

using storage::Database;

// ---- requests

absl::StatusOr<v1::StartBulkPutItemsRequest> ReadStartBulkPutItems(const JsonObject& object) {
  v1::StartBulkPutItemsRequest request;
  request.set_table_name(std::string(TextOf(object, "TableName")));
  request.set_client_token(std::string(TextOf(object, "ClientToken")));
  if (const auto units = NumberOf(object, "MaxWriteRequestUnits"); units.has_value())
    request.set_max_write_request_units(static_cast<int64_t>(*units));
  request.set_performance_tier(EnumOf<v1::BulkPerformanceTier>(object, "PerformanceTier"));
  const JsonObject from = AsObject(*MemberOf(object, "InputS3Configuration"));
  v1::BulkPutInput& input = *request.mutable_input();
  input.set_s3_bucket(std::string(TextOf(from, "S3Bucket")));
  input.set_s3_key_prefix(std::string(TextOf(from, "S3KeyPrefix")));
  input.set_s3_bucket_owner(std::string(TextOf(from, "S3BucketOwner")));
  input.set_input_format(EnumOf<v1::InputFormat>(from, "InputFormat"));
  input.set_input_compression_type(EnumOf<v1::InputCompressionType>(from, "InputCompressionType"));
  const JsonObject to = AsObject(*MemberOf(object, "OutputS3Configuration"));
  v1::BulkPutOutput& output = *request.mutable_output();
  for (const JsonElement type : AsArray(*MemberOf(to, "OutputType"))) {
    output.add_output_type(TextOf(type) == "ERROR" ? v1::BULK_OUTPUT_TYPE_ERROR
                                                   : v1::BULK_OUTPUT_TYPE_CONDITION_CHECK_FAILURE);
  }
  output.set_s3_bucket(std::string(TextOf(to, "S3Bucket")));
  output.set_s3_key_prefix(std::string(TextOf(to, "S3KeyPrefix")));
  output.set_s3_bucket_owner(std::string(TextOf(to, "S3BucketOwner")));
  output.set_s3_sse_algorithm(std::string(TextOf(to, "S3SseAlgorithm")));
  output.set_s3_sse_kms_key_id(std::string(TextOf(to, "S3SseKmsKeyId")));
  return request;
}

// DescribeBulkOperation and CancelBulkOperation have the same input.
template <typename Request>
absl::StatusOr<Request> ReadBulkOperationArn(const JsonObject& object) {
  Request request;
  request.set_bulk_operation_arn(std::string(TextOf(object, "BulkOperationArn")));
  return request;
}

absl::StatusOr<v1::ListBulkOperationsRequest> ReadListBulkOperations(const JsonObject& object) {
  v1::ListBulkOperationsRequest request;
  if (const auto count = NumberOf(object, "MaxResults"); count.has_value())
    request.set_max_results(static_cast<int32_t>(*count));
  request.set_next_token(std::string(TextOf(object, "NextToken")));
  return request;
}

// ---- replies

void WriteInputS3Configuration(const v1::BulkPutInput& input, storage::JsonWriter* writer) {
  writer->Name("InputS3Configuration").BeginObject().Name("S3Bucket").String(input.s3_bucket());
  writer->Name("S3BucketOwner").String(input.s3_bucket_owner());
  if (!input.s3_key_prefix().empty()) writer->Name("S3KeyPrefix").String(input.s3_key_prefix());
  writer->Name("InputFormat").String(EnumText(input.input_format()));
  writer->Name("InputCompressionType").String(EnumText(input.input_compression_type())).EndObject();
}

void WriteOutputS3Configuration(const v1::BulkPutOutput& output, storage::JsonWriter* writer) {
  writer->Name("OutputS3Configuration").BeginObject().Name("OutputType").BeginArray();
  for (const int type : output.output_type()) writer->String(EnumText(static_cast<v1::BulkOutputType>(type)));
  writer->EndArray().Name("S3Bucket").String(output.s3_bucket());
  writer->Name("S3BucketOwner").String(output.s3_bucket_owner());
  if (!output.s3_key_prefix().empty()) writer->Name("S3KeyPrefix").String(output.s3_key_prefix());
  if (!output.s3_sse_algorithm().empty()) writer->Name("S3SseAlgorithm").String(output.s3_sse_algorithm());
  if (!output.s3_sse_kms_key_id().empty()) writer->Name("S3SseKmsKeyId").String(output.s3_sse_kms_key_id());
  writer->EndObject();
}

// Writes the members that BulkOperationDescription and BulkOperationSummary share.
void WriteBulkSummary(const v1::BulkOperationDescription& description, storage::JsonWriter* writer) {
  writer->Name("BulkOperationArn").String(description.bulk_operation_arn());
  writer->Name("BulkOperationStatus").String(EnumText(description.bulk_operation_status()));
  writer->Name("StartTime").Time(description.start_time_ms());
  if (description.end_time_ms() != 0) writer->Name("EndTime").Time(description.end_time_ms());
}

// StartBulkPutItems and DescribeBulkOperation answer alike.
template <typename Reply>
void WriteBulkOperation(const Reply& reply, storage::JsonWriter* writer) {
  const v1::BulkOperationDescription& description = reply.description();
  writer->Name("BulkOperationDescription").BeginObject();
  WriteBulkSummary(description, writer);
  writer->Name("ClientToken").String(description.client_token());
  writer->Name("TableDetails").BeginArray().BeginObject().Name("TableName").String(description.table_arn());
  writer->Name("TableId").String(description.table_id()).EndObject().EndArray();
  WriteInputS3Configuration(description.input(), writer);
  WriteOutputS3Configuration(description.output(), writer);
  if (description.has_max_write_request_units())
    writer->Name("MaxWriteRequestUnits").Integer(description.max_write_request_units());
  writer->Name("PerformanceTier").String(EnumText(description.performance_tier()));
  if (description.has_total_input_bytes())
    writer->Name("TotalInputBytes").Integer(description.total_input_bytes());
  writer->Name("ProcessedInputBytes").Integer(description.processed_input_bytes());
  writer->Name("ProcessedItemCount").Integer(description.processed_item_count());
  writer->Name("FailedItemCount").Integer(description.failed_item_count());
  if (!description.failure_code().empty()) {
    writer->Name("FailureCode").String(description.failure_code());
    writer->Name("FailureMessage").String(description.failure_message());
  }
  writer->EndObject();
}

void WriteBulkOperations(const v1::ListBulkOperationsReply& reply, storage::JsonWriter* writer) {
  writer->Name("BulkOperationsSummaryList").BeginArray();
  for (const v1::BulkOperationDescription& description : reply.operations()) {
    writer->BeginObject();
    WriteBulkSummary(description, writer);
    writer->EndObject();
  }
  writer->EndArray();
  if (!reply.next_token().empty()) writer->Name("NextToken").String(reply.next_token());
}

void WriteCancelBulkOperation(const v1::CancelBulkOperationReply& reply, storage::JsonWriter* writer) {
  writer->Name("BulkOperationArn").String(reply.bulk_operation_arn());
  writer->Name("BulkOperationStatus").String(EnumText(reply.bulk_operation_status()));
}

// A caller with roles for some tables gets the operations on these.
void ExecuteListBulkOperations(JsonCall call, const v1::ListBulkOperationsRequest& request) {
  std::function<bool(std::string_view)> shows;
  if (call.caller.grants != nullptr) {
    shows = [caller = call.caller](std::string_view name) { return daemon::MaySeeTable(caller, name); };
  }
  AnswerObject<WriteBulkOperations>(std::move(call.answer), call.database.ListBulkOperations(request, shows));
}

}  // namespace

void StartBulkPutItems(JsonCall call) {
  HandleOperation<ReadStartBulkPutItems, &Database::StartBulkPutItems,
                  WriteBulkOperation<v1::StartBulkPutItemsReply>>(std::move(call));
}
void DescribeBulkOperation(JsonCall call) {
  HandleOperation<ReadBulkOperationArn<v1::DescribeBulkOperationRequest>, &Database::DescribeBulkOperation,
                  WriteBulkOperation<v1::DescribeBulkOperationReply>>(std::move(call));
}
void ListBulkOperations(JsonCall call) {
  HandleOperation<ReadListBulkOperations, ExecuteListBulkOperations>(std::move(call));
}
void CancelBulkOperation(JsonCall call) {
  HandleOperation<ReadBulkOperationArn<v1::CancelBulkOperationRequest>, &Database::CancelBulkOperation,
                  WriteCancelBulkOperation>(std::move(call));
}

}  // namespace itemdb::http::json
