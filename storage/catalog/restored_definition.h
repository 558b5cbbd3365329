// The definition of a table that is restored, with the overrides of the request (PIT-13 to PIT-17).
#pragma once

#include <string>

#include "itemdb/v1/backups.pb.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// Returns the definition of the new table `name`, made of `source` as a backup describes it. The caller sets
// storage ids, table id, status and creation time.
//
// INVALID_ARGUMENT: `name` is not a table name; the billing mode and throughputs do not fit each other; an
// index is none of the source's.
absl::StatusOr<v1::TableDescription> RestoredDefinition(const std::string& name,
                                                        const v1::TableDescription& source,
                                                        const v1::RestoreOverrides& overrides);

}  // namespace itemdb::storage
