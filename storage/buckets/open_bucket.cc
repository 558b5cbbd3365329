#include "storage/buckets/open_bucket.h"

#include "storage/buckets/folder_bucket.h"
#include "storage/buckets/s3_bucket.h"

namespace itemdb::storage {

absl::StatusOr<std::unique_ptr<Bucket>> OpenBucket(const DatabaseOptions& options, const std::string& name,
                                                   const Cancellation& cancellation) {
  if (!options.s3.endpoint.empty()) return S3Bucket::Open(options.s3, name, cancellation);
  return FolderBucket::Open(ExportDirectoryOf(options), name, cancellation);
}

}  // namespace itemdb::storage
