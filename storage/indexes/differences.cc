#include "storage/indexes/differences.h"

#include "absl/strings/escaping.h"
#include "storage/engine/table_changes.h"
#include "storage/keys/key_codec.h"
#include "storage/values/item_size.h"
#include "storage/values/stored_record.h"

namespace itemdb {
namespace {

// Records visited between two looks at whether to stop.
constexpr int64_t kVisitsBetweenLooks = 64;

// The stored record under `key`; nothing when there is none or it does not decode.
absl::StatusOr<std::optional<std::string>> FindPayload(const ReadView& view, const Keyspace& keyspace,
                                                       std::string_view key) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  rocksdb::PinnableSlice record;
  const rocksdb::Status status = GetRecord(*view.store(), keyspace, options, key, &record);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return FromRocksDB("cannot read column family " + keyspace.family()->GetName(), status);
  std::optional<StoredRecord> stored = DecodeRecord(keyspace.storage_id(), key, ToView(record));
  if (!stored.has_value()) return std::nullopt;
  return std::string(stored->payload);
}

absl::Status CompareCounters(const ReadView& view, const std::string& owner, uint64_t storage_id,
                             const Counters& counted, const Differences& differences) {
  ITEMDB_ASSIGN_OR_RETURN(Counters stored, ReadCounters(view, storage_id));
  if (stored.items != counted.items || stored.bytes != counted.bytes) {
    differences.miscounted(owner, storage_id, counted, stored);
  }
  return absl::OkStatus();
}

// Counts item collections as their items are visited, in key order, and compares each with its record.
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
      counted_ = Counters();
    }
    ++counted_.items;
    counted_.bytes += static_cast<int64_t>(item_size);
  }
  // Of the item added last.
  void AddEntry(const Index& index, const IndexEntry& entry) {
    if (index.local) counted_.bytes += static_cast<int64_t>(entry.item_size);
  }
  // After all items.
  absl::Status Finish() {
    if (!table_.has_local_indexes) return absl::OkStatus();
    CompareLast();
    ITEMDB_RETURN_IF_ERROR(status_);
    // A record whose collection has no items would not be met above.
    const std::string prefix = CollectionsPrefix(table_.storage_id);
    options_.total_order_seek = true;
    KeyspaceIterator items(*walk_.view.store(), ItemsOf(*walk_.view.store(), table_), options_);
    auto visit = [&](std::string_view key, std::string_view) {
      std::string_view partition_key = key.substr(prefix.size());
      items.Seek(partition_key);
      bool has_items = items.Valid() && items.key().starts_with(partition_key);
      if (!has_items && items.status().ok()) differences_.wrong_collection(table_, key, Counters());
    };
    ITEMDB_RETURN_IF_ERROR(ForEachRecord(walk_, Keyspace(walk_.view.store()->stats()), visit, prefix));
    if (!items.status().ok()) return FromRocksDB("cannot read table " + table_.name, items.status());
    return absl::OkStatus();
  }

 private:
  void CompareLast() {
    if (key_.empty()) return;
    absl::StatusOr<Counters> stored = ReadCounters(*walk_.view.store(), options_, table_.storage_id, key_);
    if (!stored.ok() && !absl::IsDataLoss(stored.status())) status_ = stored.status();
    if (!stored.ok() || *stored != counted_) differences_.wrong_collection(table_, key_, counted_);
  }

  const Walk& walk_;
  const Table& table_;
  const Differences& differences_;
  rocksdb::ReadOptions options_;
  // The collection being counted.
  std::string key_;
  Counters counted_;
  absl::Status status_;
};

bool IsChecked(const Index& index, const Index* only_index) {
  return index.state == IndexState::kActive && (only_index == nullptr || only_index == &index);
}

// From the items to their entries and collections.
absl::Status CompareItems(const Walk& walk, const Table& table, const Index* only_index,
                          const Differences& differences, Checked* checked) {
  Counters counted;
  std::vector<Counters> expected(table.indexes.size());
  CollectionCount collections(walk, table, differences);
  absl::Status failed;
  auto count_item = [&](std::string_view key, size_t item_size) {
    ++counted.items;
    counted.bytes += static_cast<int64_t>(item_size);
    collections.AddItem(key, item_size);
  };
  auto count_entry = [&](size_t index, const IndexEntry& entry) {
    collections.AddEntry(table.indexes[index], entry);
    ++expected[index].items;
    expected[index].bytes += static_cast<int64_t>(entry.item_size);
  };
  ITEMDB_RETURN_IF_ERROR(ForEachRecord(
      walk, ItemsOf(*walk.view.store(), table), [&](std::string_view key, std::string_view record) {
        failed.Update(CompareItem(walk, table, only_index, key, record, differences, checked,
                                  {count_item, count_entry}));
      }));
  ITEMDB_RETURN_IF_ERROR(failed);
  for (size_t i = 0; i < table.indexes.size(); ++i) {
    if (IsChecked(table.indexes[i], only_index)) differences.expected(table.indexes[i], expected[i]);
  }
  if (only_index != nullptr) return absl::OkStatus();
  ITEMDB_RETURN_IF_ERROR(collections.Finish());
  return CompareCounters(walk.view, "table " + table.name, table.storage_id, counted, differences);
}

