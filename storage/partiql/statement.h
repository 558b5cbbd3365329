// A parsed PartiQL statement.
//
// Conditions, operands, paths and actions have the types of storage/expressions/syntax.h and are in flat
// vectors, as there. There are two differences: names own their text, and literals and parameters are already
// replaced by their values. trees.h translates parts of a statement into syntax trees of expressions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "itemdb/v1/enums.pb.h"
#include "storage/expressions/syntax.h"

namespace itemdb::storage::partiql {

enum class StatementKind : uint8_t { kSelect, kInsert, kUpdate, kDelete, kExists };

// One step of a path: a name, or a list index.
struct Step {
  std::string name;
  uint32_t index = 0;
  bool is_index = false;
};

// A key of ORDER BY.
struct SortOrder {
  std::string attribute;
  bool descending = false;
};

// Owns everything.
struct Statement {
  StatementKind kind = StatementKind::kSelect;
  std::string table_name;
  // SELECT: empty if the table itself is read.
  std::string index_name;

  // A PathSyntax refers to `count` entries of `steps`.
  std::vector<Step> steps;
  std::vector<PathSyntax> paths;
  // An operand of kind kValue holds a position in `values`.
  std::vector<OperandSyntax> operands;
  // Canonical.
  std::vector<std::string> values;
  std::vector<ConditionSyntax> conditions;
  std::vector<uint32_t> links;

  // Position in `conditions`.
  std::optional<uint32_t> where;
  // SELECT: positions in `paths`; empty means `*`.
  std::vector<uint32_t> projection;
  std::vector<SortOrder> order;
  // UPDATE.
  std::vector<ActionSyntax> actions;
  // INSERT: canonical.
  std::string item;
  // UPDATE, DELETE: the RETURNING clause.
  v1::ReturnValues return_values = v1::RETURN_VALUES_NONE;
};

}  // namespace itemdb::storage::partiql
