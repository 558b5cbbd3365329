#include "itemdb/testing/fake_database.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "client/access.h"
#include "client/errors_internal.h"
#include "client/testing/local_database.h"
#include "client/transport.h"
#include "common/status_macros.h"

namespace itemdb::testing {

// State that the fake and its clients share.
struct FakeDatabase::State {
  // Counts the attempt; returns the fault that it meets, if any.
  std::optional<Fault> Arrive(const std::string& operation) {
    std::lock_guard<std::mutex> lock(mutex);
    ++calls[operation];
    for (auto plan = plans.begin(); plan != plans.end(); ++plan) {
      if (!plan->operation.empty() && plan->operation != operation) continue;
      const Fault fault = plan->fault;
      if (--plan->calls <= 0) plans.erase(plan);
      return fault;
    }
    return std::nullopt;
  }

  absl::Duration Delay() {
    std::lock_guard<std::mutex> lock(mutex);
    return delay;
  }

  std::unique_ptr<LocalDatabase> database;
  std::mutex mutex;
  // Guarded by mutex.
  std::deque<FaultPlan> plans;
  absl::Duration delay = absl::ZeroDuration();
  std::map<std::string, int> calls;
};

// Every call ends on the timer's thread, because the end of a call may block or destroy the database, and
// neither is allowed on the database's own threads.
class FakeDatabase::Transport : public ::itemdb::Transport {
 public:
  Transport(std::shared_ptr<State> state, Timer& timer) : state_(std::move(state)), timer_(timer) {}

  Cancel Send(OutgoingCall call, Done done) override {
    auto pending = std::make_shared<Pending>();
    pending->call = std::move(call);
    pending->done = std::move(done);
    const std::string_view method = pending->call.method;
    const std::optional<Fault> fault = state_->Arrive(std::string(method.substr(method.rfind('/') + 1)));
    const absl::Time start = absl::Now() + state_->Delay();
    // Runs at once or after the delay, unless cancellation or the deadline comes first.
    timer_.RunAt(std::min(start, pending->call.deadline), [this, pending, fault, start] {
      if (pending->decided.exchange(true)) return;
      if (start < pending->call.deadline) return CarryOut(pending, fault);
      End(pending, Lost(*pending, absl::StatusCode::kDeadlineExceeded, kReasonDeadlineExceeded,
                        "no reply before the deadline"));
    });
    return [this, pending] {
      // The caller keeps the call until it has ended, and the call keeps this transport.
      if (pending->decided.exchange(true)) return;
      End(pending, Lost(*pending, absl::StatusCode::kCancelled, kReasonCancelled, "the call was cancelled"));
    };
  }

  std::unique_ptr<MessageStream> OpenStream(const char* method, size_t /*read_ahead*/,
                                            const std::string& /*traceparent*/) override;

  const std::string& endpoint() const override { return endpoint_; }

 private:
  class Stream;

  struct Pending {
    OutgoingCall call;
    Done done;
    // The call has ended, or is in the database and will end with the database's reply.
    std::atomic<bool> decided = false;
  };

  void CarryOut(const std::shared_ptr<Pending>& pending, std::optional<Fault> fault) {
    if (fault == Fault::kUnavailable) {
      return End(pending, MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                                    "the fake database was told to be unavailable"));
    }
    if (fault == Fault::kQueueFull) {
      return End(pending, MakeError(absl::StatusCode::kResourceExhausted, "QUEUE_FULL",
                                    "the fake database was told to be overloaded", /*retry_after_ms=*/1));
    }
    if (fault == Fault::kLostRequest) return End(pending, LostConnection(*pending));
    state_->database->Call(pending->call.method, *pending->call.request,
                           [this, pending, fault](absl::StatusOr<std::string> reply) {
                             End(pending,
                                 fault == Fault::kLostReply ? LostConnection(*pending) : std::move(reply));
                           });
  }

  void End(const std::shared_ptr<Pending>& pending, absl::StatusOr<std::string> reply) {
    timer_.RunSoon([done = std::move(pending->done), reply = std::move(reply)]() mutable {
      std::move(done)(reply.status(), reply.ok() ? std::string_view(*reply) : std::string_view());
    });
  }

  static absl::Status LostConnection(const Pending& pending) {
    return pending.call.kind == CallKind::kRead
               ? MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                           "the fake database was told to lose the connection")
               : MakeError(
                     absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown,
                     "the fake database was told to lose the connection: the write may or may not have been "
                     "applied");
  }

  // The status of a call that ends before its reply.
  static absl::Status Lost(const Pending& pending, absl::StatusCode code, std::string_view reason,
                           const std::string& message) {
    if (pending.call.kind == CallKind::kRead) return MakeError(code, reason, message);
    return MakeError(code, kReasonWriteOutcomeUnknown,
                     message + ": the write may or may not have been applied");
  }

  const std::shared_ptr<State> state_;
  Timer& timer_;
  const std::string endpoint_ = "fake:";
};

