#include "storage/engine/damaged_store.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <optional>

#include "rocksdb/sst_file_writer.h"
#include "spdlog/spdlog.h"
#include "storage/engine/load_catalog.h"
#include "storage/keys/key_codec.h"
#include "storage/store/catalog_records.h"
#include "storage/store/damaged_block.h"
#include "storage/store/sequence_key.h"
#include "storage/store/size_statistics.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

// More changes than could be written between two writes of the watermark.
constexpr uint64_t kUnknownChanges = 1 << 24;

std::string PathOf(const rocksdb::LiveFileMetaData& file) { return file.db_path + file.name; }

uint64_t NumberOf(const CatalogRecords& records, std::string_view key) {
  const auto found = records.find(std::string(key));
  return found == records.end() ? 0 : DecodeCatalogNumber(found->first, found->second).value_or(0);
}

}  // namespace

DamagedStore::DamagedStore(std::string directory, const StoreOptions& options,
                           const DurabilityWatermark& before, RecoveryFolders& folders)
    : directory_(std::move(directory)), options_(options), before_(before), folders_(folders) {
  // The stores of a recovery are closed by its thread.
  options_.on_opened = nullptr;
  options_.on_closed = nullptr;
  options_.for_recovery = true;
}

absl::Status DamagedStore::Read() {
  ITEMDB_RETURN_IF_ERROR(OpenCopy());
  ITEMDB_RETURN_IF_ERROR(Examine());
  ITEMDB_RETURN_IF_ERROR(ReadCatalog());
  return MeasureChanges();
}

// ---- the copy ----

absl::Status DamagedStore::OpenWith(rocksdb::WALRecoveryMode mode, bool with_unreadable_files) {
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

absl::Status DamagedStore::OpenCopy() {
  using enum rocksdb::WALRecoveryMode;
  ITEMDB_RETURN_IF_ERROR(folders_.Begin());
  // It would open, with the table files of an earlier moment.
  if (const absl::Status manifest = CheckManifest(options_.env, folders_.store());
      absl::IsDataLoss(manifest)) {
    options_.log->error("a new manifest is made from the table files error={}", MessageOf(manifest));
    return OpenWithNewManifest();
  }
  absl::Status status = OpenWith(kPointInTimeRecovery, /*with_unreadable_files=*/false);
  if (!absl::IsDataLoss(status)) return status;
  options_.log->warn("the store does not open with a prefix of its log error={}", MessageOf(status));
  status = OpenWith(kSkipAnyCorruptedRecords, /*with_unreadable_files=*/true);
  if (!absl::IsDataLoss(status)) return status;
  options_.log->error("the manifest is damaged; a new one is made from the table files error={}",
                      MessageOf(status));
  return OpenWithNewManifest();
}

absl::Status DamagedStore::OpenWithNewManifest() {
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
absl::Status DamagedStore::SetAsideDamagedFiles(std::set<std::string>* families) {
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
    ReportFile(path, found);
    status = env->RenameFile(path, aside);
    if (found.state == FileState::kDamaged) damaged_files_.push_back({aside, found.family});
  }
  return status.ok() ? absl::OkStatus() : FromRocksDB("cannot read " + folders_.copy(), status);
}

// Adds a table file for each family that has none. The log knows families by their ids only, and RocksDB
// finds the id of a family in its table files.
absl::Status DamagedStore::AddEmptyFiles(const std::set<std::string>& families) {
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

void DamagedStore::ReportFile(const std::string& path, const FileExamination& found) {
  DamagedFileReport report;
  report.name = path.substr(path.rfind('/') + 1);
  report.family = found.family;
  (void)options_.env->GetFileSize(path, &report.bytes);
  report.is_partly_readable = found.state != FileState::kLost;
  report.error = found.error;
  if (found.family.empty() || found.family == Store::kFamilyNames[Store::kItems]) has_lost_items_ = true;
  options_.log->error("a table file is damaged file={} family={} bytes={} kept={} error={}", report.name,
                      report.family.empty() ? "unknown" : report.family, report.bytes,
                      report.is_partly_readable ? "\"records of undamaged blocks\"" : "nothing",
                      report.error);
  file_reports_.push_back(std::move(report));
}

absl::Status DamagedStore::Examine() {
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
    options_.log->error("a column family is computed again family={} error={}", Store::kFamilyNames[i],
                        MessageOf(status));
    unreadable_.insert(number);
  }
  return absl::OkStatus();
}

// A store with the catalog and the statistics that can be read: the copy, or one without their damaged files.
absl::StatusOr<std::shared_ptr<Store>> DamagedStore::StoreOfReadableFiles() {
  if (IsReadable(Store::kCatalog) && IsReadable(Store::kStats)) return copy_;
  StoreOptions options = options_;
  options.path = folders_.folder() + "/catalog";
  Store::FamilyFiles files;
  for (const auto number : {Store::kCatalog, Store::kStats}) files[number] = readable_files_[number];
  return Store::Create(options, files, /*copy_files=*/true);
}

void DamagedStore::ReadTableStatistics(const Store& store) {
  const auto make = [&] { return store.NewIterator(rocksdb::ReadOptions(), store.stats()); };
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

absl::Status DamagedStore::ReadCatalog() {
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
    options_.log->error("the copy of the catalog is damaged too path={}",
                        absl::StrCat(directory_, "/", kCatalogFileName));
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

absl::Status DamagedStore::MeasureChanges() {
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

}  // namespace itemdb::storage
