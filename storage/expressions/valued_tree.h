// Syntax trees with their values, made from requests without expressions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/expressions/syntax.h"

namespace itemdb::storage {

// A tree that was not parsed from an expression. It has no aliases. `values` are canonical, by slot.
struct ValuedTree {
  std::shared_ptr<const Tree> tree;
  std::vector<std::string> values;
};

}  // namespace itemdb::storage
