// Files that are there after a power cut: a file's own sync does not make its directory entry durable.
#pragma once

#include <string>

#include "rocksdb/env.h"

namespace itemdb {

// Makes the entries of `directory` durable.
rocksdb::Status SyncDirectory(rocksdb::Env* env, const std::string& directory);

// Puts `contents` in place of the file `path`, or makes it: after a crash it is the one or the other, on
// return it is durable. `path` + ".next" is used meanwhile.
rocksdb::Status ReplaceFile(rocksdb::Env* env, const std::string& path, const std::string& contents);

}  // namespace itemdb
