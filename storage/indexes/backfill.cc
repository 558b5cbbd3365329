#include "storage/indexes/backfill.h"

#include <cstring>

#include "rocksdb/sst_file_writer.h"
#include "spdlog/spdlog.h"
#include "storage/base/xxh3.h"
#include "storage/changes/log_reader.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/indexes/index_entry.h"
#include "storage/indexes/record_sorter.h"
#include "storage/schema/table_changes.h"
#include "storage/store/rocksdb_options.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

// Records between two calls of CheckForInterrupts.
constexpr int64_t kRecordsBetweenChecks = 1'024;
constexpr size_t kReadAheadBytes = 1 << 20;
constexpr uint64_t kMaxFileBytes = 64 << 20;
constexpr size_t kMinChangedBytes = 4 << 10;
constexpr size_t kFilesIngestedAtOnce = 4;
constexpr int kMaxLevel0Files = kLevel0CompactionFiles + 4;
constexpr auto kLevel0PollInterval = std::chrono::milliseconds(20);
// Bounds the wait: a damaged file may keep RocksDB from ever compacting level 0.
constexpr auto kMaxLevel0Wait = std::chrono::seconds(30);
// Items that one unit of the commit pipeline reconciles: other writes wait a few milliseconds for it.
constexpr size_t kMaxReconciledItems = 64;
constexpr size_t kMaxReconciledBytes = 256 << 10;

// The entry that `item` should have; nullopt without an item. Also nullopt, with `*skipped` set, for an item
// that cannot be in the index: the backfill skips and counts it (SEM-097).
std::optional<IndexEntry> EntryOf(const Index& index, std::optional<std::string_view> item,
                                  std::string_view base_key, bool* skipped) {
  if (!item.has_value()) return std::nullopt;
  absl::StatusOr<std::optional<IndexEntry>> entry = MakeIndexEntry(index, ItemView(*item), base_key);
  *skipped = !entry.ok();
  return entry.ok() ? *std::move(entry) : std::nullopt;
}

// An item that changed during the backfill and needs another entry.
struct Reconciliation {
  ItemKey key;
  PrefetchedRead prefetched;
  // The key of the entry that step 4 ingested for the item, if any.
  std::optional<std::string> old_entry_key;
};

size_t BytesOf(const Reconciliation& item) {
  return sizeof(item) + item.key.encoded.size() +
         (item.prefetched.item.has_value() ? item.prefetched.item->size() : 0);
}

// Gives `items` the entries that they should have now, in place of those that step 4 ingested.
absl::Status Reconcile(const BuildingIndex& building, const std::vector<Reconciliation>& items,
                       CommitGroup& group) {
  ITEMDB_ASSIGN_OR_RETURN(FoundIndex found, FindBuildingIndex(*group.catalog(), building));
  const Index& index = *found.index;
  for (const Reconciliation& item : items) {
    auto current = group.CurrentItem(*found.table, item.key, item.prefetched);
    if (!current.ok() && !absl::IsDataLoss(current.status())) return current.status();
    std::optional<IndexEntry> entry;
    bool skipped = false;
    if (current.ok()) entry = EntryOf(index, *current, item.key.encoded, &skipped);
    if (item.old_entry_key.has_value() && (!entry.has_value() || entry->key != *item.old_entry_key))
      group.DeleteEntry(index, *item.old_entry_key);
    if (entry.has_value()) group.PutEntry(index, entry->key, entry->item, entry->item_size);
    group.ReleaseReads();
  }
  return absl::OkStatus();
}

// A Bloom filter of item keys with one bit a key: it contains every key that was added, and perhaps others.
class ChangedKeyBloomFilter {
 public:
  explicit ChangedKeyBloomFilter(size_t bytes) : bits_(8 * std::max<size_t>(bytes, 64)) {}

  static uint64_t Hash(std::string_view key) { return XXH3_64bits(key.data(), key.size()); }
  void Add(uint64_t hash) { bits_[hash % bits_.size()] = true; }
  bool MayContain(uint64_t hash) const { return bits_[hash % bits_.size()]; }

 private:
  std::vector<bool> bits_;
};

// A record that step 3 sorts: an entry, under its key; or a skipped item, under the item's key.
struct SortedEntry {
  bool is_skipped = false;
  // Hash of the item's key, for ChangedKeyBloomFilter.
  uint64_t item_hash = 0;
  uint64_t item_size = 0;
  std::string_view item;

