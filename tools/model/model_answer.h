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

// Where neighbours in `found` have these key attributes equal, brings them into the order that they have in
// `expected`, as far as they are there: DynamoDB does not say in which order items with equal keys of an
// index come, and engines differ. Neighbours without one of the attributes stay as they are.
void OrderTiesAs(const std::vector<Item>& expected, const std::vector<std::string>& key_attributes,
                 std::vector<Item>& found);

}  // namespace itemdb::tools
