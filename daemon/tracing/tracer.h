// Decides which calls are traced, and sends their spans to a collector: OTLP over HTTP, as JSON.
//
// A call that is traced has a span of its own, with the caller's span as its parent, and below it a span for
// each step that storage has timed (storage/base/call_trace.h). The call only adds them to a queue, which is
// bounded. One thread sends what is in the queue, at most once a second. A collector that is slow, away or
// refuses costs spans, which are counted, and nothing else.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/log/log.h"
#include "daemon/tracing/trace_context.h"
#include "storage/base/background_thread.h"
#include "storage/base/call_trace.h"
#include "storage/base/mutex.h"

namespace spdlog {
class logger;
}

namespace itemdb::daemon {

struct TracerOptions {
  // Of a collector, as ParseTraceEndpoint() in config/setting_values.h makes it:
  // "http://127.0.0.1:4318/v1/traces".
  std::string url;
  // The share of calls that is traced, 0 to 1, where the caller leaves the decision to us.
  double ratio = 1;
  // Required.
  common::Log log;
};

// A call that is traced.
struct TracedCall {
  TraceId trace_id;
  uint64_t span_id = 0;
  // 0: the call begins the trace.
  uint64_t parent_id = 0;
  storage::CallTrace steps;
};

// What a span says about a finished call, or about a part of a stream.
struct CallSpan {
  // "PutItem"; lives as long as the program.
  std::string_view operation;
  // "grpc" or "http".
  std::string_view protocol;
  // Empty: the request names none, or several.
  std::string table = {};
  // The name of the status code, "OK", and the reason; empty without one.
  std::string code;
  std::string reason = {};
  storage::CallTrace::Clock::time_point begin;
  storage::CallTrace::Clock::time_point end;
  size_t request_bytes = 0;
  size_t reply_bytes = 0;
  // Negative: not known.
  int64_t items = -1;
};

// Thread-safe.
class Tracer {
 public:
  // Calls that wait to be sent; later ones are dropped. With all their steps they take at most 5 MiB.
  static constexpr size_t kMaxQueuedCalls = 2'048;

  explicit Tracer(TracerOptions options);
  // Sends what waits, for at most two seconds.
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Null: the call is not traced. The caller's decision counts; without one `ratio` does.
  std::shared_ptr<TracedCall> Begin(const std::optional<TraceContext>& caller) const;
  // A part of the stream `call`, with a span of its own and the steps since the last part.
  static std::shared_ptr<TracedCall> TakePart(TracedCall& call);

  // Adds the span of a call, and of the steps that it has gone through since the last Finish().
  void Finish(TracedCall& call, CallSpan span);

  // Spans that the collector has accepted, and that were dropped.
  int64_t exported() const { return exported_.load(std::memory_order_relaxed); }
  int64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Finished {
    TraceId trace_id;
    uint64_t span_id;
    uint64_t parent_id;
    CallSpan span;
    std::vector<storage::CallTrace::Timing> steps;
    // What the wall clock shows when CallTrace::Clock is at zero.
    int64_t clock_offset_ns;

    int64_t spans() const { return 1 + static_cast<int64_t>(steps.size()); }
  };
  class Sender;

  void Run();
  // Sends a batch, and counts it.
  void Send(const std::vector<Finished>& batch);
  static std::string Encode(const std::vector<Finished>& batch);

  const TracerOptions options_;
  std::atomic<int64_t> exported_ = 0;
  std::atomic<int64_t> dropped_ = 0;
  storage::Mutex mutex_;
  std::deque<Finished> queue_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> stopping_ = false;
  // Used by the thread only. Whether the last batch was refused or did not arrive.
  bool failing_ = false;
  storage::CallTrace::Clock::time_point next_attempt_;
  std::unique_ptr<Sender> sender_;
  storage::BackgroundThread thread_;
};

}  // namespace itemdb::daemon
