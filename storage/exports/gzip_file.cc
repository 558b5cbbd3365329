#include "storage/exports/gzip_file.h"

#include <zlib.h>

#include <utility>
#include <vector>

#include "storage/base/check.h"

namespace itemdb::storage {
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

}  // namespace

struct GzipFile::Deflater {
  z_stream stream = {};
  std::vector<char> output = std::vector<char>(kOutputBytes);

  Deflater() {
    ITEMDB_CHECK(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kRawWindowBits, kMemoryLevel,
                              Z_DEFAULT_STRATEGY) == Z_OK);
  }
  ~Deflater() { deflateEnd(&stream); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
};

GzipFile::GzipFile(std::unique_ptr<WritableObject> file)
    : file_(std::move(file)),
      deflater_(std::make_unique<Deflater>()),
      checksum_(static_cast<uint32_t>(crc32(0, nullptr, 0))) {}

GzipFile::~GzipFile() = default;

absl::StatusOr<std::unique_ptr<GzipFile>> GzipFile::Create(const Bucket& bucket, const std::string& key) {
  ITEMDB_ASSIGN_OR_RETURN(std::unique_ptr<WritableObject> object, bucket.Create(key));
  ITEMDB_RETURN_IF_ERROR(object->Append(kGzipHeader));
  std::unique_ptr<GzipFile> file(new GzipFile(std::move(object)));
  file->bytes_ = static_cast<int64_t>(kGzipHeader.size());
  return file;
}

absl::Status GzipFile::Append(std::string_view text) {
  checksum_ = static_cast<uint32_t>(
      crc32_z(checksum_, reinterpret_cast<const unsigned char*>(text.data()), text.size()));
  text_bytes_ += static_cast<uint32_t>(text.size());
  return Deflate(text, /*at_end=*/false);
}

absl::Status GzipFile::Deflate(std::string_view text, bool at_end) {
  z_stream& stream = deflater_->stream;
  // zlib reads only; its interface has no const here.
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<unsigned int>(text.size());
  do {
    stream.next_out = reinterpret_cast<unsigned char*>(deflater_->output.data());
    stream.avail_out = static_cast<unsigned int>(deflater_->output.size());
    const int result = deflate(&stream, at_end ? Z_FINISH : Z_NO_FLUSH);
    ITEMDB_CHECK(result != Z_STREAM_ERROR);
    const size_t made = deflater_->output.size() - stream.avail_out;
    bytes_ += static_cast<int64_t>(made);
    ITEMDB_RETURN_IF_ERROR(file_->Append({deflater_->output.data(), made}));
  } while (stream.avail_out == 0);
  return absl::OkStatus();
}

absl::StatusOr<WrittenObject> GzipFile::Finish() {
  ITEMDB_RETURN_IF_ERROR(Deflate({}, /*at_end=*/true));
  std::string trailer;
  AppendLittleEndian(checksum_, &trailer);
  AppendLittleEndian(text_bytes_, &trailer);
  ITEMDB_RETURN_IF_ERROR(file_->Append(trailer));
  bytes_ += static_cast<int64_t>(trailer.size());
  return file_->Finish();
}

}  // namespace itemdb::storage
