#include "storage/engine/last_good.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "rocksdb/sst_file_writer.h"
#include "spdlog/spdlog.h"
#include "storage/engine/ballast.h"
#include "storage/engine/catalog_copy.h"
#include "storage/engine/completeness.h"
#include "storage/engine/given_out.h"
#include "storage/engine/load_catalog.h"
#include "storage/engine/quarantine.h"
#include "storage/engine/table_files.h"
#include "storage/keys/key_codec.h"
#include "storage/keys/storage_id.h"
#include "storage/store/catalog_records.h"
#include "storage/store/damaged_block.h"
#include "storage/store/dropped_keyspace.h"
#include "storage/store/durable_file.h"
#include "storage/store/keyspace.h"
#include "storage/store/logged_changes.h"
#include "storage/store/sequence_key.h"
#include "storage/store/size_statistics.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

// More changes than could be written between two writes of the watermark.
constexpr uint64_t kUnknownChanges = 1 << 24;

std::string PathOf(const rocksdb::LiveFileMetaData& file) { return file.db_path + file.name; }

// One recovery: its steps, and what they found. The steps are called in the order of their declaration.
class Recovery {
 public:
  Recovery(const std::string& directory, const StoreOptions& options, const DurabilityWatermark& before)
      : directory_(directory), options_(options), before_(before), folders_(options.env, directory) {
    // The stores of the recovery are closed here, by its thread.
    options_.on_opened = nullptr;
    options_.on_closed = nullptr;
    options_.for_recovery = true;
  }

  absl::Status OpenCopy();
  // Which files and families of the copy can be read.
  absl::Status Examine();
  absl::Status ReadCatalog();
  absl::Status MeasureChanges();
  absl::Status MakeStore();
  // Opens the new store as an ordinary start does, read-only.
  absl::Status Verify();
  void Report();
  // After a step failed: deletes what the steps have made.
  void Abandon() {
    copy_.reset();
    folders_.Delete();
  }

  RecoveryFolders& folders() { return folders_; }

 private:
  struct DamagedFile {
    std::string path;
    std::string family;
  };

  absl::Status OpenWith(rocksdb::WALRecoveryMode mode, bool with_unreadable_files);
  absl::Status OpenWithNewManifest();
  absl::Status SetAsideDamagedFiles(std::set<std::string>* families);
  absl::Status AddEmptyFiles(const std::set<std::string>& families);
  void ReportFile(const std::string& path, const FileExamination& found);
  absl::StatusOr<std::shared_ptr<Store>> StoreOfReadableFiles();
  void ReadTableStatistics(const Store& store);
  absl::Status WriteRecords(Store* store);
  absl::Status SalvageItems(Store* store);
  bool IsReadable(Store::FamilyNumber number) const { return !unreadable_.contains(number); }

  const std::string directory_;
  StoreOptions options_;
  const DurabilityWatermark before_;
  RecoveryFolders folders_;
  // The opened copy.
  std::shared_ptr<Store> copy_;
  bool has_new_manifest_ = false;
  // Of the copy: all files that its manifest names, and those that can be read.
  LiveFiles all_files_;
  Store::FamilyFiles readable_files_;
  // Files that can be opened, but not taken over.
  std::vector<DamagedFile> damaged_files_;
  // Families with a file that is lost or damaged, or with a damaged record.
  std::set<Store::FamilyNumber> unreadable_;
  int64_t lost_files_ = 0;
  bool lost_items_ = false;

  CatalogRecords catalog_;
  // Statistics of tables and indexes, by key, for the case that the family cannot be taken over.
  std::map<std::string, std::string> statistics_;
  std::map<uint64_t, int64_t> recorded_items_;
  ChangeLogExtent extent_;
  uint64_t changes_start_ = 1;
  uint64_t next_sequence_ = 1;
};

// ---- the copy ----

