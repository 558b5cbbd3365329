// Search condition expressions: which entries of a vector index a search compares (VEC-19).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/expressions/placeholders.h"
#include "storage/values/value_view.h"

namespace itemdb::storage {

// The attribute of the clause `attribute = :value`.
struct SearchClause {
  std::string_view attribute;
  ValueView value;
};

// A compiled search condition. Owns the names and values that it uses. Immutable, thread-safe, cheap to copy.
class SearchCondition {
 public:
  // Checks everything that does not need the index. INVALID_ARGUMENT: syntax, undefined placeholder; anything
  // but `attribute = :value`, joined by AND; an attribute twice.
  static absl::StatusOr<SearchCondition> Compile(std::string_view text, Placeholders& placeholders);

  // In written order; they borrow from this object and its copies.
  const std::vector<SearchClause>& clauses() const;

 private:
  struct Rep;

  std::shared_ptr<const Rep> rep_;
};

}  // namespace itemdb::storage
