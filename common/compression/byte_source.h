// Bytes that are read one piece after another, such as those of a file.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"

namespace itemdb {

// Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Reads at most `size` > 0 bytes into `out` and returns how many; 0: the end. After an error the source
  // must not be used any more. Blocks.
  virtual absl::StatusOr<size_t> Read(char* out, size_t size) = 0;
};

}  // namespace itemdb
