// Tables as JSON, in the shapes of DynamoDB's CreateTable request and DescribeTable answer.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "itemdb/table.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {

// Reads a CreateTable request exactly as it is written for AWS, without the envelope.
//
// Billing mode defaults to PROVISIONED, as there. StreamSpecification selects the images of change records;
// without one they carry keys only. Members that are unknown, or that AWS has and itemdb does not offer, are
// refused by name, as is a missing or mistyped member; whether the values make a valid table is the daemon's
// to judge. All errors are UsageErrors (tools/base/exit_codes.h).
absl::StatusOr<TableDefinition> TableDefinitionFromJson(const JsonValue& json);

// ParseJson and TableDefinitionFromJson.
absl::StatusOr<TableDefinition> ParseTableDefinition(std::string_view text);

// The members of DescribeTable's "Table" that itemdb knows, its tags, and StorageId, the table's number in
// change records.
JsonValue TableToJson(const TableDescription& table);
// The members of one of its GlobalSecondaryIndexes, with Build while it is being created and
// SkippedItemCount.
JsonValue IndexToJson(const IndexDescription& index);
// How far an index is that is being created.
JsonValue BuildToJson(const IndexBuild& build);
// [{"Key": "team", "Value": "blue"}].
JsonValue TagsToJson(const std::map<std::string, std::string>& tags);

// "HASH", "KEYS_ONLY", "PAY_PER_REQUEST", "NEW_IMAGE", "S", "ACTIVE": AWS' names, as used in both directions.
std::string_view NameOf(KeyType type);
std::string_view NameOf(ProjectionType type);
std::string_view NameOf(BillingMode mode);
std::string_view NameOf(StreamViewType type);
std::string_view NameOf(ScalarAttributeType type);
std::string_view NameOf(TableClass table_class);
std::string_view NameOf(TableStatus status);

}  // namespace itemdb::tools
