#include "daemon/rpc/grpc_status.h"

#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "storage/base/status.h"
#include "tests/support/error_details.h"

namespace itemdb::daemon {
namespace {

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
    EXPECT_EQ(DetailsOf(status).reason, row.reason);
    EXPECT_EQ(DetailsOf(status).domain, "itemdb");
  }
}

// absl and gRPC number the codes alike, so a mistake in the switch shows here.
TEST(GrpcStatus, MapsEveryCodeToItsNamesake) {
  for (int code = 1; code <= 16; ++code) {
    absl::Status status(static_cast<absl::StatusCode>(code), "x");
    EXPECT_EQ(static_cast<int>(ToGrpcStatus(status).error_code()), code);
    EXPECT_FALSE(DetailsOf(ToGrpcStatus(status)).reason.empty());
  }
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
}

// Bytes, because gRPC libraries of other languages decode google.rpc.Status with messages of their own.
TEST(GrpcStatus, DetailsAreAGoogleRpcStatus) {
  const absl::Status status = storage::WithRule(
      "SEM-001",
      storage::MakeError(absl::StatusCode::kResourceExhausted, "FULL", "no", /*retry_after_ms=*/2'500));
  const std::string error_info =
      "\x0a\x04"
      "FULL"
      "\x12\x06itemdb"
      "\x1a\x0f"
      "\x0a\x04rule"
      "\x12\x07SEM-001";
  const std::string retry_info = std::string("\x0a\x08\x08\x02\x10\x80\xca\xb5\xee\x01");
  const auto any = [](const std::string& name, const std::string& value) {
    const std::string url = "type.googleapis.com/google.rpc." + name;
    std::string bytes = "\x0a" + std::string(1, static_cast<char>(url.size())) + url + "\x12" +
                        std::string(1, static_cast<char>(value.size())) + value;
    return "\x1a" + std::string(1, static_cast<char>(bytes.size())) + bytes;
  };
  EXPECT_EQ(ToGrpcStatus(status).error_details(),
            "\x08\x08"
            "\x12\x02no" +
                any("ErrorInfo", error_info) + any("RetryInfo", retry_info));
}

TEST(GrpcStatus, DetailsDecodeWhateverTheMessageQuotes) {
  const grpc::Status status = ToGrpcStatus(storage::ValidationError("a\xff\u00e9"));
  EXPECT_EQ(status.error_message(), "a???");
  EXPECT_EQ(DetailsOf(status).reason, "VALIDATION");
}

TEST(GrpcStatus, TellsWhenToTryAgain) {
  absl::Status full =
      storage::MakeError(absl::StatusCode::kResourceExhausted, storage::kReasonQueueFull, "full", 250);
  EXPECT_EQ(DetailsOf(ToGrpcStatus(full)).retry_after_ms, 250);
  // Clients that know RetryInfo would otherwise repeat what cannot succeed.
  google::rpc::Status sent;
  ASSERT_TRUE(sent.ParseFromString(ToGrpcStatus(storage::NotFoundError("no")).error_details()));
  ASSERT_EQ(sent.details_size(), 1);
  EXPECT_TRUE(sent.details(0).Is<google::rpc::ErrorInfo>());
}

TEST(GrpcStatus, NamesTheRuleThatWasBroken) {
  EXPECT_EQ(DetailsOf(ToGrpcStatus(storage::ValidationError("SEM-001", "large"))).rule, "SEM-001");
  EXPECT_EQ(DetailsOf(ToGrpcStatus(storage::NotFoundError("no"))).rule, "SEM-039");
  EXPECT_EQ(DetailsOf(ToGrpcStatus(storage::MakeError(absl::StatusCode::kUnavailable,
                                                      storage::kReasonUnavailable, "no")))
                .rule,
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
  EXPECT_EQ(DetailsOf(ToGrpcStatus(storage::ValidationError(message))).reason, "VALIDATION");
}

}  // namespace
}  // namespace itemdb::daemon
