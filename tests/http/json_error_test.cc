// The exceptions for statuses of storage, and the targets of operations.

#include "daemon/http/api/errors.h"

#include <vector>

#include "daemon/serving/serving_context.h"
#include "tests/http/json_fixture.h"

namespace itemdb::testing {
namespace {

// The exception and the HTTP status of each error (ERR-01, ERR-02, ERR-08, ERR-12, ERR-13, ERR-19, ERR-20),
// and the body of its reply (SEM-114).
TEST(JsonError, EveryReasonHasItsExceptionAndHttpStatus) {
  struct Row {
    std::string_view reason;
    absl::StatusCode code;
    unsigned http_status;
    std::string type;
  };
  const std::string service = "com.amazonaws.dynamodb.v20120810#";
  const std::vector<Row> rows = {
      {storage::kReasonValidation, absl::StatusCode::kInvalidArgument, 400,
       "com.amazon.coral.validate#ValidationException"},
      {storage::kReasonResourceNotFound, absl::StatusCode::kNotFound, 400,
       service + "ResourceNotFoundException"},
      {storage::kReasonResourceInUse, absl::StatusCode::kAlreadyExists, 400,
       service + "ResourceInUseException"},
      {storage::kReasonLimitExceeded, absl::StatusCode::kResourceExhausted, 400,
       service + "LimitExceededException"},
      {storage::kReasonItemCollectionSizeLimitExceeded, absl::StatusCode::kResourceExhausted, 400,
       service + "ItemCollectionSizeLimitExceededException"},
      {storage::kReasonIdempotentParameterMismatch, absl::StatusCode::kInvalidArgument, 400,
       service + "IdempotentParameterMismatchException"},
      {storage::kReasonDuplicateItem, absl::StatusCode::kAlreadyExists, 400,
       service + "DuplicateItemException"},
      {storage::kReasonTableNotFound, absl::StatusCode::kNotFound, 400, service + "TableNotFoundException"},
      {storage::kReasonTableAlreadyExists, absl::StatusCode::kAlreadyExists, 400,
       service + "TableAlreadyExistsException"},
      {storage::kReasonTableInUse, absl::StatusCode::kFailedPrecondition, 400,
       service + "TableInUseException"},
      {storage::kReasonBackupNotFound, absl::StatusCode::kNotFound, 400, service + "BackupNotFoundException"},
      {storage::kReasonBackupInUse, absl::StatusCode::kFailedPrecondition, 400,
       service + "BackupInUseException"},
      {storage::kReasonContinuousBackupsUnavailable, absl::StatusCode::kFailedPrecondition, 400,
       service + "ContinuousBackupsUnavailableException"},
      {storage::kReasonImportNotFound, absl::StatusCode::kNotFound, 400, service + "ImportNotFoundException"},
      {storage::kReasonImportConflict, absl::StatusCode::kFailedPrecondition, 400,
       service + "ImportConflictException"},
      {storage::kReasonQueueFull, absl::StatusCode::kResourceExhausted, 400,
       "com.amazon.coral.availability#ThrottlingException"},
      {daemon::kReasonCallsFull, absl::StatusCode::kResourceExhausted, 400,
       "com.amazon.coral.availability#ThrottlingException"},
      {storage::kReasonDiskFull, absl::StatusCode::kResourceExhausted, 503,
       "com.amazon.coral.service#ServiceUnavailable"},
      {storage::kReasonUnavailable, absl::StatusCode::kUnavailable, 503,
       "com.amazon.coral.service#ServiceUnavailable"},
      {storage::kReasonCancelled, absl::StatusCode::kCancelled, 503,
       "com.amazon.coral.service#ServiceUnavailable"},
      {storage::kReasonDeadlineExceeded, absl::StatusCode::kDeadlineExceeded, 503,
       "com.amazon.coral.service#ServiceUnavailable"},
      {storage::kReasonWriteOutcomeUnknown, absl::StatusCode::kUnknown, 500, service + "InternalServerError"},
      {storage::kReasonDataLoss, absl::StatusCode::kDataLoss, 500, service + "InternalServerError"},
      {storage::kReasonInternal, absl::StatusCode::kInternal, 500, service + "InternalServerError"},
      {"", absl::StatusCode::kInternal, 500, service + "InternalServerError"},
  };
  for (const Row& row : rows) {
    JsonReply reply = ErrorReply(storage::MakeError(row.code, row.reason, "why \"so\""));
    EXPECT_EQ(reply.http_status, row.http_status) << row.reason;
    EXPECT_EQ(reply.body, R"({"__type":")" + row.type + R"(","message":"why \"so\""})") << row.reason;
    EXPECT_EQ(reply.code, absl::StatusCodeToString(row.code)) << row.reason;
  }
}

// An error per statement of a batch (PQL-14), and the codes of cancellation reasons (SEM-051).
TEST(JsonError, EveryReasonHasItsCodeInABatch) {
  const std::vector<std::pair<std::string_view, std::string_view>> rows = {
      {storage::kReasonValidation, "ValidationError"},
      {storage::kReasonResourceNotFound, "ResourceNotFound"},
      {storage::kReasonLimitExceeded, "RequestLimitExceeded"},
      {storage::kReasonItemCollectionSizeLimitExceeded, "ItemCollectionSizeLimitExceeded"},
      {storage::kReasonDuplicateItem, "DuplicateItem"},
      {storage::kReasonConditionalCheckFailed, "ConditionalCheckFailed"},
      {storage::kReasonQueueFull, "ThrottlingError"},
      {daemon::kReasonCallsFull, "ThrottlingError"},
      {storage::kReasonDiskFull, "InternalServerError"},
      {storage::kReasonUnavailable, "InternalServerError"},
      {"", "InternalServerError"},
  };
  for (const auto& [reason, code] : rows) EXPECT_EQ(ExceptionOf(reason).short_code, code) << reason;
}

// SerializationException and UnknownOperationException (ERR-16).
TEST(JsonError, ExceptionsByNameGetTheirPrefix) {
  JsonReply reply = ErrorReply(400, "UnknownOperationException", "");
  EXPECT_EQ(reply.http_status, 400u);
  EXPECT_EQ(reply.body, R"({"__type":"com.amazon.coral.service#UnknownOperationException","message":""})");
  EXPECT_EQ(reply.code, "INVALID_ARGUMENT");
  EXPECT_EQ(ErrorReply(503, "ServiceUnavailable", "").code, "UNAVAILABLE");
  EXPECT_EQ(ErrorReply(500, "InternalServerError", "").code, "INTERNAL");
}

// Other operation names are refused (OP-64).
TEST(JsonError, OnlyWhatIsOfferedIsAnOperation) {
  for (const char* target :
       {"", "PutItem", "DynamoDB_20120810", "DynamoDB_20120810.", "DynamoDB_20120810.putItem",
        "DynamoDB_20120810.PutItem ", "DynamoDB_20111205.PutItem", "DynamoDB_20120810.GetRecords",
        "DynamoDBStreams_20120810.PutItem", "DynamoDB_20120810.CreateGlobalTable",
        "DynamoDB_20120810.EnableKinesisStreamingDestination", "DynamoDB_20120810.PutResourcePolicy",
        "DynamoDB_20120810.UpdateTableReplicaAutoScaling"}) {
    EXPECT_EQ(FindOperation(target), nullptr) << target;
  }
  const JsonOperation* put = FindOperation("DynamoDB_20120810.PutItem");
  ASSERT_NE(put, nullptr);
  EXPECT_EQ(NameOf(*put), "PutItem");
  EXPECT_EQ(RoleOf(*put), daemon::Role::kWrite);
  EXPECT_EQ(RoleOf(*FindOperation("DynamoDB_20120810.GetItem")), daemon::Role::kRead);
  EXPECT_EQ(RoleOf(*FindOperation("DynamoDB_20120810.DeleteTable")), daemon::Role::kAdmin);
  EXPECT_NE(FindOperation("DynamoDBStreams_20120810.GetRecords"), nullptr);
}

}  // namespace
}  // namespace itemdb::testing
