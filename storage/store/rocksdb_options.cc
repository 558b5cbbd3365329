#include "storage/store/rocksdb_options.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <set>

#include "rocksdb/file_checksum.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/listener.h"
#include "rocksdb/table.h"
#include "spdlog/spdlog.h"
#include "storage/keys/key_codec.h"
#include "storage/keys/storage_id.h"
#include "storage/store/store_counters.h"

namespace itemdb::storage {
namespace {

// The storage id and the first key attribute: an item collection. An index partitioned by several attributes
// gets a coarser prefix, because one extractor serves all tables and indexes.
class CollectionPrefix : public rocksdb::SliceTransform {
 public:
  const char* Name() const override { return "itemdb.CollectionPrefix"; }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    return rocksdb::Slice(key.data(), Length(key).value_or(key.size()));
  }
  bool InDomain(const rocksdb::Slice& key) const override { return Length(key).has_value(); }

 private:
  static std::optional<size_t> Length(const rocksdb::Slice& key) {
    std::string_view rest = ToView(key);
    if (!ConsumeStorageId(&rest).has_value()) return std::nullopt;
    const std::optional<size_t> value = KeyValueLength(rest);
    if (!value.has_value()) return std::nullopt;
    return key.size() - rest.size() + *value;
  }
};

// Lines that tell of nothing wrong: a backup and the look for its files overlap, files that were ingested
// have no id of the database, and a database that is made has no directory yet.
bool IsHarmless(std::string_view text) {
  for (const std::string_view known :
       {"File Deletions Disabled, but already disabled", "File Deletions Enable, but not really enabled",
        "SST file opened without unique ID", "dir NotFound"}) {
    if (text.find(known) != std::string_view::npos) return true;
  }
  return false;
}

// Writes RocksDB's log lines to our log. RocksDB has no LOG file of its own, because its writer of that file
// aborts the process on a full disk.
class SpdlogLogger : public rocksdb::Logger {
 public:
  explicit SpdlogLogger(common::Log log)
      : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL), log_(std::move(log)) {}

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    Logv(rocksdb::InfoLogLevel::INFO_LEVEL, format, arguments);
  }
  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < GetInfoLogLevel()) return;
    char line[1024];
    int size = std::vsnprintf(line, sizeof(line), format, arguments);
    if (size <= 0) return;
    std::string_view text(line, std::min<size_t>(size, sizeof(line) - 1));
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    auto log_level = level >= rocksdb::InfoLogLevel::ERROR_LEVEL  ? spdlog::level::err
                     : level == rocksdb::InfoLogLevel::WARN_LEVEL ? spdlog::level::warn
                                                                  : spdlog::level::debug;
    if (IsHarmless(text)) log_level = spdlog::level::debug;
    log_->log(log_level, "rocksdb text={}", text);
  }

 private:
  common::Log log_;
};

// When writes are not synced: syncs each closed write-ahead log before the first write to the next log.
//
// RocksDB itself does not sync it. A power cut could then lose the end of one log but not the next log, so
// commits would be missing in the middle; relaxed durability promises that only the last commits can be lost.
// Called on RocksDB's write thread, after the new log was made and before its first write. Called once per
// memtable, so the sync costs little.
class ClosedLogSync : public rocksdb::EventListener {
 public:
  explicit ClosedLogSync(const StoreOptions& options)
      : env_(options.env), path_(options.path), log_(options.log) {}

  void OnMemTableSealed(const rocksdb::MemTableInfo&) override {
    std::vector<std::string> names;
    std::set<uint64_t> numbers;
    (void)env_->GetChildren(path_, &names);
    for (const std::string& name : names) {
      uint64_t number = 0;
      int length = 0;
      if (std::sscanf(name.c_str(), "%" SCNu64 ".log%n", &number, &length) != 1 ||
          length != static_cast<int>(name.size()))
        continue;
      numbers.insert(number);
    }
    if (!numbers.empty()) numbers.erase(std::prev(numbers.end()));  // The new one.
    for (uint64_t number : numbers) {
      if (number <= synced_through_) continue;
      char name[32];
      std::snprintf(name, sizeof(name), "/%06" PRIu64 ".log", number);
      std::unique_ptr<rocksdb::WritableFile> file;
      rocksdb::Status status = env_->ReopenWritableFile(path_ + name, &file, rocksdb::EnvOptions());
      if (status.ok()) status = file->Sync();
      // RocksDB's next sync gets the same error and returns it to the waiting writers.
      if (!status.ok())
        return log_->error("a closed write-ahead log could not be synced log={} error={}", name + 1,
                           status.ToString());
      synced_through_ = number;
    }
  }

