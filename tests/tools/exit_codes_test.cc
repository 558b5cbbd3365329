#include "tools/base/exit_codes.h"

#include <gtest/gtest.h>

#include <string>

#include "client/errors_internal.h"
#include "itemdb/errors.h"

namespace itemdb::tools {
namespace {

TEST(ExitCodes, FollowCodeAndReason) {
  struct Row {
    absl::StatusCode code;
    std::string_view reason;
    int exit_code;
  };
  const Row rows[] = {
      {absl::StatusCode::kInvalidArgument, kReasonValidation, 1},
      {absl::StatusCode::kAlreadyExists, "RESOURCE_IN_USE", 1},
      {absl::StatusCode::kAlreadyExists, "ORDER_EXISTS", 1},
      {absl::StatusCode::kResourceExhausted, "QUEUE_FULL", 1},
      {absl::StatusCode::kOutOfRange, "CHANGES_TRIMMED", 1},
      {absl::StatusCode::kDataLoss, "DATA_LOSS", 1},
      {absl::StatusCode::kInternal, "INTERNAL", 1},
      {absl::StatusCode::kFailedPrecondition, "TABLE_DIFFERS", 1},
      {absl::StatusCode::kUnknown, "", 1},
      {absl::StatusCode::kUnimplemented, "", 1},
      {absl::StatusCode::kNotFound, "RESOURCE_NOT_FOUND", 3},
      {absl::StatusCode::kNotFound, "NO_SUCH_EMPLOYEE", 3},
      {absl::StatusCode::kFailedPrecondition, kReasonConditionalCheckFailed, 4},
      {absl::StatusCode::kFailedPrecondition, kReasonTransactionCancelled, 4},
      {absl::StatusCode::kFailedPrecondition, "OUT_OF_STOCK", 4},
      {absl::StatusCode::kFailedPrecondition, "ORDER_NOT_OPEN", 4},
      {absl::StatusCode::kUnavailable, kReasonUnavailable, 5},
      {absl::StatusCode::kDeadlineExceeded, kReasonDeadlineExceeded, 5},
      {absl::StatusCode::kDeadlineExceeded, kReasonWriteOutcomeUnknown, 6},
      {absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown, 6},
  };
  for (const Row& row : rows) {
    const absl::Status status = MakeError(row.code, row.reason, "message");
    SCOPED_TRACE(status.ToString() + " " + std::string(row.reason));
    EXPECT_EQ(static_cast<int>(ExitCodeOf(status)), row.exit_code);
  }
  EXPECT_EQ(static_cast<int>(ExitCodeOf(absl::OkStatus())), 0);
}

TEST(ExitCodes, ToolErrorsCarryTheirOwn) {
  EXPECT_EQ(ExitCodeOf(UsageError("x")), ExitCode::kUsage);
  EXPECT_EQ(ExitCodeOf(ToolError(ExitCode::kNotFound, "x")), ExitCode::kNotFound);
  EXPECT_EQ(ExitCodeOf(ToolError(ExitCode::kFindings, "x")), ExitCode::kFindings);
}

TEST(ExitCodes, HelpNamesEveryCode) {
  for (int code = 0; code <= 7; ++code) {
    EXPECT_NE(std::string(ExitCodeHelp()).find("\n  " + std::to_string(code) + "  "), std::string::npos)
        << code;
  }
}

}  // namespace
}  // namespace itemdb::tools
