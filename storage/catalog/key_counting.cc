#include "storage/catalog/key_counting.h"

#include "storage/keys/key_codec.h"

namespace itemdb::storage {
namespace {

// A page with more keys counts some before its units are rounded up.
constexpr size_t kMaxPageKeys = 4'096;
constexpr double kBytesOfReadUnit = 4'096;

// The partition key and the whole key in front of `encoded`; the latter is empty without a sort key.
struct KeyParts {
  std::string_view partition_key;
  std::string_view key;
};

KeyParts SplitKey(std::string_view encoded, size_t partition_attributes, size_t sort_attributes) {
  const auto length_of = [&](size_t attributes, size_t from) {
    for (size_t i = 0; i < attributes; ++i)
      from += KeyValueLength(encoded.substr(from)).value_or(encoded.size() - from);
    return from;
  };
  const size_t partition = length_of(partition_attributes, 0);
  const size_t whole = sort_attributes == 0 ? 0 : length_of(sort_attributes, partition);
  return {encoded.substr(0, partition), encoded.substr(0, whole)};
}

template <typename TableOrIndex>
void Count(const TableOrIndex& of, std::string_view key, double units) {
  if (of.counted_keys == nullptr) return;
  const KeyParts parts = SplitKey(key, of.partition.size(), of.sort.size());
  of.counted_keys->AddUsed(parts.partition_key, parts.key, units);
}

bool SaysThatTooManyWait(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && ReasonOf(status) == kReasonQueueFull;
}

}  // namespace

void CountUsedKey(const Table& table, std::string_view key, double units) { Count(table, key, units); }

void CountUsedKey(const Index& index, std::string_view key, double units) { Count(index, key, units); }

void CountRefusedKey(const Table& table, std::string_view key, const absl::Status& status) {
  if (table.counted_keys == nullptr || !SaysThatTooManyWait(status)) return;
  const KeyParts parts = SplitKey(key, table.partition.size(), table.sort.size());
  table.counted_keys->AddThrottled(parts.partition_key, parts.key);
}

void CountRefusedQuery(const Table& table, const Index* index, std::string_view key,
                       const absl::Status& status) {
  if (!SaysThatTooManyWait(status)) return;
  const bool of_index = index != nullptr && !index->local;
  KeyCounts* counts = of_index ? index->counted_keys.get() : table.counted_keys.get();
  if (counts == nullptr) return;
  const size_t attributes = of_index ? index->partition.size() : table.partition.size();
  counts->AddThrottled(SplitKey(key, attributes, 0).partition_key, "");
}

void PageKeys::Add(std::string_view key, size_t bytes) {
  keys_.emplace_back(key, bytes);
  bytes_ += bytes;
  if (keys_.size() < kMaxPageKeys) return;
  const double units = static_cast<double>(bytes_) / kBytesOfReadUnit * (consistent_ ? 1 : 0.5);
  counted_units_ += units;
  Count(units / static_cast<double>(bytes_));
}

void PageKeys::Finish(double units) {
  if (bytes_ > 0) Count((units - counted_units_) / static_cast<double>(bytes_));
}

void PageKeys::Count(double units_of_byte) {
  for (const auto& [key, bytes] : keys_) {
    const double units = units_of_byte * static_cast<double>(bytes);
    if (index_ == nullptr) {
      CountUsedKey(table_, key, units);
    } else {
      CountUsedKey(*index_, key, units);
    }
  }
  keys_.clear();
  bytes_ = 0;
}

}  // namespace itemdb::storage
