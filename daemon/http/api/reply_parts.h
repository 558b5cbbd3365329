// Parts that several replies have.
#pragma once

#include <google/protobuf/repeated_ptr_field.h>

#include "daemon/http/api/json_writer.h"
#include "itemdb/wire/data.pb.h"

namespace itemdb {

// The member "Items", of items encoded one after another as a repeated field. Returns how many they are.
int64_t WriteItems(std::string_view encoded_items, JsonWriter* writer);

// The member "Responses" of a transaction that reads: an empty object for an item that is not there. Returns
// how many are.
int64_t WriteResponses(const google::protobuf::RepeatedPtrField<wire::ItemResponse>& responses,
                       JsonWriter* writer);

// The capacity of one table as an object (SEM-061).
void WriteConsumedCapacity(const v1::ConsumedCapacity& capacity, JsonWriter* writer);
// The member "ConsumedCapacity" of several tables; nothing when there is none.
void WriteConsumedCapacities(const google::protobuf::RepeatedPtrField<v1::ConsumedCapacity>& capacities,
                             JsonWriter* writer);

// An object of SEM-066, and the member "ItemCollectionMetrics" of several tables; nothing when it is empty.
void WriteItemCollectionMetrics(const wire::ItemCollectionMetrics& metrics, JsonWriter* writer);
void WriteItemCollectionMetrics(
    const google::protobuf::RepeatedPtrField<wire::TableItemCollectionMetrics>& tables, JsonWriter* writer);

}  // namespace itemdb
