// Reads tables from JSON in the format of DynamoDB's CreateTable request, and writes them in the format of
// its DescribeTable answer.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "itemdb/table.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {

// Reads a CreateTable request as it is written for AWS: the body of the request. Also reads what
// DescribeTable returns and `itemctl table describe -o json` prints, as the request that creates the same
// table.
//
// As in AWS, the billing mode defaults to PROVISIONED. StreamSpecification selects the images in change
// records; without it change records have keys only. Refused, with the member's name: a member that is
// unknown, that itemdb does not support, that is missing or that has the wrong kind. The daemon checks
// whether the values make a valid table. All errors are UsageErrors (tools/base/exit_codes.h).
absl::StatusOr<TableDefinition> TableDefinitionFromJson(const JsonValue& json);

// ParseJson and TableDefinitionFromJson.
absl::StatusOr<TableDefinition> ParseTableDefinition(std::string_view text);

// The members of DescribeTable's "Table" that itemdb has, the table's tags, and StorageId, the table's number
// in change records.
JsonValue TableToJson(const TableDescription& table);
// One element of GlobalSecondaryIndexes, with SkippedItemCount and, while the index is being created, Build.
JsonValue IndexToJson(const IndexDescription& index);
JsonValue VectorIndexToJson(const VectorIndexDescription& index);
// The progress of an index that is being created.
JsonValue BuildToJson(const IndexBuild& build);
// [{"Key": "team", "Value": "blue"}].
JsonValue TagsToJson(const std::map<std::string, std::string>& tags);

// AWS's names, which are read and written: "HASH", "KEYS_ONLY", "PAY_PER_REQUEST", "NEW_IMAGE", "S",
// "ACTIVE".
std::string_view NameOf(KeyType type);
std::string_view NameOf(ProjectionType type);
std::string_view NameOf(BillingMode mode);
std::string_view NameOf(StreamViewType type);
std::string_view NameOf(ScalarAttributeType type);
std::string_view NameOf(TableClass table_class);
std::string_view NameOf(TableStatus status);

}  // namespace itemdb::tools
