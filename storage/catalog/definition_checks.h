// Checks shared by CreateTable and UpdateTable. Only the .cc files of this folder include this header.
#pragma once

#include <map>
#include <string>

#include "storage/catalog/table.h"

namespace itemdb::storage {

// "One or more parameter values were invalid: <message>", with the id of the broken rule.
absl::Status Invalid(std::string_view rule, const std::string& message);
// The same, with the service text "One or more parameter values were invalid: <service_text>".
absl::Status Invalid(std::string_view rule, const std::string& message, std::string_view service_text);

using KeySchema = google::protobuf::RepeatedPtrField<v1::KeySchemaElement>;
using AttributeTypes = std::map<std::string, v1::ScalarAttributeType>;

// An attribute that a key, projection or search schema names has 1 to 255 bytes (SEM-009).
absl::Status CheckAttributeName(const std::string& name);
// NonKeyAttributes: only for INCLUDE, 1 to 20, no name twice (SEM-068).
absl::Status CheckProjection(const std::string& owner, const v1::Projection& projection);

// Reads AttributeDefinitions: name, type S, N or B, no name twice (SEM-073, SEM-079).
absl::StatusOr<AttributeTypes> ReadAttributeTypes(
    const google::protobuf::RepeatedPtrField<v1::AttributeDefinition>& definitions);
// Checks one global index by itself, without the other indexes of its table.
absl::Status CheckGlobalIndex(const v1::GlobalSecondaryIndex& index, bool provisioned,
                              const AttributeTypes& types);
// Check the bounds over all indexes of a table (SEM-067, SEM-068).
absl::Status CheckGlobalIndexCount(const std::string& table_name, int indexes);
absl::Status CheckIncludedAttributes(const std::string& table_name, int included);
// Adds the index to `definition` as ACTIVE.
absl::Status AddGlobalIndex(const v1::GlobalSecondaryIndex& index, v1::TableDescription* definition);

// Checks one vector index by itself, without the table that it is for (VEC-01 to VEC-03).
absl::Status CheckVectorIndex(const v1::VectorIndex& index, const AttributeTypes& types);
// Adds the index to `definition` as ACTIVE.
void AddVectorIndex(const v1::VectorIndex& index, v1::TableDescription* definition);
// Checks the vector indexes of a table beside each other and the other parts of its definition (VEC-03).
absl::Status CheckVectorIndexesTogether(const v1::TableDescription& definition);

// Checks that `throughput` is given exactly when the billing mode is PROVISIONED (SEM-093). `owner` names the
// table or index in messages, "table NAME" or "index NAME"; `given` tells whether the request has
// `throughput`.
absl::Status CheckThroughput(const std::string& owner, bool provisioned, bool given,
                             const v1::ProvisionedThroughput& throughput);

// The service's text for a throughput that may not be given, without its beginning.
inline constexpr std::string_view kThroughputNotAllowed =
    "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST";

// Copy the settings without effect (definition_settings.cc) from a request into `definition`.
absl::Status ApplySettings(const v1::CreateTableRequest& request, v1::TableDescription* definition);
absl::Status ApplySettings(const v1::UpdateTableRequest& request, v1::TableDescription* definition);
// The same for an index.
absl::Status ApplySettings(const v1::GlobalSecondaryIndex& request,
                           v1::GlobalSecondaryIndexDescription* index);
absl::Status ApplySettings(const v1::GlobalSecondaryIndexThroughput& request,
                           v1::GlobalSecondaryIndexDescription* index);

// The same for one index of a table with the billing mode PROVISIONED or, if not `provisioned`, on demand.
void RaiseWarmThroughput(bool provisioned, v1::GlobalSecondaryIndexDescription* index);

// The table has no global index of this name.
absl::Status NoIndexError(const v1::TableDescription& definition, const std::string& index_name);
// Applies UpdateTable's creation or deletion of an index to `definition` (SEM-095, SEM-096).
absl::Status ApplyIndexChanges(const v1::UpdateTableRequest& request, v1::TableDescription* definition);

}  // namespace itemdb::storage
