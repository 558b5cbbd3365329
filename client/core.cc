#include "client/core.h"

#include <sys/random.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <random>

#include "absl/time/clock.h"
#include "client/cancellation.h"

namespace itemdb {
inline namespace client {
namespace {

thread_local bool in_callback = false;

// In [0, 1). Spreads callers; nothing depends on its quality.
double Random() {
  thread_local std::minstd_rand engine(std::random_device{}());
  return std::generate_canonical<double, 20>(engine);
}

}  // namespace

CallbackScope::CallbackScope() : nested_(std::exchange(in_callback, true)) {}
CallbackScope::~CallbackScope() { in_callback = nested_; }
bool InCallback() { return in_callback; }

std::string NewRequestToken() {
  // From the kernel each time: a generator of our own would repeat itself in a forked child.
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

// One call over all its attempts. At any time it is in one of three states: an attempt is under way, it waits
// for the next one, or it has ended. Kept alive by whoever will continue it: the transport, the timer.
class RetriedCall : public std::enable_shared_from_this<RetriedCall> {
 public:
  RetriedCall(std::shared_ptr<ClientCore> core, CallSpec spec, const CallOptions& options,
              absl::Time deadline, Transport::Done done)
      : core_(std::move(core)),
        method_(spec.method),
        kind_(spec.kind),
        has_token_(spec.has_token),
        request_(std::make_shared<const std::string>(std::move(spec.request))),
        retry_(core_->retry_of(options)),
        deadline_(deadline),
        done_(std::move(done)) {}

  void Start(const std::optional<CancelToken>& token) {
    cancellation_.emplace(token, [weak = weak_from_this()] {
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
        // Not on this thread: it may be the caller's own.
        core_->timer().RunSoon([self = shared_from_this()] { self->Finish(self->Cancelled(), ""); });
        return;
      }
      attempt = ++attempts_;
    }
    // The end may come before Start has returned, and lets go of the core.
    const std::shared_ptr<ClientCore> core = core_;
    Transport::Cancel cancel = core->transport_->Start(
        {.method = method_, .kind = kind_, .request = request_, .deadline = deadline_},
        [self = shared_from_this()](absl::Status status, std::string_view reply) {
          self->AttemptEnded(std::move(status), reply);
        });
    bool cancel_now = false;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      // By now the attempt may be over, and another under way.
      if (attempt == attempts_) {
        cancel_attempt_ = cancel;
        cancel_now = cancelled_;
      }
    }
    if (cancel_now) cancel();
  }

  void AttemptEnded(absl::Status status, std::string_view reply) {
    if (status.ok()) return Finish(std::move(status), reply);
    const Verdict verdict = Judge(status, kind_);
    if (verdict == Verdict::kUnknown) may_be_applied_ = true;
    const bool may_repeat = verdict == Verdict::kRetry || (verdict == Verdict::kUnknown && has_token_);
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const absl::Time next = absl::Now() + Backoff(retry_, attempts_, Random(), RetryAfterOf(status));
      if (may_repeat && attempts_ < retry_.max_attempts && next < deadline_) {
        if (!cancelled_) {
          waiting_ = true;
          core_->timer().RunAt(next, [self = shared_from_this()] { self->Resume(); });
          return;
        }
        // As if the cancellation had come in the pause that would have begun here.
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
    }
    Attempt();
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

  // What the caller is told when no attempt will follow. A refusal of the last attempt says nothing about the
  // ones before it.
  absl::Status Final(absl::Status status) const {
    if (!may_be_applied_ || ReasonOf(status) == kReasonWriteOutcomeUnknown) return status;
    // A daemon that cannot read its own data, or fails inside, does not know either.
    const bool is_verdict_on_the_write =
        Judge(status, kind_) == Verdict::kFinal && status.code() != absl::StatusCode::kCancelled &&
        status.code() != absl::StatusCode::kDeadlineExceeded &&
        status.code() != absl::StatusCode::kResourceExhausted &&
        status.code() != absl::StatusCode::kInternal && status.code() != absl::StatusCode::kDataLoss;
    if (is_verdict_on_the_write) return status;
    return MakeError(status.code() == absl::StatusCode::kCancelled ? absl::StatusCode::kCancelled
                                                                   : absl::StatusCode::kUnknown,
                     kReasonWriteOutcomeUnknown,
                     "the write was sent and its outcome lost; it may or may not have been applied. The last "
                     "attempt ended with: " +
                         MessageOf(status));
  }

  void Finish(absl::Status status, std::string_view reply) {
    cancellation_.reset();
    Transport::Done done = std::move(done_);
    core_.reset();
    CallbackScope scope;
    std::move(done)(std::move(status), reply);
  }

  std::shared_ptr<ClientCore> core_;  // Until the end.
  const char* const method_;
  const CallKind kind_;
  const bool has_token_;
  const std::shared_ptr<const std::string> request_;
  const RetryOptions retry_;
  const absl::Time deadline_;
  Transport::Done done_;
  // Of this call's own attempts, one after the other.
  bool may_be_applied_ = false;
  std::optional<Cancellation> cancellation_;

  std::mutex mutex_;
  // Guarded by mutex_.
  int attempts_ = 0;
  bool waiting_ = false;
  bool cancelled_ = false;
  Transport::Cancel cancel_attempt_;
};

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
      ->Start(options.cancel);
}

}  // namespace client
}  // namespace itemdb
