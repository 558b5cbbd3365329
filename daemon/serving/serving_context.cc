#include "daemon/serving/serving_context.h"

#include <spdlog/spdlog.h>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

namespace itemdb::daemon {
namespace {

std::chrono::steady_clock::duration Threshold(absl::Duration configured) {
  if (configured <= absl::ZeroDuration()) return std::chrono::steady_clock::duration::max();
  return absl::ToChronoNanoseconds(configured);
}

}  // namespace

absl::Status StoppingError(std::string_view what_was_done) {
  // About the time of a restart.
  constexpr int64_t kRetryAfterMs = 1'000;
  return storage::MakeError(absl::StatusCode::kUnavailable, storage::kReasonUnavailable,
                            absl::StrFormat("itemd is stopping; %s", what_was_done), kRetryAfterMs);
}

SlowRequestLog::SlowRequestLog(absl::Duration threshold, common::Log log)
    : threshold_(Threshold(threshold)), log_(std::move(log)) {}

void SlowRequestLog::Log(const AnsweredCall& call) {
  const double milliseconds = std::chrono::duration<double, std::milli>(call.duration).count();
  {
    SlowRequest slow{.time = absl::Now(),
                     .method = std::string(call.method),
                     .table = LoggedTableName(call.log_fields),
                     .milliseconds = milliseconds,
                     .request_bytes = call.request_bytes,
                     .reply_bytes = call.reply_bytes,
                     .items = call.items < 0 ? call.log_fields.items : call.items,
                     .code = call.code};
    storage::MutexLock lock(mutex_);
    if (recent_.size() == kRecentRequests) recent_.pop_front();
    recent_.push_back(std::move(slow));
  }
  const std::optional<int64_t> left_out = limit_.Pass();
  if (!left_out.has_value()) return;
  log_->warn(
      "slow request method={} table={} duration_ms={:.3f} request_bytes={} reply_bytes={} items={} code={} "
      "trace_id={}",
      call.method, LoggedTableName(call.log_fields), milliseconds, call.request_bytes, call.reply_bytes,
      call.items < 0 ? call.log_fields.items : call.items, call.code,
      call.trace_id.empty() ? "-" : call.trace_id);
  if (*left_out > 0) log_->warn("slow requests not logged count={}", *left_out);
}

std::vector<SlowRequest> SlowRequestLog::Recent() const {
  storage::MutexLock lock(mutex_);
  return {recent_.begin(), recent_.end()};
}

}  // namespace itemdb::daemon
