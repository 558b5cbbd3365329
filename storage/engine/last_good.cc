#include "storage/engine/last_good.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "spdlog/spdlog.h"
#include "storage/engine/ballast.h"
#include "storage/engine/completeness.h"
#include "storage/engine/load_catalog.h"
#include "storage/engine/quarantine.h"
#include "storage/engine/table_files.h"
#include "storage/keys/key_codec.h"
#include "storage/keys/storage_id.h"
#include "storage/store/dropped_keyspace.h"
#include "storage/store/durable_file.h"
#include "storage/store/keyspace.h"
#include "storage/store/logged_changes.h"

namespace itemdb::storage {
namespace {

absl::Status WriteRecords(const DamagedStore& damaged, Store* store) {
  rocksdb::WriteBatch batch;
  for (const auto& [key, record] : damaged.catalog()) (void)batch.Put(store->catalog(), key, record);
  if (!damaged.IsReadable(Store::kStats))
    for (const auto& [key, record] : damaged.statistics()) (void)batch.Put(store->stats(), key, record);
  const rocksdb::Status status = store->Write(rocksdb::WriteOptions(), &batch);
  return status.ok() ? absl::OkStatus() : FromRocksDB("cannot write the recovered catalog", status);
}

// Takes items from damaged files where no other file has the item.
absl::Status SalvageItems(const DamagedStore& damaged, Store* store) {
  const StoreOptions& options = damaged.options();
  for (const DamagedStore::DamagedFile& file : damaged.damaged_files()) {
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
    ITEMDB_ASSIGN_OR_RETURN(const ReadRecords read, ForEachReadableRecord(options.env, file.path, add));
    options.log->warn("items were read from a damaged file file={} items={} taken={} damaged_ranges={}",
                      file.path.substr(file.path.rfind('/') + 1), read.records, taken, read.damaged_ranges);
  }
  return absl::OkStatus();
}

absl::Status MakeStore(DamagedStore& damaged) {
  damaged.Close();
  Store::FamilyFiles files;
  files[Store::kItems] = damaged.readable_files()[Store::kItems];
  for (const auto number : {Store::kGlobalEntries, Store::kLocalEntries, Store::kStats})
    if (damaged.IsReadable(number)) files[number] = damaged.readable_files()[number];
  StoreOptions options = damaged.options();
  options.path = damaged.folders().recovered();
  ITEMDB_ASSIGN_OR_RETURN(const std::shared_ptr<Store> store,
                          Store::Create(options, files, damaged.folders().has_copied()));
  ITEMDB_RETURN_IF_ERROR(SalvageItems(damaged, store.get()));
  ITEMDB_RETURN_IF_ERROR(WriteRecords(damaged, store.get()));
  rocksdb::Status status;
  for (const auto number : {Store::kItems, Store::kStats, Store::kCatalog})
    if (status.ok()) status = store->db()->Flush(rocksdb::FlushOptions(), store->family(number));
  if (status.ok()) status = SyncDirectory(options.env, options.path);
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
    std::unique_ptr<rocksdb::Iterator> it = store.NewIterator(options, family);
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

// Opens the new store as an ordinary start does, read-only, and writes its watermark.
absl::Status Verify(const DamagedStore& damaged) {
  StoreOptions options = damaged.options();
  options.for_recovery = false;
  options.path = damaged.folders().recovered();
  DurabilityWatermark after;
  after.database_id = damaged.before().database_id;
  after.sequence = damaged.next_sequence() - 1;
  ITEMDB_RETURN_IF_ERROR(CheckNothingIsMissing(damaged.directory(), options, after, CheckDepth::kChangeLog));
  {
    Recovered recovered;
    LoggedChanges logged(options.wal_recovery_mode);
    ITEMDB_ASSIGN_OR_RETURN(recovered.start.store, Store::OpenReadOnly(options, &logged));
    ITEMDB_RETURN_IF_ERROR(LoadCatalog(&recovered));
    ITEMDB_ASSIGN_OR_RETURN(const int64_t unnamed, CountUnnamed(recovered));
    if (unnamed > 0) {
      options.log->error(
          "records of tables or indexes that are not in the recovered catalog are kept but cannot be read "
          "count={}",
          unnamed);
    }
    for (const auto& table : recovered.tables) {
      const auto recorded = damaged.recorded_items().find(table->storage_id);
      const bool is_known = recorded != damaged.recorded_items().end();
      options.log->warn("table recovered table={} items_before={}", table->name,
                        is_known ? std::to_string(recorded->second) : "unknown");
    }
  }
  return WriteWatermark(options.env, damaged.folders().folder(), after);
}

void Report(const DamagedStore& damaged) {
  const uint64_t last = std::max(damaged.extent().last, damaged.changes_start() - 1);
  const uint64_t first_missing = damaged.extent().first_missing;
  // Sequences say nothing about the items of lost table files.
  const bool has_lost = damaged.has_lost_items();
  damaged.options().log->error(
      "data may be lost recovered_through={} first_missing={} durable_before={} lost_or_damaged_files={} "
      "lost_items_of_any_change={} log_restarts_at={}",
      has_lost ? "unknown" : std::to_string(last),
      has_lost ? "unknown" : std::to_string(first_missing == 0 ? last + 1 : first_missing),
      damaged.before().sequence, damaged.file_reports().size(), has_lost ? "possible" : "no",
      damaged.next_sequence());
}

}  // namespace

absl::Status MakeLastGoodStore(DamagedStore& damaged) {
  ITEMDB_RETURN_IF_ERROR(damaged.Read());
  ITEMDB_RETURN_IF_ERROR(MakeStore(damaged));
  return Verify(damaged);
}

absl::Status RecoverWithLosses(const std::string& directory, const StoreOptions& options,
                               const DurabilityWatermark& watermark, const std::string& cause) {
  options.log->warn("recovering what is readable cause={}", cause);
  for (bool has_ballast = true;; has_ballast = false) {
    RecoveryFolders folders(options.env, directory);
    DamagedStore damaged(directory, options, watermark, folders);
    const absl::Status status = MakeLastGoodStore(damaged);
    if (!status.ok()) {
      damaged.Close();
      folders.Delete();
    }
    if (absl::IsResourceExhausted(status) && has_ballast) {
      DeleteBallast(options.env, directory);
      continue;
    }
    ITEMDB_RETURN_IF_ERROR(status);
    Report(damaged);
    ITEMDB_ASSIGN_OR_RETURN(const int number, folders.TakePlace(watermark, cause));
    const std::string quarantine = folders.Quarantine(number);
    const FolderSize size = MeasureFolder(options.env, quarantine + "/rocksdb");
    options.log->warn("the files from before the recovery are kept path={} files={} bytes={}", quarantine,
                      size.files, size.bytes);
    return absl::OkStatus();
  }
}

}  // namespace itemdb::storage
