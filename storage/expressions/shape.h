// Shapes of expressions: names in place, values as `?` (SEED-049). They identify access patterns.
//
//   pk = ? AND begins_with(sk, ?)
//   size(tags) > ? OR NOT contains("first name", ?)
//
// The same condition has one shape, whether it was written with placeholders or names, and as an expression,
// a legacy parameter or a statement. A name is in double quotes (with each quote in it doubled) when it is
// not a plain word or looks like an operator. IN shows `?` once for all its values. A shape longer than
// kMaxShapeBytes is cut and ends in "...".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/expressions/binding.h"
#include "storage/keys/key_range.h"

namespace itemdb::storage {

// The shape of the bound condition.
std::string ConditionShape(const Binding& binding);
// The hash of that shape, computed without making a string of the shape. Never 0.
uint64_t ConditionShapeHash(const Binding& binding);

// The shape of a key condition, as numbers: every partition attribute has `=`, so there are few shapes.
struct KeyConditionShape {
  // The number of sort attributes with a condition, and the kind of the last condition. The others are `=`.
  uint8_t sort_attributes = 0;
  ConditionKind last = ConditionKind::kEqual;

  uint16_t code() const { return static_cast<uint16_t>(sort_attributes << 8 | static_cast<uint8_t>(last)); }
};

// The shape as text, in the order of the key attributes.
std::string KeyConditionText(const std::vector<KeyAttribute>& partition,
                             const std::vector<KeyAttribute>& sort, KeyConditionShape shape);

}  // namespace itemdb::storage
