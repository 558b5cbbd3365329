// Files that a backup had copied when it was interrupted, so that the next one goes on with them.
//
// BackupEngine names the files that several backups may share after the session of RocksDB that wrote them,
// their number there and their size, and takes files of one name for the same. A file has its name only when
// all of it is written and synced.
//
// BackupEngine would delete such files, and copy them again. Therefore they are moved to the folder `resumed`
// first. When BackupEngine copies a file that is there, it reads the database's file for its checksum, but
// nothing is written, so the bound of bytes per second counts a quarter of it; the file is moved to its
// place.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/rate_limiter.h"

namespace itemdb::storage {

class ResumedFiles {
 public:
  // Of the backups in `directory`, whose files `env` reads and writes. `env` must outlive this object.
  ResumedFiles(rocksdb::Env* env, std::string directory);
  ~ResumedFiles();
  ResumedFiles(const ResumedFiles&) = delete;
  ResumedFiles& operator=(const ResumedFiles&) = delete;

  // ---- for BackupEngine ----

  rocksdb::Env* env() const { return resuming_.get(); }
  // As `bound`, with a quarter of what is only read.
  static std::shared_ptr<rocksdb::RateLimiter> Bound(std::shared_ptr<rocksdb::RateLimiter> bound);

  // ---- for a backup; one at a time ----

  // Moves files that belong to no backup to the folder. `of_backups`: the paths within the directory of those
  // that do. A file that cannot be moved is copied again. Until End() files that BackupEngine deletes,
  // because it must stop, are moved there too.
  void Begin(const std::set<std::string>& of_backups);
  void End();
  // Deletes the folder.
  void Discard();
  // What it did not copy again.
  int64_t bytes() const;

 private:
  class FileSystem;

  rocksdb::Env* const env_;
  const std::string directory_;
  const std::shared_ptr<FileSystem> file_system_;
  const std::unique_ptr<rocksdb::Env> resuming_;
};

}  // namespace itemdb::storage
