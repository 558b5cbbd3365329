#include "storage/patterns/access_pattern.h"

#include <memory>
#include <utility>

namespace itemdb::storage {
namespace {

// Numbers threads in the order of their first call. The number selects the thread's stripe.
unsigned ThreadNumber() {
  static std::atomic<unsigned> threads = 0;
  thread_local const unsigned number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

// The latency that `percent` of the calls did not exceed, in the histogram's precision; 0 without calls.
int64_t Percentile(const PatternCounts& counts, int64_t percent) {
  const int64_t rank = (counts.calls * percent + 99) / 100;
  int64_t seen = 0;
  for (size_t bucket = 0; bucket < kLatencyBuckets && rank > 0; ++bucket) {
    seen += counts.latencies[bucket];
    if (seen >= rank) return LatencyOfBucket(bucket);
  }
  return 0;
}

}  // namespace

std::string_view OperationName(AccessOperation operation) {
  switch (operation) {
    case AccessOperation::kGetItem:
      return "GetItem";
    case AccessOperation::kPutItem:
      return "PutItem";
    case AccessOperation::kUpdateItem:
      return "UpdateItem";
    case AccessOperation::kDeleteItem:
      return "DeleteItem";
    case AccessOperation::kQuery:
      return "Query";
    case AccessOperation::kScan:
      return "Scan";
    case AccessOperation::kBatchGetItem:
      return "BatchGetItem";
    case AccessOperation::kBatchWriteItem:
      return "BatchWriteItem";
    case AccessOperation::kTransactGetItems:
      return "TransactGetItems";
    case AccessOperation::kTransactWriteItems:
      return "TransactWriteItems";
    case AccessOperation::kBulkWrite:
      return "BulkWrite";
    case AccessOperation::kSearchVectors:
      return "SearchVectors";
  }
  return "";
}

AccessPattern::AccessPattern(const PatternKey& key, AccessTexts texts)
    : key_(key), texts_(std::move(texts)) {}

AccessPattern::~AccessPattern() {
  for (std::atomic<Stripe*>& stripe : stripes_) delete stripe.load(std::memory_order_relaxed);
}

AccessPattern::Stripe& AccessPattern::OwnStripe() {
  std::atomic<Stripe*>& place = stripes_[ThreadNumber() % kStripes];
  Stripe* stripe = place.load(std::memory_order_acquire);
  if (stripe != nullptr) return *stripe;
  auto made = std::make_unique<Stripe>();
  // Another thread with this stripe may have stored one first. Then `stripe` is set to that one.
  if (place.compare_exchange_strong(stripe, made.get(), std::memory_order_acq_rel)) return *made.release();
  return *stripe;
}

void AccessPattern::Count(bool ok, int64_t scanned, int64_t returned, std::chrono::nanoseconds took) {
  Stripe& stripe = OwnStripe();
  if (!ok) stripe.errors.fetch_add(1, std::memory_order_relaxed);
  if (scanned != 0) stripe.scanned.fetch_add(scanned, std::memory_order_relaxed);
  if (returned != 0) stripe.returned.fetch_add(returned, std::memory_order_relaxed);
  const uint64_t us = static_cast<uint64_t>(took.count() + 500) / 1'000;
  stripe.latencies[LatencyBucket(us)].fetch_add(1, std::memory_order_relaxed);
}

PatternCounts& PatternCounts::operator+=(const PatternCounts& more) {
  calls += more.calls;
  errors += more.errors;
  scanned += more.scanned;
  returned += more.returned;
  for (size_t bucket = 0; bucket < kLatencyBuckets; ++bucket) latencies[bucket] += more.latencies[bucket];
  return *this;
}

PatternCounts AccessPattern::Counts() const {
  PatternCounts counts;
  for (const std::atomic<Stripe*>& place : stripes_) {
    const Stripe* stripe = place.load(std::memory_order_acquire);
    if (stripe == nullptr) continue;
    counts.errors += stripe->errors.load(std::memory_order_relaxed);
    counts.scanned += stripe->scanned.load(std::memory_order_relaxed);
    counts.returned += stripe->returned.load(std::memory_order_relaxed);
    for (size_t bucket = 0; bucket < kLatencyBuckets; ++bucket) {
      const int64_t count = stripe->latencies[bucket].load(std::memory_order_relaxed);
      counts.latencies[bucket] += count;
      counts.calls += count;
    }
  }
  return counts;
}

v1::AccessPattern AccessPattern::Describe() const {
  const PatternCounts counts = Counts();
  v1::AccessPattern described;
  described.set_operation(std::string(OperationName(key_.operation)));
  described.set_index_name(texts_.index_name);
  described.set_key_condition(texts_.key_condition);
  described.set_filter(texts_.filter);
  described.set_descending(key_.descending);
  described.set_calls(counts.calls);
  described.set_errors(counts.errors);
  described.set_items_scanned(counts.scanned);
  described.set_items_returned(counts.returned);
  described.set_p50_us(Percentile(counts, 50));
  described.set_p99_us(Percentile(counts, 99));
  return described;
}

}  // namespace itemdb::storage
