#include "daemon/http/api/reply_parts.h"

#include <map>
#include <string>

#include "storage/values/wire.h"

namespace itemdb::http {
namespace {

using Capacities = google::protobuf::Map<std::string, v1::Capacity>;

void WriteIndexes(std::string_view name, const Capacities& indexes, storage::JsonWriter* writer) {
  if (indexes.empty()) return;
  writer->Name(name).BeginObject();
  for (const auto& [index, capacity] : std::map<std::string, v1::Capacity>(indexes.begin(), indexes.end()))
    writer->Name(index).BeginObject().Name("CapacityUnits").Real(capacity.capacity_units()).EndObject();
  writer->EndObject();
}

}  // namespace

int64_t WriteItems(std::string_view encoded_items, storage::JsonWriter* writer) {
  int64_t count = 0;
  writer->Name("Items").BeginArray();
  for (std::string_view item; wire::ConsumeContents(&encoded_items, &item); ++count) writer->Item(item);
  writer->EndArray();
  return count;
}

int64_t WriteResponses(const google::protobuf::RepeatedPtrField<wire::ItemResponse>& responses,
                       storage::JsonWriter* writer) {
  int64_t count = 0;
  writer->Name("Responses").BeginArray();
  for (const auto& response : responses) {
    writer->BeginObject();
    if (response.has_item()) {
      ++count;
      writer->Name("Item").Item(response.item());
    }
    writer->EndObject();
  }
  writer->EndArray();
  return count;
}

void WriteConsumedCapacity(const v1::ConsumedCapacity& capacity, storage::JsonWriter* writer) {
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
  if (!capacity.vector_indexes().empty()) {
    writer->Name("VectorIndexes").BeginObject();
    for (const auto& [index, bytes] : std::map<std::string, v1::VectorCapacity>(
             capacity.vector_indexes().begin(), capacity.vector_indexes().end())) {
      writer->Name(index).BeginObject();
      writer->Name("VectorWriteRequestBytes").Integer(bytes.vector_write_request_bytes()).EndObject();
    }
    writer->EndObject();
  }
  writer->EndObject();
}

void WriteConsumedCapacities(const google::protobuf::RepeatedPtrField<v1::ConsumedCapacity>& capacities,
                             storage::JsonWriter* writer) {
  if (capacities.empty()) return;
  writer->Name("ConsumedCapacity").BeginArray();
  for (const auto& capacity : capacities) WriteConsumedCapacity(capacity, writer);
  writer->EndArray();
}

void WriteItemCollectionMetrics(const wire::ItemCollectionMetrics& metrics, storage::JsonWriter* writer) {
  writer->BeginObject().Name("ItemCollectionKey").Item(metrics.item_collection_key());
  writer->Name("SizeEstimateRangeGB").BeginArray();
  for (double bound : metrics.size_estimate_range_gb()) writer->Real(bound);
  writer->EndArray().EndObject();
}

void WriteItemCollectionMetrics(
    const google::protobuf::RepeatedPtrField<wire::TableItemCollectionMetrics>& tables,
    storage::JsonWriter* writer) {
  if (tables.empty()) return;
  writer->Name("ItemCollectionMetrics").BeginObject();
  for (const auto& table : tables) {
    writer->Name(table.table_name()).BeginArray();
    for (const auto& metrics : table.item_collection_metrics()) WriteItemCollectionMetrics(metrics, writer);
    writer->EndArray();
  }
  writer->EndObject();
}

}  // namespace itemdb::http
