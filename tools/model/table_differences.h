// What makes a live table differ from a definition, all of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "itemdb/table.h"

namespace itemdb::tools {

struct TableDifference {
  // "key schema", "index ByName", "projection of index ByName", "billing mode", ...
  std::string what;
  // As the definition has it and as it is; "none" for what is missing.
  std::string model;
  std::string live;
  // What Client::UpdateTable can create on the live table, when that would take the difference away.
  std::optional<GlobalSecondaryIndex> missing_index = std::nullopt;
  // The index that is still being created, when the difference goes away with that.
  std::optional<std::string> index_in_creation = std::nullopt;
  // Of the table's own key.
  bool of_key = false;
};

// As DescribeDifference (itemdb/table.h): the order of attribute definitions, indexes and projected
// attributes does not count, nor do deletion protection, tags and the settings without effect. The types of
// key attributes count where the key stands. An index that is still being created differs. Empty when nothing
// does.
std::vector<TableDifference> DifferencesOf(const TableDefinition& model, const TableDescription& live);

}  // namespace itemdb::tools
