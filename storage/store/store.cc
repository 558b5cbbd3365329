#include "storage/store/store.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "rocksdb/metadata.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/stackable_db.h"
#include "spdlog/spdlog.h"
#include "storage/store/failed_jobs.h"
#include "storage/store/log_types.h"
#include "storage/store/logged_changes.h"
#include "storage/store/rocksdb_cache.h"
#include "storage/store/rocksdb_options.h"

namespace itemdb::storage {

namespace {

// The parts of a RocksDB message, each followed by what ended it, are at most one path with words around it.
constexpr std::string_view kPartEnds[] = {": ", " in file "};
// The text of EIO, whose slash is of no path.
constexpr std::string_view kInputOutputError = "Input/output error";

// As FromRocksDB. A file of the store that is missing is a damage too.
absl::Status OpeningError(const std::string& what, const rocksdb::Status& status) {
  if (IsMissingFile(status)) return DataLossError(what + ": " + status.ToString());
  return FromRocksDB(what, status);
}

// Whether the bytes at `place` of the file `path` can be read, also when the file is gone. Reads some more on
// both sides: an encrypted file has a head that the offset may count or not.
bool CanRead(rocksdb::Env& env, const std::string& path, const DamagedPlace& place) {
  constexpr uint64_t kMargin = 64 << 10;
  constexpr uint64_t kPiece = 256 << 10;
  constexpr uint64_t kMost = 4 << 20;
  std::unique_ptr<rocksdb::RandomAccessFile> file;
  const rocksdb::Status opened = env.NewRandomAccessFile(path, &file, rocksdb::EnvOptions());
  if (!opened.ok()) return IsMissingFile(opened);
  std::string scratch(kPiece, '\0');
  uint64_t at = place.offset - std::min(place.offset, kMargin);
  const uint64_t end = place.offset + std::min(place.bytes, kMost) + kMargin;
  while (at < end) {
    rocksdb::Slice read;
    if (!file->Read(at, kPiece, &read, scratch.data()).ok()) return false;
    if (read.size() < kPiece) return true;
    at += kPiece;
  }
  return true;
}

// Keeps the mark of the MANIFEST.
class ManifestChanges : public rocksdb::EventListener {
 public:
  explicit ManifestChanges(std::shared_ptr<ManifestMark> mark) : mark_(std::move(mark)) {}

  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo&) override { mark_->Update(*db); }
  void OnCompactionCompleted(rocksdb::DB* db, const rocksdb::CompactionJobInfo&) override {
    mark_->Update(*db);
  }
  void OnExternalFileIngested(rocksdb::DB* db, const rocksdb::ExternalFileIngestionInfo&) override {
    mark_->Update(*db);
  }

 private:
  const std::shared_ptr<ManifestMark> mark_;
};

}  // namespace

rocksdb::Slice ToSlice(std::string_view text) { return rocksdb::Slice(text.data(), text.size()); }
std::string_view ToView(const rocksdb::Slice& slice) { return std::string_view(slice.data(), slice.size()); }

// A path may contain spaces, so everything from the word of the first slash to the last slash of a part goes.
std::string WithoutDirectories(std::string_view message) {
  std::string result;
  while (!message.empty()) {
    size_t end = message.size();
    for (const std::string_view part_end : kPartEnds) {
      const size_t at = message.find(part_end);
      if (at != std::string_view::npos) end = std::min(end, at + part_end.size());
    }
    std::string_view part = message.substr(0, end);
    message.remove_prefix(end);
    const size_t first = part.find('/');
    constexpr size_t kSlash = kInputOutputError.find('/');
    const bool is_error = first != std::string_view::npos && first >= kSlash &&
                          part.substr(first - kSlash).starts_with(kInputOutputError);
    if (first != std::string_view::npos && !is_error) {
      const size_t space = part.rfind(' ', first);
      const size_t begin = space == std::string_view::npos ? 0 : space + 1;
      result += part.substr(0, begin);
      part.remove_prefix(part.rfind('/') + 1);
    }
    result += part;
  }
  return result;
}

bool IsNoSpace(const rocksdb::Status& status) {
  // RocksDB knows only ENOSPC. Of EDQUOT it keeps the text alone.
  return status.IsNoSpace() ||
         (status.IsIOError() && absl::EndsWith(status.ToString(), std::strerror(EDQUOT)));
}

bool IsMissingFile(const rocksdb::Status& status) { return status.IsNotFound() || status.IsPathNotFound(); }

