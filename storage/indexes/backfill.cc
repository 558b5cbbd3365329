#include "storage/indexes/backfill.h"

#include <future>

#include "rocksdb/sst_file_writer.h"
#include "spdlog/spdlog.h"
#include "storage/changes/log_reader.h"
#include "storage/engine/table_changes.h"
#include "storage/indexes/index_entry.h"
#include "storage/indexes/record_sorter.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb {
namespace {

// Records between two looks at whether to go on.
constexpr int64_t kRecordsBetweenLooks = 1'024;
constexpr size_t kReadAheadBytes = 1 << 20;
constexpr uint64_t kMaxFileBytes = 64 << 20;
// Items mended by one unit of the commit pipeline: a few milliseconds during which writes wait.
constexpr size_t kFilesIngestedAtOnce = 4;
constexpr int kMaxLevel0Files = 8;
constexpr auto kLevel0PollInterval = std::chrono::milliseconds(20);
constexpr size_t kMaxMendedItems = 64;
constexpr size_t kMaxMendedBytes = 256 << 10;

// The entry that `item`, if there is one, should have. None, and `*skipped` is set, for one that cannot be in
// the index (SEM-097).
std::optional<IndexEntry> EntryOf(const Index& index, std::optional<std::string_view> item,
                                  std::string_view base_key, bool* skipped) {
  if (!item.has_value()) return std::nullopt;
  absl::StatusOr<std::optional<IndexEntry>> entry = MakeIndexEntry(index, ItemView(*item), base_key);
  *skipped = !entry.ok();
  return entry.ok() ? *std::move(entry) : std::nullopt;
}

// An item that changed while the index was filled.
struct Mending {
  ItemKey key;
  CarriedRead carried;
  // Of its entry in the state that the index was filled from.
  std::optional<std::string> old_entry_key;
};

// Gives items the entries they should have, in place of those of the state that the index was filled from.
class MendUnit : public CommitUnit {
 public:
  MendUnit(const BuildingIndex& building, std::vector<Mending> items)
      : building_(building), items_(std::move(items)) {}

  size_t SizeBytes() const override {
    size_t bytes = sizeof(*this);
    for (const Mending& item : items_) bytes += BytesOf(item);
    return bytes;
  }
  static size_t BytesOf(const Mending& item) {
    return sizeof(item) + item.key.encoded.size() +
           (item.carried.item.has_value() ? item.carried.item->size() : 0);
  }

  void Order(CommitGroup& group) override {
    absl::StatusOr<FoundIndex> found = FindBuildingIndex(*group.catalog(), building_);
    if (!found.ok()) {
      decided_ = found.status();
      return;
    }
    const Index& index = *found->index;
    for (const Mending& item : items_) {
      auto current = group.CurrentItem(*found->table, item.key, item.carried);
      if (!current.ok() && !absl::IsDataLoss(current.status())) {
        decided_ = current.status();
        return;
      }
      std::optional<IndexEntry> entry;
      bool skipped = false;
      if (current.ok()) entry = EntryOf(index, *current, item.key.encoded, &skipped);
      if (item.old_entry_key.has_value() && (!entry.has_value() || entry->key != *item.old_entry_key))
        group.DeleteEntry(index, *item.old_entry_key);
      if (entry.has_value()) group.PutEntry(index, entry->key, entry->item, entry->item_size);
      group.ForgetReads();
    }
  }

  void Answer(const absl::Status& status, uint64_t) override {
    done_.set_value(status.ok() ? decided_ : status);
  }

  static absl::Status Commit(Engine& engine, const BuildingIndex& building, std::vector<Mending> items) {
    auto unit = std::make_unique<MendUnit>(building, std::move(items));
    std::future<absl::Status> done = unit->done_.get_future();
    std::unique_ptr<CommitUnit> commit_unit = std::move(unit);
    ITEMDB_RETURN_IF_ERROR(engine.Submit(commit_unit, WhenFull::kWait));
    return done.get();
  }

