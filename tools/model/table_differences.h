// All differences between a live table and a definition.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "itemdb/table.h"

namespace itemdb::tools {

struct TableDifference {
  // "key schema", "index ByName", "projection of index ByName", "billing mode", ...
  std::string what;
  // The value in the definition and in the live table; "none" if it is missing.
  std::string model;
  std::string live;
  // Set if Client::UpdateTable can remove the difference: the index to create.
  std::optional<GlobalSecondaryIndex> missing_index = std::nullopt;
  // Set if the difference ends when this index has been created.
  std::optional<std::string> index_in_creation = std::nullopt;
  // The difference is in the table's own key schema.
  bool of_key = false;
};

// Compares as DescribeDifference does (itemdb/table.h): ignores the order of attribute definitions, indexes
// and projected attributes, deletion protection, tags and settings without effect. The type of a key
// attribute is compared as part of the key schema. An index that is still being created is a difference.
// Empty if nothing differs.
std::vector<TableDifference> DifferencesOf(const TableDefinition& model, const TableDescription& live);

}  // namespace itemdb::tools
