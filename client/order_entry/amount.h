// Exact sums of money.
#pragma once

#include <vector>

#include "itemdb/order_entry.h"

namespace itemdb::order_entry {

// The sum of quantity times price over `lines`, exact, without exponent or superfluous zeros.
// INVALID_ARGUMENT (reason VALIDATION): the sum, or one line's amount with as many decimals as the finest
// price, has more than 38 digits.
absl::StatusOr<Number> TotalAmount(const std::vector<NewOrderLine>& lines);

}  // namespace itemdb::order_entry
