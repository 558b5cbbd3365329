// Writes members that several replies have.
#pragma once

#include <google/protobuf/repeated_ptr_field.h>

#include "itemdb/wire/data.pb.h"
#include "storage/json/json_writer.h"

namespace itemdb::http {

// Writes the member "Items" from items encoded one after another, as a repeated field. Returns their number.
int64_t WriteItems(std::string_view encoded_items, storage::JsonWriter* writer);

// Writes "Responses" of a transaction that reads: {} for a missing item. Returns the number of items found.
int64_t WriteResponses(const google::protobuf::RepeatedPtrField<wire::ItemResponse>& responses,
                       storage::JsonWriter* writer);

// Writes the consumed capacity of one table as an object (SEM-061).
void WriteConsumedCapacity(const v1::ConsumedCapacity& capacity, storage::JsonWriter* writer);
// Writes the member "ConsumedCapacity" of several tables; writes nothing for an empty list.
void WriteConsumedCapacities(const google::protobuf::RepeatedPtrField<v1::ConsumedCapacity>& capacities,
                             storage::JsonWriter* writer);

// Writes the size of one item collection as an object (SEM-066); writes the member "ItemCollectionMetrics" of
// several tables, or nothing for an empty list.
void WriteItemCollectionMetrics(const wire::ItemCollectionMetrics& metrics, storage::JsonWriter* writer);
void WriteItemCollectionMetrics(
    const google::protobuf::RepeatedPtrField<wire::TableItemCollectionMetrics>& tables,
    storage::JsonWriter* writer);

}  // namespace itemdb::http
