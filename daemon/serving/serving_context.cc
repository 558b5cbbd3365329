#include "daemon/serving/serving_context.h"

#include <spdlog/spdlog.h>

#include "absl/strings/str_format.h"

namespace itemdb::daemon {
namespace {

std::chrono::steady_clock::duration Threshold(absl::Duration configured) {
  if (configured <= absl::ZeroDuration()) return std::chrono::steady_clock::duration::max();
  return absl::ToChronoNanoseconds(configured);
}

}  // namespace

bool CallMemory::TryReserve(size_t bytes, int64_t limit) {
  auto wanted = static_cast<int64_t>(bytes);
  int64_t before = used_.fetch_add(wanted, std::memory_order_relaxed);
  if (before <= 0 || before + wanted <= limit) return true;
  used_.fetch_sub(wanted, std::memory_order_relaxed);
  return false;
}

absl::Status CallsFullError(const CallMemory& memory, std::string_view what_was_done) {
  // Most calls in flight are answered within this time.
  constexpr int64_t kRetryAfterMs = 50;
  return storage::MakeError(
      absl::StatusCode::kResourceExhausted, kReasonCallsFull,
      absl::StrFormat("requests and replies in flight take all of the %d bytes they may (--memory); %s",
                      memory.limit_bytes(), what_was_done),
      kRetryAfterMs);
}

absl::Status StoppingError(std::string_view what_was_done) {
  // About the time of a restart.
  constexpr int64_t kRetryAfterMs = 1'000;
  return storage::MakeError(absl::StatusCode::kUnavailable, storage::kReasonUnavailable,
                            absl::StrFormat("itemd is stopping; %s", what_was_done), kRetryAfterMs);
}

SlowRequestLog::SlowRequestLog(absl::Duration threshold, std::shared_ptr<spdlog::logger> log)
    : threshold_(Threshold(threshold)), log_(std::move(log)) {}

void SlowRequestLog::Log(const AnsweredCall& call) {
  const std::optional<int64_t> left_out = limit_.Pass();
  if (!left_out.has_value()) return;
  double milliseconds = std::chrono::duration<double, std::milli>(call.duration).count();
  log_->warn(
      "slow request method={} table={} duration_ms={:.3f} request_bytes={} reply_bytes={} items={} code={}",
      call.method, LoggedTableName(call.log_fields), milliseconds, call.request_bytes, call.reply_bytes,
      call.items < 0 ? call.log_fields.items : call.items, call.code);
  if (*left_out > 0) log_->warn("slow requests not logged count={}", *left_out);
}

}  // namespace itemdb::daemon
