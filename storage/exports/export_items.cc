#include "storage/exports/export_items.h"

#include <optional>
#include <string>
#include <string_view>

#include "storage/exports/export_lines.h"

namespace itemdb::storage {
namespace {

// Finds the items of a source by keys that rise.
class RisingKeys {
 public:
  explicit RisingKeys(ItemSource& source) : source_(source) {}

  // The item under `key`, which is valid until the next call; nullopt: there is none.
  absl::StatusOr<std::optional<ItemSource::Item>> Find(std::string_view key) {
    while (!is_at_end_ && (!has_item_ || item_.key < key)) {
      ITEMDB_ASSIGN_OR_RETURN(has_item_, source_.Next(&item_));
      is_at_end_ = !has_item_;
    }
    if (!has_item_ || item_.key != key) return std::nullopt;
    return item_;
  }

 private:
  ItemSource& source_;
  ItemSource::Item item_;
  bool has_item_ = false;
  bool is_at_end_ = false;
};

}  // namespace

absl::StatusOr<ExportTotals> ExportItems(ItemSource& source, const ExportJob& job) {
  ExportLines lines(job.table, job.request.export_format());
  ExportTotals totals;
  std::string line;
  ItemSource::Item item;
  while (true) {
    ITEMDB_ASSIGN_OR_RETURN(const bool is_there, source.Next(&item));
    if (!is_there) return totals;
    ITEMDB_RETURN_IF_ERROR(job.before_item(item.key.size() + item.item.size()));
    if (!job.filter.Selects(item.key, ItemView(item.item))) continue;
    line.clear();
    if (job.filter.projects()) {
      lines.AppendItem(ItemView(job.filter.Project(item.item)), &line);
    } else {
      lines.AppendItem(ItemView(item.item), &line);
    }
    ITEMDB_RETURN_IF_ERROR(job.writer.Add(item.key, line));
    ++totals.items;
    totals.bytes += static_cast<int64_t>(item.size);
  }
}

absl::StatusOr<ExportTotals> ExportChanges(
    ItemSource& before, ItemSource& after, const ExportJob& job,
    const std::function<absl::Status(const VisitLastWrite&)>& visit_last_writes) {
  ExportLines lines(job.table, job.request.export_format());
  const bool with_old =
      job.request.incremental_export_specification().export_view_type() != v1::EXPORT_VIEW_TYPE_NEW_IMAGE;
  RisingKeys old_items(before);
  RisingKeys new_items(after);
  ExportTotals totals;
  std::string line;
  const auto write = [&](std::string_view key, int64_t commit_time_us) -> absl::Status {
    ITEMDB_ASSIGN_OR_RETURN(const std::optional<ItemSource::Item> old_item, old_items.Find(key));
    ITEMDB_ASSIGN_OR_RETURN(const std::optional<ItemSource::Item> new_item, new_items.Find(key));
    if (!old_item.has_value() && !new_item.has_value()) return absl::OkStatus();
    const ItemSource::Item& newest = new_item.has_value() ? *new_item : *old_item;
    ITEMDB_RETURN_IF_ERROR(job.before_item(key.size() + newest.item.size()));
    if (!job.filter.Selects(key, ItemView(newest.item))) return absl::OkStatus();
    const std::string keys = ExtractPrimaryKey(job.table, ItemView(newest.item));
    ExportedChange change{.commit_time_us = commit_time_us, .keys = ItemView(keys)};
    std::string old_image;
    std::string new_image;
    if (old_item.has_value() && with_old) {
      old_image = job.filter.Project(old_item->item);
      change.old_image = ItemView(old_image);
      totals.bytes += static_cast<int64_t>(old_item->size);
    }
    if (new_item.has_value()) {
      new_image = job.filter.Project(new_item->item);
      change.new_image = ItemView(new_image);
      totals.bytes += static_cast<int64_t>(new_item->size);
    }
    line.clear();
    lines.AppendChange(change, &line);
    ++totals.items;
    return job.writer.Add(key, line);
  };
  ITEMDB_RETURN_IF_ERROR(visit_last_writes(write));
  return totals;
}

}  // namespace itemdb::storage
