// Compresses request bodies as clients do.
#pragma once

#include <zlib.h>

#include <string>

namespace itemdb::http {

// `window_bits` is zlib's: 31 for gzip, 15 for the zlib format, -15 for no header.
inline std::string GzipBytes(const std::string& text, int window_bits = 15 + 16) {
  z_stream stream = {};
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

}  // namespace itemdb::http