absl::Status FromRocksDB(const std::string& what, const rocksdb::Status& status) {
  if (status.IsCorruption()) return DataLossError(what + ": " + WithoutDirectories(status.ToString()));
  if (IsNoSpace(status)) {
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
  if (options.for_recovery || options.env->FileExists(options.path + "/CURRENT").ok()) {
    rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(base, options.path, &there);
    if (!listed.ok()) return OpeningError("cannot read the column families of " + options.path, listed);
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors = {{rocksdb::kDefaultColumnFamilyName, base}};
  for (int i = 0; i < kFamilies; ++i) {
    if (std::erase(there, kFamilyNames[i]) == 0 && !base.create_missing_column_families) continue;
    descriptors.emplace_back(kFamilyNames[i], FamilyOptions(i, base));
  }
  return descriptors;
}

rocksdb::ColumnFamilyOptions Store::FamilyOptions(int number, const rocksdb::Options& base) const {
  rocksdb::ColumnFamilyOptions family = base;
  if (number <= kLocalEntries) {
    family.prefix_extractor = NewCollectionPrefix();
    family.compaction_filter_factory = dropped_records_;
    // Level 0 is read often and soon merged. The first entry is for it, the last for all other levels. The
    // files of other families, such as the change log's, are moved to the next level as they are, which
    // RocksDB does only between levels of one compression.
    family.compression_per_level = {rocksdb::kNoCompression, rocksdb::kLZ4Compression};
    family.level0_file_num_compaction_trigger =
        number == kItems ? kLevel0CompactionFilesOfItems : kLevel0CompactionFilesOfEntries;
  }
  if (number == kItems) {
    // Every put looks its key up first, mostly in vain.
    family.memtable_prefix_bloom_size_ratio = 0.02;
    family.memtable_whole_key_filtering = true;
  }
  if (number == kStats) family.compaction_filter_factory = dropped_collections_;
  return family;
}

absl::Status Store::CheckFamilies(const StoreOptions& options) {
  const std::unique_ptr<rocksdb::Env> env =
      rocksdb::NewCompositeEnv(NewLogTypesFileSystem(options.env->GetFileSystem(), options.manifest));
  rocksdb::DBOptions base;
  base.env = env.get();
  std::vector<std::string> there;
  if (!rocksdb::DB::ListColumnFamilies(base, options.path, &there).ok()) return absl::OkStatus();
  for (const std::string& name : there) ITEMDB_RETURN_IF_ERROR(CheckFamilyName(options, name));
  return absl::OkStatus();
}

absl::Status Store::CheckFamilyName(const StoreOptions& options, const std::string& name) {
  if (name == rocksdb::kDefaultColumnFamilyName ||
      std::find(std::begin(kFamilyNames), std::end(kFamilyNames), name) != std::end(kFamilyNames))
    return absl::OkStatus();
  return MakeError(absl::StatusCode::kFailedPrecondition, kReasonFormatUnknown,
                   options.path + " has a column family that this program does not know, " + name +
                       ". Open the database with the program that wrote it, or a newer one");
}

rocksdb::Options Store::OptionsWithEnv(const StoreOptions& options) {
  logger_ = NewRocksDBLogger(options.log);
  rocksdb::Options base = RocksDBOptions(options, logger_);
  env_ = options.env;
  log_types_env_ = rocksdb::NewCompositeEnv(NewLogTypesFileSystem(env_->GetFileSystem(), options.manifest));
  base.env = log_types_env_.get();
  return base;
}

rocksdb::Options Store::Prepare(const StoreOptions& options) {
  rocksdb::Options base = OptionsWithEnv(options);
  damage_ = options.damage;
  const auto failed_jobs = std::make_shared<FailedJobs>(has_failed_, damage_);
  base.listeners.push_back(failed_jobs);
  compaction_pauses_ = std::make_unique<CompactionPauses>(options.compaction_pause, failed_jobs);
  block_cache_ = base.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_cache;
  block_cache_bytes_ = options.block_cache_bytes;
  write_buffer_manager_ = base.write_buffer_manager;
  // RocksDB switches a memtable when less than half of an arena block is missing, and counts blocks that are
  // not used up.
  full_memtable_bytes_ = base.write_buffer_size - 2 * base.arena_block_size;
  return base;
}

absl::StatusOr<std::shared_ptr<Store>> Store::Open(const StoreOptions& options) {
  std::shared_ptr<Store> store(new Store());
  rocksdb::Options base = store->Prepare(options);
  ITEMDB_ASSIGN_OR_RETURN(auto descriptors, store->DescribeFamilies(options, base));
  store->manifest_mark_ = std::make_shared<ManifestMark>(options.path);
  base.listeners.push_back(std::make_shared<ManifestChanges>(store->manifest_mark_));

  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status = rocksdb::DB::Open(base, options.path, descriptors, &handles, &db);
  if (!status.ok()) return OpeningError("cannot open " + options.path, status);
  store->db_.reset(db);
  store->InstallHandles(handles);
  // Only a store that opened calls on_closed: one that failed to open never held the files.
  store->on_closed_ = options.on_closed;
  store->manifest_mark_->Update(*store->db_);
  if (options.on_opened) options.on_opened();
  return store;
}

absl::StatusOr<std::shared_ptr<Store>> Store::OpenReadOnly(const StoreOptions& options, LoggedChanges* log) {
  std::shared_ptr<Store> store(new Store());
  rocksdb::Options base = store->OptionsWithEnv(options);
  base.create_if_missing = false;
  base.create_missing_column_families = false;
  base.wal_filter = log;
  ITEMDB_ASSIGN_OR_RETURN(auto descriptors, store->DescribeFamilies(options, base));

  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status = rocksdb::DB::OpenForReadOnly(base, options.path, descriptors, &handles, &db);
  if (!status.ok()) return OpeningError("cannot open " + options.path, status);
  store->db_.reset(db);
  store->InstallHandles(handles);
  return store;
}

absl::StatusOr<std::shared_ptr<Store>> Store::Create(const StoreOptions& options, const FamilyFiles& files,
                                                     bool copy_files) {
  std::shared_ptr<Store> store(new Store());
  rocksdb::Options base = store->Prepare(options);
  base.error_if_exists = true;
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status =
      rocksdb::DB::Open(base, options.path, {{rocksdb::kDefaultColumnFamilyName, base}}, &handles, &db);
  if (!status.ok()) return FromRocksDB("cannot create " + options.path, status);
  store->db_.reset(db);
  store->InstallHandles(handles);
  for (int i = 0; i < kFamilies; ++i) {
    const rocksdb::ColumnFamilyOptions family = store->FamilyOptions(i, base);
    rocksdb::ColumnFamilyHandle*& handle = store->families_[i];
    rocksdb::ExportImportFilesMetaData import;
    import.files = files[i];
    import.db_comparator_name = family.comparator->Name();
    rocksdb::ImportColumnFamilyOptions import_options;
    import_options.move_files = !copy_files;
    status = import.files.empty()
                 ? db->CreateColumnFamily(family, kFamilyNames[i], &handle)
                 : db->CreateColumnFamilyWithImport(family, kFamilyNames[i], import_options, import, &handle);
    if (!status.ok())
      return FromRocksDB(
          "cannot create column family " + std::string(kFamilyNames[i]) + " of " + options.path, status);
  }
  return store;
}

absl::Status Store::RebuildManifest(const StoreOptions& options) {
  Store store;
  const rocksdb::Options base = store.Prepare(options);
  std::vector<rocksdb::ColumnFamilyDescriptor> families = {{rocksdb::kDefaultColumnFamilyName, base}};
  for (int i = 0; i < kFamilies; ++i) families.emplace_back(kFamilyNames[i], store.FamilyOptions(i, base));
  const rocksdb::Status status = rocksdb::RepairDB(options.path, base, families);
  return status.ok() ? absl::OkStatus()
                     : FromRocksDB("cannot make a new manifest in " + options.path, status);
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
  const uint64_t charged = write_buffer_manager_->dummy_entries_in_cache_usage();
  uint64_t used = block_cache_->GetUsage();
  usage.block_cache = used > charged ? used - charged : 0;
  usage.memtable_budget = write_buffer_manager_->buffer_size();
  std::vector<std::string> files;
  (void)env_->GetChildren(db_->GetName(), &files);
  for (const std::string& file : files) {
    uint64_t bytes = 0;
    if (file.ends_with(".log") && env_->GetFileSize(db_->GetName() + "/" + file, &bytes).ok())
      usage.write_ahead_log += bytes;
  }
  return usage;
}

StoreFigures Store::MeasureFigures(uint64_t current_snapshot) const {
  using Properties = rocksdb::DB::Properties;
  StoreFigures figures;
  const auto measure = [this](const std::string& property) {
    uint64_t value = 0;
    (void)db_->GetIntProperty(property, &value);
    return value;
  };
  for (int i = 0; i < kFamilies; ++i) {
    StoreFigures::Family& family = figures.families.emplace_back();
    family.name = kFamilyNames[i];
    (void)db_->GetIntProperty(families_[i], Properties::kEstimatePendingCompactionBytes,
                              &family.pending_compaction_bytes);
    std::string files;
    if (db_->GetProperty(families_[i], Properties::kNumFilesAtLevelPrefix + "0", &files))
      (void)absl::SimpleAtoi(files, &family.level0_files);
    rocksdb::ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(families_[i], &metadata);
    figures.level_bytes.resize(std::max(figures.level_bytes.size(), metadata.levels.size()));
    for (const rocksdb::LevelMetaData& level : metadata.levels)
      figures.level_bytes[level.level] += level.size;
  }
  figures.running_compactions = measure(Properties::kNumRunningCompactions);
  figures.running_flushes = measure(Properties::kNumRunningFlushes);
  figures.writes_stopped = measure(Properties::kIsWriteStopped) != 0;
  figures.delayed_write_rate = measure(Properties::kActualDelayedWriteRate);
  if (measure(Properties::kOldestSnapshotSequence) < current_snapshot)
    figures.oldest_snapshot_time_s = measure(Properties::kOldestSnapshotTime);
  return figures;
}

CompactionPauses::Changes Store::PauseCompactionsAfterDamage(std::chrono::steady_clock::time_point now) {
  return compaction_pauses_->Update(
      *db_, families_, [this] { return ListDamage(); }, now);
}

std::vector<std::string> Store::PausedFamilies() const {
  return compaction_pauses_ == nullptr ? std::vector<std::string>() : compaction_pauses_->PausedFamilies();
}

absl::Status Store::ReadError(const std::string& what, const rocksdb::Status& status,
                              DamageMetBy met_by) const {
  if (damage_ != nullptr) damage_->Record(status, met_by);
  const absl::Status error = FromRocksDB(what, status);
  if (absl::IsDataLoss(error))
    return DataLossError(MessageOf(error) + "; 'itemctl damage list' names what cannot be read");
  if (!PlaceOfDamage(status).has_value()) return error;
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                   what + ": " + WithoutDirectories(status.ToString()), 1000);
}

std::vector<DamagedFile> Store::ListDamage() const {
  return damage_ == nullptr ? std::vector<DamagedFile>() : damage_->List(*db_);
}

std::function<std::optional<Damage>()> Store::RecheckOfFailedRead() const {
  if (damage_ == nullptr || !damage_->HasFailedReads()) return nullptr;
  return [damage = damage_, env = env_, directory = db_->GetName()] {
    return damage->RecheckOne(
        [&](const DamagedPlace& place) { return !CanRead(*env, directory + "/" + place.file, place); });
  };
}

std::vector<DamagedFile> Store::TakeNewDamage() const {
  return damage_ == nullptr ? std::vector<DamagedFile>() : damage_->TakeNew(*db_);
}

size_t Store::block_cache_capacity() const { return block_cache_->GetCapacity(); }

void Store::SetReservedCacheBytes(size_t bytes) {
  reserved_cache_bytes_ = bytes;
  block_cache_->SetCapacity(block_cache_bytes_ - std::min(block_cache_bytes_, bytes));
}

CacheReservation::CacheReservation(const std::shared_ptr<Store>& store, size_t bytes)
    : store_(store), bytes_(bytes) {
  MutexLock lock(store->cache_mutex_);
  store->SetReservedCacheBytes(store->reserved_cache_bytes_ + bytes_);
}

CacheReservation::~CacheReservation() {
  const std::shared_ptr<Store> store = store_.lock();
  if (store == nullptr) return;
  MutexLock lock(store->cache_mutex_);
  store->SetReservedCacheBytes(store->reserved_cache_bytes_ - bytes_);
}

absl::Status Store::Ingest(rocksdb::ColumnFamilyHandle* family, const std::vector<SortedFile>& files) {
  ++ingestion_steps_;
  rocksdb::IngestExternalFileArg ingested;
  ingested.column_family = family;
  for (const SortedFile& file : files) {
    ingested.external_files.push_back(file.path);
    ingested.files_checksums.push_back(file.checksum);
    ingested.files_checksum_func_names.push_back(file.checksum_function);
  }
  rocksdb::IngestExternalFileOptions& options = ingested.options;
  options.move_files = true;
  options.write_global_seqno = false;
  // No key of the family is in their range, so a flush, for which writers would wait, is never needed.
  options.allow_blocking_flush = false;
  // The checksums were computed while the files were written, so the files need not be read to verify them.
  options.verify_file_checksum = false;
  empty_heads_->BeginIngestion();
  rocksdb::Status status = db_->IngestExternalFiles({ingested});
  empty_heads_->EndIngestion();
  ++ingestion_steps_;
  if (!status.ok()) return FromRocksDB("cannot add files to column family " + family->GetName(), status);
  if (family == items()) ++item_ingestions_;
  return absl::OkStatus();
}

std::unique_ptr<rocksdb::DB> Store::DbForBackup() const {
  class ForBackup : public rocksdb::StackableDB {
   public:
    explicit ForBackup(const Store& store)
        : StackableDB(std::shared_ptr<rocksdb::DB>(store.db(), [](rocksdb::DB*) {})), store_(store) {}

    rocksdb::Status GetLiveFilesStorageInfo(const rocksdb::LiveFilesStorageInfoOptions& options,
                                            std::vector<rocksdb::LiveFileStorageInfo>* files) override {
      MutexLock lock(store_.writing_);
      if (store_.HasFailed()) return rocksdb::Status::IOError("a write has failed");
      return StackableDB::GetLiveFilesStorageInfo(options, files);
    }

   private:
    const Store& store_;
  };
  return std::make_unique<ForBackup>(*this);
}

std::unique_ptr<rocksdb::Iterator> Store::NewIterator(rocksdb::ReadOptions options,
                                                      rocksdb::ColumnFamilyHandle* family) const {
  options.ignore_range_deletions = true;
  return std::unique_ptr<rocksdb::Iterator>(db_->NewIterator(options, family));
}

rocksdb::Status Store::Write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch* batch) {
  MutexLock lock(writing_);
  empty_heads_->BeginWrite(*batch);
  const rocksdb::Status status = db_->Write(options, batch);
  empty_heads_->EndWrite();
  if (status.ok()) SwitchFullMemtables(*batch);
  return status;
}