 private:
  rocksdb::Env* const env_;
  const std::string path_;
  const common::Log log_;
  // Used only on RocksDB's write thread.
  uint64_t synced_through_ = 0;
};

// Bound of one memtable, also when there is more memory: every read and write searches its skip list.
constexpr size_t kMaxMemtableBytes = 32 << 20;

// A start after a crash writes the write-ahead log to table files, at about 90 MB/s.
constexpr uint64_t kMaxLogBytes = 64 << 20;

// Bytes that are read and cached together. Larger blocks compress better and need a smaller index.
constexpr size_t kBlockBytes = 8 << 10;

// A block can take the place only of blocks in its own shard of the cache. The index of a table file is one
// block, and so is its filter: in shards of 512 KiB, RocksDB's default, they push each other out.
constexpr size_t kMinCacheShardBytes = 8 << 20;
constexpr int kMaxCacheShardBits = 6;

// Index and filter blocks may fill half of it before they must make room for data.
std::shared_ptr<rocksdb::Cache> NewBlockCache(size_t bytes) {
  rocksdb::LRUCacheOptions cache;
  cache.capacity = bytes;
  cache.num_shard_bits = 0;
  while (cache.num_shard_bits < kMaxCacheShardBits &&
         (bytes >> (cache.num_shard_bits + 1)) >= kMinCacheShardBytes)
    ++cache.num_shard_bits;
  cache.high_pri_pool_ratio = 0.5;
  return rocksdb::NewLRUCache(cache);
}

}  // namespace

std::shared_ptr<rocksdb::Logger> NewRocksDBLogger(common::Log log) {
  return std::make_shared<SpdlogLogger>(std::move(log));
}

std::shared_ptr<const rocksdb::SliceTransform> NewCollectionPrefix() {
  return std::make_shared<CollectionPrefix>();
}

rocksdb::Options RocksDBOptions(const StoreOptions& options, const std::shared_ptr<rocksdb::Logger>& logger) {
  rocksdb::Options base;
  base.env = options.env;
  base.create_if_missing = true;
  base.create_missing_column_families = !options.for_recovery;
  base.info_log = logger;
  base.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  base.statistics = options.counters;
  base.stats_dump_period_sec = 0;
  base.stats_persist_period_sec = 0;

  // A damaged log must be noticed. RocksDB's default mode opens after one flipped byte and silently drops
  // every later write. Preallocated or recycled log files would look damaged after an ordinary power cut.
  base.wal_recovery_mode = options.wal_recovery_mode;
  base.allow_fallocate = false;
  base.recycle_log_file_num = 0;
  base.track_and_verify_wals_in_manifest = !options.for_recovery;
  base.manual_wal_flush = false;
  base.paranoid_checks = !options.with_unreadable_files;
  // After a failed write RocksDB would flush all families to go on by itself. The batch that failed is in the
  // log and in no memtable: the families that are flushed before the next error, or before the process ends,
  // would never get it, and the others would get it from the log, so an item could lack its change record or
  // its index entries. The engine closes the store and opens it again instead.
  base.max_bgerror_resume_count = 0;
  base.disable_auto_compactions = options.for_recovery || !options.compacts;
  if (options.sync_closed_logs) base.listeners.push_back(std::make_shared<ClosedLogSync>(options));

  // All families share one memory budget and one write-ahead log, which is bounded, so a start after a crash
  // is fast.
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = NewBlockCache(options.block_cache_bytes);
  table.block_size = kBlockBytes;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.whole_key_filtering = true;
  table.format_version = 5;
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  base.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  base.write_buffer_manager =
      std::make_shared<rocksdb::WriteBufferManager>(options.memtable_bytes, table.block_cache);
  base.write_buffer_size = std::clamp<size_t>(options.memtable_bytes / 4, 1 << 20, kMaxMemtableBytes);
  base.max_write_buffer_number = 2;
  base.level0_file_num_compaction_trigger = kLevel0CompactionFiles;
  base.arena_block_size = 64 << 10;
  base.max_total_wal_size = std::min<uint64_t>(4 * options.memtable_bytes, kMaxLogBytes);
  base.max_open_files = 4096;
  // RocksDB starts this many threads (default 16) for each family that has a file, even if it has only one.
  base.max_file_opening_threads = 4;
  base.max_background_jobs = 3;
  // An iterator that ends does not delete files that only it used: the network thread would wait for the
  // disk.
  base.avoid_unnecessary_blocking_io = true;
  // The manifest keeps a checksum of every table file, so that a copy of one can be verified.
  base.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  base.compression = rocksdb::kLZ4Compression;
  base.level_compaction_dynamic_level_bytes = true;
  return base;
}

}  // namespace itemdb::storage
