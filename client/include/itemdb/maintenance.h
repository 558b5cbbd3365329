// Requests and results about checks, backups of the whole database, and damage. The operations are in
// client.h.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "itemdb/daemon_status.h"
#include "itemdb/value.h"

namespace itemdb {

struct CheckDatabaseRequest {
  // Only this table; empty: all.
  std::string table_name = {};
  // Only this index of the table; empty: all.
  std::string index_name = {};
  // Corrects derived data (such as index entries) that differs from the items, while writes continue.
  bool repair = false;
};

struct CheckDatabaseResult {
  uint64_t change_sequence = 0;
  int64_t items_checked = 0;
  int64_t index_entries_checked = 0;
  int64_t change_records_checked = 0;
  // Descriptions of the differences found, at most 100; empty when there are none.
  std::vector<std::string> findings;
  // All differences, and how many of them were repaired.
  int64_t finding_count = 0;
  int64_t repaired_count = 0;
  // Items that an index of their table leaves out, because a key attribute has the wrong type, is empty or is
  // too long; an item counts once for each such index. Not a finding.
  int64_t skipped_items = 0;
};

struct DatabaseBackups {
  // Where they are, on the daemon's machine.
  std::string directory = {};
  // The oldest first.
  std::vector<DatabaseBackup> backups = {};
  // Backups whose description or files are missing or damaged.
  std::vector<uint32_t> damaged_backup_ids = {};
};

// What is known about one backup. 1970: not known, or never.
struct DatabaseBackupDetails {
  DatabaseBackup backup = {};
  absl::Time end_time = absl::UnixEpoch();
  // Bytes and number of its files that other backups have too.
  int64_t shared_bytes = 0;
  int64_t shared_file_count = 0;
  bool encrypted = false;
  // When its checksums were last compared, and when it was last restored and checked.
  absl::Time verified_time = absl::UnixEpoch();
  absl::Time proven_time = absl::UnixEpoch();
  // The tables as the backup was begun, in byte order of the names. Not set: the daemon that made the backup
  // did not note them.
  std::optional<std::vector<TableStatistics>> tables = std::nullopt;
};

// Where backups and the archive are, on the daemon's machine.
struct BackupPlaces {
  std::string backup_directory = {};
  // On the file system of the data directory, and lost with that disk.
  bool backups_share_disk = false;
  // Empty: there is no archive.
  std::string archive_directory = {};
  bool archive_shares_disk = false;
};

// Where a damaged file cannot be read: between two records, which can be.
struct DamagedRange {
  // Whose records these are; empty for the change log and for tables that are deleted.
  std::string table_name = {};
  // Empty: items of the table.
  std::string index_name = {};
  // The key attributes of the two records. Missing at the beginning and the end of the file, and where the
  // record is of another table or index.
  std::optional<Item> after_key = std::nullopt;
  std::optional<Item> before_key = std::nullopt;
  // The same in the change log; 0: none.
  uint64_t after_sequence = 0;
  uint64_t before_sequence = 0;
};

// A table file that cannot be read somewhere, or that the file check found not to be as it was written.
struct DamagedFile {
  std::string name = {};
  // The column family.
  std::string family = {};
  int32_t level = 0;
  int64_t size_bytes = 0;
  // "table NAME", "index NAME of table NAME", or "several tables"; empty for data that is not of tables.
  std::string owner = {};
  // "read", "check" or "compaction".
  std::string met_by = {};
  absl::Time first_met_time = absl::UnixEpoch();
  std::string error = {};
  std::vector<DamagedRange> ranges = {};
};

struct DamageList {
  std::vector<DamagedFile> files = {};
  // As in DamageStatus.
  std::vector<std::string> paused_families = {};
};

struct DiscardDamagedItemResult {
  // The change that deleted the item.
  uint64_t change_sequence = 0;
  int64_t index_entries_deleted = 0;
};

}  // namespace itemdb
