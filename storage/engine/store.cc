#include "storage/engine/store.h"

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

namespace itemdb {
namespace {

constexpr char kCatalogFamily[] = "catalog";
constexpr char kStatsFamily[] = "stats";
constexpr char kChangesFamily[] = "changes";
constexpr char kRequestsFamily[] = "requests";

// An item collection's prefix, for the bloom filters: the first key attribute. (An index partitioned by
// several attributes gets a coarser prefix, so that one extractor serves every family and spare families fit
// all.)
class FirstKeyValue : public rocksdb::SliceTransform {
 public:
  const char* Name() const override { return "itemdb.FirstKeyValue"; }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    return rocksdb::Slice(key.data(), KeyValueLength(ToView(key)).value_or(key.size()));
  }
  bool InDomain(const rocksdb::Slice& key) const override { return KeyValueLength(ToView(key)).has_value(); }
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

std::optional<uint64_t> ParseFamilyName(const std::string& name) {
  uint64_t storage_id = 0;
  char rest = 0;
  if (std::sscanf(name.c_str(), "s%" SCNu64 "%c", &storage_id, &rest) != 1) return std::nullopt;
  return storage_id;
}

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

  // Hundreds of families share one memory budget and one log: small arenas, and a log bounded so that a start
  // after a crash stays quick.
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
  base.write_buffer_size = std::max<size_t>(options.memtable_bytes / 4, 1 << 20);
  base.max_write_buffer_number = 2;
  base.arena_block_size = 64 << 10;
  base.max_total_wal_size = 4 * options.memtable_bytes;
  base.max_open_files = 4096;
  // RocksDB starts so many threads, by default 16, for each family that has a file, whatever the number of
  // files.
  base.max_file_opening_threads = 4;
  base.max_background_jobs = 3;
  base.prefix_extractor = std::make_shared<FirstKeyValue>();
  base.compression = rocksdb::kLZ4Compression;
  base.level_compaction_dynamic_level_bytes = true;
  return base;
}

// The change log's keys are sequences, not key encodings, and are read from a point on: no prefixes.
rocksdb::ColumnFamilyOptions OptionsFor(const std::string& family, rocksdb::ColumnFamilyOptions options) {
  if (!ParseFamilyName(family).has_value()) options.prefix_extractor = nullptr;
  return options;
}

}  // namespace

rocksdb::Slice ToSlice(std::string_view text) { return rocksdb::Slice(text.data(), text.size()); }
std::string_view ToView(const rocksdb::Slice& slice) { return std::string_view(slice.data(), slice.size()); }

std::string FamilyName(uint64_t storage_id) {
  char name[32];
  std::snprintf(name, sizeof(name), "s%06" PRIu64, storage_id);
  return name;
}

absl::Status FromRocksDB(const std::string& what, const rocksdb::Status& status) {
  if (status.IsCorruption()) return DataLossError(what + ": " + status.ToString());
  if (status.IsNoSpace()) {
    return MakeError(absl::StatusCode::kResourceExhausted, kReasonDiskFull, what + ": " + status.ToString(),
                     1000);
  }
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, what + ": " + status.ToString(), 1000);
}

Family::~Family() { store_->db_->DestroyColumnFamilyHandle(handle_); }

