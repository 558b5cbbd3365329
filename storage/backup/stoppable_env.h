// A file system in which copying files ends soon after it was cancelled: RocksDB's BackupEngine has no way to
// stop a restore.
#pragma once

#include <memory>

#include "rocksdb/env.h"
#include "storage/base/cancellation.h"

namespace itemdb::storage {

// As `env`, but each write to a file fails once `cancellation` does not pass its check. Both must outlive the
// result.
std::unique_ptr<rocksdb::Env> MakeStoppableEnv(rocksdb::Env* env, const Cancellation& cancellation);

}  // namespace itemdb::storage
