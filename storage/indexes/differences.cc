#include "storage/indexes/differences.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "storage/base/xxh3.h"
#include "storage/keys/key_codec.h"
#include "storage/schema/table_changes.h"
#include "storage/values/item_size.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

// Records that are visited between two calls of CheckForInterrupts.
constexpr int64_t kVisitsBetweenChecks = 64;

// The payload of the record under `key`; nullopt when there is none or it does not decode.
absl::StatusOr<std::optional<std::string>> FindPayload(const ReadView& view, const Keyspace& keyspace,
                                                       std::string_view key) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  options.fill_cache = false;
  rocksdb::PinnableSlice record;
  const rocksdb::Status status = GetRecord(*view.store(), keyspace, options, key, &record);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok())
    return view.store()->ReadError("cannot read column family " + keyspace.family()->GetName(), status,
                                   DamageMetBy::kCheck);
  std::optional<StoredRecord> stored = DecodeRecord(keyspace.storage_id(), key, ToView(record));
  if (!stored.has_value()) return std::nullopt;
  return std::string(stored->payload);
}

absl::Status CompareStatistics(const ReadView& view, const std::string& owner, uint64_t storage_id,
                               const SizeStatistics& counted, const Differences& differences) {
  ITEMDB_ASSIGN_OR_RETURN(const SizeStatistics stored, ReadStatistics(view, storage_id));
  if (!stored.Matches(counted)) differences.miscounted(owner, storage_id, counted, stored);
  return absl::OkStatus();
}

// Counts each item collection while its items are visited in key order; compares the count with its record.
class CollectionCount {
 public:
  CollectionCount(const Walk& walk, const Table& table, const Differences& differences)
      : walk_(walk), table_(table), differences_(differences) {
    options_.snapshot = walk.view.snapshot();
  }

  void AddItem(std::string_view item_key, size_t item_size) {
    if (!table_.has_local_indexes) return;
    std::string key = CollectionKey(table_.storage_id, item_key);
    if (key != key_) {
      CompareLast();
      key_ = std::move(key);
      counted_ = SizeStatistics();
    }
    ++counted_.items;
    counted_.bytes += static_cast<int64_t>(item_size);
  }
  // Adds an entry of the item that was added last.
  void AddEntry(const Index& index, const IndexEntry& entry) {
    if (index.local) counted_.bytes += static_cast<int64_t>(entry.item_size);
  }
  // Must be called after the last item.
  absl::Status Finish() {
    if (!table_.has_local_indexes) return absl::OkStatus();
    CompareLast();
    ITEMDB_RETURN_IF_ERROR(status_);
    // Finds records of item collections without items.
    const std::string prefix = CollectionsPrefix(table_.storage_id);
    options_.total_order_seek = true;
    KeyspaceIterator items(*walk_.view.store(), ItemsOf(*walk_.view.store(), table_), options_);
    absl::Status read;
    auto visit = [&](std::string_view key, std::string_view) {
      std::string_view partition_key = key.substr(prefix.size());
      items.Seek(partition_key);
      bool has_items = items.Valid() && items.key().starts_with(partition_key);
      if (!has_items && items.status().ok()) differences_.wrong_collection(table_, key, SizeStatistics());
      if (!items.status().ok())
        read.Update(walk_.view.store()->ReadError("cannot read table " + table_.name, items.status(),
                                                  DamageMetBy::kCheck));
    };
    ITEMDB_RETURN_IF_ERROR(
        ForEachRecord(walk_.Uncounted(), Keyspace(walk_.view.store()->stats()), visit, prefix));
    return walk_.GoesOnAfter(read) ? absl::OkStatus() : read;
  }

 private:
  void CompareLast() {
    if (key_.empty()) return;
    absl::StatusOr<SizeStatistics> stored =
        ReadStatistics(*walk_.view.store(), options_, table_.storage_id, key_);
    if (!stored.ok() && !absl::IsDataLoss(stored.status())) status_ = stored.status();
    if (!stored.ok() || *stored != counted_) differences_.wrong_collection(table_, key_, counted_);
  }

  const Walk& walk_;
  const Table& table_;
  const Differences& differences_;
  rocksdb::ReadOptions options_;
  // The collection being counted.
  std::string key_;
  SizeStatistics counted_;
  absl::Status status_;
};

bool IsChecked(const Index& index, const Index* only_index) {
  return index.state == IndexState::kActive && (only_index == nullptr || only_index == &index);
}

