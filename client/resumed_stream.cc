#include "client/resumed_stream.h"

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "client/errors_internal.h"

namespace itemdb {

ResumedStream::ResumedStream(std::shared_ptr<ClientCore> core, const char* method, std::string table_name,
                             size_t read_ahead, CallOptions options)
    : core_(std::move(core)),
      method_(method),
      table_name_(std::move(table_name)),
      read_ahead_(read_ahead),
      options_(std::move(options)) {}

ResumedStream::~ResumedStream() {
  if (openings_ > 0) core_->Record(method_, table_name_, end_, begin_, openings_, traceparent_);
}

absl::Status ResumedStream::CheckUsable() const {
  if (InCallback()) {
    return MakeError(absl::StatusCode::kFailedPrecondition, "BLOCKING_CALL_IN_CALLBACK",
                     "a stream was used inside a callback, where nothing may block");
  }
  return CheckRetryOptions(core_->retry_of(options_));
}

void ResumedStream::Open() {
  cancel_callback_.reset();
  if (openings_++ == 0) {
    traceparent_ = core_->TraceparentOf(options_);
    begin_ = absl::Now();
  }
  stream_ = core_->OpenStream(method_, read_ahead_, traceparent_);
  cancel_callback_.emplace(options_.cancel, [weak = std::weak_ptr<MessageStream>(stream_)] {
    if (std::shared_ptr<MessageStream> stream = weak.lock()) stream->Cancel();
  });
}

absl::StatusOr<std::optional<std::string>> ResumedStream::Read() {
  absl::StatusOr<std::optional<std::string>> message =
      stream_->Read(absl::Now() + core_->timeout_of(options_));
  if (message.ok()) {
    attempts_ = 0;
    return message;
  }
  cancel_callback_.reset();
  stream_.reset();
  const RetryOptions& retry = core_->retry_of(options_);
  const bool passes = ClassifyForRetry(message.status(), CallKind::kRead) == Retryability::kRetry ||
                      (keep_trying_ && absl::IsDeadlineExceeded(message.status()));
  if (!passes || (++attempts_ >= retry.max_attempts && !keep_trying_)) {
    gave_up_ = true;
    end_ = message.status();
    return message;
  }
  thread_local std::minstd_rand random(std::random_device{}());
  const double spread = std::generate_canonical<double, 20>(random);
  if (!Pause(Backoff(retry, attempts_, spread, RetryAfterOf(message.status())))) {
    gave_up_ = true;
    end_ = MakeError(absl::StatusCode::kCancelled, kReasonCancelled, "the stream was cancelled");
    return end_;
  }
  return message;
}

bool ResumedStream::Pause(absl::Duration pause) {
  const absl::Time end = absl::Now() + pause;
  constexpr absl::Duration kCancelPollInterval = absl::Milliseconds(10);
  while (true) {
    if (options_.cancel.has_value() && options_.cancel->cancelled()) return false;
    const absl::Duration left = end - absl::Now();
    if (left <= absl::ZeroDuration()) return true;
    std::this_thread::sleep_for(absl::ToChronoNanoseconds(std::min(left, kCancelPollInterval)));
  }
}

}  // namespace itemdb
