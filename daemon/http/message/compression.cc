#include "daemon/http/message/compression.h"

#include <zlib.h>

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "daemon/http/message/absl_view.h"

namespace itemdb::http {
namespace {

// The largest window. 16 more: gzip. Negative: no header and no checksum.
constexpr int kZlibWindowBits = 15;
constexpr int kGzipWindowBits = 15 + 16;
constexpr int kRawWindowBits = -15;
// Memory of the compressor, as zlib's default.
constexpr int kMemoryLevel = 8;
// JSON rarely compresses better. The buffer grows if it does.
constexpr size_t kUsualRatio = 8;
constexpr size_t kMinCapacity = 4'096;

absl::Status NotCoded(Coding coding) {
  return storage::ValidationError(
      absl::StrFormat("the body is not %s, as its Content-Encoding says, or not whole", CodingName(coding)));
}

// The first two bytes of the zlib format are a number that 31 divides; the first one says "deflate".
bool HasZlibHeader(std::string_view bytes) {
  if (bytes.size() < 2) return true;
  const unsigned first = static_cast<unsigned char>(bytes[0]), second = static_cast<unsigned char>(bytes[1]);
  return (first & 0x0F) == Z_DEFLATED && (first * 256 + second) % 31 == 0;
}

int WindowBits(Coding coding, std::string_view bytes) {
  if (coding == Coding::kGzip) return kGzipWindowBits;
  return HasZlibHeader(bytes) ? kZlibWindowBits : kRawWindowBits;
}

// The weight of an element of Accept-Encoding, such as "gzip;q=0.5": 1 without one, 0 if it is malformed.
double WeightOf(absl::string_view element) {
  const size_t semicolon = element.find(';');
  if (semicolon == absl::string_view::npos) return 1;
  absl::string_view parameter = absl::StripAsciiWhitespace(element.substr(semicolon + 1));
  double weight = 0;
  if (!absl::StartsWithIgnoreCase(parameter, "q=") || !absl::SimpleAtod(parameter.substr(2), &weight))
    return 0;
  return weight > 0 && weight <= 1 ? weight : 0;
}

}  // namespace

std::optional<Coding> CodingOf(std::string_view content_encoding) {
  const absl::string_view name = absl::StripAsciiWhitespace(Absl(content_encoding));
  if (name.empty() || absl::EqualsIgnoreCase(name, "identity")) return Coding::kIdentity;
  if (absl::EqualsIgnoreCase(name, "gzip") || absl::EqualsIgnoreCase(name, "x-gzip")) return Coding::kGzip;
  if (absl::EqualsIgnoreCase(name, "deflate")) return Coding::kDeflate;
  return std::nullopt;
}

Coding AcceptedCoding(std::string_view accept_encoding) {
  double gzip = -1, deflate = -1, others = 0;
  for (absl::string_view element : absl::StrSplit(Absl(accept_encoding), ',')) {
    const absl::string_view name = absl::StripAsciiWhitespace(element.substr(0, element.find(';')));
    if (absl::EqualsIgnoreCase(name, "gzip") || absl::EqualsIgnoreCase(name, "x-gzip"))
      gzip = WeightOf(element);
    if (absl::EqualsIgnoreCase(name, "deflate")) deflate = WeightOf(element);
    if (name == "*") others = WeightOf(element);
  }
  if (gzip < 0) gzip = others;
  if (deflate < 0) deflate = others;
  if (gzip <= 0 && deflate <= 0) return Coding::kIdentity;
  return gzip >= deflate ? Coding::kGzip : Coding::kDeflate;
}

std::string_view CodingName(Coding coding) { return coding == Coding::kGzip ? "gzip" : "deflate"; }

absl::StatusOr<std::string> Inflate(Coding coding, std::string_view bytes, size_t max_bytes, size_t padding) {
  z_stream stream = {};
  if (inflateInit2(&stream, WindowBits(coding, bytes)) != Z_OK)
    return absl::InternalError("zlib does not start");
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
      if (coding != Coding::kGzip) return NotCoded(coding);
      if (inflateReset(&stream) != Z_OK) return NotCoded(coding);
      continue;
    }
    // Z_BUF_ERROR with room left means that the input ended too early.
    if (result != Z_OK && (result != Z_BUF_ERROR || stream.avail_out > 0)) return NotCoded(coding);
    if (stream.avail_out > 0 && stream.avail_in == 0) return NotCoded(coding);
    if (stream.avail_out == 0) inflated.resize(std::min(inflated.size() * 2, max_bytes + 1));
  }
  inflated.resize(written);
  inflated.reserve(written + padding);
  return inflated;
}

std::optional<std::string> Deflate(Coding coding, std::string_view text) {
  z_stream stream = {};
  // The fastest level: the network is faster than the others.
  const int bits = coding == Coding::kGzip ? kGzipWindowBits : kZlibWindowBits;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, bits, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
    return std::nullopt;
  absl::Cleanup end = [&] { deflateEnd(&stream); };
  // No room for a result that is not shorter.
  std::string deflated(text.size(), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(deflated.data());
  stream.avail_out = static_cast<uInt>(deflated.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) return std::nullopt;
  deflated.resize(stream.total_out);
  deflated.shrink_to_fit();
  return deflated;
}

}  // namespace itemdb::http