absl::Status Recovery::OpenWith(rocksdb::WALRecoveryMode mode, bool with_unreadable_files) {
  ITEMDB_RETURN_IF_ERROR(folders_.Copy());
  StoreOptions options = options_;
  options.path = folders_.copy();
  options.wal_recovery_mode = mode;
  options.with_unreadable_files = with_unreadable_files;
  ITEMDB_ASSIGN_OR_RETURN(copy_, Store::Open(options));
  if (const std::optional<std::string> missing = copy_->MissingFamily(); missing.has_value()) {
    copy_.reset();
    return DataLossError("the manifest does not name the column family " + *missing);
  }
  return absl::OkStatus();
}

absl::Status Recovery::OpenCopy() {
  using enum rocksdb::WALRecoveryMode;
  ITEMDB_RETURN_IF_ERROR(folders_.Begin());
  absl::Status status = OpenWith(kPointInTimeRecovery, /*with_unreadable_files=*/false);
  if (!absl::IsDataLoss(status)) return status;
  options_.log->warn("the store does not open with a prefix of its log error=\"{}\"", MessageOf(status));
  status = OpenWith(kSkipAnyCorruptedRecords, /*with_unreadable_files=*/true);
  if (!absl::IsDataLoss(status)) return status;
  options_.log->error("the manifest is damaged; a new one is made from the table files error=\"{}\"",
                      MessageOf(status));
  return OpenWithNewManifest();
}

absl::Status Recovery::OpenWithNewManifest() {
  ITEMDB_RETURN_IF_ERROR(folders_.Copy());
  has_new_manifest_ = true;
  StoreOptions options = options_;
  options.path = folders_.copy();
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  std::set<std::string> families;
  ITEMDB_RETURN_IF_ERROR(SetAsideDamagedFiles(&families));
  ITEMDB_RETURN_IF_ERROR(AddEmptyFiles(families));
  ITEMDB_RETURN_IF_ERROR(Store::RebuildManifest(options));
  // RocksDB moves a table file there that it could not read, although it was just read.
  std::vector<std::string> moved;
  (void)options_.env->GetChildren(options.path + "/lost", &moved);
  for (const std::string& file : moved) {
    if (!file.ends_with(".sst")) continue;
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                     "the table file " + file + " of " + folders_.store() + " could not be read again", 1000);
  }
  ITEMDB_ASSIGN_OR_RETURN(copy_, Store::Open(options));
  if (const std::optional<std::string> missing = copy_->MissingFamily(); missing.has_value())
    return DataLossError("no table file belongs to the column family " + *missing);
  // Sorts the records, so that the newest version of each is on top (Store::RebuildManifest).
  rocksdb::CompactRangeOptions compact;
  compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  const rocksdb::Status status = copy_->db()->CompactRange(compact, copy_->items(), nullptr, nullptr);
  return status.ok() ? absl::OkStatus() : FromRocksDB("cannot sort the items", status);
}

// Takes damaged table files out of the copy. `*families`: those of the other files.
absl::Status Recovery::SetAsideDamagedFiles(std::set<std::string>* families) {
  rocksdb::Env* const env = options_.env;
  std::vector<std::string> files;
  rocksdb::Status status = env->GetChildren(folders_.copy(), &files);
  for (const std::string& file : files) {
    if (!status.ok()) break;
    if (!file.ends_with(".sst")) continue;
    const std::string path = folders_.copy() + "/" + file;
    ITEMDB_ASSIGN_OR_RETURN(const FileExamination found, ExamineTableFile(env, path, /*whole=*/true));
    if (found.state != FileState::kLost)
      ITEMDB_RETURN_IF_ERROR(Store::CheckFamilyName(options_, found.family));
    if (found.state == FileState::kReadable) {
      families->insert(found.family);
      continue;
    }
    // RocksDB does not know a file of this name.
    const std::string aside = path + ".damaged";
    status = env->RenameFile(path, aside);
    ReportFile(path, found);
    if (found.state == FileState::kDamaged) damaged_files_.push_back({aside, found.family});
  }
  return status.ok() ? absl::OkStatus() : FromRocksDB("cannot read " + folders_.copy(), status);
}

