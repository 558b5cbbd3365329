// Translates parts of a statement into syntax trees of expressions, and into keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/catalog/table.h"
#include "storage/expressions/valued_tree.h"
#include "storage/partiql/statement.h"

namespace itemdb::storage::partiql {

// Copies parts of a statement into a syntax tree, which then holds only these parts. The statement is
// borrowed. Recursion is bounded, because the parser bounds nesting and the number of operators.
class TreeWriter {
 public:
  // `attribute` is the name that AddExistence uses.
  explicit TreeWriter(const Statement& statement, std::string_view attribute = "");

  // Each returns the position in the new tree.
  uint32_t CopyPath(uint32_t path);
  uint32_t CopyOperand(uint32_t operand);
  uint32_t CopyCondition(uint32_t condition);
  void CopyAction(const ActionSyntax& action);
  // Adds attribute_exists or attribute_not_exists (`kind`) of the attribute given to the constructor.
  uint32_t AddExistence(ConditionKind kind);
  uint32_t AddCondition(ConditionKind kind, const std::vector<uint32_t>& links);
  // Joins `conditions` by AND. A single condition is returned as it is.
  uint32_t AddConjunction(const std::vector<uint32_t>& conditions);

  ValuedTree Finish(uint32_t root = 0);

 private:
  uint32_t AddOperand(OperandKind kind, uint32_t first, uint32_t second = 0);

  const Statement& statement_;
  std::shared_ptr<Tree> tree_;
  std::vector<std::string> values_;
  // The name of each step of the statement, as a view into the text of the tree.
  std::vector<std::string_view> names_;
  std::string_view attribute_;
};

// The conditions that WHERE joins by AND, in written order: positions in Statement::conditions.
std::vector<uint32_t> Conjuncts(const Statement& statement);

// The attribute name, if operand `i` of `condition` is a top-level attribute; otherwise null.
const std::string* AttributeAt(const Statement& statement, const ConditionSyntax& condition, uint32_t i);
// The value, if operand `i` of `condition` is a value; otherwise null.
const std::string* ValueAt(const Statement& statement, const ConditionSyntax& condition, uint32_t i);
// The value, if `condition` has the form `name = value` or `value = name`; otherwise null.
const std::string* DemandedValue(const Statement& statement, const ConditionSyntax& condition,
                                 std::string_view name);

// INVALID_ARGUMENT (PQL-16): the encoded `value` of a key attribute does not have its type.
absl::Status CheckKeyType(const KeyAttribute& attribute, std::string_view value);

// WHERE, split into the key of one item and the other conditions.
struct KeyAndRest {
  // The key attributes, as an encoded item.
  std::string key;
  // The other conditions: positions in Statement::conditions.
  std::vector<uint32_t> rest;
  // INVALID_ARGUMENT (PQL-16): a value has another type than its key attribute, or WHERE demands two values
  // of it. Cancels a transaction, as any key that does not fit.
  absl::Status key_error;
};
// INVALID_ARGUMENT (PQL-16): WHERE has no equality on one of the key attributes.
absl::StatusOr<KeyAndRest> SplitKey(const Statement& statement, const Table& table);

}  // namespace itemdb::storage::partiql
