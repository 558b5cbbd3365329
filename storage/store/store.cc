#include "storage/store/store.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <set>

#include "rocksdb/filter_policy.h"
#include "rocksdb/listener.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "spdlog/spdlog.h"
#include "storage/base/check.h"
#include "storage/keys/key_codec.h"
#include "storage/keys/storage_id.h"
#include "storage/store/logged_changes.h"

namespace itemdb {
namespace {

// The prefix of a stored key that the bloom filters know: the storage id and the first key attribute, which
// is an item collection. (An index partitioned by several attributes gets a coarser prefix: one extractor
// serves all.)
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

// RocksDB's log lines, into ours. RocksDB keeps no LOG file: its own writer aborts the process on a full
// disk.
class SpdlogLogger : public rocksdb::Logger {
 public:
  explicit SpdlogLogger(std::shared_ptr<spdlog::logger> log)
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
    log_->log(log_level, "rocksdb message=\"{}\"", text);
  }

 private:
  std::shared_ptr<spdlog::logger> log_;
};

// Syncs write-ahead logs that are closed before anything enters the next one, when writes are not synced
// themselves.
//
// RocksDB does not: a power cut may then take the end of one log and leave the next, a hole in the middle of
// the commits where relaxed mode promises that only the last of them go. Called on the write thread, after
// the new log was made and before it is written to; once per memtable, so its sync costs little.
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
      // The next sync of RocksDB meets the same error and reports it to those who wait for it.
      if (!status.ok())
        return log_->error("a closed write-ahead log could not be synced log={} error=\"{}\"", name + 1,
                           status.ToString());
      synced_through_ = number;
    }
  }

 private:
  rocksdb::Env* const env_;
  const std::string path_;
  const std::shared_ptr<spdlog::logger> log_;
  // Touched on RocksDB's write thread only.
  uint64_t synced_through_ = 0;
};

// One memtable, whatever memory there is: its skip list is searched by every read and write. With 50,000
// orders tables of 16 MiB gave 26 % more PutItem and 34 % more Query of an index than those of 64.
constexpr size_t kMaxMemtableBytes = 16 << 20;

// A start after a crash reads the log twice: to verify it, and, at about 90 MB/s, to write it to table files.
constexpr uint64_t kMaxLogBytes = 64 << 20;

// Remembers whether a flush or compaction failed in a way that RocksDB does not get over by itself.
//
// A compaction that meets a damaged file is not such a failure: what can be read is still read, and others
// are still written. RocksDB tries it again and again; opening the store anew would not help either.
class FailedJobs : public rocksdb::EventListener {
 public:
  FailedJobs(std::shared_ptr<std::atomic<bool>> has_failed, std::shared_ptr<std::atomic<bool>> has_damage,
             std::shared_ptr<spdlog::logger> log)
      : has_failed_(std::move(has_failed)), has_damage_(std::move(has_damage)), log_(std::move(log)) {}

  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* status) override {
    if (reason == rocksdb::BackgroundErrorReason::kCompaction && status->IsCorruption()) {
      MutexLock lock(mutex_);
      *has_damage_ = true;
      if (const std::string what = status->ToString(); std::exchange(last_damage_, what) != what)
        log_->error("a damaged file cannot be compacted; what else it holds stays readable error=\"{}\"",
                    what);
      *status = rocksdb::Status::OK();
      return;
    }
    if (status->severity() >= rocksdb::Status::kFatalError) *has_failed_ = true;
  }

 private:
  const std::shared_ptr<std::atomic<bool>> has_failed_;
  const std::shared_ptr<std::atomic<bool>> has_damage_;
  const std::shared_ptr<spdlog::logger> log_;
  Mutex mutex_;
  std::string last_damage_ ABSL_GUARDED_BY(mutex_);
};