namespace {

absl::StatusOr<std::vector<rocksdb::ColumnFamilyDescriptor>> FamiliesOf(const StoreOptions& options,
                                                                        const rocksdb::Options& base) {
  std::vector<std::string> names;
  if (options.env->FileExists(options.path + "/CURRENT").ok()) {
    rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(base, options.path, &names);
    if (!listed.ok()) return FromRocksDB("cannot read the families of " + options.path, listed);
  }
  for (const char* fixed : {rocksdb::kDefaultColumnFamilyName.c_str(), kCatalogFamily, kStatsFamily,
                            kChangesFamily, kRequestsFamily}) {
    if (base.create_missing_column_families && std::find(names.begin(), names.end(), fixed) == names.end())
      names.push_back(fixed);
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : names) descriptors.emplace_back(name, OptionsFor(name, base));
  return descriptors;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Store>> Store::Open(const StoreOptions& options,
                                                   std::map<uint64_t, std::shared_ptr<Family>>* families) {
  std::shared_ptr<Store> store(new Store());
  store->logger_ = std::make_shared<SpdlogLogger>(options.log);
  rocksdb::Options base = BaseOptions(options, store->logger_);
  store->family_options_ = base;
  store->block_cache_ = base.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_cache;
  store->TakeFromCache(-static_cast<int64_t>(options.block_cache_bytes));
  store->write_buffer_manager_ = base.write_buffer_manager;
  ITEMDB_ASSIGN_OR_RETURN(auto descriptors, FamiliesOf(options, base));

  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status = rocksdb::DB::Open(base, options.path, descriptors, &handles, &db);
  if (!status.ok()) return FromRocksDB("cannot open " + options.path, status);
  store->db_.reset(db);
  store->AdoptHandles(handles, families);
  // Only a store that opened reports its closing: a failed one never held the files.
  store->on_closed_ = options.on_closed;
  if (options.on_opened) options.on_opened();
  return store;
}

absl::StatusOr<std::shared_ptr<Store>> Store::OpenReadOnly(const StoreOptions& options) {
  std::shared_ptr<Store> store(new Store());
  store->logger_ = std::make_shared<SpdlogLogger>(options.log);
  rocksdb::Options base = BaseOptions(options, store->logger_);
  base.create_if_missing = false;
  base.create_missing_column_families = false;
  ITEMDB_ASSIGN_OR_RETURN(auto descriptors, FamiliesOf(options, base));

  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status = rocksdb::DB::OpenForReadOnly(base, options.path, descriptors, &handles, &db);
  if (!status.ok()) return FromRocksDB("cannot open " + options.path, status);
  store->db_.reset(db);
  store->AdoptHandles(handles, nullptr);
  return store;
}

void Store::AdoptHandles(const std::vector<rocksdb::ColumnFamilyHandle*>& handles,
                         std::map<uint64_t, std::shared_ptr<Family>>* families) {
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    const std::string& name = handle->GetName();
    if (name == rocksdb::kDefaultColumnFamilyName) {
      default_ = handle;
    } else if (name == kCatalogFamily) {
      catalog_ = handle;
    } else if (name == kStatsFamily) {
      stats_ = handle;
    } else if (name == kChangesFamily) {
      changes_ = handle;
    } else if (name == kRequestsFamily) {
      requests_ = handle;
    } else if (auto storage_id = ParseFamilyName(name); storage_id.has_value() && families != nullptr) {
      families->emplace(*storage_id, std::make_shared<Family>(shared_from_this(), *storage_id, handle));
    } else {
      db_->DestroyColumnFamilyHandle(handle);
    }
  }
}

Store::~Store() {
  if (db_ == nullptr) return;
  for (rocksdb::ColumnFamilyHandle* handle : {default_, catalog_, stats_, changes_, requests_}) {
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
  std::vector<rocksdb::Env::FileAttributes> files;
  (void)db_->GetEnv()->GetChildrenFileAttributes(db_->GetName(), &files);
  for (const rocksdb::Env::FileAttributes& file : files) {
    if (file.name.ends_with(".log")) usage.write_ahead_log += file.size_bytes;
  }
  return usage;
}

void Store::TakeFromCache(int64_t bytes) {
  MutexLock lock(cache_mutex_);
  cache_bytes_ -= bytes;
  block_cache_->SetCapacity(static_cast<size_t>(std::max<int64_t>(cache_bytes_, 0)));
}

absl::Status Store::Ingest(const Family& family, const std::vector<std::string>& paths) {
  rocksdb::IngestExternalFileOptions options;
  options.move_files = true;
  options.write_global_seqno = false;
  // The family is empty: a flush, for which writers would have to wait, is never needed.
  options.allow_blocking_flush = false;
  rocksdb::Status status = db_->IngestExternalFile(family.handle(), paths, options);
  if (!status.ok())
    return FromRocksDB("cannot add files to column family " + FamilyName(family.storage_id()), status);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::shared_ptr<Family>>> Store::CreateFamilies(
    const std::vector<uint64_t>& storage_ids) {
  std::vector<std::string> names;
  for (uint64_t storage_id : storage_ids) names.push_back(FamilyName(storage_id));
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status = db_->CreateColumnFamilies(family_options_, names, &handles);
  std::vector<std::shared_ptr<Family>> families;
  for (size_t i = 0; i < handles.size(); ++i) {
    families.push_back(std::make_shared<Family>(shared_from_this(), storage_ids[i], handles[i]));
  }
  if (!status.ok()) return FromRocksDB("cannot create column families", status);
  return families;
}

absl::Status Store::DropFamily(const Family& family) {
  rocksdb::Status status = db_->DropColumnFamily(family.handle());
  if (!status.ok())
    return FromRocksDB("cannot drop column family " + FamilyName(family.storage_id()), status);
  return absl::OkStatus();
}

}  // namespace itemdb
