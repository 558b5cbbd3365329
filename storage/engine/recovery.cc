#include "storage/engine/recovery.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "google/protobuf/message.h"
#include "itemdb/v1/changes.pb.h"
#include "spdlog/spdlog.h"
#include "storage/commit/request_tokens.h"
#include "storage/commit/table_runs.h"
#include "storage/engine/ballast.h"
#include "storage/engine/synced_sequence.h"
#include "storage/engine/torn_tail.h"
#include "storage/keys/key_codec.h"
#include "storage/keys/storage_id.h"
#include "storage/store/catalog_records.h"
#include "storage/store/dropped_keyspace.h"
#include "storage/store/durable_file.h"
#include "storage/store/logged_changes.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

constexpr char kLockFileName[] = "LOCK";

std::string NewUuid() {
  std::string uuid;
  std::ifstream random("/proc/sys/kernel/random/uuid");
  std::getline(random, uuid);
  return uuid;
}

std::string NextCommand() {
  return "start once with --recover=last-good to keep what is readable, or restore a backup";
}

absl::StatusOr<uint64_t> DecodeCatalogNumber(std::string_view key, std::string_view record) {
  const std::optional<StoredRecord> decoded = DecodeRecord(kCatalogStorageId, key, record);
  uint64_t number = 0;
  if (std::string_view rest = decoded.has_value() ? decoded->payload : "";
      !wire::ConsumeVarint(&rest, &number))
    return DataLossError("the catalog record " + std::string(key) + " is damaged");
  return number;
}

absl::StatusOr<uint64_t> ReadCatalogNumber(const Store& store, std::string_view key, uint64_t fallback) {
  std::string record;
  rocksdb::Status status = store.db()->Get(rocksdb::ReadOptions(), store.catalog(), ToSlice(key), &record);
  if (status.IsNotFound()) return fallback;
  if (!status.ok()) return FromRocksDB("cannot read the catalog", status);
  return DecodeCatalogNumber(key, record);
}

struct ChangeLogExtent {
  // The last change record; 0 when the log is empty.
  uint64_t last = 0;
  int64_t last_commit_time_us = 0;
  // The first missing sequence between the start of the log and `last`; 0 when none is missing.
  uint64_t first_missing = 0;
};

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
  std::unique_ptr<rocksdb::Iterator> it(store.db()->NewIterator(rocksdb::ReadOptions(), store.changes()));
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

// `logged`: the changes in the write-ahead log, for a store opened read-only, which does not show them.
absl::StatusOr<ChangeLogExtent> MeasureChangeLog(const Store& store, uint64_t start,
                                                 const std::vector<ChangeRun>& logged) {
  ChangeLogExtent extent;
  std::unique_ptr<rocksdb::Iterator> it(store.db()->NewIterator(rocksdb::ReadOptions(), store.changes()));
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

// DATA_LOSS: committed changes are missing from the directory. Changes nothing on disk.
absl::Status CheckNothingIsMissing(const std::string& directory, const StoreOptions& options,
                                   const DurabilityWatermark& watermark) {
  LoggedChanges logged;
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
  ITEMDB_ASSIGN_OR_RETURN(uint64_t start, ReadCatalogNumber(**store, kChangesStartKey, 1));
  if (!logged.changes_start().empty()) {
    ITEMDB_ASSIGN_OR_RETURN(const uint64_t logged_start,
                            DecodeCatalogNumber(kChangesStartKey, logged.changes_start()));
    start = std::max(start, logged_start);
  }
  ITEMDB_ASSIGN_OR_RETURN(ChangeLogExtent extent, MeasureChangeLog(**store, start, logged.runs()));
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
  return absl::OkStatus();
}

// As CheckNothingIsMissing. Sets options->wal_recovery_mode so that a torn tail of the log is left out.
absl::Status CheckUpToTornTail(const std::string& directory, const DurabilityWatermark& watermark,
                               StoreOptions* options) {
  const absl::Status complete = CheckNothingIsMissing(directory, *options, watermark);
  if (!absl::IsDataLoss(complete) || !IsTornTail(*options)) return complete;
  StoreOptions up_to_damage = *options;
  up_to_damage.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  if (!CheckNothingIsMissing(directory, up_to_damage, watermark).ok()) return complete;
  options->log->warn(
      "the write-ahead log ends in bytes that were never synced; they are dropped error=\"{}\"",
      MessageOf(complete));
  *options = std::move(up_to_damage);
  return absl::OkStatus();
}

// Makes the result of a recovery with losses durable: a later crash only repeats the rebuild.
absl::Status PersistRecoveryResult(const std::string& directory, const StoreOptions& options,
                                   Recovered* recovered) {
  const Store& store = *recovered->start.store;
  rocksdb::WriteBatch batch;
  (void)batch.Put(store.catalog(), kNextStorageIdKey,
                  EncodeCatalogNumber(kNextStorageIdKey, recovered->next_storage_id));
  (void)batch.Put(store.catalog(), kChangesStartKey,
                  EncodeCatalogNumber(kChangesStartKey, recovered->changes_start));
  (void)batch.Put(store.catalog(), kNeedsRebuildKey, EncodeCatalogNumber(kNeedsRebuildKey, 1));
  rocksdb::WriteOptions write;
  write.sync = true;
  rocksdb::Status status = store.db()->Write(write, &batch);
  if (!status.ok()) return FromRocksDB("cannot record the recovery", status);
  recovered->watermark.sequence = recovered->changes_start - 1;
  recovered->watermark.recovering = false;
  return WriteWatermark(options.env, directory, recovered->watermark);
}

// Whether `message`, or a message inside it, holds fields that this program does not know.
bool HasUnknownFields(const google::protobuf::Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (!reflection.GetUnknownFields(message).empty()) return true;
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const auto* field : fields) {
    if (field->type() != google::protobuf::FieldDescriptor::TYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      if (HasUnknownFields(reflection.GetMessage(message, field))) return true;
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i)
      if (HasUnknownFields(reflection.GetRepeatedMessage(message, field, i))) return true;
  }
  return false;
}

