// Update expressions: SET, REMOVE, ADD and DELETE clauses (EXP-09).
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

// A compiled update. Immutable, thread-safe, cheap to copy.
class UpdateExpression {
 public:
  // INVALID_ARGUMENT: syntax, undefined placeholder, limit, overlapping or conflicting paths (EXP-24),
  // operand types that can be told from the request alone.
  static absl::StatusOr<UpdateExpression> Compile(std::string_view text, Placeholders& placeholders);

  // The same from `tree` instead of a text. INVALID_ARGUMENT: overlapping or conflicting paths, types.
  static absl::StatusOr<UpdateExpression> FromTree(std::string_view expression_name, ValuedTree tree);

  // The same from the result of UpdatesTree.
  static absl::StatusOr<UpdateExpression> FromLegacy(ValuedTree legacy);

  // Returns the item after the update, encoded and canonical. `item` is the item before it, or only its key
  // attributes when there was none. All right-hand sides read the item before the update (EXP-23).
  // INVALID_ARGUMENT: the update does not fit the item (EXP-26 to EXP-30), a number leaves its range, a value
  // is too deep (SEM-017), the new values alone are larger than an item. The caller checks the whole item's
  // size.
  //
  // `item_exists` is false when there was no item: then REMOVE and DELETE below a missing attribute do
  // nothing (EXP-27) instead of failing.
  absl::StatusOr<std::string> Apply(ItemView item, bool item_exists = true) const;

  // Returns the parts of `item` that the update's paths name, for UPDATED_OLD and UPDATED_NEW (SEM-059).
  // Empty when the item has none of them.
  std::string TouchedPart(ItemView item) const;

  // The top-level names of the paths that the update writes, sorted, each once.
  const std::vector<std::string>& TopLevelAttributes() const;
  // Those of all paths, also of values, that lead into a map or list.
  const std::vector<std::string>& NestedAttributes() const;

  // False when the update has only REMOVE and DELETE clauses, which create no item (EXP-33).
  bool CreatesItem() const;

 private:
  struct Rep;
  static absl::StatusOr<UpdateExpression> FromRep(std::string_view expression_name, std::shared_ptr<Rep> rep);

  std::shared_ptr<const Rep> rep_;
};

}  // namespace itemdb::storage
