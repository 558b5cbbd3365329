// Advice for a read that reads more than necessary. Used by `itemctl explain` and `itemctl model run`.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "itemdb/client.h"

namespace itemdb::tools {

// The request of a read and its statistics.
struct ObservedRead {
  // False for a scan.
  bool is_query = false;
  // Empty for the table itself.
  std::string index_name = {};
  std::string key_condition_expression = {};
  std::string filter_expression = {};
  std::string projection_expression = {};
  ExpressionAttributeNames expression_attribute_names = {};
  // They become part of the commands in the advice, so that these can be pasted.
  ExpressionAttributeValues expression_attribute_values = {};
  // The number of items read, and of those that passed the filter.
  int64_t scanned_count = 0;
  int64_t count = 0;
  // Items fetched from the table because the local index does not project all requested attributes.
  int64_t base_items_read = 0;
};

// Sentences without a full stop; none if no cheaper read is known. Advice to query ends with ": " and the
// command, as it is typed into a shell: with the values of the read, and with what is left of its filter.
// There is no command if a query would refuse what is left.
std::vector<std::string> AdviceFor(const ObservedRead& read, const TableDefinition& table);

// The top-level attributes that must equal one value for `filter` to be true. For `a = :v AND #b = :w`: "a"
// and the name that #b stands for. For text that is not an expression the result is unspecified.
std::set<std::string> FixedAttributes(const std::string& filter, const ExpressionAttributeNames& names);

}  // namespace itemdb::tools
