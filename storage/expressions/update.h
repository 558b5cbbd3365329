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

namespace itemdb {

// A compiled update. Immutable, thread-safe, cheap to copy.
class UpdateExpression {
 public:
  // INVALID_ARGUMENT: syntax, undefined placeholder, limit, overlapping or conflicting paths (EXP-24),
  // operand types that can be told from the request alone.
  static absl::StatusOr<UpdateExpression> Compile(std::string_view text, Placeholders& placeholders);

  // `tree` instead of a text. INVALID_ARGUMENT: overlapping or conflicting paths, operand types.
  static absl::StatusOr<UpdateExpression> FromTree(std::string_view expression_name, ValuedTree tree);

  // What UpdatesTree made.
  static absl::StatusOr<UpdateExpression> FromLegacy(ValuedTree legacy);

  // The item after the update, encoded and canonical. `item` is the item before it, or only its key
  // attributes when there was none. All right-hand sides see the item before (EXP-23). INVALID_ARGUMENT: the
  // update does not fit the item (EXP-26..30), a number leaves its range, a value gets nested too deeply
  // (SEM-017), the new values alone exceed the size of an item. The caller checks the whole item's size.
  //
  // `item_exists` is false when there was no item: then REMOVE and DELETE below a missing attribute do
  // nothing (EXP-27) instead of failing.
  absl::StatusOr<std::string> Apply(ItemView item, bool item_exists = true) const;

  // The parts of `item` that the update's paths name, for UPDATED_OLD and UPDATED_NEW (SEM-059); empty when
  // none is present.
  std::string TouchedPart(ItemView item) const;

  // The top-level names of the paths that the update writes, sorted, each once; whether some path below
  // `name` is nested.
  const std::vector<std::string>& TopLevelAttributes() const;
  bool TouchesNested(std::string_view name) const;

  // False when it has only REMOVE and DELETE clauses, which create no item (EXP-33).
  bool CreatesItem() const;

 private:
  struct Rep;
  static absl::StatusOr<UpdateExpression> FromRep(std::string_view expression_name, std::shared_ptr<Rep> rep);

  std::shared_ptr<const Rep> rep_;
};

}  // namespace itemdb
