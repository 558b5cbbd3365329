// Reads table definitions from requests, and writes table descriptions into replies.
#pragma once

#include <string>

#include "daemon/http/api/json_writer.h"
#include "daemon/http/api/request_members.h"
#include "itemdb/v1/tables.pb.h"

namespace itemdb::http {

// INVALID_ARGUMENT: StreamSpecification has a StreamViewType although StreamEnabled is false.
absl::StatusOr<v1::CreateTableRequest> ReadCreateTable(const JsonObject& object);
absl::StatusOr<v1::UpdateTableRequest> ReadUpdateTable(const JsonObject& object);

// Writes the service's TableDescription, an object.
void WriteTableDescription(const v1::TableDescription& table, JsonWriter* writer);
// The service's description in the reply of DeleteTable, which is without keys, indexes and settings.
void WriteDeletedTable(const v1::TableDescription& table, JsonWriter* writer);

// Writes the member KeySchema.
void WriteKeySchema(const google::protobuf::RepeatedPtrField<v1::KeySchemaElement>& schema,
                    JsonWriter* writer);

// All ARNs have this region and one account id (SEM-100).
inline constexpr std::string_view kRegion = "local";
std::string TableArn(std::string_view table_name);
std::string StreamArn(std::string_view table_name, std::string_view label);

// Reads the member Tags, a list.
void ReadTags(const JsonObject& object, google::protobuf::RepeatedPtrField<v1::Tag>* tags);

}  // namespace itemdb::http
