// The key of an item.
#pragma once

#include "itemdb/table.h"
#include "itemdb/value.h"

namespace itemdb::tools {

// The key attributes of an item of the table; those that it has.
Item KeyOf(const TableDefinition& definition, const Item& item);

}  // namespace itemdb::tools
