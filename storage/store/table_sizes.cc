#include "storage/store/table_sizes.h"

#include <utility>

namespace itemdb::storage {

std::vector<v1::TableStatistics> DescribeTableSizes(const ReadView& view, const CurrentStatistics& current) {
  std::vector<v1::TableStatistics> tables;
  tables.reserve(view.catalog().size());
  for (const auto& table : view.catalog()) {
    v1::TableStatistics& figures = tables.emplace_back();
    figures.set_table_name(table->name);
    figures.set_index_count(
        static_cast<int32_t>(table->indexes.size() - (table->FindTimeToLiveIndex() != nullptr ? 1 : 0)));
    const SizeStatistics sizes = FindStatistics(current, view, table->storage_id).value_or(SizeStatistics());
    figures.set_item_count(sizes.items);
    figures.set_item_bytes(sizes.bytes);
  }
  return tables;
}

}  // namespace itemdb::storage
