#include "storage/imports/import_request.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "storage/base/limits.h"
#include "storage/base/table_arn.h"
#include "storage/values/utf8.h"

namespace itemdb::storage {
namespace {

constexpr size_t kMinBucketNameBytes = 3;
constexpr size_t kMaxBucketNameBytes = 255;
constexpr size_t kMaxCsvHeaderBytes = 65'536;
constexpr size_t kMaxImportTokenBytes = 1'024;
constexpr std::string_view kInvalidRequest = "Invalid Request: ";

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

absl::Status CheckFormat(const v1::ImportTableRequest& request) {
  switch (request.input_format()) {
    case v1::INPUT_FORMAT_DYNAMODB_JSON:
    case v1::INPUT_FORMAT_ION:
      if (!request.has_csv_options()) return absl::OkStatus();
      return ValidationError(
          "IMP-08", std::string(kInvalidRequest) +
                        "Unsupported InputFormatOptions for the given input format: " +
                        (request.input_format() == v1::INPUT_FORMAT_ION ? "ION." : "DYNAMODB_JSON."));
    case v1::INPUT_FORMAT_CSV:
      break;
    default:
      return ValidationError("IMP-01", "InputFormat must be DYNAMODB_JSON, ION or CSV");
  }
  const v1::CsvOptions& options = request.csv_options();
  const std::string& delimiter = options.delimiter();
  if (!delimiter.empty() &&
      (delimiter.size() != 1 || std::string_view(",;:|\t ").find(delimiter[0]) == std::string_view::npos))
    return ValidationError("IMP-01", "Delimiter must be a comma, semicolon, colon, pipe, tab or space");
  if (options.header_list_size() > kMaxCsvColumns)
    return ValidationError("IMP-01", "HeaderList must have at most 255 names");
  for (const std::string& name : options.header_list()) {
    if (name.empty() || name.size() > kMaxCsvHeaderBytes || !IsValidUtf8(name))
      return ValidationError("IMP-01", "a name in HeaderList must be 1 to 65536 bytes of UTF-8");
    if (std::count(options.header_list().begin(), options.header_list().end(), name) > 1)
      return ValidationError("IMP-01", "HeaderList has the name " + name + " twice");
  }
  return absl::OkStatus();
}

absl::Status CheckParameters(const v1::CreateTableRequest& table) {
  const bool has_others = table.stream_enabled() ||
                          table.stream_view_type() > v1::STREAM_VIEW_TYPE_KEYS_ONLY ||
                          table.deletion_protection_enabled() || !table.tags().empty() ||
                          !table.local_secondary_indexes().empty() ||
                          table.table_class() > v1::TABLE_CLASS_STANDARD || table.has_warm_throughput();
  if (has_others) {
    return ValidationError(
        "IMP-01",
        "TableCreationParameters may have a name, keys, global and vector indexes, billing, throughput and "
        "encryption, and nothing else");
  }
  const bool is_provisioned = table.billing_mode() != v1::BILLING_MODE_PAY_PER_REQUEST;
  const v1::ProvisionedThroughput& units = table.provisioned_throughput();
  if (is_provisioned && (units.read_capacity_units() == 0 || units.write_capacity_units() == 0)) {
    return ValidationError(
        "IMP-08",
        "One or more parameter values were invalid: ReadCapacityUnits and WriteCapacityUnits "
        "must both be specified when BillingMode is PROVISIONED");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckBucketSource(std::string_view rule, const v1::S3BucketSource& source) {
  const std::string& name = source.s3_bucket();
  const auto is_legal = [](char c) { return IsLetterOrDigit(c) || c == '.' || c == '-' || c == '_'; };
  if (name.size() < kMinBucketNameBytes || name.size() > kMaxBucketNameBytes ||
      !IsLetterOrDigit(name.front()) || !IsLetterOrDigit(name.back()) ||
      !std::all_of(name.begin(), name.end(), is_legal)) {
    return ValidationError(
        rule,
        "S3Bucket must be 3 to 255 letters, digits, '.', '-' and '_', the first and the last "
        "a letter or digit");
  }
  if (source.s3_key_prefix().size() > kMaxObjectKeyBytes)
    return ValidationError(rule, "S3KeyPrefix must be at most 1024 bytes");
  const std::string& owner = source.s3_bucket_owner();
  const bool is_account =
      owner.size() == kAccount.size() &&
      std::all_of(owner.begin(), owner.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!owner.empty() && !is_account) return ValidationError(rule, "S3BucketOwner must be 12 digits");
  return absl::OkStatus();
}

absl::StatusOr<v1::ImportDescription> ImportFromRequest(const v1::ImportTableRequest& request) {
  ITEMDB_RETURN_IF_ERROR(CheckBucketSource("IMP-01", request.s3_bucket_source()));
  ITEMDB_RETURN_IF_ERROR(CheckFormat(request));
  if (!v1::InputCompressionType_IsValid(request.input_compression_type()))
    return ValidationError("IMP-01", "InputCompressionType must be GZIP, ZSTD or NONE");
  if (request.client_token().size() > kMaxImportTokenBytes)
    return ValidationError("IMP-01", "ClientToken must be at most 1024 bytes");
  ITEMDB_RETURN_IF_ERROR(CheckParameters(request.table_creation_parameters()));
  v1::ImportDescription import;
  import.set_client_token(request.client_token());
  *import.mutable_s3_bucket_source() = request.s3_bucket_source();
  if (request.s3_bucket_source().s3_bucket_owner().empty())
    import.mutable_s3_bucket_source()->set_s3_bucket_owner(std::string(kAccount));
  import.set_input_format(request.input_format());
  if (request.has_csv_options()) *import.mutable_csv_options() = request.csv_options();
  import.set_input_compression_type(request.input_compression_type());
  if (import.input_compression_type() == v1::INPUT_COMPRESSION_TYPE_UNSPECIFIED)
    import.set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_NONE);
  *import.mutable_table_creation_parameters() = request.table_creation_parameters();
  return import;
}

bool HasSameParameters(const v1::ImportDescription& a, const v1::ImportDescription& b) {
  const auto parameters = [](const v1::ImportDescription& import) {
    v1::ImportDescription copy;
    *copy.mutable_s3_bucket_source() = import.s3_bucket_source();
    copy.set_input_format(import.input_format());
    if (import.has_csv_options()) *copy.mutable_csv_options() = import.csv_options();
    copy.set_input_compression_type(import.input_compression_type());
    *copy.mutable_table_creation_parameters() = import.table_creation_parameters();
    return copy.SerializeAsString();
  };
  return parameters(a) == parameters(b);
}

}  // namespace itemdb::storage
