#include "storage/engine/completeness.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "itemdb/v1/changes.pb.h"
#include "storage/engine/load_catalog.h"
#include "storage/store/catalog_records.h"
#include "storage/store/sequence_key.h"
#include "storage/store/size_statistics.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

// The families that have a copy, can be computed again from the items, or are not needed.
constexpr Store::FamilyNumber kDerivedFamilies[] = {
    Store::kCatalog, Store::kGlobalEntries, Store::kLocalEntries, Store::kStats,
    Store::kChanges, Store::kTableRuns,     Store::kRequests};

// The first sequence from `from` on that is in no run of `dense`, which is sorted.
uint64_t EndOfDense(const std::vector<ChangeRun>& dense, uint64_t from) {
  for (const ChangeRun& run : dense)
    if (run.first <= from && run.last >= from) from = run.last + 1;
  return from;
}

// The first sequence in [from, last] that is neither in a table file nor in `dense`; 0 for none.
absl::StatusOr<uint64_t> FindMissingChange(const Store& store, const std::vector<ChangeRun>& dense,
                                           uint64_t from, uint64_t last) {
  uint64_t expected = EndOfDense(dense, from);
  if (expected > last) return 0;
  std::unique_ptr<rocksdb::Iterator> it = store.NewIterator(rocksdb::ReadOptions(), store.changes());
  for (it->Seek(SequenceKey(expected)); it->Valid(); it->Next()) {
    std::optional<uint64_t> sequence = ParseSequenceKey(ToView(it->key()));
    if (!sequence.has_value()) return DataLossError("the change log holds a key that is no change sequence");
    if (*sequence < expected) continue;
    if (*sequence != expected) return expected;
    expected = EndOfDense(dense, expected + 1);
  }
  if (!it->status().ok()) return FromRocksDB("cannot read the change log", it->status());
  return expected <= last ? expected : 0;
}

// The key ranges of those table files of the change log that have no gap. A change record is put once and
// never overwritten, so a file without gaps has exactly one entry for each sequence of its key range.
std::vector<ChangeRun> DenseFiles(const Store& store) {
  std::vector<ChangeRun> dense;
  std::vector<rocksdb::LiveFileMetaData> files;
  store.db()->GetLiveFilesMetaData(&files);
  for (const rocksdb::LiveFileMetaData& file : files) {
    if (file.column_family_name != store.changes()->GetName()) continue;
    std::optional<uint64_t> smallest = ParseSequenceKey(file.smallestkey);
    std::optional<uint64_t> largest = ParseSequenceKey(file.largestkey);
    if (smallest.has_value() && largest.has_value() && file.num_deletions == 0 &&
        file.num_entries == *largest - *smallest + 1) {
      dense.push_back({*smallest, *largest});
    }
  }
  return dense;
}

// Whether the record under `it` is one of the size statistics of a table, index or item collection.
bool IsUndamagedStatistics(const rocksdb::Iterator& it) {
  if (it.key().starts_with(kCollectionKeyPrefix)) return true;
  const std::optional<uint64_t> storage_id = ParseStorageIdKey(ToView(it.key()));
  return storage_id.has_value() &&
         DecodeStatistics(*storage_id, ToView(it.key()), ToView(it.value())).has_value();
}

}  // namespace

std::string NextCommand() {
  return "start once with --recover=last-good to keep what is readable, or restore a backup";
}

absl::Status WithNextCommand(const std::string& directory, const absl::Status& status) {
  if (!absl::IsDataLoss(status)) return status;
  return DataLossError(directory + " is damaged: " + MessageOf(status) + "; " + NextCommand());
}

absl::StatusOr<ChangeLogExtent> MeasureChangeLog(const Store& store, uint64_t start,
                                                 const std::vector<ChangeRun>& logged) {
  ChangeLogExtent extent;
  std::unique_ptr<rocksdb::Iterator> it = store.NewIterator(rocksdb::ReadOptions(), store.changes());
  it->SeekToLast();
  if (!it->status().ok()) return FromRocksDB("cannot read the change log", it->status());
  if (it->Valid()) {
    std::string_view key = ToView(it->key());
    std::optional<uint64_t> last = ParseSequenceKey(key);
    std::optional<StoredRecord> record = DecodeRecord(kChangesStorageId, key, ToView(it->value()));
    v1::ChangeRecord change;
    if (!last.has_value() || !record.has_value() ||
        !change.ParseFromArray(record->payload.data(), static_cast<int>(record->payload.size()))) {
      return DataLossError("the last change record is damaged");
    }
    extent.last = *last;
    extent.last_commit_time_us = change.commit_time_us();
  }
  for (const ChangeRun& run : logged) extent.last = std::max(extent.last, run.last);

  std::vector<ChangeRun> dense = DenseFiles(store);
  dense.insert(dense.end(), logged.begin(), logged.end());
  std::sort(dense.begin(), dense.end(),
            [](const ChangeRun& a, const ChangeRun& b) { return a.first < b.first; });
  ITEMDB_ASSIGN_OR_RETURN(extent.first_missing, FindMissingChange(store, dense, start, extent.last));
  return extent;
}

