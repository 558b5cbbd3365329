// Tables that are made of objects in a bucket.
#include <utility>

#include "client/call.h"
#include "client/convert.h"
#include "client/enum_table.h"
#include "itemdb/client.h"
#include "itemdb/v1/imports.pb.h"

namespace itemdb {
namespace {

constexpr std::pair<ImportStatus, v1::ImportStatus> kImportStatuses[] = {
    {ImportStatus::kInProgress, v1::IMPORT_STATUS_IN_PROGRESS},
    {ImportStatus::kCompleted, v1::IMPORT_STATUS_COMPLETED},
    {ImportStatus::kFailed, v1::IMPORT_STATUS_FAILED}};
constexpr std::pair<InputFormat, v1::InputFormat> kInputFormats[] = {
    {InputFormat::kDynamoDbJson, v1::INPUT_FORMAT_DYNAMODB_JSON},
    {InputFormat::kIon, v1::INPUT_FORMAT_ION},
    {InputFormat::kCsv, v1::INPUT_FORMAT_CSV}};
constexpr std::pair<InputCompression, v1::InputCompressionType> kInputCompressions[] = {
    {InputCompression::kNone, v1::INPUT_COMPRESSION_TYPE_NONE},
    {InputCompression::kGzip, v1::INPUT_COMPRESSION_TYPE_GZIP},
    {InputCompression::kZstd, v1::INPUT_COMPRESSION_TYPE_ZSTD}};

ImportDescription ImportFromProto(const v1::ImportDescription& message) {
  ImportDescription import;
  import.import_arn = message.import_arn();
  import.import_status = ValueOf(kImportStatuses, message.import_status(), ImportStatus::kUnknown);
  import.table_arn = message.table_arn();
  import.table_id = message.table_id();
  import.client_token = message.client_token();
  import.s3_bucket = message.s3_bucket_source().s3_bucket();
  import.s3_key_prefix = message.s3_bucket_source().s3_key_prefix();
  import.input_format = ValueOf(kInputFormats, message.input_format(), InputFormat::kUnknown);
  import.input_compression =
      ValueOf(kInputCompressions, message.input_compression_type(), InputCompression::kUnknown);
  import.start_time = absl::FromUnixMillis(message.start_time_ms());
  if (message.end_time_ms() != 0) import.end_time = absl::FromUnixMillis(message.end_time_ms());
  import.processed_size_bytes = message.processed_size_bytes();
  import.processed_item_count = message.processed_item_count();
  import.imported_item_count = message.imported_item_count();
  import.error_count = message.error_count();
  import.failure_code = message.failure_code();
  import.failure_message = message.failure_message();
  return import;
}

template <typename Reply>
ImportDescription ReplyToImport(const Reply& reply) {
  return ImportFromProto(reply.import());
}

}  // namespace

absl::StatusOr<ImportDescription> Client::ImportTable(const ImportTableRequest& request,
                                                      CallOptions options) const {
  v1::ImportTableRequest message;
  message.mutable_s3_bucket_source()->set_s3_bucket(request.s3_bucket);
  message.mutable_s3_bucket_source()->set_s3_key_prefix(request.s3_key_prefix);
  message.set_input_format(ProtoOf(kInputFormats, request.input_format));
  if (request.csv_options.has_value()) {
    message.mutable_csv_options()->set_delimiter(std::string(1, request.csv_options->delimiter));
    for (const std::string& name : request.csv_options->header_list)
      message.mutable_csv_options()->add_header_list(name);
  }
  message.set_input_compression_type(ProtoOf(kInputCompressions, request.input_compression));
  *message.mutable_table_creation_parameters() = ToProto(request.table);
  message.set_client_token(request.client_token);
  return Call<v1::ImportTableReply, ImportDescription>(core_, "/itemdb.v1.Imports/ImportTable",
                                                       CallKind::kWrite, message, options,
                                                       &ReplyToImport<v1::ImportTableReply>);
}

absl::StatusOr<ImportDescription> Client::DescribeImport(const std::string& import_arn,
                                                         CallOptions options) const {
  v1::DescribeImportRequest message;
  message.set_import_arn(import_arn);
  return Call<v1::DescribeImportReply, ImportDescription>(core_, "/itemdb.v1.Imports/DescribeImport",
                                                          CallKind::kRead, message, options,
                                                          &ReplyToImport<v1::DescribeImportReply>);
}

absl::StatusOr<ListImportsResult> Client::ListImports(const ListImportsRequest& request,
                                                      CallOptions options) const {
  v1::ListImportsRequest message;
  message.set_table_arn(request.table_arn);
  if (request.page_size.has_value()) message.set_page_size(*request.page_size);
  message.set_next_token(request.next_token);
  return Call<v1::ListImportsReply, ListImportsResult>(
      core_, "/itemdb.v1.Imports/ListImports", CallKind::kRead, message, options,
      [](const v1::ListImportsReply& reply) {
        ListImportsResult result;
        for (const v1::ImportDescription& import : reply.imports())
          result.imports.push_back(ImportFromProto(import));
        result.next_token = reply.next_token();
        return result;
      });
}

}  // namespace itemdb
