// Opening a data directory: what may be opened, what was recovered, what must be refused.
//
//   DIRECTORY/LOCK      held while a process has the database open
//   DIRECTORY/WATERMARK   which database this is and how far it was durable (durability_watermark.h)
//   DIRECTORY/BALLAST   free space to give back when a full disk would keep the database from opening
//   DIRECTORY/rocksdb/  RocksDB's own files
//
// A directory is first read without changing a byte: lock, watermark, format version, then a read-only
// opening of RocksDB, which verifies its log without replaying it, and what is there is compared with the
// watermark. Only a
// directory that passes is opened for writing; whoever finds one refused can still put the missing file back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "storage/commit/commit_pipeline.h"
#include "storage/engine/durability_watermark.h"
#include "storage/store/store.h"

namespace itemdb {

// An open database before anything is served from it.
struct Recovered {
  PipelineStart start;
  DurabilityWatermark watermark;
  uint64_t next_storage_id = 1;
  // The first change record that readers may ask for.
  uint64_t changes_start = 1;
  // Whether indexes and counters must be rebuilt before serving: data was lost (recover_last_good).
  bool needs_rebuild = false;
};

// Opens `directory` (which the caller has locked), creating a database when it is empty. Errors as
// Database::Open.
absl::StatusOr<Recovered> OpenDirectory(const std::string& directory, StoreOptions options,
                                        bool recover_last_good);

// Makes the ballast when it is not there and there is room. A best effort; where the file system has to write
// it this takes a moment, so not while anybody waits.
void KeepBallast(rocksdb::Env* env, const std::string& directory);

// Takes DIRECTORY/LOCK, creating the directory when it is missing. FAILED_PRECONDITION
// (DATA_DIRECTORY_IN_USE).
class DirectoryLock {
 public:
  static absl::StatusOr<std::unique_ptr<DirectoryLock>> Acquire(rocksdb::Env* env,
                                                                const std::string& directory);
  ~DirectoryLock();

 private:
  DirectoryLock(rocksdb::Env* env, rocksdb::FileLock* lock) : env_(env), lock_(lock) {}
  rocksdb::Env* env_;
  rocksdb::FileLock* lock_;
};

}  // namespace itemdb
