// A gzip file in a bucket: one member, with the header of the service's exports (XPT-35).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

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
  struct Deflater;
  explicit GzipFile(std::unique_ptr<WritableObject> file);

  // Compresses `text` and writes what is compressed; everything at the end.
  absl::Status Deflate(std::string_view text, bool at_end);

  const std::unique_ptr<WritableObject> file_;
  const std::unique_ptr<Deflater> deflater_;
  uint32_t checksum_ = 0;
  // Of the text, modulo 2^32, as the trailer has it.
  uint32_t text_bytes_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace itemdb::storage