// Adds a table file for each family that has none. The log knows families by their ids only, and RocksDB
// finds the id of a family in its table files.
absl::Status Recovery::AddEmptyFiles(const std::set<std::string>& families) {
  StoreOptions options = options_;
  options.path = folders_.folder() + "/families";
  ITEMDB_ASSIGN_OR_RETURN(const std::shared_ptr<Store> store,
                          Store::Create(options, {}, /*copy_files=*/false));
  std::vector<std::string> files;
  (void)options_.env->GetChildren(folders_.copy(), &files);
  uint64_t number = 0;
  for (const std::string& file : files) {
    unsigned long long found = 0;
    if (std::sscanf(file.c_str(), "%llu.", &found) == 1) number = std::max<uint64_t>(number, found);
  }
  for (int i = 0; i < Store::kFamilies; ++i) {
    if (families.contains(Store::kFamilyNames[i])) continue;
    char name[32];
    std::snprintf(name, sizeof(name), "/%06" PRIu64 ".sst", ++number);
    rocksdb::Options base;
    base.env = options_.env;
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), base, store->family(Store::FamilyNumber(i)));
    rocksdb::Status status = writer.Open(folders_.copy() + name);
    // A file must have an entry. No record has this key.
    if (status.ok()) status = writer.Delete(std::string(1, '\0'));
    if (status.ok()) status = writer.Finish();
    if (!status.ok()) return FromRocksDB("cannot write to " + folders_.copy(), status);
  }
  return absl::OkStatus();
}

// ---- what can be read ----

void Recovery::ReportFile(const std::string& path, const FileExamination& found) {
  ++lost_files_;
  if (found.family.empty() || found.family == Store::kFamilyNames[Store::kItems]) lost_items_ = true;
  uint64_t bytes = 0;
  (void)options_.env->GetFileSize(path, &bytes);
  options_.log->error("a table file is damaged file=\"{}\" family={} bytes={} kept={} error=\"{}\"",
                      path.substr(path.rfind('/') + 1), found.family.empty() ? "unknown" : found.family,
                      bytes, found.state == FileState::kLost ? "nothing" : "\"records of undamaged blocks\"",
                      found.error);
}

absl::Status Recovery::Examine() {
  copy_->db()->GetLiveFilesMetaData(&all_files_);
  for (rocksdb::LiveFileMetaData& file : all_files_) {
    const auto name =
        std::find(std::begin(Store::kFamilyNames), std::end(Store::kFamilyNames), file.column_family_name);
    if (name == std::end(Store::kFamilyNames)) continue;
    const auto number = static_cast<Store::FamilyNumber>(name - std::begin(Store::kFamilyNames));
    ITEMDB_ASSIGN_OR_RETURN(FileExamination found,
                            ExamineTableFile(options_.env, PathOf(file), /*whole=*/false));
    if (found.state == FileState::kReadable) {
      readable_files_[number].push_back(file);
      continue;
    }
    unreadable_.insert(number);
    const bool is_lost = found.state == FileState::kLost;
    found.family = file.column_family_name;
    ReportFile(PathOf(file), found);
    if (!is_lost) damaged_files_.push_back({PathOf(file), file.column_family_name});
  }
  for (int i = 0; i < Store::kFamilies; ++i) {
    const auto number = static_cast<Store::FamilyNumber>(i);
    // A damaged block of items stays. Reading all items could take hours.
    if (number == Store::kItems || !IsReadable(number)) continue;
    // The files of a new manifest are read only with iterators.
    const bool needs_order = number <= Store::kLocalEntries || number == Store::kStats;
    absl::Status status = has_new_manifest_ && needs_order
                              ? DataLossError("the order of its files is not known")
                              : CheckFamily(*copy_, number);
    if (status.ok()) continue;
    if (!absl::IsDataLoss(status)) return status;
    options_.log->error("a column family is computed again family={} error=\"{}\"", Store::kFamilyNames[i],
                        MessageOf(status));
    unreadable_.insert(number);
  }
  return absl::OkStatus();
}

// A store with the catalog and the statistics that can be read: the copy, or one without their damaged files.
absl::StatusOr<std::shared_ptr<Store>> Recovery::StoreOfReadableFiles() {
  if (IsReadable(Store::kCatalog) && IsReadable(Store::kStats)) return copy_;
  StoreOptions options = options_;
  options.path = folders_.folder() + "/catalog";
  Store::FamilyFiles files;
  for (const auto number : {Store::kCatalog, Store::kStats}) files[number] = readable_files_[number];
  return Store::Create(options, files, /*copy_files=*/true);
}

