// Checks of vector indexes (VEC-01 to VEC-03).

#include <map>
#include <set>

#include "storage/base/limits.h"
#include "storage/catalog/definition_checks.h"

namespace itemdb::storage {
namespace {

absl::Status CheckSearchSchema(const v1::VectorIndex& index, const AttributeTypes& types) {
  const std::string owner = "the SearchSchema of index " + index.index_name();
  std::set<std::string> seen;
  int hashes = 0;
  for (const v1::SearchSchemaElement& element : index.search_schema()) {
    const std::string& name = element.attribute_name();
    ITEMDB_RETURN_IF_ERROR(CheckAttributeName(name));
    if (element.search_schema_element_type() != v1::SEARCH_SCHEMA_ELEMENT_TYPE_HASH &&
        element.search_schema_element_type() != v1::SEARCH_SCHEMA_ELEMENT_TYPE_INLINE_FILTER) {
      return Invalid(
          "VEC-01", "SearchSchemaElementType of " + name + " in " + owner + " must be HASH or INLINE_FILTER");
    }
    hashes += element.search_schema_element_type() == v1::SEARCH_SCHEMA_ELEMENT_TYPE_HASH ? 1 : 0;
    if (!seen.insert(name).second) return Invalid("VEC-01", owner + " names " + name + " twice");
    if (name == index.vector_attribute())
      return Invalid("VEC-01", owner + " names " + name + ", which is its VectorAttribute");
    if (!types.contains(name)) {
      return Invalid("VEC-03", "One element in SearchSchema is not defined in attribute definitions");
    }
  }
  if (hashes > 1) {
    return Invalid("VEC-02",
                   owner + " has " + std::to_string(hashes) + " HASH elements; at most 1 is allowed");
  }
  const int filters = index.search_schema_size() - hashes;
  if (filters > kMaxInlineFilters) {
    return Invalid("VEC-02", owner + " has " + std::to_string(filters) + " INLINE_FILTER elements; at most " +
                                 std::to_string(kMaxInlineFilters) + " are allowed");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckVectorIndex(const v1::VectorIndex& index, const AttributeTypes& types) {
  ITEMDB_RETURN_IF_ERROR(CheckName("IndexName", index.index_name()));
  ITEMDB_RETURN_IF_ERROR(CheckAttributeName(index.vector_attribute()));
  if (index.dimensions() < 1 || index.dimensions() > kMaxVectorDimensions) {
    return Invalid("VEC-03", "Number of dimensions must be between 1 and " +
                                 std::to_string(kMaxVectorDimensions) + " inclusive.");
  }
  if (index.distance_function() == v1::VECTOR_DISTANCE_FUNCTION_UNSPECIFIED ||
      !v1::VectorDistanceFunction_IsValid(index.distance_function())) {
    return Invalid("VEC-01", "DistanceFunction of index " + index.index_name() +
                                 " must be COSINE, EUCLIDEAN or DOT_PRODUCT");
  }
  ITEMDB_RETURN_IF_ERROR(CheckSearchSchema(index, types));
  return CheckProjection("index " + index.index_name(), index.projection());
}

void AddVectorIndex(const v1::VectorIndex& index, v1::TableDescription* definition) {
  v1::VectorIndexDescription* description = definition->add_vector_indexes();
  description->set_index_name(index.index_name());
  description->set_index_status(v1::TABLE_STATUS_ACTIVE);
  description->set_vector_attribute(index.vector_attribute());
  description->set_dimensions(index.dimensions());
  description->set_distance_function(index.distance_function());
  *description->mutable_projection() = index.projection();
  *description->mutable_search_schema() = index.search_schema();
}

absl::Status CheckVectorIndexesTogether(const v1::TableDescription& definition) {
  if (definition.vector_indexes().empty()) return absl::OkStatus();
  if (definition.billing_mode() != v1::BILLING_MODE_PAY_PER_REQUEST)
    return Invalid("VEC-03", "Vector indexes are only supported for PAY_PER_REQUEST tables");
  if (definition.vector_indexes_size() > kMaxVectorIndexes) {
    return Invalid("VEC-03",
                   "VectorIndex count exceeds the per-table limit of " + std::to_string(kMaxVectorIndexes));
  }
  std::map<std::string, int64_t> dimensions;
  for (const v1::VectorIndexDescription& index : definition.vector_indexes()) {
    const std::string& name = index.vector_attribute();
    if (dimensions.emplace(name, index.dimensions()).first->second != index.dimensions()) {
      return Invalid("VEC-03", "Conflicting attribute definition for '" + name +
                                   "'. All VectorIndexes on the same vector attribute must use the same "
                                   "dimensions.");
    }
  }
  // Attributes of keys and search schemas are scalars, a vector is a list.
  for (const v1::AttributeDefinition& attribute : definition.attribute_definitions()) {
    if (!dimensions.contains(attribute.attribute_name())) continue;
    return Invalid("VEC-01", "the VectorAttribute " + attribute.attribute_name() +
                                 " is in AttributeDefinitions, which are those of keys and search schemas");
  }
  return absl::OkStatus();
}

}  // namespace itemdb::storage
