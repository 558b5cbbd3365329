#include "storage/imports/object_reader.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace itemdb::storage {
namespace {

constexpr size_t kObjectBufferBytes = 256 << 10;
// 16 more bits for zlib: only the gzip format.
constexpr int kGzipWindowBits = 15 + 16;
constexpr int kMaxZstdWindowLog = 27;

absl::Status FormatError(std::string_view message) { return ValidationError("IMP-14", message); }

class PlainReader final : public ObjectReader {
 public:
  PlainReader(ReadableObject& object, std::atomic<int64_t>* object_bytes)
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

class GzipReader final : public ObjectReader {
 public:
  explicit GzipReader(std::unique_ptr<ObjectReader> file)
      : file_(std::move(file)),
        buffer_(kObjectBufferBytes),
        opened_(inflateInit2(&stream_, kGzipWindowBits)) {}
  ~GzipReader() override { inflateEnd(&stream_); }

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    if (opened_ != Z_OK) {
      return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                       "there is no memory to decompress the object");
    }
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(size, 1 << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted) {
      if (stream_.avail_in == 0) {
        ITEMDB_ASSIGN_OR_RETURN(const size_t count, file_->Read(buffer_.data(), buffer_.size()));
        if (count == 0) {
          if (in_member_) return FormatError("the gzip data ends before it is complete");
          return 0;
        }
        stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
        stream_.avail_in = static_cast<uInt>(count);
      }
      in_member_ = true;
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        in_member_ = false;
        inflateReset(&stream_);
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return FormatError(std::string("the object is not valid gzip data: ") +
                           (stream_.msg != nullptr ? stream_.msg : "inflate() fails"));
      }
    }
    return wanted - stream_.avail_out;
  }

 private:
  const std::unique_ptr<ObjectReader> file_;
  std::vector<char> buffer_;
  z_stream stream_{};
  const int opened_;
  // Whether a member has begun and not ended.
  bool in_member_ = true;
};

class ZstdReader final : public ObjectReader {
 public:
  explicit ZstdReader(std::unique_ptr<ObjectReader> file)
      : file_(std::move(file)), buffer_(kObjectBufferBytes), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {
    if (stream_ != nullptr)
      (void)ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kMaxZstdWindowLog);
  }

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    if (stream_ == nullptr) {
      return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                       "there is no memory to decompress the object");
    }
    ZSTD_outBuffer to{out, size, 0};
    while (to.pos == 0) {
      if (from_.pos == from_.size && !has_output_) {
        ITEMDB_ASSIGN_OR_RETURN(const size_t count, file_->Read(buffer_.data(), buffer_.size()));
        if (count == 0) {
          if (in_frame_) return FormatError("the zstd data ends before it is complete");
          return 0;
        }
        from_ = {buffer_.data(), count, 0};
      }
      const size_t left = ZSTD_decompressStream(stream_.get(), &to, &from_);
      if (ZSTD_isError(left) != 0)
        return FormatError(std::string("the object is not valid zstd data: ") + ZSTD_getErrorName(left));
      in_frame_ = left != 0;
      // A full buffer: the stream may hold more, also after its last input.
      has_output_ = to.pos == to.size && in_frame_;
    }
    return to.pos;
  }

 private:
  const std::unique_ptr<ObjectReader> file_;
  std::vector<char> buffer_;
  ZSTD_inBuffer from_{nullptr, 0, 0};
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream_;
  // Whether a frame has begun and not ended.
  bool in_frame_ = true;
  bool has_output_ = false;
};

}  // namespace

std::unique_ptr<ObjectReader> NewObjectReader(ReadableObject& object, v1::InputCompressionType compression,
                                              std::atomic<int64_t>* object_bytes) {
  auto plain = std::make_unique<PlainReader>(object, object_bytes);
  switch (compression) {
    case v1::INPUT_COMPRESSION_TYPE_GZIP:
      return std::make_unique<GzipReader>(std::move(plain));
    case v1::INPUT_COMPRESSION_TYPE_ZSTD:
      return std::make_unique<ZstdReader>(std::move(plain));
    default:
      return plain;
  }
}

}  // namespace itemdb::storage
