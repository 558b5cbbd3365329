// The answers of order-entry patterns as text for people: the `-o table` form of `order-entry all` and of
// each pattern.
#pragma once

#include <string>
#include <vector>

#include "itemdb/order_entry.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

// Prints the question with its arguments, then the items as a table that fits a terminal, then the number of
// items. `arguments` has one value for each parameter of the pattern.
//
// In ItemForm::kPlain a list of strings or of order lines is printed as text ("prod_100 x 5, prod_101 x 2").
// PK or SK is left out if it equals an id in every item; the line with the number of items says so. In
// ItemForm::kTyped items are printed as they are stored, at any width.
void PrintPatternTable(const order_entry::AccessPattern& pattern, const std::vector<std::string>& arguments,
                       const std::vector<Item>& items, ItemForm form, Context& context);

}  // namespace itemdb::tools