rocksdb::Options BaseOptions(const StoreOptions& options, const std::shared_ptr<rocksdb::Logger>& logger) {
  rocksdb::Options base;
  base.env = options.env;
  base.create_if_missing = true;
  base.create_missing_column_families = true;
  base.info_log = logger;
  base.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  base.stats_dump_period_sec = 0;
  base.stats_persist_period_sec = 0;

  // A damaged log must be noticed, not silently cut short: the default mode opens after one flipped byte and
  // drops every later write. Preallocated or recycled log files would look damaged after an ordinary power
  // cut.
  base.wal_recovery_mode = options.wal_recovery_mode;
  base.allow_fallocate = false;
  base.recycle_log_file_num = 0;
  base.track_and_verify_wals_in_manifest = options.verify_logs;
  base.manual_wal_flush = false;
  base.best_efforts_recovery = options.without_missing_files;
  if (options.sync_closed_logs) base.listeners.push_back(std::make_shared<ClosedLogSync>(options));

  // All families share one memory budget and one log, which is bounded so that a start after a crash stays
  // quick.
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.whole_key_filtering = true;
  table.format_version = 5;
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  base.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  base.write_buffer_manager =
      std::make_shared<rocksdb::WriteBufferManager>(options.memtable_bytes, table.block_cache);
  base.write_buffer_size = std::clamp<size_t>(options.memtable_bytes / 4, 1 << 20, kMaxMemtableBytes);
  base.max_write_buffer_number = 2;
  base.arena_block_size = 64 << 10;
  base.max_total_wal_size = std::min<uint64_t>(4 * options.memtable_bytes, kMaxLogBytes);
  base.max_open_files = 4096;
  // RocksDB starts so many threads, by default 16, for each family that has a file, whatever the number of
  // files.
  base.max_file_opening_threads = 4;
  base.max_background_jobs = 3;
  base.compression = rocksdb::kLZ4Compression;
  base.level_compaction_dynamic_level_bytes = true;
  return base;
}

}  // namespace

rocksdb::Slice ToSlice(std::string_view text) { return rocksdb::Slice(text.data(), text.size()); }
std::string_view ToView(const rocksdb::Slice& slice) { return std::string_view(slice.data(), slice.size()); }

absl::Status FromRocksDB(const std::string& what, const rocksdb::Status& status) {
  if (status.IsCorruption()) return DataLossError(what + ": " + status.ToString());
  if (status.IsNoSpace()) {
    return MakeError(absl::StatusCode::kResourceExhausted, kReasonDiskFull, what + ": " + status.ToString(),
                     1000);
  }
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, what + ": " + status.ToString(), 1000);
}

const char* const Store::kFamilyNames[kFamilies] = {"items", "global_entries", "local_entries", "catalog",
                                                    "stats", "changes",        "table_runs",    "requests"};