  std::string Encode() const {
    std::string bytes;
    bytes.reserve(2 + sizeof(item_hash) + wire::VarintSize(item_size) + item.size());
    bytes.push_back(is_skipped ? 1 : 0);
    bytes.append(reinterpret_cast<const char*>(&item_hash), sizeof(item_hash));
    wire::AppendVarint(item_size, &bytes);
    bytes.append(item);
    return bytes;
  }
  // Only for the result of Encode. Borrows from `bytes`.
  static SortedEntry Decode(std::string_view bytes) {
    SortedEntry entry;
    entry.is_skipped = bytes[0] != 0;
    std::memcpy(&entry.item_hash, bytes.data() + 1, sizeof(entry.item_hash));
    bytes.remove_prefix(1 + sizeof(entry.item_hash));
    (void)wire::ConsumeVarint(&bytes, &entry.item_size);
    entry.item = bytes;
    return entry;
  }
};

class Backfill {
 public:
  Backfill(Engine& engine, const BuildingIndex& building, const std::string& directory,
           CancellationPtr cancellation, BuildProgress& progress, BuildState* state)
      : engine_(engine),
        building_(building),
        directory_(directory),
        path_prefix_(directory + "/" + std::to_string(building.storage_id) + "-"),
        cancellation_(std::move(cancellation)),
        progress_(progress),
        state_(*state),
        last_read_key_(state->last_read_key),
        items_read_(state->items_read),
        all_items_read_(state->all_items_read),
        skipped_(state->items_skipped),
        changed_filter_(engine.options().index_build_bytes / 8),
        changed_(engine.env(), path_prefix_ + "changed-",
                 std::max(engine.options().index_build_bytes / 8, kMinChangedBytes)) {}

  absl::Status Run() {
    ITEMDB_RETURN_IF_ERROR(ScanAndIngest());
    ITEMDB_RETURN_IF_ERROR(EnableIndexWrites(engine_, building_));
    ITEMDB_RETURN_IF_ERROR(CatchUp());
    // While this object has view_, the store cannot be reopened, which might lose the ingested entries.
    return ActivateIndex(engine_, building_, *view_->store(), backfilled_, skipped_);
  }