// DATA_LOSS: `storage_id` would be given out again, because it is not below the catalog's next storage id.
absl::Status CheckId(const Table& table, uint64_t storage_id, uint64_t next_storage_id) {
  if (storage_id < next_storage_id) return absl::OkStatus();
  return DataLossError("table " + table.name + " or an index of it has the storage id " +
                       std::to_string(storage_id) + ", but the catalog says that ids from " +
                       std::to_string(next_storage_id) + " on were never given out; " + NextCommand());
}

// Loads catalog and size statistics. After losses (`damaged`) the catalog's records may be of different
// times.
absl::Status LoadCatalog(bool damaged, Recovered* recovered) {
  const Store& store = *recovered->start.store;
  ITEMDB_ASSIGN_OR_RETURN(recovered->next_storage_id, ReadCatalogNumber(store, kNextStorageIdKey, 1));
  ITEMDB_ASSIGN_OR_RETURN(recovered->changes_start, ReadCatalogNumber(store, kChangesStartKey, 1));

  ITEMDB_ASSIGN_OR_RETURN(uint64_t needs_rebuild, ReadCatalogNumber(store, kNeedsRebuildKey, 0));
  recovered->needs_rebuild = needs_rebuild != 0;

  std::unique_ptr<rocksdb::Iterator> it(store.db()->NewIterator(rocksdb::ReadOptions(), store.catalog()));
  for (it->Seek(kTableKeyPrefix); it->Valid() && it->key().starts_with(kTableKeyPrefix); it->Next()) {
    std::string key = it->key().ToString();
    std::optional<StoredRecord> record = DecodeRecord(kCatalogStorageId, key, ToView(it->value()));
    v1::TableDescription definition;
    if (!record.has_value() ||
        !definition.ParseFromArray(record->payload.data(), static_cast<int>(record->payload.size()))) {
      return DataLossError("the catalog record " + key + " is damaged");
    }
    // A newer program may have added something that this one cannot maintain, such as another kind of index.
    if (HasUnknownFields(definition)) {
      return MakeError(
          absl::StatusCode::kFailedPrecondition, kReasonFormatUnknown,
          "the definition of table " + definition.table_name() +
              " has parts that this program does not know. Open the database with the program that "
              "wrote it, or a newer one");
    }
    auto table = std::make_shared<Table>(MakeTable(std::move(definition)));
    std::vector<uint64_t> storage_ids = {table->storage_id};
    for (const Index& index : table->indexes) storage_ids.push_back(index.storage_id);
    for (uint64_t storage_id : storage_ids) {
      if (!damaged) ITEMDB_RETURN_IF_ERROR(CheckId(*table, storage_id, recovered->next_storage_id));
      recovered->next_storage_id = std::max(recovered->next_storage_id, storage_id + 1);
    }
    recovered->tables.push_back(std::move(table));  // In name order, like the keys.
  }
  if (!it->status().ok()) return FromRocksDB("cannot read the catalog", it->status());

  it.reset(store.db()->NewIterator(rocksdb::ReadOptions(), store.stats()));
  for (it->SeekToFirst(); it->Valid();) {
    // Records of item collections are not loaded: there may be many, and each is read when a write needs it.
    if (it->key().starts_with(kCollectionKeyPrefix)) {
      it->Seek(PrefixSuccessor(kCollectionKeyPrefix));
      continue;
    }
    std::optional<uint64_t> storage_id = ParseStorageIdKey(ToView(it->key()));
    std::optional<SizeStatistics> size_statistics;
    if (storage_id.has_value())
      size_statistics = DecodeStatistics(*storage_id, ToView(it->key()), ToView(it->value()));
    if (!size_statistics.has_value()) return DataLossError("a record of item counts is damaged");
    recovered->start.size_statistics.emplace(*storage_id, *size_statistics);
    it->Next();
  }
  if (!it->status().ok()) return FromRocksDB("cannot read the item counts", it->status());
  return absl::OkStatus();
}

