// Options of an open database. The daemon fills them from its flags and its configuration file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/log/log.h"
#include "storage/api/s3_options.h"
#include "storage/base/limits.h"

namespace rocksdb {
class FileSystem;
}
namespace spdlog {
class logger;
}

namespace itemdb::storage {

class PrimaryLink;

// A key that encrypts files.
struct EncryptionKey {
  // 1 to kMaxEncryptionKeyIdBytes bytes, none of them zero. Stands in every file that the key encrypts.
  std::string id;
  // kEncryptionSecretBytes random bytes.
  std::string secret;
};
// The first key encrypts new files, all of them decrypt. Empty: files are not encrypted.
using EncryptionKeys = std::vector<EncryptionKey>;
inline constexpr size_t kMaxEncryptionKeyIdBytes = 32;
inline constexpr size_t kEncryptionSecretBytes = 32;

struct DatabaseOptions {
  // Created if it does not exist. Must be empty or hold a database of this program.
  std::string data_directory;
  // Of a database that is encrypted. A database is encrypted from its first moment on, or never.
  EncryptionKeys encryption_keys;
  // Sync every commit group to disk before its writes are answered. When false, a power failure can lose up
  // to a second of answered writes; a killed process loses none.
  bool durable = true;
  // Open a damaged database: keep the readable data, rebuild indexes, log the loss. Reads everything except
  // the items. Deletes nothing: the database from before is moved to `quarantine-N` of the data directory.
  bool recover_last_good = false;
  // Block cache shared by all tables and indexes, in bytes. More keeps more data in memory.
  size_t block_cache_bytes = 256 << 20;
  // Memtables of all tables and indexes together, in bytes. More means fewer, larger flushes.
  size_t memtable_bytes = 128 << 20;
  // Memory in which the backfill of a new index sorts entries, in bytes. Taken from the block cache during
  // the backfill; entries that do not fit are sorted in files. More means fewer files.
  size_t index_build_bytes = 32 << 20;
  // Copies of vector indexes in memory, in bytes, taken from the block cache while they are there. The copies
  // that were not searched for longest go first; an index that does not fit is searched in the store, which
  // is slower.
  size_t vector_memory_bytes = 128 << 20;
  // Vector indexes, or partitions of them, of at least this many entries are searched by a graph, which finds
  // nearly all of the nearest entries; smaller ones exactly.
  size_t vector_graph_min = 50'000;
  // Writes waiting for the commit pipeline, in bytes. Further writes are refused (QUEUE_FULL).
  size_t max_queue_bytes = 64 << 20;
  // What one transaction or batch may replace and write, in bytes: its items before and after it and its new
  // index entries. About twice as much memory is taken while it is committed. Larger ones are refused
  // (LIMIT_EXCEEDED) and write nothing.
  size_t max_unit_bytes = 512 << 20;
  // Bound of an item collection in a table with local indexes, in bytes: the items and their entries in local
  // indexes (SEM-092). A write that would enlarge a collection beyond it is refused
  // (ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED).
  int64_t max_item_collection_bytes = int64_t{10} << 30;
  // Writes are refused (DISK_FULL) while the file system has less free space than this, in bytes.
  uint64_t free_space_floor_bytes = 256 << 20;
  // Changes older than this leave the change log (SEM-103). Zero: changes of any age stay.
  std::chrono::milliseconds change_retention = std::chrono::hours(24);
  // The oldest changes leave the change log when its table files are larger than this, in bytes. 0: no bound.
  uint64_t max_change_log_bytes = 0;
  // How long the disk space of small deleted tables and indexes may wait, so that the space of many is
  // reclaimed together. The space of large ones (64 MiB and more in all) is reclaimed without this wait.
  std::chrono::milliseconds reclaim_interval = std::chrono::minutes(1);
  // How fast table files that also hold data of deleted tables or indexes are rewritten without that data, in
  // bytes a second. More frees space sooner; less leaves more of the disk's speed to writers.
  int64_t reclaim_bytes_per_second = 16 << 20;
  // How often the change log is searched for changes to trim.
  std::chrono::milliseconds change_trim_interval = std::chrono::seconds(10);
  // How long after a change of a table's time to live the next change is refused (SEM-111). The service waits
  // about an hour; here nothing needs the wait.
  std::chrono::milliseconds time_to_live_wait{0};
  // How long the expiry sweeper waits before it retries a table whose expired items could not be deleted
  // because stored data of the table is damaged.
  std::chrono::milliseconds damaged_expiry_interval = std::chrono::minutes(1);
  // How long the compactions of a column family pause after one of them met damage. Doubled by each failure,
  // to at most an hour.
  std::chrono::milliseconds compaction_pause = std::chrono::minutes(1);
  // Records that the background check, which walks through the whole database again and again, compares a
  // second. 0: no background check.
  int64_t background_check_rate = 0;
  // Bytes of table files that the file check, which compares each file with its checksum again and again,
  // reads a second. 0: no file check.
  int64_t file_check_bytes_per_second = 0;
  // The time from the beginning of a round of either check to the beginning of the next, at least.
  std::chrono::milliseconds check_interval = std::chrono::hours(1);
  // Where backups of the whole database are made. Created with the first one. Empty: `backups` in the data
  // directory, which is lost with the disk of the data.
  std::string backup_directory;
  // When itemdb makes backups by itself (storage/base/cron_schedule.h); empty: never.
  std::string backup_schedule;
  // Which backups stay after a scheduled one: the newest, and those not older. 0: any number, any age.
  int backup_keep = 0;
  std::chrono::milliseconds backup_keep_age{0};
  // A scheduled backup is restored and checked when the last one that was is older than this. 0: never.
  std::chrono::milliseconds backup_prove_interval = std::chrono::hours(24);
  // How fast a backup copies files, in bytes a second. 0: no limit.
  int64_t backup_bytes_per_second = 0;
  // Where tables are exported to and imported from. A bucket of the API is a folder in it, the key of an
  // object a path in that folder. Empty: `exports` in the data directory.
  std::string export_directory;
  // The store that has the buckets instead, if it has an endpoint.
  S3Options s3;
  // Where every commit group is kept, so that a backup can be followed to any later commit (restore.h).
  // Created if it does not exist. Empty: commit groups are not kept.
  std::string archive_directory;
  // How far back any commit can be restored: older commit groups, and backups that only they need, are
  // deleted.
  std::chrono::milliseconds archive_window = std::chrono::hours(24 * 7);
  // How often a backup is made for the archive, at most. A restore replays the groups after a backup.
  std::chrono::milliseconds archive_backup_interval = std::chrono::hours(24);
  // How often commit groups are archived.
  std::chrono::milliseconds archive_interval = std::chrono::milliseconds(500);
  // Commit groups that wait for being archived, in bytes. When there are more, they are given up, and a new
  // backup is made when the archive can be written again.
  size_t archive_queue_bytes = 32 << 20;
  // Writes are answered when a standby that follows over the network has them on its disk.
  bool standby_acknowledge = false;
  // The archive of another database. Not empty: this database is a standby of it. It follows the archive,
  // takes no writes but for that, and becomes a database of its own when it is promoted (Database::Promote).
  // A new data directory is made from a backup in standby_backups, and again when the archive has a gap.
  std::string standby_archive;
  std::string standby_backups;
  // Not null: standby_archive and standby_backups are copies that it keeps. The standby deletes segments that
  // it has followed.
  std::shared_ptr<PrimaryLink> primary_link;
  // How often a standby looks for new commits.
  std::chrono::milliseconds standby_interval = std::chrono::milliseconds(100);
  // Threads for reads that miss the block cache and for long pages.
  int io_threads = 4;
  // How long a pinned snapshot (PinSnapshot) can be read.
  std::chrono::milliseconds max_pinned_snapshot_age = std::chrono::seconds(kMaxPinnedSnapshotSeconds);
  // Whether files are merged in the background. Not in a database that is only read and then deleted.
  bool compacts = true;
  // A write-ahead log of this length makes a spare for the next one (storage/store/spare_log.h), in bytes. 0:
  // there are no spares.
  uint64_t spare_log_after_bytes = 4 << 20;
  // Where background work and RocksDB write their log lines. Required.
  common::Log log;
  // Tests only: the wall clock of writes, trimming and times to live, in microseconds since the Unix epoch.
  // Called by several threads. Default: the real clock.
  std::function<int64_t()> clock_us;
  // Tests only, with `clock_us`: the boot clock, as TimeOfDay::Clocks::boot_us. Default: `clock_us`, so that
  // the wall clock never jumps.
  std::function<int64_t()> boot_clock_us;
  // The file system that holds RocksDB's files and WATERMARK. Default: the real one.
  std::shared_ptr<rocksdb::FileSystem> file_system;
};

// Where buckets are: export_directory, or its default.
inline std::string ExportDirectoryOf(const DatabaseOptions& options) {
  return options.export_directory.empty() ? options.data_directory + "/exports" : options.export_directory;
}

}  // namespace itemdb::storage
