// What all calls of both protocols share: gate, authorizer, open streams, bound on memory, log of slow calls,
// audit.
#pragma once

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
#include "daemon/serving/call_memory.h"
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

// UNAVAILABLE from a daemon that is stopping.
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
        shares(*memory),
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
  // Of `memory`.
  CallShares shares;
  SlowRequestLog slow_log;
  CallAudit audit;
  CallMetrics metrics;
  // Null: calls are not traced. Set before the first call.
  std::unique_ptr<Tracer> tracer;
};

}  // namespace itemdb::daemon
