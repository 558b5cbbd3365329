// Key condition expressions: which part of an item collection a Query reads (EXP-08, SEM-080, SEM-081).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/expressions/placeholders.h"
#include "storage/expressions/shape.h"
#include "storage/expressions/valued_tree.h"
#include "storage/keys/key_range.h"
#include "storage/values/value_view.h"

namespace itemdb::storage {

// The range of keys that a key condition selects. `prefix` is the encoding of the partition-key values: every
// key of the range starts with it.
struct KeyConditionRange {
  std::string prefix;
  KeyRange range;
  KeyConditionShape shape;
  // Set with `describe`: the condition with names and values in place, in the order of the key attributes.
  std::string text;
};

// A compiled key condition. Immutable, thread-safe, cheap to copy.
class KeyCondition {
 public:
  // Checks everything that does not need the table (EXP-22). INVALID_ARGUMENT: syntax, undefined placeholder,
  // an operator that is not allowed, an operand that is not a placeholder, operand types.
  static absl::StatusOr<KeyCondition> Compile(std::string_view text, Placeholders& placeholders);
  // The same from `tree` instead of a text.
  static absl::StatusOr<KeyCondition> FromTree(ValuedTree tree);

  // Returns the keys that satisfy the condition under a key schema of `partition` and `sort` attributes.
  // INVALID_ARGUMENT: an attribute that is not in the key, a missing partition-key attribute, a gap in the
  // sort-key attributes, values of the wrong type, empty values, values longer than 2,048 (partition) or
  // 1,024 bytes (sort, SEM-006).
  absl::StatusOr<KeyConditionRange> Select(const std::vector<KeyAttribute>& partition,
                                           const std::vector<KeyAttribute>& sort,
                                           bool describe = false) const;

 private:
  struct Rep;
  static absl::StatusOr<KeyCondition> FromRep(std::shared_ptr<Rep> rep);

  std::shared_ptr<const Rep> rep_;
};

}  // namespace itemdb::storage