struct StoredIds {
  // The highest storage id that occurs in the store.
  uint64_t highest = 0;
  // Storage ids that have records but are not in the catalog.
  int64_t unnamed = 0;
};
absl::StatusOr<StoredIds> FindStoredIds(const Recovered& recovered) {
  const Store& store = *recovered.start.store;
  std::set<uint64_t> named;
  for (const auto& table : recovered.tables) {
    named.insert(table->storage_id);
    for (const Index& index : table->indexes) named.insert(index.storage_id);
  }
  StoredIds found;
  ITEMDB_ASSIGN_OR_RETURN(std::vector<DroppedKeyspace> all_dropped, ReadDropped(store));
  for (const DroppedKeyspace& dropped : all_dropped) {
    named.insert(dropped.storage_id);
    found.highest = std::max(found.highest, dropped.storage_id);
  }
  for (const auto& [storage_id, size_statistics] : recovered.start.size_statistics)
    if (storage_id != kRequestsStorageId) found.highest = std::max(found.highest, storage_id);
  std::unique_ptr<rocksdb::Iterator> collections(
      store.db()->NewIterator(rocksdb::ReadOptions(), store.stats()));
  collections->SeekForPrev(PrefixSuccessor(kCollectionKeyPrefix));
  if (collections->Valid() && collections->key().starts_with(kCollectionKeyPrefix)) {
    const std::string_view key =
        ToView(collections->key()).substr(std::string_view(kCollectionKeyPrefix).size());
    found.highest = std::max(found.highest, ParseStorageIdKey(key.substr(0, 8)).value_or(0));
  }
  for (rocksdb::ColumnFamilyHandle* family : {store.items(), store.global_entries(), store.local_entries()}) {
    rocksdb::ReadOptions options;
    options.total_order_seek = true;
    std::unique_ptr<rocksdb::Iterator> it(store.db()->NewIterator(options, family));
    for (it->SeekToFirst(); it->Valid();) {
      std::string_view rest = ToView(it->key());
      const std::optional<uint64_t> storage_id = ConsumeStorageId(&rest);
      if (!storage_id.has_value()) return DataLossError("a stored key has no storage id");
      found.highest = std::max(found.highest, *storage_id);
      if (!named.contains(*storage_id)) ++found.unnamed;
      it->Seek(PrefixSuccessor(Keyspace(family, *storage_id).prefix()));
    }
    if (!it->status().ok())
      return FromRocksDB("cannot read column family " + family->GetName(), it->status());
  }
  return found;
}

