// Counts answered calls: by protocol and operation, and by table and operation. The metrics page shows them
// (daemon/metrics).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "storage/base/histogram.h"

namespace itemdb::daemon {

enum class Protocol { kGrpc, kHttp };

// A call that was answered, a page of a stream or a chunk of a bulk write.
struct CountedCall {
  Protocol protocol = Protocol::kGrpc;
  // "PutItem"; lives as long as the program.
  std::string_view operation;
  // The table that the request names; empty if it names none or several.
  std::string_view table;
  // Why the call failed, or what it answered instead of success: "VALIDATION", "CONDITIONAL_CHECK_FAILED".
  // Empty: success.
  std::string_view reason;
  std::chrono::steady_clock::duration duration{};
  size_t request_bytes = 0;
  size_t reply_bytes = 0;
  // Items in the reply; negative: the reply does not count items.
  int64_t items = -1;
};

// What calls did.
struct CallFigures {
  uint64_t reply_bytes = 0;
  uint64_t items = 0;
  // Successful calls, and the microseconds that they took.
  uint64_t succeeded = 0;
  uint64_t succeeded_us = 0;
  // Calls with each reason.
  std::map<std::string, uint64_t> reasons;
};

// Thread-safe.
class CallMetrics {
 public:
  // Pairs of a table and an operation beyond this number are not counted by table.
  static constexpr size_t kMaxTablePairs = 5'000;

  // `operation` and `reason` have few values. A table is counted from its first successful call on, because a
  // request may name any table.
  void Count(const CountedCall& call);

  struct OfOperation {
    Protocol protocol;
    std::string operation;
    CallFigures figures;
    // Of all calls.
    storage::LatencyCounts latency;
    uint64_t request_bytes = 0;
  };
  // In the order of protocols and names.
  std::vector<OfOperation> Operations() const;

  struct OfTable {
    std::string table;
    std::string operation;
    CallFigures figures;
  };
  // In the order of names.
  std::vector<OfTable> Tables() const;
  // Calls that were not counted by table because there are too many pairs.
  uint64_t uncounted_by_table() const { return uncounted_by_table_.load(std::memory_order_relaxed); }

  // Forgets the tables for which `exists` is false.
  void ForgetTables(const std::function<bool(std::string_view)>& exists);

 private:
  // The counters behind CallFigures.
  struct Counters {
    void Count(const CountedCall& call, uint64_t microseconds);
    CallFigures Copy() const;

    std::atomic<uint64_t> reply_bytes = 0;
    std::atomic<uint64_t> items = 0;
    std::atomic<uint64_t> succeeded = 0;
    std::atomic<uint64_t> succeeded_us = 0;
    // Rare, so they share one lock.
    mutable std::mutex reasons_mutex;
    std::map<std::string, uint64_t, std::less<>> reasons;
  };
  struct OperationCounters : Counters {
    void Count(const CountedCall& call, uint64_t microseconds);

    storage::LatencyHistogram latency{storage::kMicrosecondBounds};
    std::atomic<uint64_t> request_bytes = 0;
  };
  // Few operations, so they are searched in turn.
  template <typename Of>
  using ByOperation = std::vector<std::pair<std::string_view, std::unique_ptr<Of>>>;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  // Null: there is none yet.
  template <typename Of>
  static Of* Find(const ByOperation<Of>& operations, std::string_view operation);
  template <typename Of>
  static Of* FindOrAdd(ByOperation<Of>& operations, std::string_view operation);
  Counters* FindOfTable(const CountedCall& call) const;

  // Shared to count, exclusive to add or remove counters.
  mutable std::shared_mutex mutex_;
  ByOperation<OperationCounters> of_protocol_[2];
  std::unordered_map<std::string, ByOperation<Counters>, Hash, std::equal_to<>> of_table_;
  size_t table_pairs_ = 0;
  std::atomic<uint64_t> uncounted_by_table_ = 0;
};

}  // namespace itemdb::daemon
