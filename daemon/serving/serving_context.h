// What all calls of both protocols share: gate, authorizer, open streams, bound on memory, log of slow calls,
// audit.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "common/log/log.h"
#include "daemon/access/authorizer.h"
#include "daemon/serving/call_audit.h"
#include "daemon/serving/call_gate.h"
#include "daemon/serving/call_log_fields.h"
#include "daemon/serving/call_metrics.h"
#include "daemon/serving/connection_guard.h"
#include "daemon/serving/line_limit.h"
#include "daemon/serving/open_streams.h"
#include "daemon/serving/open_watches.h"
#include "daemon/tracing/tracer.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace spdlog {
class logger;
}

namespace itemdb::daemon {

// Reason of RESOURCE_EXHAUSTED: requests and replies in flight have used up their memory; nothing was done.
inline constexpr std::string_view kReasonCallsFull = "CALLS_FULL";

// Counts the bytes of requests and replies in flight. A reply counts until gRPC has sent it. That may be
// after the server is destroyed, so replies hold a shared_ptr to this object. Thread-safe.
class CallMemory {
 public:
  explicit CallMemory(size_t limit_bytes) : limit_(static_cast<int64_t>(limit_bytes)) {}

  // True: the caller must Release() as many bytes later. False: the limit would be exceeded. Succeeds for any
  // size while nothing is counted but the `held` bytes that the caller has reserved already.
  bool TryReserve(size_t bytes, size_t held = 0) { return TryReserve(bytes, held, limit_); }
  // As TryReserve(), but for streams and for calls whose replies are pages: they leave half of the limit to
  // small calls, which go on while peers do not take their pages.
  bool TryReserveForLargeReply(size_t bytes, size_t held = 0) { return TryReserve(bytes, held, limit_ / 2); }
  // For requests of at most kSmallCallBytes, which an eighth of the limit is set aside for: a long request
  // may take all the rest, and more when it came alone, and the calls of others go on. True: ReleaseSmall()
  // must follow instead of Release(). False: nothing is left of that eighth.
  bool TryReserveSmall(size_t bytes);
  void ReleaseSmall(size_t bytes) {
    small_used_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  }
  static constexpr size_t kSmallCallBytes = 64 << 10;
  // Adds bytes even beyond the limit: a finished reply is cheaper to send than to refuse and make again.
  void Add(size_t bytes) { used_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed); }
  void Release(size_t bytes) { used_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed); }

  // How long a peer may take none of its reply: `longest` while half of the memory is free, and the less the
  // more is used, down to a second.
  std::chrono::steady_clock::duration ReplyPatience(std::chrono::steady_clock::duration longest) const;

  int64_t used_bytes() const {
    return used_.load(std::memory_order_relaxed) + small_used_.load(std::memory_order_relaxed);
  }
  int64_t limit_bytes() const { return limit_; }

 private:
  bool TryReserve(size_t bytes, size_t held, int64_t limit);

  const int64_t limit_;
  std::atomic<int64_t> used_ = 0;
  std::atomic<int64_t> small_used_ = 0;
};

// RESOURCE_EXHAUSTED when the memory for calls is used up; UNAVAILABLE from a daemon that is stopping.
absl::Status CallsFullError(const CallMemory& memory, std::string_view what_was_done = "nothing was done");
absl::Status StoppingError(std::string_view what_was_done = "nothing was done");

// A finished call, for the log of slow calls.
struct AnsweredCall {
  // "itemdb.v1.Data/PutItem".
  std::string_view method;
  const CallLogFields& log_fields;
  std::chrono::steady_clock::duration duration;
  size_t request_bytes;
  size_t reply_bytes;
  // Items in the reply; negative: the reply does not count items, and the log shows those of the request.
  int64_t items;
  // The name of the status code: "OK". Only for a call that is logged.
  std::string code;
  // The trace that the call is a part of; empty: none. Only for a call that is logged.
  std::string trace_id = {};
};

// A slow call that is kept in memory. `table` is as in log lines.
struct SlowRequest {
  absl::Time time;
  std::string method;
  std::string table;
  double milliseconds = 0;
  size_t request_bytes = 0;
  size_t reply_bytes = 0;
  int64_t items = 0;
  std::string code;
};

// Logs calls that took long: method, table, duration and sizes, never the content of items. At most ten lines
// a second, because slow calls come many at a time. Thread-safe.
class SlowRequestLog {
 public:
  // A threshold of zero: no call is logged.
  SlowRequestLog(absl::Duration threshold, common::Log log);

  bool IsSlow(std::chrono::steady_clock::duration duration) const { return duration >= threshold_; }
  void Log(const AnsweredCall& call);
  // max(): no call is slow.
  std::chrono::steady_clock::duration threshold() const { return threshold_; }
  // The newest slow calls, also those that no line was written for, at most kRecentRequests, the oldest
  // first.
  static constexpr size_t kRecentRequests = 200;
  std::vector<SlowRequest> Recent() const;

 private:
  const std::chrono::steady_clock::duration threshold_;
  const common::Log log_;
  LineLimit limit_;
  mutable storage::Mutex mutex_;
  std::deque<SlowRequest> recent_ ABSL_GUARDED_BY(mutex_);
};

// Outlives all calls.
struct ServingContext {
  ServingContext(size_t memory_bytes, absl::Duration slow_request, common::Log log)
      : memory(std::make_shared<CallMemory>(memory_bytes)),
        slow_log(slow_request, log),
        audit(std::move(log)) {}

  CallGate gate;
  // For gRPC calls only; HTTP requests are signed instead (daemon/http/signature).
  Authorizer authorizer;
  OpenStreams streams;
  OpenWatches watches;
  // Of gRPC connections only; HTTP ends its own.
  ConnectionGuard guard;
  const std::shared_ptr<CallMemory> memory;
  SlowRequestLog slow_log;
  CallAudit audit;
  CallMetrics metrics;
  // Null: calls are not traced. Set before the first call.
  std::unique_ptr<Tracer> tracer;
};

}  // namespace itemdb::daemon
