// Document paths of expressions and the key attributes of a table.
#pragma once

#include <string>
#include <vector>

#include "storage/base/status.h"
#include "storage/catalog/table.h"

namespace itemdb::storage {

// INVALID_ARGUMENT (SEM-071): one of `names`, attributes into which a path leads, is a key attribute of the
// table or of one of its secondary indexes. Those are scalars.
absl::Status CheckNoPathIntoKeys(const Table& table, const std::vector<std::string>& names);

}  // namespace itemdb::storage
