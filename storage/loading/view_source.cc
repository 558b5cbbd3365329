#include "storage/loading/view_source.h"

#include <optional>
#include <utility>

#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

constexpr size_t kViewReadAheadBytes = 1 << 20;

rocksdb::ReadOptions ViewReadOptions(const ReadView& view) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  options.total_order_seek = true;
  options.fill_cache = false;
  options.readahead_size = kViewReadAheadBytes;
  return options;
}

}  // namespace

ViewSource::ViewSource(std::shared_ptr<const ReadView> view, Table table)
    : view_(std::move(view)),
      table_(std::move(table)),
      items_(*view_->store(), ItemsOf(*view_->store(), table_), ViewReadOptions(*view_)) {}

absl::StatusOr<bool> ViewSource::Next(Item* item) {
  if (!std::exchange(has_begun_, true)) {
    items_.SeekToFirst();
  } else if (items_.Valid()) {
    items_.Next();
  }
  if (!items_.Valid()) {
    if (items_.status().ok()) return false;
    return view_->store()->ReadError("cannot read table " + table_.name, items_.status());
  }
  const std::optional<StoredRecord> stored = DecodeRecord(table_.storage_id, items_.key(), items_.value());
  if (!stored.has_value()) return DamagedRecordError("table " + table_.name, items_.key());
  *item = {.key = items_.key(), .size = stored->item_size, .item = stored->payload};
  return true;
}

}  // namespace itemdb::storage
