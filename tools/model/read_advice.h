// What `itemctl explain` says about a read beside its figures: whether it reads too much, and what would read
// less.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "itemdb/client.h"

namespace itemdb::tools {

// A read of one page, as it was asked for and as it went.
struct ObservedRead {
  // False for a scan.
  bool is_query = false;
  // Empty for the table itself.
  std::string index_name = {};
  std::string filter_expression = {};
  ExpressionAttributeNames expression_attribute_names = {};
  // Items read, and those of them that the filter left.
  int64_t scanned_count = 0;
  int64_t count = 0;
  // Items of the table that were fetched because the local index does not hold all that is asked for.
  int64_t base_items_read = 0;
};

// Sentences without their full stop; none when there is nothing to be better.
std::vector<std::string> AdviceFor(const ObservedRead& read, const TableDefinition& table);

// The top-level attributes that `filter` can only hold for with one value each: of `a = :v AND #b = :w` a and
// what #b stands for. None of a filter with OR or NOT. Text that is no expression gives whatever.
std::set<std::string> FixedAttributes(const std::string& filter, const ExpressionAttributeNames& names);

}  // namespace itemdb::tools
