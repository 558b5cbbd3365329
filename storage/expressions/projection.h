// Projection expressions: which parts of an item a read returns.
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

// A compiled projection. Immutable, thread-safe, cheap to copy.
class Projection {
 public:
  // INVALID_ARGUMENT: syntax, undefined placeholder, limit, overlapping paths (EXP-34).
  static absl::StatusOr<Projection> Compile(std::string_view text, Placeholders& placeholders);

  // The same with the paths of `tree` instead of a text. INVALID_ARGUMENT: they overlap.
  static absl::StatusOr<Projection> FromTree(std::string_view expression_name, ValuedTree tree);

  // The same, but each value is an attribute of its own, named by the last name of its path and the indexes
  // behind it (PQL-01): `a.b[0]` becomes the attribute `b[0]`. INVALID_ARGUMENT: two have one name.
  static absl::StatusOr<Projection> Columns(std::string_view expression_name, ValuedTree tree);

  // Appends the projected item to `*out`, encoded and canonical (EXP-34); nothing when no path matches.
  void Apply(ItemView item, std::string* out) const;

  // The top-level attribute names of all paths, sorted, each once.
  const std::vector<std::string>& TopLevelAttributes() const;
  // Of those paths that lead into a map or list.
  const std::vector<std::string>& NestedAttributes() const;

 private:
  struct Rep;
  static absl::StatusOr<Projection> FromRep(std::string_view expression_name, std::shared_ptr<Rep> rep);

  std::shared_ptr<const Rep> rep_;
};

}  // namespace itemdb::storage
