// DefinitionFromRequest: what CreateTable accepts.

#include <algorithm>
#include <map>
#include <set>

#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/catalog/definition_checks.h"

namespace itemdb::storage {
namespace {

// The most units that a ProvisionedThroughput may have (SEM-093).
constexpr int64_t kMaxCapacityUnits = 1'000'000'000'000;

template <typename Names>
std::string Bracketed(const Names& names) {
  std::string text = "[";
  for (const std::string& name : names) text += (text.size() > 1 ? ", " : "") + name;
  return text + "]";
}

// Partition before sort attributes; none is named twice; all are defined (SEM-077 to SEM-079).
// `of_table`: the schema is that of the table itself, for which the service has other texts.
absl::Status CheckKeySchema(const std::string& owner, const KeySchema& schema, int max_partition,
                            int max_sort, const AttributeTypes& types, bool of_table) {
  if (schema.empty()) {
    return WithServiceText(
        "1 validation error detected: Value null at 'keySchema' failed to satisfy constraint: Member must "
        "not "
        "be null",
        Invalid("SEM-093", "the KeySchema of " + owner + " is empty; it needs a HASH key attribute"));
  }
  int partition = 0;
  int sort = 0;
  std::set<std::string> seen;
  for (const auto& element : schema) {
    ITEMDB_RETURN_IF_ERROR(CheckAttributeName(element.attribute_name()));
    if (element.key_type() == v1::KEY_TYPE_HASH) {
      if (sort > 0)
        return DetailedError("SEM-078",
                             "All HASH key attributes must precede RANGE key attributes in the KeySchema",
                             " of " + owner);
      ++partition;
    } else if (element.key_type() == v1::KEY_TYPE_RANGE) {
      if (partition == 0)
        return ValidationError("SEM-078",
                               "Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
      ++sort;
    } else {
      return Invalid("SEM-093", "KeyType of " + element.attribute_name() + " in the KeySchema of " + owner +
                                    " must be HASH or RANGE");
    }
    if (!seen.insert(element.attribute_name()).second) {
      return WithServiceText(
          "Both the Hash Key and the Range Key element in the KeySchema have the same name",
          Invalid("SEM-079",
                  "attribute " + element.attribute_name() + " appears twice in the KeySchema of " + owner));
    }
    if (!types.contains(element.attribute_name())) {
      std::vector<std::string> keys, defined;
      for (const auto& key : schema) keys.push_back(key.attribute_name());
      for (const auto& [name, type] : types) defined.push_back(name);
      absl::Status error =
          Invalid("SEM-079", "Some index key attributes are not defined in AttributeDefinitions. Keys: " +
                                 Bracketed(keys) + ", AttributeDefinitions: " + Bracketed(defined));
      if (!of_table) return error;
      return WithServiceText("Invalid KeySchema: Some index key attribute have no definition",
                             std::move(error));
    }
  }
  if (partition > max_partition || sort > max_sort) {
    const std::string kind = partition > max_partition ? "HASH" : "RANGE";
    return WithServiceText(
        max_partition == 1
            ? "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"
            : "The KeySchema exceeds the maximum allowed number of " + kind + " key attributes",
        ValidationError("SEM-077",
                        "The KeySchema exceeds the maximum allowed number of HASH/RANGE key "
                        "attributes: " +
                            owner + " may have " + std::to_string(max_partition) + " HASH and " +
                            std::to_string(max_sort) + " RANGE"));
  }
  return absl::OkStatus();
}

// Checks that global and local indexes share.
template <typename Index>
absl::Status CheckIndex(const Index& index, int max_partition, int max_sort, const AttributeTypes& types) {
  ITEMDB_RETURN_IF_ERROR(CheckName("IndexName", index.index_name()));
  const std::string owner = "index " + index.index_name();
  ITEMDB_RETURN_IF_ERROR(CheckKeySchema(owner, index.key_schema(), max_partition, max_sort, types,
                                        /*of_table=*/false));
  return CheckProjection(owner, index.projection());
}

// A local index has the table's partition key and a sort key (SEM-091). The schema is already known to be one
// HASH attribute and at most one RANGE attribute.
absl::Status CheckLocalKeySchema(const v1::LocalSecondaryIndex& index, const KeySchema& table_schema) {
  if (index.key_schema_size() != 2) {
    return Invalid("SEM-091", "Index KeySchema does not have a range key for index: " + index.index_name());
  }
  const std::string& own = index.key_schema(0).attribute_name();
  const std::string& tables = table_schema[0].attribute_name();
  if (own != tables) {
    return Invalid("SEM-091",
                   "Index KeySchema does not have the same leading hash key as table KeySchema for index: " +
                       index.index_name() + ". index hash key: " + own + ", table hash key: " + tables);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Invalid(std::string_view rule, const std::string& message) {
  return ValidationError(rule, "One or more parameter values were invalid: " + message);
}

absl::Status Invalid(std::string_view rule, const std::string& message, std::string_view service_text) {
  return WithServiceText("One or more parameter values were invalid: " + std::string(service_text),
                         Invalid(rule, message));
}

absl::Status CheckAttributeName(const std::string& name) {
  if (name.empty() || name.size() > kMaxKeyAttributeNameBytes) {
    return Invalid("SEM-009", "an attribute name in a key or projection must be 1 to " +
                                  std::to_string(kMaxKeyAttributeNameBytes) + " bytes long, this one has " +
                                  std::to_string(name.size()));
  }
  return absl::OkStatus();
}

absl::Status CheckProjection(const std::string& owner, const v1::Projection& projection) {
  const auto& names = projection.non_key_attributes();
  switch (projection.projection_type()) {
    case v1::PROJECTION_TYPE_KEYS_ONLY:
    case v1::PROJECTION_TYPE_ALL:
      if (!names.empty()) {
        const std::string type =
            projection.projection_type() == v1::PROJECTION_TYPE_ALL ? "ALL" : "KEYS_ONLY";
        return Invalid("SEM-068",
                       "ProjectionType of " + owner + " is " + type + ", but NonKeyAttributes is specified",
                       "ProjectionType is " + type + ", but NonKeyAttributes is specified");
      }
      return absl::OkStatus();
    case v1::PROJECTION_TYPE_INCLUDE: {
      if (names.empty())
        return Invalid("SEM-068",
                       "ProjectionType of " + owner + " is INCLUDE, but NonKeyAttributes is not specified",
                       "ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
      if (names.size() > kMaxNonKeyAttributes) {
        return Invalid("SEM-068", owner + " has " + std::to_string(names.size()) +
                                      " NonKeyAttributes; at most " + std::to_string(kMaxNonKeyAttributes) +
                                      " are allowed");
      }
      std::set<std::string> seen;
      for (const std::string& name : names) {
        ITEMDB_RETURN_IF_ERROR(CheckAttributeName(name));
        if (!seen.insert(name).second)
          return Invalid("SEM-068", "NonKeyAttributes of " + owner + " names " + name + " twice",
                         "Duplicate element in NonKeyAttributes: " + name);
      }
      return absl::OkStatus();
    }
    default:
      return Invalid("SEM-068", "ProjectionType of " + owner + " must be KEYS_ONLY, INCLUDE or ALL",
                     "Unknown ProjectionType: null");
  }
}

absl::Status CheckThroughput(const std::string& owner, bool provisioned, bool given,
                             const v1::ProvisionedThroughput& throughput) {
  if (!provisioned) {
    if (given)
      return Invalid(
          "SEM-093",
          "ProvisionedThroughput of " + owner + " must not be given when BillingMode is PAY_PER_REQUEST",
          kThroughputNotAllowed);
    return absl::OkStatus();
  }
  if (!given) {
    constexpr std::string_view kIndex = "index ";
    const bool of_index = owner.starts_with(kIndex);
    return Invalid("SEM-093",
                   "ProvisionedThroughput of " + owner +
                       " must be given when BillingMode is PROVISIONED (the default); use "
                       "PAY_PER_REQUEST to leave it out",
                   of_index
                       ? "ProvisionedThroughput is not specified for index: " + owner.substr(kIndex.size())
                       : "ReadCapacityUnits and WriteCapacityUnits must both be specified when "
                         "BillingMode is PROVISIONED");
  }
  if (throughput.read_capacity_units() < 1 || throughput.write_capacity_units() < 1) {
    return Invalid("SEM-093", "ReadCapacityUnits and WriteCapacityUnits of " + owner + " must be at least 1");
  }
  for (const auto& [name, units] : {std::pair("ReadCapacityUnits", throughput.read_capacity_units()),
                                    std::pair("WriteCapacityUnits", throughput.write_capacity_units())}) {
    if (units <= kMaxCapacityUnits) continue;
    return DetailedError("SEM-093",
                         "Given value " + std::to_string(units) + " for " + name + " is out of bounds",
                         " for " + owner + "; at most " + std::to_string(kMaxCapacityUnits) + " are allowed");
  }
  return absl::OkStatus();
}

absl::Status CheckName(std::string_view parameter, std::string_view name) {
  bool legal = name.size() >= kMinTableNameBytes && name.size() <= kMaxTableNameBytes &&
               std::all_of(name.begin(), name.end(), [](char c) {
                 return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                        c == '_' || c == '.' || c == '-';
               });
  if (legal) return absl::OkStatus();
  std::string shown(name.substr(0, kMaxTableNameBytes));
  return ValidationError(
      "SEM-008", std::string(parameter) + " '" + shown +
                     "' is invalid: it must be 3 to 255 characters of a-z, A-Z, 0-9, '_', '.' and '-'");
}

absl::StatusOr<AttributeTypes> ReadAttributeTypes(
    const google::protobuf::RepeatedPtrField<v1::AttributeDefinition>& definitions) {
  AttributeTypes types;
  for (const auto& attribute : definitions) {
    ITEMDB_RETURN_IF_ERROR(CheckAttributeName(attribute.attribute_name()));
    if (attribute.attribute_type() < v1::SCALAR_ATTRIBUTE_TYPE_S ||
        attribute.attribute_type() > v1::SCALAR_ATTRIBUTE_TYPE_B) {
      return Invalid("SEM-079", "AttributeType of " + attribute.attribute_name() + " must be S, N or B");
    }
    if (!types.emplace(attribute.attribute_name(), attribute.attribute_type()).second) {
      return Invalid("SEM-073", "AttributeDefinitions names " + attribute.attribute_name() + " twice",
                     "Attribute Name is duplicated: " + attribute.attribute_name());
    }
  }
  return types;
}

absl::Status CheckGlobalIndex(const v1::GlobalSecondaryIndex& index, bool provisioned,
                              const AttributeTypes& types) {
  ITEMDB_RETURN_IF_ERROR(CheckIndex(index, kMaxIndexPartitionAttributes, kMaxIndexSortAttributes, types));
  return CheckThroughput("index " + index.index_name(), provisioned, index.has_provisioned_throughput(),
                         index.provisioned_throughput());
}

absl::Status CheckGlobalIndexCount(const std::string& table_name, int indexes) {
  if (indexes <= kMaxGlobalSecondaryIndexes) return absl::OkStatus();
  return Invalid("SEM-067",
                 "table " + table_name + " has " + std::to_string(indexes) +
                     " global secondary indexes; at most " + std::to_string(kMaxGlobalSecondaryIndexes) +
                     " are allowed",
                 "GlobalSecondaryIndex count exceeds the per-table limit of " +
                     std::to_string(kMaxGlobalSecondaryIndexes));
}

absl::Status CheckIncludedAttributes(const std::string& table_name, int included) {
  if (included <= kMaxNonKeyAttributesPerTable) return absl::OkStatus();
  return Invalid("SEM-068", "the indexes of table " + table_name + " have " + std::to_string(included) +
                                " NonKeyAttributes together; at most " +
                                std::to_string(kMaxNonKeyAttributesPerTable) + " are allowed");
}

absl::Status AddGlobalIndex(const v1::GlobalSecondaryIndex& index, v1::TableDescription* definition) {
  auto* description = definition->add_global_secondary_indexes();
  description->set_index_name(index.index_name());
  description->set_index_status(v1::TABLE_STATUS_ACTIVE);
  *description->mutable_key_schema() = index.key_schema();
  *description->mutable_projection() = index.projection();
  if (index.has_provisioned_throughput())
    *description->mutable_provisioned_throughput() = index.provisioned_throughput();
  RaiseWarmThroughput(definition->billing_mode() == v1::BILLING_MODE_PROVISIONED, description);
  return ApplySettings(index, description);
}

absl::StatusOr<v1::TableDescription> DefinitionFromRequest(const v1::CreateTableRequest& request) {
  ITEMDB_RETURN_IF_ERROR(CheckName("TableName", request.table_name()));
  ITEMDB_ASSIGN_OR_RETURN(const AttributeTypes types, ReadAttributeTypes(request.attribute_definitions()));
  ITEMDB_RETURN_IF_ERROR(CheckKeySchema("table " + request.table_name(), request.key_schema(), 1, 1, types,
                                        /*of_table=*/true));

  bool provisioned = request.billing_mode() != v1::BILLING_MODE_PAY_PER_REQUEST;
  if (request.billing_mode() < v1::BILLING_MODE_UNSPECIFIED ||
      request.billing_mode() > v1::BILLING_MODE_PAY_PER_REQUEST) {
    return Invalid("SEM-093", "BillingMode must be PROVISIONED or PAY_PER_REQUEST");
  }
  ITEMDB_RETURN_IF_ERROR(CheckThroughput("table " + request.table_name(), provisioned,
                                         request.has_provisioned_throughput(),
                                         request.provisioned_throughput()));
  if (!v1::StreamViewType_IsValid(request.stream_view_type())) {
    return Invalid("SEM-101", "StreamViewType must be KEYS_ONLY, NEW_IMAGE, OLD_IMAGE or NEW_AND_OLD_IMAGES");
  }
  if (request.stream_enabled() && request.stream_view_type() == v1::STREAM_VIEW_TYPE_UNSPECIFIED)
    return Invalid("SEM-098", "StreamViewType must be given when StreamEnabled is true");

  ITEMDB_RETURN_IF_ERROR(
      CheckGlobalIndexCount(request.table_name(), request.global_secondary_indexes_size()));
  if (request.local_secondary_indexes_size() > kMaxLocalSecondaryIndexes) {
    return Invalid(
        "SEM-067",
        "table " + request.table_name() + " has " + std::to_string(request.local_secondary_indexes_size()) +
            " local secondary indexes; at most " + std::to_string(kMaxLocalSecondaryIndexes) + " are allowed",
        "Number of LocalSecondaryIndexes exceeds per-table limit of " +
            std::to_string(kMaxLocalSecondaryIndexes));
  }
  if (!request.local_secondary_indexes().empty() && request.key_schema_size() != 2) {
    return Invalid(
        "SEM-091",
        "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex");
  }
  std::set<std::string> index_names;
  std::set<std::string> used;
  int included = 0;
  for (const auto& element : request.key_schema()) used.insert(element.attribute_name());
  auto add_index = [&](const auto& index) {
    if (!index_names.insert(index.index_name()).second)
      return Invalid("SEM-067", "Duplicate index name: " + index.index_name());
    for (const auto& element : index.key_schema()) used.insert(element.attribute_name());
    included += index.projection().non_key_attributes_size();
    return absl::OkStatus();
  };
  for (const auto& index : request.global_secondary_indexes()) {
    ITEMDB_RETURN_IF_ERROR(CheckGlobalIndex(index, provisioned, types));
    ITEMDB_RETURN_IF_ERROR(add_index(index));
  }
  for (const auto& index : request.local_secondary_indexes()) {
    ITEMDB_RETURN_IF_ERROR(CheckIndex(index, 1, 1, types));
    ITEMDB_RETURN_IF_ERROR(CheckLocalKeySchema(index, request.key_schema()));
    ITEMDB_RETURN_IF_ERROR(add_index(index));
  }
  for (const auto& index : request.vector_indexes()) {
    ITEMDB_RETURN_IF_ERROR(CheckVectorIndex(index, types));
    if (!index_names.insert(index.index_name()).second)
      return Invalid("SEM-067", "Duplicate index name: " + index.index_name());
    for (const auto& element : index.search_schema()) used.insert(element.attribute_name());
    included += index.projection().non_key_attributes_size();
  }
  ITEMDB_RETURN_IF_ERROR(CheckIncludedAttributes(request.table_name(), included));
  if (used.size() != types.size()) {
    std::vector<std::string> defined;
    for (const auto& [name, type] : types) defined.push_back(name);
    const std::string message =
        "Some AttributeDefinitions are not used. AttributeDefinitions: " + Bracketed(defined) +
        ", keys used: " + Bracketed(used);
    if (!index_names.empty()) return Invalid("SEM-093", message);
    return Invalid("SEM-093", message,
                   "Number of attributes in KeySchema does not exactly match number of attributes defined in "
                   "AttributeDefinitions");
  }

  v1::TableDescription definition;
  definition.set_table_name(request.table_name());
  definition.set_table_status(v1::TABLE_STATUS_ACTIVE);
  *definition.mutable_attribute_definitions() = request.attribute_definitions();
  *definition.mutable_key_schema() = request.key_schema();
  definition.set_billing_mode(provisioned ? v1::BILLING_MODE_PROVISIONED : v1::BILLING_MODE_PAY_PER_REQUEST);
  if (provisioned) *definition.mutable_provisioned_throughput() = request.provisioned_throughput();
  definition.set_stream_view_type(request.stream_view_type() == v1::STREAM_VIEW_TYPE_UNSPECIFIED
                                      ? v1::STREAM_VIEW_TYPE_KEYS_ONLY
                                      : request.stream_view_type());
  definition.set_stream_enabled(request.stream_enabled());
  definition.set_deletion_protection_enabled(request.deletion_protection_enabled());
  ITEMDB_RETURN_IF_ERROR(ApplySettings(request, &definition));
  if (!request.tags().empty()) {
    v1::TagTableRequest tags;
    *tags.mutable_tags() = request.tags();
    ITEMDB_ASSIGN_OR_RETURN(definition, TaggedDefinition(std::move(definition), tags));
  }
  for (const auto& index : request.global_secondary_indexes())
    ITEMDB_RETURN_IF_ERROR(AddGlobalIndex(index, &definition));
  for (const auto& index : request.local_secondary_indexes()) {
    auto* description = definition.add_local_secondary_indexes();
    description->set_index_name(index.index_name());
    *description->mutable_key_schema() = index.key_schema();
    *description->mutable_projection() = index.projection();
  }
  for (const auto& index : request.vector_indexes()) AddVectorIndex(index, &definition);
  ITEMDB_RETURN_IF_ERROR(CheckVectorIndexesTogether(definition));
  return definition;
}

}  // namespace itemdb::storage