 private:
  const BuildingIndex building_;
  const std::vector<Mending> items_;
  absl::Status decided_;
  std::promise<absl::Status> done_;
};

class Backfill {
 public:
  Backfill(Engine& engine, const BuildingIndex& building, const std::string& directory,
           CancellationPtr cancellation, BuildProgress& progress)
      : engine_(engine),
        building_(building),
        path_prefix_(directory + "/" + std::to_string(building.storage_id) + "-"),
        cancellation_(std::move(cancellation)),
        progress_(progress) {}

  absl::Status Run() {
    ITEMDB_ASSIGN_OR_RETURN(auto now, engine_.View());
    // What is written from now on is needed in the end. The pin comes before the view.
    ITEMDB_ASSIGN_OR_RETURN(auto pin, engine_.log_start().Keep(now->change_sequence() + 1));
    now.reset();
    ITEMDB_ASSIGN_OR_RETURN(view_, engine_.View());
    ITEMDB_ASSIGN_OR_RETURN(FoundIndex found, FindBuildingIndex(view_->catalog(), building_));
    table_ = found.table;
    index_ = found.index;
    ITEMDB_RETURN_IF_ERROR(Fill());
    ITEMDB_RETURN_IF_ERROR(MaintainIndex(engine_, building_));
    ITEMDB_RETURN_IF_ERROR(CatchUp());
    view_.reset();
    return ActivateIndex(engine_, building_, counted_, skipped_);
  }

 private:
  absl::Status CheckGoesOn() const {
    ITEMDB_RETURN_IF_ERROR(CheckWanted(cancellation_));
    // The store can only be reopened when nobody holds a view of it; View says so.
    ITEMDB_ASSIGN_OR_RETURN(auto now, engine_.View());
    if (engine_.IsFailed())
      return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "the database is reopening");
    return FindBuildingIndex(now->catalog(), building_).status();
  }

  void Count(const std::optional<IndexEntry>& entry, int64_t sign) {
    if (!entry.has_value()) return;
    counted_.items += sign;
    counted_.bytes += sign * static_cast<int64_t>(entry->item_size);
  }

  // Step 1.
  absl::Status Fill() {
    RecordSorter entries(engine_.env(), path_prefix_ + "entries-", engine_.options().index_build_bytes);
    ITEMDB_RETURN_IF_ERROR(ReadItems(&entries));
    progress_.Begin(v1::IndexBuild::PHASE_WRITING, entries.size());
    return WriteEntries(&entries);
  }

  absl::Status ReadItems(RecordSorter* entries) {
    ITEMDB_ASSIGN_OR_RETURN(Counters items, ReadCounters(*view_, table_->storage_id));
    progress_.Begin(v1::IndexBuild::PHASE_SCANNING, items.items);
    rocksdb::ReadOptions options;
    options.snapshot = view_->snapshot();
    options.total_order_seek = true;
    options.fill_cache = false;
    options.readahead_size = kReadAheadBytes;
    KeyspaceIterator it(*view_->store(), ItemsOf(*view_->store(), *table_), options);
    int64_t read = 0;
    for (it.SeekToFirst(); it.Valid(); it.Next()) {
      if (++read % kRecordsBetweenLooks == 0) {
        progress_.Done(read);
        ITEMDB_RETURN_IF_ERROR(CheckGoesOn());
      }
      const std::string_view key = it.key();
      std::optional<StoredRecord> stored = DecodeRecord(table_->storage_id, key, it.value());
      if (!stored.has_value()) {
        engine_.options().log->error("an item without entry in a new index: {}",
                                     MessageOf(DamagedRecordError("table " + table_->name, key)));
        progress_.Skipped(++skipped_);
        continue;
      }
      absl::StatusOr<std::optional<IndexEntry>> entry =
          MakeIndexEntry(*index_, ItemView(stored->payload), key);
      if (!entry.ok()) {
        progress_.Skipped(++skipped_);
      } else if (entry->has_value()) {
        Count(*entry, 1);
        ITEMDB_RETURN_IF_ERROR(entries->Add(
            (*entry)->key,
            EncodeRecord(index_->storage_id, (*entry)->key, (*entry)->item_size, (*entry)->item)));
      }
    }
    if (!it.status().ok()) return FromRocksDB("cannot read table " + table_->name, it.status());
    return absl::OkStatus();
  }

