#include <algorithm>
#include <utility>

#include "client/convert.h"
#include "client/enum_table.h"
#include "common/status_macros.h"

namespace itemdb {

v1::ReturnConsumedCapacity ToProto(ReturnConsumedCapacity value) {
  using enum ReturnConsumedCapacity;
  static constexpr std::pair<ReturnConsumedCapacity, v1::ReturnConsumedCapacity> kValues[] = {
      {kNone, v1::RETURN_CONSUMED_CAPACITY_NONE},
      {kTotal, v1::RETURN_CONSUMED_CAPACITY_TOTAL},
      {kIndexes, v1::RETURN_CONSUMED_CAPACITY_INDEXES}};
  return ProtoOf(kValues, value);
}

v1::ReturnItemCollectionMetrics ToProto(ReturnItemCollectionMetrics value) {
  return value == ReturnItemCollectionMetrics::kSize ? v1::RETURN_ITEM_COLLECTION_METRICS_SIZE
                                                     : v1::RETURN_ITEM_COLLECTION_METRICS_NONE;
}

ConsumedCapacity FromProto(const v1::ConsumedCapacity& message) {
  ConsumedCapacity capacity{.table_name = message.table_name(), .capacity_units = message.capacity_units()};
  if (message.has_table()) capacity.table_units = message.table().capacity_units();
  for (const auto& [name, share] : message.global_secondary_indexes()) {
    capacity.global_secondary_indexes[name] = share.capacity_units();
  }
  for (const auto& [name, share] : message.local_secondary_indexes()) {
    capacity.local_secondary_indexes[name] = share.capacity_units();
  }
  for (const auto& [name, share] : message.vector_indexes())
    capacity.vector_index_bytes[name] = share.vector_write_request_bytes();
  return capacity;
}

void AddCapacity(const google::protobuf::RepeatedPtrField<v1::ConsumedCapacity>& messages,
                 std::vector<ConsumedCapacity>* capacities) {
  for (const v1::ConsumedCapacity& message : messages) {
    ConsumedCapacity added = FromProto(message);
    auto it = std::find_if(capacities->begin(), capacities->end(), [&](const ConsumedCapacity& capacity) {
      return capacity.table_name == added.table_name;
    });
    if (it == capacities->end()) {
      capacities->push_back(std::move(added));
      continue;
    }
    it->capacity_units += added.capacity_units;
    if (added.table_units.has_value()) it->table_units = it->table_units.value_or(0) + *added.table_units;
    for (const auto& [name, units] : added.global_secondary_indexes)
      it->global_secondary_indexes[name] += units;
    for (const auto& [name, units] : added.local_secondary_indexes)
      it->local_secondary_indexes[name] += units;
    for (const auto& [name, bytes] : added.vector_index_bytes) it->vector_index_bytes[name] += bytes;
  }
}

absl::StatusOr<ItemCollectionMetrics> FromProto(const v1::ItemCollectionMetrics& message) {
  ITEMDB_ASSIGN_OR_RETURN(Item key, FromProto(message.item_collection_key()));
  ItemCollectionMetrics metrics{.item_collection_key = std::move(key)};
  if (message.size_estimate_range_gb_size() == 2) {
    metrics.size_lower_bound_gb = message.size_estimate_range_gb(0);
    metrics.size_upper_bound_gb = message.size_estimate_range_gb(1);
  }
  return metrics;
}

absl::Status AddMetrics(const google::protobuf::RepeatedPtrField<v1::TableItemCollectionMetrics>& tables,
                        TableItemCollectionMetrics* metrics) {
  for (const v1::TableItemCollectionMetrics& table : tables) {
    std::vector<ItemCollectionMetrics>& known = (*metrics)[table.table_name()];
    for (const v1::ItemCollectionMetrics& message : table.item_collection_metrics()) {
      ITEMDB_ASSIGN_OR_RETURN(ItemCollectionMetrics added, FromProto(message));
      auto it = std::find_if(known.begin(), known.end(), [&](const ItemCollectionMetrics& other) {
        return other.item_collection_key == added.item_collection_key;
      });
      if (it == known.end()) {
        known.push_back(std::move(added));
      } else {
        *it = std::move(added);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace itemdb
