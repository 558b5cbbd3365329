#include "client/core.h"

#include <sys/random.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "client/cancel_callback.h"

namespace itemdb {
namespace {

thread_local bool in_callback = false;

// In [0, 1). Only spreads callers over time, so a weak generator is enough.
double Random() {
  thread_local std::minstd_rand engine(std::random_device{}());
  return std::generate_canonical<double, 20>(engine);
}

}  // namespace

CallbackScope::CallbackScope() : nested_(std::exchange(in_callback, true)) {}
CallbackScope::~CallbackScope() { in_callback = nested_; }
bool InCallback() { return in_callback; }

std::string NewRequestToken() {
  // From the kernel each time: a generator in this process would repeat itself in a forked child.
  unsigned char bytes[16] = {};
  size_t filled = 0;
  while (filled < sizeof(bytes)) {
    const ssize_t got = getrandom(bytes + filled, sizeof(bytes) - filled, 0);
    if (got > 0) filled += static_cast<size_t>(got);
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string token;
  token.reserve(2 * sizeof(bytes));
  for (const unsigned char byte : bytes) {
    token.push_back(kDigits[byte >> 4]);
    token.push_back(kDigits[byte & 15]);
  }
  return token;
}

// One call with all its attempts. It is always in one of three states: an attempt is under way, it waits for
// the next attempt, or it has ended. The transport or the timer, whichever will continue it, keeps it alive.
class RetriedCall : public std::enable_shared_from_this<RetriedCall> {
 public:
  RetriedCall(std::shared_ptr<ClientCore> core, CallSpec spec, const CallOptions& options,
              absl::Time deadline, Transport::Done done)
      : core_(std::move(core)),
        method_(spec.method),
        kind_(spec.kind),
        has_token_(spec.has_token),
        request_(std::make_shared<const std::string>(std::move(spec.request))),
        table_name_(std::move(spec.table_name)),
        traceparent_(core_->TraceparentOf(options)),
        retry_(core_->retry_of(options)),
        begin_(absl::Now()),
        deadline_(deadline),
        done_(std::move(done)) {}

  void Run(const std::optional<CancelToken>& token) {
    cancel_callback_.emplace(token, [weak = weak_from_this()] {
      if (std::shared_ptr<RetriedCall> self = weak.lock()) self->Cancel();
    });
    Attempt();
  }

 private:
  void Attempt() {
    int attempt = 0;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (cancelled_) {
        // Not on this thread, which may be the caller's own.
        core_->timer().RunSoon([self = shared_from_this()] { self->Finish(self->Cancelled(), ""); });
        return;
      }
      attempt = ++attempts_;
    }
    // The call may end, and reset core_, before Send has returned.
    const std::shared_ptr<ClientCore> core = core_;
    Transport::Cancel cancel =
        core->transport_->Send({.method = method_,
                                .kind = kind_,
                                .request = request_,
                                .deadline = deadline_,
                                .traceparent = traceparent_},
                               [self = shared_from_this()](absl::Status status, std::string_view reply) {
                                 self->AttemptEnded(std::move(status), reply);
                               });
    bool cancel_now = false;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      // The attempt may have ended already, and another may be under way.
      if (attempt == attempts_) {
        cancel_attempt_ = cancel;
        cancel_now = cancelled_;
      }
    }
    if (cancel_now) cancel();
  }

