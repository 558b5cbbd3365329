#include "common/compression/compressor.h"

#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <vector>

#include "common/status_macros.h"

namespace itemdb {
namespace {

// No name, no time, no flags, an unknown operating system. zlib's own header says which system and level it
// is, so the member is made of a header, deflated data without one, and a trailer.
constexpr std::string_view kGzipHeader("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 10);
constexpr size_t kOutputBytes = 128 << 10;
// Deflated data without the header and trailer of zlib's own format.
constexpr int kRawWindowBits = -15;
constexpr int kMemoryLevel = 8;

void AppendLittleEndian(uint32_t number, std::string* out) {
  for (int i = 0; i < 4; ++i) out->push_back(static_cast<char>(number >> (8 * i) & 0xFF));
}

class NoCompressor final : public Compressor {
 public:
  absl::Status Append(std::string_view text, std::string* out) override {
    out->append(text);
    return absl::OkStatus();
  }
  absl::Status Finish(std::string*) override { return absl::OkStatus(); }
};

class GzipCompressor final : public Compressor {
 public:
  GzipCompressor()
      : opened_(deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, kRawWindowBits, kMemoryLevel,
                             Z_DEFAULT_STRATEGY)),
        output_(kOutputBytes),
        checksum_(static_cast<uint32_t>(crc32(0, nullptr, 0))) {}
  ~GzipCompressor() override { deflateEnd(&stream_); }
  bool is_open() const { return opened_ == Z_OK; }

  absl::Status Append(std::string_view text, std::string* out) override {
    checksum_ = static_cast<uint32_t>(
        crc32_z(checksum_, reinterpret_cast<const unsigned char*>(text.data()), text.size()));
    text_bytes_ += static_cast<uint32_t>(text.size());
    return Deflate(text, /*at_end=*/false, out);
  }

  absl::Status Finish(std::string* out) override {
    ITEMDB_RETURN_IF_ERROR(Deflate({}, /*at_end=*/true, out));
    AppendLittleEndian(checksum_, out);
    AppendLittleEndian(text_bytes_, out);
    return absl::OkStatus();
  }

 private:
  absl::Status Deflate(std::string_view text, bool at_end, std::string* out) {
    if (!has_header_) out->append(kGzipHeader);
    has_header_ = true;
    // zlib reads only; its interface has no const here.
    stream_.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<unsigned int>(text.size());
    do {
      stream_.next_out = reinterpret_cast<unsigned char*>(output_.data());
      stream_.avail_out = static_cast<unsigned int>(output_.size());
      const int result = deflate(&stream_, at_end ? Z_FINISH : Z_NO_FLUSH);
      // Z_BUF_ERROR: there was nothing to do, because the output has just become full.
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return absl::InternalError("zlib cannot compress");
      out->append(output_.data(), output_.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
    return absl::OkStatus();
  }

  z_stream stream_{};
  const int opened_;
  std::vector<char> output_;
  bool has_header_ = false;
  uint32_t checksum_;
  // Of the text, modulo 2^32, as the trailer has it.
  uint32_t text_bytes_ = 0;
};

class ZstdCompressor final : public Compressor {
 public:
  ZstdCompressor() : stream_(ZSTD_createCStream(), ZSTD_freeCStream), output_(ZSTD_CStreamOutSize()) {
    if (stream_ != nullptr) (void)ZSTD_CCtx_setParameter(stream_.get(), ZSTD_c_checksumFlag, 1);
  }
  bool is_open() const { return stream_ != nullptr; }

  absl::Status Append(std::string_view text, std::string* out) override {
    return Compress(text, ZSTD_e_continue, out);
  }
  absl::Status Finish(std::string* out) override { return Compress({}, ZSTD_e_end, out); }

 private:
  absl::Status Compress(std::string_view text, ZSTD_EndDirective directive, std::string* out) {
    ZSTD_inBuffer from{text.data(), text.size(), 0};
    size_t left = 0;
    do {
      ZSTD_outBuffer to{output_.data(), output_.size(), 0};
      left = ZSTD_compressStream2(stream_.get(), &to, &from, directive);
      out->append(output_.data(), to.pos);
      if (ZSTD_isError(left) != 0) {
        return absl::ResourceExhaustedError(std::string("zstd cannot compress: ") + ZSTD_getErrorName(left));
      }
    } while (from.pos < from.size || (directive == ZSTD_e_end && left != 0));
    return absl::OkStatus();
  }

  const std::unique_ptr<ZSTD_CStream, size_t (*)(ZSTD_CStream*)> stream_;
  std::vector<char> output_;
};

template <typename T>
std::unique_ptr<Compressor> OpenOrNull() {
  auto compressor = std::make_unique<T>();
  return compressor->is_open() ? std::move(compressor) : nullptr;
}

}  // namespace

std::unique_ptr<Compressor> NewCompressor(Compression compression) {
  switch (compression) {
    case Compression::kGzip:
      return OpenOrNull<GzipCompressor>();
    case Compression::kZstd:
      return OpenOrNull<ZstdCompressor>();
    case Compression::kNone:
      break;
  }
  return std::make_unique<NoCompressor>();
}

}  // namespace itemdb
