// A gzip file in a bucket: one member, with the header of the service's exports (XPT-35).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/compression/compressor.h"
#include "storage/buckets/bucket.h"

namespace itemdb::storage {

// Not thread-safe. The destructor deletes what was written, unless Finish has succeeded.
class GzipFile {
 public:
  // Errors of all functions as of WritableObject.
  static absl::StatusOr<std::unique_ptr<GzipFile>> Create(const Bucket& bucket, const std::string& key);
  ~GzipFile();
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  absl::Status Append(std::string_view text);
  absl::StatusOr<WrittenObject> Finish();
  // Compressed bytes that were written so far; up to about 300 KB may wait.
  int64_t bytes() const { return bytes_; }

 private:
  explicit GzipFile(std::unique_ptr<WritableObject> file);

  absl::Status WriteCompressed();

  const std::unique_ptr<WritableObject> file_;
  const std::unique_ptr<Compressor> compressor_;
  // What was compressed and not written yet; a member, so that its memory is used again.
  std::string compressed_;
  int64_t bytes_ = 0;
};

}  // namespace itemdb::storage
