// UpdateTable: creates or deletes one index of a definition (SEM-095, SEM-096).

#include <algorithm>
#include <set>

#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/catalog/definition_checks.h"

namespace itemdb::storage {
namespace {

absl::Status OneAtATimeError() {
  return WithRule("SEM-095",
                  MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                            "Subscriber limit exceeded: Only 1 online index can be created or deleted "
                            "simultaneously per table"));
}

bool HasIndex(const v1::TableDescription& definition, const std::string& name) {
  auto is_named = [&name](const auto& index) { return index.index_name() == name; };
  return std::any_of(definition.global_secondary_indexes().begin(),
                     definition.global_secondary_indexes().end(), is_named) ||
         std::any_of(definition.local_secondary_indexes().begin(), definition.local_secondary_indexes().end(),
                     is_named) ||
         std::any_of(definition.vector_indexes().begin(), definition.vector_indexes().end(), is_named);
}

// Adds the types of the index's key attributes to `definition`. The request must give them (SEM-096). An
// attribute that is in another key of the table keeps its type (SEM-073). Attributes of no key are ignored.
template <typename Schema>
absl::Status AddAttributeTypes(const Schema& schema, const AttributeTypes& types,
                               v1::TableDescription* definition) {
  for (const auto& element : schema) {
    const std::string& name = element.attribute_name();
    const v1::ScalarAttributeType type = types.at(name);
    auto* known = definition->mutable_attribute_definitions();
    auto found = std::find_if(known->begin(), known->end(),
                              [&name](const auto& attribute) { return attribute.attribute_name() == name; });
    if (found == known->end()) {
      v1::AttributeDefinition* added = definition->add_attribute_definitions();
      added->set_attribute_name(name);
      added->set_attribute_type(type);
    } else if (found->attribute_type() != type) {
      return Invalid("SEM-073", "attribute " + name +
                                    " is a key attribute already, and AttributeDefinitions gives it another "
                                    "type than it has there");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckIsNew(const v1::TableDescription& definition, const std::string& name) {
  if (!HasIndex(definition, name)) return absl::OkStatus();
  return DetailedError("SEM-095", "Attempting to create an index which already exists", ": " + name);
}

absl::Status CheckAllIncludedAttributes(const v1::TableDescription& definition) {
  int included = 0;
  const auto add = [&included](const auto& indexes) {
    for (const auto& index : indexes) included += index.projection().non_key_attributes_size();
  };
  add(definition.global_secondary_indexes());
  add(definition.local_secondary_indexes());
  add(definition.vector_indexes());
  return CheckIncludedAttributes(definition.table_name(), included);
}

absl::Status CreateVectorIndex(const v1::UpdateTableRequest& request, v1::TableDescription* definition) {
  const v1::VectorIndex& index = request.vector_index_creations(0);
  ITEMDB_ASSIGN_OR_RETURN(const AttributeTypes types, ReadAttributeTypes(request.attribute_definitions()));
  ITEMDB_RETURN_IF_ERROR(CheckVectorIndex(index, types));
  ITEMDB_RETURN_IF_ERROR(CheckIsNew(*definition, index.index_name()));
  ITEMDB_RETURN_IF_ERROR(AddAttributeTypes(index.search_schema(), types, definition));
  AddVectorIndex(index, definition);
  v1::VectorIndexDescription* added =
      definition->mutable_vector_indexes(definition->vector_indexes_size() - 1);
  added->set_index_status(v1::TABLE_STATUS_CREATING);
  added->set_backfilling(true);
  ITEMDB_RETURN_IF_ERROR(CheckVectorIndexesTogether(*definition));
  return CheckAllIncludedAttributes(*definition);
}

absl::Status CreateIndex(const v1::UpdateTableRequest& request, v1::TableDescription* definition) {
  const v1::GlobalSecondaryIndex& index = request.global_secondary_index_creations(0);
  ITEMDB_ASSIGN_OR_RETURN(const AttributeTypes types, ReadAttributeTypes(request.attribute_definitions()));
  if (types.empty()) {
    return Invalid("SEM-096",
                   "AttributeDefinitions must have the key attributes of index " + index.index_name(),
                   "AttributeDefinitions is not specified for index: " + index.index_name());
  }
  ITEMDB_RETURN_IF_ERROR(
      CheckGlobalIndex(index, definition->billing_mode() == v1::BILLING_MODE_PROVISIONED, types));
  ITEMDB_RETURN_IF_ERROR(CheckIsNew(*definition, index.index_name()));
  ITEMDB_RETURN_IF_ERROR(AddAttributeTypes(index.key_schema(), types, definition));
  ITEMDB_RETURN_IF_ERROR(AddGlobalIndex(index, definition));
  auto* added = definition->mutable_global_secondary_indexes(definition->global_secondary_indexes_size() - 1);
  added->set_index_status(v1::TABLE_STATUS_CREATING);
  added->set_backfilling(true);

  if (definition->global_secondary_indexes_size() > kMaxGlobalSecondaryIndexes) {
    return WithRule("SEM-067",
                    MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                              "Subscriber limit exceeded: Number of global secondary indexes exceeds "
                              "per-table limit of " +
                                  std::to_string(kMaxGlobalSecondaryIndexes)));
  }
  // Attributes of keys cannot be vectors.
  ITEMDB_RETURN_IF_ERROR(CheckVectorIndexesTogether(*definition));
  return CheckAllIncludedAttributes(*definition);
}

// Deletes the types of attributes that neither a key nor a search schema uses.
void DeleteUnusedTypes(v1::TableDescription* definition) {
  std::set<std::string> used;
  auto use = [&used](const auto& schema) {
    for (const auto& element : schema) used.insert(element.attribute_name());
  };
  use(definition->key_schema());
  for (const auto& index : definition->global_secondary_indexes()) use(index.key_schema());
  for (const auto& index : definition->local_secondary_indexes()) use(index.key_schema());
  for (const auto& index : definition->vector_indexes()) use(index.search_schema());
  auto* attributes = definition->mutable_attribute_definitions();
  attributes->erase(
      std::remove_if(attributes->begin(), attributes->end(),
                     [&used](const auto& attribute) { return !used.contains(attribute.attribute_name()); }),
      attributes->end());
}

absl::Status DeleteVectorIndex(const std::string& name, v1::TableDescription* definition) {
  auto* indexes = definition->mutable_vector_indexes();
  auto found = std::find_if(indexes->begin(), indexes->end(),
                            [&name](const auto& index) { return index.index_name() == name; });
  if (found == indexes->end()) {
    return WithRule("SEM-095", NotFoundError("Requested resource not found: Index " + name + " for table " +
                                             definition->table_name()));
  }
  indexes->erase(found);
  DeleteUnusedTypes(definition);
  return absl::OkStatus();
}

absl::Status DeleteIndex(const std::string& name, v1::TableDescription* definition) {
  auto* indexes = definition->mutable_global_secondary_indexes();
  auto found = std::find_if(indexes->begin(), indexes->end(),
                            [&name](const auto& index) { return index.index_name() == name; });
  if (found == indexes->end()) {
    if (HasIndex(*definition, name)) {
      return ValidationError("SEM-095", "Cannot delete an index that is not a GlobalSecondaryIndex: " + name);
    }
    return NoIndexError(*definition, name);
  }
  indexes->erase(found);
  DeleteUnusedTypes(definition);
  return absl::OkStatus();
}

}  // namespace

absl::Status NoIndexError(const v1::TableDescription& definition, const std::string& index_name) {
  return WithServiceText(
      "Requested resource not found: Index " + index_name + " for table " + definition.table_name(),
      WithRule("SEM-095", NotFoundError("Requested resource not found: Table: " + definition.table_name() +
                                        " has no global secondary index " + index_name)));
}

absl::Status ApplyIndexChanges(const v1::UpdateTableRequest& request, v1::TableDescription* definition) {
  const auto& deletions = request.global_secondary_index_deletions();
  const auto& vector_deletions = request.vector_index_deletions();
  const int changes = request.global_secondary_index_creations_size() + deletions.size() +
                      request.vector_index_creations_size() + vector_deletions.size();
  if (changes > 1) return OneAtATimeError();
  // While one index is being created, only the deletion of that index is allowed.
  const auto blocks = [](const auto& indexes, const auto& deleted) {
    return std::any_of(indexes.begin(), indexes.end(), [&deleted](const auto& index) {
      const bool is_deleted = !deleted.empty() && deleted[0] == index.index_name();
      return index.index_status() == v1::TABLE_STATUS_CREATING && !is_deleted;
    });
  };
  if (blocks(definition->global_secondary_indexes(), deletions) ||
      blocks(definition->vector_indexes(), vector_deletions))
    return OneAtATimeError();
  if (!request.vector_index_creations().empty()) return CreateVectorIndex(request, definition);
  if (!vector_deletions.empty()) return DeleteVectorIndex(vector_deletions[0], definition);
  return deletions.empty() ? CreateIndex(request, definition) : DeleteIndex(deletions[0], definition);
}

}  // namespace itemdb::storage
