// Compresses text, piece by piece.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/compression/compression.h"

namespace itemdb {

// Not thread-safe. After an error it must not be used any more: RESOURCE_EXHAUSTED: there is no memory;
// INTERNAL. Takes about 300 KB of memory.
class Compressor {
 public:
  virtual ~Compressor() = default;

  // Compresses `text` and appends what is compressed so far to `*out`.
  virtual absl::Status Append(std::string_view text, std::string* out) = 0;
  // Appends the rest. Call once.
  virtual absl::Status Finish(std::string* out) = 0;
};

// Null: there is no memory. Compression::kGzip: one member whose header has no name, no time and no system
// (XPT-35), so the same text gives the same bytes. Compression::kNone: the text as it is.
std::unique_ptr<Compressor> NewCompressor(Compression compression);

}  // namespace itemdb
