// Puts of the items in the objects of a bucket into a table.
#include <utility>

#include "client/call.h"
#include "client/enum_table.h"
#include "itemdb/client.h"
#include "itemdb/v1/bulk_puts.pb.h"

namespace itemdb {
namespace {

constexpr std::pair<BulkOperationStatus, v1::BulkOperationStatus> kBulkStatuses[] = {
    {BulkOperationStatus::kInProgress, v1::BULK_OPERATION_STATUS_IN_PROGRESS},
    {BulkOperationStatus::kCompleted, v1::BULK_OPERATION_STATUS_COMPLETED},
    {BulkOperationStatus::kCompletedWithErrors, v1::BULK_OPERATION_STATUS_COMPLETED_WITH_ERRORS},
    {BulkOperationStatus::kCancelling, v1::BULK_OPERATION_STATUS_CANCELLING},
    {BulkOperationStatus::kCancelled, v1::BULK_OPERATION_STATUS_CANCELLED},
    {BulkOperationStatus::kFailed, v1::BULK_OPERATION_STATUS_FAILED}};
constexpr std::pair<BulkOutputType, v1::BulkOutputType> kBulkOutputTypes[] = {
    {BulkOutputType::kError, v1::BULK_OUTPUT_TYPE_ERROR},
    {BulkOutputType::kConditionCheckFailure, v1::BULK_OUTPUT_TYPE_CONDITION_CHECK_FAILURE}};
constexpr std::pair<BulkPerformanceTier, v1::BulkPerformanceTier> kBulkTiers[] = {
    {BulkPerformanceTier::kStandard, v1::BULK_PERFORMANCE_TIER_STANDARD},
    {BulkPerformanceTier::kAccelerated, v1::BULK_PERFORMANCE_TIER_ACCELERATED}};
constexpr std::pair<InputFormat, v1::InputFormat> kBulkFormats[] = {
    {InputFormat::kDynamoDbJson, v1::INPUT_FORMAT_DYNAMODB_JSON},
    {InputFormat::kIon, v1::INPUT_FORMAT_ION},
    {InputFormat::kCsv, v1::INPUT_FORMAT_CSV}};
constexpr std::pair<InputCompression, v1::InputCompressionType> kBulkCompressions[] = {
    {InputCompression::kNone, v1::INPUT_COMPRESSION_TYPE_NONE},
    {InputCompression::kGzip, v1::INPUT_COMPRESSION_TYPE_GZIP},
    {InputCompression::kZstd, v1::INPUT_COMPRESSION_TYPE_ZSTD}};

BulkOperationDescription BulkOperationFromProto(const v1::BulkOperationDescription& message) {
  BulkOperationDescription operation;
  operation.bulk_operation_arn = message.bulk_operation_arn();
  operation.bulk_operation_status =
      ValueOf(kBulkStatuses, message.bulk_operation_status(), BulkOperationStatus::kUnknown);
  operation.table_arn = message.table_arn();
  operation.table_id = message.table_id();
  operation.client_token = message.client_token();
  operation.s3_bucket = message.input().s3_bucket();
  operation.s3_key_prefix = message.input().s3_key_prefix();
  operation.input_format = ValueOf(kBulkFormats, message.input().input_format(), InputFormat::kUnknown);
  operation.input_compression =
      ValueOf(kBulkCompressions, message.input().input_compression_type(), InputCompression::kUnknown);
  for (const int type : message.output().output_type()) {
    operation.output_types.push_back(
        ValueOf(kBulkOutputTypes, static_cast<v1::BulkOutputType>(type), BulkOutputType::kUnknown));
  }
  operation.output_s3_bucket = message.output().s3_bucket();
  operation.output_s3_key_prefix = message.output().s3_key_prefix();
  if (message.has_max_write_request_units())
    operation.max_write_request_units = message.max_write_request_units();
  operation.performance_tier = ValueOf(kBulkTiers, message.performance_tier(), BulkPerformanceTier::kUnknown);
  operation.start_time = absl::FromUnixMillis(message.start_time_ms());
  if (message.end_time_ms() != 0) operation.end_time = absl::FromUnixMillis(message.end_time_ms());
  if (message.has_total_input_bytes()) operation.total_input_bytes = message.total_input_bytes();
  operation.processed_input_bytes = message.processed_input_bytes();
  operation.processed_item_count = message.processed_item_count();
  operation.written_item_count = message.written_item_count();
  operation.failed_item_count = message.failed_item_count();
  operation.condition_check_failure_count = message.condition_check_failure_count();
  operation.failure_code = message.failure_code();
  operation.failure_message = message.failure_message();
  return operation;
}

template <typename Reply>
BulkOperationDescription ReplyToBulkOperation(const Reply& reply) {
  return BulkOperationFromProto(reply.description());
}

}  // namespace

absl::StatusOr<BulkOperationDescription> Client::StartBulkPutItems(const StartBulkPutItemsRequest& request,
                                                                   CallOptions options) const {
  v1::StartBulkPutItemsRequest message;
  message.set_table_name(request.table_name);
  message.mutable_input()->set_s3_bucket(request.s3_bucket);
  message.mutable_input()->set_s3_key_prefix(request.s3_key_prefix);
  message.mutable_input()->set_input_format(ProtoOf(kBulkFormats, request.input_format));
  message.mutable_input()->set_input_compression_type(ProtoOf(kBulkCompressions, request.input_compression));
  for (const BulkOutputType type : request.output_types)
    message.mutable_output()->add_output_type(ProtoOf(kBulkOutputTypes, type));
  message.mutable_output()->set_s3_bucket(request.output_s3_bucket);
  message.mutable_output()->set_s3_key_prefix(request.output_s3_key_prefix);
  if (request.max_write_request_units.has_value())
    message.set_max_write_request_units(*request.max_write_request_units);
  message.set_performance_tier(ProtoOf(kBulkTiers, request.performance_tier));
  message.set_client_token(request.client_token);
  return Call<v1::StartBulkPutItemsReply, BulkOperationDescription>(
      core_, "/itemdb.v1.BulkPuts/StartBulkPutItems", CallKind::kWrite, message, options,
      &ReplyToBulkOperation<v1::StartBulkPutItemsReply>);
}

absl::StatusOr<BulkOperationDescription> Client::DescribeBulkOperation(const std::string& bulk_operation_arn,
                                                                       CallOptions options) const {
  v1::DescribeBulkOperationRequest message;
  message.set_bulk_operation_arn(bulk_operation_arn);
  return Call<v1::DescribeBulkOperationReply, BulkOperationDescription>(
      core_, "/itemdb.v1.BulkPuts/DescribeBulkOperation", CallKind::kRead, message, options,
      &ReplyToBulkOperation<v1::DescribeBulkOperationReply>);
}

absl::StatusOr<ListBulkOperationsResult> Client::ListBulkOperations(const ListBulkOperationsRequest& request,
                                                                    CallOptions options) const {
  v1::ListBulkOperationsRequest message;
  if (request.max_results.has_value()) message.set_max_results(*request.max_results);
  message.set_next_token(request.next_token);
  return Call<v1::ListBulkOperationsReply, ListBulkOperationsResult>(
      core_, "/itemdb.v1.BulkPuts/ListBulkOperations", CallKind::kRead, message, options,
      [](const v1::ListBulkOperationsReply& reply) {
        ListBulkOperationsResult result;
        for (const v1::BulkOperationDescription& operation : reply.operations())
          result.operations.push_back(BulkOperationFromProto(operation));
        result.next_token = reply.next_token();
        return result;
      });
}

absl::StatusOr<BulkOperationStatus> Client::CancelBulkOperation(const std::string& bulk_operation_arn,
                                                                CallOptions options) const {
  v1::CancelBulkOperationRequest message;
  message.set_bulk_operation_arn(bulk_operation_arn);
  return Call<v1::CancelBulkOperationReply, BulkOperationStatus>(
      core_, "/itemdb.v1.BulkPuts/CancelBulkOperation", CallKind::kWrite, message, options,
      [](const v1::CancelBulkOperationReply& reply) {
        return ValueOf(kBulkStatuses, reply.bulk_operation_status(), BulkOperationStatus::kUnknown);
      });
}

}  // namespace itemdb
