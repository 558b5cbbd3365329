#include "storage/engine/last_good.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "itemdb/v1/tables.pb.h"
#include "spdlog/spdlog.h"
#include "storage/engine/ballast.h"
#include "storage/engine/catalog_copy.h"
#include "storage/store/catalog_records.h"
#include "storage/store/dropped_keyspace.h"
#include "storage/store/sequence_key.h"
#include "storage/store/size_statistics.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

constexpr rocksdb::WALRecoveryMode kLogModes[] = {rocksdb::WALRecoveryMode::kPointInTimeRecovery,
                                                  rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords};

bool IsDamaged(const absl::StatusOr<std::shared_ptr<Store>>& store) {
  return !store.ok() && absl::IsDataLoss(store.status());
}

// Whether the record under `it` is one of the size statistics of a table, index or item collection.
bool IsUndamagedStatistics(const rocksdb::Iterator& it) {
  if (it.key().starts_with(kCollectionKeyPrefix)) return true;
  const std::optional<uint64_t> storage_id = ParseStorageIdKey(ToView(it.key()));
  return storage_id.has_value() &&
         DecodeStatistics(*storage_id, ToView(it.key()), ToView(it.value())).has_value();
}

// Opens without the table files that cannot be opened.
absl::StatusOr<std::shared_ptr<Store>> OpenReadableFiles(const std::string& directory,
                                                         const StoreOptions& options) {
  const std::string scratch = directory + "/recovery";
  StoreOptions tolerant = options;
  tolerant.with_unreadable_files = true;
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<Store> store, OpenWithBallast(directory, tolerant));
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<std::string> removed, store->RemoveUnreadableFiles(scratch));
  for (const std::string& file : removed)
    options.log->error("a table file cannot be opened; all its records are lost file={}", file);
  store.reset();
  (void)options.env->DeleteDir(scratch);
  return OpenWithBallast(directory, options);
}

absl::StatusOr<std::shared_ptr<Store>> OpenDamaged(const std::string& directory, StoreOptions options) {
  options.verify_logs = false;
  absl::StatusOr<std::shared_ptr<Store>> store;
  for (const auto open : {OpenWithBallast, OpenReadableFiles}) {
    for (const rocksdb::WALRecoveryMode mode : kLogModes) {
      options.wal_recovery_mode = mode;
      store = open(directory, options);
      if (!IsDamaged(store)) return store;
    }
  }
  options.best_efforts = true;
  return OpenWithBallast(directory, options);
}

uint64_t NextStorageId(const CatalogRecords& records) {
  const auto found = records.find(kNextStorageIdKey);
  if (found == records.end()) return 0;
  return DecodeCatalogNumber(found->first, found->second).value_or(0);
}

// Whether `records` say that the table of this definition was deleted.
bool IsDropped(const CatalogRecords& records, std::string_view key, std::string_view definition) {
  const std::optional<StoredRecord> record = DecodeRecord(kCatalogStorageId, key, definition);
  v1::TableDescription table;
  return record.has_value() && table.ParseFromString(std::string(record->payload)) &&
         records.contains(DroppedKey(table.storage_id()));
}

// Completes the catalog from its copy, when it is damaged or older than the copy.
absl::Status RestoreCatalog(const std::string& directory, const StoreOptions& options, Store* store) {
  ReadableRecords catalog = ReadCatalogRecords(*store);
  const ReadableRecords copy = ReadCatalogCopy(options.env, directory);
  if (!catalog.damaged && NextStorageId(catalog.records) >= NextStorageId(copy.records))
    return absl::OkStatus();
  if (copy.damaged)
    options.log->error("the copy of the catalog is damaged too path=\"{}/CATALOG\"", directory);
  int64_t restored = 0;
  const CatalogRecords before = catalog.records;
  for (const auto& [key, record] : copy.records) {
    const bool is_table = key.starts_with(kTableKeyPrefix);
    if (is_table && IsDropped(before, key, record)) continue;
    if (catalog.records.emplace(key, record).second && is_table) ++restored;
  }
  if (const uint64_t next = std::max(NextStorageId(before), NextStorageId(copy.records)); next > 0)
    catalog.records[kNextStorageIdKey] = EncodeCatalogNumber(kNextStorageIdKey, next);
  if (catalog.damaged) ITEMDB_RETURN_IF_ERROR(store->EmptyFamily(Store::kCatalog));
  rocksdb::WriteBatch batch;
  for (const auto& [key, record] : catalog.records) (void)batch.Put(store->catalog(), key, record);
  rocksdb::WriteOptions write;
  write.sync = true;
  if (rocksdb::Status status = store->db()->Write(write, &batch); !status.ok())
    return FromRocksDB("cannot restore the catalog", status);
  options.log->warn("the catalog was restored from its copy tables={}", restored);
  return absl::OkStatus();
}

// The families that are rebuilt from the items, or not needed, after a recovery with losses.
constexpr Store::FamilyNumber kDerivedFamilies[] = {Store::kGlobalEntries, Store::kLocalEntries,
                                                    Store::kStats,         Store::kChanges,
                                                    Store::kTableRuns,     Store::kRequests};

// Reads a family to its end. DATA_LOSS: it is damaged.
absl::Status CheckFamily(const Store& store, Store::FamilyNumber number) {
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  read.fill_cache = false;
  std::unique_ptr<rocksdb::Iterator> it(store.db()->NewIterator(read, store.family(number)));
  it->SeekToFirst();
  while (it->Valid() && (number != Store::kStats || IsUndamagedStatistics(*it))) it->Next();
  const std::string what = std::string("cannot read column family ") + Store::kFamilyNames[number];
  if (it->Valid()) return DataLossError(what + ": a record is damaged");
  return it->status().ok() ? absl::OkStatus() : FromRocksDB(what, it->status());
}

absl::Status EmptyUnreadableFamilies(const StoreOptions& options, Store* store) {
  for (const Store::FamilyNumber number : kDerivedFamilies) {
    const absl::Status status = CheckFamily(*store, number);
    if (status.ok()) continue;
    if (!absl::IsDataLoss(status)) return status;
    // The last keys of the change log and of the table runs say which sequences were given out.
    if (number == Store::kChanges || number == Store::kTableRuns) continue;
    options.log->error("a column family is damaged and begins empty family={} error=\"{}\"",
                       Store::kFamilyNames[number], MessageOf(status));
    ITEMDB_RETURN_IF_ERROR(store->EmptyFamily(number));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckDerivedFamilies(const Store& store) {
  for (const Store::FamilyNumber number : kDerivedFamilies)
    ITEMDB_RETURN_IF_ERROR(CheckFamily(store, number));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Store>> OpenLastGood(const std::string& directory,
                                                    const StoreOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<Store> store, OpenDamaged(directory, options));
  ITEMDB_RETURN_IF_ERROR(RestoreCatalog(directory, options, store.get()));
  ITEMDB_RETURN_IF_ERROR(EmptyUnreadableFamilies(options, store.get()));
  return store;
}

}  // namespace itemdb::storage
