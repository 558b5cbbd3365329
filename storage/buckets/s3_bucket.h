// A bucket of a store like Amazon's S3.
//
// An object up to 8 MiB is one request; a larger one is uploaded in parts of 8 MiB, which become the object
// in one request at the end. So memory holds one part of each object that is read or written, and an object
// has at most 10,000 parts, which is 78 GiB. Objects are read in pieces of 8 MiB; after a cut connection the
// piece goes on where it was cut. Each piece is of the version that was listed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/buckets/bucket.h"
#include "storage/buckets/s3_client.h"

namespace itemdb::storage {

// Errors as bucket.h lists them, and as S3Client::Send. An operation begins with no connection to the store,
// so also Open has only errors of `options` and of the name; others have NO_SUCH_BUCKET.
class S3Bucket final : public Bucket {
 public:
  // `cancellation` ends requests and the pauses between them; it is borrowed.
  static absl::StatusOr<std::unique_ptr<S3Bucket>> Open(const S3Options& options, const std::string& name,
                                                        const Cancellation& cancellation);

  absl::StatusOr<std::vector<BucketObject>> List(std::string_view prefix, size_t max_objects) const override;
  absl::StatusOr<std::unique_ptr<ReadableObject>> Open(const BucketObject& object) const override;
  absl::StatusOr<std::unique_ptr<WritableObject>> Create(const std::string& key) const override;
  absl::Status Delete(const std::string& key) const override;
  // Ends the uploads of parts whose keys begin with `prefix`. Does nothing if the store cannot list them.
  absl::Status RemoveLeftovers(std::string_view prefix) const override;
  std::optional<uint64_t> device() const override { return std::nullopt; }

 private:
  S3Bucket(std::string name, std::shared_ptr<const S3Client> client)
      : name_(std::move(name)), client_(std::move(client)) {}

  const std::string name_;
  // Also of the objects.
  const std::shared_ptr<const S3Client> client_;
};

}  // namespace itemdb::storage
