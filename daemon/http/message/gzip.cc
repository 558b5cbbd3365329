#include "daemon/http/message/gzip.h"

#include <zlib.h>

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_format.h"

namespace itemdb::http {
namespace {

// 15: the largest window; 16: expect a gzip header, not a zlib header.
constexpr int kGzipWindowBits = 15 + 16;
// JSON rarely compresses better. The buffer grows if it does.
constexpr size_t kUsualRatio = 8;
constexpr size_t kMinCapacity = 4'096;

absl::Status NotGzip() {
  return storage::ValidationError("the body is not gzip, as its Content-Encoding says, or not whole");
}

}  // namespace

absl::StatusOr<std::string> Gunzip(std::string_view bytes, size_t max_bytes, size_t padding) {
  z_stream stream = {};
  if (inflateInit2(&stream, kGzipWindowBits) != Z_OK) return absl::InternalError("zlib does not start");
  absl::Cleanup end = [&] { inflateEnd(&stream); };
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());

  std::string inflated;
  size_t written = 0;
  inflated.resize(std::clamp(bytes.size() * kUsualRatio, kMinCapacity, max_bytes + 1));
  while (true) {
    stream.next_out = reinterpret_cast<Bytef*>(inflated.data() + written);
    stream.avail_out = static_cast<uInt>(inflated.size() - written);
    int result = inflate(&stream, Z_NO_FLUSH);
    written = inflated.size() - stream.avail_out;
    if (written > max_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("the body inflates to more than %d bytes", max_bytes));
    }
    if (result == Z_STREAM_END) {
      if (stream.avail_in == 0) break;
      if (inflateReset(&stream) != Z_OK) return NotGzip();
      continue;
    }
    // Z_BUF_ERROR with room left means that the input ended too early.
    if (result != Z_OK && (result != Z_BUF_ERROR || stream.avail_out > 0)) return NotGzip();
    if (stream.avail_out > 0 && stream.avail_in == 0) return NotGzip();
    if (stream.avail_out == 0) inflated.resize(std::min(inflated.size() * 2, max_bytes + 1));
  }
  inflated.resize(written);
  inflated.reserve(written + padding);
  return inflated;
}

}  // namespace itemdb::http
