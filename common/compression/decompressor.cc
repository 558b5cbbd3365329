#include "common/compression/decompressor.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "common/status_macros.h"

namespace itemdb {
namespace {

constexpr size_t kInputBytes = 256 << 10;
// 16 more bits for zlib: only the gzip format.
constexpr int kGzipWindowBits = 15 + 16;
constexpr int kMaxZstdWindowLog = 27;

absl::Status NoMemoryError() {
  return absl::ResourceExhaustedError("there is no memory to decompress the data");
}

class PlainBytes final : public ByteSource {
 public:
  explicit PlainBytes(ByteSource& from) : from_(from) {}
  absl::StatusOr<size_t> Read(char* out, size_t size) override { return from_.Read(out, size); }

 private:
  ByteSource& from_;
};

class GzipBytes final : public ByteSource {
 public:
  explicit GzipBytes(ByteSource& from)
      : from_(from), buffer_(kInputBytes), opened_(inflateInit2(&stream_, kGzipWindowBits)) {}
  ~GzipBytes() override { inflateEnd(&stream_); }

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    if (opened_ != Z_OK) return NoMemoryError();
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(size, 1 << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted) {
      if (stream_.avail_in == 0) {
        ITEMDB_ASSIGN_OR_RETURN(const size_t count, from_.Read(buffer_.data(), buffer_.size()));
        if (count == 0) {
          if (in_member_) return absl::InvalidArgumentError("the gzip data ends before it is complete");
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
        return absl::InvalidArgumentError(std::string("the object is not valid gzip data: ") +
                                          (stream_.msg != nullptr ? stream_.msg : "inflate() fails"));
      }
    }
    return wanted - stream_.avail_out;
  }

 private:
  ByteSource& from_;
  std::vector<char> buffer_;
  z_stream stream_{};
  const int opened_;
  // Whether a member has begun and not ended.
  bool in_member_ = true;
};

class ZstdBytes final : public ByteSource {
 public:
  explicit ZstdBytes(ByteSource& from)
      : from_(from), buffer_(kInputBytes), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {
    if (stream_ != nullptr)
      (void)ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kMaxZstdWindowLog);
  }

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    if (stream_ == nullptr) return NoMemoryError();
    ZSTD_outBuffer to{out, size, 0};
    while (to.pos == 0) {
      if (input_.pos == input_.size && !has_output_) {
        ITEMDB_ASSIGN_OR_RETURN(const size_t count, from_.Read(buffer_.data(), buffer_.size()));
        if (count == 0) {
          if (in_frame_) return absl::InvalidArgumentError("the zstd data ends before it is complete");
          return 0;
        }
        input_ = {buffer_.data(), count, 0};
      }
      const size_t left = ZSTD_decompressStream(stream_.get(), &to, &input_);
      if (ZSTD_isError(left) != 0) {
        return absl::InvalidArgumentError(std::string("the object is not valid zstd data: ") +
                                          ZSTD_getErrorName(left));
      }
      in_frame_ = left != 0;
      // A full buffer: the stream may hold more, also after its last input.
      has_output_ = to.pos == to.size && in_frame_;
    }
    return to.pos;
  }

 private:
  ByteSource& from_;
  std::vector<char> buffer_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream_;
  // Whether a frame has begun and not ended.
  bool in_frame_ = true;
  bool has_output_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> NewDecompressor(ByteSource& from, Compression compression) {
  switch (compression) {
    case Compression::kGzip:
      return std::make_unique<GzipBytes>(from);
    case Compression::kZstd:
      return std::make_unique<ZstdBytes>(from);
    case Compression::kNone:
      break;
  }
  return std::make_unique<PlainBytes>(from);
}

}  // namespace itemdb
