// A directory with the backups of one database.
//
// RocksDB's BackupEngine keeps it: a table file that several backups have in common is stored once, each file
// has a checksum, and a backup that was interrupted leaves nothing that counts. The next one goes on with the
// files that it had copied (resumed_files.h). The description of a backup
// (an encoded itemdb.v1.DatabaseBackup) is its application metadata.
//
// A backup is the table files and the write-ahead log of one moment. A commit group is one record of the log,
// so the backup ends between two groups. The log may end within a record, because groups are committed while
// it is copied. Opening the restored database drops such a torn tail: the watermark that RestoreBackup writes
// has the last change that was durable when the backup was begun.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "itemdb/v1/admin.pb.h"
#include "rocksdb/env.h"
#include "storage/backup/resumed_files.h"
#include "storage/base/status.h"
#include "storage/encryption/environment.h"
#include "storage/store/store.h"

namespace rocksdb {
class BackupEngine;
class BackupEngineReadOnlyBase;
}  // namespace rocksdb

namespace itemdb::storage {

// FAILED_PRECONDITION (DATA_DIRECTORY_FOREIGN): `path` has files, and none of backups.
absl::Status CheckIsForBackups(const std::string& path);

// Not thread-safe, but for Stop().
class BackupDirectory {
 public:
  // `path` is created if it does not exist. `environment` is that of the database; backups are encrypted with
  // its keys. FAILED_PRECONDITION (DATA_DIRECTORY_IN_USE): another object for it is open, in this process or
  // another. INVALID_ARGUMENT: the directory has backups that are not encrypted with these keys.
  // UNAVAILABLE: the directory cannot be made, read or written.
  static absl::StatusOr<BackupDirectory> Open(const Environment& environment, const std::string& path,
                                              int64_t bytes_per_second);
  // Reads the files of the backups, and of the database.
  struct Environments {
    rocksdb::Env* backups;
    rocksdb::Env* database;
  };
  // Without the lock: Create, Delete and Stop must not be called. `bytes_per_second` bounds CopyTo.
  // NOT_FOUND: there is no directory with backups.
  static absl::StatusOr<BackupDirectory> OpenReadOnly(const Environments& environments,
                                                      const std::string& path, int64_t bytes_per_second = 0);
  ~BackupDirectory();
  BackupDirectory(BackupDirectory&&) noexcept;

  // Makes a backup of `store`. `about` has its database id, change sequence, begin and number of tables.
  // `stops` is asked every MiB; after true there is no backup, and the next one goes on with the files
  // that were copied. `*resumed_bytes`: what an interrupted one had copied.
  //
  // FAILED_PRECONDITION (DATA_DIRECTORY_FOREIGN): there are backups of another database. CANCELLED: `stops`
  // returned true. RESOURCE_EXHAUSTED (DISK_FULL), DATA_LOSS (a file of the database is damaged),
  // UNAVAILABLE: as the file systems say.
  absl::StatusOr<v1::DatabaseBackup> Create(const Store& store, const v1::DatabaseBackup& about,
                                            const std::function<bool()>& stops, int64_t* resumed_bytes);
  // FAILED_PRECONDITION (DATA_DIRECTORY_FOREIGN): `backup` is of another database.
  absl::Status CheckOwner(const std::string& database_id, const v1::DatabaseBackup& backup) const;
  // The oldest first.
  std::vector<v1::DatabaseBackup> List() const;
  // Backups whose description or files are missing.
  std::vector<uint32_t> Damaged() const;
  // The backup `backup_id`, or the newest for 0. NOT_FOUND: there is none.
  absl::StatusOr<v1::DatabaseBackup> Find(uint32_t backup_id) const;
  // The paths of its files within the directory.
  std::vector<std::string> FilesOf(const v1::DatabaseBackup& backup) const;
  // Bytes and number of its files that other backups have too.
  struct SharedFiles {
    int64_t bytes = 0;
    int64_t count = 0;
  };
  SharedFiles SharedFilesOf(const v1::DatabaseBackup& backup) const;
  // Reads all its files. DATA_LOSS: one is missing or damaged. CANCELLED: Stop() was called.
  absl::Status Verify(const v1::DatabaseBackup& backup) const;
  absl::Status Delete(uint32_t backup_id);
  // Deletes what interrupted backups have copied.
  void DeleteUnfinished();
  // Ends Create and Verify soon; later ones end at once. Thread-safe.
  void Stop();
  // Copies its files to `to`, which becomes a directory of RocksDB. Compares the checksums.
  absl::Status CopyTo(const v1::DatabaseBackup& backup, const std::string& to) const;

 private:
  BackupDirectory(std::string path, std::unique_ptr<rocksdb::BackupEngineReadOnlyBase> engine,
                  rocksdb::BackupEngine* writer);

  // Releases the lock of a directory.
  struct Unlock {
    void operator()(rocksdb::FileLock* lock) const { (void)rocksdb::Env::Default()->UnlockFile(lock); }
  };

  std::string path_;
  std::unique_ptr<rocksdb::FileLock, Unlock> lock_;
  // Null: it is read-only.
  std::unique_ptr<ResumedFiles> resumed_;
  std::unique_ptr<rocksdb::BackupEngineReadOnlyBase> engine_;
  // The same object; null: it is read-only.
  rocksdb::BackupEngine* writer_;
};

}  // namespace itemdb::storage
