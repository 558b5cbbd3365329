// Restoring a backup of the whole database into a directory that no itemd has open, and with the archive any
// later commit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/log/log.h"
#include "itemdb/v1/admin.pb.h"
#include "storage/api/options.h"
#include "storage/base/cancellation.h"
#include "storage/base/status.h"

namespace spdlog {
class logger;
}

namespace itemdb::storage {

struct RestoreOptions {
  // The directory of the backups.
  std::string backup_directory;
  // 0: the newest, or with an archive the newest that leads to the commit that is wanted.
  uint32_t backup_id = 0;
  // The archive whose commits are replayed on the backup. Empty: none are.
  std::string archive_directory = {};
  // With an archive: the last change that is restored, or the time of the last commit that is, in
  // microseconds since the Unix epoch. At most one; neither: up to the last commit in the archive.
  std::optional<uint64_t> to_change = std::nullopt;
  std::optional<int64_t> to_time_us = std::nullopt;
  // With an archive: the database becomes a standby, which knows up to where it has followed the archive.
  bool as_standby = false;
  // Where the database is made. Must not exist, or be empty, or hold a restore that was interrupted.
  std::string data_directory;
  // Encrypt the database, and decrypt the backup if it is encrypted. Empty: the database is not encrypted,
  // and the backup must not be.
  EncryptionKeys encryption_keys = {};
  common::Log log;
  // How fast the files of the backup are copied. 0: no limit.
  int64_t bytes_per_second = 0;
  // Looked at every few MiB and before each commit group. Null: the restore goes on to its end.
  const Cancellation* cancellation = nullptr;
};

struct RestoredDatabase {
  v1::DatabaseBackup backup;
  // With an archive: the last change that the database has, when it was committed, and how many commit groups
  // were replayed.
  uint64_t change_sequence = 0;
  int64_t commit_time_us = 0;
  int64_t replayed_groups = 0;
  // The first opening computes index entries and size statistics from the items.
  bool needs_rebuild = false;
};

// Says in the log what it restores, copies the files of the backup, and replays commits. The database is a
// new one with an id of its own: change sequences after the backup mean other changes in it than in the one
// that was backed up. Blocks.
//
// NOT_FOUND: no such backup, or no backups or no archive in the directory. OUT_OF_RANGE
// (RESTORE_POINT_UNKNOWN): backups and archive do not have what is wanted; the message says what they have.
// INVALID_ARGUMENT: the change is inside of a transaction. FAILED_PRECONDITION: `data_directory` is not
// empty (DATA_DIRECTORY_FOREIGN), or open (DATA_DIRECTORY_IN_USE). INVALID_ARGUMENT: the backup is encrypted
// with another key. DATA_LOSS: the backup is damaged. FAILED_PRECONDITION (FORMAT_UNKNOWN): a table has parts
// that this program does not know, because a newer one wrote the backup or the archive.
// CANCELLED, DEADLINE_EXCEEDED: as `cancellation` says.
// UNAVAILABLE, RESOURCE_EXHAUSTED (DISK_FULL): as the file systems say. After an error and after a crash the
// data directory does not open as a database; the same call begins anew.
absl::StatusOr<RestoredDatabase> RestoreDatabase(const RestoreOptions& options);

// What RestoreDatabase would restore.
struct FoundRestorePoint {
  // The commit that is wanted, with an archive.
  uint64_t change_sequence = 0;
  // Its time. Where the backup itself ends with the commit, the beginning of the backup, which is later. 0:
  // unknown, because the commit was made while the backup was.
  int64_t commit_time_us = 0;
};

// Finds out what `options` name, without `data_directory`, reading all of the archive that a restore needs,
// but nothing of the backup. Errors as RestoreDatabase, which may still fail because a backup is damaged or
// ends behind the commit, or for want of space.
absl::StatusOr<FoundRestorePoint> FindRestorePoint(const RestoreOptions& options);

// Makes the database of a new standby in an empty directory or a new one, and goes on where a crash has
// interrupted it (standby_base.h); otherwise does nothing. Database::Open does the same, without a
// cancellation. Blocks as long as copying a backup takes. CANCELLED: as `cancellation` says. Otherwise errors
// as Database::Open.
absl::Status PrepareStandby(const DatabaseOptions& options, const Cancellation& cancellation);

}  // namespace itemdb::storage
