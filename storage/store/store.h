// One open RocksDB instance: its column families and its options.
//
// A Store is one opening of the RocksDB directory. It stays open while a read view holds it, so no reader
// reads a closed store (invariant ViewsDieFirst). After a failed write the engine releases it and opens
// another.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/log/log.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/write_buffer_manager.h"
#include "storage/api/database_figures.h"
#include "storage/base/cancellation.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"
#include "storage/store/compaction_pauses.h"
#include "storage/store/damage_register.h"
#include "storage/store/dropped_filter.h"
#include "storage/store/empty_heads.h"
#include "storage/store/log_types.h"
#include "storage/store/manifest_mark.h"

namespace spdlog {
class logger;
}

namespace itemdb::storage {

class LoggedChanges;
class StoreCounters;

// A table file that rocksdb::SstFileWriter has written.
struct SortedFile {
  std::string path;
  // Checksum of the whole file, computed by the writer.
  std::string checksum = {};
  std::string checksum_function = {};
};

struct StoreOptions {
  // RocksDB's own directory.
  std::string path;
  rocksdb::Env* env = nullptr;
  common::Log log;
  size_t block_cache_bytes = 0;
  size_t memtable_bytes = 0;
  // Gets the damage that reads and compactions meet. Null: nobody does.
  std::shared_ptr<DamageRegister> damage;
  // Counts what the store does. Null: nothing is counted.
  std::shared_ptr<StoreCounters> counters;
  // How long the compaction of a family pauses after it met damage, for the first time.
  std::chrono::milliseconds compaction_pause = std::chrono::minutes(1);
  // How much of a damaged write-ahead log is accepted.
  rocksdb::WALRecoveryMode wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  // How much of a MANIFEST with a torn tail is read.
  ReadManifest manifest = {};
  // For the copy of a damaged store (storage/engine/last_good.h): open although write-ahead logs that the
  // manifest names are missing or short, make no column family that is missing, and compact nothing.
  bool for_recovery = false;
  // With for_recovery: open although table files are missing or cannot be opened. Reads that need them fail.
  // Then damaged records of the write-ahead log are skipped, whatever wal_recovery_mode says.
  bool with_unreadable_files = false;
  // Called with each batch of the write-ahead log, and the number of the family of changes, while the log is
  // verified; and when the store is about to be opened, which may delete the log. Empty: nobody is called.
  std::function<void(const rocksdb::WriteBatch&, uint32_t)> on_logged_batch;
  std::function<void()> before_opening;
  // Whether files are merged in the background.
  bool compacts = true;
  // Needed when writes are not synced, so that a power cut leaves a prefix of them.
  bool sync_closed_logs = false;
  // on_opened is called when a store was opened for writing. on_closed is called on the thread that closes
  // the store, after RocksDB released its files.
  std::function<void()> on_opened;
  std::function<void()> on_closed;
};

class Store;

// Takes `bytes` from the block cache of a store, for another use of the memory, and gives them back when it
// is destroyed. Does not keep the store open. Thread-safe.
class CacheReservation {
 public:
  CacheReservation(const std::shared_ptr<Store>& store, size_t bytes);
  ~CacheReservation();
  CacheReservation(const CacheReservation&) = delete;
  CacheReservation& operator=(const CacheReservation&) = delete;

 private:
  const std::weak_ptr<Store> store_;
  const size_t bytes_;
};

class Store {
 public:
  // The column families.
  enum FamilyNumber {
    kItems,
    kGlobalEntries,
    kLocalEntries,
    kCatalog,
    kStats,
    kChanges,
    kTableRuns,
    kRequests,
    kFamilies
  };
  static const char* const kFamilyNames[kFamilies];
  // Table files for each column family.
  using FamilyFiles = std::array<std::vector<rocksdb::LiveFileMetaData>, kFamilies>;

  // Opens the directory, and creates the directory and column families that are missing. FAILED_PRECONDITION
  // (FORMAT_UNKNOWN): there is a column family that this program does not know.
  static absl::StatusOr<std::shared_ptr<Store>> Open(const StoreOptions& options);
  // Opens without changing a byte. Reads see only the table files. The write-ahead log is read, verified and
  // passed to `log`, but not replayed. A column family that is missing is null.
  static absl::StatusOr<std::shared_ptr<Store>> OpenReadOnly(const StoreOptions& options, LoggedChanges* log);

  // Makes a store in `options.path`, which must not have one. Its families get `files`, which must be on the
  // same file system and complete in their first and last block; they are linked, or with `copy_files`
  // copied. The ids of the families are those of every new store, so they are the same in all stores. Errors
  // as Open.
  static absl::StatusOr<std::shared_ptr<Store>> Create(const StoreOptions& options, const FamilyFiles& files,
                                                       bool copy_files);
  // Makes a new manifest for a store whose manifest is lost, from the table files in `options.path`, all of
  // which must be readable, and the write-ahead logs, whose damaged records are skipped. Then the newest
  // version of a record need not be in the topmost file: read only with iterators, or compact first.
  static absl::Status RebuildManifest(const StoreOptions& options);

