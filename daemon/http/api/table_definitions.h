// Tables as requests define them and as replies describe them.
#pragma once

#include <string>

#include "daemon/http/api/json_writer.h"
#include "daemon/http/api/request_members.h"
#include "itemdb/v1/tables.pb.h"

namespace itemdb {

// INVALID_ARGUMENT: a view type is given for a stream that is not to be.
absl::StatusOr<v1::CreateTableRequest> ReadCreateTable(const JsonObject& object);
// The same.
absl::StatusOr<v1::UpdateTableRequest> ReadUpdateTable(const JsonObject& object);

// The TableDescription of the service, an object.
void WriteTableDescription(const v1::TableDescription& table, JsonWriter* writer);

// The member KeySchema.
void WriteKeySchema(const google::protobuf::RepeatedPtrField<v1::KeySchemaElement>& schema,
                    JsonWriter* writer);

// There is one region and one account (SEM-100).
inline constexpr std::string_view kRegion = "local";
std::string TableArn(std::string_view table_name);
std::string StreamArn(std::string_view table_name, std::string_view label);

// The list `name` of tags.
void ReadTags(const JsonObject& object, google::protobuf::RepeatedPtrField<v1::Tag>* tags);

}  // namespace itemdb
