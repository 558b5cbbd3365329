#include "storage/store/size_statistics.h"

#include "storage/keys/key_codec.h"
#include "storage/store/sequence_key.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

constexpr size_t kContentSumBytes = 8;

bool HasContentSum(std::string_view key) { return !key.starts_with(kCollectionKeyPrefix); }

void AppendContentSum(const ContentSum& content, std::string* payload) {
  payload->push_back(content.is_whole ? 1 : 0);
  for (size_t i = 0; i < kContentSumBytes; ++i) payload->push_back(static_cast<char>(content.sum >> (8 * i)));
}

// Versions before 0.2.1 wrote no content sum.
ContentSum DecodeContentSum(std::string_view payload) {
  ContentSum content = {.sum = 0, .is_whole = false};
  if (payload.size() < 1 + kContentSumBytes) return content;
  content.is_whole = payload[0] == 1;
  for (size_t i = 0; i < kContentSumBytes; ++i)
    content.sum |= static_cast<uint64_t>(static_cast<uint8_t>(payload[1 + i])) << (8 * i);
  return content;
}

}  // namespace

std::string StatisticsKey(uint64_t storage_id) { return StorageIdKey(storage_id); }

std::string CollectionsPrefix(uint64_t storage_id) {
  return std::string(kCollectionKeyPrefix).append(StorageIdKey(storage_id));
}

std::string CollectionKey(uint64_t storage_id, std::string_view item_key) {
  return CollectionsPrefix(storage_id)
      .append(item_key, 0, KeyValueLength(item_key).value_or(item_key.size()));
}

std::string EncodeStatistics(uint64_t storage_id, std::string_view key,
                             const SizeStatistics& size_statistics) {
  std::string payload;
  wire::AppendVarint(static_cast<uint64_t>(size_statistics.items), &payload);
  wire::AppendVarint(static_cast<uint64_t>(size_statistics.bytes), &payload);
  if (HasContentSum(key)) AppendContentSum(size_statistics.content, &payload);
  return EncodeRecord(storage_id, key, 0, payload);
}

std::optional<SizeStatistics> DecodeStatistics(uint64_t storage_id, std::string_view key,
                                               std::string_view record) {
  std::optional<StoredRecord> decoded = DecodeRecord(storage_id, key, record);
  uint64_t items, bytes;
  if (!decoded.has_value() || !wire::ConsumeVarint(&decoded->payload, &items) ||
      !wire::ConsumeVarint(&decoded->payload, &bytes)) {
    return std::nullopt;
  }
  SizeStatistics size_statistics{static_cast<int64_t>(items), static_cast<int64_t>(bytes)};
  if (HasContentSum(key)) size_statistics.content = DecodeContentSum(decoded->payload);
  return size_statistics;
}

absl::StatusOr<SizeStatistics> ReadStatistics(const Store& store, const rocksdb::ReadOptions& options,
                                              uint64_t storage_id, std::string_view key) {
  rocksdb::PinnableSlice record;
  rocksdb::Status status = store.db()->Get(options, store.stats(), ToSlice(key), &record);
  if (status.IsNotFound()) return SizeStatistics();
  if (!status.ok()) return store.ReadError("cannot read the item counts", status);
  std::optional<SizeStatistics> size_statistics = DecodeStatistics(storage_id, key, ToView(record));
  if (!size_statistics.has_value()) return DamagedRecordError("the item counts", key);
  return *size_statistics;
}

absl::StatusOr<SizeStatistics> ReadStatistics(const ReadView& view, uint64_t storage_id) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  return ReadStatistics(*view.store(), options, storage_id, StatisticsKey(storage_id));
}

absl::StatusOr<SizeStatistics> FindStatistics(const CurrentStatistics& current, const ReadView& view,
                                              uint64_t storage_id) {
  const std::optional<SizeStatistics> size_statistics = current.At(view.group_number(), storage_id);
  if (size_statistics.has_value()) return *size_statistics;
  // The record was replaced just now, so the older version is hardly ever only on disk.
  return ReadStatistics(view, storage_id);
}

absl::StatusOr<bool> PrefetchCollection(const ReadView& view, uint64_t storage_id, std::string_view item_key,
                                        ReadTier tier) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  options.read_tier = tier == ReadTier::kCacheOnly ? rocksdb::kBlockCacheTier : rocksdb::kReadAllTier;
  rocksdb::PinnableSlice record;
  rocksdb::Status status =
      view.store()->db()->Get(options, view.store()->stats(), CollectionKey(storage_id, item_key), &record);
  if (status.IsNotFound()) return true;
  if (status.IsIncomplete()) return false;
  if (!status.ok()) return view.store()->ReadError("cannot read the size of an item collection", status);
  // As in LookupItem: for a file that is not open, RocksDB answers OK without a value.
  return !record.empty() || tier == ReadTier::kDisk;
}

}  // namespace itemdb::storage
