#include "tools/cli/live_names.h"

#include <set>

namespace itemdb::tools {
namespace {

// The time until `deadline` as the timeout of one call. Never zero, because zero means the client's default.
CallOptions Until(absl::Time deadline) {
  return {.timeout = std::max(deadline - absl::Now(), absl::Milliseconds(1))};
}

std::vector<std::string> Sorted(const std::set<std::string>& names) { return {names.begin(), names.end()}; }

}  // namespace

std::vector<std::string> LiveTableNames(Client& client, absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  std::vector<std::string> names;
  ListTablesRequest request;
  do {
    absl::StatusOr<ListTablesResult> page = client.ListTables(request, Until(deadline));
    if (!page.ok()) break;
    names.insert(names.end(), page->table_names.begin(), page->table_names.end());
    request.exclusive_start_table_name = page->last_evaluated_table_name.value_or("");
  } while (!request.exclusive_start_table_name.empty() && names.size() < kMaxLiveNames);
  return names;
}

std::vector<std::string> LiveIndexNames(Client& client, const std::string& table_name,
                                        absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  std::vector<std::string> tables = {table_name};
  if (table_name.empty()) tables = LiveTableNames(client, timeout);
  std::set<std::string> names;
  for (const std::string& table : tables) {
    absl::StatusOr<TableResult> described = client.DescribeTable(table, Until(deadline));
    if (!described.ok()) break;
    for (const GlobalSecondaryIndex& index : described->table.definition.global_secondary_indexes) {
      names.insert(index.index_name);
    }
    for (const LocalSecondaryIndex& index : described->table.definition.local_secondary_indexes) {
      names.insert(index.index_name);
    }
    for (const VectorIndex& index : described->table.definition.vector_indexes) {
      names.insert(index.index_name);
    }
  }
  return Sorted(names);
}

std::vector<std::string> LiveAttributeNames(Client& client, const std::string& table_name,
                                            absl::Duration timeout) {
  absl::StatusOr<TableResult> described = client.DescribeTable(table_name, {.timeout = timeout});
  if (!described.ok()) return {};
  std::set<std::string> names;
  for (const AttributeDefinition& attribute : described->table.definition.attribute_definitions) {
    names.insert(attribute.attribute_name);
  }
  for (const GlobalSecondaryIndex& index : described->table.definition.global_secondary_indexes) {
    names.insert(index.projection.non_key_attributes.begin(), index.projection.non_key_attributes.end());
  }
  return Sorted(names);
}

std::vector<std::string> LeadingColumns(Client& client, const std::string& table_name,
                                        const std::string& index_name) {
  std::vector<std::string> columns;
  absl::StatusOr<TableResult> described = client.DescribeTable(table_name);
  if (!described.ok()) return columns;
  const TableDefinition& table = described->table.definition;
  auto add = [&columns](const std::vector<KeySchemaElement>& key_schema) {
    for (const KeySchemaElement& element : key_schema) columns.push_back(element.attribute_name);
  };
  for (const GlobalSecondaryIndex& index : table.global_secondary_indexes) {
    if (index.index_name == index_name) add(index.key_schema);
  }
  for (const LocalSecondaryIndex& index : table.local_secondary_indexes) {
    if (index.index_name == index_name) add(index.key_schema);
  }
  add(table.key_schema);
  return columns;
}

}  // namespace itemdb::tools
