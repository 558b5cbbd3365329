// Exports of tables: each field of requests and replies.
#include <gtest/gtest.h>

#include "itemdb/client.h"
#include "tests/support/fake_daemon.h"

namespace itemdb {
namespace {

constexpr char kExportArn[] =
    "arn:aws:dynamodb:local:000000000000:table/Order/export/01760000000000-0123abcd";

v1::ExportDescription SomeExport() {
  v1::ExportDescription description;
  description.set_export_arn(kExportArn);
  description.set_export_status(v1::EXPORT_STATUS_FAILED);
  description.set_start_time_ms(1'760'000'000'123);
  description.set_end_time_ms(1'760'000'001'000);
  description.set_table_id("id");
  description.set_export_time_ms(1'750'000'000'000);
  description.mutable_request()->set_table_arn("arn");
  description.mutable_request()->set_s3_bucket("bucket");
  description.mutable_request()->set_s3_prefix("prefix");
  description.mutable_request()->set_export_format(v1::EXPORT_FORMAT_ION);
  description.mutable_request()->set_export_type(v1::EXPORT_TYPE_INCREMENTAL_EXPORT);
  description.mutable_request()->set_client_token("token");
  description.set_item_count(7);
  description.set_billed_size_bytes(8);
  description.set_export_manifest("manifest");
  description.set_failure_code("UNKNOWN");
  description.set_failure_message("why");
  description.set_change_sequence(42);
  return description;
}

void ExpectSomeExport(const ExportDescription& description) {
  EXPECT_EQ(description.export_arn, kExportArn);
  EXPECT_EQ(description.export_status, ExportStatus::kFailed);
  EXPECT_EQ(description.start_time, absl::FromUnixMillis(1'760'000'000'123));
  EXPECT_EQ(description.end_time, absl::FromUnixMillis(1'760'000'001'000));
  EXPECT_EQ(description.table_arn, "arn");
  EXPECT_EQ(description.table_id, "id");
  EXPECT_EQ(description.export_time, absl::FromUnixMillis(1'750'000'000'000));
  EXPECT_EQ(description.s3_bucket, "bucket");
  EXPECT_EQ(description.s3_prefix, "prefix");
  EXPECT_EQ(description.export_format, ExportFormat::kIon);
  EXPECT_EQ(description.export_type, ExportType::kIncrementalExport);
  EXPECT_EQ(description.client_token, "token");
  EXPECT_EQ(description.item_count, 7);
  EXPECT_EQ(description.billed_size_bytes, 8);
  EXPECT_EQ(description.export_manifest, "manifest");
  EXPECT_EQ(description.failure_code, "UNKNOWN");
  EXPECT_EQ(description.failure_message, "why");
  EXPECT_EQ(description.change_sequence, 42u);
}

TEST(ClientExports, SendAndReturnAllFields) {
  FakeDaemon daemon;
  const Client client = *Client::Open({.endpoint = daemon.endpoint()});
  daemon.export_table_to_point_in_time = [](const v1::ExportTableToPointInTimeRequest& request,
                                            v1::ExportTableToPointInTimeReply* reply) {
    EXPECT_EQ(request.table_arn(), "arn");
    EXPECT_EQ(request.s3_bucket(), "bucket");
    EXPECT_EQ(request.s3_prefix(), "prefix");
    EXPECT_EQ(request.export_time_ms(), 1'000);
    EXPECT_EQ(request.export_format(), v1::EXPORT_FORMAT_ION);
    EXPECT_EQ(request.export_type(), v1::EXPORT_TYPE_INCREMENTAL_EXPORT);
    EXPECT_EQ(request.incremental_export_specification().export_from_time_ms(), 2'000);
    EXPECT_EQ(request.incremental_export_specification().export_to_time_ms(), 3'000);
    EXPECT_EQ(request.incremental_export_specification().export_view_type(), v1::EXPORT_VIEW_TYPE_NEW_IMAGE);
    const v1::FilterSpecification& filter = request.filter_specification();
    EXPECT_EQ(filter.key_condition_expression(), "pk = :p");
    EXPECT_EQ(filter.filter_expression(), "#n = :n");
    EXPECT_EQ(filter.projection_expression(), "a");
    EXPECT_EQ(filter.expression_attribute_names().at("#n"), "name");
    EXPECT_EQ(filter.expression_attribute_values().at(":p").s(), "p");
    EXPECT_EQ(request.client_token(), "token");
    *reply->mutable_description() = SomeExport();
    return grpc::Status::OK;
  };
  daemon.describe_export = [](const v1::DescribeExportRequest& request, v1::DescribeExportReply* reply) {
    EXPECT_EQ(request.export_arn(), kExportArn);
    *reply->mutable_description() = SomeExport();
    return grpc::Status::OK;
  };
  daemon.list_exports = [](const v1::ListExportsRequest& request, v1::ListExportsReply* reply) {
    EXPECT_EQ(request.table_arn(), "arn");
    EXPECT_EQ(request.max_results(), 3);
    EXPECT_EQ(request.next_token(), "token");
    *reply->add_exports() = SomeExport();
    reply->set_next_token("next");
    return grpc::Status::OK;
  };
  const auto begun = client.ExportTableToPointInTime(
      {.table_arn = "arn",
       .s3_bucket = "bucket",
       .s3_prefix = "prefix",
       .export_time = absl::FromUnixMillis(1'000),
       .export_format = ExportFormat::kIon,
       .export_type = ExportType::kIncrementalExport,
       .incremental_export_specification =
           IncrementalExportSpecification{.export_from_time = absl::FromUnixMillis(2'000),
                                          .export_to_time = absl::FromUnixMillis(3'000),
                                          .export_view_type = ExportViewType::kNewImage},
       .filter_specification = FilterSpecification{.key_condition_expression = "pk = :p",
                                                   .filter_expression = "#n = :n",
                                                   .projection_expression = "a",
                                                   .expression_attribute_names = {{"#n", "name"}},
                                                   .expression_attribute_values = {{":p", "p"}, {":n", "n"}}},
       .client_token = "token"});
  ASSERT_TRUE(begun.ok()) << begun.status();
  ExpectSomeExport(*begun);
  ExpectSomeExport(*client.DescribeExport(kExportArn));
  const auto listed = client.ListExports({.table_arn = "arn", .max_results = 3, .next_token = "token"});
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->exports.size(), 1u);
  ExpectSomeExport(listed->exports[0]);
  EXPECT_EQ(listed->next_token, "next");
}

}  // namespace
}  // namespace itemdb
