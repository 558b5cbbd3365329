// The answer of an order-entry pattern as text for people: the `-o table` form of `order-entry all` and of
// each pattern.
#pragma once

#include <string>
#include <vector>

#include "itemdb/order_entry.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

// Prints what was asked, in words and with the arguments; the items as a table that fits a terminal; and
// the number of items. `arguments` has one for each parameter of the pattern.
//
// In ItemForm::kPlain a list of texts or of order lines is shown as text ("prod_100 x 5, prod_101 x 2"),
// and a key attribute that repeats another attribute in every item is not shown but named beside the
// number of items. In ItemForm::kTyped items are shown as they are stored, as wide as they are.
void PrintPatternTable(const order_entry::AccessPattern& pattern, const std::vector<std::string>& arguments,
                       const std::vector<Item>& items, ItemForm form, Context& context);

}  // namespace itemdb::tools
