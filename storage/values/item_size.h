// How many bytes an item counts for by the data model's rules (SEM-002, SEM-003): what limits are stated in
// and what statistics add up. Not the length of its encoding.
#pragma once

#include <cstddef>

#include "storage/values/value_view.h"

namespace itemdb {

// Attribute names and values: names and S by UTF-8 bytes, B by raw bytes, N by Number::SizeBytes(), BOOL and
// NULL 1, sets the sum of their elements, L and M 3 plus 1 per element plus the elements (with their names).
// The argument must be canonical. Thread-safe; one walk, no allocation.
size_t ItemSizeBytes(ItemView item);
size_t ValueSizeBytes(ValueView value);

}  // namespace itemdb
