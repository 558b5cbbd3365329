// The size of an item by the data model's rules (SEM-002, SEM-003). Limits and statistics use this size. It
// is not the length of the item's encoding.
#pragma once

#include <cstddef>

#include "storage/values/value_view.h"

namespace itemdb::storage {

// Adds up attribute names and values: names and S by UTF-8 bytes, B by raw bytes, N by Number::SizeBytes(),
// BOOL and NULL 1, sets the sum of their elements, L and M 3 plus 1 per element plus the elements (with their
// names). The argument must be canonical. Thread-safe; one walk, no allocation.
size_t ItemSizeBytes(ItemView item);
size_t ValueSizeBytes(ValueView value);

}  // namespace itemdb::storage