// An upper bound of the last change in the table runs; 0 for none. A damaged record counts as if it reached
// to the end of its epoch.
uint64_t LastOfTableRuns(const Store& store) {
  std::unique_ptr<rocksdb::Iterator> it(store.db()->NewIterator(rocksdb::ReadOptions(), store.table_runs()));
  it->SeekToLast();
  uint64_t last = 0;
  // Reads all records of the last epoch, because they are sorted by table, not by change.
  for (const std::string prefix = it->Valid() ? it->key().ToString().substr(0, TableRunsPrefix(0).size())
                                              : "";
       it->Valid() && it->key().starts_with(prefix); it->Prev()) {
    const auto runs = DecodeTableRuns(ToView(it->key()), ToView(it->value()));
    const uint64_t first = FirstOfTableRuns(ToView(it->key()));
    last = std::max(last, runs.has_value() ? runs->back().end() - 1 : EndOfEpoch(EpochOf(first)) - 1);
  }
  return it->status().ok() || last == 0 ? last : EndOfEpoch(EpochOf(last)) - 1;
}

absl::Status SyncEntries(rocksdb::Env* env, const std::string& directory) {
  const rocksdb::Status status = SyncDirectory(env, directory);
  if (!status.ok()) return FromRocksDB("cannot sync " + directory, status);
  return absl::OkStatus();
}

// Opens as much of a damaged store as can be read. First try: a consistent prefix of the write-ahead log.
// Second try: every undamaged record of it. Third try, when table files are missing: each column family as it
// was before it needed the missing file.
absl::StatusOr<std::shared_ptr<Store>> OpenLastGood(const std::string& directory, StoreOptions options) {
  options.verify_logs = false;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  absl::StatusOr<std::shared_ptr<Store>> store = OpenWithBallast(directory, options);
  if (store.ok() || !absl::IsDataLoss(store.status())) return store;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  store = OpenWithBallast(directory, options);
  if (store.ok() || !absl::IsDataLoss(store.status())) return store;
  options.without_missing_files = true;
  return OpenWithBallast(directory, options);
}

}  // namespace