void Store::SwitchFullMemtables(const rocksdb::WriteBatch& written) {
  // More than a memtable takes for a record: what the batch has may be padded to an arena block, and a node
  // of the skip list is added.
  constexpr uint64_t kNodeBytes = 64;
  const uint64_t bytes = 2 * written.GetDataSize() + kNodeBytes * written.Count();
  if (bytes < bytes_until_full_) {
    bytes_until_full_ -= bytes;
    return;
  }
  bytes_until_full_ = full_memtable_bytes_;
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    uint64_t size = 0;
    if (family == nullptr ||
        !db_->GetIntProperty(family, rocksdb::DB::Properties::kCurSizeActiveMemTable, &size))
      continue;
    if (size < full_memtable_bytes_) {
      bytes_until_full_ = std::min(bytes_until_full_, full_memtable_bytes_ - size);
      continue;
    }
    // After an error of another thread, a backup's for example, RocksDB would use the failed log again, and
    // an assertion end the process. Its writes look for such an error first; Flush does not.
    if (HasFailed()) return;
    rocksdb::FlushOptions flush;
    flush.wait = false;
    flush.allow_write_stall = true;  // The next write waits if it must.
    // An error stops RocksDB, and FailedJobs has it.
    if (!db_->Flush(flush, family).ok()) return;
  }
}

absl::Status Store::FlushMemtables(std::chrono::milliseconds timeout, const Cancellation& cancellation) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  rocksdb::FlushOptions start;
  start.wait = false;  // A flush that waits cannot be cancelled.
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    ITEMDB_RETURN_IF_ERROR(cancellation.Check());
    rocksdb::Status status = db_->Flush(start, family);
    if (!status.ok()) return FromRocksDB("cannot flush column family " + family->GetName(), status);
  }
  for (rocksdb::ColumnFamilyHandle* family : families_) {
    uint64_t unflushed = 0;
    while (db_->GetIntProperty(family, rocksdb::DB::Properties::kNumImmutableMemTable, &unflushed) &&
           unflushed > 0) {
      ITEMDB_RETURN_IF_ERROR(cancellation.Check());
      if (std::chrono::steady_clock::now() > deadline)
        return absl::DeadlineExceededError("writing memtables takes too long");
      if (HasFailed()) return FromRocksDB("cannot flush", rocksdb::Status::IOError("RocksDB has stopped"));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  return absl::OkStatus();
}

}  // namespace itemdb::storage
