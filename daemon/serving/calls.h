// What all calls share: the gate they pass, who may call what, the streams among them, the memory they take,
// and the log of those that were slow.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "daemon/access/call_access.h"
#include "daemon/serving/call_facts.h"
#include "daemon/serving/call_gate.h"
#include "daemon/serving/open_streams.h"
#include "storage/base/status.h"

namespace spdlog {
class logger;
}

namespace itemdb {

// RESOURCE_EXHAUSTED: requests and replies in flight take all the memory they may; nothing was done.
inline constexpr std::string_view kReasonCallsFull = "CALLS_FULL";

// Counts bytes of requests and replies in flight. Replies count until gRPC has sent them, which may be after
// the server is gone: share it. Thread-safe.
class CallMemory {
 public:
  explicit CallMemory(size_t limit_bytes) : limit_(static_cast<int64_t>(limit_bytes)) {}

  // False when the limit is reached; a request that is alone always gets in. Otherwise Release() as much.
  bool TryReserve(size_t bytes) { return TryReserve(bytes, limit_); }
  // The same for streams, which may last: they leave half to all other calls.
  bool TryReserveForStream(size_t bytes) { return TryReserve(bytes, limit_ / 2); }
  // Beyond the limit if need be: a reply that is there is cheaper to send than to make again.
  void Add(size_t bytes) { used_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed); }
  void Release(size_t bytes) { used_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed); }

  int64_t used_bytes() const { return used_.load(std::memory_order_relaxed); }
  int64_t limit_bytes() const { return limit_; }

 private:
  bool TryReserve(size_t bytes, int64_t limit);

  const int64_t limit_;
  std::atomic<int64_t> used_ = 0;
};

// What a call hears when the memory for calls is used up; and from a daemon that is stopping.
absl::Status CallsFullError(const CallMemory& memory, std::string_view what_was_done = "nothing was done");
absl::Status StoppingError(std::string_view what_was_done = "nothing was done");

// A call that was answered.
struct AnsweredCall {
  // "itemdb.v1.Data/PutItem".
  std::string_view method;
  const CallFacts& facts;
  std::chrono::steady_clock::duration duration;
  size_t request_bytes;
  size_t reply_bytes;
  // Of the reply; negative: it has none, the request's count.
  int64_t items;
  // The canonical name, "OK".
  std::string code;
};

// Logs calls that took long: what was called on which table, how long and how much it was; never what was in
// it. At most ten lines a second, as slow calls come in crowds. Thread-safe.
class SlowRequests {
 public:
  // Zero: none is logged.
  SlowRequests(absl::Duration threshold, std::shared_ptr<spdlog::logger> log);

  bool IsSlow(std::chrono::steady_clock::duration duration) const { return duration >= threshold_; }
  void Log(const AnsweredCall& call);

 private:
  const std::chrono::steady_clock::duration threshold_;
  const std::shared_ptr<spdlog::logger> log_;
  Mutex mutex_;
  std::chrono::steady_clock::time_point second_began_ ABSL_GUARDED_BY(mutex_);
  int64_t lines_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t left_out_ ABSL_GUARDED_BY(mutex_) = 0;
};

struct Calls {
  Calls(size_t memory_bytes, absl::Duration slow_request, std::shared_ptr<spdlog::logger> log)
      : memory(std::make_shared<CallMemory>(memory_bytes)), slow(slow_request, std::move(log)) {}

  CallGate gate;
  // Of gRPC; requests over HTTP are signed.
  CallAccess access;
  OpenStreams streams;
  const std::shared_ptr<CallMemory> memory;
  SlowRequests slow;
};

}  // namespace itemdb