absl::StatusOr<Recovered> OpenDirectory(const std::string& directory, StoreOptions options,
                                        bool recover_last_good) {
  rocksdb::Env* env = options.env;
  options.path = directory + "/rocksdb";
  bool has_store = env->FileExists(options.path + "/CURRENT").ok();

  Recovered recovered;
  absl::StatusOr<std::optional<DurabilityWatermark>> watermark = ReadWatermark(env, directory);
  if (!watermark.ok() && !(recover_last_good && absl::IsDataLoss(watermark.status())))
    return watermark.status();
  bool has_watermark = watermark.ok() && watermark->has_value();
  if (has_watermark) {
    recovered.watermark = **watermark;
  } else if (!has_store) {
    std::vector<std::string> entries;
    (void)env->GetChildren(directory, &entries);
    for (const std::string& entry : entries) {
      if (entry == "." || entry == ".." || entry == kLockFileName || entry == "lost+found" ||
          entry == std::string(kWatermarkFileName) + ".next") {
        continue;
      }
      return MakeError(absl::StatusCode::kFailedPrecondition, kReasonDataDirectoryForeign,
                       directory + " holds files that are no itemdb database (for example " + entry +
                           "); give an empty directory or one made by itemd");
    }
  } else if (!recover_last_good) {
    return DataLossError(directory + "/" + kWatermarkFileName +
                         " is missing, so nothing says whether rocksdb/ is complete; restore it or " +
                         NextCommand());
  }
  recovered.watermark.sequence = std::max(recovered.watermark.sequence, SyncedSequence::Read(directory));
  if (recovered.watermark.database_id.empty()) recovered.watermark.database_id = NewUuid();

  if (!has_store && recovered.watermark.sequence > 0) {
    return DataLossError(directory + "/rocksdb is missing or empty, but changes up to " +
                         std::to_string(recovered.watermark.sequence) + " were durable; restore a backup");
  }
  bool damaged = false;
  if (has_store) {
    // First of all: a store of another program must not be changed, whatever the watermark says.
    ITEMDB_RETURN_IF_ERROR(Store::CheckFamilies(options));
    absl::Status complete;
    if (!has_watermark) {
      complete = DataLossError(directory + "/" + kWatermarkFileName + " is missing or damaged");
    } else if (recovered.watermark.recovering) {
      complete = DataLossError("a recovery of " + directory + " was begun and not finished (" + directory +
                               "/" + kWatermarkFileName + " says so); " + NextCommand());
    } else {
      complete = CheckUpToTornTail(directory, recovered.watermark, &options);
    }
    if (!complete.ok() && !(recover_last_good && absl::IsDataLoss(complete))) return complete;
    damaged = !complete.ok();
    if (damaged) {
      options.log->warn("recovering what is readable cause=\"{}\"", MessageOf(complete));
      // After opening for writing the store may look complete. The watermark keeps the loss known, should the
      // power fail before PersistRecoveryResult.
      recovered.watermark.recovering = true;
      ITEMDB_RETURN_IF_ERROR(WriteWatermark(env, directory, recovered.watermark));
    }
  } else if (!has_watermark) {
    // Before RocksDB's files are made: after a crash the directory must be recognised as one of itemdb.
    ITEMDB_RETURN_IF_ERROR(WriteWatermark(env, directory, recovered.watermark));
  }

  (void)env->CreateDirIfMissing(options.path);
  ITEMDB_ASSIGN_OR_RETURN(recovered.start.store,
                          damaged ? OpenLastGood(directory, options) : OpenWithBallast(directory, options));
  if (!has_store) ITEMDB_RETURN_IF_ERROR(SyncEntries(env, directory));
  ITEMDB_RETURN_IF_ERROR(LoadCatalog(damaged, &recovered));
  if (damaged) {
    ITEMDB_ASSIGN_OR_RETURN(StoredIds stored, FindStoredIds(recovered));
    // The recovered catalog may be older than the records: a new table must not get an id that has records.
    recovered.next_storage_id = std::max(recovered.next_storage_id, stored.highest + 1);
    if (stored.unnamed > 0) {
      options.log->error(
          "records of tables or indexes that are not in the recovered catalog are kept but cannot be read "
          "count={}",
          stored.unnamed);
    }
  }

  ITEMDB_ASSIGN_OR_RETURN(ChangeLogExtent extent,
                          MeasureChangeLog(*recovered.start.store, recovered.changes_start, {}));
  uint64_t last = std::max(extent.last, recovered.changes_start - 1);
  recovered.start.last_commit_time_us = extent.last_commit_time_us;
  recovered.start.next_sequence = last + 1;
  if (damaged) {
    // A sequence is never given out twice. The log restarts after the highest one, so readers get
    // CHANGES_TRIMMED for all changes before.
    recovered.start.next_sequence =
        std::max({last, recovered.watermark.sequence, LastOfTableRuns(*recovered.start.store)}) + 1;
    recovered.changes_start = recovered.start.next_sequence;
    recovered.needs_rebuild = true;
    options.log->error(
        "data was lost: recovered_through={} first_missing={} durable_before={} log_restarts_at={}", last,
        extent.first_missing == 0 ? last + 1 : extent.first_missing, recovered.watermark.sequence,
        recovered.changes_start);
    ITEMDB_RETURN_IF_ERROR(PersistRecoveryResult(directory, options, &recovered));
  }
  return recovered;
}

absl::StatusOr<std::unique_ptr<DirectoryLock>> DirectoryLock::Acquire(rocksdb::Env* env,
                                                                      const std::string& directory) {
  if (env->FileExists(directory).IsNotFound()) {
    if (rocksdb::Status status = env->CreateDirIfMissing(directory); !status.ok()) {
      return FromRocksDB("cannot create the data directory " + directory, status);
    }
    std::filesystem::path path = std::filesystem::absolute(directory);
    if (!path.has_filename()) path = path.parent_path();  // "data/"
    ITEMDB_RETURN_IF_ERROR(SyncEntries(env, path.parent_path()));
  }
  std::string path = directory + "/" + kLockFileName;
  rocksdb::FileLock* lock = nullptr;
  rocksdb::Status status = env->LockFile(path, &lock);
  if (status.ok()) return std::unique_ptr<DirectoryLock>(new DirectoryLock(env, lock));
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    return MakeError(absl::StatusCode::kFailedPrecondition, kReasonDataDirectoryInUse,
                     "the data directory " + directory +
                         " is in use by another itemd, or not writable: " + status.ToString());
  }
  return FromRocksDB("cannot lock the data directory " + directory, status);
}

DirectoryLock::~DirectoryLock() { (void)env_->UnlockFile(lock_); }

}  // namespace itemdb::storage
