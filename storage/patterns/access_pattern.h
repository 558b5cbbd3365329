// One way in which a table is read or written, and how often that was done (SEED-049).
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "itemdb/v1/admin.pb.h"
#include "storage/patterns/latency_histogram.h"

namespace itemdb {

enum class AccessOperation : uint8_t {
  kGetItem,
  kPutItem,
  kUpdateItem,
  kDeleteItem,
  kQuery,
  kScan,
  kBatchGetItem,
  kBatchWriteItem,
  kTransactGetItems,
  kTransactWriteItems,
  kBulkWrite,
};

// "GetItem", ...
std::string_view OperationName(AccessOperation operation);

// What sets the patterns of one table apart, in numbers: finding a call's pattern makes no text.
struct PatternKey {
  AccessOperation operation = AccessOperation::kGetItem;
  bool descending = false;
  // KeyConditionShape::code() (storage/expressions/key_condition.h).
  uint16_t key_condition = 0;
  // 0: the table itself.
  uint64_t index_storage_id = 0;
  // Condition::ShapeHash(); 0 without one.
  uint64_t filter = 0;

  bool operator==(const PatternKey&) const = default;
};

// The same as people read it.
struct AccessTexts {
  std::string index_name;
  std::string key_condition;
  std::string filter;
};

// The counters of one pattern. Thread-safe: threads count on stripes of their own, so that they seldom meet
// on a cache line. Whoever has seen a call's answer finds it counted.
class AccessPattern {
 public:
  AccessPattern(const PatternKey& key, AccessTexts texts);
  ~AccessPattern();
  AccessPattern(const AccessPattern&) = delete;
  AccessPattern& operator=(const AccessPattern&) = delete;

  void Count(bool ok, int64_t scanned, int64_t returned, std::chrono::nanoseconds took);

  const PatternKey& key() const { return key_; }
  // Everything but the table's name.
  v1::AccessPattern Describe() const;

 private:
  static constexpr unsigned kStripes = 4;

  struct alignas(64) Stripe {
    std::atomic<int64_t> errors = 0;
    std::atomic<int64_t> scanned = 0;
    std::atomic<int64_t> returned = 0;
    // Every call is in one of them, so that nothing else need count calls.
    std::array<std::atomic<int64_t>, kLatencyBuckets> latencies = {};
  };

  Stripe& OwnStripe();

  const PatternKey key_;
  const AccessTexts texts_;
  // Made when a thread first counts there.
  std::array<std::atomic<Stripe*>, kStripes> stripes_ = {};
};

}  // namespace itemdb
