#include "storage/exports/gzip_file.h"

#include <utility>

#include "common/compression/compressor.h"
#include "storage/base/check.h"

namespace itemdb::storage {

GzipFile::GzipFile(std::unique_ptr<WritableObject> file)
    : file_(std::move(file)), compressor_(NewCompressor(Compression::kGzip)) {
  ITEMDB_CHECK(compressor_ != nullptr);
}

GzipFile::~GzipFile() = default;

absl::StatusOr<std::unique_ptr<GzipFile>> GzipFile::Create(const Bucket& bucket, const std::string& key) {
  ITEMDB_ASSIGN_OR_RETURN(std::unique_ptr<WritableObject> object, bucket.Create(key));
  return std::unique_ptr<GzipFile>(new GzipFile(std::move(object)));
}

absl::Status GzipFile::Append(std::string_view text) {
  ITEMDB_RETURN_IF_ERROR(compressor_->Append(text, &compressed_));
  return WriteCompressed();
}

absl::StatusOr<WrittenObject> GzipFile::Finish() {
  ITEMDB_RETURN_IF_ERROR(compressor_->Finish(&compressed_));
  ITEMDB_RETURN_IF_ERROR(WriteCompressed());
  return file_->Finish();
}

absl::Status GzipFile::WriteCompressed() {
  bytes_ += static_cast<int64_t>(compressed_.size());
  const absl::Status written = compressed_.empty() ? absl::OkStatus() : file_->Append(compressed_);
  compressed_.clear();
  return written;
}

}  // namespace itemdb::storage