// For one index: the sum of the checksums of all entries that the items should have, minus that of all stored
// entries, in buckets by the hash of the entry's key. If the sum of a bucket is 0, all its entries are right.
// So entries and items are read only once, in key order; entries are looked up one by one only in buckets
// that are not 0.
class EntrySums {
 public:
  void Add(std::string_view key, uint64_t checksum) { buckets_[BucketOf(key)] += checksum; }
  void Subtract(std::string_view key, uint64_t checksum) { buckets_[BucketOf(key)] -= checksum; }

  bool Differ() const {
    return std::any_of(buckets_.begin(), buckets_.end(), [](uint64_t sum) { return sum != 0; });
  }
  bool DifferAt(std::string_view key) const { return buckets_[BucketOf(key)] != 0; }

 private:
  static constexpr size_t kBuckets = 4096;

  static size_t BucketOf(std::string_view key) { return XXH3_64bits(key.data(), key.size()) % kBuckets; }

  std::vector<uint64_t> buckets_ = std::vector<uint64_t>(kBuckets);
};

// Reports to `differences` when `entry` is missing or stale.
absl::Status FindEntry(const Walk& walk, const Index& index, const IndexEntry& entry,
                       const Differences& differences) {
  const absl::StatusOr<std::optional<std::string>> payload =
      FindPayload(walk.view, EntriesOf(*walk.view.store(), index), entry.key);
  if (!payload.ok()) return walk.GoesOnAfter(payload.status()) ? absl::OkStatus() : payload.status();
  if (*payload != entry.item) differences.missing(index, entry, payload->has_value());
  return absl::OkStatus();
}

// Reports to `differences` when the entry of `index` under `key` belongs to no item.
absl::Status FindOwner(const Walk& walk, const Table& table, const Index& index, std::string_view key,
                       const Differences& differences) {
  const std::optional<std::string_view> base_key = BaseKeyOf(table, index, key);
  absl::StatusOr<std::optional<std::string>> read = std::nullopt;
  if (base_key.has_value()) read = FindPayload(walk.view, ItemsOf(*walk.view.store(), table), *base_key);
  // The entry of an item that cannot be read stays.
  if (!read.ok()) return walk.GoesOnAfter(read.status()) ? absl::OkStatus() : read.status();
  const std::optional<std::string>& item = *read;
  bool is_its_entry = false;
  if (item.has_value()) {
    auto expected = MakeIndexEntry(index, ItemView(*item), *base_key);
    is_its_entry = expected.ok() && expected->has_value() && (*expected)->key == key;
  }
  if (!is_its_entry) differences.orphaned(index, key);
  return absl::OkStatus();
}

bool HasKey(const Table& table, const ItemView& item, std::string_view key) {
  const auto own_key = EncodePrimaryKey(table, item);
  return own_key.ok() && *own_key == key;
}

// Counts the item under `key` and the entries that it should have. Reports a damaged item to `differences`.
void VisitItem(const Table& table, const Index* only_index, std::string_view key, std::string_view record,
               const Differences& differences, Checked* checked, const ItemCount& count) {
  auto damaged = [&](const std::string& what) { differences.damaged("table " + table.name, key, what); };
  ++checked->items;
  std::optional<StoredRecord> stored = DecodeRecord(table.storage_id, key, record);
  if (!stored.has_value()) return damaged("the record does not decode");
  ItemView item(stored->payload);
  count.item(key, *stored);
  if (!HasKey(table, item, key)) return damaged("the key is not that of the item");
  if (ItemSizeBytes(item) != stored->item_size) damaged("the recorded item size is wrong");
  for (size_t i = 0; i < table.indexes.size(); ++i) {
    if (!IsChecked(table.indexes[i], only_index)) continue;
    auto entry = MakeIndexEntry(table.indexes[i], item, key);
    if (!entry.ok()) {
      ++checked->skipped_items;
    } else if (entry->has_value()) {
      count.entry(i, **entry);
    }
  }
}

// Counts the entry under `key` and returns its record. Reports to `differences` if it does not decode:
// nullopt.
std::optional<StoredRecord> VisitEntry(const Index& index, std::string_view key, std::string_view record,
                                       const Differences& differences, Checked* checked,
                                       SizeStatistics* counted) {
  ++checked->entries;
  const std::optional<StoredRecord> stored = DecodeRecord(index.storage_id, key, record);
  if (!stored.has_value()) {
    differences.damaged_entry(index, key);
    return std::nullopt;
  }
  counted->AddRecord(stored->item_size, stored->checksum);
  return stored;
}

