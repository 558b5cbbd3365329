#include "storage/store/damaged_block.h"

#include <algorithm>
#include <cstdint>

#include "storage/keys/key_codec.h"

namespace itemdb::storage {
namespace {

// Halvings of the range in which the damage ends. Each determines one more bit of its end.
constexpr int kMaxHalvings = 192;

uint64_t EightBytes(const std::string& key, size_t from) {
  uint64_t number = 0;
  for (size_t i = from; i < from + 8; ++i)
    number = number << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
  return number;
}

// A key between `low` and `high`, which is greater; `low` when there is none within the next eight bytes
// behind their common prefix.
std::string Middle(const std::string& low, const std::string& high) {
  const size_t common = std::mismatch(low.begin(), low.end(), high.begin(), high.end()).first - low.begin();
  const uint64_t from = EightBytes(low, common);
  const uint64_t middle = from + (EightBytes(high, common) - from) / 2;
  if (middle == from) return low;
  std::string key = low.substr(0, common);
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(middle >> shift));
  return key;
}

}  // namespace

bool StepPastDamage(const MakeIterator& make, const std::string& last, const std::string& end,
                    std::unique_ptr<rocksdb::Iterator>* it) {
  if (!(*it)->status().IsCorruption()) return false;
  std::string damaged = last;
  std::string readable;
  // The first key from `readable` on. Seeking a key between two blocks may read the first of them or not, but
  // seeking a key of the second never reads the first.
  std::string first;
  const auto seek = [&](const std::string& key) {
    // Always a new iterator: one of RocksDB 7.8 that has seen a corruption can return it for every later key.
    *it = make();
    (*it)->Seek(key);
    if ((*it)->status().ok()) {
      readable = key;
      first = (*it)->Valid() ? (*it)->key().ToString() : end;
    } else if ((*it)->status().IsCorruption()) {
      damaged = key;
    } else {
      return false;
    }
    return true;
  };
  // Steps that grow by a factor of 256, until a key behind the damage is found.
  for (size_t bytes = last.size(); readable.empty(); --bytes) {
    const std::string next = bytes > 0 ? PrefixSuccessor(last.substr(0, bytes)) : end;
    const std::string& key = next.empty() || next > end ? end : next;
    if (!seek(key) || damaged == end) return false;
  }
  for (int i = 0; i < kMaxHalvings; ++i) {
    const std::string middle = Middle(damaged, readable);
    if (middle <= damaged || middle >= readable) break;
    if (!seek(middle)) return false;
  }
  return seek(first) && (*it)->status().ok();
}

}  // namespace itemdb::storage
