// Reads table definitions from requests, and writes table descriptions into replies.
#pragma once

#include <string>

#include "daemon/http/api/request_members.h"
#include "itemdb/v1/backups.pb.h"
#include "storage/base/table_arn.h"
#include "storage/json/json_writer.h"

namespace itemdb::http {

// INVALID_ARGUMENT: StreamSpecification has a StreamViewType although StreamEnabled is false.
absl::StatusOr<v1::CreateTableRequest> ReadCreateTable(const JsonObject& object);
absl::StatusOr<v1::UpdateTableRequest> ReadUpdateTable(const JsonObject& object);

// Reads the members with which RestoreTableFromBackup overrides settings of the backup.
void ReadRestoreOverrides(const JsonObject& object, v1::RestoreOverrides* overrides);

// Writes the service's TableDescription, an object.
void WriteTableDescription(const v1::TableDescription& table, storage::JsonWriter* writer);
// The service's description in the reply of DeleteTable, which is without keys, indexes and settings.
void WriteDeletedTable(const v1::TableDescription& table, storage::JsonWriter* writer);

// Parts of descriptions, which those of backups and imports have too. Each writes one member; those that take
// a table or index only if it has it.
void WriteKeySchema(const google::protobuf::RepeatedPtrField<v1::KeySchemaElement>& schema,
                    storage::JsonWriter* writer);
void WriteProjection(const v1::Projection& projection, storage::JsonWriter* writer);
// The members of a vector index's definition.
void WriteVectorIndex(const v1::VectorIndex& index, storage::JsonWriter* writer);
void WriteVectorIndex(const v1::VectorIndexDescription& index, storage::JsonWriter* writer);
// ProvisionedThroughput without its history: zeros if there is none.
void WriteUnits(const v1::ProvisionedThroughput& throughput, storage::JsonWriter* writer);
void WriteOnDemandThroughput(const v1::OnDemandThroughput& throughput, storage::JsonWriter* writer);
void WriteOnDemandThroughput(const v1::TableDescription& table, storage::JsonWriter* writer);
void WriteOnDemandThroughput(const v1::GlobalSecondaryIndexDescription& index, storage::JsonWriter* writer);
void WriteEncryption(const v1::TableDescription& table, storage::JsonWriter* writer);
void WriteStreamSpecification(const v1::TableDescription& table, std::string_view name,
                              storage::JsonWriter* writer);

// All ARNs have this region and one account id (SEM-100).
using storage::kRegion;
using storage::TableArn;
std::string StreamArn(std::string_view table_name, std::string_view label);

// Reads the member Tags, a list.
void ReadTags(const JsonObject& object, google::protobuf::RepeatedPtrField<v1::Tag>* tags);

}  // namespace itemdb::http
