// Checks ImportTable requests and makes the descriptions of imports.
#pragma once

#include <string_view>

#include "itemdb/v1/imports.pb.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// The description of the import that `request` asks for, without ARNs, status and times. The table creation
// parameters are checked only for members that an import cannot have; DefinitionFromRequest checks the
// others. INVALID_ARGUMENT (IMP-01, IMP-08).
absl::StatusOr<v1::ImportDescription> ImportFromRequest(const v1::ImportTableRequest& request);

// INVALID_ARGUMENT, with `rule`: the bucket, the prefix or the owner of `source` cannot be one.
absl::Status CheckBucketSource(std::string_view rule, const v1::S3BucketSource& source);

// Whether two imports were asked for with the same parameters (IMP-07).
bool HasSameParameters(const v1::ImportDescription& a, const v1::ImportDescription& b);

}  // namespace itemdb::storage
