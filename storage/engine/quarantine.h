// Keeps the files that a recovery with losses begins with.
//
//   DIRECTORY/quarantine-N/   what DIRECTORY/rocksdb/ was before the N-th recovery of this directory
//
// RocksDB deletes the files that it does not take over. Hard links in the quarantine keep them: RocksDB never
// writes to a file of an earlier opening. Links take no space until RocksDB deletes its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rocksdb/env.h"
#include "storage/base/status.h"

namespace itemdb::storage {

struct Quarantine {
  std::string path;
  int64_t files = 0;
  uint64_t bytes = 0;
};

// Links, or where the file system has no links copies, all files of `store_path` into a new folder of
// `directory`, and adds a README that names `cause`. Complete and durable on return. Errors as FromRocksDB.
absl::StatusOr<Quarantine> QuarantineStore(rocksdb::Env* env, const std::string& directory,
                                           const std::string& store_path, const std::string& cause);

// Gives `store_path` the files of the last quarantine again, after a recovery that was interrupted.
// std::nullopt: there is none. Errors as FromRocksDB.
absl::StatusOr<std::optional<Quarantine>> RestoreQuarantine(rocksdb::Env* env, const std::string& directory,
                                                            const std::string& store_path);

}  // namespace itemdb::storage