// Counts the items, their entries and item collections, and adds the expected entries to `sums`.
absl::Status SumItems(const Walk& walk, const Table& table, const Index* only_index,
                      const Differences& differences, Checked* checked, std::vector<EntrySums>* sums) {
  SizeStatistics counted;
  std::vector<SizeStatistics> expected(table.indexes.size());
  CollectionCount collections(walk, table, differences);
  auto count_item = [&](std::string_view key, const StoredRecord& stored) {
    counted.AddRecord(stored.item_size, stored.checksum);
    // Not with only_index: the size of an item collection includes the entries of all local indexes.
    if (only_index == nullptr) collections.AddItem(key, stored.item_size);
  };
  auto count_entry = [&](size_t index, const IndexEntry& entry) {
    if (only_index == nullptr) collections.AddEntry(table.indexes[index], entry);
    const uint64_t checksum =
        RecordChecksum(table.indexes[index].storage_id, entry.key, entry.item_size, entry.item);
    (*sums)[index].Add(entry.key, checksum);
    expected[index].AddRecord(entry.item_size, checksum);
  };
  ITEMDB_RETURN_IF_ERROR(ForEachRecord(
      walk, ItemsOf(*walk.view.store(), table), [&](std::string_view key, std::string_view record) {
        VisitItem(table, only_index, key, record, differences, checked, {count_item, count_entry});
      }));
  for (size_t i = 0; i < table.indexes.size(); ++i) {
    if (IsChecked(table.indexes[i], only_index))
      differences.expected(table.indexes[i].storage_id, expected[i]);
  }
  if (only_index != nullptr) return absl::OkStatus();
  ITEMDB_RETURN_IF_ERROR(collections.Finish());
  differences.expected(table.storage_id, counted);
  return CompareStatistics(walk.view, "table " + table.name, table.storage_id, counted, differences);
}

// Counts the entries of an index and subtracts them from `sums`.
absl::Status SumEntries(const Walk& walk, const Table& table, const Index& index,
                        const Differences& differences, Checked* checked, EntrySums* sums) {
  SizeStatistics counted;
  ITEMDB_RETURN_IF_ERROR(ForEachRecord(
      walk, EntriesOf(*walk.view.store(), index), [&](std::string_view key, std::string_view record) {
        const auto entry = VisitEntry(index, key, record, differences, checked, &counted);
        if (entry.has_value()) sums->Subtract(key, entry->checksum);
      }));
  return CompareStatistics(walk.view, "index " + index.name + " of table " + table.name, index.storage_id,
                           counted, differences);
}

// Adds the records of a table or index, which are visited a second time, to the total of the progress.
absl::Status ExpectAgain(const Walk& walk, uint64_t storage_id) {
  if (walk.figures == nullptr) return absl::OkStatus();
  ITEMDB_ASSIGN_OR_RETURN(SizeStatistics size_statistics, ReadStatistics(walk.view, storage_id));
  walk.figures->total += size_statistics.items;
  return absl::OkStatus();
}

// For all buckets that differ: looks up the item of each entry, and the entries of each item.
absl::Status CompareBuckets(const Walk& walk, const Table& table, const Index* only_index,
                            const Differences& differences, const std::vector<EntrySums>& sums) {
  absl::Status failed;
  std::vector<const Index*> differing;
  for (size_t i = 0; i < table.indexes.size(); ++i) {
    const Index& index = table.indexes[i];
    if (!IsChecked(index, only_index) || !sums[i].Differ()) continue;
    differing.push_back(&index);
    ITEMDB_RETURN_IF_ERROR(ExpectAgain(walk, index.storage_id));
    ITEMDB_RETURN_IF_ERROR(ForEachRecord(
        walk, EntriesOf(*walk.view.store(), index), [&](std::string_view key, std::string_view record) {
          if (!sums[i].DifferAt(key) || !DecodeRecord(index.storage_id, key, record).has_value()) return;
          failed.Update(FindOwner(walk, table, index, key, differences));
        }));
  }
  if (differing.empty()) return failed;
  ITEMDB_RETURN_IF_ERROR(ExpectAgain(walk, table.storage_id));
  ITEMDB_RETURN_IF_ERROR(ForEachRecord(
      walk, ItemsOf(*walk.view.store(), table), [&](std::string_view key, std::string_view record) {
        const std::optional<StoredRecord> stored = DecodeRecord(table.storage_id, key, record);
        if (!stored.has_value() || !HasKey(table, ItemView(stored->payload), key)) return;
        for (const Index* index : differing) {
          auto entry = MakeIndexEntry(*index, ItemView(stored->payload), key);
          if (entry.ok() && entry->has_value() && sums[index - table.indexes.data()].DifferAt((*entry)->key))
            failed.Update(FindEntry(walk, *index, **entry, differences));
        }
      }));
  return failed;
}

}  // namespace

absl::Status Walk::CheckForInterrupts() const {
  if (engine.IsFailed()) {
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                     "the check was stopped: a write failed and the database is reopening", 1000);
  }
  return CheckNotCancelled(cancellation);
}

