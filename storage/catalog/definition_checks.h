// Checks that creating and updating a table share. Used by the .cc files of this folder only.
#pragma once

#include <map>
#include <string>

#include "storage/catalog/table.h"

namespace itemdb {

// "One or more parameter values were invalid: <message>", for breaking `rule`.
absl::Status Invalid(std::string_view rule, const std::string& message);

using KeySchema = google::protobuf::RepeatedPtrField<v1::KeySchemaElement>;
using AttributeTypes = std::map<std::string, v1::ScalarAttributeType>;

// What a request defines its attributes as (SEM-073, SEM-079).
absl::StatusOr<AttributeTypes> ReadAttributeTypes(
    const google::protobuf::RepeatedPtrField<v1::AttributeDefinition>& definitions);
// What one global index is held to by itself.
absl::Status CheckGlobalIndex(const v1::GlobalSecondaryIndex& index, bool provisioned,
                              const AttributeTypes& types);
// Bounds over all indexes of a table (SEM-067, SEM-068).
absl::Status CheckGlobalIndexCount(const std::string& table_name, int indexes);
absl::Status CheckIncludedAttributes(const std::string& table_name, int included);
// The index as a part of `definition`, ACTIVE.
absl::Status AddGlobalIndex(const v1::GlobalSecondaryIndex& index, v1::TableDescription* definition);

// SEM-093: what the billing mode asks for. `owner` names the table or index in messages; `given` is whether
// the request has `throughput`.
absl::Status CheckThroughput(const std::string& owner, bool provisioned, bool given,
                             const v1::ProvisionedThroughput& throughput);

// What a request says of the settings without effect (definition_settings.cc), into `definition`.
absl::Status ApplySettings(const v1::CreateTableRequest& request, v1::TableDescription* definition);
absl::Status ApplySettings(const v1::UpdateTableRequest& request, v1::TableDescription* definition);
// The same of an index.
absl::Status ApplySettings(const v1::GlobalSecondaryIndex& request,
                           v1::GlobalSecondaryIndexDescription* index);
absl::Status ApplySettings(const v1::GlobalSecondaryIndexThroughput& request,
                           v1::GlobalSecondaryIndexDescription* index);

// UpdateTable's index to create and index to delete (SEM-095, SEM-096), into `definition`.
absl::Status ApplyIndexChanges(const v1::UpdateTableRequest& request, v1::TableDescription* definition);

}  // namespace itemdb
