// RocksDB as we use it: one open instance, its column families and its options.
//
// A Store is one opening of the RocksDB directory. It stays open as long as a read view holds it, so a reader
// never outlives what it reads (invariant ViewsDieFirst). After a failed write the engine releases it and
// opens another.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/write_buffer_manager.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"
#include "storage/store/dropped_filter.h"

namespace spdlog {
class logger;
}

namespace itemdb {

class LoggedChanges;

// A table file that rocksdb::SstFileWriter has written.
struct SortedFile {
  std::string path;
  // Of the whole file, as the writer computed it.
  std::string checksum = {};
  std::string checksum_function = {};
};

struct StoreOptions {
  // RocksDB's own directory.
  std::string path;
  rocksdb::Env* env = nullptr;
  std::shared_ptr<spdlog::logger> log;
  size_t block_cache_bytes = 0;
  size_t memtable_bytes = 0;
  // How much of a damaged write-ahead log is accepted.
  rocksdb::WALRecoveryMode wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  // Refuse when a write-ahead log that RocksDB's manifest names is missing or shorter than it was.
  bool verify_logs = true;
  // Open although table files are missing: each family as of before it needed them, and without the logs.
  bool without_missing_files = false;
  // Needed when writes are not synced, so that a power cut leaves a prefix of them.
  bool sync_closed_logs = false;
  // Called when a store was opened for writing, and on the thread that closes it, after RocksDB has let go of
  // its files.
  std::function<void()> on_opened;
  std::function<void()> on_closed;
};

class Store {
 public:
  // The column families, and their names.
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

  // Opens, creating what is missing. FAILED_PRECONDITION (FORMAT_UNKNOWN): there is a column family that this
  // program does not know.
  static absl::StatusOr<std::shared_ptr<Store>> Open(const StoreOptions& options);
  // Opens without changing a byte, and shows what is in the table files. The write-ahead log is read,
  // verified and shown to `log`, but not replayed. A family that is missing is null.
  static absl::StatusOr<std::shared_ptr<Store>> OpenReadOnly(const StoreOptions& options, LoggedChanges* log);

  // Whether the column families are ones that this program knows, which are OK too when they cannot be
  // listed. FAILED_PRECONDITION (FORMAT_UNKNOWN). Changes nothing.
  static absl::Status CheckFamilies(const StoreOptions& options);

  // Closes. Every snapshot must be gone.
  ~Store();

  rocksdb::DB* db() const { return db_.get(); }
  // The column families, by what they hold. The first three hold keyspaces (keyspace.h): the items of all
  // tables, the entries of all global indexes and of those of times to live, the entries of all local
  // indexes.
  rocksdb::ColumnFamilyHandle* items() const { return families_[kItems]; }
  rocksdb::ColumnFamilyHandle* global_entries() const { return families_[kGlobalEntries]; }
  rocksdb::ColumnFamilyHandle* local_entries() const { return families_[kLocalEntries]; }
  rocksdb::ColumnFamilyHandle* catalog() const { return families_[kCatalog]; }
  rocksdb::ColumnFamilyHandle* stats() const { return families_[kStats]; }
  rocksdb::ColumnFamilyHandle* changes() const { return families_[kChanges]; }
  rocksdb::ColumnFamilyHandle* table_runs() const { return families_[kTableRuns]; }
  rocksdb::ColumnFamilyHandle* requests() const { return families_[kRequests]; }
  // The name of a family that is missing; nothing when all are there.
  std::optional<std::string> MissingFamily() const;

  // Bytes it holds on disk and in memory.
  struct Usage {
    uint64_t table_files = 0;
    uint64_t write_ahead_log = 0;
    uint64_t block_cache = 0;
    uint64_t block_cache_capacity = 0;
    uint64_t memtables = 0;
    uint64_t memtable_budget = 0;
    uint64_t table_readers = 0;
  };
  // Asks every family and lists the names in the directory: a fraction of a millisecond, and as much for
  // every few thousand files. For people who look now and then.
  Usage MeasureUsage() const;

  size_t block_cache_capacity() const { return block_cache_->GetCapacity(); }
  // Takes so many bytes from the block cache for something else, or, when negative, gives them back.
  void TakeFromCache(int64_t bytes);

  // Adds sorted table files to `family`. They are on the same file system, do not overlap, and nothing has a
  // key in their range. Durable on return, and the files are gone from where they were.
  absl::Status Ingest(rocksdb::ColumnFamilyHandle* family, const std::vector<SortedFile>& files);

  // Makes writes go on, when a damaged file cannot be compacted, however many files wait behind it. To be
  // called now and then, by one thread.
  void KeepTakingWrites();

  // Whether a flush or compaction failed so that RocksDB refuses writes until the store is opened again.
  bool HasFailed() const { return *has_failed_; }

  // The filters that all families with keyspaces, and item collections, are compacted with.
  DroppedFilter& dropped_records() const { return *dropped_records_; }
  DroppedFilter& dropped_collections() const { return *dropped_collections_; }

 private:
  Store() = default;
  absl::StatusOr<std::vector<rocksdb::ColumnFamilyDescriptor>> DescribeFamilies(
      const StoreOptions& options, const rocksdb::Options& base) const;
  void InstallHandles(const std::vector<rocksdb::ColumnFamilyHandle*>& handles);

  std::shared_ptr<rocksdb::Logger> logger_;
  std::shared_ptr<rocksdb::Cache> block_cache_;
  Mutex cache_mutex_;
  // What the block cache was given, less what was taken from it; may be less than nothing.
  int64_t cache_bytes_ ABSL_GUARDED_BY(cache_mutex_) = 0;
  std::shared_ptr<rocksdb::WriteBufferManager> write_buffer_manager_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* default_ = nullptr;
  std::array<rocksdb::ColumnFamilyHandle*, kFamilies> families_{};
  const std::shared_ptr<std::atomic<bool>> has_failed_ = std::make_shared<std::atomic<bool>>(false);
  // Whether a compaction met a damaged file.
  const std::shared_ptr<std::atomic<bool>> has_damage_ = std::make_shared<std::atomic<bool>>(false);
  bool takes_any_number_of_files_ = false;
  const std::shared_ptr<DroppedFilter> dropped_records_ = std::make_shared<DroppedFilter>(OwnerOfRecord);
  const std::shared_ptr<DroppedFilter> dropped_collections_ =
      std::make_shared<DroppedFilter>(OwnerOfCollection);
  std::function<void()> on_closed_;
};

// Between the two kinds of borrowed bytes.
rocksdb::Slice ToSlice(std::string_view text);
std::string_view ToView(const rocksdb::Slice& slice);

// A RocksDB error as ours: DATA_LOSS for corruption, RESOURCE_EXHAUSTED for a full disk, UNAVAILABLE
// otherwise.
absl::Status FromRocksDB(const std::string& what, const rocksdb::Status& status);

}  // namespace itemdb
