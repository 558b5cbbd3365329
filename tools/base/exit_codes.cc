#include "tools/base/exit_codes.h"

#include <optional>
#include <string>

#include "absl/strings/cord.h"
#include "itemdb/errors.h"

namespace itemdb::tools {
namespace {

// The payload that carries a ToolError's exit code: one character, '1' to '7'.
constexpr char kExitCodePayload[] = "itemctl.exit_code";

// An empty reason matches every reason. The first row that matches decides; without one it is kRefused.
struct Row {
  absl::StatusCode code;
  std::string_view reason;
  ExitCode exit_code;
};
constexpr Row kRows[] = {
    {absl::StatusCode::kNotFound, "", ExitCode::kNotFound},
    {absl::StatusCode::kFailedPrecondition, kReasonConditionalCheckFailed, ExitCode::kConditionFalse},
    {absl::StatusCode::kFailedPrecondition, kReasonTransactionCancelled, ExitCode::kConditionFalse},
    {absl::StatusCode::kFailedPrecondition, "OUT_OF_STOCK", ExitCode::kConditionFalse},
    {absl::StatusCode::kFailedPrecondition, "ORDER_NOT_OPEN", ExitCode::kConditionFalse},
    {absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown, ExitCode::kOutcomeUnknown},
    {absl::StatusCode::kCancelled, kReasonWriteOutcomeUnknown, ExitCode::kOutcomeUnknown},
    {absl::StatusCode::kDeadlineExceeded, kReasonWriteOutcomeUnknown, ExitCode::kOutcomeUnknown},
    {absl::StatusCode::kDeadlineExceeded, "", ExitCode::kUnreachable},
    {absl::StatusCode::kUnavailable, "", ExitCode::kUnreachable},
};

// The names in JSON of a ToolError with exit code `code`.
ErrorName ToolErrorName(ExitCode code) {
  switch (code) {
    case ExitCode::kUsage:
      return {"INVALID_ARGUMENT", "USAGE"};
    case ExitCode::kNotFound:
      return {"NOT_FOUND", "NO_SUCH_ITEM"};
    case ExitCode::kUnreachable:
      return {"UNAVAILABLE", "UNAVAILABLE"};
    case ExitCode::kFindings:
      return {"DATA_LOSS", "FINDINGS"};
    case ExitCode::kOk:
    case ExitCode::kRefused:
    case ExitCode::kConditionFalse:
    case ExitCode::kOutcomeUnknown:
      return {"FAILED_PRECONDITION", "REFUSED"};
  }
  return {"UNKNOWN", "UNKNOWN"};
}

}  // namespace

absl::Status ToolError(ExitCode code, std::string_view message) {
  absl::Status status(absl::StatusCode::kAborted, absl::string_view(message.data(), message.size()));
  status.SetPayload(kExitCodePayload, absl::Cord(std::to_string(static_cast<int>(code))));
  return status;
}

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return ExitCode::kOk;
  if (auto payload = status.GetPayload(kExitCodePayload); payload.has_value()) {
    return static_cast<ExitCode>(std::string(*payload).front() - '0');
  }
  const std::string reason = ReasonOf(status);
  for (const Row& row : kRows) {
    if (row.code == status.code() && (row.reason.empty() || row.reason == reason)) return row.exit_code;
  }
  return ExitCode::kRefused;
}

ErrorName ErrorNameOf(const absl::Status& status) {
  if (status.GetPayload(kExitCodePayload).has_value()) return ToolErrorName(ExitCodeOf(status));
  std::string code = absl::StatusCodeToString(status.code());
  std::string reason = ReasonOf(status);
  if (reason.empty()) reason = code;
  return {.code = std::move(code), .reason = std::move(reason)};
}

std::string_view ExitCodeHelp() {
  return R"(Exit codes:
  0  success
  1  the daemon refused: malformed request, limit, access key, table exists,
     overload, ...; "model apply", "check" and "run": tables or an answer differ
     from the model
  2  malformed command line or JSON, or a file that cannot be read or written
  3  no such table or index; for "item get" and look-ups by key also: no such
     item
  4  the condition was false, or the transaction was cancelled
  5  the daemon cannot be reached, or a read took longer than --timeout
  6  a write was sent and its outcome is not known: read before repeating it
  7  "check", "index check" or "audit verify" found something
)";
}

}  // namespace itemdb::tools
