// A syntax tree together with the names and values of one request.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/expressions/path.h"
#include "storage/expressions/placeholders.h"
#include "storage/expressions/syntax.h"
#include "storage/values/value_view.h"

namespace itemdb::storage {

// Owns a copy of the names and values its expression uses and shares the tree. Immutable after Bind; neither
// copied nor moved, because paths and views borrow from it.
class Binding {
 public:
  Binding() = default;
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;

  // Resolves every placeholder of `tree` and marks the placeholder as used. Called once. INVALID_ARGUMENT: a
  // placeholder is not defined.
  absl::Status Bind(std::string_view expression_name, std::shared_ptr<const Tree> tree,
                    Placeholders& placeholders);

  // The same for a tree without placeholders. `values` are the tree's values by slot.
  void Bind(std::shared_ptr<const Tree> tree, std::vector<std::string> values);

  const Tree& tree() const { return *tree_; }

  // Path `position` of Tree::paths; value `slot` of Tree::values.
  Path path(uint32_t position) const {
    const PathSyntax& syntax = tree_->paths[position];
    return Path(steps_).subspan(syntax.first, syntax.count);
  }
  ValueView value(uint32_t slot) const { return ValueView(values_[slot]); }

  // The first names of all paths, sorted, each once.
  std::vector<std::string> TopLevelAttributes() const;
  // Of those paths that lead into a map or list.
  std::vector<std::string> NestedAttributes() const;

  const OperandSyntax& operand(uint32_t position) const { return tree_->operands[position]; }

 private:
  // The first names of the paths with at least `steps` steps, sorted, each once.
  std::vector<std::string> FirstNames(uint32_t steps) const;
  // Called after `names_` and `values_` are set.
  void ResolveSteps();

  std::shared_ptr<const Tree> tree_;
  // By slot.
  std::vector<std::string> names_;
  std::vector<std::string> values_;
  // One per segment of the tree; names borrow from `*tree_` or `names_`.
  std::vector<PathStep> steps_;
};

// Returns the error for an operand type that the operator or function does not accept.
absl::Status OperandTypeError(std::string_view expression_name, std::string_view operation, ValueType type);
// The same where several types are possible, as in "{N,S}".
absl::Status OperandTypeError(std::string_view expression_name, std::string_view operation,
                              std::string_view types);

// Checks the literal bounds of a BETWEEN (EXP-19), which must be N, S or B. INVALID_ARGUMENT: the types
// differ or lower > upper.
absl::Status CheckBetweenBounds(std::string_view expression_name, ValueView lower, ValueView upper);

// Cuts a long text as messages show it.
std::string_view CutForMessage(std::string_view text);

// Returns a value as messages show it: "{S:text}". Long values are cut.
std::string DescribeValue(ValueView value);

}  // namespace itemdb::storage
