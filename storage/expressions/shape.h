// What expressions look like whatever their values: names in place, values as `?` (SEED-049).
//
//   pk = ? AND begins_with(sk, ?)
//   size(tags) > ? OR NOT contains("first name", ?)
//
// The same condition has one shape however it was said: placeholders or names, an expression, a legacy
// parameter or a statement. A name stands in double quotes (and a quote in it twice) when it is no plain
// word, or could be taken for an operator. IN shows `?` once for all its values. A shape of more than
// kMaxShapeBytes ends early, in "...".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/expressions/binding.h"
#include "storage/keys/key_range.h"

namespace itemdb {

// Of the condition that is bound.
std::string ConditionShape(const Binding& binding);
// A hash of it, for which no string is made. Never 0.
uint64_t ConditionShapeHash(const Binding& binding);

// Of a key condition there are only so many shapes, as every partition attribute has its `=`.
struct KeyConditionShape {
  // How many sort attributes have a condition, and what that of the last one is; the others have `=`.
  uint8_t sort_attributes = 0;
  ConditionKind last = ConditionKind::kEqual;

  uint16_t code() const { return static_cast<uint16_t>(sort_attributes << 8 | static_cast<uint8_t>(last)); }
};

// As text, in the order of the key attributes.
std::string KeyConditionText(const std::vector<KeyAttribute>& partition,
                             const std::vector<KeyAttribute>& sort, KeyConditionShape shape);

}  // namespace itemdb