// From an index's entries to their items.
absl::Status CompareEntries(const Walk& walk, const Table& table, const Index& index,
                            const Differences& differences, Checked* checked) {
  absl::Status failed;
  Counters counted;
  ITEMDB_RETURN_IF_ERROR(ForEachRecord(
      walk, EntriesOf(*walk.view.store(), index), [&](std::string_view key, std::string_view record) {
        failed.Update(CompareEntry(walk, table, index, key, record, differences, checked, &counted));
      }));
  ITEMDB_RETURN_IF_ERROR(failed);
  return CompareCounters(walk.view, "index " + index.name + " of table " + table.name, index.storage_id,
                         counted, differences);
}

}  // namespace

absl::Status Walk::CheckGoesOn() const {
  if (engine.IsFailed()) {
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                     "the check was stopped: a write failed and the database is reopening", 1000);
  }
  return CheckWanted(cancellation);
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
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    visit(it.key(), it.value());
    if (++visited % kVisitsBetweenLooks != 0) continue;
    if (walk.visited != nullptr) *walk.visited += kVisitsBetweenLooks;
    ITEMDB_RETURN_IF_ERROR(walk.CheckGoesOn());
  }
  if (!it.status().ok())
    return FromRocksDB("cannot read column family " + keyspace.family()->GetName(), it.status());
  return absl::OkStatus();
}

absl::Status CompareItem(const Walk& walk, const Table& table, const Index* only_index, std::string_view key,
                         std::string_view record, const Differences& differences, Checked* checked,
                         const ItemCount& count) {
  const std::string owner = "table " + table.name;
  ++checked->items;
  std::optional<StoredRecord> stored = DecodeRecord(table.storage_id, key, record);
  if (!stored.has_value()) {
    differences.damaged(owner, key, "the record does not decode");
    return absl::OkStatus();
  }
  ItemView item(stored->payload);
  count.item(key, stored->item_size);
  auto own_key = EncodePrimaryKey(table, item);
  if (!own_key.ok() || *own_key != key) {
    differences.damaged(owner, key, "the key is not that of the item");
    return absl::OkStatus();
  }
  if (ItemSizeBytes(item) != stored->item_size)
    differences.damaged(owner, key, "the recorded item size is wrong");
  for (size_t i = 0; i < table.indexes.size(); ++i) {
    const Index& index = table.indexes[i];
    if (!IsChecked(index, only_index)) continue;
    auto entry = MakeIndexEntry(index, item, key);
    if (!entry.ok()) {
      ++checked->skipped_items;
    } else if (entry->has_value()) {
      count.entry(i, **entry);
      ITEMDB_ASSIGN_OR_RETURN(std::optional<std::string> payload,
                              FindPayload(walk.view, EntriesOf(*walk.view.store(), index), (*entry)->key));
      if (payload != (*entry)->item) differences.missing(index, **entry, payload.has_value());
    }
  }
  return absl::OkStatus();
}

absl::Status CompareEntry(const Walk& walk, const Table& table, const Index& index, std::string_view key,
                          std::string_view record, const Differences& differences, Checked* checked,
                          Counters* counted) {
  ++checked->entries;
  std::optional<StoredRecord> stored = DecodeRecord(index.storage_id, key, record);
  if (!stored.has_value()) {
    differences.damaged_entry(index, key);
    return absl::OkStatus();
  }
  ++counted->items;
  counted->bytes += static_cast<int64_t>(stored->item_size);
  const std::optional<std::string_view> base_key = BaseKeyOf(table, index, key);
  std::optional<std::string> item;
  if (base_key.has_value()) {
    ITEMDB_ASSIGN_OR_RETURN(item, FindPayload(walk.view, ItemsOf(*walk.view.store(), table), *base_key));
  }
  bool is_its_entry = false;
  if (item.has_value()) {
    auto expected = MakeIndexEntry(index, ItemView(*item), *base_key);
    is_its_entry = expected.ok() && expected->has_value() && (*expected)->key == key;
  }
  if (!is_its_entry) differences.orphaned(index, key);
  return absl::OkStatus();
}

absl::StatusOr<int64_t> ForSomeRecords(
    const Walk& walk, const Keyspace& keyspace, int64_t limit, std::string* from,
    absl::FunctionRef<void(std::string_view key, std::string_view record)> visit) {
  rocksdb::ReadOptions options;
  options.snapshot = walk.view.snapshot();
  options.total_order_seek = true;
  options.fill_cache = false;
  KeyspaceIterator it(*walk.view.store(), keyspace, options);
  int64_t visited = 0;
  for (it.Seek(*from); it.Valid() && visited < limit; it.Next()) {
    visit(it.key(), it.value());
    if (++visited % kVisitsBetweenLooks == 0) ITEMDB_RETURN_IF_ERROR(walk.CheckGoesOn());
    // The next key there can be.
    from->assign(it.key());
    from->push_back('\0');
  }
  if (!it.status().ok())
    return FromRocksDB("cannot read column family " + keyspace.family()->GetName(), it.status());
  return visited;
}

absl::Status CompareTable(const Walk& walk, const Table& table, const Index* only_index,
                          const Differences& differences, Checked* checked) {
  for (const Index& index : table.indexes) {
    if (!IsChecked(index, only_index)) continue;
    ITEMDB_RETURN_IF_ERROR(CompareEntries(walk, table, index, differences, checked));
  }
  return CompareItems(walk, table, only_index, differences, checked);
}

}  // namespace itemdb
