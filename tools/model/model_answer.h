// Compares the answer of a pattern with the expected answer.
#pragma once

#include <string>
#include <vector>

#include "itemdb/value.h"

namespace itemdb::tools {

// The differences as lines for people, at most 33; none if the answers are equal. Numbers are compared by
// value, and sets without regard to order; with `any_order` the items too.
std::vector<std::string> AnswerDifferences(const std::vector<Item>& expected, const std::vector<Item>& found,
                                           bool any_order);

}  // namespace itemdb::tools
