// Bulk puts: each field of requests and replies.
#include <gmock/gmock.h>

#include "itemdb/client.h"
#include "tests/support/fake_daemon.h"

namespace itemdb {
namespace {

using ::testing::ElementsAre;

constexpr char kBulkPutArn[] =
    "arn:aws:dynamodb:local:000000000000:table/Order/bulk-operation/01760000000000-0123abcd";

class ClientBulkPutsTest : public ::testing::Test {
 protected:
  static v1::BulkOperationDescription SomeBulkPut() {
    v1::BulkOperationDescription operation;
    operation.set_bulk_operation_arn(kBulkPutArn);
    operation.set_bulk_operation_status(v1::BULK_OPERATION_STATUS_FAILED);
    operation.set_table_arn("arn:aws:dynamodb:local:000000000000:table/Order");
    operation.set_table_id("id");
    operation.set_client_token("token");
    operation.mutable_input()->set_s3_bucket("bucket");
    operation.mutable_input()->set_s3_key_prefix("data/");
    operation.mutable_input()->set_input_format(v1::INPUT_FORMAT_ION);
    operation.mutable_input()->set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_ZSTD);
    operation.mutable_output()->add_output_type(v1::BULK_OUTPUT_TYPE_CONDITION_CHECK_FAILURE);
    operation.mutable_output()->set_s3_bucket("reports");
    operation.mutable_output()->set_s3_key_prefix("of/me");
    operation.set_max_write_request_units(2'000);
    operation.set_performance_tier(v1::BULK_PERFORMANCE_TIER_ACCELERATED);
    operation.set_start_time_ms(1'760'000'000'123);
    operation.set_end_time_ms(1'760'000'001'000);
    operation.set_total_input_bytes(2'000);
    operation.set_processed_input_bytes(1'000);
    operation.set_processed_item_count(7);
    operation.set_written_item_count(4);
    operation.set_failed_item_count(2);
    operation.set_condition_check_failure_count(1);
    operation.set_failure_code("ResourceNotFoundException");
    operation.set_failure_message("Requested resource not found");
    return operation;
  }
  static void ExpectSomeBulkPut(const absl::StatusOr<BulkOperationDescription>& operation) {
    ASSERT_TRUE(operation.ok()) << operation.status();
    EXPECT_EQ(operation->bulk_operation_arn, kBulkPutArn);
    EXPECT_EQ(operation->bulk_operation_status, BulkOperationStatus::kFailed);
    EXPECT_EQ(operation->table_arn, "arn:aws:dynamodb:local:000000000000:table/Order");
    EXPECT_EQ(operation->table_id, "id");
    EXPECT_EQ(operation->client_token, "token");
    EXPECT_EQ(operation->s3_bucket, "bucket");
    EXPECT_EQ(operation->s3_key_prefix, "data/");
    EXPECT_EQ(operation->input_format, InputFormat::kIon);
    EXPECT_EQ(operation->input_compression, InputCompression::kZstd);
    EXPECT_THAT(operation->output_types, ElementsAre(BulkOutputType::kConditionCheckFailure));
    EXPECT_EQ(operation->output_s3_bucket, "reports");
    EXPECT_EQ(operation->output_s3_key_prefix, "of/me");
    EXPECT_EQ(operation->max_write_request_units, 2'000);
    EXPECT_EQ(operation->performance_tier, BulkPerformanceTier::kAccelerated);
    EXPECT_EQ(operation->start_time, absl::FromUnixMillis(1'760'000'000'123));
    EXPECT_EQ(operation->end_time, absl::FromUnixMillis(1'760'000'001'000));
    EXPECT_EQ(operation->total_input_bytes, 2'000);
    EXPECT_EQ(operation->processed_input_bytes, 1'000);
    EXPECT_EQ(operation->processed_item_count, 7);
    EXPECT_EQ(operation->written_item_count, 4);
    EXPECT_EQ(operation->failed_item_count, 2);
    EXPECT_EQ(operation->condition_check_failure_count, 1);
    EXPECT_EQ(operation->failure_code, "ResourceNotFoundException");
    EXPECT_EQ(operation->failure_message, "Requested resource not found");
  }

  FakeDaemon daemon_;
  Client client_ = *Client::Open({.endpoint = daemon_.endpoint()});
};

TEST_F(ClientBulkPutsTest, OperationsReturnAllFigures) {
  daemon_.start_bulk_put_items = [](const v1::StartBulkPutItemsRequest& request,
                                    v1::StartBulkPutItemsReply* reply) {
    EXPECT_EQ(request.table_name(), "Order");
    EXPECT_EQ(request.input().s3_bucket(), "bucket");
    EXPECT_EQ(request.input().s3_key_prefix(), "data/");
    EXPECT_EQ(request.input().input_format(), v1::INPUT_FORMAT_ION);
    EXPECT_EQ(request.input().input_compression_type(), v1::INPUT_COMPRESSION_TYPE_ZSTD);
    EXPECT_THAT(request.output().output_type(), ElementsAre(v1::BULK_OUTPUT_TYPE_ERROR));
    EXPECT_EQ(request.output().s3_bucket(), "reports");
    EXPECT_EQ(request.output().s3_key_prefix(), "of/me");
    EXPECT_EQ(request.max_write_request_units(), 2'000);
    EXPECT_EQ(request.performance_tier(), v1::BULK_PERFORMANCE_TIER_ACCELERATED);
    EXPECT_EQ(request.client_token(), "token");
    *reply->mutable_description() = SomeBulkPut();
    return grpc::Status::OK;
  };
  daemon_.describe_bulk_operation = [](const v1::DescribeBulkOperationRequest& request,
                                       v1::DescribeBulkOperationReply* reply) {
    EXPECT_EQ(request.bulk_operation_arn(), kBulkPutArn);
    *reply->mutable_description() = SomeBulkPut();
    return grpc::Status::OK;
  };
  daemon_.list_bulk_operations = [](const v1::ListBulkOperationsRequest& request,
                                    v1::ListBulkOperationsReply* reply) {
    EXPECT_EQ(request.max_results(), 3);
    EXPECT_EQ(request.next_token(), "before");
    *reply->add_operations() = SomeBulkPut();
    reply->set_next_token("next");
    return grpc::Status::OK;
  };
  daemon_.cancel_bulk_operation = [](const v1::CancelBulkOperationRequest& request,
                                     v1::CancelBulkOperationReply* reply) {
    EXPECT_EQ(request.bulk_operation_arn(), kBulkPutArn);
    reply->set_bulk_operation_status(v1::BULK_OPERATION_STATUS_CANCELLING);
    return grpc::Status::OK;
  };
  ExpectSomeBulkPut(client_.StartBulkPutItems({.table_name = "Order",
                                               .s3_bucket = "bucket",
                                               .s3_key_prefix = "data/",
                                               .input_format = InputFormat::kIon,
                                               .input_compression = InputCompression::kZstd,
                                               .output_types = {BulkOutputType::kError},
                                               .output_s3_bucket = "reports",
                                               .output_s3_key_prefix = "of/me",
                                               .max_write_request_units = 2'000,
                                               .performance_tier = BulkPerformanceTier::kAccelerated,
                                               .client_token = "token"}));
  ExpectSomeBulkPut(client_.DescribeBulkOperation(kBulkPutArn));
  const auto listed = client_.ListBulkOperations({.max_results = 3, .next_token = "before"});
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->operations.size(), 1u);
  ExpectSomeBulkPut(listed->operations[0]);
  EXPECT_EQ(listed->next_token, "next");
  const auto cancelled = client_.CancelBulkOperation(kBulkPutArn);
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(*cancelled, BulkOperationStatus::kCancelling);
}

}  // namespace
}  // namespace itemdb
