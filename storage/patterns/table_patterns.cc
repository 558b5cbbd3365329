#include "storage/patterns/table_patterns.h"

#include <utility>

#include "storage/base/limits.h"

namespace itemdb::storage {

bool PatternCount::Take() {
  if (count_.fetch_add(1, std::memory_order_relaxed) < kMaxAccessPatterns) return true;
  Return();
  return false;
}

bool PatternCount::full() const { return count_.load(std::memory_order_relaxed) >= kMaxAccessPatterns; }

struct TablePatterns::Counted : AccessPattern {
  Counted(const PatternKey& key, AccessTexts texts, std::shared_ptr<PatternCount> of)
      : AccessPattern(key, std::move(texts)), count(std::move(of)) {}
  ~Counted() { count->Return(); }

  const std::shared_ptr<PatternCount> count;
};

TablePatterns::TablePatterns(std::shared_ptr<PatternCount> count) : count_(std::move(count)) {}

TablePatterns::~TablePatterns() {
  for (std::atomic<Node*>& bucket : buckets_) {
    Node* node = bucket.load(std::memory_order_relaxed);
    while (node != nullptr) {
      std::unique_ptr<Node> gone(node);
      node = node->next;
    }
  }
}

size_t TablePatterns::BucketOf(const PatternKey& key) {
  uint64_t mixed = key.filter ^ (key.index_storage_id << 32);
  mixed ^= static_cast<uint64_t>(key.operation) << 17 ^ static_cast<uint64_t>(key.descending) << 16 ^
           key.key_condition;
  // The high bits of a product depend on all bits of its factors.
  return (mixed * 0x9e3779b97f4a7c15u) >> 59;
}

AccessPattern* TablePatterns::FindIn(Node* node, const PatternKey& key) {
  for (; node != nullptr; node = node->next) {
    if (node->key == key) return node->pattern.get();
  }
  return nullptr;
}

AccessPattern* TablePatterns::Find(const PatternKey& key, absl::FunctionRef<AccessTexts()> describe) {
  std::atomic<Node*>& bucket = buckets_[BucketOf(key)];
  AccessPattern* found = FindIn(bucket.load(std::memory_order_acquire), key);
  if (found != nullptr) return found;
  if (size_.load(std::memory_order_relaxed) < kMaxTableAccessPatterns && !count_->full()) {
    MutexLock lock(mutex_);
    found = FindIn(bucket.load(std::memory_order_relaxed), key);
    if (found != nullptr) return found;
    if (size_.load(std::memory_order_relaxed) < kMaxTableAccessPatterns && count_->Take()) {
      auto pattern = std::make_shared<Counted>(key, describe(), count_);
      found = pattern.get();
      Insert(key, std::move(pattern));
      return found;
    }
  }
  other_calls_.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

void TablePatterns::Insert(const PatternKey& key, std::shared_ptr<AccessPattern> pattern) {
  std::atomic<Node*>& bucket = buckets_[BucketOf(key)];
  bucket.store(new Node{key, std::move(pattern), bucket.load(std::memory_order_relaxed)},
               std::memory_order_release);
  size_.fetch_add(1, std::memory_order_relaxed);
}

std::shared_ptr<TablePatterns> TablePatterns::Without(uint64_t index_storage_id) const {
  auto rest = std::make_shared<TablePatterns>(count_);
  rest->other_calls_ = other_calls();
  MutexLock lock(rest->mutex_);
  for (const std::atomic<Node*>& bucket : buckets_) {
    for (const Node* node = bucket.load(std::memory_order_acquire); node != nullptr; node = node->next) {
      if (node->key.index_storage_id != index_storage_id) rest->Insert(node->key, node->pattern);
    }
  }
  return rest;
}

std::vector<std::shared_ptr<const AccessPattern>> TablePatterns::All() const {
  std::vector<std::shared_ptr<const AccessPattern>> all;
  for (const std::atomic<Node*>& bucket : buckets_) {
    for (const Node* node = bucket.load(std::memory_order_acquire); node != nullptr; node = node->next)
      all.push_back(node->pattern);
  }
  return all;
}

}  // namespace itemdb::storage
