// An access pattern: one way in which a table is read or written, and how often that was done (SEED-049).
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "itemdb/v1/admin.pb.h"
#include "storage/patterns/latency_histogram.h"

namespace itemdb::storage {

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
  kSearchVectors,
};

// "GetItem", ...
std::string_view OperationName(AccessOperation operation);

// Identifies a pattern within its table. Only numbers, so that no text is made to find the pattern of a call.
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

// The same as texts for people.
struct AccessTexts {
  std::string index_name;
  std::string key_condition;
  std::string filter;
};

// What the calls of patterns did.
struct PatternCounts {
  int64_t calls = 0;
  int64_t errors = 0;
  int64_t scanned = 0;
  int64_t returned = 0;
  std::array<int64_t, kLatencyBuckets> latencies = {};

  PatternCounts& operator+=(const PatternCounts& more);
};

// The counters of one pattern. Thread-safe. Threads count on stripes of their own, so they seldom share a
// cache line. Once the answer of a call was seen, Counts() and Describe() include the call.
class AccessPattern {
 public:
  AccessPattern(const PatternKey& key, AccessTexts texts);
  ~AccessPattern();
  AccessPattern(const AccessPattern&) = delete;
  AccessPattern& operator=(const AccessPattern&) = delete;

  void Count(bool ok, int64_t scanned, int64_t returned, std::chrono::nanoseconds took);

  const PatternKey& key() const { return key_; }
  PatternCounts Counts() const;
  // Everything but the table's name.
  v1::AccessPattern Describe() const;

 private:
  static constexpr unsigned kStripes = 4;

  struct alignas(64) Stripe {
    std::atomic<int64_t> errors = 0;
    std::atomic<int64_t> scanned = 0;
    std::atomic<int64_t> returned = 0;
    // Every call is in one bucket, so there is no other count of calls.
    std::array<std::atomic<int64_t>, kLatencyBuckets> latencies = {};
  };

  Stripe& OwnStripe();

  const PatternKey key_;
  const AccessTexts texts_;
  // Each stripe is made when a thread first counts on it.
  std::array<std::atomic<Stripe*>, kStripes> stripes_ = {};
};

}  // namespace itemdb::storage
