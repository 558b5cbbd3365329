// A PartiQL statement, parsed.
//
// Conditions, operands, paths and actions are those of expressions (storage/expressions/syntax.h), in flat
// vectors as there; what differs is that names own their text and values stand where the text has literals or
// parameters. trees.h makes trees of expressions from parts of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "itemdb/v1/enums.pb.h"
#include "storage/expressions/syntax.h"

namespace itemdb::partiql {

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
  // SELECT: empty when it is of the table.
  std::string index_name;

  // PathSyntax: `count` entries of `steps`.
  std::vector<Step> steps;
  std::vector<PathSyntax> paths;
  // kValue: position in `values`.
  std::vector<OperandSyntax> operands;
  // Canonical.
  std::vector<std::string> values;
  std::vector<ConditionSyntax> conditions;
  std::vector<uint32_t> links;

  // Position in `conditions`.
  std::optional<uint32_t> where;
  // SELECT: positions in `paths`; empty is `*`.
  std::vector<uint32_t> projection;
  std::vector<SortOrder> order;
  // UPDATE.
  std::vector<ActionSyntax> actions;
  // INSERT: canonical.
  std::string item;
  // UPDATE, DELETE: what RETURNING asks for.
  v1::ReturnValues return_values = v1::RETURN_VALUES_NONE;
};

}  // namespace itemdb::partiql
