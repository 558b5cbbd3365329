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

bool StepPastDamage(rocksdb::Iterator* it, const std::string& last, const std::string& end) {
  if (!it->status().IsCorruption()) return false;
  // Steps that grow by a factor of 256, until a key behind the damage is found.
  std::string damaged = last;
  std::string readable;
  for (size_t bytes = last.size(); readable.empty(); --bytes) {
    const std::string next = bytes > 0 ? PrefixSuccessor(last.substr(0, bytes)) : end;
    const std::string& candidate = next.empty() || next > end ? end : next;
    it->Seek(candidate);
    if (it->status().ok()) {
      readable = candidate;
    } else if (!it->status().IsCorruption() || candidate == end) {
      return false;
    } else {
      damaged = candidate;
    }
  }
  for (int i = 0; i < kMaxHalvings; ++i) {
    const std::string middle = Middle(damaged, readable);
    if (middle <= damaged || middle >= readable) break;
    it->Seek(middle);
    if (it->status().ok()) {
      readable = middle;
    } else if (it->status().IsCorruption()) {
      damaged = middle;
    } else {
      return false;
    }
  }
  it->Seek(readable);
  return it->status().ok();
}

}  // namespace itemdb::storage
