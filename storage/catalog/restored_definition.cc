#include "storage/catalog/restored_definition.h"

#include <algorithm>
#include <set>

#include "storage/base/limits.h"
#include "storage/catalog/definition_checks.h"

namespace itemdb::storage {
namespace {

bool IsSame(const KeySchema& a, const KeySchema& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.attribute_name() == other.attribute_name() && one.key_type() == other.key_type();
  });
}

bool IsSame(const v1::Projection& a, const v1::Projection& b) {
  const auto names = [](const v1::Projection& projection) {
    return std::set<std::string>(projection.non_key_attributes().begin(),
                                 projection.non_key_attributes().end());
  };
  return a.projection_type() == b.projection_type() && names(a) == names(b);
}

absl::Status NotOfSourceError(const std::string& index_name) {
  return ValidationError("PIT-16",
                         "Index " + index_name.substr(0, kMaxTableNameBytes) +
                             " does not match a secondary index that existed in the source table and cannot "
                             "be created during the restore operation");
}

// An index of the request must be one of the source, but for its name (PIT-16).
template <typename Index, typename SourceIndexes>
absl::Status CheckIsOfSource(const Index& index, const SourceIndexes& of_source) {
  const bool found = std::any_of(of_source.begin(), of_source.end(), [&](const auto& one) {
    return IsSame(index.key_schema(), one.key_schema()) && IsSame(index.projection(), one.projection());
  });
  if (found) return CheckName("IndexName", index.index_name());
  return NotOfSourceError(index.index_name());
}

absl::Status CheckBilling(bool provisioned, const v1::RestoreOverrides& overrides) {
  if (!v1::BillingMode_IsValid(overrides.billing_mode()))
    return Invalid("SEM-093", "BillingMode must be PROVISIONED or PAY_PER_REQUEST");
  if (overrides.has_provisioned_throughput() && !provisioned) {
    return ValidationError("PIT-15",
                           "Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED");
  }
  if (overrides.billing_mode() == v1::BILLING_MODE_PROVISIONED && !overrides.has_provisioned_throughput()) {
    return ValidationError("PIT-15",
                           "Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED");
  }
  const v1::OnDemandThroughput& on_demand = overrides.on_demand_throughput();
  for (const bool reads : {true, false}) {
    const bool given =
        reads ? on_demand.has_max_read_request_units() : on_demand.has_max_write_request_units();
    if (!given || overrides.billing_mode() == v1::BILLING_MODE_PAY_PER_REQUEST) continue;
    return ValidationError("PIT-15", std::string("Cannot override ") +
                                         (reads ? "MaxReadRequestUnits" : "MaxWriteRequestUnits") +
                                         " for OnDemandThroughput unless BillingModeOverride is "
                                         "PAY_PER_REQUEST");
  }
  return absl::OkStatus();
}

absl::Status AddGlobalIndexes(const v1::TableDescription& source, const v1::RestoreOverrides& overrides,
                              bool provisioned, const AttributeTypes& types,
                              v1::TableDescription* definition) {
  const auto check_throughput = [&](const std::string& name, bool given) {
    if (given || !provisioned) return absl::OkStatus();
    return ValidationError("PIT-16", "Must specify provisioned throughput for index " + name);
  };
  if (!overrides.has_global_secondary_indexes()) {
    for (const auto& of_source : source.global_secondary_indexes()) {
      ITEMDB_RETURN_IF_ERROR(
          check_throughput(of_source.index_name(), of_source.has_provisioned_throughput()));
      auto* index = definition->add_global_secondary_indexes();
      index->set_index_name(of_source.index_name());
      index->set_index_status(v1::TABLE_STATUS_ACTIVE);
      *index->mutable_key_schema() = of_source.key_schema();
      *index->mutable_projection() = of_source.projection();
      if (provisioned) *index->mutable_provisioned_throughput() = of_source.provisioned_throughput();
      if (!provisioned && of_source.has_on_demand_throughput())
        *index->mutable_on_demand_throughput() = of_source.on_demand_throughput();
    }
    return absl::OkStatus();
  }
  const auto& indexes = overrides.global_secondary_indexes().indexes();
  ITEMDB_RETURN_IF_ERROR(CheckGlobalIndexCount(definition->table_name(), indexes.size()));
  for (const v1::GlobalSecondaryIndex& index : indexes) {
    ITEMDB_RETURN_IF_ERROR(CheckIsOfSource(index, source.global_secondary_indexes()));
    ITEMDB_RETURN_IF_ERROR(check_throughput(index.index_name(), index.has_provisioned_throughput()));
    ITEMDB_RETURN_IF_ERROR(CheckGlobalIndex(index, provisioned, types));
    ITEMDB_RETURN_IF_ERROR(AddGlobalIndex(index, definition));
  }
  return absl::OkStatus();
}

