// What copies of a Client share: a transport, a timer and the defaults. Every call goes through Start.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/errors_internal.h"
#include "client/retry.h"
#include "client/timer.h"
#include "client/transport.h"
#include "itemdb/client.h"

namespace itemdb {

// A call before it is sent.
struct CallSpec {
  const char* method;
  CallKind kind;
  // The request carries a token: the daemon applies it once even if it arrives several times.
  bool has_token;
  std::string request;
  // The first table of the request, for CallRecord; empty: none.
  std::string table_name = {};
};

// 32 random characters.
std::string NewRequestToken();

// Exists while a user's callback runs; InCallback() uses it.
class CallbackScope {
 public:
  CallbackScope();
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

 private:
  const bool nested_;
};
// True on a thread that is running a callback.
bool InCallback();

// Thread-safe. A call under way keeps the core alive and releases it before its callback runs. So a program
// that waits for a callback and then destroys the last client destroys the core on its own thread.
class ClientCore : public std::enable_shared_from_this<ClientCore> {
 public:
  // Calls `make_transport` once, with a timer that outlives the transport. The options are valid.
  template <typename MakeTransport>
  static absl::StatusOr<std::shared_ptr<ClientCore>> Make(const ClientOptions& options,
                                                          MakeTransport make_transport) {
    auto core = std::make_shared<ClientCore>(options);
    absl::StatusOr<std::unique_ptr<Transport>> transport = make_transport(core->timer_);
    if (!transport.ok()) return transport.status();
    core->transport_ = *std::move(transport);
    return core;
  }

  explicit ClientCore(const ClientOptions& options)
      : timeout_(options.timeout),
        retry_(options.retry),
        on_call_(options.on_call),
        traceparent_(options.traceparent) {}

  const std::string& endpoint() const { return transport_->endpoint(); }
  Timer& timer() { return timer_; }
  // The options of a call with the client's defaults filled in.
  absl::Duration timeout_of(const CallOptions& options) const {
    return options.timeout == absl::ZeroDuration() ? timeout_ : options.timeout;
  }
  const RetryOptions& retry_of(const CallOptions& options) const {
    return options.retry.has_value() ? *options.retry : retry_;
  }

  // What a call with these options sends as traceparent; empty: nothing. For the thread that makes the call.
  std::string TraceparentOf(const CallOptions& options) const;
  // Tells the program's hook of a call that has ended. `method` as in CallSpec.
  void Record(const char* method, std::string_view table_name, const absl::Status& status, absl::Time begin,
              int attempts, std::string_view traceparent) const;

  // Makes the call, and repeats it as RetryOptions allow, until `deadline`. `done` runs exactly once, on a
  // thread of the library.
  void Start(CallSpec spec, const CallOptions& options, absl::Time deadline, Transport::Done done);

  // The same with typed results: `decode(reply bytes, endpoint)` makes an absl::StatusOr<Result>. If `spec`
  // is an error, the callback gets it, on the timer's thread.
  template <typename Result, typename Decode>
  void Start(absl::StatusOr<CallSpec> spec, const CallOptions& options, Decode decode,
             Callback<Result> callback) {
    if (!spec.ok()) {
      timer_.RunSoon(
          [self = shared_from_this(), status = spec.status(), callback = std::move(callback)]() mutable {
            CallbackScope scope;
            self.reset();
            std::move(callback)(std::move(status));
          });
      return;
    }
    Start(*std::move(spec), options, absl::Now() + timeout_of(options),
          [self = shared_from_this(), decode, callback = std::move(callback)](
              absl::Status status, std::string_view reply) mutable {
            absl::StatusOr<Result> result =
                status.ok() ? decode(reply, self->endpoint()) : absl::StatusOr<Result>(std::move(status));
            self.reset();
            std::move(callback)(std::move(result));
          });
  }

  // As Transport::OpenStream.
  std::unique_ptr<MessageStream> OpenStream(const char* method, size_t read_ahead,
                                            const std::string& traceparent) {
    return transport_->OpenStream(method, read_ahead, traceparent);
  }

 private:
  friend class RetriedCall;

  const absl::Duration timeout_;
  const RetryOptions retry_;
  const std::function<void(const CallRecord&)> on_call_;
  const std::function<std::string()> traceparent_;
  Timer timer_;
  std::unique_ptr<Transport> transport_;  // After the timer it uses.
};

}  // namespace itemdb
