// Files that survive a power cut. A file's own sync does not make its directory entry durable.
#pragma once

#include <string>

#include "rocksdb/env.h"

namespace itemdb::storage {

// Makes the entries of `directory` durable.
rocksdb::Status SyncDirectory(rocksdb::Env* env, const std::string& directory);

// Creates the file `path` or replaces its contents. After a crash the file has either the old or the new
// contents; on return the new contents are durable. Uses `path` + ".next" meanwhile.
rocksdb::Status ReplaceFile(rocksdb::Env* env, const std::string& path, const std::string& contents);

}  // namespace itemdb::storage
