#include "storage/indexes/repair.h"

#include "storage/engine/commit_and_wait.h"
#include "storage/keys/key_codec.h"
#include "storage/schema/table_changes.h"

namespace itemdb::storage {
namespace {

// Differences that one unit of the commit pipeline corrects: other writes wait a few milliseconds for it.
constexpr size_t kRepairedAtOnce = 256;

}  // namespace

void Repair::Reconcile(CommitGroup& group) {
  auto table = group.catalog()->Find(table_.name);
  // The table was deleted meanwhile: nothing is left to correct.
  if (!table.ok() || (*table)->storage_id != table_.storage_id) return;
  for (const WrongEntry& wrong : entries_) ReconcileEntry(**table, wrong, group);
  for (const WrongCount& wrong : counts_) {
    const bool there =
        wrong.storage_id == table_.storage_id || (*table)->FindIndexByStorageId(wrong.storage_id) != nullptr;
    if (!there) continue;
    group.size_statistics().Correct(wrong.storage_id, wrong.stored, wrong.error);
  }
  for (const WrongCollection& wrong : collections_) ReconcileCollection(**table, wrong, group);
}

void Repair::ReconcileEntry(const Table& table, const WrongEntry& wrong, CommitGroup& group) {
  const Index* index = table.FindIndexByStorageId(wrong.index_storage_id);
  if (index == nullptr) return;
  std::optional<IndexEntry> entry;
  if (auto base_key = BaseKeyOf(table, *index, wrong.key); base_key.has_value()) {
    const ItemKey key(table.storage_id, std::string(*base_key));
    const PrefetchedRead nothing_prefetched;
    auto item = group.CurrentItem(table, key, nothing_prefetched);
    // The item is damaged, so the right entry is not known. The damaged item is a finding of its own.
    if (!item.ok()) {
      ++left_;
      return;
    }
    if (item->has_value()) {
      auto made = MakeIndexEntry(*index, ItemView(**item), key.encoded);
      if (made.ok()) entry = *std::move(made);
    }
    group.ReleaseReads();
  }
  if (entry.has_value() && entry->key == wrong.key) {
    group.PutEntry(*index, entry->key, entry->item, entry->item_size);
  } else {
    group.DeleteEntry(*index, wrong.key);
  }
}

void Repair::ReconcileCollection(const Table& table, const WrongCollection& wrong, CommitGroup& group) {
  const ItemKey key(table.storage_id, wrong.key.substr(CollectionsPrefix(table.storage_id).size()));
  absl::StatusOr<SizeStatistics> now = group.size_statistics().FindCollection(table.storage_id, key);
  if (now.ok() && wrong.stored.has_value()) {
    SizeStatistics error = wrong.counted;
    group.size_statistics().AddToCollection(table.storage_id, key, error -= *wrong.stored);
  } else if (absl::IsDataLoss(now.status())) {
    // While the record is damaged every write to the collection is refused, so the count is still right.
    group.size_statistics().SetCollection(table.storage_id, key, wrong.counted);
  } else {
    ++left_;
  }
}

void Repair::Entry(const Index& index, std::string_view key) {
  entries_.push_back({index.storage_id, std::string(key)});
  CommitSome();
}

void Repair::Expected(uint64_t storage_id, const SizeStatistics& expected) {
  absl::StatusOr<SizeStatistics> stored = ReadStatistics(view_, storage_id);
  if (!stored.ok()) {
    if (status_.ok()) status_ = stored.status();
  } else if (*stored != expected) {
    SizeStatistics error = expected;
    counts_.push_back({storage_id, *stored, error -= *stored});
  }
}

void Repair::Collection(std::string_view key, const SizeStatistics& counted) {
  rocksdb::ReadOptions options;
  options.snapshot = view_.snapshot();
  WrongCollection wrong{std::string(key), counted, std::nullopt};
  if (auto stored = ReadStatistics(*view_.store(), options, table_.storage_id, key); stored.ok())
    wrong.stored = *stored;
  collections_.push_back(std::move(wrong));
  CommitSome();
}

void Repair::CommitSome() {
  if (entries_.size() + collections_.size() < kRepairedAtOnce || !status_.ok()) return;
  status_ = Finish();
}

absl::Status Repair::Finish() {
  ITEMDB_RETURN_IF_ERROR(status_);
  if (entries_.empty() && counts_.empty() && collections_.empty()) return absl::OkStatus();
  const auto reconcile = [this](CommitGroup& group) {
    Reconcile(group);
    return absl::OkStatus();
  };
  const absl::Status reconciled =
      CommitAndWait(engine_, reconcile, {.when_full = WhenFull::kWait, .origin = WriteOrigin::kUpkeep})
          .status();
  entries_.clear();
  counts_.clear();
  collections_.clear();
  return reconciled;
}

Differences Repairing(const Differences& report, Repair& repair) {
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
  both.expected = [&](uint64_t storage_id, const SizeStatistics& expected) {
    repair.Expected(storage_id, expected);
  };
  both.wrong_collection = [&](const Table& owner, std::string_view key, const SizeStatistics& counted) {
    report.wrong_collection(owner, key, counted);
    repair.Collection(key, counted);
  };
  return both;
}

}  // namespace itemdb::storage
