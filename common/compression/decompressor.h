// Decompresses a source of bytes; memory does not grow with its length.
#pragma once

#include <memory>

#include "common/compression/byte_source.h"
#include "common/compression/compression.h"

namespace itemdb {

// `from` is borrowed. Gzip data may have several members, zstd data several frames; what follows the last one
// must be another. A zstd window of more than 128 MiB is refused. Compression::kNone: the bytes as they are.
//
// Errors of Read, beside those of `from`: INVALID_ARGUMENT: the data is not compressed as it should be, ends
// too early or fails its checksum. RESOURCE_EXHAUSTED: there is no memory.
std::unique_ptr<ByteSource> NewDecompressor(ByteSource& from, Compression compression);

}  // namespace itemdb
