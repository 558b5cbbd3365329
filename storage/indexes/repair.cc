#include "storage/indexes/repair.h"

#include "storage/engine/commit_and_wait.h"
#include "storage/keys/key_codec.h"
#include "storage/schema/table_changes.h"

namespace itemdb {
namespace {

// Mended by one unit of the commit pipeline: a few milliseconds during which writes wait.
constexpr size_t kMendedAtOnce = 256;

}  // namespace

void Repair::Mend(CommitGroup& group) {
  auto table = group.catalog()->Find(table_.name);
  // Deleted meanwhile: nothing is left to be mended.
  if (!table.ok() || (*table)->storage_id != table_.storage_id) return;
  for (const WrongEntry& wrong : entries_) MendEntry(**table, wrong, group);
  for (const WrongCount& wrong : counts_) {
    const bool there =
        wrong.storage_id == table_.storage_id || (*table)->FindIndexByStorageId(wrong.storage_id) != nullptr;
    if (!there) continue;
    group.counters().Add(wrong.storage_id, wrong.change.items, wrong.change.bytes);
  }
  for (const WrongCollection& wrong : collections_) MendCollection(**table, wrong, group);
}

void Repair::MendEntry(const Table& table, const WrongEntry& wrong, CommitGroup& group) {
  const Index* index = table.FindIndexByStorageId(wrong.index_storage_id);
  if (index == nullptr) return;
  std::optional<IndexEntry> entry;
  if (auto base_key = BaseKeyOf(table, *index, wrong.key); base_key.has_value()) {
    const ItemKey key(table.storage_id, std::string(*base_key));
    const CarriedRead nothing_carried;
    auto item = group.CurrentItem(table, key, nothing_carried);
    // Without the item nobody can tell; its damage is a finding of its own.
    if (!item.ok()) {
      ++left_;
      return;
    }
    if (item->has_value()) {
      auto made = MakeIndexEntry(*index, ItemView(**item), key.encoded);
      if (made.ok()) entry = *std::move(made);
    }
    group.ForgetReads();
  }
  if (entry.has_value() && entry->key == wrong.key) {
    group.PutEntry(*index, entry->key, entry->item, entry->item_size);
  } else {
    group.DeleteEntry(*index, wrong.key);
  }
}

void Repair::MendCollection(const Table& table, const WrongCollection& wrong, CommitGroup& group) {
  const ItemKey key(table.storage_id, wrong.key.substr(CollectionsPrefix(table.storage_id).size()));
  absl::StatusOr<Counters> now = group.counters().FindCollection(table.storage_id, key);
  if (now.ok() && wrong.stored.has_value()) {
    group.counters().AddToCollection(
        table.storage_id, key,
        {wrong.counted.items - wrong.stored->items, wrong.counted.bytes - wrong.stored->bytes});
  } else if (absl::IsDataLoss(now.status())) {
    // While its record is damaged nothing in the collection can be written: it is as it was counted.
    group.counters().SetCollection(table.storage_id, key, wrong.counted);
  } else {
    ++left_;
  }
}

void Repair::Entry(const Index& index, std::string_view key) {
  entries_.push_back({index.storage_id, std::string(key)});
  CommitSome();
}

void Repair::Expected(const Index& index, const Counters& expected) { Count(index.storage_id, expected); }

void Repair::TableCount(const Counters& counted) { Count(table_.storage_id, counted); }

void Repair::Count(uint64_t storage_id, const Counters& counted) {
  absl::StatusOr<Counters> stored = ReadCounters(view_, storage_id);
  if (!stored.ok()) {
    if (status_.ok()) status_ = stored.status();
  } else if (*stored != counted) {
    counts_.push_back({storage_id, {counted.items - stored->items, counted.bytes - stored->bytes}});
  }
}

void Repair::Collection(std::string_view key, const Counters& counted) {
  rocksdb::ReadOptions options;
  options.snapshot = view_.snapshot();
  WrongCollection wrong{std::string(key), counted, std::nullopt};
  if (auto stored = ReadCounters(*view_.store(), options, table_.storage_id, key); stored.ok())
    wrong.stored = *stored;
  collections_.push_back(std::move(wrong));
  CommitSome();
}

void Repair::CommitSome() {
  if (entries_.size() + collections_.size() < kMendedAtOnce || !status_.ok()) return;
  status_ = Finish();
}

absl::Status Repair::Finish() {
  ITEMDB_RETURN_IF_ERROR(status_);
  if (entries_.empty() && counts_.empty() && collections_.empty()) return absl::OkStatus();
  const auto mend = [this](CommitGroup& group) {
    Mend(group);
    return absl::OkStatus();
  };
  const absl::Status mended = CommitAndWait(engine_, mend, {.when_full = WhenFull::kWait}).status();
  entries_.clear();
  counts_.clear();
  collections_.clear();
  return mended;
}

Differences Repairing(const Differences& report, const Table& table, Repair& repair) {
  Differences both = report;
  both.damaged_entry = [&](const Index& index, std::string_view key) {
    report.damaged_entry(index, key);
    repair.Entry(index, key);
  };
  both.missing = [&](const Index& index, const IndexEntry& entry, bool stale) {
    report.missing(index, entry, stale);
    repair.Entry(index, entry.key);
  };
  both.orphaned = [&](const Index& index, std::string_view key) {
    report.orphaned(index, key);
    repair.Entry(index, key);
  };
  both.expected = [&](const Index& index, const Counters& expected) { repair.Expected(index, expected); };
  both.miscounted = [&](const std::string& owner, uint64_t storage_id, const Counters& counted,
                        const Counters& stored) {
    report.miscounted(owner, storage_id, counted, stored);
    if (storage_id == table.storage_id) repair.TableCount(counted);
  };
  both.wrong_collection = [&](const Table& owner, std::string_view key, const Counters& counted) {
    report.wrong_collection(owner, key, counted);
    repair.Collection(key, counted);
  };
  return both;
}

}  // namespace itemdb
