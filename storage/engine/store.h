// RocksDB as we use it: one open instance, its column families and its options.
//
// A Store is one opening of the RocksDB directory. It stays open as long as anybody holds it: read views and
// table descriptors do (through their families), so a reader never outlives what it reads (invariant
// ViewsDieFirst). After a failed write the engine lets go of it and opens another.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/write_buffer_manager.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace spdlog {
class logger;
}

namespace itemdb {

class Store;

// A column family of a table or index. Destroying the last reference to a dropped one frees its files.
class Family {
 public:
  Family(std::shared_ptr<Store> store, uint64_t storage_id, rocksdb::ColumnFamilyHandle* handle)
      : store_(std::move(store)), storage_id_(storage_id), handle_(handle) {}
  ~Family();
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  uint64_t storage_id() const { return storage_id_; }
  rocksdb::ColumnFamilyHandle* handle() const { return handle_; }

 private:
  std::shared_ptr<Store> store_;
  uint64_t storage_id_;
  rocksdb::ColumnFamilyHandle* handle_;
};

// "s000123".
std::string FamilyName(uint64_t storage_id);

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

class Store : public std::enable_shared_from_this<Store> {
 public:
  // Opens, creating what is missing, all families included. `*families` receives those of tables and indexes
  // (and spare ones), known to the catalog or not.
  static absl::StatusOr<std::shared_ptr<Store>> Open(const StoreOptions& options,
                                                     std::map<uint64_t, std::shared_ptr<Family>>* families);
  // Opens without changing a byte; the write-ahead log is replayed in memory.
  static absl::StatusOr<std::shared_ptr<Store>> OpenReadOnly(const StoreOptions& options);

  // Closes. Every Family and snapshot must be gone.
  ~Store();

  rocksdb::DB* db() const { return db_.get(); }
  rocksdb::ColumnFamilyHandle* catalog() const { return catalog_; }
  rocksdb::ColumnFamilyHandle* stats() const { return stats_; }
  rocksdb::ColumnFamilyHandle* changes() const { return changes_; }
  rocksdb::ColumnFamilyHandle* requests() const { return requests_; }

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
  // Asks every family and lists the directory: milliseconds, for people who look now and then.
  Usage MeasureUsage() const;

  // Takes so many bytes from the block cache for something else, or, when negative, gives them back.
  void TakeFromCache(int64_t bytes);

  // Puts the sorted table files at `paths`, which do not overlap and are on the same file system, into the
  // empty family `family`; durable on return, and the files are gone from where they were.
  absl::Status Ingest(const Family& family, const std::vector<std::string>& paths);

  // Slow (tens of milliseconds): never on a request's or the writer's thread.
  absl::StatusOr<std::vector<std::shared_ptr<Family>>> CreateFamilies(
      const std::vector<uint64_t>& storage_ids);
  // The files go when the last reference to `family` goes.
  absl::Status DropFamily(const Family& family);

 private:
  friend class Family;
  Store() = default;
  // Keeps the fixed families; those of tables and indexes go to `*families`, or are let go when it is null.
  void AdoptHandles(const std::vector<rocksdb::ColumnFamilyHandle*>& handles,
                    std::map<uint64_t, std::shared_ptr<Family>>* families);

  std::shared_ptr<rocksdb::Logger> logger_;
  std::shared_ptr<rocksdb::Cache> block_cache_;
  Mutex cache_mutex_;
  // What the block cache was given, less what was taken from it; may be less than nothing.
  int64_t cache_bytes_ ABSL_GUARDED_BY(cache_mutex_) = 0;
  std::shared_ptr<rocksdb::WriteBufferManager> write_buffer_manager_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyOptions family_options_;
  rocksdb::ColumnFamilyHandle* default_ = nullptr;
  rocksdb::ColumnFamilyHandle* catalog_ = nullptr;
  rocksdb::ColumnFamilyHandle* stats_ = nullptr;
  rocksdb::ColumnFamilyHandle* changes_ = nullptr;
  rocksdb::ColumnFamilyHandle* requests_ = nullptr;
  std::function<void()> on_closed_;
};

// Between the two kinds of borrowed bytes.
rocksdb::Slice ToSlice(std::string_view text);
std::string_view ToView(const rocksdb::Slice& slice);

// A RocksDB error as ours: DATA_LOSS for corruption, RESOURCE_EXHAUSTED for a full disk, UNAVAILABLE
// otherwise.
absl::Status FromRocksDB(const std::string& what, const rocksdb::Status& status);

}  // namespace itemdb
