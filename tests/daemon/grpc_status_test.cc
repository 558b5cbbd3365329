#include "daemon/rpc/grpc_status.h"

#include <gtest/gtest.h>

#include "itemdb/v1/errors.pb.h"
#include "storage/base/status.h"

namespace itemdb::daemon {
namespace {

v1::ErrorDetail DetailOf(const grpc::Status& status) {
  v1::ErrorDetail detail;
  EXPECT_TRUE(detail.ParseFromString(status.error_details()));
  return detail;
}

TEST(GrpcStatus, KeepsCodeMessageAndReason) {
  struct Row {
    absl::Status status;
    grpc::StatusCode code;
    std::string reason;
  };
  const Row rows[] = {
      {storage::ValidationError("no"), grpc::StatusCode::INVALID_ARGUMENT, "VALIDATION"},
      {storage::NotFoundError("no"), grpc::StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND"},
      {storage::DataLossError("no"), grpc::StatusCode::DATA_LOSS, "DATA_LOSS"},
      {storage::MakeError(absl::StatusCode::kAlreadyExists, storage::kReasonResourceInUse, "no"),
       grpc::StatusCode::ALREADY_EXISTS, "RESOURCE_IN_USE"},
      {storage::MakeError(absl::StatusCode::kUnknown, storage::kReasonWriteOutcomeUnknown, "no"),
       grpc::StatusCode::UNKNOWN, "WRITE_OUTCOME_UNKNOWN"},
      {storage::MakeError(absl::StatusCode::kOutOfRange, storage::kReasonChangesTrimmed, "no"),
       grpc::StatusCode::OUT_OF_RANGE, "CHANGES_TRIMMED"},
      {storage::MakeError(absl::StatusCode::kUnavailable, storage::kReasonUnavailable, "no"),
       grpc::StatusCode::UNAVAILABLE, "UNAVAILABLE"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.reason);
    grpc::Status status = ToGrpcStatus(row.status);
    EXPECT_EQ(status.error_code(), row.code);
    EXPECT_EQ(status.error_message(), "no");
    EXPECT_EQ(DetailOf(status).reason(), row.reason);
  }
}

// absl and gRPC number the codes alike, so a mistake in the switch shows here.
TEST(GrpcStatus, MapsEveryCodeToItsNamesake) {
  for (int code = 1; code <= 16; ++code) {
    absl::Status status(static_cast<absl::StatusCode>(code), "x");
    EXPECT_EQ(static_cast<int>(ToGrpcStatus(status).error_code()), code);
    EXPECT_FALSE(DetailOf(ToGrpcStatus(status)).reason().empty());
  }
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
}

TEST(GrpcStatus, TellsWhenToTryAgain) {
  absl::Status full =
      storage::MakeError(absl::StatusCode::kResourceExhausted, storage::kReasonQueueFull, "full", 250);
  EXPECT_EQ(DetailOf(ToGrpcStatus(full)).retry_after_ms(), 250);
}

TEST(GrpcStatus, NamesTheRuleThatWasBroken) {
  EXPECT_EQ(DetailOf(ToGrpcStatus(storage::ValidationError("SEM-001", "large"))).rule(), "SEM-001");
  EXPECT_EQ(DetailOf(ToGrpcStatus(storage::NotFoundError("no"))).rule(), "SEM-039");
  EXPECT_EQ(DetailOf(ToGrpcStatus(storage::MakeError(absl::StatusCode::kUnavailable,
                                                     storage::kReasonUnavailable, "no")))
                .rule(),
            "");
}

// A message may quote a name of 64 KiB, but a peer ends a call whose header block is longer than 8 KiB.
TEST(GrpcStatus, CutsLongMessagesBetweenCharacters) {
  std::string message = "x";
  while (message.size() < 70'000) message += "\u00e9";
  std::string sent = ToGrpcStatus(storage::ValidationError(message)).error_message();
  EXPECT_LE(sent.size(), kMaxStatusMessageBytes);
  EXPECT_GT(sent.size(), kMaxStatusMessageBytes - 8);
  EXPECT_TRUE(sent.ends_with("\u00e9..."));
}

}  // namespace
}  // namespace itemdb::daemon
