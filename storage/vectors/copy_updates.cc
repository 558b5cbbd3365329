#include "storage/vectors/copy_updates.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>

#include "storage/changes/log_reader.h"
#include "storage/indexes/index_entry.h"
#include "storage/keys/key_codec.h"
#include "storage/store/keyspace.h"
#include "storage/values/stored_record.h"
#include "storage/vectors/entry_reads.h"

namespace itemdb::storage {
namespace {

constexpr int64_t kRecordsBetweenVectorChecks = 128;
// A copy that is being filled is counted after so many entries or bytes.
constexpr int64_t kRecordsBetweenCounts = 512;
constexpr size_t kBytesBetweenCounts = 1 << 20;
// Changed items, or bytes of their entries, that are in memory beside the copy.
constexpr size_t kChangedAtOnce = 1'024;
constexpr size_t kChangedBytesAtOnce = 1 << 20;
// What an entry takes in a copy at least, besides its vector and filters.
constexpr size_t kMinEntryBytes = 136;

// The entries that have changed, for searches of the update's state.
absl::Status TakeChanged(const CopyUpdate& update, const std::vector<std::string>& keys, SharedCopy* copy) {
  const uint64_t version = update.view.change_sequence();
  for (size_t begin = 0; begin < keys.size();) {
    ITEMDB_RETURN_IF_ERROR(update.check());
    // The entries that changed, before searches have to wait.
    std::vector<std::pair<std::string_view, std::optional<VectorEntry>>> changed;
    size_t bytes = 0;
    for (; begin < keys.size() && bytes < kChangedBytesAtOnce; ++begin) {
      const std::string& key = keys[begin];
      ITEMDB_ASSIGN_OR_RETURN(const Lookup found,
                              LookupItem(update.view, update.table, key, ReadTier::kDisk));
      std::optional<VectorEntry>& entry = changed.emplace_back(key, std::nullopt).second;
      if (!found.item.has_value()) continue;
      // An item that the index skipped when it was created has no entry (SEM-097).
      const auto made = MakeIndexEntry(update.index, ItemView(*found.item), key);
      if (!made.ok() || !made->has_value()) continue;
      std::string_view base_key;
      entry = ReadVectorEntry(update.table, update.index, (*made)->key, ItemView((*made)->item), &base_key);
      if (entry.has_value()) bytes += entry->packed.size();
    }
    std::unique_lock lock(copy->searching);
    copy->applied = version;
    for (const auto& [key, entry] : changed) {
      if (entry.has_value()) {
        copy->vectors.Put(key, *entry, version);
      } else {
        copy->vectors.Remove(key, version);
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<VectorFit> Compact(const CopyUpdate& update, SharedCopy* copy) {
  // Searches that begin wait until the copy is refreshed, so none will be of an older version.
  uint64_t oldest = copy->sequence;
  {
    MutexLock lock(copy->readers_mutex);
    if (!copy->readers.empty()) oldest = std::min(oldest, *copy->readers.begin());
  }
  if (!copy->vectors.NeedsCompaction(oldest)) return VectorFit::kFits;
  ITEMDB_ASSIGN_OR_RETURN(const VectorFit fit,
                          update.count(copy->vectors.bytes() + copy->vectors.CompactionBytes()));
  if (fit != VectorFit::kFits) return fit;
  {
    std::unique_lock lock(copy->searching);
    copy->vectors.Compact(oldest);
  }
  copy->graph_entries = copy->vectors.graph_size();
  return update.count(copy->vectors.bytes());
}

}  // namespace

size_t LeastEntryBytes(const Index& index) {
  return index.vector->dimensions * sizeof(float) + index.vector->filters.size() * sizeof(uint64_t) +
         kMinEntryBytes;
}

absl::StatusOr<VectorFit> CatchUp(const CopyUpdate& update, size_t most_keys, SharedCopy* copy) {
  const ReadView& view = update.view;
  uint64_t done = copy->sequence;
  if (done == view.change_sequence()) return VectorFit::kFits;
  size_t changed = 0;
  while (done < view.change_sequence()) {
    std::set<std::string> keys;
    uint64_t next = view.change_sequence();
    int64_t seen = 0;
    absl::Status interrupted;
    const auto take = [&](const ChangeView& change, std::string_view) {
      if (++seen % kRecordsBetweenVectorChecks == 0) interrupted = update.check();
      if (!interrupted.ok() || change.key.empty()) return interrupted.ok();
      absl::StatusOr<std::string> key = EncodePrimaryKey(update.table, ItemView(change.key));
      interrupted = key.status();
      if (key.ok()) keys.insert(*std::move(key));
      if (keys.size() < kChangedAtOnce) return interrupted.ok();
      next = change.change_sequence;
      return false;
    };
    ITEMDB_RETURN_IF_ERROR(
        WalkTableChanges(update.engine, view, update.table.storage_id, done, view.change_sequence(), take));
    ITEMDB_RETURN_IF_ERROR(interrupted);
    done = next;
    if (keys.empty()) break;
    changed += keys.size();
    if (changed > most_keys) return absl::OutOfRangeError("too many items have changed");
    ITEMDB_RETURN_IF_ERROR(TakeChanged(update, {keys.begin(), keys.end()}, copy));
    ITEMDB_ASSIGN_OR_RETURN(const VectorFit fit, update.count(copy->vectors.bytes()));
    if (fit != VectorFit::kFits) return fit;
  }
  copy->sequence = view.change_sequence();
  copy->applied = std::max(copy->applied, view.change_sequence());
  copy->entries = copy->vectors.size();
  return Compact(update, copy);
}

absl::StatusOr<VectorFit> FillCopy(const CopyUpdate& update, absl::FunctionRef<void(int64_t)> progress,
                                   SharedCopy* copy) {
  const ReadView& view = update.view;
  const Index& index = update.index;
  KeyspaceIterator it(*view.store(), EntriesOf(*view.store(), index), WholeIndex(view));
  int64_t seen = 0;
  size_t bytes_since_count = 0;
  for (it.SeekToFirst(); it.Valid(); it.Next()) {
    if (++seen % kRecordsBetweenVectorChecks == 0) ITEMDB_RETURN_IF_ERROR(update.check());
    const std::optional<StoredRecord> stored = DecodeRecord(index.storage_id, it.key(), it.value());
    std::string_view base_key;
    std::optional<VectorEntry> entry;
    if (stored.has_value())
      entry = ReadVectorEntry(update.table, index, it.key(), ItemView(stored->payload), &base_key);
    if (!entry.has_value()) return DamagedRecordError(copy->owner_name, it.key());
    copy->vectors.Put(base_key, *entry, 0);
    progress(seen);
    bytes_since_count += LeastEntryBytes(index);
    if (seen % kRecordsBetweenCounts != 0 && bytes_since_count < kBytesBetweenCounts) continue;
    bytes_since_count = 0;
    ITEMDB_ASSIGN_OR_RETURN(const VectorFit fit, update.count(copy->vectors.bytes()));
    if (fit != VectorFit::kFits) return fit;
  }
  if (!it.status().ok()) return view.store()->ReadError("cannot read " + copy->owner_name, it.status());
  copy->sequence = view.change_sequence();
  copy->applied = view.change_sequence();
  copy->entries = copy->vectors.size();
  return update.count(copy->vectors.bytes());
}

}  // namespace itemdb::storage
