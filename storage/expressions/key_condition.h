// Key condition expressions: which part of an item collection a Query reads (EXP-08, SEM-080, SEM-081).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/expressions/legacy.h"
#include "storage/expressions/placeholders.h"
#include "storage/keys/key_range.h"
#include "storage/values/value_view.h"

namespace itemdb {

// The keys that satisfy the key condition `text` under a key schema of `partition` and `sort` attributes.
//
// `prefix` of the result is the encoding of the partition-key values: every key of the range starts with it.
// INVALID_ARGUMENT: syntax, undefined placeholder, an operator that is not allowed, an attribute that is not
// in the key, a missing partition-key attribute, a gap in the sort-key attributes, operand types, key values
// that are empty or longer than SEM-006 allows.
struct KeyConditionRange {
  std::string prefix;
  KeyRange range;
  // With `describe`: the condition with names and values in place, in the order of the key attributes.
  std::string text;
};
absl::StatusOr<KeyConditionRange> CompileKeyCondition(std::string_view text, Placeholders& placeholders,
                                                      const std::vector<KeyAttribute>& partition,
                                                      const std::vector<KeyAttribute>& sort,
                                                      bool describe = false);
// The same for what KeyConditionsTree made (SEM-089: for any number of key attributes).
absl::StatusOr<KeyConditionRange> LegacyKeyCondition(LegacyTree legacy,
                                                     const std::vector<KeyAttribute>& partition,
                                                     const std::vector<KeyAttribute>& sort,
                                                     bool describe = false);

}  // namespace itemdb
