// The kinds of compression.
#pragma once

namespace itemdb {

enum class Compression { kNone, kGzip, kZstd };

}  // namespace itemdb