std::string Hex(std::string_view key) {
  return absl::BytesToHexString(absl::string_view(key.data(), key.size()));
}

absl::Status ForEachRecord(const Walk& walk, const Keyspace& keyspace,
                           const std::function<void(std::string_view key, std::string_view record)>& visit,
                           std::string_view prefix) {
  rocksdb::ReadOptions options;
  options.snapshot = walk.view.snapshot();
  options.total_order_seek = true;
  options.fill_cache = false;
  KeyspaceIterator it(*walk.view.store(), keyspace, options, {std::string(prefix), PrefixSuccessor(prefix)});
  int64_t visited = 0;
  std::string last(prefix);
  it.SeekToFirst();
  absl::Status status;
  do {
    for (; it.Valid(); it.Next()) {
      visit(it.key(), it.value());
      if (walk.damaged_after != nullptr) last.assign(it.key());
      if (++visited % kVisitsBetweenChecks != 0) continue;
      if (walk.figures != nullptr) walk.figures->done += kVisitsBetweenChecks;
      ITEMDB_RETURN_IF_ERROR(walk.CheckForInterrupts());
    }
    if (it.status().ok()) return absl::OkStatus();
    if (walk.damaged_after != nullptr) walk.damaged_after->insert(keyspace.StoredKey(last));
    // Registers the damage.
    status = walk.view.store()->ReadError("cannot read column family " + keyspace.family()->GetName(),
                                          it.status(), DamageMetBy::kCheck);
  } while (walk.damaged_after != nullptr && it.StepPastDamage(last));
  return walk.GoesOnAfter(status) ? absl::OkStatus() : status;
}

absl::Status CompareItem(const Walk& walk, const Table& table, const Index* only_index, std::string_view key,
                         std::string_view record, const Differences& differences, Checked* checked,
                         const ItemCount& count) {
  absl::Status failed;
  auto find_entry = [&](size_t index, const IndexEntry& entry) {
    count.entry(index, entry);
    failed.Update(FindEntry(walk, table.indexes[index], entry, differences));
  };
  VisitItem(table, only_index, key, record, differences, checked, {count.item, find_entry});
  return failed;
}

absl::Status CompareEntry(const Walk& walk, const Table& table, const Index& index, std::string_view key,
                          std::string_view record, const Differences& differences, Checked* checked,
                          SizeStatistics* counted) {
  if (!VisitEntry(index, key, record, differences, checked, counted).has_value()) return absl::OkStatus();
  return FindOwner(walk, table, index, key, differences);
}

absl::StatusOr<int64_t> ForSomeRecords(
    const Walk& walk, const Keyspace& keyspace, int64_t limit, std::string* from, absl::Status* damage,
    absl::FunctionRef<void(std::string_view key, std::string_view record)> visit) {
  rocksdb::ReadOptions options;
  options.snapshot = walk.view.snapshot();
  options.total_order_seek = true;
  options.fill_cache = false;
  KeyspaceIterator it(*walk.view.store(), keyspace, options);
  int64_t visited = 0;
  absl::Status status;
  it.Seek(*from);
  do {
    for (; it.Valid() && visited < limit; it.Next()) {
      visit(it.key(), it.value());
      if (++visited % kVisitsBetweenChecks == 0) ITEMDB_RETURN_IF_ERROR(walk.CheckForInterrupts());
      // The smallest possible key after this one.
      from->assign(it.key());
      from->push_back('\0');
    }
    // Damage behind the last of these records is met by the next call.
    if (visited == limit || it.status().ok()) return visited;
    // Registers the damage.
    status = walk.view.store()->ReadError("cannot read column family " + keyspace.family()->GetName(),
                                          it.status(), DamageMetBy::kCheck);
    if (absl::IsDataLoss(status)) damage->Update(status);
  } while (it.StepPastDamage(*from));
  if (absl::IsDataLoss(status) && it.status().IsCorruption()) return visited;
  return status;
}

absl::Status CompareTable(const Walk& walk, const Table& table, const Index* only_index,
                          const Differences& differences, Checked* checked) {
  std::vector<EntrySums> sums(table.indexes.size());
  for (size_t i = 0; i < table.indexes.size(); ++i) {
    if (!IsChecked(table.indexes[i], only_index)) continue;
    ITEMDB_RETURN_IF_ERROR(SumEntries(walk, table, table.indexes[i], differences, checked, &sums[i]));
  }
  ITEMDB_RETURN_IF_ERROR(SumItems(walk, table, only_index, differences, checked, &sums));
  return CompareBuckets(walk, table, only_index, differences, sums);
}

}  // namespace itemdb::storage