absl::StatusOr<std::vector<rocksdb::ColumnFamilyDescriptor>> Store::DescribeFamilies(
    const StoreOptions& options, const rocksdb::Options& base) const {
  ITEMDB_RETURN_IF_ERROR(CheckFamilies(options));
  std::vector<std::string> there;
  if (options.env->FileExists(options.path + "/CURRENT").ok()) {
    rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(base, options.path, &there);
    if (!listed.ok()) return FromRocksDB("cannot read the column families of " + options.path, listed);
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors = {{rocksdb::kDefaultColumnFamilyName, base}};
  for (int i = 0; i < kFamilies; ++i) {
    if (std::erase(there, kFamilyNames[i]) == 0 && !base.create_missing_column_families) continue;
    rocksdb::ColumnFamilyOptions family = base;
    if (i <= kLocalEntries) {
      family.prefix_extractor = std::make_shared<CollectionPrefix>();
      family.compaction_filter_factory = dropped_records_;
    }
    if (i == kStats) family.compaction_filter_factory = dropped_collections_;
    descriptors.emplace_back(kFamilyNames[i], family);
  }
  return descriptors;
}

absl::Status Store::CheckFamilies(const StoreOptions& options) {
  rocksdb::DBOptions base;
  base.env = options.env;
  std::vector<std::string> there;
  if (!rocksdb::DB::ListColumnFamilies(base, options.path, &there).ok()) return absl::OkStatus();
  for (const std::string& name : there) {
    if (name == rocksdb::kDefaultColumnFamilyName ||
        std::find(std::begin(kFamilyNames), std::end(kFamilyNames), name) != std::end(kFamilyNames))
      continue;
    return MakeError(absl::StatusCode::kFailedPrecondition, kReasonFormatUnknown,
                     options.path + " has a column family that this program does not know, " + name +
                         ". Open the database with the program that wrote it, or a newer one");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Store>> Store::Open(const StoreOptions& options) {
  std::shared_ptr<Store> store(new Store());
  store->logger_ = std::make_shared<SpdlogLogger>(options.log);
  rocksdb::Options base = BaseOptions(options, store->logger_);
  base.listeners.push_back(std::make_shared<FailedJobs>(store->has_failed_, store->has_damage_, options.log));
  store->block_cache_ = base.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_cache;
  store->TakeFromCache(-static_cast<int64_t>(options.block_cache_bytes));
  store->write_buffer_manager_ = base.write_buffer_manager;
  ITEMDB_ASSIGN_OR_RETURN(auto descriptors, store->DescribeFamilies(options, base));

  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status = rocksdb::DB::Open(base, options.path, descriptors, &handles, &db);
  if (!status.ok()) return FromRocksDB("cannot open " + options.path, status);
  store->db_.reset(db);
  store->InstallHandles(handles);
  // Only a store that opened reports its closing: a failed one never held the files.
  store->on_closed_ = options.on_closed;
  if (options.on_opened) options.on_opened();
  return store;
}

absl::StatusOr<std::shared_ptr<Store>> Store::OpenReadOnly(const StoreOptions& options, LoggedChanges* log) {
  std::shared_ptr<Store> store(new Store());
  store->logger_ = std::make_shared<SpdlogLogger>(options.log);
  rocksdb::Options base = BaseOptions(options, store->logger_);
  base.create_if_missing = false;
  base.create_missing_column_families = false;
  base.wal_filter = log;
  ITEMDB_ASSIGN_OR_RETURN(auto descriptors, store->DescribeFamilies(options, base));

  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status = rocksdb::DB::OpenForReadOnly(base, options.path, descriptors, &handles, &db);
  if (!status.ok()) return FromRocksDB("cannot open " + options.path, status);
  store->db_.reset(db);
  store->InstallHandles(handles);
  return store;
}

void Store::InstallHandles(const std::vector<rocksdb::ColumnFamilyHandle*>& handles) {
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    const auto name = std::find(std::begin(kFamilyNames), std::end(kFamilyNames), handle->GetName());
    (name == std::end(kFamilyNames) ? default_ : families_[name - std::begin(kFamilyNames)]) = handle;
  }
}

std::optional<std::string> Store::MissingFamily() const {
  for (int i = 0; i < kFamilies; ++i) {
    if (families_[i] == nullptr) return kFamilyNames[i];
  }
  return std::nullopt;
}

Store::~Store() {
  if (db_ == nullptr) return;
  db_->DestroyColumnFamilyHandle(default_);
  for (rocksdb::ColumnFamilyHandle* handle : families_) {
    if (handle != nullptr) db_->DestroyColumnFamilyHandle(handle);
  }
  db_->Close();
  db_.reset();
  if (on_closed_) on_closed_();
}

Store::Usage Store::MeasureUsage() const {
  Usage usage;
  using Properties = rocksdb::DB::Properties;
  (void)db_->GetAggregatedIntProperty(Properties::kTotalSstFilesSize, &usage.table_files);
  (void)db_->GetAggregatedIntProperty(Properties::kSizeAllMemTables, &usage.memtables);
  (void)db_->GetAggregatedIntProperty(Properties::kEstimateTableReadersMem, &usage.table_readers);
  // Memtables are charged to the cache, so that both together stay within its capacity.
  usage.block_cache_capacity = block_cache_->GetCapacity();
  uint64_t charged = write_buffer_manager_->memory_usage();
  uint64_t used = block_cache_->GetUsage();
  usage.block_cache = used > charged ? used - charged : 0;
  usage.memtable_budget = write_buffer_manager_->buffer_size();
  std::vector<std::string> files;
  (void)db_->GetEnv()->GetChildren(db_->GetName(), &files);
  for (const std::string& file : files) {
    uint64_t bytes = 0;
    if (file.ends_with(".log") && db_->GetEnv()->GetFileSize(db_->GetName() + "/" + file, &bytes).ok())
      usage.write_ahead_log += bytes;
  }
  return usage;
}

void Store::KeepTakingWrites() {
  if (!*has_damage_ || std::exchange(takes_any_number_of_files_, true)) return;
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    // Unlimited: what cannot be compacted piles up in level 0, where it is only slower to read.
    (void)db_->SetOptions(
        family, {{"level0_slowdown_writes_trigger", "1000000"}, {"level0_stop_writes_trigger", "1000000"}});
  }
}

void Store::TakeFromCache(int64_t bytes) {
  MutexLock lock(cache_mutex_);
  cache_bytes_ -= bytes;
  block_cache_->SetCapacity(static_cast<size_t>(std::max<int64_t>(cache_bytes_, 0)));
}

absl::Status Store::Ingest(rocksdb::ColumnFamilyHandle* family, const std::vector<std::string>& paths) {
  rocksdb::IngestExternalFileOptions options;
  options.move_files = true;
  options.write_global_seqno = false;
  // Nothing has a key in their range: a flush, for which writers would have to wait, is never needed.
  options.allow_blocking_flush = false;
  rocksdb::Status status = db_->IngestExternalFile(family, paths, options);
  if (!status.ok()) return FromRocksDB("cannot add files to column family " + family->GetName(), status);
  return absl::OkStatus();
}

}  // namespace itemdb
