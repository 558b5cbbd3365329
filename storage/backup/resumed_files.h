// Files that a backup had copied when it was interrupted, so that the next one goes on with them.
//
// BackupEngine names the files that several backups may share after the session of RocksDB that wrote them,
// their number there and their size. So two files of one name have the same content. A file has its name only
// when all of it is written and synced.
//
// BackupEngine would delete such files, and copy them again. Therefore they are moved to the folder `resumed`
// first. When BackupEngine copies a file that is there, it reads the database's file for its checksum, but
// nothing is written, and the bound of bytes per second does not count it; the file is moved to its place.
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
  // As `bound`, without what is not written.
  static std::shared_ptr<rocksdb::RateLimiter> Exempted(std::shared_ptr<rocksdb::RateLimiter> bound);

  // ---- for a backup; one at a time ----

  // Moves the files that no backup has away. `of_backups`: the paths within the directory of the files that
  // backups have. A file that cannot be moved is copied again. Until End() those that BackupEngine deletes,
  // because it must stop, are moved away too.
  void Begin(const std::set<std::string>& of_backups);
  void End();
  // Deletes what was moved away.
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
