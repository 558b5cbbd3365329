// Imports: each field of requests and replies.
#include <gtest/gtest.h>

#include "itemdb/client.h"
#include "tests/support/fake_daemon.h"

namespace itemdb {
namespace {

constexpr char kImportArn[] =
    "arn:aws:dynamodb:local:000000000000:table/Order/import/01760000000000-0123abcd";

class ClientImportsTest : public ::testing::Test {
 protected:
  static v1::ImportDescription SomeImport() {
    v1::ImportDescription import;
    import.set_import_arn(kImportArn);
    import.set_import_status(v1::IMPORT_STATUS_FAILED);
    import.set_table_arn("arn:aws:dynamodb:local:000000000000:table/Order");
    import.set_table_id("id");
    import.set_client_token("token");
    import.mutable_s3_bucket_source()->set_s3_bucket("bucket");
    import.mutable_s3_bucket_source()->set_s3_key_prefix("data/");
    import.set_input_format(v1::INPUT_FORMAT_CSV);
    import.set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_ZSTD);
    import.set_start_time_ms(1'760'000'000'123);
    import.set_end_time_ms(1'760'000'001'000);
    import.set_processed_size_bytes(1'000);
    import.set_processed_item_count(7);
    import.set_imported_item_count(5);
    import.set_error_count(2);
    import.set_failure_code("ItemValidationError");
    import.set_failure_message("Some of the items");
    return import;
  }
  static void ExpectSomeImport(const absl::StatusOr<ImportDescription>& import) {
    ASSERT_TRUE(import.ok()) << import.status();
    EXPECT_EQ(import->import_arn, kImportArn);
    EXPECT_EQ(import->import_status, ImportStatus::kFailed);
    EXPECT_EQ(import->table_arn, "arn:aws:dynamodb:local:000000000000:table/Order");
    EXPECT_EQ(import->table_id, "id");
    EXPECT_EQ(import->client_token, "token");
    EXPECT_EQ(import->s3_bucket, "bucket");
    EXPECT_EQ(import->s3_key_prefix, "data/");
    EXPECT_EQ(import->input_format, InputFormat::kCsv);
    EXPECT_EQ(import->input_compression, InputCompression::kZstd);
    EXPECT_EQ(import->start_time, absl::FromUnixMillis(1'760'000'000'123));
    EXPECT_EQ(import->end_time, absl::FromUnixMillis(1'760'000'001'000));
    EXPECT_EQ(import->processed_size_bytes, 1'000);
    EXPECT_EQ(import->processed_item_count, 7);
    EXPECT_EQ(import->imported_item_count, 5);
    EXPECT_EQ(import->error_count, 2);
    EXPECT_EQ(import->failure_code, "ItemValidationError");
    EXPECT_EQ(import->failure_message, "Some of the items");
  }

  FakeDaemon daemon_;
  Client client_ = *Client::Open({.endpoint = daemon_.endpoint()});
};

TEST_F(ClientImportsTest, ImportsReturnAllFigures) {
  daemon_.import_table = [](const v1::ImportTableRequest& request, v1::ImportTableReply* reply) {
    EXPECT_EQ(request.s3_bucket_source().s3_bucket(), "bucket");
    EXPECT_EQ(request.s3_bucket_source().s3_key_prefix(), "data/");
    EXPECT_EQ(request.input_format(), v1::INPUT_FORMAT_CSV);
    EXPECT_EQ(request.csv_options().delimiter(), "|");
    EXPECT_EQ(request.csv_options().header_list_size(), 2);
    EXPECT_EQ(request.csv_options().header_list(1), "n");
    EXPECT_EQ(request.input_compression_type(), v1::INPUT_COMPRESSION_TYPE_ZSTD);
    EXPECT_EQ(request.table_creation_parameters().table_name(), "Order");
    EXPECT_EQ(request.client_token(), "token");
    *reply->mutable_import() = SomeImport();
    return grpc::Status::OK;
  };
  daemon_.describe_import = [](const v1::DescribeImportRequest& request, v1::DescribeImportReply* reply) {
    EXPECT_EQ(request.import_arn(), kImportArn);
    *reply->mutable_import() = SomeImport();
    return grpc::Status::OK;
  };
  daemon_.list_imports = [](const v1::ListImportsRequest& request, v1::ListImportsReply* reply) {
    EXPECT_EQ(request.table_arn(), "Order");
    EXPECT_EQ(request.page_size(), 3);
    EXPECT_EQ(request.next_token(), "before");
    *reply->add_imports() = SomeImport();
    reply->set_next_token("next");
    return grpc::Status::OK;
  };
  ExpectSomeImport(
      client_.ImportTable({.s3_bucket = "bucket",
                           .s3_key_prefix = "data/",
                           .input_format = InputFormat::kCsv,
                           .csv_options = CsvOptions{.delimiter = '|', .header_list = {"pk", "n"}},
                           .input_compression = InputCompression::kZstd,
                           .table = {.table_name = "Order",
                                     .attribute_definitions = {{"pk", ScalarAttributeType::kString}},
                                     .key_schema = {{"pk", KeyType::kHash}}},
                           .client_token = "token"}));
  ExpectSomeImport(client_.DescribeImport(kImportArn));
  const auto listed = client_.ListImports({.table_arn = "Order", .page_size = 3, .next_token = "before"});
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->imports.size(), 1u);
  ExpectSomeImport(listed->imports[0]);
  EXPECT_EQ(listed->next_token, "next");
}

}  // namespace
}  // namespace itemdb