  // OK when this program knows all column families, and when they cannot be listed. FAILED_PRECONDITION
  // (FORMAT_UNKNOWN): it does not know one. Changes nothing.
  static absl::Status CheckFamilies(const StoreOptions& options);
  // The same for one column family.
  static absl::Status CheckFamilyName(const StoreOptions& options, const std::string& name);

  // Closes RocksDB. Every snapshot must be released before.
  ~Store();

  rocksdb::DB* db() const { return db_.get(); }
  // The column families. The first three hold keyspaces (keyspace.h): the items of all tables; the entries of
  // all global and time-to-live indexes; the entries of all local indexes.
  rocksdb::ColumnFamilyHandle* items() const { return families_[kItems]; }
  rocksdb::ColumnFamilyHandle* global_entries() const { return families_[kGlobalEntries]; }
  rocksdb::ColumnFamilyHandle* local_entries() const { return families_[kLocalEntries]; }
  rocksdb::ColumnFamilyHandle* catalog() const { return families_[kCatalog]; }
  rocksdb::ColumnFamilyHandle* stats() const { return families_[kStats]; }
  rocksdb::ColumnFamilyHandle* changes() const { return families_[kChanges]; }
  rocksdb::ColumnFamilyHandle* table_runs() const { return families_[kTableRuns]; }
  rocksdb::ColumnFamilyHandle* requests() const { return families_[kRequests]; }
  rocksdb::ColumnFamilyHandle* family(FamilyNumber number) const { return families_[number]; }
  // The name of a missing family; std::nullopt when none is missing.
  std::optional<std::string> MissingFamily() const;

  // Bytes that the store uses on disk and in memory.
  struct Usage {
    uint64_t table_files = 0;
    uint64_t write_ahead_log = 0;
    uint64_t block_cache = 0;
    uint64_t block_cache_capacity = 0;
    uint64_t memtables = 0;
    uint64_t memtable_budget = 0;
    uint64_t table_readers = 0;
  };
  // Asks every family and lists the directory: a fraction of a millisecond, and as much again for every few
  // thousand files. For occasional calls.
  Usage MeasureUsage() const;
  // Snapshots from `current_snapshot` on, which the newest read view holds, keep nothing and are not
  // reported.
  StoreFigures MeasureFigures(uint64_t current_snapshot) const;

  // As DB::Write, and keeps empty_heads() exact. After the write the memtables that are full are switched, so
  // that RocksDB never switches several of them itself. Thread-safe: one write at a time.
  //
  // When a write begins and several memtables are full, RocksDB 7.8 switches one after another. If the new
  // log cannot be created, or the MANIFEST not be written, it keeps its references to the other families for
  // ever and an assertion ends the process when the store is closed (fixed by facebook/rocksdb#12176).
  rocksdb::Status Write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch* batch);

  // The database for a backup, which the store must outlive. The backup does not look for its files while
  // something is written: it syncs the write-ahead log first, and if a write has just failed an assertion of
  // RocksDB would end the process.
  std::unique_ptr<rocksdb::DB> DbForBackup() const;

  // As DB::NewIterator. Use it for all iterators of the store.
  //
  // RocksDB 7.8 swallows an error of an iterator that goes on to the next table file of a level: a block that
  // is damaged, or not in the cache for kBlockCacheTier, looks like the end of the data, with status OK
  // (fixed in 8.5). That code runs for range deletions only, which the store does not have.
  std::unique_ptr<rocksdb::Iterator> NewIterator(rocksdb::ReadOptions options,
                                                 rocksdb::ColumnFamilyHandle* family) const;

  size_t block_cache_capacity() const;
  // Adds sorted table files to `family`. The files must be on the same file system and must not overlap, and
  // the family must have no key in their range. Moves the files; the result is durable on return.
  absl::Status Ingest(rocksdb::ColumnFamilyHandle* family, const std::vector<SortedFile>& files);
  // Changes when an ingestion begins and when it ends. Between two equal values none was in progress, unless
  // it had begun before the first and goes on after the second.
  int64_t ingestion_steps() const { return ingestion_steps_; }
  // Ingestions that have added items. Counted when the items are there.
  int64_t item_ingestions() const { return item_ingestions_; }

  // Writes all memtables to table files, so that the next opening finds an empty write-ahead log. Blocks.
  // CANCELLED or DEADLINE_EXCEEDED: `cancellation` or `timeout` ended the wait; what was not written stays in
  // the log.
  absl::Status FlushMemtables(std::chrono::milliseconds timeout, const Cancellation& cancellation);

  // Keeps the mark of the MANIFEST after work that no event tells of, such as the deletion of whole files.
  void KeepManifestMark() { manifest_mark_->Update(*db_); }
  // As CompactionPauses. Not for a store that is read only.
  CompactionPauses::Changes PauseCompactionsAfterDamage(std::chrono::steady_clock::time_point now);
  // The names of the column families whose compactions pause. Thread-safe.
  std::vector<std::string> PausedFamilies() const;

