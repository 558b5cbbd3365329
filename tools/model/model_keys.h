// What a model's tables ask of the keys of its items.
#pragma once

#include "absl/status/status.h"
#include "itemdb/table.h"
#include "itemdb/value.h"

namespace itemdb::tools {

// UsageError (tools/base/exit_codes.h): a key attribute of the table or of an index is in no attribute
// definition.
absl::Status CheckKeysAreDefined(const TableDefinition& table);

// UsageError: `item` lacks an attribute of the table's key, or has it with another type. For tables whose
// keys are defined.
absl::Status CheckKeyOf(const TableDefinition& table, const Item& item);

}  // namespace itemdb::tools
