// Requests and results about exports of tables. The operations are in client.h.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "itemdb/value.h"

namespace itemdb {

// A newer daemon may have other values.
enum class ExportStatus { kUnknown, kInProgress, kCompleted, kFailed };
enum class ExportFormat { kDynamodbJson, kIon };
enum class ExportType { kFullExport, kIncrementalExport };
enum class ExportViewType { kNewImage, kNewAndOldImages };

// The changes that an incremental export contains.
struct IncrementalExportSpecification {
  // The first time; and the first time that is not included any more, 15 minutes to 24 hours later. Default:
  // now.
  absl::Time export_from_time = absl::UnixEpoch();
  std::optional<absl::Time> export_to_time = std::nullopt;
  ExportViewType export_view_type = ExportViewType::kNewAndOldImages;
};

// Which items are exported, and which of their attributes. At least one expression must be given.
struct FilterSpecification {
  // Of the table's key, as QueryRequest::key_condition. Default: all items.
  std::string key_condition_expression = {};
  // Beside a key condition it must not name key attributes. Of an incremental export it is compared with the
  // newest image of an item. Default: all items.
  std::string filter_expression = {};
  // The attributes that are exported. Default: all.
  std::string projection_expression = {};
  // `#name` -> attribute name, and `:value` -> value. Each must be used.
  std::map<std::string, std::string> expression_attribute_names = {};
  std::map<std::string, Value> expression_attribute_values = {};
};

struct ExportTableToPointInTimeRequest {
  // A table with point-in-time recovery: "arn:aws:dynamodb:local:000000000000:table/NAME".
  std::string table_arn;
  // A folder in the daemon's --export-directory, or a bucket at its --s3-endpoint. Must exist.
  std::string s3_bucket;
  // What the paths of all files in that folder begin with. Default: nothing.
  std::string s3_prefix = {};
  // Of a full export: the state to export. Default: now.
  std::optional<absl::Time> export_time = std::nullopt;
  ExportFormat export_format = ExportFormat::kDynamodbJson;
  ExportType export_type = ExportType::kFullExport;
  // Required for an incremental export, and only for it.
  std::optional<IncrementalExportSpecification> incremental_export_specification = std::nullopt;
  // Default: all items with all attributes.
  std::optional<FilterSpecification> filter_specification = std::nullopt;
  // A request with the same token within eight hours is the same export. Default: a new one.
  std::string client_token = {};
};

struct ExportDescription {
  std::string export_arn = {};
  ExportStatus export_status = ExportStatus::kUnknown;
  absl::Time start_time = absl::UnixEpoch();
  // When it has ended.
  std::optional<absl::Time> end_time = std::nullopt;
  std::string table_arn = {};
  std::string table_id = {};
  // Of a full export: the time of the exported state.
  std::optional<absl::Time> export_time = std::nullopt;
  std::string s3_bucket = {};
  std::string s3_prefix = {};
  ExportFormat export_format = ExportFormat::kDynamodbJson;
  ExportType export_type = ExportType::kFullExport;
  std::string client_token = {};
  // When it is kCompleted: the lines of the data files, the sizes of the exported items, and the path of
  // manifest-summary.json in the bucket.
  int64_t item_count = 0;
  int64_t billed_size_bytes = 0;
  std::string export_manifest = {};
  // When it is kFailed: "S3NoSuchBucket", "S3AccessDenied" or "UNKNOWN", and a sentence.
  std::string failure_code = {};
  std::string failure_message = {};
  // The last change that the exported state contains; 0 while that is not known.
  uint64_t change_sequence = 0;
};

struct ListExportsRequest {
  // Only exports of the table that has this ARN now. Default: of all tables.
  std::string table_arn = {};
  // 1 to 25. Default 10.
  std::optional<int32_t> max_results = std::nullopt;
  // The next_token of the page before.
  std::string next_token = {};
};

struct ListExportsResult {
  // With a table_arn the newest first; otherwise in the order of their ARNs.
  std::vector<ExportDescription> exports = {};
  // Not empty if exports remain.
  std::string next_token = {};
};

}  // namespace itemdb