void Recovery::ReadTableStatistics(const Store& store) {
  const auto make = [&] {
    return std::unique_ptr<rocksdb::Iterator>(store.db()->NewIterator(rocksdb::ReadOptions(), store.stats()));
  };
  std::unique_ptr<rocksdb::Iterator> it = make();
  it->SeekToFirst();
  std::string last;
  do {
    while (it->Valid()) {
      last = it->key().ToString();
      if (last.starts_with(kCollectionKeyPrefix)) {
        it->Seek(PrefixSuccessor(kCollectionKeyPrefix));
        continue;
      }
      const std::optional<uint64_t> id = ParseStorageIdKey(last);
      const auto statistics =
          id.has_value() ? DecodeStatistics(*id, last, ToView(it->value())) : std::nullopt;
      if (statistics.has_value()) {
        statistics_.emplace(last, it->value().ToString());
        recorded_items_[*id] = statistics->items;
      }
      it->Next();
    }
  } while (!it->status().ok() && StepPastDamage(make, last, /*end=*/"\xff", &it));
}

// ---- the catalog ----

uint64_t NumberOf(const CatalogRecords& records, std::string_view key) {
  const auto found = records.find(std::string(key));
  return found == records.end() ? 0 : DecodeCatalogNumber(found->first, found->second).value_or(0);
}

absl::Status Recovery::ReadCatalog() {
  ITEMDB_ASSIGN_OR_RETURN(const std::shared_ptr<Store> store, StoreOfReadableFiles());
  catalog_ = ReadCatalogRecords(*store).records;
  ReadTableStatistics(*store);
  for (const DamagedFile& file : damaged_files_) {
    if (file.family != Store::kFamilyNames[Store::kCatalog]) continue;
    const auto add = [&](std::string_view key, std::string_view record) {
      if (DecodeRecord(kCatalogStorageId, key, record).has_value()) catalog_.emplace(key, record);
      return absl::OkStatus();
    };
    ITEMDB_RETURN_IF_ERROR(ForEachReadableRecord(options_.env, file.path, add).status());
  }
  const ReadableRecords copy = ReadCatalogCopy(options_.env, directory_);
  if (copy.damaged)
    options_.log->error("the copy of the catalog is damaged too path=\"{}/{}\"", directory_,
                        kCatalogFileName);
  if (const int64_t restored = AddMissing(copy.records, &catalog_); restored > 0)
    options_.log->warn("tables are restored from the copy of the catalog tables={}", restored);

  uint64_t highest = std::max(HighestStorageId(catalog_), HighestStorageId(all_files_));
  if (!recorded_items_.empty()) highest = std::max(highest, recorded_items_.rbegin()->first);
  const uint64_t next = std::max(
      {NumberOf(catalog_, kNextStorageIdKey), NumberOf(copy.records, kNextStorageIdKey), highest + 1});
  changes_start_ = std::max<uint64_t>(NumberOf(catalog_, kChangesStartKey), 1);
  catalog_[kNextStorageIdKey] = EncodeCatalogNumber(kNextStorageIdKey, next);
  catalog_[kNeedsRebuildKey] = EncodeCatalogNumber(kNeedsRebuildKey, 1);
  return absl::OkStatus();
}

// ---- the change log ----

absl::Status Recovery::MeasureChanges() {
  const bool is_readable = IsReadable(Store::kChanges) && IsReadable(Store::kTableRuns);
  uint64_t given_out = std::max(changes_start_ - 1, before_.sequence);
  if (IsReadable(Store::kChanges)) {
    absl::StatusOr<ChangeLogExtent> extent = MeasureChangeLog(*copy_, changes_start_, {});
    if (extent.ok()) extent_ = *extent;
    if (!extent.ok() && !absl::IsDataLoss(extent.status())) return extent.status();
    given_out = std::max(given_out, extent_.last);
  }
  if (IsReadable(Store::kTableRuns)) given_out = std::max(given_out, LastOfTableRuns(*copy_));
  if (!is_readable) given_out = std::max(given_out, LastByFileRanges(all_files_));
  // A lost table file may have had later changes. Without the manifest nothing tells that it existed.
  if (has_new_manifest_) given_out += kUnknownChanges;
  next_sequence_ = given_out + 1;
  catalog_[kChangesStartKey] = EncodeCatalogNumber(kChangesStartKey, next_sequence_);
  return absl::OkStatus();
}