  absl::Status WriteEntries(RecordSorter* entries) {
    // A power cut must not take the commit that gave the index its storage id and leave the entries: the id
    // would be given out again.
    ITEMDB_RETURN_IF_ERROR(engine_.SyncNow());
    rocksdb::DB* db = view_->store()->db();
    const Keyspace keyspace = EntriesOf(*view_->store(), *index_);
    rocksdb::ColumnFamilyHandle* family = keyspace.family();
    std::vector<std::string> paths;
    std::unique_ptr<rocksdb::SstFileWriter> file;
    auto wrap = [&paths](const rocksdb::Status& status) {
      return status.ok() ? absl::OkStatus() : FromRocksDB("cannot write " + paths.back(), status);
    };
    int64_t written = 0;
    ITEMDB_RETURN_IF_ERROR(entries->ForEach([&](std::string_view key,
                                                std::string_view record) -> absl::Status {
      if (++written % kRecordsBetweenLooks == 0) {
        progress_.Done(written);
        ITEMDB_RETURN_IF_ERROR(CheckGoesOn());
      }
      if (file != nullptr && file->FileSize() >= kMaxFileBytes) {
        ITEMDB_RETURN_IF_ERROR(wrap(file->Finish()));
        file.reset();
      }
      if (file == nullptr) {
        paths.push_back(path_prefix_ + std::to_string(paths.size()) + ".sst");
        file = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(), db->GetOptions(family), family,
                                                        /*invalidate_page_cache=*/false);
        ITEMDB_RETURN_IF_ERROR(wrap(file->Open(paths.back())));
      }
      return wrap(file->Put(keyspace.StoredKey(key), ToSlice(record)));
    }));
    if (file == nullptr) return absl::OkStatus();  // No entries at all.
    ITEMDB_RETURN_IF_ERROR(wrap(file->Finish()));
    return IngestFiles(family, paths);
  }

  // A few at a time. Where a file of the family spans the index's keys, though it has none of them, RocksDB
  // puts what is ingested into level 0, and too many files there would make it delay writes.
  absl::Status IngestFiles(rocksdb::ColumnFamilyHandle* family, const std::vector<std::string>& paths) {
    for (size_t begin = 0; begin < paths.size(); begin += kFilesIngestedAtOnce) {
      for (;;) {
        ITEMDB_RETURN_IF_ERROR(CheckGoesOn());
        std::string files;
        (void)view_->store()->db()->GetProperty(family, rocksdb::DB::Properties::kNumFilesAtLevelPrefix + "0",
                                                &files);
        if (std::atoi(files.c_str()) < kMaxLevel0Files) break;
        std::this_thread::sleep_for(kLevel0PollInterval);
      }
      const auto first = paths.begin() + static_cast<std::ptrdiff_t>(begin);
      const size_t count = std::min(kFilesIngestedAtOnce, paths.size() - begin);
      ITEMDB_RETURN_IF_ERROR(
          view_->store()->Ingest(family, {first, first + static_cast<std::ptrdiff_t>(count)}));
    }
    return absl::OkStatus();
  }

  // Step 3.
  absl::Status CatchUp() {
    ITEMDB_ASSIGN_OR_RETURN(auto later, engine_.View());
    ITEMDB_RETURN_IF_ERROR(FindBuildingIndex(later->catalog(), building_).status());
    RecordSorter changed(engine_.env(), path_prefix_ + "changed-", engine_.options().index_build_bytes);
    ITEMDB_RETURN_IF_ERROR(ReadChangedKeys(*later, &changed));
    progress_.Begin(v1::IndexBuild::PHASE_CATCHING_UP, changed.size());

    std::vector<Mending> items;
    size_t bytes = 0;
    int64_t done = 0;
    std::string last_key;
    ITEMDB_RETURN_IF_ERROR(changed.ForEach([&](std::string_view key, std::string_view) -> absl::Status {
      progress_.Done(++done);
      if (key == last_key) return absl::OkStatus();
      last_key = key;
      ITEMDB_ASSIGN_OR_RETURN(std::optional<Mending> item, Compare(*later, key));
      if (!item.has_value()) return absl::OkStatus();
      bytes += MendUnit::BytesOf(*item);
      items.push_back(*std::move(item));
      if (items.size() < kMaxMendedItems && bytes < kMaxMendedBytes) return absl::OkStatus();
      ITEMDB_RETURN_IF_ERROR(CheckGoesOn());
      bytes = 0;
      return MendUnit::Commit(engine_, building_, std::exchange(items, {}));
    }));
    if (!items.empty()) ITEMDB_RETURN_IF_ERROR(MendUnit::Commit(engine_, building_, std::move(items)));

    // Writes have counted what they did from the change to kCatchingUp on, up to `later` too.
    ITEMDB_ASSIGN_OR_RETURN(Counters counted_by_writes, ReadCounters(*later, index_->storage_id));
    counted_.items -= counted_by_writes.items;
    counted_.bytes -= counted_by_writes.bytes;
    return absl::OkStatus();
  }

  // The encoded primary keys of the items that changed between view_ and `later`.
  absl::Status ReadChangedKeys(const ReadView& later, RecordSorter* changed) {
    int64_t seen = 0;
    absl::Status added;
    absl::Status walked = WalkTableChanges(
        engine_, later, table_->storage_id, view_->change_sequence(), later.change_sequence(),
        [&](const ChangeView& change, std::string_view) {
          if (++seen % kRecordsBetweenLooks == 0) added = CheckGoesOn();
          if (!added.ok() || change.key.empty()) return added.ok();
          absl::StatusOr<std::string> encoded = EncodePrimaryKey(*table_, ItemView(change.key));
          added = encoded.ok() ? changed->Add(*encoded, "") : encoded.status();
          return added.ok();
        });
    walked.Update(added);
    return walked;
  }

  // What the item under `key` needs, and counts it; nothing when its entry is that of view_.
  absl::StatusOr<std::optional<Mending>> Compare(const ReadView& later, std::string_view key) {
    ITEMDB_ASSIGN_OR_RETURN(std::optional<std::string> old_item, Read(*view_, key));
    ITEMDB_ASSIGN_OR_RETURN(std::optional<std::string> item, Read(later, key));
    bool was_skipped = false;
    bool is_skipped = false;
    std::optional<IndexEntry> old_entry = EntryOf(*index_, old_item, key, &was_skipped);
    std::optional<IndexEntry> entry = EntryOf(*index_, item, key, &is_skipped);
    skipped_ += int{is_skipped} - int{was_skipped};
    progress_.Skipped(skipped_);
    if (old_entry == entry) return std::nullopt;
    Count(old_entry, -1);
    Count(entry, 1);
    Mending mending;
    mending.key = ItemKey(table_->storage_id, std::string(key));
    mending.carried.item = std::move(item);
    mending.carried.group = later.group();
    if (old_entry.has_value()) mending.old_entry_key = std::move(old_entry->key);
    return mending;
  }

  // A damaged item has no entry; it was told of when all items were read.
  absl::StatusOr<std::optional<std::string>> Read(const ReadView& view, std::string_view key) const {
    absl::StatusOr<Lookup> found = LookupItem(view, *table_, key, ReadTier::kDisk);
    if (absl::IsDataLoss(found.status())) return std::nullopt;
    if (!found.ok()) return found.status();
    return std::move(found->item);
  }

  Engine& engine_;
  const BuildingIndex building_;
  const std::string path_prefix_;
  const CancellationPtr cancellation_;
  BuildProgress& progress_;
  // The state that the index is filled from; table and index are of it.
  std::shared_ptr<const ReadView> view_;
  std::shared_ptr<const Table> table_;
  const Index* index_ = nullptr;
  // The entries, less those that writes have counted.
  Counters counted_;
  int64_t skipped_ = 0;
};

}  // namespace

absl::Status FillIndex(Engine& engine, const BuildingIndex& building, const std::string& directory,
                       CancellationPtr cancellation, BuildProgress& progress) {
  return Backfill(engine, building, directory, std::move(cancellation), progress).Run();
}

}  // namespace itemdb
