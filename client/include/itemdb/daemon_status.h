// What GetStatus says about a daemon and its database.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace itemdb {

// The sizes of one table, exact as of DaemonStatus.change_sequence.
struct TableStatistics {
  std::string table_name;
  int64_t item_count = 0;
  // Sum of the item sizes in bytes, counted as for the size limits; on disk items are compressed.
  int64_t item_bytes = 0;
  int32_t index_count = 0;
};

// Bytes on the disk of the data directory.
struct DiskUsage {
  // Table files of all tables and indexes.
  int64_t table_files = 0;
  int64_t write_ahead_log = 0;
  // Free on the file system.
  int64_t free = 0;
  // Writes are refused (DISK_FULL) below this much free space.
  int64_t free_floor = 0;
  // Deleted tables and indexes whose space is not reclaimed yet: how many, their size as items are counted,
  // and when the oldest of them was deleted (the Unix epoch if there is none). The space of a table stays in
  // use while a request still reads the table.
  int64_t dropped_count = 0;
  int64_t dropped_bytes = 0;
  absl::Time dropped_since = absl::UnixEpoch();
};

// Bytes of memory.
struct MemoryUsage {
  // The limit that the daemon was started with (--memory).
  int64_t limit = 0;
  // Resident memory of the process.
  int64_t resident = 0;
  int64_t block_cache = 0;
  int64_t block_cache_capacity = 0;
  int64_t memtables = 0;
  int64_t memtable_budget = 0;
  // Indexes and filters of open table files, outside the cache.
  int64_t table_readers = 0;
  // Bytes of writes that wait for the commit pipeline. Writes above the limit are refused (QUEUE_FULL).
  int64_t write_queue = 0;
  int64_t write_queue_limit = 0;
  // Requests and replies in flight.
  int64_t calls = 0;
  int64_t call_limit = 0;
};

// Since the daemon began to serve.
struct WriteStatistics {
  // Writes committed, and the commit groups that contained them.
  int64_t committed = 0;
  int64_t commit_groups = 0;
  // Writes refused because the queue or the disk was full.
  int64_t refused = 0;
  // Mean time of writing one commit group; 0 if there was none.
  absl::Duration mean_commit_time = absl::ZeroDuration();
};

// Records of tables and indexes that a running check has read, and an estimate of all it will read.
struct CheckProgress {
  int64_t done = 0;
  int64_t total = 0;
};

// The check that repeatedly reads all items and index entries (itemd --background-check-rate).
struct BackgroundCheck {
  // Records compared per second, at most.
  int64_t rate = 0;
  // Rounds finished since the daemon began to serve.
  int64_t rounds = 0;
  // When the last round ended; 1970 if there was none.
  absl::Time last_end_time = absl::UnixEpoch();
  // Differences that the last round found: descriptions of at most 100, and the number of all.
  std::vector<std::string> findings = {};
  int64_t finding_count = 0;
  // Why the last round could not read some data; empty when it read everything.
  std::string last_error = {};
};

// A backup of the whole database.
struct DatabaseBackup {
  uint32_t backup_id = 0;
  // The database that was backed up.
  std::string database_id = {};
  // Every change up to this one is in the backup; later ones may be too.
  uint64_t change_sequence = 0;
  absl::Time begin_time = absl::UnixEpoch();
  int64_t table_count = 0;
  // Bytes and number of its files. Files that it has in common with other backups are counted, but stored
  // once.
  int64_t size_bytes = 0;
  int64_t file_count = 0;
  // The daemon made it for its archive, and deletes it when the archive does not need it.
  bool for_archive = false;
};

// The last backup that was restored and checked (Client::ProveDatabaseBackup).
struct ProvenBackup {
  uint32_t backup_id = 0;
  // When the backup was begun, and when it was proven.
  absl::Time begin_time = absl::UnixEpoch();
  absl::Time proven_time = absl::UnixEpoch();
};

// Backups that the daemon makes by itself (itemd --backup-schedule). 1970: no such time.
struct ScheduledBackups {
  // As given to the daemon.
  std::string schedule;
  absl::Time next_time = absl::UnixEpoch();
  // The newest one that was made and verified since the daemon began to serve.
  std::optional<DatabaseBackup> last = std::nullopt;
  absl::Time last_verified_time = absl::UnixEpoch();
  // Why the last attempt failed; empty if it did not.
  std::string last_error = {};
};