absl::Status AddLocalIndexes(const v1::TableDescription& source, const v1::RestoreOverrides& overrides,
                             v1::TableDescription* definition) {
  const auto add = [&](const auto& index) {
    auto* added = definition->add_local_secondary_indexes();
    added->set_index_name(index.index_name());
    *added->mutable_key_schema() = index.key_schema();
    *added->mutable_projection() = index.projection();
  };
  if (!overrides.has_local_secondary_indexes()) {
    for (const auto& index : source.local_secondary_indexes()) add(index);
    return absl::OkStatus();
  }
  if (overrides.local_secondary_indexes().indexes_size() > kMaxLocalSecondaryIndexes)
    return Invalid("SEM-067", "Number of LocalSecondaryIndexes exceeds per-table limit of " +
                                  std::to_string(kMaxLocalSecondaryIndexes));
  for (const v1::LocalSecondaryIndex& index : overrides.local_secondary_indexes().indexes()) {
    ITEMDB_RETURN_IF_ERROR(CheckIsOfSource(index, source.local_secondary_indexes()));
    add(index);
  }
  return absl::OkStatus();
}

bool IsSame(const v1::VectorIndex& a, const v1::VectorIndexDescription& b) {
  return a.vector_attribute() == b.vector_attribute() && a.dimensions() == b.dimensions() &&
         a.distance_function() == b.distance_function() && IsSame(a.projection(), b.projection()) &&
         std::equal(a.search_schema().begin(), a.search_schema().end(), b.search_schema().begin(),
                    b.search_schema().end(), [](const auto& one, const auto& other) {
                      return one.attribute_name() == other.attribute_name() &&
                             one.search_schema_element_type() == other.search_schema_element_type();
                    });
}

absl::Status AddVectorIndexes(const v1::TableDescription& source, const v1::RestoreOverrides& overrides,
                              const AttributeTypes& types, v1::TableDescription* definition) {
  if (!overrides.has_vector_indexes()) {
    for (const v1::VectorIndexDescription& index : source.vector_indexes()) {
      v1::VectorIndexDescription* added = definition->add_vector_indexes();
      *added = index;
      added->set_index_status(v1::TABLE_STATUS_ACTIVE);
      added->clear_storage_id();
      added->clear_item_count();
      added->clear_index_size_bytes();
      added->clear_backfilling();
      added->clear_build();
      added->clear_skipped_items();
    }
    return absl::OkStatus();
  }
  for (const v1::VectorIndex& index : overrides.vector_indexes().indexes()) {
    const bool found = std::any_of(source.vector_indexes().begin(), source.vector_indexes().end(),
                                   [&](const auto& of_source) { return IsSame(index, of_source); });
    if (!found) return NotOfSourceError(index.index_name());
    ITEMDB_RETURN_IF_ERROR(CheckVectorIndex(index, types));
    AddVectorIndex(index, definition);
  }
  return absl::OkStatus();
}

