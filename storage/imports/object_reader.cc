#include "storage/imports/object_reader.h"

#include <utility>

#include "common/compression/decompressor.h"

namespace itemdb::storage {
namespace {

Compression CompressionOf(v1::InputCompressionType type) {
  if (type == v1::INPUT_COMPRESSION_TYPE_GZIP) return Compression::kGzip;
  return type == v1::INPUT_COMPRESSION_TYPE_ZSTD ? Compression::kZstd : Compression::kNone;
}

class ObjectBytes final : public ByteSource {
 public:
  ObjectBytes(ReadableObject& object, std::atomic<int64_t>* object_bytes)
      : object_(object), object_bytes_(*object_bytes) {}

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    ITEMDB_ASSIGN_OR_RETURN(const size_t count, object_.Read(out, size));
    object_bytes_ += static_cast<int64_t>(count);
    return count;
  }

 private:
  ReadableObject& object_;
  std::atomic<int64_t>& object_bytes_;
};

class DecompressingReader final : public ObjectReader {
 public:
  DecompressingReader(ReadableObject& object, Compression compression, std::atomic<int64_t>* object_bytes)
      : bytes_(object, object_bytes), decompressor_(NewDecompressor(bytes_, compression)) {}

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    absl::StatusOr<size_t> count = decompressor_->Read(out, size);
    // Errors of the object have a reason already.
    if (count.ok() || !ReasonOf(count.status()).empty()) return count;
    if (absl::IsInvalidArgument(count.status())) return ValidationError("IMP-14", MessageOf(count.status()));
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, MessageOf(count.status()));
  }

 private:
  ObjectBytes bytes_;
  const std::unique_ptr<ByteSource> decompressor_;
};

}  // namespace

std::unique_ptr<ObjectReader> NewObjectReader(ReadableObject& object, v1::InputCompressionType compression,
                                              std::atomic<int64_t>* object_bytes) {
  return std::make_unique<DecompressingReader>(object, CompressionOf(compression), object_bytes);
}

}  // namespace itemdb::storage
