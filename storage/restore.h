// Restoring a backup of the whole database into a directory that no itemd has open.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "itemdb/v1/admin.pb.h"
#include "storage/api/options.h"
#include "storage/base/status.h"

namespace spdlog {
class logger;
}

namespace itemdb::storage {

struct RestoreOptions {
  // The directory of the backups.
  std::string backup_directory;
  // 0: the newest.
  uint32_t backup_id = 0;
  // Where the database is made. Must not exist, or be empty, or hold a restore that was interrupted.
  std::string data_directory;
  // Encrypt the database, and decrypt the backup if it is encrypted. Empty: the database is not encrypted,
  // and the backup must not be.
  EncryptionKeys encryption_keys = {};
  std::shared_ptr<spdlog::logger> log;
};

// Says in the log what it restores, and copies the files of the backup. The database is a new one with an id
// of its own: change sequences after the backup mean other changes in it than in the one that was backed up.
// Returns the backup that was restored. Blocks.
//
// NOT_FOUND: no such backup, or no backups in the directory. FAILED_PRECONDITION: `data_directory` is not
// empty (DATA_DIRECTORY_FOREIGN), or open (DATA_DIRECTORY_IN_USE). INVALID_ARGUMENT: the backup is encrypted
// with another key. DATA_LOSS: the backup is damaged.
// UNAVAILABLE, RESOURCE_EXHAUSTED (DISK_FULL): as the file systems say. After an error and after a crash the
// data directory does not open as a database; the same call begins anew.
absl::StatusOr<v1::DatabaseBackup> RestoreDatabase(const RestoreOptions& options);

}  // namespace itemdb::storage
