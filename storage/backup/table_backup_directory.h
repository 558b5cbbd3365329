// The folder `tables` of the backup directory: backups of single tables, each in a folder of its own.
//
//   tables/LOCK                    held while a database uses the folder
//   tables/<id>.<hash>/1.sst, ...  the items, in the order of their keys
//   tables/<id>.<hash>/BACKUP      the description, itemdb.v1.StoredTableBackup with a checksum
//
// The hash is that of the table's name: two backups may have one id. The key of a record is the encoded
// primary key; the record is a stored record of the storage id 0 (values/stored_record.h). The description is
// written last and deleted first, so a folder without it is what an interrupted call has left. Files are
// written through the environment of the database, so they are encrypted with its keys.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "itemdb/v1/backups.pb.h"
#include "rocksdb/env.h"
#include "storage/base/mutex.h"
#include "storage/encryption/environment.h"
#include "storage/loading/item_source.h"
#include "storage/schema/backup_description.h"

namespace rocksdb {
class SstFileWriter;
}  // namespace rocksdb

namespace itemdb::storage {

class TableBackupWriter;

// Thread-safe. Backups that are being written belong to their writers.
class TableBackupDirectory {
 public:
  // `backup_directory` is made if it does not exist. Deletes what interrupted calls have left.
  // FAILED_PRECONDITION (DATA_DIRECTORY_IN_USE): another database uses it. INVALID_ARGUMENT: it is not
  // encrypted with these keys. UNAVAILABLE: it cannot be made, read or written.
  static absl::StatusOr<std::unique_ptr<TableBackupDirectory>> Open(const Environment& environment,
                                                                    const std::string& backup_directory);
  ~TableBackupDirectory();
  TableBackupDirectory(const TableBackupDirectory&) = delete;
  TableBackupDirectory& operator=(const TableBackupDirectory&) = delete;

  // All whole backups, by creation time. Logs nothing; `*damaged` gets the folders whose descriptions are
  // damaged. UNAVAILABLE: the folder cannot be read.
  absl::StatusOr<std::vector<v1::TableBackup>> List(std::vector<std::string>* damaged) const;
  // NOT_FOUND (BACKUP_NOT_FOUND): there is no whole backup with this ARN. INVALID_ARGUMENT,
  // PERMISSION_DENIED: as ParseBackupArn. DATA_LOSS: its description is damaged.
  absl::StatusOr<v1::StoredTableBackup> Find(const std::string& arn) const;
  // Errors as Find, but a damaged one is deleted too: then the result has the ARN only.
  absl::StatusOr<v1::TableBackup> Delete(const std::string& arn);

  // Begins to write `backup`, whose folder must not exist.
  absl::StatusOr<std::unique_ptr<TableBackupWriter>> Write(const v1::TableBackup& backup,
                                                           const std::string& database_id);
  // Reads the items of a backup. The source is DATA_LOSS when a file is missing or damaged, or when the items
  // are not those that were written.
  std::unique_ptr<ItemSource> Read(const v1::StoredTableBackup& backup) const;

 private:
  TableBackupDirectory(rocksdb::Env* env, std::string path, rocksdb::FileLock* lock)
      : env_(env), path_(std::move(path)), lock_(lock) {}

  std::string FolderOf(const std::string& arn) const;
  absl::StatusOr<std::vector<std::string>> Folders() const;

  rocksdb::Env* const env_;
  const std::string path_;
  rocksdb::FileLock* const lock_;
};

// NOT_FOUND (BACKUP_NOT_FOUND) for a backup with this ARN (BAK-15).
absl::Status BackupNotFoundError(const std::string& arn);

// Writes one backup. Not thread-safe.
class TableBackupWriter {
 public:
  // Deletes the folder, unless Finish has succeeded.
  ~TableBackupWriter();
  TableBackupWriter(const TableBackupWriter&) = delete;
  TableBackupWriter& operator=(const TableBackupWriter&) = delete;

  // In the order of their keys. RESOURCE_EXHAUSTED (DISK_FULL), UNAVAILABLE: as the file system says.
  absl::Status Add(const ItemSource::Item& item);
  // The backup is there, AVAILABLE and durable, after OK, and is not there after an error. Errors as Add.
  absl::Status Finish();

 private:
  friend class TableBackupDirectory;
  TableBackupWriter(rocksdb::Env* env, std::string folder, v1::StoredTableBackup stored);

  absl::Status FinishFile();

  rocksdb::Env* const env_;
  const std::string folder_;
  v1::StoredTableBackup stored_;
  std::unique_ptr<rocksdb::SstFileWriter> file_;
  uint64_t content_sum_ = 0;
  bool is_finished_ = false;
};

}  // namespace itemdb::storage