// No index name twice; only the attributes of key schemas stay defined.
absl::Status CheckIndexesTogether(v1::TableDescription* definition) {
  std::set<std::string> names;
  std::set<std::string> used;
  for (const auto& element : definition->key_schema()) used.insert(element.attribute_name());
  const auto add = [&](const auto& index) {
    for (const auto& element : index.key_schema()) used.insert(element.attribute_name());
    return names.insert(index.index_name()).second;
  };
  const auto duplicate = [](const auto& index) {
    return Invalid("SEM-067", "Duplicate index name: " + index.index_name());
  };
  int included = 0;
  for (const auto& index : definition->global_secondary_indexes()) {
    if (!add(index)) return duplicate(index);
    included += index.projection().non_key_attributes_size();
  }
  for (const auto& index : definition->local_secondary_indexes()) {
    if (!add(index)) return duplicate(index);
    included += index.projection().non_key_attributes_size();
  }
  for (const auto& index : definition->vector_indexes()) {
    for (const auto& element : index.search_schema()) used.insert(element.attribute_name());
    if (!names.insert(index.index_name()).second) return duplicate(index);
    included += index.projection().non_key_attributes_size();
  }
  auto* attributes = definition->mutable_attribute_definitions();
  attributes->erase(
      std::remove_if(attributes->begin(), attributes->end(),
                     [&](const auto& attribute) { return !used.contains(attribute.attribute_name()); }),
      attributes->end());
  return CheckIncludedAttributes(definition->table_name(), included);
}

}  // namespace

absl::StatusOr<v1::TableDescription> RestoredDefinition(const std::string& name,
                                                        const v1::TableDescription& source,
                                                        const v1::RestoreOverrides& overrides) {
  ITEMDB_RETURN_IF_ERROR(CheckName("TargetTableName", name));
  const v1::BillingMode billing_mode = overrides.billing_mode() != v1::BILLING_MODE_UNSPECIFIED
                                           ? overrides.billing_mode()
                                           : source.billing_mode();
  const bool provisioned = billing_mode == v1::BILLING_MODE_PROVISIONED;
  ITEMDB_RETURN_IF_ERROR(CheckBilling(provisioned, overrides));

  // The settings that are checked and stored as CreateTable does.
  v1::CreateTableRequest settings;
  if (overrides.has_sse_specification()) {
    if (overrides.sse_specification().enabled())
      *settings.mutable_sse_specification() = overrides.sse_specification();
  } else if (source.sse_specification().enabled()) {
    *settings.mutable_sse_specification() = source.sse_specification();
  }
  const bool overrides_on_demand = overrides.on_demand_throughput().has_max_read_request_units() ||
                                   overrides.on_demand_throughput().has_max_write_request_units();
  if (overrides_on_demand) {
    *settings.mutable_on_demand_throughput() = overrides.on_demand_throughput();
  } else if (!provisioned && source.has_on_demand_throughput()) {
    *settings.mutable_on_demand_throughput() = source.on_demand_throughput();
  }

  v1::TableDescription definition;
  definition.set_table_name(name);
  *definition.mutable_attribute_definitions() = source.attribute_definitions();
  *definition.mutable_key_schema() = source.key_schema();
  definition.set_billing_mode(billing_mode);
  if (provisioned) {
    *definition.mutable_provisioned_throughput() = overrides.has_provisioned_throughput()
                                                       ? overrides.provisioned_throughput()
                                                       : source.provisioned_throughput();
    ITEMDB_RETURN_IF_ERROR(CheckThroughput("table " + name, /*provisioned=*/true, /*given=*/true,
                                           definition.provisioned_throughput()));
  }
  definition.set_stream_view_type(v1::STREAM_VIEW_TYPE_KEYS_ONLY);
  ITEMDB_ASSIGN_OR_RETURN(const AttributeTypes types, ReadAttributeTypes(source.attribute_definitions()));
  ITEMDB_RETURN_IF_ERROR(AddGlobalIndexes(source, overrides, provisioned, types, &definition));
  ITEMDB_RETURN_IF_ERROR(AddLocalIndexes(source, overrides, &definition));
  ITEMDB_RETURN_IF_ERROR(AddVectorIndexes(source, overrides, types, &definition));
  ITEMDB_RETURN_IF_ERROR(CheckIndexesTogether(&definition));
  ITEMDB_RETURN_IF_ERROR(CheckVectorIndexesTogether(definition));
  ITEMDB_RETURN_IF_ERROR(ApplySettings(settings, &definition));
  return definition;
}

}  // namespace itemdb::storage
