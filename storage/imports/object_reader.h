// Reads the contents of an object, decompressed, one piece after another: memory does not grow with the
// object.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "itemdb/v1/imports.pb.h"
#include "storage/base/status.h"
#include "storage/buckets/bucket.h"

namespace itemdb::storage {

// Not thread-safe.
class ObjectReader {
 public:
  virtual ~ObjectReader() = default;

  // Reads at most `size` > 0 bytes into `out` and returns how many; 0: the end of the object. After an error
  // the reader must not be used any more. Blocks.
  //
  // INVALID_ARGUMENT: the object is not compressed as it should be, is truncated or fails its checksum.
  // Others as of ReadableObject.
  virtual absl::StatusOr<size_t> Read(char* out, size_t size) = 0;
};

// `object` is borrowed. `*object_bytes` counts the bytes that are read of it. GZIP objects may have
// several members, ZSTD objects several frames; what follows the last one must be another. A ZSTD window of
// more than 128 MiB is refused. UNSPECIFIED is NONE.
std::unique_ptr<ObjectReader> NewObjectReader(ReadableObject& object, v1::InputCompressionType compression,
                                              std::atomic<int64_t>* object_bytes);

}  // namespace itemdb::storage