// A standby (itemd --standby).
struct StandbyStatus {
  // The archive that it follows, on the daemon's machine.
  std::string archive_directory = {};
  // When the last commit that was applied was made; 1970: none was since the daemon began to serve.
  absl::Time commit_time = absl::UnixEpoch();
  // How long ago that was, if more commits are known to be there; else zero.
  absl::Duration lag = absl::ZeroDuration();
  // The archive has a gap, and another backup is restored when there is one.
  bool needs_base = false;
  // Why the archive cannot be followed; empty if it can.
  std::string error = {};
};

// The archive of every commit (itemd --archive-directory). 1970: no such time.
struct ArchiveStatus {
  // On the daemon's machine.
  std::string directory;
  // The last change that is durable in the archive, and when it was committed.
  uint64_t change_sequence = 0;
  absl::Time commit_time = absl::UnixEpoch();
  // How long the oldest commit that is not there has waited.
  absl::Duration lag = absl::ZeroDuration();
  // How often commits could not be archived since the daemon began to serve. Only commits behind the last
  // time can be restored.
  int64_t gaps = 0;
  // The oldest backup that commits can be replayed on.
  absl::Time oldest_time = absl::UnixEpoch();
  // A backup is being made, without which commits of now cannot be restored.
  bool needs_backup = false;
  // Why the archive or its backups cannot be written; empty if they can.
  std::string error = {};
};

// The check that repeatedly compares table files with their checksums (itemd --file-check-rate).
struct FileCheck {
  // Bytes read per second, at most.
  int64_t bytes_per_second = 0;
  // Rounds finished since the daemon began to serve.
  int64_t rounds = 0;
  // When the last round ended; 1970 if there was none.
  absl::Time last_end_time = absl::UnixEpoch();
  // Damaged files that the last round found: descriptions of at most 100, and the number of all.
  std::vector<std::string> findings = {};
  int64_t finding_count = 0;
};

// Calls and HTTP requests that were refused because of their access key, since the daemon began to serve.
struct RefusedCalls {
  // The key was missing, unknown or wrong.
  int64_t unauthenticated = 0;
  // The role of the key was too low, or a web page of another site sent the request.
  int64_t permission_denied = 0;
};

// Records of the audit log since the daemon began to serve.
struct AuditLogStatus {
  int64_t written = 0;
  // Not written: the disk failed, or too many came at once.
  int64_t lost = 0;
};

// Numbers that the daemon does not know, or that an older daemon does not send, are 0.
// Damage of table files that was met since the daemon began to serve (ListDamage).
struct DamageStatus {
  // Table files, and blocks in them.
  int64_t files = 0;
  int64_t blocks = 0;
  // Column families whose compactions met damage and pause.
  std::vector<std::string> paused_families = {};
};

struct DaemonStatus {
  uint64_t change_sequence = 0;
  std::string version;
  // A UUID made when the database was created.
  std::string database_id;
  // True when writes are synced to disk before they are answered.
  bool durable = false;
  int64_t table_count = 0;
  // In byte order of the names; set if the request asked for tables.
  std::vector<TableStatistics> tables = {};
  DiskUsage disk = {};
  MemoryUsage memory = {};
  // When the daemon began to serve; 1970 when it does not say.
  absl::Time start_time = absl::UnixEpoch();
  // Every change up to this one is known to be on disk.
  uint64_t durable_sequence = 0;
  WriteStatistics writes = {};
  // The check that is running, if any.
  std::optional<CheckProgress> check = std::nullopt;
  // Set if the daemon checks in the background.
  std::optional<BackgroundCheck> background_check = std::nullopt;
  std::optional<FileCheck> file_check = std::nullopt;
  std::optional<ScheduledBackups> scheduled_backups = std::nullopt;
  std::optional<ArchiveStatus> archive = std::nullopt;
  std::optional<ProvenBackup> proven_backup = std::nullopt;
  RefusedCalls refused_calls = {};
  // Set if the daemon writes an audit log.
  std::optional<AuditLogStatus> audit_log = std::nullopt;
  DamageStatus damage = {};
  // Set if the database is a standby.
  std::optional<StandbyStatus> standby = std::nullopt;
  // Why writes are refused: the database is a standby, or one of it was promoted. Empty if they are not.
  std::string writes_refused = {};
  // Set if a standby of the database was promoted: the last change that the two have in common. Changes
  // behind it are only here.
  std::optional<uint64_t> fenced_after_change = std::nullopt;
};

struct GetStatusRequest {
  // Lists every table, which takes some microseconds per table.
  bool with_tables = false;
};

}  // namespace itemdb
