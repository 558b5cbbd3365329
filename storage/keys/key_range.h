// Attributes of a key schema, and contiguous ranges of encoded keys.
#pragma once

#include <string>

#include "storage/values/value_view.h"

namespace itemdb::storage {

// One attribute of a key schema.
struct KeyAttribute {
  std::string name;
  ValueType type = ValueType::kS;  // kS, kN or kB.
};

// Encoded keys from `lower`, inclusive, to `upper`, exclusive. An empty `upper` is unbounded.
struct KeyRange {
  std::string lower;
  std::string upper;
};

}  // namespace itemdb::storage
