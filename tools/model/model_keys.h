// Checks of the keys of a model's tables and items.
#pragma once

#include "absl/status/status.h"
#include "itemdb/table.h"
#include "itemdb/value.h"

namespace itemdb::tools {

// UsageError (tools/base/exit_codes.h): a key attribute of the table or of an index has no attribute
// definition.
absl::Status CheckKeysAreDefined(const TableDefinition& table);

// UsageError: `item` lacks an attribute of the table's key, or has it with another type. CheckKeysAreDefined
// must have succeeded for `table`.
absl::Status CheckKeyOf(const TableDefinition& table, const Item& item);

}  // namespace itemdb::tools
