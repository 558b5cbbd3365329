#include "daemon/http/json_replies.h"

#include <map>
#include <string>

namespace itemdb {
namespace {

using Capacities = google::protobuf::Map<std::string, v1::Capacity>;

void WriteIndexes(std::string_view name, const Capacities& indexes, JsonWriter* writer) {
  if (indexes.empty()) return;
  writer->Name(name).BeginObject();
  for (const auto& [index, capacity] : std::map<std::string, v1::Capacity>(indexes.begin(), indexes.end()))
    writer->Name(index).BeginObject().Name("CapacityUnits").Real(capacity.capacity_units()).EndObject();
  writer->EndObject();
}

}  // namespace

void WriteConsumedCapacity(const v1::ConsumedCapacity& capacity, JsonWriter* writer) {
  writer->BeginObject().Name("TableName").String(capacity.table_name());
  writer->Name("CapacityUnits").Real(capacity.capacity_units());
  if (capacity.has_table())
    writer->Name("Table")
        .BeginObject()
        .Name("CapacityUnits")
        .Real(capacity.table().capacity_units())
        .EndObject();
  WriteIndexes("LocalSecondaryIndexes", capacity.local_secondary_indexes(), writer);
  WriteIndexes("GlobalSecondaryIndexes", capacity.global_secondary_indexes(), writer);
  writer->EndObject();
}

void WriteConsumedCapacities(const google::protobuf::RepeatedPtrField<v1::ConsumedCapacity>& capacities,
                             JsonWriter* writer) {
  if (capacities.empty()) return;
  writer->Name("ConsumedCapacity").BeginArray();
  for (const auto& capacity : capacities) WriteConsumedCapacity(capacity, writer);
  writer->EndArray();
}

void WriteItemCollectionMetrics(const wire::ItemCollectionMetrics& metrics, JsonWriter* writer) {
  writer->BeginObject().Name("ItemCollectionKey").Item(metrics.item_collection_key());
  writer->Name("SizeEstimateRangeGB").BeginArray();
  for (double bound : metrics.size_estimate_range_gb()) writer->Real(bound);
  writer->EndArray().EndObject();
}

void WriteItemCollectionMetrics(
    const google::protobuf::RepeatedPtrField<wire::TableItemCollectionMetrics>& tables, JsonWriter* writer) {
  if (tables.empty()) return;
  writer->Name("ItemCollectionMetrics").BeginObject();
  for (const auto& table : tables) {
    writer->Name(table.table_name()).BeginArray();
    for (const auto& metrics : table.item_collection_metrics()) WriteItemCollectionMetrics(metrics, writer);
    writer->EndArray();
  }
  writer->EndObject();
}

}  // namespace itemdb
