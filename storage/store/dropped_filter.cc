#include "storage/store/dropped_filter.h"

#include <string>

#include "storage/keys/key_codec.h"
#include "storage/keys/storage_id.h"
#include "storage/store/sequence_key.h"
#include "storage/store/size_statistics.h"

namespace itemdb::storage {
namespace {

// The filter of one flush or compaction. Used by one thread.
class Filter : public rocksdb::CompactionFilter {
 public:
  Filter(DroppedFilter::FindOwner find_owner, std::shared_ptr<const DroppedFilter::StorageIds> dropped,
         std::shared_ptr<ReclaimPace> pace, std::function<bool()> bypass)
      : find_owner_(find_owner),
        dropped_(std::move(dropped)),
        pace_(std::move(pace)),
        bypass_(std::move(bypass)) {}

  const char* Name() const override { return "itemdb.DroppedFilter"; }

  Decision FilterV2(int, const rocksdb::Slice& key, ValueType, const rocksdb::Slice& value, std::string*,
                    std::string* skip_until) const override {
    // RocksDB does not read skipped records, so they are not counted here.
    if (pace_ != nullptr) pace_->Request(static_cast<int64_t>(key.size() + value.size()), bypass_);
    const std::string_view stored(key.data(), key.size());
    const std::optional<DroppedFilter::Owner> owner = find_owner_(stored);
    if (!owner.has_value() || !dropped_->contains(owner->storage_id)) return Decision::kKeep;
    *skip_until = PrefixSuccessor(stored.substr(0, owner->prefix_bytes));
    return Decision::kRemoveAndSkipUntil;
  }

 private:
  const DroppedFilter::FindOwner find_owner_;
  const std::shared_ptr<const DroppedFilter::StorageIds> dropped_;
  const std::shared_ptr<ReclaimPace> pace_;
  const std::function<bool()> bypass_;
};

}  // namespace

std::optional<DroppedFilter::Owner> OwnerOfRecord(std::string_view key) {
  std::string_view rest = key;
  const std::optional<uint64_t> storage_id = ConsumeStorageId(&rest);
  if (!storage_id.has_value()) return std::nullopt;
  return DroppedFilter::Owner{*storage_id, key.size() - rest.size()};
}

std::optional<DroppedFilter::Owner> OwnerOfCollection(std::string_view key) {
  constexpr std::string_view kBegin = kCollectionKeyPrefix;
  if (!key.starts_with(kBegin)) return std::nullopt;
  const std::optional<uint64_t> storage_id = ParseStorageIdKey(key.substr(kBegin.size(), sizeof(uint64_t)));
  if (!storage_id.has_value()) return std::nullopt;
  return DroppedFilter::Owner{*storage_id, kBegin.size() + sizeof(uint64_t)};
}

void DroppedFilter::Set(StorageIds storage_ids) {
  auto shared = storage_ids.empty() ? nullptr : std::make_shared<const StorageIds>(std::move(storage_ids));
  MutexLock lock(mutex_);
  storage_ids_ = std::move(shared);
}

void DroppedFilter::SetPace(std::shared_ptr<ReclaimPace> pace, std::function<bool()> bypass) {
  MutexLock lock(mutex_);
  pace_ = std::move(pace);
  bypass_ = std::move(bypass);
}

bool DroppedFilter::ShouldFilterTableFileCreation(rocksdb::TableFileCreationReason reason) const {
  return reason == rocksdb::TableFileCreationReason::kFlush ||
         reason == rocksdb::TableFileCreationReason::kCompaction;
}

std::unique_ptr<rocksdb::CompactionFilter> DroppedFilter::CreateCompactionFilter(
    const rocksdb::CompactionFilter::Context& context) {
  MutexLock lock(mutex_);
  if (storage_ids_ == nullptr) return nullptr;
  return std::make_unique<Filter>(find_owner_, storage_ids_, context.is_manual_compaction ? pace_ : nullptr,
                                  bypass_);
}

}  // namespace itemdb::storage