// ---- the new store ----

absl::Status Recovery::WriteRecords(Store* store) {
  rocksdb::WriteBatch batch;
  for (const auto& [key, record] : catalog_) (void)batch.Put(store->catalog(), key, record);
  if (!IsReadable(Store::kStats))
    for (const auto& [key, record] : statistics_) (void)batch.Put(store->stats(), key, record);
  const rocksdb::Status status = store->db()->Write(rocksdb::WriteOptions(), &batch);
  return status.ok() ? absl::OkStatus() : FromRocksDB("cannot write the recovered catalog", status);
}

// Takes items from damaged files where no other file has the item.
absl::Status Recovery::SalvageItems(Store* store) {
  for (const DamagedFile& file : damaged_files_) {
    if (file.family != Store::kFamilyNames[Store::kItems]) continue;
    int64_t taken = 0;
    const auto add = [&](std::string_view key, std::string_view record) {
      rocksdb::PinnableSlice present;
      rocksdb::Status status =
          store->db()->Get(rocksdb::ReadOptions(), store->items(), ToSlice(key), &present);
      // In a damaged block of another file.
      if (status.ok() || status.IsCorruption()) return absl::OkStatus();
      if (status.IsNotFound())
        status = store->db()->Put(rocksdb::WriteOptions(), store->items(), ToSlice(key), ToSlice(record));
      if (!status.ok()) return FromRocksDB("cannot write a recovered item", status);
      ++taken;
      return absl::OkStatus();
    };
    ITEMDB_ASSIGN_OR_RETURN(const ReadRecords read, ForEachReadableRecord(options_.env, file.path, add));
    options_.log->warn("items were read from a damaged file file=\"{}\" items={} taken={} damaged_ranges={}",
                       file.path.substr(file.path.rfind('/') + 1), read.records, taken, read.damaged_ranges);
  }
  return absl::OkStatus();
}

absl::Status Recovery::MakeStore() {
  // RocksDB must not delete a file of the copy meanwhile.
  copy_.reset();
  Store::FamilyFiles files;
  files[Store::kItems] = readable_files_[Store::kItems];
  for (const auto number : {Store::kGlobalEntries, Store::kLocalEntries, Store::kStats})
    if (IsReadable(number)) files[number] = readable_files_[number];
  StoreOptions options = options_;
  options.path = folders_.recovered();
  ITEMDB_ASSIGN_OR_RETURN(const std::shared_ptr<Store> store,
                          Store::Create(options, files, folders_.has_copied()));
  ITEMDB_RETURN_IF_ERROR(SalvageItems(store.get()));
  ITEMDB_RETURN_IF_ERROR(WriteRecords(store.get()));
  rocksdb::Status status;
  for (const auto number : {Store::kItems, Store::kStats, Store::kCatalog})
    if (status.ok()) status = store->db()->Flush(rocksdb::FlushOptions(), store->family(number));
  if (status.ok()) status = SyncDirectory(options_.env, options.path);
  return status.ok() ? absl::OkStatus() : FromRocksDB("cannot write " + options.path, status);
}

// How many storage ids have records but no table, index or deleted table. Damage can hide some.
absl::StatusOr<int64_t> CountUnnamed(const Recovered& recovered) {
  const Store& store = *recovered.start.store;
  std::set<uint64_t> named;
  for (const auto& table : recovered.tables) {
    named.insert(table->storage_id);
    for (const Index& index : table->indexes) named.insert(index.storage_id);
  }
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<DroppedKeyspace> all_dropped, ReadDropped(store));
  for (const DroppedKeyspace& dropped : all_dropped) named.insert(dropped.storage_id);
  int64_t unnamed = 0;
  for (rocksdb::ColumnFamilyHandle* family : {store.items(), store.global_entries(), store.local_entries()}) {
    rocksdb::ReadOptions options;
    options.total_order_seek = true;
    std::unique_ptr<rocksdb::Iterator> it(store.db()->NewIterator(options, family));
    for (it->SeekToFirst(); it->Valid();) {
      std::string_view rest = ToView(it->key());
      const std::optional<uint64_t> storage_id = ConsumeStorageId(&rest);
      if (!storage_id.has_value()) break;
      if (!named.contains(*storage_id)) ++unnamed;
      it->Seek(PrefixSuccessor(Keyspace(family, *storage_id).prefix()));
    }
  }
  return unnamed;
}

