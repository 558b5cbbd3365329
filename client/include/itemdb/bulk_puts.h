// Requests and results about puts of the items in files into a table that serves. The operations are in
// client.h.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "itemdb/imports.h"

namespace itemdb {

// A newer daemon may have other values.
enum class BulkOperationStatus {
  kUnknown,
  kInProgress,
  kCompleted,
  kCompletedWithErrors,
  kCancelling,
  kCancelled,
  kFailed
};
enum class BulkOutputType { kUnknown, kError, kConditionCheckFailure };
// Nothing depends on it.
enum class BulkPerformanceTier { kUnknown, kStandard, kAccelerated };

struct StartBulkPutItemsRequest {
  // The name or ARN of a table.
  std::string table_name;
  // A folder of the daemon's export directory.
  std::string s3_bucket;
  // Objects whose keys begin with it are read. Empty: all objects of the bucket.
  std::string s3_key_prefix = {};
  // kDynamoDbJson or kIon. A line may have the condition of its put.
  InputFormat input_format = InputFormat::kDynamoDbJson;
  InputCompression input_compression = InputCompression::kNone;
  // Which lists are written when the operation ends, to PREFIX/AWSDynamoDB/bulk/ID/ in the output bucket.
  std::vector<BulkOutputType> output_types = {BulkOutputType::kError, BulkOutputType::kConditionCheckFailure};
  // Empty: the bucket of the input, and no prefix.
  std::string output_s3_bucket = {};
  std::string output_s3_key_prefix = {};
  // At least 1,024 a second. Default: no limit.
  std::optional<int64_t> max_write_request_units = std::nullopt;
  BulkPerformanceTier performance_tier = BulkPerformanceTier::kStandard;
  // A request with the token of an operation that began within 8 hours describes that operation. Empty: a new
  // token.
  std::string client_token = {};
};

// An operation.
struct BulkOperationDescription {
  std::string bulk_operation_arn = {};
  BulkOperationStatus bulk_operation_status = BulkOperationStatus::kUnknown;
  std::string table_arn = {};
  std::string table_id = {};
  std::string client_token = {};
  std::string s3_bucket = {};
  std::string s3_key_prefix = {};
  InputFormat input_format = InputFormat::kUnknown;
  InputCompression input_compression = InputCompression::kUnknown;
  std::vector<BulkOutputType> output_types = {};
  std::string output_s3_bucket = {};
  std::string output_s3_key_prefix = {};
  std::optional<int64_t> max_write_request_units = std::nullopt;
  BulkPerformanceTier performance_tier = BulkPerformanceTier::kUnknown;
  absl::Time start_time = absl::UnixEpoch();
  // Not set while the operation runs.
  std::optional<absl::Time> end_time = std::nullopt;
  // Bytes of the objects as they are stored, compressed or not. Not set until the bucket was listed.
  std::optional<int64_t> total_input_bytes = std::nullopt;
  int64_t processed_input_bytes = 0;
  // The sum of the three counts after this one.
  int64_t processed_item_count = 0;
  int64_t written_item_count = 0;
  // Items, lines and objects with an error.
  int64_t failed_item_count = 0;
  // Items whose condition was false.
  int64_t condition_check_failure_count = 0;
  // Only of kFailed and kCancelled: what failed.
  std::string failure_code = {};
  std::string failure_message = {};
};

struct ListBulkOperationsRequest {
  // 1 to 25. Default 10.
  std::optional<int32_t> max_results = std::nullopt;
  // The next_token of the page before.
  std::string next_token = {};
};

struct ListBulkOperationsResult {
  // The newest first.
  std::vector<BulkOperationDescription> operations = {};
  // Not empty if operations remain.
  std::string next_token = {};
};

}  // namespace itemdb
