#include "storage/base/status.h"

#include <charconv>

#include "absl/strings/cord.h"

namespace itemdb::storage {
namespace {

constexpr char kReasonUrl[] = "itemdb/reason";
constexpr char kRuleUrl[] = "itemdb/rule";
constexpr char kRetryAfterUrl[] = "itemdb/retry_after_ms";

absl::string_view ToAbsl(std::string_view text) { return absl::string_view(text.data(), text.size()); }

}  // namespace

absl::Status MakeError(absl::StatusCode code, std::string_view reason, std::string_view message,
                       int64_t retry_after_ms) {
  absl::Status status(code, ToAbsl(message));
  status.SetPayload(kReasonUrl, absl::Cord(ToAbsl(reason)));
  if (retry_after_ms > 0) status.SetPayload(kRetryAfterUrl, absl::Cord(std::to_string(retry_after_ms)));
  return status;
}

absl::Status ValidationError(std::string_view message) {
  return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation, message);
}

absl::Status ValidationError(std::string_view rule, std::string_view message) {
  return WithRule(rule, ValidationError(message));
}

absl::Status NotFoundError(std::string_view message) {
  return WithRule("SEM-039", MakeError(absl::StatusCode::kNotFound, kReasonResourceNotFound, message));
}

absl::Status DataLossError(std::string_view message) {
  return MakeError(absl::StatusCode::kDataLoss, kReasonDataLoss, message);
}

absl::Status WithRule(std::string_view rule, absl::Status status) {
  status.SetPayload(kRuleUrl, absl::Cord(ToAbsl(rule)));
  return status;
}

std::string RuleOf(const absl::Status& status) {
  auto payload = status.GetPayload(kRuleUrl);
  return payload.has_value() ? std::string(*payload) : std::string();
}

std::string ReasonOf(const absl::Status& status) {
  auto payload = status.GetPayload(kReasonUrl);
  return payload.has_value() ? std::string(*payload) : std::string();
}

int64_t RetryAfterMsOf(const absl::Status& status) {
  auto payload = status.GetPayload(kRetryAfterUrl);
  if (!payload.has_value()) return 0;
  std::string text(*payload);
  int64_t milliseconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), milliseconds);
  return milliseconds;
}

}  // namespace itemdb::storage
