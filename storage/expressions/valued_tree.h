// Syntax trees that come with their values: what requests without expressions are turned into.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/expressions/syntax.h"

namespace itemdb {

// A tree that was not parsed from the text of an expression, without aliases, and the values in its slots,
// canonical.
struct ValuedTree {
  std::shared_ptr<const Tree> tree;
  std::vector<std::string> values;
};

}  // namespace itemdb
