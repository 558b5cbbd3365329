#include "itemdb/table.h"

#include <algorithm>
#include <map>

namespace itemdb {
namespace {

std::map<std::string, ScalarAttributeType> Types(const TableDefinition& definition) {
  std::map<std::string, ScalarAttributeType> types;
  for (const AttributeDefinition& attribute : definition.attribute_definitions) {
    types[attribute.attribute_name] = attribute.attribute_type;
  }
  return types;
}

// By name, with projected attributes in order.
template <typename Index>
std::map<std::string, Index> ByName(std::vector<Index> indexes) {
  std::map<std::string, Index> by_name;
  for (Index& index : indexes) {
    std::sort(index.projection.non_key_attributes.begin(), index.projection.non_key_attributes.end());
    by_name[index.index_name] = std::move(index);
  }
  return by_name;
}

template <typename Index>
std::string DescribeIndexDifference(const std::vector<Index>& a, const std::vector<Index>& b) {
  const std::map<std::string, Index> ours = ByName(a);
  const std::map<std::string, Index> theirs = ByName(b);
  for (const auto& [name, index] : ours) {
    const auto it = theirs.find(name);
    if (it == theirs.end()) return "the index " + name + " is only in one of the definitions";
    if constexpr (requires(const Index& any) { any.vector_attribute; }) {
      if (index != it->second) return "the vector index " + name + " differs";
    } else if (index.key_schema != it->second.key_schema) {
      return "the key schema of the index " + name + " differs";
    }
    if (index.projection != it->second.projection) return "the projection of the index " + name + " differs";
    if constexpr (requires(const Index& any) { any.provisioned_throughput; }) {
      if (index.provisioned_throughput != it->second.provisioned_throughput)
        return "the provisioned throughput of the index " + name + " differs";
    }
  }
  for (const auto& [name, index] : theirs) {
    if (!ours.contains(name)) return "the index " + name + " is only in one of the definitions";
  }
  return "";
}

}  // namespace

std::string DescribeDifference(const TableDefinition& a, const TableDefinition& b) {
  if (a.table_name != b.table_name) return "the tables are named " + a.table_name + " and " + b.table_name;
  if (a.key_schema != b.key_schema) return "the key schema differs";
  if (Types(a) != Types(b)) return "the attribute definitions differ";
  for (const std::string& difference :
       {DescribeIndexDifference(a.global_secondary_indexes, b.global_secondary_indexes),
        DescribeIndexDifference(a.local_secondary_indexes, b.local_secondary_indexes),
        DescribeIndexDifference(a.vector_indexes, b.vector_indexes)}) {
    if (!difference.empty()) return difference;
  }
  if (a.billing_mode != b.billing_mode) return "the billing mode differs";
  if (a.provisioned_throughput != b.provisioned_throughput) return "the provisioned throughput differs";
  if (a.stream_view_type != b.stream_view_type) return "the stream view type differs";
  return "";
}

}  // namespace itemdb
