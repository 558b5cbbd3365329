#include "storage/bulk_puts/bulk_requests.h"

#include <algorithm>
#include <string>

#include "storage/base/limits.h"
#include "storage/base/table_arn.h"
#include "storage/bulk_puts/bulk_report.h"
#include "storage/catalog/catalog.h"
#include "storage/imports/import_request.h"

namespace itemdb::storage {
namespace {

constexpr size_t kMaxBulkTokenBytes = 1'024;

absl::Status BulkRequestError(std::string_view message) { return ValidationError("BLK-01", message); }

absl::Status CheckBulkInput(const v1::BulkPutInput& input) {
  v1::S3BucketSource source;
  source.set_s3_bucket(input.s3_bucket());
  source.set_s3_key_prefix(input.s3_key_prefix());
  source.set_s3_bucket_owner(input.s3_bucket_owner());
  ITEMDB_RETURN_IF_ERROR(CheckBucketSource("BLK-01", source));
  if (input.input_format() != v1::INPUT_FORMAT_DYNAMODB_JSON && input.input_format() != v1::INPUT_FORMAT_ION)
    return BulkRequestError("InputFormat must be DYNAMODB_JSON or ION");
  if (!v1::InputCompressionType_IsValid(input.input_compression_type()))
    return BulkRequestError("InputCompressionType must be GZIP, ZSTD or NONE");
  return absl::OkStatus();
}

absl::Status CheckBulkOutput(const v1::BulkPutOutput& output) {
  v1::S3BucketSource source;
  source.set_s3_bucket(output.s3_bucket());
  source.set_s3_key_prefix(output.s3_key_prefix());
  source.set_s3_bucket_owner(output.s3_bucket_owner());
  ITEMDB_RETURN_IF_ERROR(CheckBucketSource("BLK-01", source));
  ITEMDB_RETURN_IF_ERROR(CheckBulkReportPrefix(output));
  const auto is_type = [](int type) {
    return type == v1::BULK_OUTPUT_TYPE_ERROR || type == v1::BULK_OUTPUT_TYPE_CONDITION_CHECK_FAILURE;
  };
  if (output.output_type().empty() ||
      !std::all_of(output.output_type().begin(), output.output_type().end(), is_type))
    return BulkRequestError("OutputType must have ERROR, CONDITION_CHECK_FAILURE or both");
  const std::string& algorithm = output.s3_sse_algorithm();
  if (!algorithm.empty() && algorithm != "AES256" && algorithm != "KMS")
    return BulkRequestError("S3SseAlgorithm must be AES256 or KMS");
  if (output.s3_sse_kms_key_id().size() > kMaxKmsKeyIdBytes) {
    return BulkRequestError("S3SseKmsKeyId must have at most " + std::to_string(kMaxKmsKeyIdBytes) +
                            " bytes");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::StartBulkPutItemsRequest> CheckedBulkRequest(v1::StartBulkPutItemsRequest request) {
  v1::BulkPutInput& input = *request.mutable_input();
  v1::BulkPutOutput& output = *request.mutable_output();
  if (output.s3_bucket().empty()) output.set_s3_bucket(input.s3_bucket());
  ITEMDB_RETURN_IF_ERROR(CheckBulkInput(input));
  ITEMDB_RETURN_IF_ERROR(CheckBulkOutput(output));
  const std::string& token = request.client_token();
  if (token.size() > kMaxBulkTokenBytes || token.find('$') != std::string::npos) {
    return BulkRequestError("ClientToken must have at most " + std::to_string(kMaxBulkTokenBytes) +
                            " bytes and no '$'");
  }
  if (request.has_max_write_request_units() && request.max_write_request_units() < kMinBulkWriteUnits) {
    return BulkRequestError("MaxWriteRequestUnits must be at least " + std::to_string(kMinBulkWriteUnits) +
                            "; it is " + std::to_string(request.max_write_request_units()));
  }
  if (!v1::BulkPerformanceTier_IsValid(request.performance_tier()))
    return BulkRequestError("PerformanceTier must be STANDARD or ACCELERATED");

  request.set_table_name(std::string(TableNameOf(request.table_name())));
  if (input.input_compression_type() == v1::INPUT_COMPRESSION_TYPE_UNSPECIFIED)
    input.set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_NONE);
  if (request.performance_tier() == v1::BULK_PERFORMANCE_TIER_UNSPECIFIED)
    request.set_performance_tier(v1::BULK_PERFORMANCE_TIER_STANDARD);
  for (std::string* owner : {input.mutable_s3_bucket_owner(), output.mutable_s3_bucket_owner()})
    if (owner->empty()) *owner = kAccount;
  auto& types = *output.mutable_output_type();
  std::sort(types.begin(), types.end());
  types.erase(std::unique(types.begin(), types.end()), types.end());
  return request;
}

v1::BulkOperationDescription DescriptionOf(const v1::StartBulkPutItemsRequest& checked) {
  v1::BulkOperationDescription description;
  description.set_bulk_operation_status(v1::BULK_OPERATION_STATUS_IN_PROGRESS);
  description.set_client_token(checked.client_token());
  *description.mutable_input() = checked.input();
  *description.mutable_output() = checked.output();
  if (checked.has_max_write_request_units())
    description.set_max_write_request_units(checked.max_write_request_units());
  description.set_performance_tier(checked.performance_tier());
  return description;
}

}  // namespace itemdb::storage
