// The most recently used syntax trees, by kind and text.
//
// Services run the same few expressions again and again with different placeholders, and a tree depends only
// on the text. The cache avoids parsing it again. Only ParseExpression uses the cache.
#pragma once

#include <array>
#include <cstddef>
#include <list>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "storage/base/mutex.h"
#include "storage/expressions/parser.h"

namespace itemdb::storage {

// Thread-safe. Sharded by hash, so that request threads seldom wait for the same mutex.
class ParseCache {
 public:
  // 16 x 64 = 1,024 trees. Longer texts are not cached: with their trees they could fill memory, and parsing
  // is a small part of requests with long texts. A tree takes at most about 30 bytes per byte of text, so all
  // trees take at most 30 MiB.
  static constexpr size_t kShards = 16;
  static constexpr size_t kTreesPerShard = 64;
  static constexpr size_t kMaxTextBytes = 1'024;

  // Returns the tree of `text` and makes it the shard's most recently used one. Null when it is not cached.
  std::shared_ptr<const Tree> Find(ExpressionKind kind, std::string_view text);

  // Caches `tree`, in place of the shard's least recently used tree if it is full. Does nothing when the text
  // is too long or already cached.
  void Insert(ExpressionKind kind, std::shared_ptr<const Tree> tree);

  // Number of cached trees.
  size_t size();

 private:
  // `text` borrows from the tree that the entry keeps alive, or from the caller of Find.
  struct Key {
    ExpressionKind kind;
    std::string_view text;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return std::hash<std::string_view>()(key.text) * 31 + static_cast<size_t>(key.kind);
    }
  };
  struct Entry {
    ExpressionKind kind;
    std::shared_ptr<const Tree> tree;
  };
  struct Shard {
    Mutex mutex;
    // Most recently used first.
    std::list<Entry> entries ABSL_GUARDED_BY(mutex);
    std::unordered_map<Key, std::list<Entry>::iterator, KeyHash> by_key ABSL_GUARDED_BY(mutex);
  };

  // The map uses the low bits of the hash, so higher bits select the shard.
  Shard& ShardOf(const Key& key) { return shards_[(KeyHash()(key) >> 40) % kShards]; }

  std::array<Shard, kShards> shards_;
};

}  // namespace itemdb::storage
