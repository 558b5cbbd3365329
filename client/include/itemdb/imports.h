// Requests and results about tables that are made of objects in a bucket. The operations are in client.h.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "itemdb/table.h"

namespace itemdb {

// A newer daemon may have other values.
enum class ImportStatus { kUnknown, kInProgress, kCompleted, kFailed };
enum class InputFormat { kUnknown, kDynamoDbJson, kIon, kCsv };
enum class InputCompression { kUnknown, kNone, kGzip, kZstd };

struct CsvOptions {
  // One of , ; : | tab space.
  char delimiter = ',';
  // The names of the columns. Empty: the first line of each object has them.
  std::vector<std::string> header_list = {};

  bool operator==(const CsvOptions&) const = default;
};

struct ImportTableRequest {
  // A folder in the daemon's --export-directory, or a bucket at its --s3-endpoint.
  std::string s3_bucket;
  // Objects whose keys begin with it are imported. Empty: all objects of the bucket.
  std::string s3_key_prefix = {};
  InputFormat input_format = InputFormat::kDynamoDbJson;
  // Only with kCsv.
  std::optional<CsvOptions> csv_options = std::nullopt;
  InputCompression input_compression = InputCompression::kNone;
  // The new table: its name, keys, global indexes, billing, throughput and encryption. Other settings are
  // refused.
  TableDefinition table;
  // A request with the token of an import that runs describes that import. Empty: a new token.
  std::string client_token = {};
};

// An import.
struct ImportDescription {
  std::string import_arn = {};
  ImportStatus import_status = ImportStatus::kUnknown;
  std::string table_arn = {};
  std::string table_id = {};
  std::string client_token = {};
  std::string s3_bucket = {};
  std::string s3_key_prefix = {};
  InputFormat input_format = InputFormat::kUnknown;
  InputCompression input_compression = InputCompression::kUnknown;
  absl::Time start_time = absl::UnixEpoch();
  // Not set while the import runs.
  std::optional<absl::Time> end_time = std::nullopt;
  // Bytes of the objects as they are stored, compressed or not.
  int64_t processed_size_bytes = 0;
  // Items and lines that cannot be parsed.
  int64_t processed_item_count = 0;
  // Processed items without error.
  int64_t imported_item_count = 0;
  // Items, lines and objects with an error.
  int64_t error_count = 0;
  // Only of kFailed: what failed. "ItemValidationError": the table exists without the items that have errors.
  std::string failure_code = {};
  std::string failure_message = {};
};

struct ListImportsRequest {
  // The name or ARN of a table, which need not exist. Default: imports of all tables.
  std::string table_arn = {};
  // 1 to 25. Default 10.
  std::optional<int32_t> page_size = std::nullopt;
  // The next_token of the page before.
  std::string next_token = {};
};

struct ListImportsResult {
  // The newest first.
  std::vector<ImportDescription> imports = {};
  // Not empty if imports remain.
  std::string next_token = {};
};

}  // namespace itemdb
