// What the calls and the schedule do with the backups of the database. Each blocks on files; one may run at a
// time (Engine::TryBeginBackupCall).
#pragma once

#include <string>

#include "storage/engine/engine.h"

namespace itemdb::storage {

// Errors as CheckGoesOn and BackupDirectory::Create. Failures are logged.
absl::StatusOr<v1::DatabaseBackup> CreateBackup(Engine& engine, const Cancellation* cancellation,
                                                bool for_archive = false);
absl::StatusOr<v1::ListDatabaseBackupsReply> ListBackups(const Engine& engine);
// The backup `backup_id` with its details. Errors as BackupDirectory::Find.
absl::StatusOr<v1::ListDatabaseBackupsReply> DescribeDatabaseBackup(const Engine& engine, uint32_t backup_id);
// When one of `backups` was last verified, in microseconds since the Unix epoch; 0: none was.
int64_t LastVerifiedMicros(const Engine& engine, const v1::ListDatabaseBackupsReply& backups);
// Notes in the backup's record that it was just restored and checked. UNAVAILABLE: the file system says so.
absl::Status NoteProof(Engine& engine, const v1::DatabaseBackup& backup, int64_t proven_time_us);
// Notes in it that the backup was just found to be damaged.
void NoteDamage(Engine& engine, const v1::DatabaseBackup& backup);
// Logs which backup was proven last, and how old it is, if there are backups.
void LogProof(Engine& engine);
// Adds the last backup that was proven to `*reply`, if there is one.
void DescribeProof(const Engine& engine, v1::GetStatusReply* reply);
// Adds where the backups are.
void DescribePlaces(const Engine& engine, v1::GetStatusReply* reply);
// 0: the newest. Notes that the backup was verified. Errors as BackupDirectory::Find and Verify.
absl::StatusOr<v1::DatabaseBackup> VerifyBackup(Engine& engine, uint32_t backup_id,
                                                const Cancellation* cancellation);
// By `begun_before_us` the newest is never deleted. Backups that were made for the archive are deleted by
// their number only.
absl::StatusOr<v1::DeleteDatabaseBackupsReply> DeleteBackups(const Engine& engine,
                                                             const v1::DeleteDatabaseBackupsRequest& request);

// Until when `backup` was made, in microseconds since the Unix epoch: it has no commit that is later. If that
// was not noted, at the latest when the slowest backup of its size would be done. `next_begin_us`: when the
// next backup of the directory was begun, INT64_MAX if it is the last. INT64_MAX: its description is gone.
int64_t BackupEndMicros(Engine& engine, const v1::DatabaseBackup& backup, int64_t next_begin_us);

// The directory of the backups, as the options say. It may not exist.
std::string BackupDirectoryOf(const Engine& engine);
// The folder in it into which the schedule restores a backup that it proves.
std::string ScheduledProofFolderOf(const Engine& engine);
// Whether that directory and the database share a file system, and so its free space. Of a directory that
// does not exist yet the one counts that it will be made in.
bool IsOnTheDiskOfTheData(const Engine& engine);
bool IsOnTheDiskOfTheData(const Engine& engine, const std::string& directory);
// Why a backup must not be made, or go on. UNAVAILABLE: the database must be reopened. RESOURCE_EXHAUSTED
// (DISK_FULL): it shares the disk of the data, which is below the free-space floor. CANCELLED.
absl::Status CheckGoesOn(const Engine& engine, const Cancellation* cancellation, bool shares_disk);

// The clock of backups, in microseconds since 1970: a wall clock that jumps is not believed at once.
int64_t BackupClockMicros(Engine& engine);

}  // namespace itemdb::storage
