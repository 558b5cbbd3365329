// The most recently used syntax trees, by kind and text.
//
// A service runs the same few expressions with different placeholders all day, and a tree depends on the text
// only, so parsing is mostly repeated work. Only ParseExpression uses this.
#pragma once

#include <array>
#include <cstddef>
#include <list>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "storage/base/mutex.h"
#include "storage/expressions/parser.h"

namespace itemdb {

// Thread-safe; shards by hash so that request threads seldom meet on one mutex.
class ParseCache {
 public:
  // 16 x 64 = 1,024 trees. Longer texts are not kept: with their trees they could fill memory, and parsing
  // them is rarely what a request waits for. A tree takes at most about 30 bytes per byte of text, so all of
  // them at most 30 MiB.
  static constexpr size_t kShards = 16;
  static constexpr size_t kTreesPerShard = 64;
  static constexpr size_t kMaxTextBytes = 1'024;

  // The tree of `text`, now the most recently used of its shard; null when it is not kept.
  std::shared_ptr<const Tree> Find(ExpressionKind kind, std::string_view text);

  // Keeps `tree`, in place of the least recently used one of its shard when that is full. Does nothing when
  // its text is too long or already kept.
  void Insert(ExpressionKind kind, std::shared_ptr<const Tree> tree);

  // Trees kept now.
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

  // The map uses the low bits of the hash, so the shard is chosen by higher ones.
  Shard& ShardOf(const Key& key) { return shards_[(KeyHash()(key) >> 40) % kShards]; }

  std::array<Shard, kShards> shards_;
};

}  // namespace itemdb
