// Condition and filter expressions.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/expressions/placeholders.h"
#include "storage/expressions/valued_tree.h"
#include "storage/values/value_view.h"

namespace itemdb::storage {

// A compiled condition. Owns the names and values that it uses. Immutable, thread-safe, cheap to copy.
class Condition {
 public:
  // Parses `text` and resolves its placeholders. Error messages begin with `expression_name`
  // ("ConditionExpression", "FilterExpression"). INVALID_ARGUMENT: syntax, undefined placeholder, limit,
  // operand types.
  static absl::StatusOr<Condition> Compile(std::string_view expression_name, std::string_view text,
                                           Placeholders& placeholders);

  // The same from `tree` instead of a text. INVALID_ARGUMENT: operand types.
  static absl::StatusOr<Condition> FromTree(std::string_view expression_name, ValuedTree tree);

  // The same from the result of ExpectedTree or FilterTree, which already checked the operand types.
  static Condition FromLegacy(ValuedTree legacy);

  // Whether the condition holds for `item`. Pass the empty view for an item that does not exist (EXP-20).
  bool Evaluate(ItemView item) const;

  // The top-level attribute names of all paths, sorted, each once.
  const std::vector<std::string>& TopLevelAttributes() const;
  // Of those paths that lead into a map or list.
  const std::vector<std::string>& NestedAttributes() const;

  // See storage/expressions/shape.h.
  std::string Shape() const;
  uint64_t ShapeHash() const;

 private:
  struct Rep;
  static Condition FromRep(std::shared_ptr<Rep> rep);

  std::shared_ptr<const Rep> rep_;
};

}  // namespace itemdb::storage