  // As FromRocksDB; puts damage of a table file into the register. Messages tell no path, as callers may be
  // on other machines, and those of DATA_LOSS the command that says more.
  absl::Status ReadError(const std::string& what, const rocksdb::Status& status,
                         DamageMetBy met_by = DamageMetBy::kRead) const;
  // The damage of the table files that this store has; nothing without a register.
  std::vector<DamagedFile> ListDamage() const;
  // Reads a place again that could not be read from the disk, before TakeNewDamage() can have it; as
  // DamageRegister::RecheckOne(). Null: there is none. May be called after the store is closed, as long as
  // its Env and the register exist.
  std::function<std::optional<Damage>()> RecheckOfFailedRead() const;
  // Damage that was not there at the last call.
  std::vector<DamagedFile> TakeNewDamage() const;

  // True after a flush or compaction failed so that RocksDB refuses writes until the store is opened again.
  bool HasFailed() const { return *has_failed_; }

  // The ranges whose beginning is known to be empty.
  EmptyHeads& empty_heads() const { return *empty_heads_; }

  // The compaction filters of all families with keyspaces, and of item collections.
  DroppedFilter& dropped_records() const { return *dropped_records_; }
  DroppedFilter& dropped_collections() const { return *dropped_collections_; }

 private:
  Store() = default;
  // RocksDB's options, with the log and the Env of this store.
  rocksdb::Options OptionsWithEnv(const StoreOptions& options);
  // Also makes the other parts of a store that an opening for writing needs.
  rocksdb::Options Prepare(const StoreOptions& options);
  rocksdb::ColumnFamilyOptions FamilyOptions(int number, const rocksdb::Options& base) const;
  absl::StatusOr<std::vector<rocksdb::ColumnFamilyDescriptor>> DescribeFamilies(
      const StoreOptions& options, const rocksdb::Options& base) const;
  void InstallHandles(const std::vector<rocksdb::ColumnFamilyHandle*>& handles);

  void SwitchFullMemtables(const rocksdb::WriteBatch& written) ABSL_EXCLUSIVE_LOCKS_REQUIRED(writing_);

  friend class CacheReservation;
  // Changes the capacity of the block cache to what is not reserved.
  void SetReservedCacheBytes(size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(cache_mutex_);

  std::shared_ptr<rocksdb::Logger> logger_;
  // That of the options, and on top of it what shows damaged types of log records (log_types.h).
  rocksdb::Env* env_ = nullptr;
  std::unique_ptr<rocksdb::Env> log_types_env_;
  std::shared_ptr<rocksdb::Cache> block_cache_;
  size_t block_cache_bytes_ = 0;
  Mutex cache_mutex_;
  // May be more than block_cache_bytes_: the block cache is empty then.
  size_t reserved_cache_bytes_ ABSL_GUARDED_BY(cache_mutex_) = 0;
  std::shared_ptr<rocksdb::WriteBufferManager> write_buffer_manager_;
  // Null for a store that is read only.
  std::shared_ptr<ManifestMark> manifest_mark_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* default_ = nullptr;
  std::array<rocksdb::ColumnFamilyHandle*, kFamilies> families_{};
  const std::shared_ptr<std::atomic<bool>> has_failed_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<DamageRegister> damage_;
  // Null for a store that is read only.
  std::unique_ptr<CompactionPauses> compaction_pauses_;
  std::atomic<int64_t> ingestion_steps_ = 0;
  std::atomic<int64_t> item_ingestions_ = 0;
  // A memtable of this size is full. RocksDB switches a memtable that is larger before the next write.
  uint64_t full_memtable_bytes_ = 0;
  // Held while something is written to the write-ahead log.
  mutable Mutex writing_;
  // What writes may add until a memtable can be full.
  uint64_t bytes_until_full_ ABSL_GUARDED_BY(writing_) = 0;
  const std::unique_ptr<EmptyHeads> empty_heads_ = std::make_unique<EmptyHeads>();
  const std::shared_ptr<DroppedFilter> dropped_records_ = std::make_shared<DroppedFilter>(OwnerOfRecord);
  const std::shared_ptr<DroppedFilter> dropped_collections_ =
      std::make_shared<DroppedFilter>(OwnerOfCollection);
  std::function<void()> on_closed_;
};

// Convert between the two types of borrowed bytes.
rocksdb::Slice ToSlice(std::string_view text);
std::string_view ToView(const rocksdb::Slice& slice);

// Whether `status` says that there is no such file.
bool IsMissingFile(const rocksdb::Status& status);
// Whether the disk, or the disk quota, is exhausted.
bool IsNoSpace(const rocksdb::Status& status);

// "checksum mismatch in /var/lib/itemdb/rocksdb/000042.sst offset 7" without the directories: the message may
// be sent to a client on another machine, whom the name of the file tells enough.
std::string WithoutDirectories(std::string_view message);

// Converts a RocksDB error: DATA_LOSS for corruption, RESOURCE_EXHAUSTED when IsNoSpace, UNAVAILABLE
// otherwise. DATA_LOSS names a damaged file without its directory, because clients get the message.
absl::Status FromRocksDB(const std::string& what, const rocksdb::Status& status);

}  // namespace itemdb::storage