absl::Status Recovery::Verify() {
  StoreOptions options = options_;
  options.for_recovery = false;
  options.path = folders_.recovered();
  DurabilityWatermark after;
  after.database_id = before_.database_id;
  after.sequence = next_sequence_ - 1;
  ITEMDB_RETURN_IF_ERROR(CheckNothingIsMissing(directory_, options, after, CheckDepth::kChangeLog));
  {
    Recovered recovered;
    LoggedChanges logged(options.wal_recovery_mode);
    ITEMDB_ASSIGN_OR_RETURN(recovered.start.store, Store::OpenReadOnly(options, &logged));
    ITEMDB_RETURN_IF_ERROR(LoadCatalog(&recovered));
    ITEMDB_ASSIGN_OR_RETURN(const int64_t unnamed, CountUnnamed(recovered));
    if (unnamed > 0) {
      options_.log->error(
          "records of tables or indexes that are not in the recovered catalog are kept but cannot be read "
          "count={}",
          unnamed);
    }
    for (const auto& table : recovered.tables) {
      const auto recorded = recorded_items_.find(table->storage_id);
      options_.log->warn("table recovered table={} items_before={}", table->name,
                         recorded != recorded_items_.end() ? std::to_string(recorded->second) : "unknown");
    }
  }
  return WriteWatermark(options_.env, folders_.folder(), after);
}

void Recovery::Report() {
  const uint64_t last = std::max(extent_.last, changes_start_ - 1);
  // Sequences say nothing about the items of lost table files.
  const std::string through = lost_items_ ? "unknown" : std::to_string(last);
  const std::string missing =
      lost_items_ ? "unknown" : std::to_string(extent_.first_missing == 0 ? last + 1 : extent_.first_missing);
  options_.log->error(
      "data may be lost: recovered_through={} first_missing={} durable_before={} lost_or_damaged_files={} "
      "lost_items_of_any_change={} log_restarts_at={}",
      through, missing, before_.sequence, lost_files_, lost_items_ ? "possible" : "no", next_sequence_);
}

absl::Status Recover(Recovery& recovery) {
  for (const auto step : {&Recovery::OpenCopy, &Recovery::Examine, &Recovery::ReadCatalog,
                          &Recovery::MeasureChanges, &Recovery::MakeStore, &Recovery::Verify})
    ITEMDB_RETURN_IF_ERROR((recovery.*step)());
  return absl::OkStatus();
}

}  // namespace

absl::Status RecoverWithLosses(const std::string& directory, const StoreOptions& options,
                               const DurabilityWatermark& watermark, const std::string& cause) {
  options.log->warn("recovering what is readable cause=\"{}\"", cause);
  for (bool has_ballast = true;; has_ballast = false) {
    Recovery recovery(directory, options, watermark);
    const absl::Status status = Recover(recovery);
    if (!status.ok()) recovery.Abandon();
    if (absl::IsResourceExhausted(status) && has_ballast) {
      DeleteBallast(options.env, directory);
      continue;
    }
    ITEMDB_RETURN_IF_ERROR(status);
    recovery.Report();
    ITEMDB_ASSIGN_OR_RETURN(const int number, recovery.folders().TakePlace(watermark, cause));
    const std::string quarantine = recovery.folders().Quarantine(number);
    const FolderSize size = MeasureFolder(options.env, quarantine + "/rocksdb");
    options.log->warn("the files from before the recovery are kept path=\"{}\" files={} bytes={}", quarantine,
                      size.files, size.bytes);
    return absl::OkStatus();
  }
}

}  // namespace itemdb::storage
