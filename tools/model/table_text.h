// Keys and projections as short text for people.
#pragma once

#include <string>
#include <vector>

#include "itemdb/table.h"

namespace itemdb::tools {

// "customer_id S HASH, order_date S RANGE"; the types come from the attribute definitions of `table`.
std::string KeySchemaText(const std::vector<KeySchemaElement>& key_schema, const TableDefinition& table);

// "INCLUDE name, email".
std::string ProjectionText(const Projection& projection);

}  // namespace itemdb::tools
