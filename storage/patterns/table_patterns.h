// The access patterns of one table.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "storage/base/mutex.h"
#include "storage/patterns/access_pattern.h"

namespace itemdb::storage {

// The number of patterns in a database, at most kMaxAccessPatterns. Thread-safe.
class PatternCount {
 public:
  [[nodiscard]] bool Take();
  bool full() const;
  void Return() { count_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  std::atomic<int> count_ = 0;
};

// The access patterns of one table, shared by its descriptors. Finding an existing one takes no lock.
// Thread-safe.
class TablePatterns {
 public:
  explicit TablePatterns(std::shared_ptr<PatternCount> count);
  ~TablePatterns();
  TablePatterns(const TablePatterns&) = delete;
  TablePatterns& operator=(const TablePatterns&) = delete;

  // Returns the pattern with this key. If there is none, makes one with the texts that `describe` returns.
  // Returns null when there is no room for another pattern; the call is then counted in other_calls(). The
  // pattern lives as long as this object.
  AccessPattern* Find(const PatternKey& key, absl::FunctionRef<AccessTexts()> describe);

  // Returns these patterns without the patterns of a deleted index. Both objects share the patterns, so calls
  // of these are counted in both. A pattern that either object makes later is not shared.
  std::shared_ptr<TablePatterns> Without(uint64_t index_storage_id) const;

  std::vector<std::shared_ptr<const AccessPattern>> All() const;
  // Number of calls without a pattern.
  int64_t other_calls() const { return other_calls_.load(std::memory_order_relaxed); }

 private:
  // A pattern that returns its place in the PatternCount when it is destroyed.
  struct Counted;
  // Never changed, and freed only with all other nodes, so readers need no lock.
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
  // Held to add a pattern. Readers do not take it.
  Mutex mutex_;
  std::atomic<int> size_ = 0;
};

}  // namespace itemdb::storage