absl::Status CheckFamily(const Store& store, Store::FamilyNumber number) {
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  read.fill_cache = false;
  std::unique_ptr<rocksdb::Iterator> it = store.NewIterator(read, store.family(number));
  it->SeekToFirst();
  while (it->Valid() && (number != Store::kStats || IsUndamagedStatistics(*it))) it->Next();
  const std::string what = std::string("cannot read column family ") + Store::kFamilyNames[number];
  if (it->Valid()) return DataLossError(what + ": a record is damaged");
  return it->status().ok() ? absl::OkStatus() : FromRocksDB(what, it->status());
}

absl::Status CheckNothingIsMissing(const std::string& directory, const StoreOptions& options,
                                   const DurabilityWatermark& watermark, CheckDepth depth) {
  if (const absl::Status manifest = CheckManifest(options.env, options.path); !manifest.ok())
    return WithNextCommand(directory, DataLossError(MessageOf(manifest)));
  LoggedChanges logged(options.wal_recovery_mode, options.on_logged_batch);
  absl::StatusOr<std::shared_ptr<Store>> store = Store::OpenReadOnly(options, &logged);
  if (!store.ok()) {
    if (!absl::IsDataLoss(store.status())) return store.status();
    const std::string message = logged.status().ok() ? MessageOf(store.status()) : logged.status().ToString();
    return DataLossError(directory + " is damaged: " + message + "; the last change known to be durable is " +
                         std::to_string(watermark.sequence) + "; " + NextCommand());
  }
  if (std::optional<std::string> missing = (*store)->MissingFamily(); missing.has_value()) {
    // The creation of the database was interrupted.
    if (watermark.sequence == 0) return absl::OkStatus();
    return DataLossError("the column family " + *missing + " is missing from " + directory +
                         "/rocksdb, but changes up to " + std::to_string(watermark.sequence) +
                         " were durable; " + NextCommand());
  }
  absl::StatusOr<uint64_t> catalog_start = ReadCatalogNumber(**store, kChangesStartKey, 1);
  if (!catalog_start.ok()) return WithNextCommand(directory, catalog_start.status());
  uint64_t start = *catalog_start;
  if (!logged.changes_start().empty()) {
    const absl::StatusOr<uint64_t> logged_start =
        DecodeCatalogNumber(kChangesStartKey, logged.changes_start());
    if (!logged_start.ok()) return WithNextCommand(directory, logged_start.status());
    start = std::max(start, *logged_start);
  }
  const absl::StatusOr<ChangeLogExtent> measured = MeasureChangeLog(**store, start, logged.runs());
  if (!measured.ok()) return WithNextCommand(directory, measured.status());
  const ChangeLogExtent& extent = *measured;
  uint64_t last = std::max(extent.last, start - 1);
  if (last < watermark.sequence) {
    return DataLossError("committed changes are missing from " + directory + ": its log ends at change " +
                         std::to_string(last) + ", but change " + std::to_string(watermark.sequence) +
                         " was durable, as the files WATERMARK and SYNCED there say (was a .log file in "
                         "rocksdb/ deleted, cut or replaced by an older one?); " +
                         NextCommand());
  }
  if (extent.first_missing != 0) {
    return DataLossError("committed changes are missing from " + directory + ": the log goes up to change " +
                         std::to_string(last) + " but change " + std::to_string(extent.first_missing) +
                         " is not in it (was a .log file in rocksdb/ deleted or cut?); " + NextCommand());
  }
  if (depth != CheckDepth::kDerivedData) return absl::OkStatus();
  for (const Store::FamilyNumber number : kDerivedFamilies)
    ITEMDB_RETURN_IF_ERROR(WithNextCommand(directory, CheckFamily(**store, number)));
  return absl::OkStatus();
}

}  // namespace itemdb::storage
