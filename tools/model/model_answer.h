// The answer of a pattern beside the one that is expected.
#pragma once

#include <string>
#include <vector>

#include "itemdb/value.h"

namespace itemdb::tools {

// What makes them differ, in lines for people, at most some twenty; none when they are the same. Numbers are
// compared by value and sets without their order. `any_order`: so are the items.
std::vector<std::string> AnswerDifferences(const std::vector<Item>& expected, const std::vector<Item>& found,
                                           bool any_order);

}  // namespace itemdb::tools
