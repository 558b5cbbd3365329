// The keys of the items that changed since a moment, to compare them once more.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "itemdb/value.h"
#include "tools/moving/item_digest.h"

namespace itemdb::tools {

// Keys of one table, each once.
using KeysByDigest = std::map<Digest, Item>;

// Thread-safe.
class ChangedKeys {
 public:
  static constexpr size_t kMax = 2'000'000;
  // More than `most` keys are not kept: then everything has to be compared again.
  explicit ChangedKeys(size_t most = kMax) : most_(most) {}

  void Add(const std::string& table_name, const Item& key) {
    const Digest digest = DigestOf(key);
    std::lock_guard<std::mutex> lock(mutex_);
    if (count_ >= most_) {
      overflowed_ = true;
      return;
    }
    if (keys_[table_name].emplace(digest, key).second) ++count_;
  }
  bool Contains(const std::string& table_name, const Digest& key) const {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto table = keys_.find(table_name);
    return table != keys_.end() && table->second.contains(key);
  }
  size_t count() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return count_;
  }
  bool overflowed() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return overflowed_;
  }
  // The keys by table; begins again with none.
  std::map<std::string, KeysByDigest> Take() {
    std::lock_guard<std::mutex> lock(mutex_);
    count_ = 0;
    overflowed_ = false;
    return std::exchange(keys_, {});
  }

 private:
  const size_t most_;
  mutable std::mutex mutex_;
  // All guarded by mutex_.
  std::map<std::string, KeysByDigest> keys_;
  size_t count_ = 0;
  bool overflowed_ = false;
};

}  // namespace itemdb::tools
