// Parts of a statement as what storage evaluates: trees of expressions, keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/catalog/table.h"
#include "storage/expressions/valued_tree.h"
#include "storage/partiql/statement.h"

namespace itemdb::partiql {

// Copies parts of a statement into a tree, which then has these and nothing else. The statement is borrowed.
// Recursion is bounded by the parser's nesting and number of operators.
class TreeWriter {
 public:
  // `attribute` is one more name that the tree may use.
  explicit TreeWriter(const Statement& statement, std::string_view attribute = "");

  // Each returns the position in the new tree.
  uint32_t CopyPath(uint32_t path);
  uint32_t CopyOperand(uint32_t operand);
  uint32_t CopyCondition(uint32_t condition);
  void CopyAction(const ActionSyntax& action);
  // `kind`, attribute_exists or attribute_not_exists, of the attribute.
  uint32_t AddExistence(ConditionKind kind);
  uint32_t AddCondition(ConditionKind kind, const std::vector<uint32_t>& links);
  // All of them; of one, it itself.
  uint32_t AddConjunction(const std::vector<uint32_t>& conditions);

  ValuedTree Finish(uint32_t root = 0);

 private:
  uint32_t AddOperand(OperandKind kind, uint32_t first, uint32_t second = 0);

  const Statement& statement_;
  std::shared_ptr<Tree> tree_;
  std::vector<std::string> values_;
  // Where the name of each step stands in the tree's text.
  std::vector<std::string_view> names_;
  std::string_view attribute_;
};

// The conditions that WHERE joins by AND, in written order: positions in Statement::conditions.
std::vector<uint32_t> Conjuncts(const Statement& statement);

// The name of the top-level attribute that operand `i` of `condition` is; null when it is something else.
const std::string* AttributeAt(const Statement& statement, const ConditionSyntax& condition, uint32_t i);
// The value that it is; null when it is something else.
const std::string* ValueAt(const Statement& statement, const ConditionSyntax& condition, uint32_t i);
// The value that `condition` demands of attribute `name`; null when it is no `=` of that attribute and a
// value.
const std::string* DemandedValue(const Statement& statement, const ConditionSyntax& condition,
                                 std::string_view name);

// WHERE in two: the item that it names by its whole key, and what else it says.
struct KeyAndRest {
  // Encoded.
  std::string key;
  // Positions in Statement::conditions.
  std::vector<uint32_t> rest;
};
// INVALID_ARGUMENT: WHERE does not demand a value of every key attribute (PQL-16).
absl::StatusOr<KeyAndRest> SplitKey(const Statement& statement, const Table& table);

}  // namespace itemdb::partiql
