// The access patterns of one table.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "storage/base/mutex.h"
#include "storage/patterns/access_pattern.h"

namespace itemdb {

// How many patterns there are in a database: kMaxAccessPatterns at most. Thread-safe.
class PatternCount {
 public:
  [[nodiscard]] bool Take();
  bool full() const;
  void Return() { count_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  std::atomic<int> count_ = 0;
};

// Goes with its table: descriptors share it from definition to definition. Finding a pattern that is there
// takes no lock. Thread-safe.
class TablePatterns {
 public:
  explicit TablePatterns(std::shared_ptr<PatternCount> count);
  ~TablePatterns();
  TablePatterns(const TablePatterns&) = delete;
  TablePatterns& operator=(const TablePatterns&) = delete;

  // The pattern with that key, which is made, and `describe` called for it, when there is none. Null when
  // there is no room for another: the call is counted among the others then. Lives as long as this.
  AccessPattern* Find(const PatternKey& key, absl::FunctionRef<AccessTexts()> describe);

  // These patterns without those of an index that is gone. Shared: what is counted here is counted there,
  // but what is first seen after this is not.
  std::shared_ptr<TablePatterns> Without(uint64_t index_storage_id) const;

  std::vector<std::shared_ptr<const AccessPattern>> All() const;
  // Calls that are in none of them.
  int64_t other_calls() const { return other_calls_.load(std::memory_order_relaxed); }

 private:
  // Returns the pattern's place in the count with it.
  struct Counted;
  // Made once, never changed, freed with all others: that is why readers need no lock.
  struct Node {
    PatternKey key;
    std::shared_ptr<AccessPattern> pattern;
    Node* next = nullptr;
  };
  static constexpr size_t kBuckets = 32;
  static size_t BucketOf(const PatternKey& key);

  static AccessPattern* FindIn(Node* node, const PatternKey& key);
  void Insert(const PatternKey& key, std::shared_ptr<AccessPattern> pattern)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<PatternCount> count_;
  // Newest first.
  std::array<std::atomic<Node*>, kBuckets> buckets_ = {};
  std::atomic<int64_t> other_calls_ = 0;
  // Held to add a pattern.
  Mutex mutex_;
  std::atomic<int> size_ = 0;
};

}  // namespace itemdb
