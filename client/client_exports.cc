// Exports of tables.
#include <utility>

#include "client/call.h"
#include "client/convert.h"
#include "client/enum_table.h"
#include "common/status_macros.h"
#include "itemdb/client.h"
#include "itemdb/v1/exports.pb.h"

namespace itemdb {
namespace {

constexpr std::pair<ExportStatus, v1::ExportStatus> kExportStatuses[] = {
    {ExportStatus::kInProgress, v1::EXPORT_STATUS_IN_PROGRESS},
    {ExportStatus::kCompleted, v1::EXPORT_STATUS_COMPLETED},
    {ExportStatus::kFailed, v1::EXPORT_STATUS_FAILED}};
constexpr std::pair<ExportFormat, v1::ExportFormat> kExportFormats[] = {
    {ExportFormat::kDynamodbJson, v1::EXPORT_FORMAT_DYNAMODB_JSON},
    {ExportFormat::kIon, v1::EXPORT_FORMAT_ION}};
constexpr std::pair<ExportType, v1::ExportType> kExportTypes[] = {
    {ExportType::kFullExport, v1::EXPORT_TYPE_FULL_EXPORT},
    {ExportType::kIncrementalExport, v1::EXPORT_TYPE_INCREMENTAL_EXPORT}};
constexpr std::pair<ExportViewType, v1::ExportViewType> kExportViewTypes[] = {
    {ExportViewType::kNewImage, v1::EXPORT_VIEW_TYPE_NEW_IMAGE},
    {ExportViewType::kNewAndOldImages, v1::EXPORT_VIEW_TYPE_NEW_AND_OLD_IMAGES}};

ExportDescription ExportFromProto(const v1::ExportDescription& message) {
  const v1::ExportTableToPointInTimeRequest& request = message.request();
  ExportDescription result;
  result.export_arn = message.export_arn();
  result.export_status = ValueOf(kExportStatuses, message.export_status(), ExportStatus::kUnknown);
  result.start_time = absl::FromUnixMillis(message.start_time_ms());
  if (message.end_time_ms() != 0) result.end_time = absl::FromUnixMillis(message.end_time_ms());
  result.table_arn = request.table_arn();
  result.table_id = message.table_id();
  if (message.export_time_ms() != 0) result.export_time = absl::FromUnixMillis(message.export_time_ms());
  result.s3_bucket = request.s3_bucket();
  result.s3_prefix = request.s3_prefix();
  result.export_format = ValueOf(kExportFormats, request.export_format(), ExportFormat::kDynamodbJson);
  result.export_type = ValueOf(kExportTypes, request.export_type(), ExportType::kFullExport);
  result.client_token = request.client_token();
  result.item_count = message.item_count();
  result.billed_size_bytes = message.billed_size_bytes();
  result.export_manifest = message.export_manifest();
  result.failure_code = message.failure_code();
  result.failure_message = message.failure_message();
  result.change_sequence = message.change_sequence();
  return result;
}

template <typename Reply>
ExportDescription ReplyToExport(const Reply& reply) {
  return ExportFromProto(reply.description());
}

}  // namespace

absl::StatusOr<ExportDescription> Client::ExportTableToPointInTime(
    const ExportTableToPointInTimeRequest& request, CallOptions options) const {
  v1::ExportTableToPointInTimeRequest message;
  message.set_table_arn(request.table_arn);
  message.set_s3_bucket(request.s3_bucket);
  message.set_s3_prefix(request.s3_prefix);
  if (request.export_time.has_value()) message.set_export_time_ms(absl::ToUnixMillis(*request.export_time));
  message.set_export_format(ProtoOf(kExportFormats, request.export_format));
  message.set_export_type(ProtoOf(kExportTypes, request.export_type));
  if (request.incremental_export_specification.has_value()) {
    const IncrementalExportSpecification& given = *request.incremental_export_specification;
    v1::IncrementalExportSpecification* changes = message.mutable_incremental_export_specification();
    changes->set_export_from_time_ms(absl::ToUnixMillis(given.export_from_time));
    if (given.export_to_time.has_value())
      changes->set_export_to_time_ms(absl::ToUnixMillis(*given.export_to_time));
    changes->set_export_view_type(ProtoOf(kExportViewTypes, given.export_view_type));
  }
  if (request.filter_specification.has_value()) {
    const FilterSpecification& given = *request.filter_specification;
    v1::FilterSpecification* filter = message.mutable_filter_specification();
    filter->set_key_condition_expression(given.key_condition_expression);
    filter->set_filter_expression(given.filter_expression);
    filter->set_projection_expression(given.projection_expression);
    filter->mutable_expression_attribute_names()->insert(given.expression_attribute_names.begin(),
                                                         given.expression_attribute_names.end());
    for (const auto& [name, value] : given.expression_attribute_values)
      ITEMDB_RETURN_IF_ERROR(ToProto(value, &(*filter->mutable_expression_attribute_values())[name]));
  }
  message.set_client_token(request.client_token);
  return Call<v1::ExportTableToPointInTimeReply, ExportDescription>(
      core_, "/itemdb.v1.Exports/ExportTableToPointInTime", CallKind::kWrite, message, options,
      &ReplyToExport<v1::ExportTableToPointInTimeReply>);
}

absl::StatusOr<ExportDescription> Client::DescribeExport(const std::string& export_arn,
                                                         CallOptions options) const {
  v1::DescribeExportRequest message;
  message.set_export_arn(export_arn);
  return Call<v1::DescribeExportReply, ExportDescription>(core_, "/itemdb.v1.Exports/DescribeExport",
                                                          CallKind::kRead, message, options,
                                                          &ReplyToExport<v1::DescribeExportReply>);
}

absl::StatusOr<ListExportsResult> Client::ListExports(const ListExportsRequest& request,
                                                      CallOptions options) const {
  v1::ListExportsRequest message;
  message.set_table_arn(request.table_arn);
  if (request.max_results.has_value()) message.set_max_results(*request.max_results);
  message.set_next_token(request.next_token);
  return Call<v1::ListExportsReply, ListExportsResult>(
      core_, "/itemdb.v1.Exports/ListExports", CallKind::kRead, message, options,
      [](const v1::ListExportsReply& reply) {
        ListExportsResult result;
        for (const v1::ExportDescription& one : reply.exports())
          result.exports.push_back(ExportFromProto(one));
        result.next_token = reply.next_token();
        return result;
      });
}

}  // namespace itemdb
