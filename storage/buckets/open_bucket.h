// Opens buckets by their names, as the options of the database say where they are.
#pragma once

#include <memory>
#include <string>

#include "storage/api/options.h"
#include "storage/buckets/bucket.h"

namespace itemdb::storage {

// Opens the bucket `name`: a folder of the export directory. `cancellation` ends what takes long in the
// bucket, and its objects; it is borrowed. Blocks. Errors as bucket.h lists them.
absl::StatusOr<std::unique_ptr<Bucket>> OpenBucket(const DatabaseOptions& options, const std::string& name,
                                                   const Cancellation& cancellation);

}  // namespace itemdb::storage
