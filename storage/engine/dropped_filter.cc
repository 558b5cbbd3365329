#include "storage/engine/dropped_filter.h"

#include <optional>

#include "storage/keys/key_codec.h"
#include "storage/keys/storage_id.h"

namespace itemdb {
namespace {

// Of one flush or compaction; touched by one thread.
class Filter : public rocksdb::CompactionFilter {
 public:
  explicit Filter(std::shared_ptr<const DroppedFilter::StorageIds> dropped) : dropped_(std::move(dropped)) {}

  const char* Name() const override { return "itemdb.DroppedFilter"; }

  Decision FilterV2(int, const rocksdb::Slice& key, ValueType, const rocksdb::Slice&, std::string*,
                    std::string* skip_until) const override {
    const std::string_view stored(key.data(), key.size());
    std::string_view rest = stored;
    const std::optional<uint64_t> storage_id = ConsumeStorageId(&rest);
    if (!storage_id.has_value() || !dropped_->contains(*storage_id)) return Decision::kKeep;
    *skip_until = PrefixSuccessor(stored.substr(0, stored.size() - rest.size()));
    return Decision::kRemoveAndSkipUntil;
  }

 private:
  const std::shared_ptr<const DroppedFilter::StorageIds> dropped_;
};

}  // namespace

void DroppedFilter::Set(StorageIds storage_ids) {
  auto shared = storage_ids.empty() ? nullptr : std::make_shared<const StorageIds>(std::move(storage_ids));
  MutexLock lock(mutex_);
  storage_ids_ = std::move(shared);
}

bool DroppedFilter::ShouldFilterTableFileCreation(rocksdb::TableFileCreationReason reason) const {
  return reason == rocksdb::TableFileCreationReason::kFlush ||
         reason == rocksdb::TableFileCreationReason::kCompaction;
}

std::unique_ptr<rocksdb::CompactionFilter> DroppedFilter::CreateCompactionFilter(
    const rocksdb::CompactionFilter::Context&) {
  MutexLock lock(mutex_);
  return storage_ids_ == nullptr ? nullptr : std::make_unique<Filter>(storage_ids_);
}

}  // namespace itemdb
