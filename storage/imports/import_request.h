// Checks ImportTable requests and makes the descriptions of imports.
#pragma once

#include "itemdb/v1/imports.pb.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// The description of the import that `request` asks for, without ARNs, status and times. The table creation
// parameters are checked only for members that an import cannot have; DefinitionFromRequest checks the
// others. INVALID_ARGUMENT (IMP-01, IMP-08).
absl::StatusOr<v1::ImportDescription> ImportFromRequest(const v1::ImportTableRequest& request);

// Whether two imports were asked for with the same parameters (IMP-07).
bool HasSameParameters(const v1::ImportDescription& a, const v1::ImportDescription& b);

}  // namespace itemdb::storage