  void AttemptEnded(absl::Status status, std::string_view reply) {
    if (is_resuming_) {
      std::lock_guard<std::mutex> lock(mutex_);
      if (is_resuming_) {
        ended_attempt_.emplace(std::move(status), reply);
        return;
      }
    }
    if (status.ok()) return Finish(std::move(status), reply);
    const Retryability retryability = ClassifyForRetry(status, kind_);
    if (retryability == Retryability::kUnknown) may_be_applied_ = true;
    const bool may_repeat =
        retryability == Retryability::kRetry || (retryability == Retryability::kUnknown && has_token_);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const absl::Time next = absl::Now() + Backoff(retry_, attempts_, Random(), RetryAfterOf(status));
      if (may_repeat && attempts_ < retry_.max_attempts && next < deadline_) {
        if (!cancelled_) {
          waiting_ = true;
          core_->timer().RunAt(next, [self = shared_from_this()] { self->Resume(); });
          return;
        }
        // The same status as if Cancel() had come during the pause that would begin here.
        status = Cancelled();
      }
    }
    Finish(Final(std::move(status)), "");
  }

  void Resume() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!waiting_) return;  // Cancelled meanwhile.
      waiting_ = false;
      is_resuming_ = true;
    }
    Attempt();
    // Only now this thread no longer keeps the core alive.
    std::optional<std::pair<absl::Status, std::string>> ended;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      is_resuming_ = false;
      ended = std::exchange(ended_attempt_, std::nullopt);
    }
    if (ended.has_value()) AttemptEnded(std::move(ended->first), ended->second);
  }

  void Cancel() {
    Transport::Cancel cancel;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      cancelled_ = true;
      if (waiting_) {
        waiting_ = false;
        core_->timer().RunSoon([self = shared_from_this()] { self->Finish(self->Cancelled(), ""); });
        return;
      }
      cancel = cancel_attempt_;
    }
    if (cancel) cancel();
  }

  absl::Status Cancelled() const {
    return Final(MakeError(absl::StatusCode::kCancelled, kReasonCancelled, "the call was cancelled"));
  }

  // The status for the caller when no attempt will follow. An error of the last attempt does not say whether
  // an earlier attempt was applied.
  absl::Status Final(absl::Status status) const {
    if (!may_be_applied_ || ReasonOf(status) == kReasonWriteOutcomeUnknown) return status;
    // A daemon that cannot read its own data, or has an internal error, does not know the outcome either.
    const bool is_definite_refusal = ClassifyForRetry(status, kind_) == Retryability::kFinal &&
                                     status.code() != absl::StatusCode::kCancelled &&
                                     status.code() != absl::StatusCode::kDeadlineExceeded &&
                                     status.code() != absl::StatusCode::kResourceExhausted &&
                                     status.code() != absl::StatusCode::kInternal &&
                                     status.code() != absl::StatusCode::kDataLoss;
    if (is_definite_refusal) return status;
    return MakeError(status.code() == absl::StatusCode::kCancelled ? absl::StatusCode::kCancelled
                                                                   : absl::StatusCode::kUnknown,
                     kReasonWriteOutcomeUnknown,
                     "the write was sent and its outcome lost; it may or may not have been applied. The last "
                     "attempt ended with: " +
                         MessageOf(status));
  }

  void Finish(absl::Status status, std::string_view reply) {
    cancel_callback_.reset();
    Transport::Done done = std::move(done_);
    int attempts = 0;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      attempts = attempts_;
    }
    core_->Record(method_, table_name_, status, begin_, attempts, traceparent_);
    core_.reset();
    CallbackScope scope;
    std::move(done)(std::move(status), reply);
  }

  std::shared_ptr<ClientCore> core_;  // Reset when the call ends.
  const char* const method_;
  const CallKind kind_;
  const bool has_token_;
  const std::shared_ptr<const std::string> request_;
  const std::string table_name_;
  const std::string traceparent_;
  const RetryOptions retry_;
  const absl::Time begin_;
  const absl::Time deadline_;
  Transport::Done done_;
  // Used by one attempt at a time, so it needs no lock.
  bool may_be_applied_ = false;
  std::optional<CancelCallback> cancel_callback_;
  // The timer's thread sends an attempt. An end that comes meanwhile is told after that: otherwise the
  // program may destroy its last client, and the core ends on its timer's own thread, perhaps when the
  // process is ending too.
  std::atomic<bool> is_resuming_ = false;

  std::mutex mutex_;
  // Guarded by mutex_.
  int attempts_ = 0;
  bool waiting_ = false;
  bool cancelled_ = false;
  Transport::Cancel cancel_attempt_;
  // Status and reply of an attempt that ended while is_resuming_.
  std::optional<std::pair<absl::Status, std::string>> ended_attempt_;
};

std::string ClientCore::TraceparentOf(const CallOptions& options) const {
  std::string text = options.traceparent;
  if (text.empty() && traceparent_) text = traceparent_();
  // The daemon ignores one that is malformed; gRPC ends the process for some bytes.
  constexpr size_t kMinBytes = 55;
  constexpr size_t kMaxBytes = 255;
  const bool fits = text.size() >= kMinBytes && text.size() <= kMaxBytes &&
                    text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz-") == std::string::npos;
  return fits ? text : "";
}

void ClientCore::Record(const char* method, std::string_view table_name, const absl::Status& status,
                        absl::Time begin, int attempts, std::string_view traceparent) const {
  if (!on_call_) return;
  const std::string_view name = method;
  on_call_({.operation = name.substr(name.rfind('/') + 1),
            .table_name = table_name,
            .status = status,
            .begin = begin,
            .duration = absl::Now() - begin,
            .attempts = attempts,
            .traceparent = traceparent});
}

void ClientCore::Start(CallSpec spec, const CallOptions& options, absl::Time deadline, Transport::Done done) {
  if (options.retry.has_value()) {
    absl::Status retry = CheckRetryOptions(*options.retry);
    if (!retry.ok()) {
      timer_.RunSoon([self = shared_from_this(), retry, done = std::move(done)]() mutable {
        CallbackScope scope;
        self.reset();
        std::move(done)(std::move(retry), "");
      });
      return;
    }
  }
  std::make_shared<RetriedCall>(shared_from_this(), std::move(spec), options, deadline, std::move(done))
      ->Run(options.cancel);
}

}  // namespace itemdb
