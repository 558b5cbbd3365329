#include "storage/indexes/discard.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "spdlog/spdlog.h"
#include "storage/changes/change_record.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/indexes/differences.h"
#include "storage/values/canonical.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

// An entry of the discarded item.
struct OwnEntry {
  const Index* index;
  std::string key;
  // As it is counted. Without its checksum if it does not decode.
  SizeStatistics size;
  bool decodes;
};

struct DamagedItem {
  std::shared_ptr<const Table> table;
  // Canonical: the key attributes.
  std::string key_item;
  ItemKey key;
  std::vector<OwnEntry> entries;
};

absl::Status ReadableError(const Table& table) {
  return ValidationError("the item of table " + table.name +
                         " can be read, so it is not discarded: DeleteItem deletes it");
}

absl::Status MissingError(const Table& table) {
  return ValidationError("table " + table.name +
                         " has no item with this key, and nothing damaged where it would be");
}

// OK: `read` is the damage that makes discarding possible.
absl::Status CheckIsDamaged(const Table& table, const absl::Status& read, bool has_item) {
  if (read.ok()) return has_item ? ReadableError(table) : MissingError(table);
  return absl::IsDataLoss(read) ? absl::OkStatus() : read;
}

absl::StatusOr<std::vector<OwnEntry>> FindEntries(const Walk& walk, const Table& table,
                                                  std::string_view base_key) {
  std::vector<OwnEntry> entries;
  for (const Index& index : table.indexes) {
    if (index.state != IndexState::kActive) {
      return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                       "an index of table " + table.name + " is being created; try again when it is ACTIVE",
                       1'000);
    }
    const absl::Status read = ForEachRecord(
        walk, EntriesOf(*walk.view.store(), index), [&](std::string_view key, std::string_view record) {
          if (BaseKeyOf(table, index, key) != base_key) return;
          const std::optional<StoredRecord> stored = DecodeRecord(index.storage_id, key, record);
          SizeStatistics size;
          size.AddRecord(stored.has_value() ? stored->item_size : 0,
                         stored.has_value() ? stored->checksum : 0);
          entries.push_back({&index, std::string(key), size, stored.has_value()});
        });
    if (absl::IsDataLoss(read)) {
      return DataLossError(
          "index " + index.name + " of table " + table.name +
          " cannot be read, so the entries of the item are not known; nothing was discarded: " +
          MessageOf(read));
    }
    ITEMDB_RETURN_IF_ERROR(read);
  }
  return entries;
}

// The mean size of the items, as the size of one that cannot be read; never more than all have.
int64_t MeanBytes(const SizeStatistics& statistics) {
  return statistics.items > 0 ? std::max<int64_t>(statistics.bytes / statistics.items, 0) : 0;
}

absl::Status Delete(const DamagedItem& item, CommitGroup& group) {
  auto current = group.catalog()->Find(item.table->name);
  ITEMDB_RETURN_IF_ERROR(current.status());
  const Table& table = **current;
  // The entries were found in the indexes that the table had.
  if (*current != item.table) {
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                     "table " + table.name + " was changed meanwhile; nothing was discarded, try again", 100);
  }
  const PrefetchedRead nothing_prefetched;
  const auto read = group.CurrentItem(table, item.key, nothing_prefetched);
  ITEMDB_RETURN_IF_ERROR(CheckIsDamaged(table, read.status(), read.ok() && read->has_value()));

  int64_t collection_bytes = MeanBytes(group.size_statistics().Of(table.storage_id));
  group.size_statistics().Add(table.storage_id, {-1, -collection_bytes});
  group.size_statistics().SetContentSumIncomplete(table.storage_id);
  for (const OwnEntry& entry : item.entries) {
    group.DeleteEntry(*entry.index, entry.key);
    group.size_statistics().Add(entry.index->storage_id, SizeStatistics() -= entry.size);
    if (!entry.decodes) group.size_statistics().SetContentSumIncomplete(entry.index->storage_id);
    if (entry.index->local) collection_bytes += entry.size.bytes;
  }
  if (table.has_local_indexes) {
    // A collection whose record is damaged too is counted by a check with repair.
    const auto collection = group.size_statistics().FindCollection(table.storage_id, item.key);
    if (collection.ok()) {
      group.size_statistics().AddToCollection(table.storage_id, item.key,
                                              {-1, -std::min(collection_bytes, collection->bytes)});
    } else if (!absl::IsDataLoss(collection.status())) {
      return collection.status();
    }
  }
  group.DeleteItem(table, item.key);
  ItemChange change;
  change.change_sequence = group.next_sequence();
  change.commit_time_us = group.commit_time_us();
  change.commit_first_sequence = change.change_sequence;
  change.commit_last_sequence = change.change_sequence;
  change.old_item = item.key_item;
  change.discarded = true;
  group.AppendChange(table.storage_id, EncodeItemChange(table, change));
  return absl::OkStatus();
}

absl::StatusOr<v1::DiscardDamagedItemReply> Discard(Engine& engine, DamagedItem& item,
                                                    const CancellationPtr& cancellation) {
  {
    // Released before the commit: a store that must be reopened waits for its views.
    ITEMDB_ASSIGN_OR_RETURN(const auto view, engine.View());
    const auto read = LookupItem(*view, *item.table, item.key.encoded, ReadTier::kDisk);
    ITEMDB_RETURN_IF_ERROR(CheckIsDamaged(*item.table, read.status(), read.ok() && read->item.has_value()));
    ITEMDB_ASSIGN_OR_RETURN(item.entries,
                            FindEntries({engine, *view, cancellation}, *item.table, item.key.encoded));
  }
  const auto apply = [&item](CommitGroup& group) { return Delete(item, group); };
  v1::DiscardDamagedItemReply reply;
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t sequence,
                          CommitAndWait(engine, apply, {.space = WriteSpace::kFrees}));
  reply.set_change_sequence(sequence);
  reply.set_index_entries_deleted(static_cast<int64_t>(item.entries.size()));
  engine.options().log->warn(
      "a damaged item was discarded table={} encoded_key={} index_entries={} change_sequence={}",
      item.table->name, Hex(item.key.encoded), item.entries.size(), sequence);
  return reply;
}

absl::StatusOr<DamagedItem> Prepare(const Catalog& catalog, const v1::DiscardDamagedItemRequest& request) {
  DamagedItem item;
  ITEMDB_ASSIGN_OR_RETURN(item.key_item, CanonicalizeItem(request.key().SerializeAsString()));
  ITEMDB_ASSIGN_OR_RETURN(item.table, catalog.Find(request.table_name()));
  ITEMDB_ASSIGN_OR_RETURN(std::string key, EncodeExactPrimaryKey(*item.table, ItemView(item.key_item)));
  item.key = ItemKey(item.table->storage_id, std::move(key));
  return item;
}

}  // namespace

void DiscardDamagedItem(Engine& engine, const v1::DiscardDamagedItemRequest& request,
                        Done<v1::DiscardDamagedItemReply> done, CancellationPtr cancellation) {
  auto view = engine.View();
  if (!view.ok()) return std::move(done)(view.status());
  auto prepared = Prepare((*view)->catalog(), request);
  view->reset();
  if (!prepared.ok()) return std::move(done)(prepared.status());
  RunOnIoThread<v1::DiscardDamagedItemReply>(
      engine, IoPriority::kLong,
      [&engine, item = *std::move(prepared), cancellation = std::move(cancellation)]() mutable {
        return Discard(engine, item, cancellation);
      },
      std::move(done));
}

}  // namespace itemdb::storage
