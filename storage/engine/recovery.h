// Opens a data directory: checks that nothing is missing, recovers, and refuses a damaged directory.
//
//   DIRECTORY/LOCK      held while a process has the database open
//   DIRECTORY/SYNCED    the last change that was synced (synced_sequence.h)
//   DIRECTORY/WATERMARK   which database this is and how far it was durable (durability_watermark.h)
//   DIRECTORY/BALLAST   32 MiB that are deleted when a full disk keeps the database from opening (ballast.h)
//   DIRECTORY/CATALOG   a copy of the definitions of all tables (catalog_copy.h)
//   DIRECTORY/rocksdb/  RocksDB's own files
//   DIRECTORY/recovery/   while a recovery with losses runs (quarantine.h)
//   DIRECTORY/quarantine-N/   the database from before a recovery with losses
//
// A directory is first checked without changing a byte: lock, watermark, format version, then a read-only
// opening of RocksDB, which verifies the write-ahead log without replaying it. The change log found there
// must reach the watermark and have no gap. Only then is RocksDB opened for writing. So the user can still
// put a missing file back into a directory that was refused.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storage/commit/commit_pipeline.h"
#include "storage/engine/durability_watermark.h"
#include "storage/store/store.h"

namespace itemdb::storage {

// A file of the data directory, locked while the database is open.
inline constexpr char kLockFileName[] = "LOCK";

// An open database before anything is served from it.
struct Recovered {
  // Its catalog is null: the tables need access patterns first.
  PipelineStart start;
  // In name order. Their access patterns are null.
  std::vector<std::shared_ptr<Table>> tables;
  DurabilityWatermark watermark;
  uint64_t next_storage_id = 1;
  // The first change record that readers may ask for.
  uint64_t changes_start = 1;
  // True after a recovery with losses (recover_last_good): indexes and size statistics must be rebuilt before
  // the first request is served.
  bool needs_rebuild = false;
};

// Opens `directory`, which the caller has locked; creates a database in an empty one. Errors as
// Database::Open.
absl::StatusOr<Recovered> OpenDirectory(const std::string& directory, StoreOptions options,
                                        bool recover_last_good);

struct DirectoryDamage {
  // The watermark, with the sequence of SYNCED if that is higher. Empty when it is missing or damaged.
  DurabilityWatermark before;
  // Why the directory would be refused or, with recover_last_good, recovered; OK when nothing is damaged.
  absl::Status damage;
};

// Checks `directory` as OpenDirectory with recover_last_good does, without changing a byte. DATA_LOSS: there
// is no store to recover, or a recovery was not finished. Otherwise errors as Database::Open.
absl::StatusOr<DirectoryDamage> FindDamage(const std::string& directory, StoreOptions options);

// Locks DIRECTORY/LOCK; makes the directory if it is missing. FAILED_PRECONDITION (DATA_DIRECTORY_IN_USE):
// another process has the lock, or the directory is not writable.
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

}  // namespace itemdb::storage