// A stream meets its fault when the first message is read. With kLostReply the database has made it.
class FakeDatabase::Transport::Stream : public MessageStream {
 public:
  Stream(std::shared_ptr<State> state, const char* method) : state_(std::move(state)) {
    const std::string_view name = method;
    fault_ = state_->Arrive(std::string(name.substr(name.rfind('/') + 1)));
    absl::StatusOr<std::unique_ptr<LocalDatabase::Stream>> stream = state_->database->OpenStream(name);
    if (stream.ok()) {
      stream_ = *std::move(stream);
    } else {
      unopened_ = stream.status();
    }
  }

  void Write(std::string message) override {
    if (stream_ != nullptr && (!fault_.has_value() || *fault_ == Fault::kLostReply)) stream_->Write(message);
  }
  void WritesDone() override {
    if (stream_ != nullptr) stream_->WritesDone();
  }

  absl::StatusOr<std::optional<std::string>> Read(absl::Time deadline) override {
    if (stream_ == nullptr) return unopened_;
    const absl::Time start = absl::Now() + state_->Delay();
    absl::SleepFor(std::min(start, deadline) - absl::Now());
    if (cancelled_)
      return MakeError(absl::StatusCode::kCancelled, kReasonCancelled, "the stream was cancelled");
    if (start >= deadline) {
      return MakeError(absl::StatusCode::kDeadlineExceeded, kReasonDeadlineExceeded,
                       "nothing came before the deadline");
    }
    if (fault_ == Fault::kUnavailable) {
      return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                       "the fake database was told to be unavailable");
    }
    if (fault_ == Fault::kQueueFull) {
      return MakeError(absl::StatusCode::kResourceExhausted, "QUEUE_FULL",
                       "the fake database was told to be overloaded", /*retry_after_ms=*/1);
    }
    absl::StatusOr<std::optional<std::string>> message = std::nullopt;
    if (fault_ != Fault::kLostRequest) message = stream_->Read();
    if (!fault_.has_value()) return message;
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                     "the fake database was told to lose the connection");
  }

  void Cancel() override {
    cancelled_ = true;
    if (stream_ != nullptr) stream_->Cancel();
  }

 private:
  const std::shared_ptr<State> state_;
  std::optional<Fault> fault_;
  std::unique_ptr<LocalDatabase::Stream> stream_;
  absl::Status unopened_;
  std::atomic<bool> cancelled_ = false;
};

std::unique_ptr<MessageStream> FakeDatabase::Transport::OpenStream(const char* method, size_t /*read_ahead*/,
                                                                   const std::string& /*traceparent*/) {
  return std::make_unique<Stream>(state_, method);
}

FakeDatabase::FakeDatabase(std::shared_ptr<State> state) : state_(std::move(state)) {}

FakeDatabase::~FakeDatabase() = default;

absl::StatusOr<std::unique_ptr<FakeDatabase>> FakeDatabase::Open() {
  ITEMDB_ASSIGN_OR_RETURN(std::unique_ptr<LocalDatabase> database, LocalDatabase::Open());
  auto state = std::make_shared<State>();
  state->database = std::move(database);
  return std::unique_ptr<FakeDatabase>(new FakeDatabase(std::move(state)));
}

Client FakeDatabase::NewClient(ClientOptions options) const {
  absl::StatusOr<Client> client =
      ClientAccess::Make(options, [&](Timer& timer) -> absl::StatusOr<std::unique_ptr<::itemdb::Transport>> {
        return std::make_unique<Transport>(state_, timer);
      });
  if (!client.ok()) {
    // A mistake in the test. The test cannot handle it, so the process ends.
    std::fprintf(stderr, "FakeDatabase::NewClient: %s\n", client.status().ToString().c_str());
    std::abort();
  }
  return *std::move(client);
}

void FakeDatabase::FailNext(FaultPlan plan) {
  if (plan.calls <= 0) return;
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->plans.push_back(std::move(plan));
}

void FakeDatabase::DelayCalls(absl::Duration delay) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->delay = delay;
}

int FakeDatabase::calls(const std::string& operation) const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  int total = 0;
  for (const auto& [name, count] : state_->calls) total += operation.empty() || name == operation ? count : 0;
  return total;
}

}  // namespace itemdb::testing