 private:
  absl::Status CheckForInterrupts() const {
    ITEMDB_RETURN_IF_ERROR(CheckNotCancelled(cancellation_));
    // The store cannot be reopened while this object has a view of it: stop when it must be.
    ITEMDB_ASSIGN_OR_RETURN(auto now, engine_.View());
    if (engine_.IsFailed())
      return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "the database is reopening");
    ITEMDB_RETURN_IF_ERROR(engine_.disk_space().CheckNow());
    return FindBuildingIndex(now->catalog(), building_).status();
  }

  uint64_t ChecksumOfEntry(const IndexEntry& entry) const {
    return RecordChecksum(index_->storage_id, entry.key, entry.item_size, entry.item);
  }

  // Takes the current view.
  absl::Status TakeView() {
    ITEMDB_ASSIGN_OR_RETURN(view_, engine_.View());
    ITEMDB_ASSIGN_OR_RETURN(FoundIndex found, FindBuildingIndex(view_->catalog(), building_));
    table_ = found.table;
    index_ = found.index;
    return absl::OkStatus();
  }

  // Steps 3 and 4.
  absl::Status ScanAndIngest() {
    RecordSorter entries(engine_.env(), directory_ + "/entries-", engine_.options().index_build_bytes * 3 / 4,
                         state_.runs, [this](const SortedRuns& runs) { return SaveState(runs); });
    // The next attempt needs them. IndexBuilds deletes them.
    entries.KeepFiles();
    while (!all_items_read_) ITEMDB_RETURN_IF_ERROR(ScanPart(&entries));
    ITEMDB_RETURN_IF_ERROR(TakeView());
    ITEMDB_RETURN_IF_ERROR(ReadChangedKeys(state_.first_pinned_change - 1, *view_, &changed_filter_));
    progress_.Begin(v1::IndexBuild::PHASE_WRITING, entries.size() - skipped_);
    return WriteEntries(&entries);
  }

  // Saves the state: everything read so far is in `runs`.
  absl::Status SaveState(const SortedRuns& runs) {
    // The changes that the scan has seen must be durable: after a power cut their sequences would be given to
    // other changes.
    ITEMDB_RETURN_IF_ERROR(engine_.SyncNow());
    BuildState state = state_;
    state.runs = runs;
    state.last_view_sequence = std::max(state_.last_view_sequence, view_->change_sequence());
    state.last_read_key = last_read_key_;
    state.items_read = items_read_;
    state.items_skipped = skipped_;
    state.all_items_read = all_items_read_;
    ITEMDB_RETURN_IF_ERROR(WriteBuildState(engine_.env(), directory_, state));
    state_ = std::move(state);
    state_saved_ = true;
    return absl::OkStatus();
  }

  // Reads items in the current view, from last_read_key_ on, until the state is saved or the table ends.
  absl::Status ScanPart(RecordSorter* entries) {
    ITEMDB_RETURN_IF_ERROR(TakeView());
    ITEMDB_ASSIGN_OR_RETURN(SizeStatistics items, ReadStatistics(*view_, table_->storage_id));
    if (!began_) progress_.Begin(v1::IndexBuild::PHASE_SCANNING, items.items);
    began_ = true;
    rocksdb::ReadOptions options;
    options.snapshot = view_->snapshot();
    options.total_order_seek = true;
    options.fill_cache = false;
    options.readahead_size = kReadAheadBytes;
    KeyRange range;
    if (!last_read_key_.empty()) range.lower = last_read_key_ + '\0';
    KeyspaceIterator it(*view_->store(), ItemsOf(*view_->store(), *table_), options, range);
    state_saved_ = false;
    for (it.SeekToFirst(); it.Valid() && !state_saved_; it.Next()) {
      if (++items_read_ % kRecordsBetweenChecks == 0) {
        progress_.Done(items_read_);
        ITEMDB_RETURN_IF_ERROR(CheckForInterrupts());
      }
      ITEMDB_RETURN_IF_ERROR(AddEntry(it.key(), it.value(), entries));
      last_read_key_ = it.key();
    }
    if (!it.status().ok()) return view_->store()->ReadError("cannot read table " + table_->name, it.status());
    all_items_read_ = !it.Valid();
    return absl::OkStatus();
  }

  absl::Status AddEntry(std::string_view key, std::string_view record, RecordSorter* entries) {
    SortedEntry sorted;
    sorted.item_hash = ChangedKeyBloomFilter::Hash(key);
    std::optional<StoredRecord> stored = DecodeRecord(table_->storage_id, key, record);
    absl::StatusOr<std::optional<IndexEntry>> entry = std::nullopt;
    if (stored.has_value()) {
      entry = MakeIndexEntry(*index_, ItemView(stored->payload), key);
    } else {
      engine_.options().log->error("a damaged item gets no entry in a new index error={}",
                                   MessageOf(DamagedRecordError("table " + table_->name, key)));
    }
    if (!stored.has_value() || !entry.ok()) {
      sorted.is_skipped = true;
      ITEMDB_RETURN_IF_ERROR(entries->Add(key, sorted.Encode()));
      progress_.Skipped(++skipped_);
      return absl::OkStatus();
    }
    if (!entry->has_value()) return absl::OkStatus();
    sorted.item_size = (*entry)->item_size;
    sorted.item = (*entry)->item;
    return entries->Add((*entry)->key, sorted.Encode());
  }

  absl::Status WriteEntries(RecordSorter* entries) {
    // The commit that gave the index its storage id must be durable before the entries are: otherwise, after
    // a power cut, another index could get this id and these entries.
    ITEMDB_RETURN_IF_ERROR(engine_.SyncNow());
    rocksdb::DB* db = view_->store()->db();
    const Keyspace keyspace = EntriesOf(*view_->store(), *index_);
    rocksdb::ColumnFamilyHandle* family = keyspace.family();
    std::vector<SortedFile> files;
    std::unique_ptr<rocksdb::SstFileWriter> file;
    auto wrap = [&files](const rocksdb::Status& status) {
      return status.ok() ? absl::OkStatus() : FromRocksDB("cannot write " + files.back().path, status);
    };
    const auto finish = [&] {
      rocksdb::ExternalSstFileInfo written;
      const rocksdb::Status status = file->Finish(&written);
      files.back().checksum = written.file_checksum;
      files.back().checksum_function = written.file_checksum_func_name;
      return wrap(status);
    };
    int64_t seen = 0;
    int64_t written = 0;
    ITEMDB_RETURN_IF_ERROR(entries->ForEach([&](std::string_view key,
                                                std::string_view sorted) -> absl::Status {
      const SortedEntry entry = SortedEntry::Decode(sorted);
      written += entry.is_skipped ? 0 : 1;
      if (++seen % kRecordsBetweenChecks == 0) {
        progress_.Done(written);
        ITEMDB_RETURN_IF_ERROR(CheckForInterrupts());
      }
      const bool may_have_changed = changed_filter_.MayContain(entry.item_hash);
      if (entry.is_skipped) {
        if (!may_have_changed) return absl::OkStatus();
        progress_.Skipped(--skipped_);
        return changed_.Add(key, "");
      }
      if (may_have_changed) {
        // Not from the entry's attributes: those of a TTL index hold no key.
        const std::optional<std::string_view> base_key = BaseKeyOf(*table_, *index_, key);
        if (!base_key.has_value())
          return DamagedRecordError("the sorted entries of index " + index_->name, key);
        return changed_.Add(*base_key, "");
      }
      const std::string record = EncodeRecord(index_->storage_id, key, entry.item_size, entry.item);
      backfilled_.AddRecord(entry.item_size, ChecksumInRecord(record));
      if (file != nullptr && file->FileSize() >= kMaxFileBytes) {
        ITEMDB_RETURN_IF_ERROR(finish());
        file.reset();
      }
      if (file == nullptr) {
        files.push_back({.path = path_prefix_ + std::to_string(files.size()) + ".sst"});
        file = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(), db->GetOptions(family), family,
                                                        /*invalidate_page_cache=*/false);
        ITEMDB_RETURN_IF_ERROR(wrap(file->Open(files.back().path)));
      }
      return wrap(file->Put(keyspace.StoredKey(key), record));
    }));
    if (file == nullptr) return absl::OkStatus();  // There are no entries.
    ITEMDB_RETURN_IF_ERROR(finish());
    return IngestFiles(family, files);
  }

  // Ingests a few files at a time and waits while level 0 is full: too many files there delay writes. RocksDB
  // ingests into level 0 when the key range of another file spans the index's keys, even if it has none of
  // them.
  absl::Status IngestFiles(rocksdb::ColumnFamilyHandle* family, const std::vector<SortedFile>& files) {
    for (size_t begin = 0; begin < files.size(); begin += kFilesIngestedAtOnce) {
      const auto until = std::chrono::steady_clock::now() + kMaxLevel0Wait;
      do {
        ITEMDB_RETURN_IF_ERROR(CheckForInterrupts());
        std::string level0_files;
        (void)view_->store()->db()->GetProperty(family, rocksdb::DB::Properties::kNumFilesAtLevelPrefix + "0",
                                                &level0_files);
        if (std::atoi(level0_files.c_str()) < kMaxLevel0Files) break;
        std::this_thread::sleep_for(kLevel0PollInterval);
      } while (std::chrono::steady_clock::now() < until);
      const auto first = files.begin() + static_cast<std::ptrdiff_t>(begin);
      const size_t count = std::min(kFilesIngestedAtOnce, files.size() - begin);
      ITEMDB_RETURN_IF_ERROR(
          view_->store()->Ingest(family, {first, first + static_cast<std::ptrdiff_t>(count)}));
    }
    return absl::OkStatus();
  }

  // Step 6.
  absl::Status CatchUp() {
    ITEMDB_ASSIGN_OR_RETURN(auto later, engine_.View());
    ITEMDB_RETURN_IF_ERROR(FindBuildingIndex(later->catalog(), building_).status());
    ITEMDB_RETURN_IF_ERROR(ReadChangedKeys(view_->change_sequence(), *later, nullptr));
    progress_.Begin(v1::IndexBuild::PHASE_CATCHING_UP, changed_.size());

    std::vector<Reconciliation> items;
    size_t bytes = 0;
    int64_t done = 0;
    std::string last_key;
    ITEMDB_RETURN_IF_ERROR(changed_.ForEach([&](std::string_view key, std::string_view) -> absl::Status {
      progress_.Done(++done);
      if (key == last_key) return absl::OkStatus();
      last_key = key;
      ITEMDB_ASSIGN_OR_RETURN(std::optional<Reconciliation> item, Compare(*later, key));
      if (!item.has_value()) return absl::OkStatus();
      bytes += BytesOf(*item);
      items.push_back(*std::move(item));
      if (items.size() < kMaxReconciledItems && bytes < kMaxReconciledBytes) return absl::OkStatus();
      ITEMDB_RETURN_IF_ERROR(CheckForInterrupts());
      return Commit(std::exchange(items, {}), std::exchange(bytes, 0));
    }));
    if (!items.empty()) ITEMDB_RETURN_IF_ERROR(Commit(items, bytes));

    // Since kCatchingUp writes count their own entries. Those up to `later` are in backfilled_ too.
    ITEMDB_ASSIGN_OR_RETURN(const SizeStatistics counted_by_writes,
                            ReadStatistics(*later, index_->storage_id));
    backfilled_ -= counted_by_writes;
    return absl::OkStatus();
  }

  absl::Status Commit(const std::vector<Reconciliation>& items, size_t bytes) {
    const auto reconcile = [&](CommitGroup& group) { return Reconcile(building_, items, group); };
    return CommitAndWait(engine_, reconcile, {.size_bytes = bytes, .when_full = WhenFull::kWait}).status();
  }

  // Adds the encoded primary keys of the items that changed after `after_sequence` up to `later` to changed_
  // and, if not null, to `filter`.
  absl::Status ReadChangedKeys(uint64_t after_sequence, const ReadView& later,
                               ChangedKeyBloomFilter* filter) {
    int64_t seen = 0;
    absl::Status added;
    absl::Status walked = WalkTableChanges(
        engine_, later, table_->storage_id, after_sequence, later.change_sequence(),
        [&](const ChangeView& change, std::string_view) {
          if (++seen % kRecordsBetweenChecks == 0) added = CheckForInterrupts();
          if (!added.ok() || change.key.empty()) return added.ok();
          absl::StatusOr<std::string> encoded = EncodePrimaryKey(*table_, ItemView(change.key));
          added = encoded.ok() ? changed_.Add(*encoded, "") : encoded.status();
          if (added.ok() && filter != nullptr) filter->Add(ChangedKeyBloomFilter::Hash(*encoded));
          return added.ok();
        });
    walked.Update(added);
    return walked;
  }

  // Compares the item's entries in view_ and `later`, and counts the difference. nullopt: they are equal, so
  // the ingested entry is right.
  absl::StatusOr<std::optional<Reconciliation>> Compare(const ReadView& later, std::string_view key) {
    std::optional<std::string> old_item;
    // For a key in the filter step 4 ingested no entry.
    if (!changed_filter_.MayContain(ChangedKeyBloomFilter::Hash(key))) {
      ITEMDB_ASSIGN_OR_RETURN(old_item, Read(*view_, key));
    }
    ITEMDB_ASSIGN_OR_RETURN(std::optional<std::string> item, Read(later, key));
    bool was_skipped = false;
    bool is_skipped = false;
    std::optional<IndexEntry> old_entry = EntryOf(*index_, old_item, key, &was_skipped);
    std::optional<IndexEntry> entry = EntryOf(*index_, item, key, &is_skipped);
    skipped_ += int{is_skipped} - int{was_skipped};
    progress_.Skipped(skipped_);
    if (old_entry == entry) return std::nullopt;
    if (old_entry.has_value()) backfilled_.RemoveRecord(old_entry->item_size, ChecksumOfEntry(*old_entry));
    if (entry.has_value()) backfilled_.AddRecord(entry->item_size, ChecksumOfEntry(*entry));
    Reconciliation reconciliation;
    reconciliation.key = ItemKey(table_->storage_id, std::string(key));
    reconciliation.prefetched.item = std::move(item);
    reconciliation.prefetched.group_number = later.group_number();
    if (old_entry.has_value()) reconciliation.old_entry_key = std::move(old_entry->key);
    return reconciliation;
  }

  // nullopt also for a damaged item: it has no entry. Step 3 has logged it.
  absl::StatusOr<std::optional<std::string>> Read(const ReadView& view, std::string_view key) const {
    absl::StatusOr<Lookup> found = LookupItem(view, *table_, key, ReadTier::kDisk);
    if (absl::IsDataLoss(found.status())) return std::nullopt;
    if (!found.ok()) return found.status();
    return std::move(found->item);
  }

  Engine& engine_;
  const BuildingIndex building_;
  const std::string directory_;
  const std::string path_prefix_;
  const CancellationPtr cancellation_;
  BuildProgress& progress_;
  BuildState& state_;
  // The view that is read; from step 4 on it is V. table_ and index_ belong to it.
  std::shared_ptr<const ReadView> view_;
  std::shared_ptr<const Table> table_;
  const Index* index_ = nullptr;
  // The progress of step 3; SaveState() copies it to state_.
  std::string last_read_key_;
  int64_t items_read_;
  bool all_items_read_;
  bool began_ = false;
  bool state_saved_ = false;
  // Items that cannot be in the index.
  int64_t skipped_;
  // Items that changed between the first view and V: they may have been read before or after the change.
  ChangedKeyBloomFilter changed_filter_;
  // The keys of the items that step 6 must compare.
  RecordSorter changed_;
  // Size statistics of the entries that the backfill made, without those that writes count themselves.
  SizeStatistics backfilled_;
};

}  // namespace

absl::Status BackfillIndex(Engine& engine, const BuildingIndex& building, const std::string& directory,
                           CancellationPtr cancellation, BuildProgress& progress, BuildState* state) {
  return Backfill(engine, building, directory, std::move(cancellation), progress, state).Run();
}

}  // namespace itemdb::storage
