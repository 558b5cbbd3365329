// Bounds how fast files are copied and read.
#pragma once

#include <cstdint>
#include <memory>

#include "rocksdb/file_system.h"
#include "rocksdb/rate_limiter.h"
#include "storage/base/cancellation.h"

namespace itemdb::storage {

// Lets at most 1 MiB, or the bytes of a tenth of a second, through at once. `bytes_per_second` is not 0.
std::shared_ptr<rocksdb::RateLimiter> NewByteLimiter(int64_t bytes_per_second);

// As `base`, but reads of table files wait so that they read at most `bytes_per_second`; not any more once
// `cancellation` does not pass its check. Null: it always does.
std::shared_ptr<rocksdb::FileSystem> MakePacedFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base,
                                                         int64_t bytes_per_second,
                                                         CancellationPtr cancellation);

}  // namespace itemdb::storage
