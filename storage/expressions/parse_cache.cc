#include "storage/expressions/parse_cache.h"

namespace itemdb::storage {

std::shared_ptr<const Tree> ParseCache::Find(ExpressionKind kind, std::string_view text) {
  if (text.size() > kMaxTextBytes) return nullptr;
  Key key{kind, text};
  Shard& shard = ShardOf(key);
  MutexLock lock(shard.mutex);
  auto found = shard.by_key.find(key);
  if (found == shard.by_key.end()) return nullptr;
  shard.entries.splice(shard.entries.begin(), shard.entries, found->second);
  return found->second->tree;
}

void ParseCache::Insert(ExpressionKind kind, std::shared_ptr<const Tree> tree) {
  if (tree->text.size() > kMaxTextBytes) return;
  Key key{kind, tree->text};
  Shard& shard = ShardOf(key);
  // Declared before the lock: the evicted tree is destroyed after it.
  std::shared_ptr<const Tree> evicted;
  MutexLock lock(shard.mutex);
  if (shard.by_key.contains(key)) return;
  if (shard.entries.size() == kTreesPerShard) {
    Entry& last = shard.entries.back();
    shard.by_key.erase({last.kind, last.tree->text});
    evicted = std::move(last.tree);
    shard.entries.pop_back();
  }
  shard.entries.push_front({kind, std::move(tree)});
  shard.by_key.emplace(key, shard.entries.begin());
}

size_t ParseCache::size() {
  size_t total = 0;
  for (Shard& shard : shards_) {
    MutexLock lock(shard.mutex);
    total += shard.entries.size();
  }
  return total;
}

}  // namespace itemdb::storage
