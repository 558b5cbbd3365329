#include "daemon/serving/serving_context.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

namespace itemdb::daemon {
namespace {

std::chrono::steady_clock::duration Threshold(absl::Duration configured) {
  if (configured <= absl::ZeroDuration()) return std::chrono::steady_clock::duration::max();
  return absl::ToChronoNanoseconds(configured);
}

}  // namespace

bool CallMemory::TryReserve(size_t bytes, size_t held, int64_t limit) {
  auto wanted = static_cast<int64_t>(bytes);
  int64_t before = used_.fetch_add(wanted, std::memory_order_relaxed);
  if (before <= static_cast<int64_t>(held) || before + wanted <= limit) return true;
  used_.fetch_sub(wanted, std::memory_order_relaxed);
  return false;
}

bool CallMemory::TryReserveSmall(size_t bytes) {
  const auto wanted = static_cast<int64_t>(bytes);
  if (bytes > kSmallCallBytes) return false;
  if (small_used_.fetch_add(wanted, std::memory_order_relaxed) + wanted <= limit_ / 8) return true;
  small_used_.fetch_sub(wanted, std::memory_order_relaxed);
  return false;
}

std::chrono::steady_clock::duration CallMemory::ReplyPatience(
    std::chrono::steady_clock::duration longest) const {
  using std::chrono::steady_clock;
  constexpr steady_clock::duration kShortest = std::chrono::seconds(1);
  // Where `longest` is no limit: the patience of the moment before half of the memory is used.
  constexpr steady_clock::duration kLongestUnderPressure = std::chrono::minutes(1);
  const int64_t free = limit_ - used_bytes();
  const int64_t half = std::max<int64_t>(limit_ / 2, 1);
  if (free >= half || longest <= kShortest) return longest;
  const auto scaled = std::chrono::duration_cast<steady_clock::duration>(
      std::min(longest, kLongestUnderPressure) * (static_cast<double>(free) / static_cast<double>(half)));
  return std::max(kShortest, scaled);
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
